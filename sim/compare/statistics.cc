#include "sim/compare/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/check.h"
#include "model/number_text.h"

namespace drasim {
namespace {

// Every decimal of so many digits survives the way into a double and back.
constexpr int kDecimalDigits = std::numeric_limits<double>::digits10;

}  // namespace

double StudentT975(size_t degrees_of_freedom) {
  static constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  DRASIM_CHECK_GT(degrees_of_freedom, 0u);
  if (degrees_of_freedom <= kTable.size()) return kTable[degrees_of_freedom - 1];
  const double z = 1.959964;
  const auto v = static_cast<double>(degrees_of_freedom);
  return z + (z * z * z + z) / (4 * v) +
         (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * v * v);
}

double RoundDifference(double difference, double scale) {
  int decimals = 9;
  for (double limit = 1e5; decimals > 0 && scale >= limit; limit *= 10) --decimals;
  return RoundDecimals(difference, decimals) + 0.0;  // never "-0"
}

MeanInterval MeanOf(const std::vector<double>& values) {
  MeanInterval result;
  result.n = values.size();
  if (values.empty()) return result;
  // Compensated (Neumaier): the error does not grow with the number of values, so that rounding to
  // the digits that every double holds takes it away.
  double sum = 0;
  double lost = 0;
  double scale = 0;
  for (const double v : values) {
    const double next = sum + v;
    lost += std::abs(sum) >= std::abs(v) ? (sum - next) + v : (v - next) + sum;
    sum = next;
    scale = std::max(scale, std::abs(v));
  }
  const auto n = static_cast<double>(values.size());
  result.mean = RoundSignificant((sum + lost) / n, kDecimalDigits);
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double v : values) squares += (v - result.mean) * (v - result.mean);
  const double stddev = std::sqrt(squares / (n - 1));
  result.stddev = RoundDifference(stddev, scale);
  result.half_width =
      RoundDifference(StudentT975(values.size() - 1) * stddev / std::sqrt(n), scale);
  return result;
}

}  // namespace drasim
