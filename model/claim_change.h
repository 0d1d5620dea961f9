// ClaimChange: one change of a ResourceClaim of classic DRA, as its API objects show it.
//
// Changes are a side stream beside the records of a run: they have no numbers, and no fingerprint
// covers them. They reach sinks through RecordSink::OnClaimChange.
//
// Changes of a PodSchedulingContext count for each unallocated claim of its pod. Claims with
// structured parameters have no scheduling context: the scheduler allocates them, and the kinds
// from kDriverAsked to kAllocationFailed do not occur.
#ifndef DRASIM_MODEL_CLAIM_CHANGE_H_
#define DRASIM_MODEL_CLAIM_CHANGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim {

// Values are part of the ledger's format: never renumber.
enum class ClaimChangeKind : uint8_t {
  kCreated = 0,
  // PodSchedulingContext spec.potentialNodes changed; asked: their number.
  kDriverAsked = 1,
  // spec.selectedNode changed; node: invalid when it was cleared. asked: as above.
  kNodeSelected = 2,
  // status.resourceClaims[].unsuitableNodes changed; asked, refused; text: the driver's words about
  // the first refused node, may be empty.
  kDriverAnswered = 3,
  kAllocationFailed = 4,  // the driver's controller failed to allocate it; text: its error
  kAllocated = 5,         // status.allocation set: node (invalid: by network), grants, devices
  kReserved = 6,          // status.reservedFor gained a pod; text: its name
  kUnreserved = 7,        // and lost one
  kPrepared = 8,          // the kubelet of `node` prepared it
  kPrepareFailed = 9,     // an attempt there failed; text: the error, may be empty
  kUnprepared = 10,       // undone
  kReleaseAsked = 11,     // status.deallocationRequested set
  kDeallocated = 12,      // status.allocation cleared
  kDeleting = 13,         // metadata.deletionTimestamp set
  kDeleted = 14,          // the object is gone
};
inline constexpr size_t kClaimChangeKinds = 15;
// In few words: "created", "driver asked", "node selected", ...
absl::string_view ClaimChangeName(ClaimChangeKind kind);

// The party that decides when a claim is allocated. Values are part of the ledger's format.
enum class ClaimMode : uint8_t {
  kWaitForFirstConsumer = 0,  // classic DRA's two values of allocationMode
  kImmediate = 1,
  kStructured = 2,  // the scheduler allocates it from ResourceSlices
};
inline constexpr size_t kClaimModes = 3;

// Facts that do not change while a claim exists.
struct ClaimIdentity {
  std::string name;        // "namespace/name"
  std::string pod;         // the pod that owns it; empty for a shared claim
  std::string class_name;  // its ResourceClass, or the DeviceClasses of its requests: "a, b"
  ClaimMode mode = ClaimMode::kWaitForFirstConsumer;
  bool operator==(const ClaimIdentity&) const = default;
};

// A property of an allocated device. Values are part of the ledger's format.
enum class DeviceFactKind : uint8_t {
  kAttribute = 0,  // "profile", "1g.5gb"
  kCapacity = 1,   // "memory", "4864Mi"
  kConsumed = 2,   // capacity that the claim's share takes
  kCounter = 3,    // "gpu-0-counter-set/memory-slice-0", "1": taken from the pool's counters
  kTaint = 4,      // "example.com/broken=yes", "NoExecute"
};
inline constexpr size_t kDeviceFactKinds = 5;

struct DeviceFact {
  DeviceFactKind kind = DeviceFactKind::kAttribute;
  std::string name;
  std::string value;
  bool operator==(const DeviceFact&) const = default;
};

// A device of a structured claim, as its slice describes it when it is allocated.
struct ClaimDevice {
  std::string request;  // "gpu"; "gpu/large" of a prioritised list
  std::string driver;
  std::string pool;
  std::string device;
  std::string slice;  // name of the ResourceSlice; empty: nobody publishes the device any more
  std::vector<DeviceFact> facts;  // by kind, then name
  bool operator==(const ClaimDevice&) const = default;
};

struct ClaimChange {
  SimTime time;
  ClaimChangeKind kind = ClaimChangeKind::kCreated;
  uint64_t claim = 0;      // metadata.uid, never reused within a run
  ClaimIdentity identity;  // of kCreated only; empty otherwise
  // The rest as the kind says.
  NodeId node;
  uint32_t asked = 0;
  uint32_t refused = 0;
  DeviceGrants grants;
  std::vector<ClaimDevice> devices;
  std::string text;
  bool operator==(const ClaimChange&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLAIM_CHANGE_H_
