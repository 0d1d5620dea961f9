#include "gui/view/wait_text.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace drasim::view {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kLongestWaitNs = int64_t{100} * 365 * kDayNs;

std::string TwoUnits(int64_t ns, int64_t large_ns, const char* large, int64_t small_ns,
                     const char* small) {
  const int64_t rest = ns % large_ns / small_ns;
  std::string text = absl::StrCat(ns / large_ns, large);
  if (rest > 0) absl::StrAppend(&text, rest, small);
  return text;
}

// 0 for letters that are no unit.
int64_t WaitUnitNs(absl::string_view letters) {
  if (letters == "d") return kDayNs;
  if (letters == "h") return kHourNs;
  if (letters == "m") return kMinuteNs;
  if (letters == "s") return kSecondNs;
  if (letters == "ms") return kMillisecondNs;
  return 0;
}

absl::Status WaitExpected() {
  return absl::InvalidArgumentError("expected a duration such as 90s, 1h30m or 2d");
}

}  // namespace

std::string WaitText(SimDuration length) {
  const int64_t ns = length.ns();
  if (ns < 0) {
    // The smallest number has no positive counterpart.
    const int64_t positive =
        ns == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -ns;
    return absl::StrCat("-", WaitText(SimDuration(positive)));
  }
  if (ns == 0) return "0s";
  if (ns < kMillisecondNs) return absl::StrCat(ns / 1000, "us");
  if (ns < kSecondNs) return absl::StrCat(ns / kMillisecondNs, "ms");
  if (ns < 10 * kSecondNs) {
    const int64_t tenths = ns % kSecondNs / (kSecondNs / 10);
    return tenths == 0 ? absl::StrCat(ns / kSecondNs, "s")
                       : absl::StrCat(ns / kSecondNs, ".", tenths, "s");
  }
  if (ns < kMinuteNs) return absl::StrCat(ns / kSecondNs, "s");
  if (ns < kHourNs) return TwoUnits(ns, kMinuteNs, "m", kSecondNs, "s");
  if (ns < kDayNs) return TwoUnits(ns, kHourNs, "h", kMinuteNs, "m");
  return TwoUnits(ns, kDayNs, "d", kHourNs, "h");
}

absl::StatusOr<SimDuration> ParseWait(absl::string_view text) {
  constexpr size_t kMostDigits = 12;
  absl::uint128 sum = 0;
  size_t at = 0;
  if (text.empty()) return WaitExpected();
  while (at < text.size()) {
    uint64_t number = 0;
    uint64_t scale = 1;
    size_t digits = 0;
    bool behind_point = false;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '.' && !behind_point && digits > 0) {
        behind_point = true;
        continue;
      }
      if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) break;
      if (++digits > kMostDigits) return WaitExpected();
      number = number * 10 + static_cast<uint64_t>(c - '0');
      if (behind_point) scale *= 10;
    }
    if (digits == 0 || (behind_point && scale == 1)) return WaitExpected();
    const size_t unit = at;
    while (at < text.size() && absl::ascii_isalpha(static_cast<unsigned char>(text[at]))) ++at;
    const int64_t unit_ns = WaitUnitNs(text.substr(unit, at - unit));
    if (unit_ns == 0) return WaitExpected();
    sum += absl::uint128(number) * static_cast<uint64_t>(unit_ns) / scale;
    if (sum > static_cast<uint64_t>(kLongestWaitNs)) {
      return absl::InvalidArgumentError("expected a duration of at most a hundred years");
    }
  }
  return SimDuration(static_cast<int64_t>(absl::Uint128Low64(sum)));
}

}  // namespace drasim::view
