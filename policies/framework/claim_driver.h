// The decisions of a classic DRA driver's controller: devices for a claim, and nodes that cannot
// serve it (k8s.io/dynamic-resource-allocation v0.29 controller.Driver).
//
// A driver knows the devices of the nodes and its own allocations. Only its controller calls it,
// one call at a time. Calls return at once; the controller models the time that they take.
#ifndef DRASIM_POLICIES_FRAMEWORK_CLAIM_DRIVER_H_
#define DRASIM_POLICIES_FRAMEWORK_CLAIM_DRIVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

// A claim to be allocated, with the objects that it refers to. Pointers are valid during the call.
struct ClaimToAllocate {
  const ResourceClaim* claim = nullptr;
  const ResourceClass* resource_class = nullptr;
  const ParametersObject* claim_parameters = nullptr;  // null: none given
  const ParametersObject* class_parameters = nullptr;
  Name entry;  // of the pod; empty for Immediate
};

struct ClaimAllocation {
  // OK with an `allocation`; else the text of the event "Failed".
  absl::Status status;
  Ref<Allocation> allocation;
};

// A driver's plugin of the kubelets, which prepares allocated claims on their nodes.
class NodePlugin {
 public:
  virtual ~NodePlugin() = default;
  // The driver's name: "gpu.resource.nvidia.com"
  virtual absl::string_view name() const = 0;
  // Times to prepare an allocation on its node before its first pod starts, and to clean up after
  // its last (partitions, reprogramming, initialisation).
  virtual SimDuration PrepareTime(const ResourceClaim&) const { return SimDuration(); }
  virtual SimDuration UnprepareTime(const ResourceClaim&) const { return SimDuration(); }
};

class ClaimDriver : public NodePlugin {
 public:
  // Whether the driver can read the parameters. The controller reports the error, and retries.
  virtual absl::Status CheckParameters(const ClaimToAllocate& claim) const = 0;

  // Allocates each claim for the node; on any node if `node` is invalid (Immediate). One result per
  // claim, in order; results are independent. A claim with an allocation gets the same one again
  // (the first was never written to its status).
  virtual std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                                NodeId node) = 0;

  // For each claim, in order, the nodes among `potential` (ascending) that cannot serve the pod at
  // present; ascending.
  virtual std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const = 0;

  // Whether the driver records promises and allocations in an object per node, as NVIDIA's does
  // (NodeAllocationState). Its controller then reads the object of each potential node and calls
  // Propose instead of UnsuitableNodes, and reads and writes an object for each allocation and
  // deallocation.
  virtual bool keeps_node_objects() const { return false; }
  // Whether the node can serve the pod at present. If so, the driver reserves the places that it
  // found until each claim is allocated, here or elsewhere; Allocate gives out reserved places
  // only. REQUIRES: keeps_node_objects().
  virtual bool Propose(absl::Span<const ClaimToAllocate>, NodeId) { return false; }
  // The claim is gone: drops the places reserved for it.
  virtual void Forget(Uid) {}

  // Why the node cannot serve these claims of one pod at present, with the resource, the amount
  // wanted and the amount there: "2 GPUs wanted, 1 free". Empty when it can. With an invalid node:
  // why the driver refuses every Immediate claim. For explanations only.
  virtual std::string WhyUnsuitable(absl::Span<const ClaimToAllocate>, NodeId) const { return ""; }

  // Frees the claim's devices, or abandons its allocation. Unknown claims are ignored.
  virtual absl::Status Deallocate(Uid claim) = 0;

  // After a restart, with the claims that the server shows as allocated by this driver, by uid.
  virtual void Restore(absl::Span<const Ref<ResourceClaim>> allocated) = 0;

  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_CLAIM_DRIVER_H_
