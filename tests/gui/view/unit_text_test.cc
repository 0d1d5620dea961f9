#include "gui/view/unit_text.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "model/time.h"

namespace drasim::view {
namespace unit_text_test {

std::string OfSeconds(int64_t seconds) { return DurationText(SimDuration::Seconds(seconds)); }

TEST(UnitTextTest, GroupsDigits) {
  EXPECT_EQ(CommaText(0), "0");
  EXPECT_EQ(CommaText(999), "999");
  EXPECT_EQ(CommaText(1000), "1,000");
  EXPECT_EQ(CommaText(1'234'567), "1,234,567");
  EXPECT_EQ(CommaText(-1'000), "-1,000");
  EXPECT_EQ(CommaText(-100), "-100");
  EXPECT_EQ(CommaText(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(UnitTextTest, WritesLengthsOfTime) {
  EXPECT_EQ(OfSeconds(0), "0s");
  EXPECT_EQ(OfSeconds(8), "8s");
  EXPECT_EQ(OfSeconds(5 * 60 + 32), "5m32s");
  EXPECT_EQ(OfSeconds(33 * 60), "33m");
  EXPECT_EQ(OfSeconds(20 * 3600), "20h");
  EXPECT_EQ(OfSeconds(10 * 3600 + 5 * 60), "10h05m");
  EXPECT_EQ(OfSeconds(20 * 3600 + 7), "20h00m07s");
  EXPECT_EQ(OfSeconds(99 * 3600), "99h");
  EXPECT_EQ(OfSeconds(100 * 3600), "4d4h");
  EXPECT_EQ(OfSeconds(5 * 86'400), "5d");
  EXPECT_EQ(OfSeconds(5 * 86'400 + 60), "5d0h01m");
  EXPECT_EQ(OfSeconds(-90), "-1m30s");
  EXPECT_EQ(DurationText(SimDuration::Millis(13'366)), "13.366s");
  EXPECT_EQ(DurationText(SimDuration::Millis(15'013'366)), "4h10m13.366s");
  EXPECT_EQ(DurationText(SimDuration(1)), "0.000000001s");
  EXPECT_EQ(DurationText(SimDuration(60'250'000'000)), "1m00.25s");
  EXPECT_EQ(DurationText(SimDuration(std::numeric_limits<int64_t>::min())),
            DurationText(SimDuration(-std::numeric_limits<int64_t>::max())));
  EXPECT_EQ(TimeText(SimTime(2 * kSecondNs)), "2s");
}

TEST(UnitTextTest, TheClockKeepsItsWidth) {
  EXPECT_EQ(ClockText(SimTime(0)), "00h00m00.000s");
  EXPECT_EQ(ClockText(SimTime(20 * 3600 * kSecondNs)), "20h00m00.000s");
  EXPECT_EQ(ClockText(SimTime(15'013'366'999'999)), "04h10m13.366s");
  EXPECT_EQ(ClockText(SimTime(100 * 3600 * kSecondNs)), "4d04h00m00.000s");
}

TEST(UnitTextTest, WritesValuesWithTheirUnits) {
  EXPECT_EQ(ValueText(1102, Unit::kCount), "1,102");
  EXPECT_EQ(ValueText(6.75, Unit::kCount), "6.75");
  EXPECT_EQ(ValueText(28.25, Unit::kCount), "28.2");  // a tie goes to the even digit
  EXPECT_EQ(ValueText(0.125, Unit::kCount), "0.125");
  EXPECT_EQ(ValueText(1234.5, Unit::kCount), "1,235");
  EXPECT_EQ(ValueText(65.6, Unit::kPercent), "65.6 %");
  EXPECT_EQ(ValueText(-26.6, Unit::kPercent), "-26.6 %");
  EXPECT_EQ(ValueText(0.3, Unit::kSeconds), "0.3s");
  EXPECT_EQ(ValueText(332.4, Unit::kSeconds), "5m32s");
  EXPECT_EQ(ValueText(512, Unit::kBytes), "512 B");
  EXPECT_EQ(ValueText(1536, Unit::kBytes), "1.5 KiB");
  EXPECT_EQ(ValueText(1024.0 * 1024 * 1024, Unit::kBytes), "1 GiB");
  EXPECT_EQ(ValueText(12, Unit::kPerSecond), "12 /s");
  EXPECT_EQ(ValueText(209, Unit::kPerMinute), "209 /min");
}

TEST(UnitTextTest, DifferencesHaveASign) {
  EXPECT_EQ(DifferenceText(1020, Unit::kCount), "+1,020");
  EXPECT_EQ(DifferenceText(-26.6, Unit::kPercent), "-26.6 %");
  EXPECT_EQ(DifferenceText(0, Unit::kPercent), "0");
}

}  // namespace unit_text_test
}  // namespace drasim::view
