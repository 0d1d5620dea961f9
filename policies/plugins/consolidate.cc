#include "policies/plugins/consolidate.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

void Consolidate::Score(const PodContext& pod, const ClusterState& cluster,
                        absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const bool most = pod.shape->gang_remainder;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t idle = cluster.node(nodes[i]).gpu_full_idle;
    scores[i] = most ? idle : kMaxNodeScore - idle;
  }
}

void RegisterConsolidate(Registry& registry) {
  registry.AddPlugin("Consolidate",
                     [](const PolicyContext&) { return std::make_unique<Consolidate>(); });
  registry.AddPolicy({"consolidate",
                      "whole GPUs on the node with the fewest idle that are enough",
                      {{"Consolidate", 1}},
                      "best"});
}

}  // namespace drasim
