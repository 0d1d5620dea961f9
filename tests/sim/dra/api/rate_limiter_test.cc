// Token buckets: the defaults of Kubernetes' clients by hand, and random traffic against a bucket
// that counts its level.
#include "sim/dra/api/rate_limiter.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace rate_limiter_test {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int64_t kMs = 1'000'000;

std::vector<int64_t> TakeNs(RateLimiter& limiter, SimTime now, int times) {
  std::vector<int64_t> waits;
  for (int i = 0; i < times; ++i) waits.push_back(limiter.Take(now).ns());
  return waits;
}

TEST(RateLimiterTest, NoLimit) {
  RateLimiter limiter(0, 0);
  EXPECT_THAT(TakeNs(limiter, SimTime(), 1000), Each(0));
}

// kube-scheduler: 50 a second, 100 at a time.
TEST(RateLimiterTest, BurstThenOneByOne) {
  RateLimiter limiter(50, 100);
  EXPECT_THAT(TakeNs(limiter, SimTime(), 100), Each(0));
  EXPECT_THAT(TakeNs(limiter, SimTime(), 3), ElementsAre(20 * kMs, 40 * kMs, 60 * kMs));
  // 30 ms later one of the three has had its token, and half of the second's is there.
  EXPECT_THAT(TakeNs(limiter, SimTime(30 * kMs), 1), ElementsAre(50 * kMs));
}

// The driver library: 5 a second, 10 at a time.
TEST(RateLimiterTest, FillsUpAgainButNoFurther) {
  RateLimiter limiter(5, 10);
  EXPECT_THAT(TakeNs(limiter, SimTime(), 11).back(), 200 * kMs);
  // The token of the eleventh drips until 200 ms; the bucket is full 2 s later.
  EXPECT_THAT(TakeNs(limiter, SimTime(200 * kMs + 999 * kMs), 5), ElementsAre(0, 0, 0, 0, 1 * kMs));
  EXPECT_THAT(TakeNs(limiter, SimTime() + SimDuration::Seconds(3600), 10), Each(0));
  EXPECT_THAT(TakeNs(limiter, SimTime() + SimDuration::Seconds(3600), 1), ElementsAre(200 * kMs));
}

TEST(RateLimiterTest, PeriodsAreRoundedUp) {
  RateLimiter limiter(3, 1);
  EXPECT_THAT(TakeNs(limiter, SimTime(), 4),
              ElementsAre(0, 333'333'334, 666'666'668, 1'000'000'002));
  RateLimiter tenth(0.1, 1);
  EXPECT_THAT(TakeNs(tenth, SimTime(), 2), ElementsAre(0, 10 * kSecondNs));
}

TEST(RateLimiterTest, ExtremesDoNotOverflow) {
  RateLimiter slow(1e-30, INT64_MAX);
  EXPECT_EQ(slow.Take(SimTime()).ns(), 0);
  for (int i = 0; i < 20; ++i) EXPECT_GE(slow.Take(SimTime(i)).ns(), 0);
  RateLimiter fast(1e30, INT64_MAX);
  EXPECT_THAT(TakeNs(fast, SimTime(), 100), Each(0));
}

TEST(RateLimiterTest, EarlyAndLateClocks) {
  RateLimiter limiter(10, 2);
  EXPECT_THAT(TakeNs(limiter, SimTime(-kSecondNs), 3), ElementsAre(0, 0, 100 * kMs));
  const SimTime late(int64_t{1} << 60);
  EXPECT_THAT(TakeNs(limiter, late, 3), ElementsAre(0, 0, 100 * kMs));
}

// Level in nanoseconds of dripping, negative when tokens are owed.
class LevelBucket {
 public:
  LevelBucket(int64_t period_ns, int64_t burst)
      : period_ns_(period_ns), size_ns_(period_ns * burst), level_ns_(size_ns_) {}
  SimDuration Take(SimTime now) {
    level_ns_ = std::min(size_ns_, level_ns_ + (now - last_).ns());
    last_ = now;
    level_ns_ -= period_ns_;
    return SimDuration(std::max<int64_t>(0, -level_ns_));
  }

 private:
  int64_t period_ns_;
  int64_t size_ns_;
  int64_t level_ns_;
  SimTime last_;
};

TEST(RateLimiterTest, RandomTrafficAgainstLevelBucket) {
  for (uint64_t seed = 0; seed < SoakSeeds(60); ++seed) {
    Random random(seed, "rate limiter test");
    constexpr int64_t kRates[] = {1, 5, 10, 20, 50, 1000};
    const int64_t qps = kRates[random.Below(6)];
    const auto burst = static_cast<int64_t>(1 + random.Below(20));
    RateLimiter limiter(static_cast<double>(qps), burst);
    LevelBucket oracle(kSecondNs / qps, burst);
    SimTime now;
    std::vector<SimTime> grants;
    for (int i = 0; i < 300; ++i) {
      if (random.Bernoulli(1, 3)) {
        now = now + SimDuration(static_cast<int64_t>(
                        random.Below(4'000'000'000 / static_cast<uint64_t>(qps))));
      }
      const SimDuration wait = limiter.Take(now);
      ASSERT_EQ(wait.ns(), oracle.Take(now).ns()) << "seed " << seed << ", call " << i;
      grants.push_back(now + wait);
    }
    // In order, and never more than the burst and what has dripped meanwhile.
    EXPECT_TRUE(std::is_sorted(grants.begin(), grants.end())) << "seed " << seed;
    for (size_t first = 0; first < grants.size(); ++first) {
      for (size_t last = first; last < grants.size(); ++last) {
        const int64_t dripped = (grants[last] - grants[first]).ns() / (kSecondNs / qps);
        ASSERT_LE(static_cast<int64_t>(last - first + 1), burst + dripped) << "seed " << seed;
      }
    }
  }
}

TEST(RateLimiterDeathTest, BadOptions) {
  EXPECT_DEATH(RateLimiter(-1, 1), "CHECK failed");
  EXPECT_DEATH(RateLimiter(1, 0), "CHECK failed");
}

}  // namespace rate_limiter_test
}  // namespace drasim
