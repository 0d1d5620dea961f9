// Extender (Bind): the place of scheduler extenders among a profile's plugins.
//
// The extender that binds the pod does so in place of the scheduler's own plugins. Nodes that
// extenders reject count under this plugin's reason.
#ifndef DRASIM_SIM_CORE_EXTENDER_BINDER_H_
#define DRASIM_SIM_CORE_EXTENDER_BINDER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "sim/core/extender.h"

namespace drasim {

// Index in reasons(), from 1.
inline constexpr ReasonIndex kRejectedByExtender = 1;

class ExtenderBinder : public BindPlugin {
 public:
  // The list may be filled later; it outlives the plugin. `latency`: of one call, in virtual time.
  ExtenderBinder(const std::vector<Extender*>* extenders, SimDuration latency)
      : extenders_(*extenders), latency_(latency) {}

  absl::string_view name() const override { return kExtenderRejector; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "node(s) were rejected by a scheduler extender"}};
  }
  // kSkip: no extender binds this pod. kError: the one that should has failed.
  StepResult Bind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

 private:
  const std::vector<Extender*>& extenders_;
  const SimDuration latency_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EXTENDER_BINDER_H_
