#include "policies/plugins/node_unschedulable.h"

#include <cstddef>
#include <memory>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

// kube-scheduler treats a cordon as a taint.
bool ToleratesCordon(const PodShape& shape) {
  static const auto* const kCordon =
      new Taint{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  return Tolerates(shape.constraints.tolerations, *kCordon);
}

}  // namespace

std::vector<Reason> NodeUnschedulable::reasons() const {
  return {{ReasonKind::kCordoned, "node(s) were unschedulable"}};
}

bool NodeUnschedulable::MayHelp(const ClusterChange& change, const PodContext&,
                                const ClusterState& cluster) const {
  if (!change.detailed) return true;
  if (change.event == kPodTolerations) {
    return change.is_waiting_pod && ToleratesCordon(*change.pod);
  }
  return (change.old_node == nullptr || change.old_node->unschedulable) &&
         cluster.node(change.node).schedulable;
}

void NodeUnschedulable::Filter(const PodContext& pod, const ClusterState& cluster,
                               absl::Span<const NodeId> nodes,
                               absl::Span<ReasonIndex> verdicts) const {
  if (cluster.cordoned_nodes() == 0 || ToleratesCordon(*pod.shape)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && !cluster.node(nodes[i]).schedulable) verdicts[i] = 1;
  }
}

void RegisterNodeUnschedulable(Registry& registry) {
  registry.AddPlugin("NodeUnschedulable",
                     [](const PolicyContext&) { return std::make_unique<NodeUnschedulable>(); });
}

}  // namespace drasim
