// The objects of Dynamic Resource Allocation, as far as any component reads them: classic
// (resource.k8s.io/v1alpha2, KEP-3063; k8s.io/api v0.29.0 resource/v1alpha2/types.go) and
// structured (resource.k8s.io/v1, KEP-4381).
//
// Both have the same ResourceClaim and ResourceClaimTemplate, because the life of a claim is the
// same: made for a pod, allocated, reserved, prepared, released. Fields of one of the two are
// marked, and not set in the other; ClaimSpec::devices tells a structured claim.
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
#include "model/kube/shared_message.h"
#include "model/time.h"

namespace drasim {

namespace proto::kube {
class AllocationResultV1;
class DeviceClaim;
class DeviceClass;
class DeviceTaintRule;
class ExtendedResourceClaimStatus;
class PodSpec;
class ResourceClaimStatusV1;
class ResourceSlice;
}  // namespace proto::kube

// Identifies one object and is never reused within a run; 0: none.
using Uid = uint64_t;
// metadata.resourceVersion: the number of the write that made this state; 0 in a request: do not
// check.
using ResourceVersion = uint64_t;

template <typename T>
using Ref = std::shared_ptr<const T>;

// The limits of the API (resource/v1alpha2/types.go).
inline constexpr size_t kMaxReservedFor = 32;
inline constexpr size_t kMaxReservedForV1 = 256;  // of structured claims
// The finalizer of structured claims: set before a claim is allocated, taken away when nobody uses
// it any more.
inline constexpr char kStructuredClaimFinalizer[] = "resource.kubernetes.io/delete-protection";
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
  // Structured: the chosen devices. `available_on` follows from its node selector, and `handles`
  // name the drivers of the devices.
  SharedMessage<proto::kube::AllocationResultV1> result;
  bool operator==(const Allocation&) const = default;
};

struct ClaimSpec {
  Name class_name;
  ParametersRef parameters;
  AllocationMode mode = AllocationMode::kWaitForFirstConsumer;
  SharedMessage<proto::kube::DeviceClaim> devices;  // structured: spec.devices
  // Whether the scheduler allocates it, from ResourceSlices.
  bool is_structured() const { return static_cast<bool>(devices); }
  bool operator==(const ClaimSpec&) const = default;
};

struct ResourceClaimStatus {
  Name driver;
  Ref<Allocation> allocation;  // null: not allocated
  absl::InlinedVector<Consumer, 1> reserved_for;
  bool deallocation_requested = false;
  // Structured: `devices`, the drivers' words about allocated devices; its other fields are not
  // set.
  SharedMessage<proto::kube::ResourceClaimStatusV1> devices;
  bool operator==(const ResourceClaimStatus& o) const {
    const bool same =
        allocation == o.allocation ||
        (allocation != nullptr && o.allocation != nullptr && *allocation == *o.allocation);
    return same && driver == o.driver && reserved_for == o.reserved_for &&
           deallocation_requested == o.deallocation_requested && devices == o.devices;
  }
};

struct ResourceClaim {
  ObjectMeta meta;
  // Annotation resource.kubernetes.io/pod-claim-name: the entry of the owning pod that it was made
  // for; empty: none.
  Name pod_claim_name;
  // Annotation resource.kubernetes.io/extended-resource-claim: the scheduler made it for the
  // extended resources of the owning pod.
  bool for_extended_resources = false;
  // Anything else in its metadata, so that a label update is a change.
  std::vector<std::pair<std::string, std::string>> labels;
  ClaimSpec spec;
  ResourceClaimStatus status;
  bool operator==(const ResourceClaim&) const = default;
};

struct ResourceClaimTemplate {
  ObjectMeta meta;
  ClaimSpec spec;  // of the claims made from it
  bool operator==(const ResourceClaimTemplate&) const = default;
};

// Structured DRA's class of devices.
struct DeviceClassObject {
  ObjectMeta meta;
  SharedMessage<proto::kube::DeviceClass> object;
  bool operator==(const DeviceClassObject&) const = default;
};

// Devices that a driver has published.
struct ResourceSliceObject {
  ObjectMeta meta;
  SharedMessage<proto::kube::ResourceSlice> object;
  bool operator==(const ResourceSliceObject&) const = default;
};

// A taint that an administrator puts on devices.
struct DeviceTaintRuleObject {
  // The condition EvictionInProgress of its status. Times are whole seconds.
  struct Eviction {
    bool known = false;  // the condition is there
    bool in_progress = false;
    std::string reason;
    std::string message;
    int64_t generation = 0;  // observedGeneration
    SimTime changed;         // lastTransitionTime, also of a change of the text alone
    bool operator==(const Eviction&) const = default;
  };
  ObjectMeta meta;
  int64_t generation = 1;                              // counts changes of the specification
  SharedMessage<proto::kube::DeviceTaintRule> object;  // without status
  Eviction eviction;
  bool operator==(const DeviceTaintRuleObject&) const = default;
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
  // Structured: initContainers and containers of the specification, if they request extended
  // resources.
  SharedMessage<proto::kube::PodSpec> containers;
  // Structured: status.extendedResourceClaimStatus, and the claim that it names.
  SharedMessage<proto::kube::ExtendedResourceClaimStatus> extended_status;
  Name extended_claim;
  // Message of the condition PodScheduled=False; invalid: there is no such condition.
  SummaryId unschedulable;
  NodeId nominated;        // status.nominatedNodeName; invalid: none
  bool disrupted = false;  // there is a condition DisruptionTarget=True
  PodId row;               // of the run; invalid: none
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
  kDeviceClass = 6,
  kResourceSlice = 7,
  kDeviceTaintRule = 8,
  // Events of events.k8s.io: writes of them are calls like others, but the server keeps none, since
  // no component reads them.
  kEvent = 9,
};
inline constexpr size_t kObjectKinds = 9;  // that are kept

// One object of any kind; the index of the variant is the ObjectKind.
using ObjectRef =
    std::variant<Ref<Pod>, Ref<ResourceClass>, Ref<ResourceClaim>, Ref<ResourceClaimTemplate>,
                 Ref<PodSchedulingContext>, Ref<ParametersObject>, Ref<DeviceClassObject>,
                 Ref<ResourceSliceObject>, Ref<DeviceTaintRuleObject>>;

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

// Whether the claim is reserved for the pod, and whether it could be (KEP-3063; all structured
// claims can be shared).
inline bool IsReservedFor(const ResourceClaim& claim, Uid pod) {
  for (const Consumer& consumer : claim.status.reserved_for) {
    if (consumer.uid == pod) return true;
  }
  return false;
}
inline bool CanBeReserved(const ResourceClaim& claim) {
  if (claim.spec.is_structured()) return claim.status.reserved_for.size() < kMaxReservedForV1;
  return claim.status.reserved_for.empty() ||
         (claim.status.allocation != nullptr && claim.status.allocation->shareable);
}

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_OBJECTS_H_
