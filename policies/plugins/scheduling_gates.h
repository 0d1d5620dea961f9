// SchedulingGates (PreEnqueue): a pod with scheduling gates does not enter the queue.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/schedulinggates, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_SCHEDULING_GATES_H_
#define DRASIM_POLICIES_PLUGINS_SCHEDULING_GATES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "policies/framework/plugin.h"

namespace drasim {

class SchedulingGates : public PreEnqueuePlugin, public RequeuePlugin {
 public:
  absl::string_view name() const override { return "SchedulingGates"; }
  StepResult PreEnqueue(const PodContext& pod) override;
  uint32_t requeue_events() const override { return kPodGates; }
  bool MayHelp(const ClusterChange& change, const PodContext&, const ClusterState&) const override {
    return change.is_waiting_pod;
  }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_SCHEDULING_GATES_H_
