#include "sim/compare/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/number_text.h"
#include "model/random.h"
#include "sim/compare/statistics.h"

namespace drasim {
namespace paired_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

PairedDifference OfDifferences(const std::vector<double>& differences) {
  return ComparePaired(std::vector<double>(differences.size(), 0.0), differences);
}

// The definition: every assignment of signs, one by one.
double NaiveSignFlipP(const std::vector<double>& d) {
  double observed = 0;
  for (const double v : d) observed += v;
  size_t hits = 0;
  for (size_t signs = 0; signs < size_t{1} << d.size(); ++signs) {
    double sum = 0;
    for (size_t i = 0; i < d.size(); ++i) sum += (signs >> i & 1) != 0 ? d[i] : -d[i];
    if (std::abs(sum) >= std::abs(observed) - 1e-9) ++hits;
  }
  return static_cast<double>(hits) / static_cast<double>(size_t{1} << d.size());
}

TEST(SignFlipTest, SmallCasesByHand) {
  EXPECT_EQ(SignFlipP({}), 1);
  EXPECT_EQ(SignFlipP({0, 0, 0}), 1);
  EXPECT_EQ(SignFlipP({3}), 1);       // +3 and -3
  EXPECT_EQ(SignFlipP({1, 2}), 0.5);  // 3 and -3 of 3, 1, -1, -3
  EXPECT_EQ(SignFlipP({1, -2}), 1);
  EXPECT_EQ(SignFlipP({1, 2, 3}), 0.25);         // 2 of 8
  EXPECT_EQ(SignFlipP({-1, 2, 3}), 0.5);         // |sum| of 4 or 6: 4 of 8
  EXPECT_EQ(SignFlipP({1, 1, 1, 0, 1}), 0.125);  // zeros change nothing
  EXPECT_EQ(SignFlipP(std::vector<double>(20, 0.1)), 0x1p-19);
  EXPECT_EQ(SignFlipP(std::vector<double>(20, -1e9)), 0x1p-19);
  // 0.1 + 0.2 and 0.3 are a tie, as in decimals: |sum| is 0.6 or 0 each in a quarter of cases.
  EXPECT_EQ(SignFlipP({0.1, 0.2, 0.3}), 0.25);
  EXPECT_EQ(SignFlipP({0.1, 0.2, -0.3}), 1);
}

TEST(SignFlipTest, EqualsTheDefinition) {
  Random random(4, "sign flips");
  for (size_t n = 1; n <= 12; ++n) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      // Small whole numbers bring many ties.
      std::vector<double> d;
      for (size_t i = 0; i < n; ++i) d.push_back(static_cast<double>(random.Below(11)) - 3);
      EXPECT_EQ(SignFlipP(d), NaiveSignFlipP(d)) << testing::PrintToString(d);
    }
  }
}

TEST(SignFlipTest, SamplingAgreesWithCounting) {
  // One value: the sum is binomial. 36 of 50 signs or more are equal with probability 0.002602.
  std::vector<double> d(50, 1);
  for (size_t i = 0; i < 14; ++i) d[i] = -1;
  EXPECT_NEAR(SignFlipP(d), 0.002602, 0.0002);
  EXPECT_EQ(SignFlipP(std::vector<double>(50, 1)), 1e-6);  // no hit in a million
  EXPECT_EQ(SignFlipP(std::vector<double>(1000, 1)), 1e-6);
  // The largest enumerated number against the smallest sampled one: a small value changes little.
  std::vector<double> most;
  for (size_t i = 0; i < kMaxEnumeratedFlips; ++i) {
    const double size = 1 + 0.01 * static_cast<double>(i * i);
    most.push_back(i % 4 == 0 ? -size : size);
  }
  const double counted = SignFlipP(most);
  most.push_back(1e-6);
  EXPECT_NEAR(SignFlipP(most), counted, 0.0005);
  EXPECT_GT(counted, 0.005);
}

TEST(HolmTest, ByHand) {
  EXPECT_EQ(HolmAdjusted({}), std::vector<double>());
  EXPECT_EQ(HolmAdjusted({0.25}), std::vector<double>({0.25}));
  // Sorted 1/64, 1/32, 1/32, 1/2 times 4, 3, 2, 1, and never less than before.
  EXPECT_EQ(HolmAdjusted({0.03125, 0.5, 0.015625, 0.03125}),
            std::vector<double>({0.09375, 0.5, 0.0625, 0.09375}));
  EXPECT_EQ(HolmAdjusted({0.75, 1}), std::vector<double>({1, 1}));
}

TEST(BenjaminiHochbergTest, ByHand) {
  EXPECT_EQ(BenjaminiHochbergAdjusted({}), std::vector<double>());
  // Sorted 1/64, 1/32, 3/64, 1/2 times 4, 2, 4/3, 1, and never more than after.
  EXPECT_EQ(BenjaminiHochbergAdjusted({0.03125, 0.5, 0.015625, 0.046875}),
            std::vector<double>({0.0625, 0.5, 0.0625, 0.0625}));
  // 2 / 32 is more than what the larger one gets.
  EXPECT_EQ(BenjaminiHochbergAdjusted({0.03125, 0.046875}),
            std::vector<double>({0.046875, 0.046875}));
  EXPECT_EQ(BenjaminiHochbergAdjusted({0.75, 1, 1}), std::vector<double>({1, 1, 1}));
}

TEST(ComparePairedTest, MeansOfDifferencesAreDecimals) {
  const PairedDifference d = ComparePaired({95.2, 95.3}, {95.4, 95.3});
  EXPECT_EQ(d.n, 2u);
  EXPECT_EQ(DoubleText(d.mean), "0.1");
  EXPECT_EQ(DoubleText(d.stddev), "0.141421356");
  EXPECT_EQ(d.p, 1);
  // Student's interval with one degree of freedom: 12.706 and 6.314 standard errors of 0.1.
  EXPECT_EQ(DoubleText(d.interval_95.low), "-1.1706");
  EXPECT_EQ(DoubleText(d.interval_95.high), "1.3706");
  EXPECT_EQ(DoubleText(d.interval_90.low), "-0.5314");
  EXPECT_EQ(DoubleText(d.interval_90.high), "0.7314");
}

TEST(ComparePairedTest, FewOrEqualDifferences) {
  const PairedDifference none = ComparePaired({}, {});
  EXPECT_EQ(none.n, 0u);
  EXPECT_FALSE(none.has_interval());
  EXPECT_EQ(none.p, 1);
  const PairedDifference one = ComparePaired({1}, {3});
  EXPECT_EQ(one.mean, 2);
  EXPECT_EQ(one.p, 1);
  EXPECT_FALSE(one.has_interval());
  // The third pair differs by 2 only up to rounding noise.
  const PairedDifference equal = ComparePaired({1, 5, 0.1, 7}, {3, 7, 2.1, 9});
  EXPECT_EQ(equal.mean, 2);
  EXPECT_EQ(equal.interval_95, (Interval{2, 2}));
  EXPECT_EQ(equal.interval_90, (Interval{2, 2}));
  EXPECT_EQ(equal.p, 0.125);
  const PairedDifference zero = ComparePaired({1, 5, 7}, {1, 5, 7});
  EXPECT_EQ(zero.interval_90, (Interval{0, 0}));
  EXPECT_EQ(zero.p, 1);
}

TEST(ComparePairedTest, AbsentFigures) {
  const PairedDifference d =
      ComparePaired({1, kNan, 2, kInfinity, 4, 1e151}, {2, 3, kNan, -kInfinity, 5, kNan});
  EXPECT_EQ(d.n, 2u);
  EXPECT_EQ(d.incomplete, 2u);
  EXPECT_EQ(d.mean, 1);
  const PairedDifference large = ComparePaired({-1e150, 0, 1e150}, {1e150, 1, 1e150});
  EXPECT_EQ(large.n, 3u);
  EXPECT_TRUE(std::isfinite(large.interval_95.low));
  EXPECT_GT(large.interval_95.high, large.mean);
  // Differences that are equal to twelve digits.
  const PairedDifference close = OfDifferences({50000, 50000.000000001, 50000.000000002});
  EXPECT_LE(close.interval_95.low, close.mean);
  EXPECT_GE(close.interval_95.high, close.mean);
}

TEST(ComparePairedTest, ManyTiesGiveAFiniteInterval) {
  // One seed of 20 differs: 36 % of the resamples have no spread at all.
  std::vector<double> d(20, 0);
  d[7] = 1;
  const PairedDifference p = OfDifferences(d);
  EXPECT_EQ(p.mean, 0.05);
  EXPECT_EQ(p.p, 1);
  EXPECT_LT(p.interval_90.low, 0);
  // The end of a resample of zeros: mean plus 20 standard errors, 0.05 each.
  EXPECT_EQ(DoubleText(p.interval_90.high), "1.05");
  EXPECT_EQ(DoubleText(p.interval_95.high), "1.05");
}

TEST(ComparePairedTest, NeitherOrderNorDirectionMatters) {
  Random random(1, "paired");
  std::vector<double> base;
  std::vector<double> head;
  for (int i = 0; i < 12; ++i) {
    base.push_back(random.Unit() * random.Unit() * 100);
    head.push_back(random.Unit() * random.Unit() * 110);
  }
  const PairedDifference d = ComparePaired(base, head);
  EXPECT_LT(d.interval_95.low, d.interval_90.low);
  EXPECT_LT(d.interval_90.low, d.mean);
  EXPECT_LT(d.mean, d.interval_90.high);
  EXPECT_LT(d.interval_90.high, d.interval_95.high);
  const PairedDifference back = ComparePaired(head, base);
  EXPECT_EQ(back.mean, -d.mean);
  EXPECT_EQ(back.stddev, d.stddev);
  EXPECT_EQ(back.p, d.p);
  EXPECT_EQ(back.interval_95, (Interval{-d.interval_95.high, -d.interval_95.low}));
  EXPECT_EQ(back.interval_90, (Interval{-d.interval_90.high, -d.interval_90.low}));
  std::reverse(base.begin(), base.end());
  std::reverse(head.begin(), head.end());
  const PairedDifference reversed = ComparePaired(base, head);
  EXPECT_EQ(reversed.mean, d.mean);
  EXPECT_EQ(reversed.interval_95, d.interval_95);
  EXPECT_EQ(reversed.interval_90, d.interval_90);
}

// Skewed differences: the bootstrap reaches further than Student's t on the long side, and
// Student's end stands on the short one. The figures are pinned; g++ and clang++ must agree on
// them.
TEST(ComparePairedTest, SkewedDifferencesGetALongerUpperEnd) {
  const PairedDifference d = OfDifferences({0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 4, 11});
  EXPECT_EQ(d.mean, 2.12);
  const MeanInterval student = MeanOf({0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 4, 11});
  EXPECT_EQ(DoubleText(d.interval_95.low),
            DoubleText(RoundDifference(2.12 - student.half_width, 11)));
  EXPECT_GT(d.interval_95.high, 2.12 + 2 * student.half_width);
  EXPECT_EQ(DoubleText(d.interval_95.high), "11.295629916");
  EXPECT_EQ(DoubleText(d.interval_90.high), "9.526628273");
  EXPECT_EQ(d.p, 0x1p-9);
  // The same shape around 0, where the shorter tail has the larger values.
  const PairedDifference shifted = OfDifferences({-5, -5, -4.9, -4.8, -4.5, -4, -3, 4.5});
  EXPECT_GT(shifted.interval_95.high - shifted.mean, 2 * (shifted.mean - shifted.interval_95.low));
  EXPECT_GT(shifted.interval_90.high - shifted.mean, 2 * (shifted.mean - shifted.interval_90.low));
}

}  // namespace paired_test
}  // namespace drasim
