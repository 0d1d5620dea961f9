#include "sim/core/scheduling_cycle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "model/check.h"

namespace drasim {

SchedulingCycle::SchedulingCycle(const Profile* profile, const ClusterState* cluster,
                                 std::vector<uint32_t> ranks, bool use_cache)
    : profile_(profile), cluster_(cluster), ranks_(std::move(ranks)), use_cache_(use_cache) {
  const size_t n = cluster_->node_count();
  DRASIM_CHECK_EQ(ranks_.size(), n);
  node_at_rank_.resize(n);
  seen_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    DRASIM_CHECK_LT(ranks_[i], n);
    DRASIM_CHECK(!node_at_rank_[ranks_[i]].valid());
    node_at_rank_[ranks_[i]] = NodeId(i);
    all_nodes_.push_back(NodeId(i));
  }
  const auto& filters = profile_->filters();
  for (size_t i = 0; i < filters.size(); ++i) {
    if (filters[i].plugin->filter_reach() == Reach::kNode) continue;
    cluster_reach_ |= uint64_t{1} << i;
    use_cache_ = false;
  }
  BeginAttempt(0, nullptr);
  for (const Profile::ScoreEntry& entry : profile_->scores()) {
    has_pre_score_.push_back(absl::c_linear_search(profile_->pre_scores(), entry.plugin));
    score_is_of_node_.push_back(entry.plugin->score_reach() == Reach::kNode);
  }
  scores_in_tree_ = ScoresFitInTree();
}

void SchedulingCycle::BeginAttempt(uint64_t skipped, const std::vector<NodeId>* named) {
  named_ = named;
  if (cluster_reach_ == 0) return;
  skipped_filters_ = skipped & cluster_reach_;
  cluster_filters_.clear();
  for (size_t i = 0; i < profile_->filters().size(); ++i) {
    if (((cluster_reach_ & ~skipped_filters_) >> i & 1) != 0) {
      cluster_filters_.push_back(profile_->filters()[i].plugin);
    }
  }
}

// One number per node suffices when no other node can change it: a weighted sum of raw scores, or a
// single plugin whose normalisation keeps the order.
bool SchedulingCycle::ScoresFitInTree() const {
  const auto& scores = profile_->scores();
  int64_t weights = 0;
  for (const Profile::ScoreEntry& entry : scores) {
    if (entry.plugin->score_reach() != Reach::kNode) return false;
    const Normalize normalize = entry.plugin->normalize(*cluster_);
    if (normalize == Normalize::kGeneral) return false;
    if (normalize == Normalize::kOrderPreserving && scores.size() > 1) return false;
    weights += entry.weight;
  }
  return weights * kMaxNodeScore < INT32_MAX;
}

void SchedulingCycle::CollectStale(const ShapeCache& cache) {
  const uint64_t now = cluster_->change_count();
  if (!cache.filled || !use_cache_ || now - cache.cursor > cluster_->change_window()) {
    stale_ = all_nodes_;
    return;
  }
  stale_.clear();
  ++collection_;
  for (uint64_t k = cache.cursor; k < now; ++k) {
    const NodeId node = cluster_->changed_node(k);
    if (std::exchange(seen_[node.value()], collection_) != collection_) stale_.push_back(node);
  }
}

void SchedulingCycle::Refresh(const PodContext& pod, ShapeCache& cache) {
  const size_t n = ranks_.size();
  if (!cache.filled) {
    cache.verdict.assign(n, kFits);
    cache.per_reason.assign(size_t{kNotThere} + 1, 0);
    cache.per_reason[kFits] = static_cast<uint32_t>(n);
    if (scores_in_tree_) {
      cache.tree.Reset(n);
    } else {
      cache.raw.assign(profile_->scores().size(), std::vector<int64_t>(n));
      cache.skipped.assign(profile_->scores().size(), false);
    }
  }
  CollectStale(cache);
  const bool all = stale_.size() == n;
  cache.filled = true;
  cache.cursor = cluster_->change_count();
  verdicts_.resize(stale_.size());
  for (size_t i = 0; i < stale_.size(); ++i) {
    verdicts_[i] = cluster_->node(stale_[i]).available ? kFits : kNotThere;
  }
  plugin_verdicts_ = verdicts_;
  const auto& filters = profile_->filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    const Profile::FilterEntry& filter = filters[f];
    if (IsSkipped(f)) continue;
    filter.plugin->AskFilter(pod, *cluster_, stale_, absl::MakeSpan(plugin_verdicts_));
    // Mostly, a filter rejects none.
    if (plugin_verdicts_ == verdicts_) continue;
    for (size_t i = 0; i < stale_.size(); ++i) {
      if (verdicts_[i] == kFits && plugin_verdicts_[i] != kFits) {
        verdicts_[i] = static_cast<ReasonIndex>(filter.reason_base + plugin_verdicts_[i]);
      }
    }
    plugin_verdicts_ = verdicts_;
  }
  work_.nodes_filtered += stale_.size();
  work_.cache_hits += n - stale_.size();
  fitting_.clear();
  // Each change of the list moves a part of it; for many changes a new list is cheaper.
  if (stale_.size() > n / 16 + 1) cache.listed = false;
  for (size_t i = 0; i < stale_.size(); ++i) {
    const uint32_t node = stale_[i].value();
    const ReasonIndex verdict = verdicts_[i];
    ReasonIndex& kept = cache.verdict[node];
    if (cache.listed && (kept == kFits) != (verdict == kFits)) {
      UpdateList(stale_[i], verdict == kFits, cache);
    }
    --cache.per_reason[kept];
    ++cache.per_reason[verdict];
    kept = verdict;
    if (verdict == kFits) {
      fitting_.push_back(stale_[i]);
    } else if (scores_in_tree_) {
      if (all) {
        cache.tree.SetLeaf(ranks_[node], ScoreTree::kInfeasible);
      } else {
        cache.tree.Set(ranks_[node], ScoreTree::kInfeasible);
      }
    }
  }
  ScoreStale(pod, cache, all);
}

// PreScore and Score of one plugin. False, and zeros, if PreScore skips it, which a plugin of
// Reach::kNode does for all nodes of a shape or for none.
bool SchedulingCycle::ScoreBy(size_t p, const PodContext& pod, absl::Span<const NodeId> nodes,
                              absl::Span<int64_t> scores) {
  ScorePlugin* const plugin = profile_->scores()[p].plugin;
  if (has_pre_score_[p] && plugin->PreScore(pod, *cluster_, nodes).code != StepCode::kSuccess) {
    std::fill(scores.begin(), scores.end(), 0);
    return false;
  }
  plugin->AskScore(pod, *cluster_, nodes, scores);
  work_.nodes_scored += nodes.size();
  return true;
}

void SchedulingCycle::ScoreStale(const PodContext& pod, ShapeCache& cache, bool all) {
  const auto& entries = profile_->scores();
  scores_.resize(fitting_.size());
  if (!scores_in_tree_) {
    for (size_t p = 0; p < entries.size() && !fitting_.empty(); ++p) {
      if (!score_is_of_node_[p]) continue;
      cache.skipped[p] = !ScoreBy(p, pod, fitting_, absl::MakeSpan(scores_));
      for (size_t i = 0; i < fitting_.size(); ++i) cache.raw[p][fitting_[i].value()] = scores_[i];
    }
    return;
  }
  totals_.assign(fitting_.size(), 0);
  for (size_t p = 0; p < entries.size() && !fitting_.empty(); ++p) {
    if (!ScoreBy(p, pod, fitting_, absl::MakeSpan(scores_))) continue;
    // The weight of the only plugin does not matter, and its scores may be in any range.
    const int64_t weight = entries.size() == 1 ? 1 : entries[p].weight;
    for (size_t i = 0; i < fitting_.size(); ++i) totals_[i] += scores_[i] * weight;
  }
  for (size_t i = 0; i < fitting_.size(); ++i) {
    const auto total = static_cast<int32_t>(totals_[i]);
    const uint32_t rank = ranks_[fitting_[i].value()];
    if (all) {
      cache.tree.SetLeaf(rank, total);
    } else {
      cache.tree.Set(rank, total);
    }
  }
  if (all) cache.tree.Rebuild();
}

// Kubernetes' own way, over the nodes in fitting_: PreScore, raw scores, NormalizeScore per plugin,
// weighted sum, maximum.
NodeId SchedulingCycle::PickByFullScore(const PodContext& pod, ShapeCache& cache) {
  if (Traces(pod)) trace_->nodes = fitting_;
  if (fitting_.size() <= 1) return fitting_.empty() ? NodeId() : fitting_[0];
  totals_.assign(fitting_.size(), 0);
  scores_.resize(fitting_.size());
  const auto& entries = profile_->scores();
  for (size_t p = 0; p < entries.size(); ++p) {
    const ScorePlugin* const plugin = entries[p].plugin;
    bool scored = true;
    if (score_is_of_node_[p]) {
      scored = !cache.skipped[p];
      for (size_t i = 0; i < fitting_.size(); ++i) scores_[i] = cache.raw[p][fitting_[i].value()];
    } else {
      scored = ScoreBy(p, pod, fitting_, absl::MakeSpan(scores_));
    }
    if (scored && plugin->normalize(*cluster_) != Normalize::kNone) {
      plugin->NormalizeScore(fitting_, absl::MakeSpan(scores_));
    }
    for (size_t i = 0; i < fitting_.size(); ++i) totals_[i] += scores_[i] * entries[p].weight;
    if (!Traces(pod)) continue;
    trace_->scores.push_back(scores_);
    for (int64_t& score : trace_->scores.back()) score *= entries[p].weight;
  }
  size_t best = 0;
  for (size_t i = 1; i < fitting_.size(); ++i) {
    const bool ahead = totals_[i] > totals_[best] ||
                       (totals_[i] == totals_[best] &&
                        ranks_[fitting_[i].value()] < ranks_[fitting_[best].value()]);
    if (ahead) best = i;
  }
  return fitting_[best];
}

void SchedulingCycle::Look(const PodContext& pod) {
  if (shapes_.size() <= pod.shape_id.value()) shapes_.resize(cluster_->shapes().size());
  Refresh(pod, shapes_[pod.shape_id.value()]);
}

void SchedulingCycle::ListFeasible(ShapeId shape, absl::Span<const NodeRestriction> restrictions,
                                   std::vector<NodeId>* nodes) const {
  const ShapeCache& cache = shapes_[shape.value()];
  // Nodes of its list pass it.
  const auto list = std::find_if(restrictions.begin(), restrictions.end(),
                                 [](const NodeRestriction& r) { return r.only_allowed; });
  const auto passes = [&](NodeId node) {
    if (cache.verdict[node.value()] != kFits) return false;
    for (auto r = restrictions.begin(); r != restrictions.end(); ++r) {
      if ((r != list || !r->excluded.empty()) && !r->Passes(node)) return false;
    }
    return true;
  };
  nodes->clear();
  if (list != restrictions.end()) {
    std::copy_if(list->allowed.begin(), list->allowed.end(), std::back_inserter(*nodes), passes);
    return;
  }
  for (size_t i = 0; i < cache.verdict.size(); ++i) {
    if (passes(NodeId(i))) nodes->push_back(NodeId(i));
  }
}

void SchedulingCycle::UpdateList(NodeId node, bool fits, ShapeCache& cache) {
  const auto place = std::lower_bound(cache.fits.begin(), cache.fits.end(), node);
  if (fits) {
    cache.fits.insert(place, node);
  } else {
    cache.fits.erase(place);
  }
}

absl::Span<const NodeId> SchedulingCycle::Feasible(ShapeId shape,
                                                   absl::Span<const NodeRestriction> restrictions) {
  ShapeCache& cache = shapes_[shape.value()];
  if (!cache.listed) {
    ListFeasible(shape, {}, &cache.fits);
    cache.listed = true;
  }
  bool restricted = false;
  bool only_allowed = false;
  for (const NodeRestriction& r : restrictions) {
    restricted |= r.restricts();
    only_allowed |= r.only_allowed;
  }
  if (!restricted) return cache.fits;
  if (only_allowed) {
    ListFeasible(shape, restrictions, &feasible_);
    return feasible_;
  }
  feasible_ = cache.fits;
  for (const NodeRestriction& r : restrictions) {
    auto excluded = r.excluded.begin();
    size_t kept = 0;
    for (NodeId node : feasible_) {
      while (excluded != r.excluded.end() && *excluded < node) ++excluded;
      if (excluded == r.excluded.end() || *excluded != node) feasible_[kept++] = node;
    }
    feasible_.resize(kept);
  }
  return feasible_;
}

// Hides the nodes that a restriction excludes from the tree for this one pick.
NodeId SchedulingCycle::PickInTree(ShapeCache& cache,
                                   absl::Span<const NodeRestriction> restrictions) {
  hidden_.clear();
  for (const NodeRestriction& r : restrictions) {
    for (NodeId node : r.excluded) {
      const uint32_t place = ranks_[node.value()];
      if (cache.tree.at(place) == ScoreTree::kInfeasible) continue;
      hidden_.emplace_back(place, cache.tree.at(place));
      cache.tree.Set(place, ScoreTree::kInfeasible);
    }
  }
  NodeId best;
  if (cache.tree.best() != ScoreTree::kInfeasible) best = node_at_rank_[cache.tree.FirstBest()];
  for (const auto& [place, score] : hidden_) cache.tree.Set(place, score);
  return best;
}

NodeId SchedulingCycle::Pick(const PodContext& pod, ShapeCache& cache,
                             absl::Span<const NodeRestriction> restrictions) {
  bool listed = false;
  for (const NodeRestriction& r : restrictions) listed |= r.only_allowed;
  if (scores_in_tree_ && !listed) return PickInTree(cache, restrictions);
  ListFeasible(pod.shape_id, restrictions, &fitting_);
  if (!scores_in_tree_) return PickByFullScore(pod, cache);
  NodeId best;
  for (NodeId node : fitting_) {
    const uint32_t rank = ranks_[node.value()];
    const bool ahead =
        !best.valid() || cache.tree.at(rank) > cache.tree.at(ranks_[best.value()]) ||
        (cache.tree.at(rank) == cache.tree.at(ranks_[best.value()]) && rank < ranks_[best.value()]);
    if (ahead) best = node;
  }
  return best;
}

void SchedulingCycle::BeginTrace(const ShapeCache& cache) {
  trace_->verdicts = cache.verdict;
  trace_->nodes.clear();
  trace_->scores.clear();
  trace_->chosen = NodeId();
}

// The tree has sums only. All plugins are cacheable here, so to ask them again draws nothing.
void SchedulingCycle::TraceTreeScores(const PodContext& pod,
                                      absl::Span<const NodeRestriction> restrictions) {
  ListFeasible(pod.shape_id, restrictions, &trace_->nodes);
  const auto& entries = profile_->scores();
  const uint64_t scored = work_.nodes_scored;
  for (size_t p = 0; p < entries.size(); ++p) {
    std::vector<int64_t>& scores = trace_->scores.emplace_back(trace_->nodes.size());
    ScoreBy(p, pod, trace_->nodes, absl::MakeSpan(scores));
    const int64_t weight = entries.size() == 1 ? 1 : entries[p].weight;
    for (int64_t& score : scores) score *= weight;
  }
  work_.nodes_scored = scored;
}

Decision SchedulingCycle::Decide(const PodContext& pod,
                                 absl::Span<const NodeRestriction> restrictions) {
  ++work_.decisions;
  if (shapes_.size() <= pod.shape_id.value()) shapes_.resize(cluster_->shapes().size());
  ShapeCache& cache = shapes_[pod.shape_id.value()];
  Refresh(pod, cache);
  const bool traces = Traces(pod);
  if (traces) BeginTrace(cache);
  if (cache.per_reason[kFits] == 0) return {};
  Decision decision;
  decision.node = Pick(pod, cache, restrictions);
  if (traces) {
    if (scores_in_tree_) TraceTreeScores(pod, restrictions);
    trace_->chosen = decision.node;
  }
  if (!decision.node.valid()) return {};
  if (pod.shape->request.gpu_count > 0) {
    profile_->allocator().Ask(pod.shape->request, *cluster_, decision.node, &proposals_);
    DRASIM_CHECK(!proposals_.empty());
    decision.devices = proposals_.front().devices;
  } else if (!pod.shape->request.mig.empty()) {
    decision.grants = profile_->allocator().AskMig(pod, *cluster_, decision.node);
    DRASIM_CHECK(!decision.grants.empty());
    decision.devices = DevicesOf(decision.grants);
  }
  return decision;
}

std::vector<SchedulingCycle::Candidate> SchedulingCycle::Candidates(ShapeId shape, size_t most,
                                                                    size_t* fitting) const {
  std::vector<Candidate> all;
  if (shape.value() < shapes_.size() && shapes_[shape.value()].filled) {
    const ShapeCache& cache = shapes_[shape.value()];
    for (size_t place = 0; place < node_at_rank_.size(); ++place) {
      Candidate candidate{node_at_rank_[place], std::nullopt};
      if (cache.verdict[candidate.node.value()] != kFits) continue;
      if (scores_in_tree_) candidate.score = cache.tree.at(place);
      all.push_back(candidate);
    }
  }
  *fitting = all.size();
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.score.value_or(0) > b.score.value_or(0);
  });
  if (all.size() > most) all.resize(most);
  return all;
}

VerdictSummaryTable::Row SchedulingCycle::Rejections(ShapeId shape) const {
  const ShapeCache& cache = shapes_[shape.value()];
  VerdictSummaryTable::Row row;
  row.nodes = static_cast<uint32_t>(cache.verdict.size()) - cache.per_reason[kNotThere];
  for (size_t r = 1; r <= profile_->reasons().size(); ++r) {
    if (cache.per_reason[r] > 0)
      row.rejected.emplace_back(static_cast<uint8_t>(r), cache.per_reason[r]);
  }
  return row;
}

// Neither caches nor counts of work are saved. Caches are derived, and filled again on the first
// use of each shape. The counts depend on the caches: a resumed run begins with empty caches, and
// would write different checkpoints than an uninterrupted one.
void SchedulingCycle::Save(StateWriter& out) const { out.Section("cycle"); }

absl::Status SchedulingCycle::Load(StateReader& in) {
  in.Section("cycle");
  return in.status();
}

}  // namespace drasim
