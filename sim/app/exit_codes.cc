#include "sim/app/exit_codes.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

// The type of a payload that no other status has.
constexpr absl::string_view kQuietPayload = "drasim/quiet-failure";

}  // namespace

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
      return kExitUsage;
    default:
      return kExitFailed;
  }
}

absl::Status QuietFailure() {
  absl::Status status = absl::AbortedError("the answer is no");
  status.SetPayload(kQuietPayload, absl::Cord());
  return status;
}

bool IsQuietFailure(const absl::Status& status) {
  return status.GetPayload(kQuietPayload).has_value();
}

}  // namespace drasim
