#include "sim/app/exit_codes.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"

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

absl::Status QuietFailure(int exit_code) {
  DRASIM_CHECK(exit_code != kExitOk);
  absl::Status status = absl::AbortedError("the answer is no");
  status.SetPayload(kQuietPayload, absl::Cord(absl::StrCat(exit_code)));
  return status;
}

std::optional<int> QuietExitCode(const absl::Status& status) {
  const auto payload = status.GetPayload(kQuietPayload);
  int exit_code = kExitFailed;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &exit_code)) {
    return std::nullopt;
  }
  return exit_code;
}

}  // namespace drasim
