#include "policies/plugins/node_name.h"

#include <cstddef>
#include <memory>
#include <string>

#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> NodeName::reasons() const {
  return {{ReasonKind::kNodeAffinity, "node(s) didn't match the requested node name"}};
}

void NodeName::Filter(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const std::string& wanted = pod.shape->constraints.node_name;
  if (wanted.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && cluster.node_spec(nodes[i]).name != wanted) verdicts[i] = 1;
  }
}

void RegisterNodeName(Registry& registry) {
  registry.AddPlugin("NodeName", [](const PolicyContext&) { return std::make_unique<NodeName>(); });
}

}  // namespace drasim
