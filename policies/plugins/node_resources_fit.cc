#include "policies/plugins/node_resources_fit.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

std::vector<absl::string_view> NodeResourcesFit::reasons() const {
  return {"Insufficient cpu", "Insufficient memory", "Too many pods"};
}

void NodeResourcesFit::Filter(const PodContext& pod, const ClusterState& cluster,
                              absl::Span<const NodeId> nodes,
                              absl::Span<ReasonIndex> verdicts) const {
  const int64_t cpu = pod.shape->cpu_milli;
  const int64_t memory = pod.shape->memory_bytes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeRow& row = cluster.node(nodes[i]);
    if (row.cpu_milli_idle < cpu) {
      verdicts[i] = 1;
    } else if (row.memory_bytes_idle < memory) {
      verdicts[i] = 2;
    } else if (row.pods_idle < 1) {
      verdicts[i] = 3;
    }
  }
}

void RegisterNodeResourcesFit(Registry& registry) {
  registry.AddPlugin("NodeResourcesFit",
                     [](const PolicyContext&) { return std::make_unique<NodeResourcesFit>(); });
}

}  // namespace drasim
