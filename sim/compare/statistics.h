// Means over seeds with confidence intervals.
//
// Figures are decimals, which doubles represent only approximately, so their sums and differences
// carry noise: 95.24600000000001 for 95.246. Results here are rounded to the digits that the
// figures determine.
#ifndef DRASIM_SIM_COMPARE_STATISTICS_H_
#define DRASIM_SIM_COMPARE_STATISTICS_H_

#include <cstddef>
#include <vector>

namespace drasim {

struct MeanInterval {
  size_t n = 0;
  double mean = 0;
  double stddev = 0;      // with n - 1; 0 for fewer than two values
  double half_width = 0;  // of the two-sided 95 % confidence interval by Student's t
};
MeanInterval MeanOf(const std::vector<double>& values);

// A difference of figures, or a value computed from differences, without the digits that are
// rounding noise: nine decimals, fewer for figures from 100,000 on. `scale`: the largest absolute
// value among the figures.
double RoundDifference(double difference, double scale);

// The 97.5 % quantile of Student's t with that many degrees of freedom (1 or more), to three
// decimals up to 30, then by the usual series around the normal quantile (error below 0.001).
double StudentT975(size_t degrees_of_freedom);
// Likewise the 95 % quantile, of the two-sided 90 % interval.
double StudentT95(size_t degrees_of_freedom);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_STATISTICS_H_
