// Why a pod waits for its claims, told to people, as the API server has its objects now.
#ifndef DRASIM_SIM_DRA_CLAIM_EXPLAINER_H_
#define DRASIM_SIM_DRA_CLAIM_EXPLAINER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "model/device_grant.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/dra/control_plane.h"

namespace drasim {

// The claims that hold devices of a driver on one node.
struct NodeHolders {
  struct Claim {
    std::string name;       // "default/train-0-gpu-x1"
    std::string consumers;  // "default/train-0"; empty: reserved for nobody
    DeviceGrants grants;    // which devices, where that is known
  };
  std::string driver;
  NodeId node;                // invalid: reached by network from every node
  std::vector<Claim> claims;  // the oldest first
};

class ClaimExplainer {
 public:
  // The control plane outlives it.
  explicit ClaimExplainer(const ControlPlane* plane)
      : plane_(plane),
        objects_(plane->network().server().objects()),
        names_(plane->claim_names()) {}

  // A line for each claim of the pod: its state, which component the pod waits for, and its
  // consumers. O(objects of the pod).
  std::vector<std::string> ExplainPod(PodId pod) const;
  // Holders of the devices that the pod's claims wait for, where a driver refuses every node (or
  // has not allocated an Immediate claim): for each such driver the first `most_nodes` nodes of
  // which claims hold devices. O(claims + nodes).
  std::vector<NodeHolders> HoldersAgainst(PodId pod, size_t most_nodes) const;

 private:
  std::string ExplainClaim(const Pod& pod, const PodClaim& entry) const;
  // The nodes that the driver refuses for the unallocated claim, ascending, if it refuses all that
  // it was asked about; else none.
  std::vector<NodeId> NodesRefused(const Pod& pod, const PodClaim& entry,
                                   const ResourceClaim& claim) const;
  // For a claim that is not allocated.
  std::string ExplainNegotiation(const Pod& pod, const PodClaim& entry,
                                 const ResourceClaim& claim) const;

  const ControlPlane* plane_;
  const ObjectCache& objects_;
  ClaimNames names_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLAIM_EXPLAINER_H_
