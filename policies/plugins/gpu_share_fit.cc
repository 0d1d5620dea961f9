#include "policies/plugins/gpu_share_fit.h"

#include <memory>

#include "model/device_set.h"
#include "model/resource_request.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

bool EnoughDevices(const ResourceRequest& request, const NodeRow& row,
                   absl::Span<const int16_t> idle) {
  if (request.gpu_count == 1) return row.gpu_milli_idle_max >= request.gpu_milli;
  if (request.gpu_milli == kDeviceMilli) return row.gpu_full_idle >= request.gpu_count;
  int fitting = 0;
  for (int16_t milli : idle) fitting += milli >= request.gpu_milli ? 1 : 0;
  return fitting >= request.gpu_count;
}

// For a node with several models: GPUs of the others serve as little as none.
ReasonIndex MixedVerdict(const ResourceRequest& request, const ClusterState& cluster, NodeId node) {
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const DeviceSet usable =
      cluster.UsableGpus(node, request.model_mask) & DeviceSet::FirstN(idle.size());
  // Requests for extended resources and claims leave the choice among the node's GPUs to others,
  // so every GPU must do.
  const bool all = request.gpu_count == 0;
  if (usable.empty() || (all && usable.size() < static_cast<int>(idle.size()))) return 2;
  if (request.gpu_count == 0) return kFits;
  const DeviceSet found = FirstFittingDevices(request, idle, usable);
  return found.size() < request.gpu_count ? 3 : kFits;
}

}  // namespace

std::vector<Reason> GpuShareFit::reasons() const {
  return {{ReasonKind::kNoGpu, "node(s) had no GPU"},
          {ReasonKind::kGpuModel, "node(s) had another GPU model"},
          {ReasonKind::kGpu, "Insufficient GPU"}};
}

bool GpuShareFit::IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                               ReasonIndex local) const {
  if (local != 3) return false;
  const NodeRow& row = cluster.node(node);
  const DeviceSet usable =
      cluster.UsableGpus(node, pod.shape->request.model_mask) & DeviceSet::FirstN(row.gpu_count);
  return usable.size() >= pod.shape->request.gpu_count;
}

void GpuShareFit::Filter(const PodContext& pod, const ClusterState& cluster,
                         absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const ResourceRequest& request = pod.shape->request;
  // A request lowered to extended resources may still name GPU models. In a cluster, that is a node
  // affinity on GPU feature discovery's product label.
  if (request.gpu_count == 0 && (request.gpu_spec.empty() || !request.mig.empty())) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeRow& row = cluster.node(nodes[i]);
    if (row.gpu_count == 0) {
      verdicts[i] = 1;
    } else if (row.is_mixed()) {
      verdicts[i] = MixedVerdict(request, cluster, nodes[i]);
    } else if ((request.model_mask >> row.model & 1) == 0) {
      verdicts[i] = 2;
    } else if (request.gpu_count > 0 &&
               !EnoughDevices(request, row, cluster.device_milli_idle(nodes[i]))) {
      verdicts[i] = 3;
    }
  }
}

void RegisterGpuShareFit(Registry& registry) {
  registry.AddPlugin("GpuShareFit",
                     [](const PolicyContext&) { return std::make_unique<GpuShareFit>(); });
}

}  // namespace drasim
