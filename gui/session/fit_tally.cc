#include "gui/session/fit_tally.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/shape_table.h"

namespace drasim::gui {

void FitTally::Begin(const ClusterState& cluster) {
  const size_t models = cluster.models().size();
  by_state_.assign(models, {});
  laid_out_.assign(models, {});
  present_.assign(models, false);
  other_gpus_ = false;
  idle_gpus_ = open_gpus_ = 0;
  first_gpu_.clear();
  size_t gpus = 0;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId id(n);
    first_gpu_.push_back(gpus);
    const size_t count = cluster.node(id).gpu_count;
    gpus += count;
    for (size_t d = 0; d < count; ++d) {
      if (cluster.any_mig() && cluster.mig_table(id, d) != nullptr) {
        present_[cluster.gpu_model(id, d)] = true;
      } else {
        other_gpus_ = true;
      }
    }
  }
  gpus_.assign(gpus, Counted());
}

FitTally::Counted FitTally::Look(const ClusterState& cluster,
                                 const std::optional<view::LayoutOfGpu>& layouts, NodeId node,
                                 size_t device, bool usable) {
  Counted gpu;
  const std::optional<uint64_t> layout = view::LayoutIn(layouts, node, device);
  const bool laid_out = layout.value_or(0) != 0;
  const int16_t idle = cluster.device_milli_idle(node)[device];
  gpu.idle = idle == kDeviceMilli && !laid_out;
  gpu.open = idle > 0 && !laid_out;
  const MigTable* const table = cluster.any_mig() ? cluster.mig_table(node, device) : nullptr;
  if (table == nullptr || !usable) return gpu;
  gpu.model = cluster.gpu_model(node, device);
  gpu.state = cluster.device_mig(node)[device];
  gpu.as = laid_out ? Counted::As::kLayout : Counted::As::kState;
  if (laid_out) gpu.instances = view::OpenPlacements(*table, gpu.state, layout);
  return gpu;
}

void FitTally::Add(const ClusterState& cluster, const Counted& gpu, int sign) {
  if (gpu.idle) idle_gpus_ += sign;
  if (gpu.open) open_gpus_ += sign;
  if (gpu.as == Counted::As::kNothing) return;
  const MigTable& table = *cluster.models().mig(ModelId(uint32_t{gpu.model}));
  if (gpu.as == Counted::As::kState) {
    std::vector<int64_t>& states = by_state_[gpu.model];
    states.resize(table.states());
    states[gpu.state] += sign;
    return;
  }
  std::vector<int64_t>& profiles = laid_out_[gpu.model];
  profiles.resize(table.profiles().size());
  for (uint64_t open = gpu.instances; open != 0; open &= open - 1) {
    const auto placement = static_cast<size_t>(std::countr_zero(open));
    profiles[table.placements()[placement].profile] += sign;
  }
}

void FitTally::Count(const ClusterState& cluster, const std::optional<view::LayoutOfGpu>& layouts,
                     const TouchedNodes& touched) {
  if (touched.all) Begin(cluster);
  const size_t nodes = touched.all ? cluster.node_count() : touched.nodes.size();
  for (size_t i = 0; i < nodes; ++i) {
    const NodeId id = touched.all ? NodeId(i) : touched.nodes[i];
    const NodeRow& node = cluster.node(id);
    const bool takes = node.available && node.schedulable;
    const DeviceSet usable = cluster.any_mig() ? cluster.mig_usable(id) : DeviceSet();
    for (size_t d = 0; d < node.gpu_count; ++d) {
      Counted& known = gpus_[first_gpu_[id.value()] + d];
      Add(cluster, known, -1);
      known = takes ? Look(cluster, layouts, id, d, usable.Contains(d)) : Counted();
      Add(cluster, known, +1);
    }
  }
}

FitCounter::FitCounter(const ClusterState& cluster, const FitTally& tally,
                       const std::vector<std::string>& profiles)
    : cluster_(cluster), tally_(tally) {
  for (const std::string& name : profiles) {
    bool is_plain = false;
    int64_t fits = 0;
    for (size_t m = 0; m < cluster.models().size(); ++m) {
      const MigTable* const table = cluster.models().mig(ModelId(m));
      if (table == nullptr || !tally.present(m)) continue;
      const std::vector<int64_t>& by_state = tally.by_state(m);
      const std::vector<int64_t>& laid_out = tally.laid_out(m);
      for (size_t i = 0; i < table->profiles().size(); ++i) {
        const MigProfile& profile = table->profiles()[i];
        if (profile.name != name || !profile.is_plain()) continue;
        is_plain = true;
        if (i < laid_out.size()) fits += laid_out[i];
        for (size_t s = 0; s < by_state.size(); ++s) {
          fits += by_state[s] * table->more(static_cast<MigState>(s), i);
        }
      }
    }
    if (!is_plain) continue;
    view::FitRow row;
    row.profile = name;
    row.fits = fits;
    rows_.push_back(std::move(row));
  }
  profile_rows_ = rows_.size();
  if (!tally.has_other_gpus() && !rows_.empty()) return;
  view::FitRow gpu;
  gpu.profile = "GPU";
  gpu.fits = tally.idle_gpus();
  rows_.push_back(std::move(gpu));
  view::FitRow share;
  share.profile = "share of a GPU";
  share.fits = tally.open_gpus();
  rows_.push_back(std::move(share));
}

void FitCounter::CountWaiting(ShapeId shape) {
  if (wanted_.size() <= shape.value()) wanted_.resize(shape.value() + size_t{1});
  Wanted& wanted = wanted_[shape.value()];
  if (!wanted.known) {
    wanted.known = true;
    wanted.rows = RowsOf(cluster_.shapes().row(shape));
  }
  for (const size_t row : wanted.rows) ++rows_[row].waits;
}

std::vector<size_t> FitCounter::RowsOf(const PodShape& shape) const {
  std::vector<size_t> rows;
  const auto want = [&](size_t row) {
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  };
  const auto want_profile = [&](const std::string& name) {
    for (size_t m = 0; m < cluster_.models().size(); ++m) {
      const MigTable* const table = cluster_.models().mig(ModelId(m));
      if (table == nullptr || !tally_.present(m)) continue;
      const int found = table->FindProfile(name);
      if (found < 0) continue;
      for (size_t r = 0; r < profile_rows_; ++r) {
        if (rows_[r].profile == table->profiles()[static_cast<size_t>(found)].name) want(r);
      }
    }
  };
  for (const auto& [profile, count] : shape.request.mig) want_profile(profile);
  bool whole = shape.request.gpu_count > 0 && !shape.request.is_share();
  for (const ClaimEntry& claim : shape.claims) {
    if (!claim.mig_profile.empty()) want_profile(claim.mig_profile);
    whole |= claim.mig_profile.empty() && claim.gpus > 0;
  }
  if (profile_rows_ == rows_.size()) return rows;
  if (whole) want(profile_rows_);
  if (shape.request.is_share()) want(profile_rows_ + 1);
  return rows;
}

}  // namespace drasim::gui
