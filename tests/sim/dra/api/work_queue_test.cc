// The work queue: upstream's tests (client-go util/workqueue: queue_test, default_rate_limiters
// test), by their names where they apply to a queue without threads, and random use against sets.
#include "sim/dra/api/work_queue.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/rate_limiter.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace work_queue_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Key = WorkQueue::Key;
constexpr int64_t kMs = 1'000'000;

std::vector<Key> GetAll(WorkQueue& queue) {
  std::vector<Key> keys;
  while (const std::optional<Key> key = queue.Get()) keys.push_back(*key);
  return keys;
}

// TestBasic: everything that is added comes out, once and in order.
TEST(WorkQueueTest, TestBasic) {
  WorkQueue queue(10);
  for (const Key key : {7u, 3u, 7u, 5u, 3u}) queue.Add(key);
  EXPECT_EQ(queue.waiting(), 3u);
  EXPECT_THAT(GetAll(queue), ElementsAre(7, 3, 5));
  EXPECT_EQ(queue.busy(), 3);
  for (const Key key : {3u, 5u, 7u}) queue.Done(key);
  EXPECT_EQ(queue.busy(), 0);
  EXPECT_THAT(GetAll(queue), IsEmpty());
}

// TestAddWhileProcessing: what is added meanwhile comes again, once, when it is done with.
TEST(WorkQueueTest, TestAddWhileProcessing) {
  WorkQueue queue(10);
  queue.Add(1);
  ASSERT_THAT(GetAll(queue), ElementsAre(1));
  queue.Add(1);
  queue.Add(1);
  queue.Add(2);
  EXPECT_TRUE(queue.IsBusy(1));
  EXPECT_THAT(GetAll(queue), ElementsAre(2)) << "1 is in work";
  queue.Done(1);
  EXPECT_FALSE(queue.IsBusy(1));
  EXPECT_THAT(GetAll(queue), ElementsAre(1));
  queue.Done(1);
  queue.Done(2);
  EXPECT_THAT(GetAll(queue), IsEmpty());
}

// TestLen
TEST(WorkQueueTest, TestLen) {
  WorkQueue queue(1);
  queue.Add(1);
  EXPECT_EQ(queue.waiting(), 1u);
  queue.Add(2);
  EXPECT_EQ(queue.waiting(), 2u);
  queue.Add(1);
  EXPECT_EQ(queue.waiting(), 2u);
}

// TestReinsert
TEST(WorkQueueTest, TestReinsert) {
  WorkQueue queue(1);
  queue.Add(1);
  EXPECT_EQ(queue.Get(), std::optional<Key>(1));
  queue.Add(1);
  queue.Done(1);
  EXPECT_EQ(queue.Get(), std::optional<Key>(1));
  queue.Done(1);
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(WorkQueueTest, AtMostSoManyWorkers) {
  WorkQueue queue(2);
  for (const Key key : {1u, 2u, 3u}) queue.Add(key);
  EXPECT_TRUE(queue.CanGet());
  EXPECT_THAT(GetAll(queue), ElementsAre(1, 2));
  EXPECT_FALSE(queue.CanGet());
  queue.Done(2);
  EXPECT_TRUE(queue.CanGet());
  EXPECT_THAT(GetAll(queue), ElementsAre(3));
}

std::vector<int64_t> DelaysMs(WorkQueue& queue, Key key, int times) {
  std::vector<int64_t> delays;
  for (int i = 0; i < times; ++i) {
    delays.push_back(queue.DelayAfterFailure(key, SimTime()).ns() / kMs);
  }
  return delays;
}

// TestItemExponentialFailureRateLimiter, with the delays of controllers.
TEST(WorkQueueTest, TestItemExponentialFailureRateLimiter) {
  WorkQueue queue(10);
  EXPECT_THAT(DelaysMs(queue, 1, 5), ElementsAre(5, 10, 20, 40, 80));
  EXPECT_THAT(DelaysMs(queue, 2, 2), ElementsAre(5, 10));
  queue.Forget(1);
  EXPECT_THAT(DelaysMs(queue, 1, 1), ElementsAre(5));
  EXPECT_THAT(DelaysMs(queue, 2, 1), ElementsAre(20));
}

// TestItemExponentialFailureRateLimiterOverFlow
TEST(WorkQueueTest, TestItemExponentialFailureRateLimiterOverFlow) {
  WorkQueue queue(10);
  const std::vector<int64_t> delays = DelaysMs(queue, 1, 70);
  EXPECT_EQ(delays[16], 327'680);
  EXPECT_EQ(delays[17], 655'360);
  for (size_t i = 18; i < delays.size(); ++i) EXPECT_EQ(delays[i], 1'000'000) << i;
}

// TestMaxOfRateLimiter: the bucket, once it is empty, holds back what would not wait itself.
TEST(WorkQueueTest, TestMaxOfRateLimiter) {
  WorkQueue queue(10);
  for (Key key = 0; key < 100; ++key) ASSERT_THAT(DelaysMs(queue, key, 1), ElementsAre(5)) << key;
  EXPECT_THAT(DelaysMs(queue, 1000, 3), ElementsAre(100, 200, 300));
  // The bucket also counts those whose own backoff is longer.
  WorkQueue other(10);
  EXPECT_EQ(DelaysMs(other, 1, 105).back(), 1'000'000);
  EXPECT_THAT(DelaysMs(other, 2, 1), ElementsAre(600));
}

TEST(WorkQueueTest, ClearForgetsEverything) {
  WorkQueue queue(2);
  DelaysMs(queue, 1, 200);
  for (const Key key : {1u, 2u, 3u}) queue.Add(key);
  GetAll(queue);
  queue.Add(1);
  queue.Clear();
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(queue.busy(), 0);
  EXPECT_FALSE(queue.IsBusy(1));
  EXPECT_THAT(DelaysMs(queue, 1, 1), ElementsAre(5));
  queue.Add(1);
  EXPECT_THAT(GetAll(queue), ElementsAre(1));
}

TEST(WorkQueueDeathTest, DoneWithoutGet) {
  WorkQueue queue(1);
  queue.Add(1);
  EXPECT_DEATH(queue.Done(1), "CHECK failed");
  EXPECT_DEATH(queue.Done(2), "CHECK failed");
}

// The same with the sets that upstream keeps: dirty, in work, and a list.
struct SetQueue {
  int workers = 1;
  std::set<Key> dirty;
  std::set<Key> processing;
  std::deque<Key> list;
  std::map<Key, int> failures;
  RateLimiter bucket{10, 100};

  void Add(Key key) {
    if (!dirty.insert(key).second) return;
    if (processing.count(key) == 0) list.push_back(key);
  }
  std::optional<Key> Get() {
    if (list.empty() || static_cast<int>(processing.size()) >= workers) return std::nullopt;
    const Key key = list.front();
    list.pop_front();
    dirty.erase(key);
    processing.insert(key);
    return key;
  }
  void Done(Key key) {
    processing.erase(key);
    if (dirty.count(key) != 0) list.push_back(key);
  }
  SimDuration Delay(Key key, SimTime now) {
    double ns = 5e6;
    for (int i = 0; i < failures[key] && ns < 1e12; ++i) ns *= 2;
    ++failures[key];
    return std::max(SimDuration(static_cast<int64_t>(std::min(ns, 1e12))), bucket.Take(now));
  }
};

TEST(WorkQueueTest, RandomUseAgainstSets) {
  for (uint64_t seed = 0; seed < SoakSeeds(100); ++seed) {
    Random random(seed, "work queue test");
    const int workers = static_cast<int>(1 + random.Below(4));
    WorkQueue queue(workers);
    SetQueue oracle;
    oracle.workers = workers;
    SimTime now;
    for (int step = 0; step < 500; ++step) {
      const std::string where = absl::StrCat("seed ", seed, ", step ", step);
      const Key key = random.Below(8);
      switch (random.Below(6)) {
        case 0:
        case 1:
          queue.Add(key);
          oracle.Add(key);
          break;
        case 2:
          ASSERT_EQ(queue.Get(), oracle.Get()) << where;
          break;
        case 3:
          if (oracle.processing.count(key) == 0) break;
          queue.Done(key);
          oracle.Done(key);
          break;
        case 4:
          now = now + SimDuration::Millis(static_cast<int64_t>(random.Below(300)));
          ASSERT_EQ(queue.DelayAfterFailure(key, now).ns(), oracle.Delay(key, now).ns()) << where;
          break;
        default:
          queue.Forget(key);
          oracle.failures.erase(key);
      }
      ASSERT_EQ(queue.waiting(), oracle.list.size()) << where;
      ASSERT_EQ(queue.busy(), static_cast<int>(oracle.processing.size())) << where;
      for (Key k = 0; k < 8; ++k) {
        ASSERT_EQ(queue.IsBusy(k), oracle.processing.count(k) != 0) << where << ", key " << k;
      }
    }
  }
}

}  // namespace work_queue_test
}  // namespace drasim
