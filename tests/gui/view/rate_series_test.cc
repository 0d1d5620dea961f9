#include "gui/view/rate_series.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace rate_series_test {

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

std::vector<double> ValuesOf(const Pyramid& data) {
  std::vector<double> values;
  for (size_t i = 0; i < data.size(); ++i) values.push_back(data.value(i));
  return values;
}

TEST(RateSeriesTest, BucketsAreRoundAndStayInPlace) {
  const RateBuckets hour = BucketsFor(At(0), At(3600), 100);
  EXPECT_EQ(hour.length, SimDuration::Seconds(60));  // 36 s is not round
  EXPECT_EQ(hour.begin, At(0));
  EXPECT_EQ(hour.count, size_t{61});
  const RateBuckets moved = BucketsFor(At(130), At(3730), 100);
  EXPECT_EQ(moved.length, hour.length);
  EXPECT_EQ(moved.begin, At(120));
  EXPECT_EQ(BucketsFor(At(0), At(100), 100).length, SimDuration::Seconds(1));
  EXPECT_EQ(BucketsFor(At(0), At(101), 100).length, SimDuration::Seconds(2));
  EXPECT_EQ(BucketsFor(SimTime(0), SimTime(300), 100).length, SimDuration(5));
  EXPECT_EQ(BucketsFor(At(0), At(86'400 * 300), 100).length, SimDuration::Seconds(86'400 * 4));
  for (const int64_t end_s : {1, 7, 59, 1000, 86'399, 5'000'000}) {
    const RateBuckets buckets = BucketsFor(SimTime(1), At(end_s), 64);
    EXPECT_LE(buckets.count, size_t{66});
    EXPECT_LE(buckets.begin, SimTime(1));
    const int64_t last =
        buckets.begin.ns() + static_cast<int64_t>(buckets.count) * buckets.length.ns();
    EXPECT_GT(last, At(end_s).ns());
  }
}

TEST(RateSeriesTest, CountsTheGrowthOfEachBucket) {
  Pyramid counter;
  counter.Append(At(0), 0);
  counter.Append(At(60), 30);
  counter.Append(At(120), 30);
  counter.Append(At(150), 45);
  RateBuckets buckets;
  buckets.length = SimDuration::Seconds(30);
  buckets.count = 6;
  EXPECT_EQ(ValuesOf(RateSeries(counter, buckets, SimDuration::Seconds(60))),
            (std::vector<double>{30, 30, 0, 0, 30, 0}));
  EXPECT_EQ(ValuesOf(RateSeries(counter, buckets, SimDuration::Seconds(1))),
            (std::vector<double>{0.5, 0.5, 0, 0, 0.5, 0}));
  // Calls counted at the first instant are not lost.
  Pyramid at_once;
  at_once.Append(At(0), 6);
  EXPECT_EQ(RateSeries(at_once, buckets, SimDuration::Seconds(30)).value(0), 6);
  EXPECT_EQ(ValuesOf(RateSeries(Pyramid(), buckets, SimDuration::Seconds(30))),
            std::vector<double>(6, 0));
}

TEST(RateSeriesTest, GrowthAddsUp) {
  Random random(3, "rates");
  Pyramid counter;
  int64_t ns = 0;
  double count = 0;
  for (int i = 0; i < 5000; ++i) {
    ns += static_cast<int64_t>(random.Below(50));
    count += static_cast<double>(random.Below(4));
    counter.Append(SimTime(ns), count);
  }
  for (const size_t most : {size_t{3}, size_t{40}, size_t{700}}) {
    const RateBuckets buckets = BucketsFor(SimTime(0), SimTime(ns), most);
    const Pyramid growth = RateSeries(counter, buckets, buckets.length);
    double sum = 0;
    for (size_t i = 0; i < growth.size(); ++i) {
      EXPECT_EQ(growth.time(i).ns(),
                buckets.begin.ns() + static_cast<int64_t>(i) * buckets.length.ns());
      EXPECT_GE(growth.value(i), 0);
      sum += growth.value(i);
    }
    EXPECT_NEAR(sum, count, 1e-6);
  }
}

TEST(RateSeriesTest, CountsBeyondAnotherCounterNeverFall) {
  Pyramid all;
  Pyramid some;
  // `some` may be a step ahead, and may count something that `all` does not.
  const double alls[] = {1, 1, 2, 4, 4, 6};
  const double somes[] = {0, 1, 1, 1, 2, 2};
  const double beyond[] = {1, 1, 1, 3, 3, 4};
  for (int i = 0; i < 6; ++i) {
    all.Append(At(i), alls[i]);
    some.Append(At(i), somes[i]);
  }
  const Pyramid count = CountBeyond(all, some);
  ASSERT_EQ(count.size(), size_t{6});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(count.ValueAt(At(i)), beyond[i]) << i;
  EXPECT_TRUE(CountBeyond(Pyramid(), Pyramid()).empty());
}

TEST(RateSeriesTest, WeightedSumsHoldAtEveryInstant) {
  Pyramid held;
  held.Append(At(0), 10);
  held.Append(At(20), 40);
  Pyramid stranded;
  stranded.Append(At(10), 5);
  stranded.Append(At(20), 1);
  const Pyramid usable = WeightedSum(100, {{&held, -1}, {&stranded, -2}});
  ASSERT_EQ(usable.size(), size_t{3});
  EXPECT_EQ(usable.ValueAt(At(0)), 90);
  EXPECT_EQ(usable.ValueAt(At(10)), 80);
  EXPECT_EQ(usable.ValueAt(At(20)), 58);  // both at once
  EXPECT_TRUE(WeightedSum(3, {}).empty());

  // The extremes of a block of one instant stay.
  Pyramid spike;
  for (const double value : {1, 9, 2}) spike.Append(At(5), value);
  const Pyramid doubled = WeightedSum(0, {{&spike, 2}});
  ASSERT_EQ(doubled.size(), size_t{3});
  EXPECT_EQ(doubled.value(1), 18);
}

}  // namespace rate_series_test
}  // namespace drasim::view
