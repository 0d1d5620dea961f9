#include "model/claim_change.h"

#include "model/check.h"

namespace drasim {

absl::string_view ClaimChangeName(ClaimChangeKind kind) {
  switch (kind) {
    case ClaimChangeKind::kCreated:
      return "created";
    case ClaimChangeKind::kDriverAsked:
      return "driver asked";
    case ClaimChangeKind::kNodeSelected:
      return "node selected";
    case ClaimChangeKind::kDriverAnswered:
      return "driver answered";
    case ClaimChangeKind::kAllocationFailed:
      return "allocation failed";
    case ClaimChangeKind::kAllocated:
      return "allocated";
    case ClaimChangeKind::kReserved:
      return "reserved";
    case ClaimChangeKind::kUnreserved:
      return "reservation removed";
    case ClaimChangeKind::kPrepared:
      return "prepared";
    case ClaimChangeKind::kPrepareFailed:
      return "preparing failed";
    case ClaimChangeKind::kUnprepared:
      return "unprepared";
    case ClaimChangeKind::kReleaseAsked:
      return "deallocation requested";
    case ClaimChangeKind::kDeallocated:
      return "deallocated";
    case ClaimChangeKind::kDeleting:
      return "deletion begun";
    case ClaimChangeKind::kDeleted:
      return "deleted";
  }
  DRASIM_UNREACHABLE("an unknown change of a claim");
}

}  // namespace drasim
