// SigmoidScore is a table of thresholds in place of the published expression
// floor(100 * (1 / (1 + exp(-x)))): one division, then the multiplication. (100 / (1 + exp(-x))
// rounds once less and differs on some doubles next to a threshold.)
//
// The oracle is the expression with the library's exponential, which no decision may depend on but
// a test may.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <limits>
#include <set>

#include "gtest/gtest.h"
#include "model/random.h"
#include "policies/plugins/fgd.h"

namespace drasim {
namespace sigmoid_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kThresholds[] = {
#include "policies/plugins/sigmoid_thresholds.inc"
};
constexpr size_t kThresholdCount = sizeof(kThresholds) / sizeof(kThresholds[0]);

int64_t Expression(double x) {
  const double sigmoid = 1 / (1 + std::exp(-x));
  return static_cast<int64_t>(std::floor(100 * sigmoid));
}

TEST(SigmoidScoreTest, EqualsTheExpressionOnMillionsOfDoubles) {
  Random random(1, "sigmoid");
  // Wide, where the scores are, where one score level is about 0.04, and next to zero.
  for (const double range : {1500.0, 40.0, 5.0, 1.0, 1e-3, 1e-15}) {
    std::set<int64_t> seen;
    for (int i = 0; i < 600'000; ++i) {
      const double x = (2 * random.Unit() - 1) * range;
      const int64_t score = SigmoidScore(x);
      ASSERT_EQ(score, Expression(x)) << std::hexfloat << x;
      seen.insert(score);
    }
    if (range == 5.0) {
      EXPECT_EQ(seen.size(), 100u);  // 0 to 99; 100 begins at 36.7
    }
  }
}

// Fragmentation changes are mostly small multiples of milli-GPU.
TEST(SigmoidScoreTest, EqualsTheExpressionOnEveryWholeMilliGpu) {
  for (int milli = -40'000; milli <= 40'000; ++milli) {
    const double x = static_cast<double>(milli) / 1000;
    ASSERT_EQ(SigmoidScore(x), Expression(x)) << milli;
  }
}

TEST(SigmoidScoreTest, EqualsTheExpressionAtEveryThresholdAndItsNeighbours) {
  ASSERT_EQ(kThresholdCount, 100u);
  for (size_t i = 0; i < kThresholdCount; ++i) {
    const double threshold = kThresholds[i];
    const auto score = static_cast<int64_t>(i + 1);
    EXPECT_EQ(SigmoidScore(threshold), score);
    EXPECT_EQ(SigmoidScore(std::nextafter(threshold, -kInfinity)), score - 1);
    double below = threshold;
    double above = threshold;
    for (int step = 0; step < 40; ++step) {
      ASSERT_EQ(SigmoidScore(below), Expression(below)) << std::hexfloat << below;
      ASSERT_EQ(SigmoidScore(above), Expression(above)) << std::hexfloat << above;
      below = std::nextafter(below, -kInfinity);
      above = std::nextafter(above, kInfinity);
    }
  }
}

TEST(SigmoidScoreTest, Extremes) {
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(SigmoidScore(0.0), 50);
  EXPECT_EQ(SigmoidScore(-0.0), 50);
  EXPECT_EQ(SigmoidScore(std::numeric_limits<double>::denorm_min()), 50);
  EXPECT_EQ(SigmoidScore(-std::numeric_limits<double>::denorm_min()), 50);
  EXPECT_EQ(SigmoidScore(-0x1p-52), 50);
  EXPECT_EQ(SigmoidScore(-0x1p-51), 49);
  EXPECT_EQ(SigmoidScore(kMax), 100);
  EXPECT_EQ(SigmoidScore(kInfinity), 100);
  EXPECT_EQ(SigmoidScore(-kMax), 0);
  EXPECT_EQ(SigmoidScore(-kInfinity), 0);
  EXPECT_EQ(SigmoidScore(36.0), 99);
  EXPECT_EQ(SigmoidScore(37.0), 100);
  EXPECT_EQ(SigmoidScore(-4.0), 1);
  EXPECT_EQ(SigmoidScore(-5.0), 0);
}

TEST(SigmoidScoreTest, GrowsWithItsArgument) {
  for (size_t i = 1; i < kThresholdCount; ++i) ASSERT_LT(kThresholds[i - 1], kThresholds[i]);
}

}  // namespace sigmoid_test
}  // namespace drasim
