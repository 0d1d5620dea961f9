#include "model/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "model/check.h"

namespace drasim {
namespace {

constexpr std::array<double, 10> kDecimalUnits = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

}  // namespace

void AppendDouble(std::string* out, double value) {
  std::array<char, 32> buffer;
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
  const double scaled = value * power;
  // The product's exact rounding error; it matters only next to a tie.
  const double error = std::fma(value, power, -scaled);
  double nearest = std::nearbyint(scaled);
  const double distance = scaled - nearest;  // exact; beyond a half only by `error`
  if (distance == 0.5 && error > 0) nearest += 1;
  if (distance == -0.5 && error < 0) nearest -= 1;
  return nearest / power;
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
