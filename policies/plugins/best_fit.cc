#include "policies/plugins/best_fit.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"
#include "policies/plugins/large_node.h"

namespace drasim {

void BestFit::Score(const PodContext& pod, const ClusterState& cluster,
                    absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const int64_t cpu = pod.shape->request.cpu_milli;
  const int64_t gpu = pod.shape->request.total_gpu_milli();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeRow& row = cluster.node(nodes[i]);
    double left = static_cast<double>(row.cpu_milli_idle - cpu) / kLargeNodeCpuMilli * 0.5;
    left += static_cast<double>(row.gpu_milli_idle - gpu) / kLargeNodeGpuMilli * 0.5;
    scores[i] = static_cast<int64_t>((1 - left) * 100);
  }
}

Normalize BestFit::normalize(const ClusterState& cluster) const {
  // Then every raw score lies in [0, 100].
  const bool narrow =
      static_cast<double>(cluster.node_cpu_milli_max()) <= kLargeNodeCpuMilli &&
      static_cast<double>(cluster.node_gpu_count_max() * kDeviceMilli) <= kLargeNodeGpuMilli;
  return narrow ? Normalize::kOrderPreserving : Normalize::kGeneral;
}

void BestFit::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const {
  if (scores.empty()) return;
  const auto [lo, hi] = std::minmax_element(scores.begin(), scores.end());
  const int64_t low = *lo;
  const int64_t span = *hi - low;
  for (int64_t& s : scores) s = span == 0 ? 0 : (s - low) * kMaxNodeScore / span;
}

void RegisterBestFit(Registry& registry) {
  registry.AddPlugin("BestFit", [](const PolicyContext&) { return std::make_unique<BestFit>(); });
  registry.AddPolicy({"best-fit", "least CPU and GPU left over", {{"BestFit", 1}}, "best"});
}

}  // namespace drasim
