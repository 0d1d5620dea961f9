// PodHold (Filter): keeps pods off every node that say something which would decide their place in
// Kubernetes and is not simulated (model/pod_constraints.h). Not of kube-scheduler, where another
// plugin or another component would decide; it is part of a profile only when such pods exist.
#ifndef DRASIM_POLICIES_PLUGINS_POD_HOLD_H_
#define DRASIM_POLICIES_PLUGINS_POD_HOLD_H_

#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class PodHoldFilter : public Plugin {
 public:
  absl::string_view name() const override { return "PodHold"; }
  uint32_t points() const override { return kFilter; }
  std::vector<Reason> reasons() const override;
  // Nothing that happens to nodes or pods helps.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return 0; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_POD_HOLD_H_
