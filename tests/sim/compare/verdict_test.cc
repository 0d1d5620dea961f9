#include "sim/compare/verdict.h"

#include <limits>

#include "gtest/gtest.h"
#include "sim/compare/paired.h"

namespace drasim {
namespace verdict_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PairedDifference Shown(double mean, Interval interval_90) {
  PairedDifference d;
  d.n = 20;
  d.mean = mean;
  d.interval_90 = interval_90;
  return d;
}

TEST(JudgeOutcomeTest, WorseNeedsSignificanceAndTheMargin) {
  const PairedDifference longer = Shown(5, {4, 6});
  EXPECT_EQ(JudgeOutcome(longer, 0.009, {.margin = 4.5}), CellVerdict::kWorse);
  EXPECT_EQ(JudgeOutcome(longer, 0.01, {.margin = 4.5}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(longer, 0.009, {.margin = 5}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(longer, 0.009, {.more_is_better = true, .margin = 4.5}),
            CellVerdict::kBetter);
  const PairedDifference shorter = Shown(-5, {-6, -4});
  EXPECT_EQ(JudgeOutcome(shorter, 0.009, {.margin = 4.5}), CellVerdict::kBetter);
  EXPECT_EQ(JudgeOutcome(shorter, 0.009, {.more_is_better = true, .margin = 4.5}),
            CellVerdict::kWorse);
}

TEST(JudgeOutcomeTest, OtherNeedsTheWholeIntervalInTheMargin) {
  EXPECT_EQ(JudgeOutcome(Shown(5, {4, 6}), 0.001, {.margin = 6}), CellVerdict::kOther);
  EXPECT_EQ(JudgeOutcome(Shown(5, {4, 6}), 0.001, {.margin = 5.9}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(Shown(-5, {-6, -4}), 1, {.margin = 6}), CellVerdict::kOther);
  EXPECT_EQ(JudgeOutcome(Shown(-5, {-6, -4}), 1, {.margin = 5.9}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(Shown(0, {0, 0}), 1, {.margin = 0}), CellVerdict::kOther);
}

TEST(JudgeOutcomeTest, WhatCannotBeJudgedIsUnclear) {
  PairedDifference d = Shown(5, {5, 5});
  d.n = 1;
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = 1}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = 9}), CellVerdict::kUnclear);
  d.n = 2;
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = 1}), CellVerdict::kWorse);
  d.incomplete = 1;
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = 1}), CellVerdict::kUnclear);
  d.incomplete = 0;
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = -1}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(d, 0.001, {.margin = kNan}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeOutcome(d, kNan, {.margin = 1}), CellVerdict::kUnclear);
}

TEST(JudgeExactOutcomeTest, OnlyTheMarginCounts) {
  EXPECT_EQ(JudgeExactOutcome(95.2, 95.4, {.more_is_better = true, .margin = 0.1}),
            CellVerdict::kBetter);
  EXPECT_EQ(JudgeExactOutcome(95.4, 95.2, {.more_is_better = true, .margin = 0.1}),
            CellVerdict::kWorse);
  EXPECT_EQ(JudgeExactOutcome(10, 12, {.margin = 1}), CellVerdict::kWorse);
  EXPECT_EQ(JudgeExactOutcome(12, 10, {.margin = 1}), CellVerdict::kBetter);
  // 95.4 - 95.2 is 0.20000000000000284 in doubles.
  EXPECT_EQ(JudgeExactOutcome(95.2, 95.4, {.margin = 0.2}), CellVerdict::kOther);
  EXPECT_EQ(JudgeExactOutcome(7, 7, {}), CellVerdict::kOther);
  EXPECT_EQ(JudgeExactOutcome(7, 7.5, {}), CellVerdict::kWorse);
  EXPECT_EQ(JudgeExactOutcome(kNan, 7, {}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeExactOutcome(7, kNan, {}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgeExactOutcome(7, 9, {.margin = kNan}), CellVerdict::kUnclear);
}

TEST(SeedsToGateTest, TheSmallestPValueMustPassHolm) {
  EXPECT_EQ(SeedsToGate(1), 8u);     // 2 / 2^8 = 0.0078
  EXPECT_EQ(SeedsToGate(2), 9u);     // 2 * 2 / 2^9
  EXPECT_EQ(SeedsToGate(100), 15u);  // 100 * 2 / 2^15 = 0.0061
  EXPECT_EQ(SeedsToGate(5000), 20u);
}

TEST(CellVerdictTest, Names) {
  EXPECT_EQ(CellVerdictName(CellVerdict::kSame), "same");
  EXPECT_EQ(CellVerdictName(CellVerdict::kBetter), "better");
  EXPECT_EQ(CellVerdictName(CellVerdict::kOther), "other");
  EXPECT_EQ(CellVerdictName(CellVerdict::kUnclear), "unclear");
  EXPECT_EQ(CellVerdictName(CellVerdict::kWorse), "worse");
  EXPECT_EQ(CellVerdictName(CellVerdict::kMissing), "missing");
}

}  // namespace verdict_test
}  // namespace drasim
