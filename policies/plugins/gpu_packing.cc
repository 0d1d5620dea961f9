#include "policies/plugins/gpu_packing.h"

#include <algorithm>
#include <array>
#include <memory>

#include "model/device_set.h"
#include "model/resource_request.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

int64_t ScoreNode(const ResourceRequest& request, const NodeRow& row,
                  absl::Span<const int16_t> device_idle, DeviceSet usable) {
  if (request.gpu_milli == 0) return 0;
  const int64_t full_idle = row.gpu_full_idle;
  if (full_idle == row.gpu_count) {
    // At most 32, so that an untouched node with more GPUs never outranks a used one.
    return std::max<int64_t>(33 - full_idle, std::min<int64_t>(full_idle, 32));
  }
  // The devices the pod would take: the tightest first, index order among equals.
  std::array<int16_t, kMaxDevicesPerNode> idle;
  auto* end = idle.begin();
  for (size_t i = 0; i < device_idle.size(); ++i) {
    if (usable.Contains(i)) *end++ = device_idle[i];
  }
  std::sort(idle.begin(), end);
  int64_t taken = 0;
  int64_t taken_full = 0;
  int64_t shared_percent = 0;
  for (auto* it = idle.begin(); it != end && taken < request.gpu_count; ++it) {
    if (*it < request.gpu_milli) continue;
    ++taken;
    taken_full += *it == kDeviceMilli ? 1 : 0;
    shared_percent += *it * 100 / kDeviceMilli;
  }
  if (taken_full > 0) return std::max<int64_t>(50 - taken_full, 33);
  return std::max<int64_t>(100 - shared_percent / 10, 50);
}

}  // namespace

void GpuPacking::Score(const PodContext& pod, const ClusterState& cluster,
                       absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] =
        ScoreNode(pod.shape->request, cluster.node(nodes[i]), cluster.device_milli_idle(nodes[i]),
                  cluster.UsableGpus(nodes[i], pod.shape->request.model_mask));
  }
}

void RegisterGpuPacking(Registry& registry) {
  registry.AddPlugin("GpuPacking",
                     [](const PolicyContext&) { return std::make_unique<GpuPacking>(); });
  registry.AddPolicy(
      {"gpu-packing", "shared GPUs first, untouched nodes last", {{"GpuPacking", 1}}, "best"});
}

}  // namespace drasim
