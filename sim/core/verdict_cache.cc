#include "sim/core/verdict_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/check.h"
#include "policies/framework/plugin.h"

namespace drasim {

VerdictCache::VerdictCache(const Profile* profile, const ClusterState* cluster, bool remembers,
                           size_t most_bytes)
    : profile_(profile),
      cluster_(cluster),
      remembers_(remembers),
      most_bytes_(most_bytes),
      filter_of_(size_t{kUnknown} + 1, kNoFilter),
      locals_(&cluster->models()) {
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  DRASIM_CHECK_LT(filters.size(), kNoFilter);
  for (size_t f = 0; f < filters.size(); ++f) {
    if (filters[f].plugin->filter_reach() == Reach::kCluster) cluster_filters_ |= uint64_t{1} << f;
    for (size_t r = 1; r <= filters[f].reason_count; ++r) {
      filter_of_[filters[f].reason_base + r] = static_cast<uint8_t>(f);
    }
  }
  const std::vector<Profile::ScoreEntry>& scores = profile_->scores();
  DRASIM_CHECK_LE(scores.size(), 64u);
  for (size_t p = 0; p < scores.size(); ++p) {
    const ScorePlugin& plugin = *scores[p].plugin;
    if (plugin.score_reach() == Reach::kNode && !plugin.score_draws()) {
      remembered_scores_ |= uint64_t{1} << p;
    }
  }
}

// An estimate: some plugins normalise.
size_t VerdictCache::ColumnBytes() const {
  return cluster_->node_count() * (sizeof(ReasonIndex) + 3 * sizeof(int64_t));
}

void VerdictCache::DropOldest() {
  const auto oldest = std::min_element(live_.begin(), live_.end(), [this](ShapeId a, ShapeId b) {
    return slots_[a.value()]->used < slots_[b.value()]->used;
  });
  slots_[oldest->value()].reset();
  *oldest = live_.back();
  live_.pop_back();
}

VerdictCache::Column& VerdictCache::Slot(ShapeId shape) {
  if (local_of_.size() <= shape.value()) local_of_.resize(cluster_->shapes().size());
  ShapeId& local = local_of_[shape.value()];
  if (!local.valid()) {
    PodShape seen = cluster_->shapes().row(shape);
    seen.topology = {};
    seen.identity = {};
    seen.volumes = {};
    local = locals_.Intern(seen);
    slots_.resize(locals_.size());
  }
  std::unique_ptr<Column>& slot = slots_[local.value()];
  if (slot == nullptr) {
    while (!live_.empty() && live_.size() * ColumnBytes() >= most_bytes_) DropOldest();
    live_.push_back(local);
    slot = std::make_unique<Column>();
    slot->raw.resize(profile_->scores().size());
    slot->first_raw.resize(profile_->scores().size());
    slot->cursor = cluster_->change_count();
  }
  return *slot;
}

void VerdictCache::Forget(Column* column) {
  std::fill(column->verdict.begin(), column->verdict.end(), kUnknown);
  std::fill(column->fits.begin(), column->fits.end(), 0);
  // Places behind the last node are never asked about.
  std::fill(column->unknown.begin(), column->unknown.end(), ~uint64_t{0});
  ForgetScores(column);
}

void VerdictCache::ForgetScores(Column* column) {
  std::fill(column->sum.begin(), column->sum.end(), kNoScore);
  std::fill(column->unscored.begin(), column->unscored.end(), ~uint64_t{0});
  std::fill(column->best.begin(), column->best.end(), Column::Best());
  column->mixed_scores = 0;
  column->known_scores = 0;
}

// The order changes when nodes come and leave.
void VerdictCache::FollowOrder() {
  if (order_ != 0 && nodes_version_ == cluster_->nodes_version()) return;
  nodes_version_ = cluster_->nodes_version();
  ++order_;
  const absl::Span<const NodeId> nodes = cluster_->node_order();
  place_of_.assign(cluster_->node_count(), kNoPlace);
  for (size_t i = 0; i < nodes.size(); ++i) place_of_[nodes[i].value()] = static_cast<uint32_t>(i);
}

void VerdictCache::FillBlocks(Column* column) const {
  const absl::Span<const NodeId> nodes = cluster_->node_order();
  const size_t blocks = (nodes.size() + Column::kBlock - 1) / Column::kBlock;
  column->fits.assign(blocks, 0);
  column->unknown.assign(blocks, 0);
  column->unscored.assign(blocks, 0);
  column->best.assign(blocks, Column::Best());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const uint32_t node = nodes[i].value();
    const uint64_t bit = uint64_t{1} << (i % Column::kBlock);
    if (column->verdict[node] == kFits) column->fits[i / Column::kBlock] |= bit;
    if (column->verdict[node] == kUnknown) column->unknown[i / Column::kBlock] |= bit;
    if (column->sum[node] == kNoScore) column->unscored[i / Column::kBlock] |= bit;
  }
  column->order = order_;
}

VerdictCache::Column& VerdictCache::Find(const PodContext& pod, uint64_t skipped) {
  Column& column = Slot(pod.shape_id);
  column.used = ++attempts_;
  if (column.verdict.size() != cluster_->node_count()) {
    column.verdict.resize(cluster_->node_count(), kUnknown);
    column.sum.resize(cluster_->node_count(), kNoScore);
  }
  FollowOrder();
  skipped &= ~cluster_filters_;
  const uint64_t now = cluster_->change_count();
  if (!remembers_ || skipped != column.skipped_filters ||
      now - column.cursor > cluster_->change_window()) {
    Forget(&column);
  } else {
    const bool has_blocks = column.order == order_;
    for (uint64_t k = column.cursor; k < now; ++k) {
      const uint32_t node = cluster_->changed_node(k).value();
      column.verdict[node] = kUnknown;
      column.sum[node] = kNoScore;
      const size_t place = place_of_[node];
      if (!has_blocks || place == kNoPlace) continue;
      const size_t block = place / Column::kBlock;
      const uint64_t bit = uint64_t{1} << (place % Column::kBlock);
      column.fits[block] &= ~bit;
      column.unknown[block] |= bit;
      column.unscored[block] |= bit;
      column.best[block].node = NodeId();
    }
  }
  column.skipped_filters = skipped;
  column.cursor = now;
  if (remembers_ && column.order != order_) FillBlocks(&column);
  return column;
}

void VerdictCache::AskVerdicts(const PodContext& pod, absl::Span<const NodeId> nodes,
                               Column* column) {
  nodes_.clear();
  for (const NodeId node : nodes) {
    if (column->verdict[node.value()] == kUnknown) nodes_.push_back(node);
  }
  nodes_filtered_ += nodes_.size();
  verdicts_.assign(nodes_.size(), kFits);
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    if (((cluster_filters_ | column->skipped_filters) >> f & 1) != 0) continue;
    own_verdicts_ = verdicts_;
    filters[f].plugin->Filter(pod, *cluster_, nodes_, absl::MakeSpan(own_verdicts_));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (verdicts_[i] == kFits && own_verdicts_[i] != kFits) {
        verdicts_[i] = static_cast<ReasonIndex>(filters[f].reason_base + own_verdicts_[i]);
      }
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    column->verdict[nodes_[i].value()] = verdicts_[i];
    const size_t place = place_of_[nodes_[i].value()];
    if (column->order != order_ || place == kNoPlace) continue;
    const size_t block = place / Column::kBlock;
    const uint64_t bit = uint64_t{1} << (place % Column::kBlock);
    column->unknown[block] &= ~bit;
    if (verdicts_[i] == kFits) column->fits[block] |= bit;
    column->best[block].node = NodeId();
  }
}

void VerdictCache::ExpectScores(uint64_t skipped, uint64_t normalised, Column* column) {
  skipped &= remembered_scores_;
  normalised &= remembered_scores_;
  if (skipped != column->skipped_scores || normalised != column->normalised_scores) {
    ForgetScores(column);
    column->skipped_scores = skipped;
    column->normalised_scores = normalised;
  }
  const uint64_t wanted = normalised & ~skipped;
  for (size_t p = 0; wanted >> p != 0; ++p) {
    if ((wanted >> p & 1) != 0) column->raw[p].resize(column->sum.size());
  }
}

void VerdictCache::AskScores(const PodContext& pod, absl::Span<const NodeId> nodes,
                             Column* column) {
  for (const NodeId node : nodes) {
    column->sum[node.value()] = 0;
    const size_t place = place_of_[node.value()];
    if (column->order != order_ || place == kNoPlace) continue;
    column->unscored[place / Column::kBlock] &= ~(uint64_t{1} << (place % Column::kBlock));
    column->best[place / Column::kBlock].node = NodeId();
  }
  const std::vector<Profile::ScoreEntry>& entries = profile_->scores();
  const uint64_t asked = remembered_scores_ & ~column->skipped_scores;
  scores_.resize(nodes.size());
  for (size_t p = 0; p < entries.size(); ++p) {
    if ((asked >> p & 1) == 0) continue;
    nodes_scored_ += nodes.size();
    entries[p].plugin->Score(pod, *cluster_, nodes, absl::MakeSpan(scores_));
    if ((column->normalised_scores >> p & 1) != 0) {
      for (size_t i = 0; i < nodes.size(); ++i) column->raw[p][nodes[i].value()] = scores_[i];
      const uint64_t bit = uint64_t{1} << p;
      if ((column->known_scores & bit) == 0) column->first_raw[p] = scores_[0];
      column->known_scores |= bit;
      const auto differs = [&](int64_t score) { return score != column->first_raw[p]; };
      if (std::any_of(scores_.begin(), scores_.end(), differs)) column->mixed_scores |= bit;
    } else {
      for (size_t i = 0; i < nodes.size(); ++i) {
        column->sum[nodes[i].value()] += scores_[i] * entries[p].weight;
      }
    }
  }
}

const VerdictCache::Column::Best& VerdictCache::BestOf(size_t block, Column* column) const {
  Column::Best& best = column->best[block];
  if (best.node.valid()) return best;
  const NodeId* const nodes = cluster_->node_order().data() + block * Column::kBlock;
  best.sum = kNoScore;
  for (uint64_t left = column->fits[block]; left != 0; left &= left - 1) {
    const NodeId node = nodes[std::countr_zero(left)];
    const int64_t sum = column->sum[node.value()];
    if (sum > best.sum || (sum == best.sum && node < best.node)) best = {sum, node};
  }
  return best;
}

}  // namespace drasim
