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
  kAllocated = 5,         // status.allocation set: node (invalid: by network), grants
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

// Facts that do not change while a claim exists.
struct ClaimIdentity {
  std::string name;        // "namespace/name"
  std::string pod;         // the pod that owns it; empty for a shared claim
  std::string class_name;  // its ResourceClass
  bool immediate = false;  // allocationMode Immediate instead of WaitForFirstConsumer
  bool operator==(const ClaimIdentity&) const = default;
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
  std::string text;
  bool operator==(const ClaimChange&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLAIM_CHANGE_H_
