#include "policies/plugins/node_affinity.h"

#include <memory>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> NodeAffinity::reasons() const {
  return {{ReasonKind::kNodeAffinity, "node(s) didn't match Pod's node affinity/selector"}};
}

void NodeAffinity::Filter(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const auto& wanted = pod.shape->constraints.node_selector;
  const std::vector<NodeTerm>& terms = pod.shape->constraints.node_terms;
  if (wanted.empty() && terms.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeSpec& node = cluster.node_spec(nodes[i]);
    if (UnmetLabel(wanted, node) != nullptr || (!terms.empty() && !MeetsNodeTerms(node, terms)))
      verdicts[i] = 1;
  }
}

void RegisterNodeAffinity(Registry& registry) {
  registry.AddPlugin("NodeAffinity",
                     [](const PolicyContext&) { return std::make_unique<NodeAffinity>(); });
}

}  // namespace drasim
