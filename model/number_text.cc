#include "model/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "model/check.h"

namespace drasim {
namespace {

constexpr std::array<double, 10> kDecimalUnits = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// value x power, rounded as RoundDecimals promises.
double NearestUnits(double value, double power) {
  const double scaled = value * power;
  // The product's exact rounding error; it matters only next to a tie.
  const double error = std::fma(value, power, -scaled);
  double nearest = std::nearbyint(scaled);
  const double distance = scaled - nearest;  // exact; beyond a half only by `error`
  if (distance == 0.5 && error > 0) nearest += 1;
  if (distance == -0.5 && error < 0) nearest -= 1;
  return nearest;
}

}  // namespace

void AppendDouble(std::string* out, double value) {
  std::array<char, kMostDoubleChars> buffer;
  const std::to_chars_result r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out->append(buffer.data(), r.ptr);
}

std::string DoubleText(double value) {
  std::string text;
  AppendDouble(&text, value);
  return text;
}

std::string FixedText(double value, int decimals) {
  std::array<char, 400> buffer;
  const std::to_chars_result r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                               std::chars_format::fixed, decimals);
  return std::string(buffer.data(), r.ptr);
}

double RoundDecimals(double value, int decimals) {
  DRASIM_CHECK(decimals >= 0 && decimals <= 9);
  const double power = kDecimalUnits[static_cast<size_t>(decimals)];
  return NearestUnits(value, power) / power;
}

char* WriteRounded(double value, int decimals, char* to) {
  DRASIM_CHECK(decimals >= 0 && decimals <= 9);
  const double power = kDecimalUnits[static_cast<size_t>(decimals)];
  const double nearest = NearestUnits(value, power);
  // Different decimals of at most 15 digits are different doubles, so the decimal itself is the
  // shortest text, unless an exponent makes a shorter one: below 0.001, or after five zeros.
  if (nearest >= 1 && nearest < 1e15) {
    const auto units = static_cast<uint64_t>(nearest);
    const auto unit = static_cast<uint64_t>(power);
    const uint64_t whole = units / unit;
    uint64_t rest = units % unit;
    if (rest == 0 ? whole % 100000 != 0 : whole > 0 || rest * 1000 >= unit) {
      to = std::to_chars(to, to + kMostDoubleChars, whole).ptr;
      if (rest == 0) return to;
      *to++ = '.';
      for (uint64_t place = unit / 10; rest > 0; place /= 10) {
        *to++ = static_cast<char>('0' + rest / place);
        rest %= place;
      }
      return to;
    }
  }
  return std::to_chars(to, to + kMostDoubleChars, nearest / power).ptr;
}

double RoundSignificant(double value, int digits) {
  DRASIM_CHECK(digits >= 1 && digits <= 17 && std::isfinite(value));
  std::array<char, 32> buffer;
  const std::to_chars_result written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    std::chars_format::scientific, digits - 1);
  double rounded = 0;
  const std::from_chars_result read = std::from_chars(buffer.data(), written.ptr, rounded);
  // The largest double may round beyond the range.
  return read.ec == std::errc() ? rounded : value;
}

}  // namespace drasim
