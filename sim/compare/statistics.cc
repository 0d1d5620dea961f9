#include "sim/compare/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/check.h"
#include "model/number_text.h"

namespace drasim {
namespace {

// Every decimal of at most this number of digits survives the way into a double and back.
constexpr int kDecimalDigits = std::numeric_limits<double>::digits10;

using StudentTable = std::array<double, 30>;  // by degrees of freedom, from 1 on

// `normal`: the quantile of the normal distribution, the limit.
double StudentQuantile(const StudentTable& table, double normal, size_t degrees_of_freedom) {
  DRASIM_CHECK_GT(degrees_of_freedom, 0u);
  if (degrees_of_freedom <= table.size()) return table[degrees_of_freedom - 1];
  const double z = normal;
  const auto v = static_cast<double>(degrees_of_freedom);
  return z + (z * z * z + z) / (4 * v) +
         (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * v * v);
}

}  // namespace

double StudentT975(size_t degrees_of_freedom) {
  static constexpr StudentTable kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  return StudentQuantile(kTable, 1.959964, degrees_of_freedom);
}

double StudentT95(size_t degrees_of_freedom) {
  static constexpr StudentTable kTable = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
                                          1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
                                          1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711,
                                          1.708, 1.706, 1.703, 1.701, 1.699, 1.697};
  return StudentQuantile(kTable, 1.644854, degrees_of_freedom);
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
