#include "policies/devices/device_choosers.h"

#include <algorithm>
#include <memory>

#include "model/device_set.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

// All choosers treat whole devices alike; returns false for a share.
bool ProposeWhole(const PodShape& shape, const ClusterState& cluster, NodeId node,
                  DeviceProposals* out) {
  out->clear();
  if (shape.is_share() && shape.gpu_count == 1) return false;
  out->push_back({FirstFittingDevices(shape, cluster.device_milli_idle(node),
                                      cluster.UsableGpus(node, shape.model_mask)),
                  0});
  return true;
}

}  // namespace

void TightestDevice::Propose(const PodShape& shape, const ClusterState& cluster, NodeId node,
                             DeviceProposals* out) {
  if (ProposeWhole(shape, cluster, node, out)) return;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const DeviceSet usable = cluster.UsableGpus(node, shape.model_mask);
  for (size_t i = 0; i < idle.size(); ++i) {
    if (idle[i] < shape.gpu_milli || !usable.Contains(i)) continue;
    out->push_back({DeviceSet::Of(i), prefer_least_idle_ ? -int64_t{idle[i]} : int64_t{idle[i]}});
  }
  std::stable_sort(out->begin(), out->end(), [](const DeviceProposal& a, const DeviceProposal& b) {
    return a.score > b.score;
  });
}

void RandomDevice::Propose(const PodShape& shape, const ClusterState& cluster, NodeId node,
                           DeviceProposals* out) {
  if (ProposeWhole(shape, cluster, node, out)) return;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const DeviceSet usable = cluster.UsableGpus(node, shape.model_mask);
  DeviceProposal chosen;
  uint64_t seen = 0;
  for (size_t i = 0; i < idle.size(); ++i) {
    if (idle[i] < shape.gpu_milli || !usable.Contains(i)) continue;
    if (streams_->DrawPolicy(++seen) == 0) chosen.devices = DeviceSet::Of(i);
  }
  out->push_back(chosen);
}

void FgdDevice::Propose(const PodShape& shape, const ClusterState& cluster, NodeId node,
                        DeviceProposals* out) {
  if (ProposeWhole(shape, cluster, node, out)) return;
  out->push_back({scorer_.BestShareDevice(shape, cluster, node), 0});
}

void RegisterDeviceChoosers(Registry& registry) {
  registry.AddAllocator(
      "best", [](const PolicyContext&) { return std::make_unique<TightestDevice>(true); });
  registry.AddAllocator(
      "worst", [](const PolicyContext&) { return std::make_unique<TightestDevice>(false); });
  registry.AddAllocator(
      "random", [](const PolicyContext& c) { return std::make_unique<RandomDevice>(c.streams); });
  registry.AddAllocator(
      "fgd", [](const PolicyContext& c) { return std::make_unique<FgdDevice>(c.fragmentation); });
}

}  // namespace drasim
