// Devices of allocated claims, as the cluster charges them to bound pods.
//
// A claim's devices are charged to one pod: of several that share it, the first in reservedFor.
// When that pod is gone, they pass to another consumer on the node that holds nothing yet.
#ifndef DRASIM_SIM_DRA_CLAIM_DEVICES_H_
#define DRASIM_SIM_DRA_CLAIM_DEVICES_H_

#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/core/node_agent.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/object_cache.h"

namespace drasim {

class ClaimDevices {
 public:
  // All outlive it. `objects`: the server's.
  ClaimDevices(const ClusterState* cluster, const ObjectCache* objects, ClaimNames names)
      : cluster_(cluster), objects_(objects), names_(names) {}

  // The devices of the pod, which is bound to the node. O(claims).
  Admission DevicesOf(const Pod& object, NodeId node) const;
  // The pod is off its node; null: it has no object. True when PassOn has something to do at the
  // end of this instant, and had not before.
  bool PodGone(const Ref<Pod>& object);
  // Charges what pods that are gone shared to other consumers.
  void PassOn(PodControl* engine);

 private:
  void PassOn(const Pod& gone, PodControl* engine) const;

  const ClusterState* cluster_;
  const ObjectCache* objects_;
  ClaimNames names_;
  std::vector<Ref<Pod>> gone_;  // at this instant, and shared something
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLAIM_DEVICES_H_
