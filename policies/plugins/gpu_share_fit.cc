#include "policies/plugins/gpu_share_fit.h"

#include <memory>

#include "model/resource_request.h"
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

}  // namespace

std::vector<Reason> GpuShareFit::reasons() const {
  return {{ReasonKind::kNoGpu, "node(s) had no GPU"},
          {ReasonKind::kGpuModel, "node(s) had another GPU model"},
          {ReasonKind::kGpu, "Insufficient GPU"}};
}

bool GpuShareFit::IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                               ReasonIndex local) const {
  return local == 3 && cluster.node(node).gpu_count >= pod.shape->request.gpu_count;
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
