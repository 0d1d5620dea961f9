// The decisions of a classic DRA driver's control-plane controller: which devices a claim gets, and
// which nodes cannot serve it (k8s.io/dynamic-resource-allocation v0.29 controller.Driver).
//
// A driver sees the devices of the nodes and what it has given out itself; nothing else. It is
// called by its controller only, one call at a time, and decides at once: how long that takes is
// the controller's business.
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

// A claim to be allocated, with what it refers to. Pointers are good during the call.
struct ClaimToAllocate {
  const ResourceClaim* claim = nullptr;
  const ResourceClass* resource_class = nullptr;
  const ParametersObject* claim_parameters = nullptr;  // null: none given
  const ParametersObject* class_parameters = nullptr;
  Name entry;  // of the pod; empty for Immediate
};

struct ClaimAllocation {
  // OK: `allocation` holds. Else why not: the text of the event "Failed".
  absl::Status status;
  Ref<Allocation> allocation;
};

class ClaimDriver {
 public:
  virtual ~ClaimDriver() = default;
  // "gpu.resource.nvidia.com"
  virtual absl::string_view name() const = 0;

  // Whether it can read the parameters; the error is what the controller reports, and retries.
  virtual absl::Status CheckParameters(const ClaimToAllocate& claim) const = 0;

  // Allocates each claim for the node, or (invalid: Immediate) wherever it likes. One result per
  // claim, in order; results are independent. A claim that it has allocated already gets the same
  // allocation again (the status of the first was never written).
  virtual std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                                NodeId node) = 0;

  // For each claim, the nodes among `potential` (ascending) that cannot serve the pod, by the state
  // of now; ascending. One list per claim, in order.
  virtual std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const = 0;

  // Whether it keeps an object per node for what it has promised and given out there, as NVIDIA's
  // does (NodeAllocationState). Its controller then reads the object of each potential node and
  // asks Propose in place of UnsuitableNodes, and reads and writes one for each allocation and
  // deallocation.
  virtual bool keeps_node_objects() const { return false; }
  // Whether the node can serve the pod by the state of now. If so, the driver keeps the places that
  // it has found for the claims, out of reach of others, until each claim is allocated, somewhere;
  // Allocate gives out such places only. REQUIRES: keeps_node_objects().
  virtual bool Propose(absl::Span<const ClaimToAllocate>, NodeId) { return false; }
  // The claim is gone, so that no places are kept for it any more.
  virtual void Forget(Uid) {}

  // Why the node cannot serve these claims of one pod by the state of now, with the resource, what
  // is wanted and what is there: "2 GPUs wanted, 1 free". Empty when it can. An invalid node asks
  // why the driver refuses every Immediate claim; empty when it does not. For explanations; not on
  // the path of a decision.
  virtual std::string WhyUnsuitable(absl::Span<const ClaimToAllocate>, NodeId) const { return ""; }

  // The claim's devices are free again, or an allocation under way is given up. A claim of which it
  // knows nothing is fine.
  virtual absl::Status Deallocate(Uid claim) = 0;

  // After a restart: the claims that are allocated by it, as the server has them, in order of uid.
  virtual void Restore(absl::Span<const Ref<ResourceClaim>> allocated) = 0;

  // The kubelet plugin: how long it takes to make an allocation ready on its node before the first
  // pod that uses it starts, and to clean up after the last (partitions, reprogramming,
  // initialisation).
  virtual SimDuration PrepareTime(const ResourceClaim&) const { return SimDuration(); }
  virtual SimDuration UnprepareTime(const ResourceClaim&) const { return SimDuration(); }

  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_CLAIM_DRIVER_H_
