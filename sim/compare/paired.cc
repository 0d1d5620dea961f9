#include "sim/compare/paired.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "model/check.h"
#include "model/random.h"
#include "sim/compare/statistics.h"

namespace drasim {
namespace {

constexpr double kLargestFigure = 1e150;
// Seeds of the streams: any number, but never another one, because published intervals and
// p-values follow from it.
constexpr uint64_t kStreamSeed = 1;

bool IsFigure(double value) { return std::abs(value) <= kLargestFigure; }  // not for NaN

struct Bootstrap {
  double standard_error = 0;  // of the mean, not rounded
  // Quantiles of (resample mean - mean) / (standard error of the resample).
  double q025 = 0;
  double q05 = 0;
  double q95 = 0;
  double q975 = 0;
};

// REQUIRES: at least two values, not all equal, of magnitudes around 1.
Bootstrap BootstrapT(absl::Span<const double> values) {
  const size_t count = values.size();
  const auto n = static_cast<double>(count);
  std::vector<double> centered(values.begin(), values.end());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares_of_all = 0;
  for (double& v : centered) {
    v -= mean;
    squares_of_all += v * v;
  }
  const double stddev = std::sqrt(squares_of_all / (n - 1));
  const double least_variance = (stddev / n) * (stddev / n);
  Random random(kStreamSeed, "bench compare: bootstrap");
  std::vector<double> t(kBootstrapResamples);
  for (double& resample : t) {
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const double v = centered[static_cast<size_t>(random.Below(count))];
      sum += v;
      squares += v * v;
    }
    const double resample_mean = sum / n;
    const double variance = std::max((squares - sum * resample_mean) / (n - 1), least_variance);
    resample = resample_mean / std::sqrt(variance / n);
  }
  // The k-th smallest of B values estimates the quantile k / (B + 1).
  constexpr size_t k025 = (kBootstrapResamples + 1) / 40 - 1;
  constexpr size_t k05 = (kBootstrapResamples + 1) / 20 - 1;
  constexpr size_t k95 = kBootstrapResamples - 1 - k05;
  constexpr size_t k975 = kBootstrapResamples - 1 - k025;
  const auto at = [&t](size_t k) { return t.begin() + static_cast<ptrdiff_t>(k); };
  std::nth_element(t.begin(), at(k05), t.end());
  std::nth_element(t.begin(), at(k025), at(k05));
  std::nth_element(at(k05 + 1), at(k95), t.end());
  std::nth_element(at(k95 + 1), at(k975), t.end());
  return {stddev / std::sqrt(n), t[k025], t[k05], t[k95], t[k975]};
}

// The sums of all assignments of signs to `values`, in increasing order.
std::vector<int64_t> SortedSignedSums(absl::Span<const int64_t> values) {
  std::vector<int64_t> sums = {0};
  std::vector<int64_t> lower;
  std::vector<int64_t> higher;
  for (const int64_t v : values) {
    lower = sums;
    higher = sums;
    for (int64_t& s : lower) s -= v;
    for (int64_t& s : higher) s += v;
    sums.resize(2 * lower.size());
    std::merge(lower.begin(), lower.end(), higher.begin(), higher.end(), sums.begin());
  }
  return sums;
}

// REQUIRES: all values > 0, threshold > 0.
double EnumeratedFlips(absl::Span<const int64_t> values, int64_t threshold) {
  // Every assignment is a pair of assignments of the two halves. Going up in one list of sums, the
  // partners that reach the threshold only grow in the other.
  const size_t half = values.size() / 2;
  const std::vector<int64_t> left = SortedSignedSums(values.subspan(0, half));
  const std::vector<int64_t> right = SortedSignedSums(values.subspan(half));
  uint64_t reached = 0;
  size_t below = right.size();
  for (const int64_t sum : left) {
    while (below > 0 && right[below - 1] >= threshold - sum) --below;
    reached += right.size() - below;
  }
  // As many assignments lie at or below -threshold: flip all signs.
  return 2 * static_cast<double>(reached) / static_cast<double>(uint64_t{1} << values.size());
}

double SampledFlips(absl::Span<const int64_t> values, int64_t threshold) {
  // Sums of eight values at a time, by their signs.
  std::vector<std::array<int64_t, 256>> sums;
  for (size_t first = 0; first < values.size(); first += 8) {
    std::array<int64_t, 256>& group = sums.emplace_back();
    const absl::Span<const int64_t> members = values.subspan(first, 8);
    for (size_t signs = 0; signs < group.size(); ++signs) {
      int64_t sum = 0;
      for (size_t i = 0; i < members.size(); ++i) {
        sum += (signs >> i & 1) != 0 ? members[i] : -members[i];
      }
      group[signs] = sum;
    }
  }
  Random random(kStreamSeed, "bench compare: sign flips");
  uint64_t hits = 0;
  for (size_t i = 0; i < kSampledFlips; ++i) {
    int64_t sum = 0;
    uint64_t bits = 0;
    for (size_t group = 0; group < sums.size(); ++group) {
      if (group % 8 == 0) bits = random.U64();
      sum += sums[group][bits & 255];
      bits >>= 8;
    }
    if (std::abs(sum) >= threshold) ++hits;
  }
  return static_cast<double>(1 + hits) / static_cast<double>(1 + kSampledFlips);
}

std::vector<size_t> OrderOf(absl::Span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&p](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

double SignFlipP(absl::Span<const double> differences) {
  DRASIM_CHECK_LT(differences.size(), size_t{1} << 20);
  double largest = 0;
  for (const double d : differences) {
    DRASIM_CHECK(std::isfinite(d));
    largest = std::max(largest, std::abs(d));
  }
  // Whole numbers add up exactly, in whatever order. Each is rounded by up to a half, so sums that
  // tie may be up to one unit per value apart.
  std::vector<int64_t> sizes;
  int64_t sum = 0;
  for (const double d : differences) {
    if (d == 0) continue;
    const auto whole = static_cast<int64_t>(std::nearbyint(d / largest * 0x1p40));
    sum += whole;
    if (whole != 0) sizes.push_back(std::abs(whole));
  }
  const int64_t threshold = std::abs(sum) - static_cast<int64_t>(sizes.size());
  if (threshold <= 0) return 1;
  return sizes.size() > kMaxEnumeratedFlips ? SampledFlips(sizes, threshold)
                                            : EnumeratedFlips(sizes, threshold);
}

PairedDifference ComparePaired(absl::Span<const double> base, absl::Span<const double> head) {
  DRASIM_CHECK_EQ(base.size(), head.size());
  PairedDifference result;
  std::vector<double> differences;
  double scale = 0;  // of the figures
  for (size_t i = 0; i < base.size(); ++i) {
    if (IsFigure(base[i]) != IsFigure(head[i])) ++result.incomplete;
    if (!IsFigure(base[i]) || !IsFigure(head[i])) continue;
    differences.push_back(head[i] - base[i]);
    scale = std::max({scale, std::abs(base[i]), std::abs(head[i])});
  }
  for (double& d : differences) d = RoundDifference(d, scale);
  // One order for all orders of the pairs, and one sign for both directions.
  std::sort(differences.begin(), differences.end());
  std::vector<double> mirrored;
  for (auto d = differences.rbegin(); d != differences.rend(); ++d) mirrored.push_back(0 - *d);
  const bool mirror = mirrored < differences;
  if (mirror) differences.swap(mirrored);

  const MeanInterval mean = MeanOf(differences);
  result.n = mean.n;
  result.mean = mirror ? 0 - mean.mean : mean.mean;
  result.stddev = mean.stddev;
  if (result.n == 0) return result;
  result.p = SignFlipP(differences);
  result.interval_95 = result.interval_90 = {result.mean, result.mean};
  if (result.n == 1 || differences.front() == differences.back()) return result;

  const double largest = std::max(std::abs(differences.front()), std::abs(differences.back()));
  for (double& d : differences) d /= largest;
  const Bootstrap t = BootstrapT(differences);
  const double error = largest * t.standard_error;
  const auto interval = [&](double low_t, double high_t, double student) {
    const double low = mean.mean - std::max(high_t, student) * error;
    const double high = mean.mean + std::max(-low_t, student) * error;
    return mirror ? Interval{RoundDifference(-high, scale), RoundDifference(-low, scale)}
                  : Interval{RoundDifference(low, scale), RoundDifference(high, scale)};
  };
  result.interval_95 = interval(t.q025, t.q975, StudentT975(result.n - 1));
  result.interval_90 = interval(t.q05, t.q95, StudentT95(result.n - 1));
  return result;
}

std::vector<double> HolmAdjusted(absl::Span<const double> p) {
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  size_t rank = 0;
  for (const size_t i : OrderOf(p)) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(p.size() - rank) * p[i]));
    adjusted[i] = so_far;
    ++rank;
  }
  return adjusted;
}

std::vector<double> BenjaminiHochbergAdjusted(absl::Span<const double> p) {
  const std::vector<size_t> order = OrderOf(p);
  std::vector<double> adjusted(p.size());
  double so_far = 1;
  for (size_t rank = p.size(); rank > 0; --rank) {
    const size_t i = order[rank - 1];
    so_far = std::min(so_far, static_cast<double>(p.size()) / static_cast<double>(rank) * p[i]);
    adjusted[i] = so_far;
  }
  return adjusted;
}

}  // namespace drasim
