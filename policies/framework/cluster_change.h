// ClusterChange: one change of the cluster, for the queueing hints of plugins.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/types.go (ClusterEvent, ActionType) and
// pkg/scheduler/eventhandlers.go, release 1.34.
#ifndef DRASIM_POLICIES_FRAMEWORK_CLUSTER_CHANGE_H_
#define DRASIM_POLICIES_FRAMEWORK_CLUSTER_CHANGE_H_

#include <cstdint>

#include "model/ids.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"

namespace drasim {

// Changes that may make room for a waiting pod (kube-scheduler's cluster events), as bits. One
// update of an object may be several of them, in this order.
enum ClusterEvent : uint32_t {
  kPodRemoved = 1u << 0,       // a pod left its node (assigned Pod Delete)
  kNodeAdded = 1u << 1,        // a node was added, or is ready again
  kNodeSchedulable = 1u << 2,  // a node was uncordoned (UpdateNodeTaint upstream)
  kNodeAllocatable = 1u << 3,  // a node reports other amounts
  kClaimChanged = 1u << 4,     // an object that decides about claims was added or changed; no node
  kNodeLabels = 1u << 5,       // a node's labels changed
  kNodeTaints = 1u << 6,       // a node's taints changed
  kNodeOther = 1u << 7,        // a node's conditions or annotations changed
  kNodeRemoved = 1u << 8,
  kPodAdded = 1u << 9,         // a bound pod appeared
  kPodLabels = 1u << 10,       // labels of a pod, bound or the waiting one itself
  kPodScaledDown = 1u << 11,   // its requests shrank
  kPodGates = 1u << 12,        // its scheduling gates were removed
  kPodTolerations = 1u << 13,  // it tolerates more
  kPodOther = 1u << 14,        // none of these: a generic update
  kVolumeChanged = 1u << 15,   // PersistentVolume, its claim, StorageClass, CSINode, ...
};

struct ClusterChange {
  ClusterEvent event = kPodRemoved;
  // The changed node, or that of the bound pod (for a pending one the nominated node); invalid:
  // none.
  NodeId node = NodeId();
  // The node as it was; null: it is new, or the event is not about a node.
  const NodeSpec* old_node = nullptr;
  // The pod that was added, changed or removed; null for other objects. It may be gone already.
  const PodShape* pod = nullptr;
  const PodShape* old_pod = nullptr;  // before the change; null unless it was updated
  PodId pod_id = PodId();
  bool is_waiting_pod = false;   // the changed pod is the very pod that waits
  bool bound_elsewhere = false;  // the changed pod is bound to a node that is not there
  // All fields are filled in: hints are exactly kube-scheduler's. Otherwise only `event` and `node`
  // count, and hints are the coarser ones of plain simulations.
  bool detailed = false;

  // For a change of a pod: it has a node, or is nominated for one.
  bool of_bound_pod() const { return node.valid() || bound_elsewhere; }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_CLUSTER_CHANGE_H_
