#include "sim/record/live_claims.h"

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

ClaimState StateOf(const LiveClaim& claim) {
  if (claim.deleting) return ClaimState::kDeleting;
  if (claim.releasing) return ClaimState::kReleasing;
  if (claim.prepared > 0) return ClaimState::kPrepared;
  if (claim.allocated) {
    return claim.reserved > 0 ? ClaimState::kReserved : ClaimState::kAllocated;
  }
  if (claim.selected.valid()) return ClaimState::kNodeSelected;
  return claim.asked > 0 ? ClaimState::kDriverAsked : ClaimState::kCreated;
}

// Counts that a damaged ledger would make negative stay at zero.
void Lower(uint32_t* count) {
  if (*count > 0) --*count;
}

}  // namespace

absl::string_view ClaimStateName(ClaimState state) {
  switch (state) {
    case ClaimState::kCreated:
      return "created";
    case ClaimState::kDriverAsked:
      return "driver asked";
    case ClaimState::kNodeSelected:
      return "node selected";
    case ClaimState::kAllocated:
      return "allocated";
    case ClaimState::kReserved:
      return "reserved";
    case ClaimState::kPrepared:
      return "prepared";
    case ClaimState::kReleasing:
      return "releasing";
    case ClaimState::kDeleting:
      return "deleting";
  }
  DRASIM_UNREACHABLE("an unknown state of a claim");
}

void LiveClaim::Apply(const ClaimChange& change) {
  const bool is_withdrawal =
      (change.kind == ClaimChangeKind::kDriverAsked && change.asked == 0) ||
      (change.kind == ClaimChangeKind::kNodeSelected && !change.node.valid());
  if (!is_withdrawal) {
    ClaimTally& tally = tallies[static_cast<size_t>(change.kind)];
    if (tally.times == 0) tally.first = change.time;
    tally.last = change.time;
    ++tally.times;
  }
  if (!change.text.empty() && change.kind != ClaimChangeKind::kReserved &&
      change.kind != ClaimChangeKind::kUnreserved) {
    message = change.text;
  }
  switch (change.kind) {
    case ClaimChangeKind::kCreated:
      identity = change.identity;
      since = change.time;
      break;
    case ClaimChangeKind::kDriverAsked:
      asked = change.asked;
      refused = 0;
      break;
    case ClaimChangeKind::kNodeSelected:
      selected = change.node;
      break;
    case ClaimChangeKind::kDriverAnswered:
      asked = change.asked;
      refused = change.refused;
      break;
    case ClaimChangeKind::kAllocated:
      allocated = true;
      node = change.node;
      grants = change.grants;
      devices.clear();
      for (const ClaimDevice& device : change.devices) {
        absl::StrAppend(&devices, devices.empty() ? "" : ", ", device.device);
      }
      break;
    case ClaimChangeKind::kReserved:
      ++reserved;
      break;
    case ClaimChangeKind::kUnreserved:
      Lower(&reserved);
      break;
    case ClaimChangeKind::kPrepared:
      ++prepared;
      break;
    case ClaimChangeKind::kUnprepared:
      Lower(&prepared);
      break;
    case ClaimChangeKind::kReleaseAsked:
      releasing = true;
      break;
    case ClaimChangeKind::kDeallocated:
      allocated = false;
      releasing = false;
      node = NodeId();
      grants.clear();
      devices.clear();
      // The scheduler starts over.
      selected = NodeId();
      asked = 0;
      refused = 0;
      break;
    case ClaimChangeKind::kDeleting:
      deleting = true;
      break;
    case ClaimChangeKind::kAllocationFailed:
    case ClaimChangeKind::kPrepareFailed:
    case ClaimChangeKind::kDeleted:
      break;
  }
  const ClaimState next = StateOf(*this);
  if (next != state) since = change.time;
  state = next;
}

void LiveClaims::Apply(const ClaimChange& change) {
  if (change.kind == ClaimChangeKind::kDeleted) {
    claims_.erase(change.claim);
  } else if (change.kind == ClaimChangeKind::kCreated) {
    LiveClaim& claim = claims_[change.claim];
    claim = LiveClaim();
    claim.Apply(change);
  } else if (const auto found = claims_.find(change.claim); found != claims_.end()) {
    found->second.Apply(change);
  }
}

const LiveClaim* LiveClaims::Find(uint64_t claim) const {
  const auto found = claims_.find(claim);
  return found == claims_.end() ? nullptr : &found->second;
}

}  // namespace drasim
