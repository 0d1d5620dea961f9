#include "sim/app/duration_text.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace drasim {

absl::StatusOr<SimDuration> ParseDuration(absl::string_view text) {
  if (text.empty()) return SimDuration();
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
      duration > absl::Hours(24 * 365 * 200)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found '", text, "', expected a duration such as 5ms, 1.5s or 2h"));
  }
  return SimDuration(absl::ToInt64Nanoseconds(duration));
}

absl::Status ReadDuration(absl::string_view key, absl::string_view text, SimDuration* out) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<SimDuration> d = ParseDuration(text);
  if (!d.ok()) return absl::InvalidArgumentError(absl::StrCat(key, ": ", d.status().message()));
  *out = *d;
  return absl::OkStatus();
}

}  // namespace drasim
