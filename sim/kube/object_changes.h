// Cluster events of kube-scheduler for an update of a pod or a node.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/events.go, release 1.34
// (PodSchedulingPropertiesChange, NodeSchedulingPropertiesChange).
#ifndef DRASIM_SIM_KUBE_OBJECT_CHANGES_H_
#define DRASIM_SIM_KUBE_OBJECT_CHANGES_H_

#include <vector>

#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "policies/framework/cluster_change.h"

namespace drasim {

// One event for each aspect that changed, in upstream's order. A pod always has one, kPodOther if
// no aspect changed; a node may have none.
std::vector<ClusterEvent> ChangesOfPod(const PodShape& before, const PodShape& after);
std::vector<ClusterEvent> ChangesOfNode(const proto::kube::Node& before,
                                        const proto::kube::Node& after);

}  // namespace drasim

#endif  // DRASIM_SIM_KUBE_OBJECT_CHANGES_H_
