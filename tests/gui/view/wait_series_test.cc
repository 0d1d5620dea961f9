#include "gui/view/wait_series.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace drasim {
namespace wait_series_test {

using view::PodStart;
using view::WaitSeries;
using view::WaitSeriesOf;

PodStart StartAt(int64_t second, int64_t wait) {
  return {SimTime(second * kSecondNs), SimDuration::Seconds(wait)};
}

TEST(WaitSeriesTest, PercentilesByBucketOfTheStart) {
  std::vector<PodStart> starts;
  // 0..9 s: waits of 1 to 20 s; 10..19 s: none; 20..30 s: two, the last at the end.
  for (int64_t i = 20; i >= 1; --i) starts.push_back(StartAt(i % 10, i));
  starts.push_back(StartAt(20, 100));
  starts.push_back(StartAt(30, 300));
  const WaitSeries series = WaitSeriesOf(starts, SimTime(30 * kSecondNs), 3);
  ASSERT_EQ(series.p50.size(), 2u);
  ASSERT_EQ(series.p95.size(), 2u);
  EXPECT_EQ(series.p50.time(0), SimTime());
  EXPECT_EQ(series.p50.value(0), 10);
  EXPECT_EQ(series.p95.value(0), 19);
  EXPECT_EQ(series.p50.time(1), SimTime(20 * kSecondNs));
  EXPECT_EQ(series.p50.value(1), 100);
  EXPECT_EQ(series.p95.value(1), 300);
  // The values of the bucket before hold.
  EXPECT_EQ(series.p50.ValueAt(SimTime(15 * kSecondNs)), 10);
}

TEST(WaitSeriesTest, NothingAndExtremes) {
  EXPECT_TRUE(WaitSeriesOf({}, SimTime(100)).p50.empty());
  const WaitSeries instant = WaitSeriesOf({StartAt(0, 5)}, SimTime());
  ASSERT_EQ(instant.p95.size(), 1u);
  EXPECT_EQ(instant.p95.value(0), 5);
  // Starts outside of the clock, as a damaged ledger may have.
  const SimTime end(std::numeric_limits<int64_t>::max());
  const WaitSeries wide = WaitSeriesOf(
      {{SimTime(-5), SimDuration::Seconds(1)}, {end, SimDuration::Seconds(2)}}, end, 10);
  ASSERT_EQ(wide.p50.size(), 2u);
  EXPECT_EQ(wide.p50.time(0), SimTime());
  EXPECT_EQ(wide.p50.value(1), 2);
}

}  // namespace wait_series_test
}  // namespace drasim
