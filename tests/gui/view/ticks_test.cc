#include "gui/view/ticks.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace ticks_test {

std::string Labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) {
    if (!text.empty()) text += " | ";
    text += tick.label;
  }
  return text;
}

std::string LinearLabels(double low, double high, int max_ticks, Unit unit) {
  return Labels(LinearScale(low, high, max_ticks, unit).ticks);
}

std::string TimeLabels(int64_t begin_s, int64_t end_s, int max_ticks) {
  return Labels(TimeTicks(SimTime(begin_s * kSecondNs), SimTime(end_s * kSecondNs), max_ticks));
}

TEST(TicksTest, NumbersGoByOneTwoFive) {
  EXPECT_EQ(LinearLabels(0, 1600, 5, Unit::kCount), "0 | 500 | 1,000 | 1,500 | 2,000");
  EXPECT_EQ(LinearLabels(0, 100, 6, Unit::kPercent), "0 | 20 | 40 | 60 | 80 | 100");
  EXPECT_EQ(LinearLabels(0, 0.9, 6, Unit::kCount), "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
  EXPECT_EQ(LinearLabels(-3, 8, 4, Unit::kCount), "-5 | 0 | 5 | 10");
  EXPECT_EQ(LinearLabels(0, 4e9, 3, Unit::kCount), "0 | 2 G | 4 G");
  EXPECT_EQ(LinearLabels(0, 4e6, 3, Unit::kCount), "0 | 2 M | 4 M");
}

TEST(TicksTest, AnEmptyRangeGetsALength) {
  EXPECT_EQ(LinearLabels(0, 0, 3, Unit::kCount), "0.0 | 0.5 | 1.0");
  const TickScale scale = LinearScale(5, 5, 4, Unit::kCount);
  EXPECT_LT(scale.low, scale.high);
  EXPECT_LE(scale.low, 5);
  EXPECT_GE(scale.high, 5);
}

TEST(TicksTest, BytesGoByPowersOfTwo) {
  constexpr double kMiB = 1024.0 * 1024.0;
  EXPECT_EQ(LinearLabels(0, 900 * kMiB, 5, Unit::kBytes),
            "0 B | 256 MiB | 512 MiB | 768 MiB | 1 GiB");
  EXPECT_EQ(LinearLabels(0, 2048 * kMiB, 5, Unit::kBytes),
            "0 B | 512 MiB | 1 GiB | 1.5 GiB | 2 GiB");
  EXPECT_EQ(LinearLabels(0, 3, 4, Unit::kBytes), "0 B | 1 B | 2 B | 3 B");
}

TEST(TicksTest, LengthsOfTimeGoByTheClock) {
  EXPECT_EQ(LinearLabels(0, 100, 5, Unit::kSeconds), "0s | 30s | 1m | 1m30s | 2m");
  EXPECT_EQ(LinearLabels(0, 4 * 3600, 5, Unit::kSeconds), "0s | 1h | 2h | 3h | 4h");
  EXPECT_EQ(LinearLabels(0, 0.01, 3, Unit::kSeconds), "0s | 0.005s | 0.01s");
}

TEST(TicksTest, EveryScaleCoversItsRange) {
  Random random(3, "scales");
  for (int i = 0; i < 20'000; ++i) {
    const auto unit = static_cast<Unit>(random.Below(6));
    const double size = std::pow(10.0, static_cast<double>(random.Below(14)) - 5);
    double low = (random.Unit() - 0.5) * size;
    double high = low + random.Unit() * size;
    if (unit == Unit::kSeconds && size > 1e7) continue;
    const int max_ticks = 3 + static_cast<int>(random.Below(9));
    const TickScale scale = LinearScale(low, high, max_ticks, unit);
    const double slack = 1e-9 * size;
    ASSERT_LE(scale.low, low + slack) << low << " to " << high;
    ASSERT_GE(scale.high, high - slack) << low << " to " << high;
    ASSERT_LE(scale.ticks.size(), static_cast<size_t>(max_ticks));
    ASSERT_GE(scale.ticks.size(), size_t{2});
    for (size_t t = 1; t < scale.ticks.size(); ++t) {
      ASSERT_LT(scale.ticks[t - 1].value, scale.ticks[t].value);
      ASSERT_NE(scale.ticks[t - 1].label, scale.ticks[t].label);
    }
  }
}

TEST(TicksTest, LogarithmicTicks) {
  const TickScale wide = LogScale(3, 80'000, 6, Unit::kCount);
  EXPECT_EQ(Labels(wide.ticks), "1 | 10 | 100 | 1,000 | 10,000 | 100,000");
  EXPECT_EQ(wide.low, 1);
  EXPECT_EQ(wide.high, 100'000);
  EXPECT_EQ(Labels(LogScale(3, 80'000, 3, Unit::kCount).ticks), "1 | 1,000");
  EXPECT_EQ(Labels(LogScale(0.2, 7, 8, Unit::kCount).ticks), "0.1 | 0.2 | 0.5 | 1 | 2 | 5 | 10");
  EXPECT_EQ(Labels(LogScale(20, 9'000, 8, Unit::kSeconds).ticks), "10s | 1m | 10m | 1h | 6h");
  EXPECT_EQ(Labels(LogScale(1, 1, 4, Unit::kCount).ticks), "1 | 2 | 5 | 10");
}

TEST(TicksTest, TimesGoByTheClock) {
  EXPECT_EQ(TimeLabels(0, 28 * 3600, 10), "0h | 3h | 6h | 9h | 12h | 15h | 18h | 21h | 24h | 27h");
  EXPECT_EQ(TimeLabels(4 * 3600, 28 * 3600, 8), "6h | 9h | 12h | 15h | 18h | 21h | 24h | 27h");
  EXPECT_EQ(TimeLabels(0, 6 * 86'400, 6), "0d | 1d | 2d | 3d | 4d | 5d");
  EXPECT_EQ(TimeLabels(15'000, 15'060, 4), "4h10m | 4h10m15s | 4h10m30s | 4h10m45s");
  EXPECT_EQ(TimeLabels(0, 7200, 4), "0m | 30m | 1h | 1h30m");
  EXPECT_EQ(Labels(TimeTicks(SimTime(0), SimTime(1'000'000), 5)),
            "0s | 0.0002s | 0.0004s | 0.0006s | 0.0008s");
  // The end of all time.
  const std::vector<Tick> last =
      TimeTicks(SimTime(0), SimTime(std::numeric_limits<int64_t>::max()), 10);
  EXPECT_GE(last.size(), size_t{2});
  EXPECT_LE(last.size(), size_t{10});
}

TEST(TicksTest, TheLogarithmAgreesWithTheLibrary) {
  EXPECT_EQ(Log10(1), 0);
  EXPECT_NEAR(Log10(1000), 3, 1e-14);
  Random random(4, "log");
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::pow(10.0, 300 * (random.Unit() - 0.5)) * (0.5 + random.Unit());
    ASSERT_NEAR(Log10(value), std::log10(value), 1e-12) << value;
  }
}

}  // namespace ticks_test
}  // namespace drasim::view
