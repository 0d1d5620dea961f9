#include "sim/record/slice_sampler.h"

#include <array>
#include <cstddef>

#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"

namespace drasim {
namespace {

std::optional<uint64_t> LayoutIn(const std::optional<LayoutOfGpu>& layouts, NodeId node,
                                 size_t gpu) {
  return layouts.has_value() ? (*layouts)(node, gpu) : std::nullopt;
}

// As SlicesOf, from the residents that the records tell.
SliceCounts SlicesOfLive(const ClusterState& cluster, const LiveState& live, NodeId id,
                         const std::optional<LayoutOfGpu>& layouts) {
  SliceCounts counts;
  const LiveNode& node = live.node(id);
  const size_t gpus = node.held_milli.size();
  std::array<uint64_t, kMaxDevicesPerNode> instances{};  // placements in use, by device
  for (const PodId pod : node.pods) {
    for (const DeviceGrant& grant : live.Find(pod)->grants) {
      if (grant.device < gpus && grant.placement < kMaxMigPlacements) {
        instances[grant.device] |= PlacementBit(grant.placement);
      }
    }
  }
  for (size_t d = 0; d < gpus; ++d) {
    const MigTable* const table = cluster.mig_table(id, d);
    if (table == nullptr) continue;
    MigState state = instances[d] == 0 ? MigState{0} : table->Find(instances[d]);
    if (state == kNoMigState) state = 0;  // whatever it holds, nothing else has room
    counts.Add(SlicesOfGpu(*table, state, node.held_milli[d] != 0, LayoutIn(layouts, id, d)), +1);
  }
  return counts;
}

}  // namespace

SliceSampler::SliceSampler(const ClusterState& cluster, std::optional<LayoutOfGpu> layouts) {
  if (!cluster.any_mig()) return;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    SliceCounts empty;
    for (size_t d = 0; d < static_cast<size_t>(cluster.node(NodeId(n)).gpu_count); ++d) {
      const MigTable* const table = cluster.mig_table(NodeId(n), d);
      if (table == nullptr) continue;
      empty.Add(SlicesOfGpu(*table, 0, false, LayoutIn(layouts, NodeId(n), d)), +1);
    }
    by_node_.push_back(empty);
    counts_.Add(empty, +1);
  }
  is_touched_.assign(by_node_.size(), false);
}

void SliceSampler::Touch(NodeId node) {
  if (node.value() >= by_node_.size() || is_touched_[node.value()]) return;
  is_touched_[node.value()] = true;
  touched_.push_back(node);
}

void SliceSampler::TouchAll() {
  for (size_t n = 0; n < by_node_.size(); ++n) Touch(NodeId(n));
}

const SliceCounts& SliceSampler::Sample(const ClusterState& cluster, const LiveState& live,
                                        std::optional<LayoutOfGpu> layouts) {
  for (const NodeId id : touched_) {
    SliceCounts& node = by_node_[id.value()];
    counts_.Add(node, -1);
    node = SlicesOfLive(cluster, live, id, layouts);
    counts_.Add(node, +1);
    is_touched_[id.value()] = false;
  }
  touched_.clear();
  return counts_;
}

}  // namespace drasim
