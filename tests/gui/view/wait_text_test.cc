#include "gui/view/wait_text.h"

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/time.h"

namespace drasim {
namespace wait_text_test {

using view::ParseWait;
using view::WaitText;

TEST(WaitTextTest, ShowsTheTwoLargestUnits) {
  const auto text = [](int64_t ns) { return WaitText(SimDuration(ns)); };
  EXPECT_EQ(text(0), "0s");
  EXPECT_EQ(text(12'345), "12us");
  EXPECT_EQ(text(350'999'999), "350ms");
  EXPECT_EQ(text(2'590'000'000), "2.5s");
  EXPECT_EQ(text(9'000'000'000), "9s");
  EXPECT_EQ(text(59'900'000'000), "59s");
  EXPECT_EQ(text(332 * kSecondNs), "5m32s");
  EXPECT_EQ(text(300 * kSecondNs), "5m");
  EXPECT_EQ(text((10 * 3600 + 35 * 60 + 59) * kSecondNs), "10h35m");
  EXPECT_EQ(text(27 * 3600 * kSecondNs), "1d3h");
  EXPECT_EQ(text(-300 * kSecondNs), "-5m");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min())[0], '-');
}

TEST(WaitTextTest, ReadsWhatPeopleType) {
  const auto seconds = [](absl::string_view text) {
    const absl::StatusOr<SimDuration> wait = ParseWait(text);
    return wait.ok() ? wait->seconds() : -1.0;
  };
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("1h30m"), 5400);
  EXPECT_EQ(seconds("1.5d"), 129'600);
  EXPECT_EQ(seconds("250ms"), 0.25);
  EXPECT_EQ(seconds("0s"), 0);
  for (const char* bad : {"", "1", "h", "1h30", "1.h", ".5h", "1 h", "-1h", "1w", "1h-", "40000d",
                          "99999999999999999999s", "1..5s"}) {
    EXPECT_EQ(seconds(bad), -1) << bad;
  }
}

}  // namespace wait_text_test
}  // namespace drasim
