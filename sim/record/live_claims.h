// The live claims of a run with DRA: a fold over ClaimChanges that forgets claims when they are
// deleted.
#ifndef DRASIM_SIM_RECORD_LIVE_CLAIMS_H_
#define DRASIM_SIM_RECORD_LIVE_CLAIMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim {

// In the order in which a claim of WaitForFirstConsumer passes them. Each holds until a later one
// does: an allocated claim with a consumer is kReserved.
enum class ClaimState : uint8_t {
  kCreated = 0,       // unallocated; nobody has been asked for a node
  kDriverAsked = 1,   // its driver has potential nodes to judge
  kNodeSelected = 2,  // a node is selected; its driver has yet to allocate it there
  kAllocated = 3,
  kReserved = 4,   // for at least one pod
  kPrepared = 5,   // on at least one node
  kReleasing = 6,  // its driver is to deallocate it
  kDeleting = 7,   // it will be gone when its finalizers are
};
inline constexpr size_t kClaimStates = 8;
absl::string_view ClaimStateName(ClaimState state);  // "created", "driver asked", ...

// Number of changes of one kind to a claim. Withdrawals (no potential nodes any more, no selected
// node) do not count.
struct ClaimTally {
  uint32_t times = 0;
  SimTime first;  // these two are meaningful with times
  SimTime last;
  bool operator==(const ClaimTally&) const = default;
};

struct LiveClaim {
  ClaimIdentity identity;
  ClaimState state = ClaimState::kCreated;
  SimTime since;          // of the state
  NodeId selected;        // spec.selectedNode; invalid: none
  uint32_t asked = 0;     // nodes that the driver was last asked about
  uint32_t refused = 0;   // by its last answer to that
  std::string message;    // last words of a driver or kubelet; empty: none yet
  NodeId node;            // of the allocation; invalid: none, or by network
  DeviceGrants grants;    // likewise
  std::string devices;    // of a structured claim: "gpu-0, gpu-3"; empty: not allocated
  uint32_t reserved = 0;  // pods in status.reservedFor
  uint32_t prepared = 0;  // nodes
  bool allocated = false;
  bool releasing = false;
  bool deleting = false;
  std::array<ClaimTally, kClaimChangeKinds> tallies{};  // by ClaimChangeKind

  const ClaimTally& tally(ClaimChangeKind kind) const { return tallies[static_cast<size_t>(kind)]; }
  // Applies a change of this claim. The caller drops the claim at kDeleted.
  void Apply(const ClaimChange& change);
  bool operator==(const LiveClaim&) const = default;
};

class LiveClaims {
 public:
  // O(log claims). Changes of unknown claims, which only a damaged ledger has, are ignored.
  void Apply(const ClaimChange& change);

  // By uid, which is the order of creation.
  const absl::btree_map<uint64_t, LiveClaim>& claims() const { return claims_; }
  // Null if it is not live.
  const LiveClaim* Find(uint64_t claim) const;

  // For readers of ledgers.
  void Set(uint64_t claim, LiveClaim state) { claims_[claim] = std::move(state); }
  bool operator==(const LiveClaims&) const = default;

 private:
  absl::btree_map<uint64_t, LiveClaim> claims_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LIVE_CLAIMS_H_
