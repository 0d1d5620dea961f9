// Which changes of the cluster wake a pod, by the plugins that rejected it.
//
// Source: kubernetes/kubernetes pkg/scheduler/scheduler.go (buildQueueingHintMap) and
// pkg/scheduler/backend/queue/scheduling_queue.go (isPodWorthRequeuing), release 1.34.
#ifndef DRASIM_POLICIES_FRAMEWORK_REQUEUE_HINTS_H_
#define DRASIM_POLICIES_FRAMEWORK_REQUEUE_HINTS_H_

#include <cstdint>

#include "model/cluster_state.h"
#include "policies/framework/cluster_change.h"
#include "policies/framework/plugin.h"

namespace drasim {

// The events of which the plugin must be told: its own, and those that Kubernetes adds. A plugin
// that waits for new nodes but not for taints is woken by every change of taints, too (a cordon
// that is lifted is one), because a new node may be announced by the removal of its taint.
uint32_t RegisteredEvents(const RequeuePlugin& plugin);

// True when the change moves a pod that the plugin rejected out of the unschedulable pods.
bool Requeues(const RequeuePlugin& plugin, const ClusterChange& change, const PodContext& pod,
              const ClusterState& cluster);

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_REQUEUE_HINTS_H_
