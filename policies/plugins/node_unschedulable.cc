#include "policies/plugins/node_unschedulable.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

bool ToleratesCordon(const PodShape& shape) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(), [](const Toleration& t) {
    const bool key = t.exists ? t.key.empty() || t.key == "node.kubernetes.io/unschedulable"
                              : t.key == "node.kubernetes.io/unschedulable" && t.value.empty();
    return key && (t.effect.empty() || t.effect == "NoSchedule");
  });
}

}  // namespace

std::vector<Reason> NodeUnschedulable::reasons() const {
  return {{ReasonKind::kCordoned, "node(s) were unschedulable"}};
}

void NodeUnschedulable::Filter(const PodContext& pod, const ClusterState& cluster,
                               absl::Span<const NodeId> nodes,
                               absl::Span<ReasonIndex> verdicts) const {
  const bool tolerated = ToleratesCordon(*pod.shape);
  if (tolerated) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && !cluster.node(nodes[i]).schedulable) verdicts[i] = 1;
  }
}

void RegisterNodeUnschedulable(Registry& registry) {
  registry.AddPlugin("NodeUnschedulable",
                     [](const PolicyContext&) { return std::make_unique<NodeUnschedulable>(); });
}

}  // namespace drasim
