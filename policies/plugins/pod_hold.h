// PodHold (Filter): keeps pods pending whose constraints are not simulated
// (model/pod_constraints.h).
//
// kube-scheduler has no such plugin: other plugins or components decide about these pods. It is
// part of a profile only if the run has such pods.
#ifndef DRASIM_POLICIES_PLUGINS_POD_HOLD_H_
#define DRASIM_POLICIES_PLUGINS_POD_HOLD_H_

#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class PodHoldFilter : public FilterPlugin {
 public:
  absl::string_view name() const override { return "PodHold"; }
  std::vector<Reason> reasons() const override;
  // No change of nodes or pods helps.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return 0; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_POD_HOLD_H_
