#include "sim/scenario/duration_text.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/key_error.h"

namespace drasim {

namespace {

// absl::ParseDuration, extended by leading days: "1d", "1.5d", "2d12h".
bool ParseWithDays(absl::string_view text, absl::Duration* out) {
  const size_t mark = text.find('d');
  if (mark == absl::string_view::npos) return absl::ParseDuration(text, out);
  const absl::string_view number = text.substr(0, mark);
  const absl::string_view rest = text.substr(mark + 1);
  absl::Duration in_hours;
  // Restricts the part before the d to one number, which is then read as hours.
  if (number.find_first_not_of("0123456789.") != absl::string_view::npos ||
      !absl::ParseDuration(absl::StrCat(number, "h"), &in_hours)) {
    return false;
  }
  *out = 24 * in_hours;
  if (rest.empty()) return true;
  absl::Duration below_a_day;
  if (rest[0] == '+' || rest[0] == '-' || !absl::ParseDuration(rest, &below_a_day)) return false;
  *out += below_a_day;
  return true;
}

}  // namespace

absl::StatusOr<SimDuration> ParseDuration(absl::string_view text) {
  if (text.empty()) return SimDuration();
  absl::Duration duration;
  if (!ParseWithDays(text, &duration) || duration < absl::ZeroDuration() ||
      duration > absl::Hours(24 * 365 * 200)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found '", text, "', expected a duration such as 5ms, 1.5s or 2h"));
  }
  return SimDuration(absl::ToInt64Nanoseconds(duration));
}

absl::Status ReadDuration(absl::string_view key, absl::string_view text, SimDuration* out) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<SimDuration> d = ParseDuration(text);
  if (!d.ok()) return KeyError(key, d.status().message());
  *out = *d;
  return absl::OkStatus();
}

}  // namespace drasim
