#include "policies/plugins/node_unschedulable.h"

#include <memory>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> NodeUnschedulable::reasons() const {
  return {{ReasonKind::kCordoned, "node(s) were unschedulable"}};
}

void NodeUnschedulable::Filter(const PodContext& pod, const ClusterState& cluster,
                               absl::Span<const NodeId> nodes,
                               absl::Span<ReasonIndex> verdicts) const {
  // kube-scheduler treats a cordon as this taint.
  static const auto* const kCordon =
      new Taint{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  if (Tolerates(pod.shape->constraints.tolerations, *kCordon)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && !cluster.node(nodes[i]).schedulable) verdicts[i] = 1;
  }
}

void RegisterNodeUnschedulable(Registry& registry) {
  registry.AddPlugin("NodeUnschedulable",
                     [](const PolicyContext&) { return std::make_unique<NodeUnschedulable>(); });
}

}  // namespace drasim
