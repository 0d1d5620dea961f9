#include "policies/devices/device_choosers.h"

#include <algorithm>
#include <memory>

#include "model/device_set.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

// All choosers treat whole devices alike; returns false for a share.
bool ProposeWhole(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
                  DeviceProposals* out) {
  out->clear();
  if (request.is_share() && request.gpu_count == 1) return false;
  out->push_back({FirstFittingDevices(request, cluster.device_milli_idle(node),
                                      cluster.UsableGpus(node, request.model_mask)),
                  0});
  return true;
}

}  // namespace

void TightestDevice::Propose(const ResourceRequest& request, const ClusterState& cluster,
                             NodeId node, DeviceProposals* out) {
  if (ProposeWhole(request, cluster, node, out)) return;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const DeviceSet usable = cluster.UsableGpus(node, request.model_mask);
  for (size_t i = 0; i < idle.size(); ++i) {
    if (idle[i] < request.gpu_milli || !usable.Contains(i)) continue;
    out->push_back({DeviceSet::Of(i), prefer_least_idle_ ? -int64_t{idle[i]} : int64_t{idle[i]}});
  }
  std::stable_sort(out->begin(), out->end(), [](const DeviceProposal& a, const DeviceProposal& b) {
    return a.score > b.score;
  });
}

void RandomDevice::Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
                           DeviceProposals* out) {
  if (ProposeWhole(request, cluster, node, out)) return;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const DeviceSet usable = cluster.UsableGpus(node, request.model_mask);
  DeviceProposal chosen;
  uint64_t seen = 0;
  for (size_t i = 0; i < idle.size(); ++i) {
    if (idle[i] < request.gpu_milli || !usable.Contains(i)) continue;
    if (streams_->DrawPolicy(++seen) == 0) chosen.devices = DeviceSet::Of(i);
  }
  out->push_back(chosen);
}

void FgdDevice::Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
                        DeviceProposals* out) {
  if (ProposeWhole(request, cluster, node, out)) return;
  out->push_back({scorer_.BestShareDevice(request, cluster, node), 0});
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
