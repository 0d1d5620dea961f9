// NodeUnschedulable (Filter): cordoned nodes take no new pods, unless the pod tolerates the taint
// node.kubernetes.io/unschedulable:NoSchedule, as in kube-scheduler.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_
#define DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class NodeUnschedulable : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeUnschedulable"; }
  std::vector<Reason> reasons() const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override {
    return kNodeAdded | kNodeSchedulable | kNodeTaints | kPodTolerations;
  }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_UNSCHEDULABLE_H_
