// RoomCheck: whether a node still has room for a pod that a scheduler has bound to it.
//
// The API server's bind does not look at amounts, but the kubelet does when it admits the pod
// (kubernetes/kubernetes pkg/kubelet/lifecycle/predicate.go, 1.34): resources, devices and host
// ports. Rules about other nodes or pods (spread, affinity) and unschedulable nodes are nothing to
// it.
#ifndef DRASIM_SIM_CORE_ROOM_CHECK_H_
#define DRASIM_SIM_CORE_ROOM_CHECK_H_

#include <memory>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"

namespace drasim {

class RoomCheck {
 public:
  // Filters of Reach::kNode that ask for room alone, such as NodeResourcesFit; others are ignored.
  explicit RoomCheck(std::vector<std::unique_ptr<Plugin>> filters);

  // kNone: the node has room for the pod, which holds nothing. `profile` is that of the pod: a
  // resource that its plugins ignore is not the node's to count. O(filters).
  AdmissionFailure Ask(const PodContext& pod, const Profile& profile, const ClusterState& cluster,
                       NodeId node) const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<const FilterPlugin*> filters_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ROOM_CHECK_H_
