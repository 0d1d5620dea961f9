// The objects of classic Dynamic Resource Allocation, as far as any component reads them
// (resource.k8s.io/v1alpha2, KEP-3063; k8s.io/api v0.29.0 resource/v1alpha2/types.go).
//
// Objects are immutable snapshots behind shared pointers: the server, the caches of its clients and
// messages under way hold the same one. A change is a copy that replaces it.
#ifndef DRASIM_MODEL_KUBE_OBJECTS_H_
#define DRASIM_MODEL_KUBE_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"

namespace drasim {

// Identifies one object and is never reused within a run; 0: none.
using Uid = uint64_t;
// metadata.resourceVersion: the number of the write that made this state; 0 in a request: do not
// check.
using ResourceVersion = uint64_t;

template <typename T>
using Ref = std::shared_ptr<const T>;

// The limits of the API (resource/v1alpha2/types.go).
inline constexpr size_t kMaxReservedFor = 32;
inline constexpr size_t kMaxResourceHandles = 32;
inline constexpr size_t kMaxHandleBytes = 16 << 10;
inline constexpr size_t kMaxNodesInContext = 128;  // potentialNodes, unsuitableNodes

struct ObjectMeta {
  Name ns;  // empty: cluster-scoped
  Name name;
  Uid uid = 0;
  ResourceVersion version = 0;
  bool deleting = false;                    // metadata.deletionTimestamp is set
  absl::InlinedVector<Name, 1> finalizers;  // in order of addition
  Uid owner = 0;                            // uid of the pod that is the controller owner
  bool operator==(const ObjectMeta&) const = default;
};

enum class AllocationMode : uint8_t { kWaitForFirstConsumer, kImmediate };

// A reference to an object with parameters of a driver; empty kind: none.
struct ParametersRef {
  Name api_group;
  Name kind;
  Name ns;  // of the class's parameters only
  Name name;
  bool operator==(const ParametersRef&) const = default;
};

// An object with parameters (a ConfigMap, GpuClaimParameters, ...). Only its driver interprets the
// fields, which are flattened: "selector.andExpression.0.productName" to text; sorted by path.
struct ParametersObject {
  ObjectMeta meta;
  Name api_group;
  Name kind;
  std::vector<std::pair<std::string, std::string>> fields;
  bool operator==(const ParametersObject&) const = default;
};

struct ResourceClass {
  ObjectMeta meta;
  Name driver;
  ParametersRef parameters;
  NodeSet suitable_nodes;  // read only while a claim is unallocated
  bool operator==(const ResourceClass&) const = default;
};

// An entry of status.reservedFor.
struct Consumer {
  Name resource;  // "pods", or a resource that the simulation does not know
  Name name;
  Uid uid = 0;
  bool operator==(const Consumer&) const = default;
};

struct ResourceHandle {
  Name driver;
  std::string data;  // opaque, at most kMaxHandleBytes
  bool operator==(const ResourceHandle&) const = default;
};

struct Allocation {
  std::vector<ResourceHandle> handles;
  NodeSet available_on;
  bool shareable = false;
  // `data`, decoded: the node and its devices. An invalid node: attached by network.
  NodeId node;
  DeviceGrants grants;
  bool operator==(const Allocation&) const = default;
};

struct ClaimSpec {
  Name class_name;
  ParametersRef parameters;
  AllocationMode mode = AllocationMode::kWaitForFirstConsumer;
  bool operator==(const ClaimSpec&) const = default;
};

struct ClaimStatus {
  Name driver;
  Ref<Allocation> allocation;  // null: not allocated
  absl::InlinedVector<Consumer, 1> reserved_for;
  bool deallocation_requested = false;
  bool operator==(const ClaimStatus& o) const {
    const bool same =
        allocation == o.allocation ||
        (allocation != nullptr && o.allocation != nullptr && *allocation == *o.allocation);
    return same && driver == o.driver && reserved_for == o.reserved_for &&
           deallocation_requested == o.deallocation_requested;
  }
};

struct ResourceClaim {
  ObjectMeta meta;
  // Annotation resource.kubernetes.io/pod-claim-name: the entry of the owning pod that it was made
  // for; empty: none.
  Name pod_claim_name;
  // Anything else in its metadata, so that a label update is a change.
  std::vector<std::pair<std::string, std::string>> labels;
  ClaimSpec spec;
  ClaimStatus status;
  bool operator==(const ResourceClaim&) const = default;
};

struct ResourceClaimTemplate {
  ObjectMeta meta;
  ClaimSpec spec;  // of the claims made from it
  bool operator==(const ResourceClaimTemplate&) const = default;
};

struct PodSchedulingContext {
  struct ClaimNodes {
    Name entry;                      // of pod.spec.resourceClaims
    std::vector<NodeId> unsuitable;  // ascending, at most kMaxNodesInContext
    bool operator==(const ClaimNodes&) const = default;
  };
  ObjectMeta meta;                 // name: the pod's; owner: the pod
  NodeId selected;                 // spec.selectedNode; invalid: none
  std::vector<NodeId> potential;   // spec.potentialNodes: ascending, at most kMaxNodesInContext
  std::vector<ClaimNodes> claims;  // status.resourceClaims
  bool operator==(const PodSchedulingContext&) const = default;
};

enum class KubePodPhase : uint8_t { kPending, kRunning, kSucceeded, kFailed };

struct PodClaim {
  Name entry;
  Name claim;          // source.resourceClaimName, or empty
  Name from_template;  // source.resourceClaimTemplateName, or empty
  bool used = true;    // some container lists it in resources.claims
  bool operator==(const PodClaim&) const = default;
};

struct Pod {
  struct ClaimName {
    Name entry;
    Name claim;
    bool operator==(const ClaimName&) const = default;
  };
  ObjectMeta meta;
  std::vector<PodClaim> claims;
  NodeId node;  // spec.nodeName; invalid: not bound
  KubePodPhase phase = KubePodPhase::kPending;
  std::vector<ClaimName> claim_names;  // status.resourceClaimStatuses
  // Message of the condition PodScheduled=False; invalid: there is no such condition.
  SummaryId unschedulable;
  NodeId nominated;  // status.nominatedNodeName; invalid: none
  PodId row;         // of the run; invalid: none
  bool operator==(const Pod&) const = default;
};

// A pod is done when it has ended or will never run: phase Succeeded or Failed, or deleted before
// it was bound.
inline bool IsDone(const Pod& pod) {
  return pod.phase == KubePodPhase::kSucceeded || pod.phase == KubePodPhase::kFailed ||
         (pod.meta.deleting && !pod.node.valid());
}

enum class ObjectKind : uint8_t {
  kPod = 0,
  kResourceClass = 1,
  kResourceClaim = 2,
  kResourceClaimTemplate = 3,
  kPodSchedulingContext = 4,
  kParameters = 5,
  // Events of events.k8s.io: writes of them are calls like others, but the server keeps none, since
  // no component reads them.
  kEvent = 6,
};
inline constexpr size_t kObjectKinds = 6;  // that are kept

// One object of any kind; the index of the variant is the ObjectKind.
using ObjectRef =
    std::variant<Ref<Pod>, Ref<ResourceClass>, Ref<ResourceClaim>, Ref<ResourceClaimTemplate>,
                 Ref<PodSchedulingContext>, Ref<ParametersObject>>;

inline ObjectKind KindOf(const ObjectRef& object) {
  return static_cast<ObjectKind>(object.index());
}
// Null when it is of another kind, or none.
template <typename T>
Ref<T> As(const ObjectRef& object) {
  const Ref<T>* found = std::get_if<Ref<T>>(&object);
  return found == nullptr ? nullptr : *found;
}
// Null for a null reference.
inline const ObjectMeta* MetaOf(const ObjectRef& object) {
  return std::visit([](const auto& ref) { return ref == nullptr ? nullptr : &ref->meta; }, object);
}

// Whether the claim is reserved for the pod, and whether it could be (KEP-3063).
inline bool IsReservedFor(const ResourceClaim& claim, Uid pod) {
  for (const Consumer& consumer : claim.status.reserved_for) {
    if (consumer.uid == pod) return true;
  }
  return false;
}
inline bool CanBeReserved(const ResourceClaim& claim) {
  return claim.status.reserved_for.empty() ||
         (claim.status.allocation != nullptr && claim.status.allocation->shareable);
}

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_OBJECTS_H_
