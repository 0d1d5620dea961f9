#include "gui/view/ticks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/number_text.h"

namespace drasim::view {
namespace {

// 1, 2 or 5 times a power of ten, as a fraction of whole numbers: its multiples are the doubles
// nearest to their decimals.
struct DecimalStep {
  double numerator = 1;
  double denominator = 1;
  int decimals = 0;
  double Times(double count) const { return count * numerator / denominator; }
};

// The smallest decimal step that is not below `least`.
DecimalStep DecimalStepFor(double least) {
  DecimalStep step;
  constexpr int kMaxDecimals = 9;
  while (step.decimals < kMaxDecimals && least * step.denominator < 1) {
    step.denominator *= 10;
    ++step.decimals;
  }
  for (int i = 0; step.Times(1) < least; ++i) {
    step.numerator = i % 3 == 1 ? step.numerator / 2 * 5 : step.numerator * 2;
  }
  // 10 tenths are one.
  while (step.decimals > 0 && step.numerator >= 10) {
    step.numerator /= 10;
    step.denominator /= 10;
    --step.decimals;
  }
  return step;
}

// The smallest whole step of time, in nanoseconds, that is not below `least_ns`.
int64_t TimeStepFor(double least_ns) {
  static constexpr std::array<int64_t, 19> kSteps = {
      kSecondNs,      2 * kSecondNs,  5 * kSecondNs, 10 * kSecondNs, 15 * kSecondNs,
      30 * kSecondNs, kMinuteNs,      2 * kMinuteNs, 5 * kMinuteNs,  10 * kMinuteNs,
      15 * kMinuteNs, 30 * kMinuteNs, kHourNs,       2 * kHourNs,    3 * kHourNs,
      6 * kHourNs,    12 * kHourNs,   kDayNs,        2 * kDayNs};
  if (least_ns <= 0.5e9) {
    int64_t step = 1;
    for (int i = 0; static_cast<double>(step) < least_ns; ++i) {
      step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    }
    return step;
  }
  for (const int64_t step : kSteps) {
    if (static_cast<double>(step) >= least_ns) return step;
  }
  int64_t days = 5;
  for (int i = 2; static_cast<double>(days * kDayNs) < least_ns && days < 50'000; ++i) {
    days = i % 3 == 1 ? days / 2 * 5 : days * 2;
  }
  return days * kDayNs;
}

// Zero in the unit of the other labels; days where the steps are days.
std::string TimeTickLabel(int64_t ns, int64_t step_ns) {
  if (step_ns % kDayNs == 0) return absl::StrCat(ns / kDayNs, "d");
  if (ns == 0 && step_ns >= 3600 * kSecondNs) return "0h";
  if (ns == 0 && step_ns >= 60 * kSecondNs) return "0m";
  return DurationText(SimDuration(ns));
}

std::string TickLabel(double value, int decimals, Unit unit) {
  switch (unit) {
    case Unit::kBytes: {
      // The largest unit that needs no more than the digit of a half.
      static constexpr std::array<const char*, 5> kNames = {" B", " KiB", " MiB", " GiB", " TiB"};
      auto halves = static_cast<int64_t>(value * 2);
      size_t power = 0;
      while (power + 1 < kNames.size() && halves % 1024 == 0 && halves / 2048 != 0) {
        halves /= 1024;
        ++power;
      }
      return absl::StrCat(CommaText(halves / 2), halves % 2 == 0 ? "" : ".5", kNames[power]);
    }
    case Unit::kSeconds: {
      const double rounded_us = value * 1e6 + (value < 0 ? -0.5 : 0.5);
      return DurationText(SimDuration(static_cast<int64_t>(rounded_us) * 1000));
    }
    case Unit::kCount:
    case Unit::kPercent:
    case Unit::kPerSecond:
    case Unit::kPerMinute:
      break;
  }
  if (decimals > 0) return FixedText(value, decimals);
  const auto whole = static_cast<int64_t>(value);
  if (whole != 0 && whole % 1'000'000'000 == 0) {
    return absl::StrCat(CommaText(whole / 1'000'000'000), " G");
  }
  if (whole != 0 && whole % 1'000'000 == 0) return absl::StrCat(CommaText(whole / 1'000'000), " M");
  return CommaText(whole);
}

// Rounded down or up to whole steps.
double StepsBelow(double value, double step) {
  auto steps = static_cast<double>(static_cast<int64_t>(value / step));
  if (steps * step > value) steps -= 1;
  return steps;
}
double StepsAbove(double value, double step) {
  auto steps = static_cast<double>(static_cast<int64_t>(value / step));
  if (steps * step < value) steps += 1;
  return steps;
}

// A logarithmic axis of lengths of time, whose ticks are whole units instead of powers of ten.
TickScale LogTimeScale(double low, double high, int max_ticks) {
  static constexpr std::array<double, 14> kPlaces = {
      1e-6, 0.001, 0.01,     0.1,       1,          10,          60,
      600,  3600,  6 * 3600, 24 * 3600, 240 * 3600, 2400 * 3600, 24000 * 3600};
  size_t first = 0;
  while (kPlaces[first + 1] <= low) ++first;
  size_t last = first + 1;
  while (kPlaces[last] < high) ++last;
  const size_t steps = last - first;
  const size_t room = static_cast<size_t>(max_ticks) - 1;
  const size_t stride = (steps + room - 1) / room;
  TickScale scale;
  scale.low = kPlaces[first];
  scale.high = kPlaces[last];
  for (size_t i = first; i <= last; i += stride) {
    Tick tick;
    tick.value = kPlaces[i];
    tick.label = TickLabel(tick.value, 0, Unit::kSeconds);
    scale.ticks.push_back(std::move(tick));
  }
  return scale;
}

}  // namespace

TickScale LinearScale(double low, double high, int max_ticks, Unit unit) {
  DRASIM_CHECK(low <= high && max_ticks >= 3);
  const double size = std::max(low < 0 ? -low : low, high < 0 ? -high : high);
  DRASIM_CHECK(size <= (unit == Unit::kSeconds ? 1e8 : 1e15));
  // A range below the resolution of the numbers, or none, would give ticks of equal labels.
  const double least_range = unit == Unit::kBytes     ? std::max(size * 1e-9, 1.0)
                             : unit == Unit::kSeconds ? std::max(size * 1e-9, 1e-5)
                                                      : std::max(size * 1e-12, 1e-7);
  if (high - low < least_range) {
    // Zero alone gets a range of one.
    high = size == 0 ? 1 : std::max(high, low + std::max(size * 0.1, least_range));
  }
  TickScale scale;
  // Rounding to whole steps may add a step at either end, so larger steps are tried until all ticks
  // have room.
  for (double least = (high - low) / (max_ticks - 1);; least *= 1.25) {
    DecimalStep step;
    if (unit == Unit::kSeconds) {
      step.numerator = static_cast<double>(TimeStepFor(least * 1e9));
      step.denominator = 1e9;
    } else if (unit == Unit::kBytes) {
      while (step.numerator < least) step.numerator *= 2;
    } else {
      step = DecimalStepFor(least);
    }
    const double first = StepsBelow(low, step.Times(1));
    const double last = StepsAbove(high, step.Times(1));
    if (last - first + 1 > max_ticks) continue;
    scale.low = step.Times(first);
    scale.high = step.Times(last);
    if (unit == Unit::kPercent && high <= 100 && scale.high > 100) scale.high = 100;
    for (double i = first; i <= last; i += 1) {
      const double value = step.Times(i);
      if (value > scale.high) break;
      Tick tick;
      tick.value = value;
      tick.label = TickLabel(value, step.decimals, unit);
      scale.ticks.push_back(std::move(tick));
    }
    return scale;
  }
}

TickScale LogScale(double low, double high, int max_ticks, Unit unit) {
  DRASIM_CHECK(low >= 1e-12 && low <= high && high <= 1e15 && max_ticks >= 2);
  if (unit == Unit::kSeconds) return LogTimeScale(low, high, max_ticks);
  // 10^power as the double nearest to the decimal.
  const auto power_of_ten = [](int power) {
    double value = 1;
    for (int i = 0; i < (power < 0 ? -power : power); ++i) value *= 10;
    return power < 0 ? 1 / value : value;
  };
  int first = -12;
  while (power_of_ten(first + 1) <= low) ++first;
  int last = first + 1;
  while (power_of_ten(last) < high) ++last;
  const int decades = last - first;
  TickScale scale;
  scale.low = power_of_ten(first);
  scale.high = power_of_ten(last);
  const bool with_between = 3 * decades + 1 <= max_ticks;
  const int stride = (decades + max_ticks - 2) / (max_ticks - 1);
  for (int power = first; power <= last; ++power) {
    if (!with_between && (power - first) % stride != 0) continue;
    for (const int factor : {1, 2, 5}) {
      if (factor > 1 && (!with_between || power == last)) break;
      Tick tick;
      tick.value = power < 0 ? factor / power_of_ten(-power) : factor * power_of_ten(power);
      tick.label = TickLabel(tick.value, power < 0 ? std::min(-power, 9) : 0, unit);
      scale.ticks.push_back(std::move(tick));
    }
  }
  return scale;
}

std::vector<Tick> TimeTicks(SimTime begin, SimTime end, int max_ticks) {
  DRASIM_CHECK(begin >= SimTime() && begin < end && max_ticks >= 2);
  const int64_t span = end.ns() - begin.ns();
  const int64_t step = TimeStepFor(static_cast<double>(span) / max_ticks);
  std::vector<Tick> ticks;
  int64_t ns = begin.ns() / step * step;
  if (ns < begin.ns()) {
    if (ns > std::numeric_limits<int64_t>::max() - step) return ticks;
    ns += step;
  }
  while (ns <= end.ns() && static_cast<int>(ticks.size()) < max_ticks) {
    Tick tick;
    tick.value = static_cast<double>(ns);
    tick.label = TimeTickLabel(ns, step);
    ticks.push_back(std::move(tick));
    if (ns > std::numeric_limits<int64_t>::max() - step) break;
    ns += step;
  }
  return ticks;
}

double Log10(double value) {
  DRASIM_CHECK(value >= std::numeric_limits<double>::min() &&
               value <= std::numeric_limits<double>::max());
  // value = 2^exponent * mantissa with a mantissa around 1, where ln converges fast:
  // ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (m - 1) / (m + 1).
  const auto bits = std::bit_cast<uint64_t>(value);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000f'ffff'ffff'ffff) | uint64_t{1023} << 52);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int power = 23; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
  constexpr double kLog10Of2 = 0.30102999566398119521;
  constexpr double kLog10OfE = 0.43429448190325182765;
  return exponent * kLog10Of2 + 2 * s * sum * kLog10OfE;
}

}  // namespace drasim::view
