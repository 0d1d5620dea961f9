// Paired comparison of two programs over the same seeds: the difference of a figure with
// confidence intervals, a permutation test of "no difference", and corrections for many tests.
//
//   const PairedDifference wait = ComparePaired(base_waits, head_waits);  // one figure per seed
//   if (wait.interval_90.Within(30)) ...  // equivalent within 30 s
//
// Everything is a function of its arguments alone: random draws come from streams with a fixed
// seed, and no libm function is called, so results are equal bytes on every compiler.
#ifndef DRASIM_SIM_COMPARE_PAIRED_H_
#define DRASIM_SIM_COMPARE_PAIRED_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace drasim {

// Resamples of the bootstrap. (kBootstrapResamples + 1) times 2.5 % and 5 % are whole numbers, so
// the quantiles are order statistics.
inline constexpr size_t kBootstrapResamples = 9999;
// Sign flips are enumerated for up to this many differences other than 0, and sampled beyond. Far
// above the 20 that suites need, because an enumeration costs only O(2^(n/2)).
inline constexpr size_t kMaxEnumeratedFlips = 32;
inline constexpr size_t kSampledFlips = 999'999;

struct Interval {
  double low = 0;
  double high = 0;

  // Both ends in [-margin, margin].
  bool Within(double margin) const { return low >= -margin && high <= margin; }
  bool operator==(const Interval&) const = default;
};

// Statistics of head - base, in the figure's unit.
struct PairedDifference {
  size_t n = 0;           // pairs that were compared
  size_t incomplete = 0;  // pairs left out because one side has a figure and the other has not
  double mean = 0;
  double stddev = 0;  // with n - 1; 0 for fewer than two pairs
  // Intervals of the mean. Meaningless unless has_interval().
  Interval interval_95;
  Interval interval_90;
  // Two-sided, of the hypothesis that base and head can be exchanged within every pair. 1 without
  // pairs.
  double p = 1;

  // One pair says nothing about the spread.
  bool has_interval() const { return n >= 2; }
};

// base[i] and head[i] are the figures of the same seed. REQUIRES: equal lengths.
//
// A figure is absent if it is not finite or beyond 1e150 (whose square overflows). A pair without
// figures on both sides is left out; without one on either side it counts as `incomplete`.
// Differences are rounded as RoundDifference does, so that figures which print alike are ties.
//
// Intervals: bootstrap-t (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter
// 12), equal tails. Each end is moved outward to that of Student's t where it lies further out: on
// symmetric differences with long tails, the usual case for two versions of one program, the plain
// method covers the truth in 90 % of the cases instead of 95 %. The standard error of a resample
// is taken to be at least 1/n of that of the data, because many ties otherwise make it 0. Equal
// differences give an interval without width.
//
// Coverage of the 95 % interval, measured over 3,000 comparisons each (coverage_test.cc repeats the
// cases of 20 seeds):
//
//   differences                     5 seeds  10    15    20    30
//   normal                             97.2  96.5  96.4  95.3  95.0
//   of two exponential figures         98.3  96.6  95.6  95.6  95.0
//   of two log-normal ones, sigma 1    98.3  97.3  95.8  96.9  96.0
//   exponential                        94.0  93.6  94.5  95.1  96.7
//   log-normal, sigma 0.5              94.9  94.0  95.6  95.0  96.0
//   log-normal, sigma 1                89.1  90.7  92.3  91.8  93.8
//
// The result depends neither on the order of the pairs nor, up to the sign, on which side is the
// base. O(resamples * n), about 2 ms for 20 pairs.
PairedDifference ComparePaired(absl::Span<const double> base, absl::Span<const double> head);

// The two-sided sign-flip permutation test: the share of all 2^n assignments of signs whose sum is
// at least as far from 0 as the sum of `differences`. Exact up to kMaxEnumeratedFlips differences
// other than 0; beyond that (1 + hits) / (1 + kSampledFlips). Sums closer than n * 1e-12 of the
// largest difference are ties. 1 if all differences are 0. REQUIRES: finite values, fewer than
// 2^20.
double SignFlipP(absl::Span<const double> differences);

// Adjusted p-values in the order of the input: reject those of at most alpha.
//
// Holm: the chance of even one false rejection is at most alpha, however the tests depend on each
// other (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979). REQUIRES: p in
// [0, 1]. O(n log n).
std::vector<double> HolmAdjusted(absl::Span<const double> p);
// Benjamini and Hochberg: the expected share of false rejections among all is at most alpha, for
// independent or positively dependent tests ("Controlling the False Discovery Rate", 1995).
// REQUIRES: p in [0, 1]. O(n log n).
std::vector<double> BenjaminiHochbergAdjusted(absl::Span<const double> p);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_PAIRED_H_
