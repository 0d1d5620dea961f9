// Devices of allocated claims, as the cluster charges them to bound pods.
//
// A claim's devices are charged to one pod: among several that share it, to the first in
// reservedFor. When that pod is gone, they pass to another consumer on the node that holds nothing
// yet.
#ifndef DRASIM_SIM_DRA_API_CLAIM_DEVICES_H_
#define DRASIM_SIM_DRA_API_CLAIM_DEVICES_H_

#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {

class ClaimDevices {
 public:
  // All must outlive the object. `objects`: the server's.
  ClaimDevices(const ClusterState* cluster, const ObjectCache* objects, ClaimNames names)
      : cluster_(cluster), objects_(objects), names_(names) {}

  // The devices of the pod, bound to the node. O(claims).
  Admission DevicesOf(const Pod& object, NodeId node) const;
  // The pod has left its node; null: it has no object. True when PassOn now has work at the end of
  // this instant.
  bool PodGone(const Ref<Pod>& object);
  // Charges shared devices of departed pods to other consumers.
  void PassOn(PodControl* engine);

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  void PassOn(const Pod& gone, PodControl* engine) const;

  const ClusterState* cluster_;
  const ObjectCache* objects_;
  ClaimNames names_;
  std::vector<Ref<Pod>> gone_;  // with shared devices, at this instant
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_CLAIM_DEVICES_H_
