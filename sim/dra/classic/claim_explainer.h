// ClaimExplainer: explains why a pod waits for its claims, from the API server's present objects.
#ifndef DRASIM_SIM_DRA_CLASSIC_CLAIM_EXPLAINER_H_
#define DRASIM_SIM_DRA_CLASSIC_CLAIM_EXPLAINER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/device_grant.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/dra/classic/control_plane.h"

namespace drasim {

// The claims with devices of a driver on one node.
struct NodeHolders {
  struct Claim {
    std::string name;       // "default/train-0-gpu-x1"
    std::string consumers;  // "default/train-0"; empty: not reserved
    DeviceGrants grants;    // empty: unknown
  };
  std::string driver;
  NodeId node;                // invalid: reached by network from every node
  std::vector<Claim> claims;  // the oldest first
};

class ClaimExplainer {
 public:
  // Words the state of a structured claim: of one that is not allocated "is ..."; of an allocated
  // one an addition, or nothing.
  using StructuredState = std::function<std::string(const ResourceClaim&)>;

  // The control plane must outlive it.
  explicit ClaimExplainer(const ControlPlane* plane, StructuredState structured = {})
      : plane_(plane),
        structured_(std::move(structured)),
        objects_(plane->network().server().objects()),
        names_(plane->claim_names()) {}

  // A line for each claim of the pod: its state, the component that the pod waits for, and its
  // consumers. O(objects of the pod).
  std::vector<std::string> ExplainPod(PodId pod) const;
  // Holders of the devices that the pod's claims wait for, where a driver rejects every node (or
  // has not allocated an Immediate claim): per such driver, the first `most_nodes` nodes with
  // claimed devices. O(claims + nodes).
  std::vector<NodeHolders> HoldersAgainst(PodId pod, size_t most_nodes) const;

 private:
  std::string ExplainClaim(const Pod& pod, const PodClaim& entry) const;
  // The nodes, ascending, that the driver rejects for the unallocated claim, provided it rejects
  // all that it was asked about; otherwise none.
  std::vector<NodeId> NodesRefused(const Pod& pod, const PodClaim& entry,
                                   const ResourceClaim& claim) const;
  // For an unallocated claim.
  std::string ExplainNegotiation(const Pod& pod, const PodClaim& entry,
                                 const ResourceClaim& claim) const;

  const ControlPlane* plane_;
  StructuredState structured_;
  const ObjectCache& objects_;
  ClaimNames names_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_CLAIM_EXPLAINER_H_
