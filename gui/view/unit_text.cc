#include "gui/view/unit_text.h"

#include <array>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/number_text.h"

namespace drasim::view {
namespace {

constexpr int64_t kMinuteS = 60;
constexpr int64_t kHourS = 60 * kMinuteS;
constexpr int64_t kDayHours = 24;
constexpr int64_t kHoursWithoutDays = 100;

std::string TwoDigits(int64_t value) { return absl::StrCat(value < 10 ? "0" : "", value); }

// The nearest integer; ties go away from zero.
int64_t Nearest(double value) {
  return static_cast<int64_t>(value < 0 ? value - 0.5 : value + 0.5);
}

// "12.5", with the fewest places that show about three digits.
std::string ShortNumber(double value) {
  const double size = value < 0 ? -value : value;
  if (value == static_cast<double>(static_cast<int64_t>(value))) {
    return CommaText(static_cast<int64_t>(value));
  }
  if (size >= 1000) return CommaText(Nearest(value));
  if (size < 0.001) return DoubleText(RoundSignificant(value, 2));
  return FixedText(value, size >= 10 ? 1 : (size >= 1 ? 2 : 3));
}

}  // namespace

std::string CommaText(int64_t value) {
  // The smallest number has no positive twin.
  const uint64_t size =
      value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const std::string digits = absl::StrCat(size);
  std::string text = value < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string DurationText(SimDuration duration) {
  int64_t ns = duration.ns();
  if (ns == std::numeric_limits<int64_t>::min()) ++ns;  // so that it can be negated
  std::string text = ns < 0 ? "-" : "";
  if (ns < 0) ns = -ns;
  const int64_t total_s = ns / kSecondNs;
  int64_t hours = total_s / kHourS;
  const int64_t minutes = total_s % kHourS / kMinuteS;
  const int64_t seconds = total_s % kMinuteS;
  std::string fraction = absl::StrCat(kSecondNs + ns % kSecondNs).substr(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();

  bool begun = false;  // later parts have two digits, so that texts of one size align
  if (hours >= kHoursWithoutDays) {
    absl::StrAppend(&text, hours / kDayHours, "d");
    hours %= kDayHours;
    begun = true;
  }
  const bool has_seconds = seconds > 0 || !fraction.empty();
  if (hours > 0 || (begun && (minutes > 0 || has_seconds))) {
    absl::StrAppend(&text, hours, "h");
    begun = true;
  }
  if (minutes > 0 || (begun && has_seconds)) {
    absl::StrAppend(&text, begun ? TwoDigits(minutes) : absl::StrCat(minutes), "m");
    begun = true;
  }
  if (has_seconds || !begun) {
    absl::StrAppend(&text, begun ? TwoDigits(seconds) : absl::StrCat(seconds),
                    fraction.empty() ? "" : ".", fraction, "s");
  }
  return text;
}

std::string TimeText(SimTime time) { return DurationText(time - SimTime()); }

std::string ClockText(SimTime time) {
  DRASIM_CHECK(time >= SimTime());
  const int64_t total_ms = time.ns() / 1'000'000;
  const int64_t total_s = total_ms / 1000;
  int64_t hours = total_s / kHourS;
  std::string text;
  if (hours >= kHoursWithoutDays) {
    absl::StrAppend(&text, hours / kDayHours, "d");
    hours %= kDayHours;
  }
  absl::StrAppend(&text, TwoDigits(hours), "h", TwoDigits(total_s % kHourS / kMinuteS), "m",
                  TwoDigits(total_s % kMinuteS), ".",
                  absl::StrCat(1000 + total_ms % 1000).substr(1), "s");
  return text;
}

std::string ValueText(double value, Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return ShortNumber(value);
    case Unit::kPercent:
      return absl::StrCat(FixedText(value, 1), " %");
    case Unit::kSeconds: {
      const bool short_time = value < 60 && value > -60;
      const int64_t rounded_ms = short_time ? Nearest(value * 1000) : Nearest(value) * 1000;
      return DurationText(SimDuration::Millis(rounded_ms));
    }
    case Unit::kBytes: {
      static constexpr std::array<absl::string_view, 5> kNames = {" B", " KiB", " MiB", " GiB",
                                                                  " TiB"};
      size_t power = 0;
      double scaled = value;
      while (power + 1 < kNames.size() && (scaled >= 1024 || scaled <= -1024)) {
        scaled /= 1024;
        ++power;
      }
      const bool whole = scaled == static_cast<double>(static_cast<int64_t>(scaled));
      return absl::StrCat(whole ? CommaText(static_cast<int64_t>(scaled)) : FixedText(scaled, 1),
                          kNames[power]);
    }
    case Unit::kPerSecond:
      return absl::StrCat(ShortNumber(value), " /s");
    case Unit::kPerMinute:
      return absl::StrCat(ShortNumber(value), " /min");
  }
  return DoubleText(value);
}

std::string DifferenceText(double value, Unit unit) {
  if (value == 0) return "0";
  return absl::StrCat(value > 0 ? "+" : "", ValueText(value, unit));
}

}  // namespace drasim::view
