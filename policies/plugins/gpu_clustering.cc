#include "policies/plugins/gpu_clustering.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr int64_t kClusteringGpuMilli = 8000;

}  // namespace

void GpuClustering::Score(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const int tag = AffinityTag(pod.shape->request);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (tag == 0) {
      scores[i] = 0;
      continue;
    }
    const NodeRow& row = cluster.node(nodes[i]);
    // A node with more than eight GPUs idle counts as one with eight: scores must not be negative.
    const int64_t packed =
        std::max<int64_t>(0, 25 * (kClusteringGpuMilli - row.gpu_milli_idle) / kClusteringGpuMilli);
    int64_t bonus = 0;
    if (row.resident_tags == 0) {
      bonus = 25;
    } else if (cluster.HasResidentTag(nodes[i], tag)) {
      bonus = row.resident_tags == 1 ? 75 : 50;
    }
    scores[i] = packed + bonus;
  }
}

void RegisterGpuClustering(Registry& registry) {
  registry.AddPlugin("GpuClustering",
                     [](const PolicyContext&) { return std::make_unique<GpuClustering>(); });
  registry.AddPolicy(
      {"gpu-clustering", "pods of one kind of GPU use together", {{"GpuClustering", 1}}, "best"});
}

}  // namespace drasim
