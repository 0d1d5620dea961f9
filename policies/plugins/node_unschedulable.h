// NodeUnschedulable (Filter): cordoned nodes take no new pods, unless the pod tolerates the taint
// node.kubernetes.io/unschedulable:NoSchedule, as in kube-scheduler.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_
#define DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_

#include "policies/framework/plugin.h"

namespace drasim {

class NodeUnschedulable : public Plugin {
 public:
  absl::string_view name() const override { return "NodeUnschedulable"; }
  uint32_t points() const override { return kFilter; }
  std::vector<Reason> reasons() const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return kNodeAdded | kNodeSchedulable; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_
