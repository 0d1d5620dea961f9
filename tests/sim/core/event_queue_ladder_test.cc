// The event queue when it is large: distributions of times that stress the ladder in front of its
// heap, each against a naive oracle on std::set, and the ladder by itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/core/event.h"
#include "sim/core/event_ladder.h"
#include "sim/core/event_queue.h"

namespace drasim {
namespace event_queue_ladder_test {

constexpr int64_t kMinTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

// A generator with a fixed output on every platform (the SplitMix64 step).
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // A time in [0, bound).
  int64_t TimeBelow(int64_t bound) {
    return static_cast<int64_t>(Below(static_cast<uint64_t>(bound)));
  }

 private:
  uint64_t state_;
};

// `ahead_ns`, which is not negative, after `now_ns`, but not after the end of time.
int64_t Ahead(int64_t now_ns, int64_t ahead_ns) {
  return now_ns > kMaxTime - ahead_ns ? kMaxTime : now_ns + ahead_ns;
}

std::string Saved(const EventQueue& queue) {
  StateWriter writer;
  queue.Save(writer);
  return writer.Release();
}

EventQueue Loaded(const std::string& bytes) {
  StateReader reader(bytes);
  EventQueue queue;
  queue.Load(reader);
  EXPECT_TRUE(reader.status().ok()) << reader.status().message();
  EXPECT_TRUE(reader.AtEnd());
  return queue;
}

// Drives the queue and the oracle side by side. Ids count the pushes, so they order equal times and
// ranks as the queue's sequences do.
class Pair {
 public:
  void Push(int64_t time_ns, EventRank rank = EventRank::kTimer) {
    const uint64_t id = pushed_.size();
    const Entry entry(time_ns, rank, id);
    oracle_.insert(entry);
    pushed_.emplace_back(entry, queue_.Push(SimTime(time_ns), rank, EventKind::kTimer, 1, 2, id));
    ExpectSameSize();
  }

  // Returns the time of the event.
  int64_t Pop() {
    const Entry want = *oracle_.begin();
    oracle_.erase(oracle_.begin());
    if (failed_) return std::get<0>(want);
    const Event event = queue_.Pop();
    if (Entry(event.time.ns(), event.rank, event.c) != want) {
      Fail(testing::Message() << "popped event " << event.c << " at " << event.time.ns()
                              << " instead of " << std::get<2>(want) << " at "
                              << std::get<0>(want));
    }
    ExpectSameSize();
    return std::get<0>(want);
  }

  // The id may be of an event that is no longer there.
  void Cancel(uint64_t id) {
    const bool want = oracle_.erase(pushed_[id].first) == 1;
    if (queue_.Cancel(pushed_[id].second) != want) Fail(testing::Message() << "cancel " << id);
    if (queue_.tombstones() > std::max<size_t>(queue_.size(), 63)) {
      Fail(testing::Message() << queue_.tombstones() << " tombstones");
    }
    ExpectSameSize();
  }

  void Drain() {
    while (!oracle_.empty()) Pop();
    EXPECT_TRUE(failed_ || queue_.empty());
  }

  // Goes on with what a checkpoint restores.
  void Restart() {
    const std::string bytes = Saved(queue_);
    queue_ = Loaded(bytes);
    EXPECT_EQ(Saved(queue_), bytes);
  }

  size_t size() const { return oracle_.size(); }
  uint64_t pushes() const { return pushed_.size(); }

 private:
  using Entry = std::tuple<int64_t, EventRank, uint64_t>;

  // Only the first failure is of interest.
  void Fail(const testing::Message& message) {
    if (!failed_) ADD_FAILURE() << "after " << pushed_.size() << " pushes: " << message;
    failed_ = true;
  }
  void ExpectSameSize() {
    if (queue_.size() != oracle_.size()) {
      Fail(testing::Message() << queue_.size() << " events instead of " << oracle_.size());
    }
  }

  EventQueue queue_;
  std::set<Entry> oracle_;
  std::vector<std::pair<Entry, uint64_t>> pushed_;  // With handles, by id.
  bool failed_ = false;
};

// Pops the first event and pushes one at next(its time), again and again.
template <typename Next>
void Hold(Pair& pair, int steps, Next next) {
  for (int i = 0; i < steps; ++i) pair.Push(next(pair.Pop()));
}

// ---- Distributions ----

TEST(EventQueueLadderTest, UniformHold) {
  for (const int64_t span_ns : {int64_t{3000}, int64_t{1000000000}}) {
    TestRandom random(1);
    Pair pair;
    const auto next = [&](int64_t now_ns) { return Ahead(now_ns, random.TimeBelow(span_ns)); };
    for (int i = 0; i < 20000; ++i) pair.Push(next(0));
    Hold(pair, 60000, next);
    pair.Drain();
  }
}

TEST(EventQueueLadderTest, AllAtOneInstant) {
  for (const int64_t time_ns : {kMinTime, int64_t{-1}, int64_t{7}, kMaxTime}) {
    TestRandom random(2);
    Pair pair;
    const auto push = [&](int64_t at_ns) {
      pair.Push(at_ns, static_cast<EventRank>(random.Below(kEventRankCount)));
    };
    for (int i = 0; i < 9000; ++i) push(time_ns);
    for (int i = 0; i < 3000; ++i) pair.Pop();
    // Neighbours on both sides, where there are any.
    for (int i = 0; i < 3000; ++i) {
      push(time_ns);
      push(time_ns == kMinTime ? kMinTime : time_ns - 1);
      push(time_ns == kMaxTime ? kMaxTime : time_ns + 1);
    }
    pair.Drain();
  }
}

TEST(EventQueueLadderTest, HeavyTails) {
  // From the second start on, the longest steps are cut off at the end of time.
  for (const int64_t start_ns : {kMinTime, kMaxTime - 100000000000000000}) {
    TestRandom random(3);
    Pair pair;
    // From 1 ns to 1e18 ns, each decade as likely as the next.
    const auto next = [&](int64_t now_ns) {
      int64_t ahead_ns = 1 + random.TimeBelow(9);
      for (uint64_t zeros = random.Below(18); zeros > 0; --zeros) ahead_ns *= 10;
      return Ahead(now_ns, ahead_ns);
    };
    for (int i = 0; i < 20000; ++i) pair.Push(next(start_ns));
    Hold(pair, 40000, next);
    pair.Drain();
  }
}

TEST(EventQueueLadderTest, PowersOfTwoWithTies) {
  TestRandom random(4);
  Pair pair;
  const auto next = [&](int64_t now_ns) { return Ahead(now_ns, int64_t{1} << random.Below(50)); };
  for (int i = 0; i < 20000; ++i) pair.Push(next(0));
  Hold(pair, 60000, next);
  pair.Drain();
}

TEST(EventQueueLadderTest, PushesInOrder) {
  Pair pair;
  for (int64_t i = 0; i < 30000; ++i) {
    pair.Push(i / 3);
    if (i % 4 == 3) pair.Pop();
  }
  pair.Drain();
}

TEST(EventQueueLadderTest, PushesInReverse) {
  for (const int pop_period : {0, 2, 3}) {
    Pair pair;
    for (int i = 0; i < 60000; ++i) {
      pair.Push(-(int64_t{i} / 2));
      if (pop_period != 0 && i % pop_period == 0) pair.Pop();
    }
    pair.Drain();
  }
}

TEST(EventQueueLadderTest, PushesIntoThePast) {
  TestRandom random(5);
  Pair pair;
  for (int i = 0; i < 20000; ++i) pair.Push(random.TimeBelow(1000000));
  for (int i = 0; i < 40000; ++i) {
    const int64_t now_ns = pair.Pop();
    pair.Push(now_ns - random.TimeBelow(2000));
    if (i % 3 == 0) pair.Push(now_ns + random.TimeBelow(1000000));
  }
  pair.Drain();
}

TEST(EventQueueLadderTest, AlternatingBursts) {
  TestRandom random(6);
  Pair pair;
  int64_t now_ns = 0;
  for (int burst = 0; burst < 18; ++burst) {
    // Narrow and at hand, wide, or far away; every third time nearly all is popped again, so that
    // the ladder falls idle and comes back.
    const int64_t offset_ns = burst % 3 == 2 ? int64_t{1} << 50 : 0;
    const int64_t width_ns = burst % 2 == 0 ? 20 : 1000000000;
    for (int i = 0; i < 5000; ++i) {
      pair.Push(now_ns + offset_ns + random.TimeBelow(width_ns));
    }
    const size_t kept = burst % 3 == 1 ? size_t{5} : pair.size() / 3;
    while (pair.size() > kept) now_ns = pair.Pop();
  }
  pair.Drain();
}

TEST(EventQueueLadderTest, CrowdsBehindLoners) {
  TestRandom random(7);
  Pair pair;
  constexpr int64_t kStepNs = 1000000000000;
  for (int64_t i = 0; i < 40; ++i) {
    pair.Push(i * kStepNs);
    for (int k = 0; k < 400; ++k) pair.Push(i * kStepNs + kStepNs - 1 - random.TimeBelow(3));
  }
  pair.Push(kMaxTime);
  Hold(pair, 5000, [&](int64_t now_ns) { return now_ns + random.TimeBelow(3 * kStepNs); });
  pair.Drain();
}

TEST(EventQueueLadderTest, NegativeTimes) {
  TestRandom random(8);
  Pair pair;
  constexpr int64_t kStartNs = -2000000000;
  const auto next = [&](int64_t now_ns) { return now_ns + random.TimeBelow(1000000000); };
  for (int i = 0; i < 10000; ++i) pair.Push(next(kStartNs));
  Hold(pair, 60000, next);
  EXPECT_GT(pair.Pop(), 0);
  pair.Drain();
}

TEST(EventQueueLadderTest, TheWholeRangeOfTime) {
  const std::vector<int64_t> extremes = {kMinTime, kMinTime + 1, -1, 0, 1, kMaxTime - 1, kMaxTime};
  for (const uint64_t extreme_percent : {5U, 60U, 100U}) {
    TestRandom random(9);
    Pair pair;
    const auto any = [&](int64_t /*now_ns*/) {
      if (random.Below(100) < extreme_percent) return extremes[random.Below(extremes.size())];
      return static_cast<int64_t>(random.Next());
    };
    for (int i = 0; i < 15000; ++i) pair.Push(any(0));
    Hold(pair, 20000, any);
    pair.Drain();
  }
}

TEST(EventQueueLadderTest, TheTwoEndsOfTimeAlone) {
  Pair pair;
  for (int i = 0; i < 4000; ++i) pair.Push(i % 2 == 0 ? kMinTime : kMaxTime);
  for (int i = 0; i < 1000; ++i) pair.Pop();
  for (int i = 0; i < 4000; ++i) pair.Push(i % 2 == 0 ? kMinTime : kMaxTime);
  pair.Drain();
}

// ---- Cancellations and checkpoints ----

TEST(EventQueueLadderTest, CancelStorms) {
  TestRandom random(10);
  Pair pair;
  int64_t now_ns = 0;
  for (int storm = 0; storm < 8; ++storm) {
    const uint64_t first = pair.pushes();
    for (int i = 0; i < 8000; ++i) pair.Push(now_ns + random.TimeBelow(1000000));
    // From few to nearly all of them, at random, with pops between, so that the dead are met in the
    // heap, in rungs and in the top.
    for (int i = 0; i < 2000 * storm; ++i) {
      pair.Cancel(first + random.Below(pair.pushes() - first));
      if (i % 16 == 0 && pair.size() > 1) now_ns = pair.Pop();
      if (i % 16 == 8) pair.Push(now_ns + random.TimeBelow(2000000));
    }
  }
  pair.Drain();
}

TEST(EventQueueLadderTest, CancelsAllButTheLast) {
  Pair pair;
  for (int64_t i = 0; i < 10000; ++i) pair.Push(i * 1000);
  for (int i = 0; i < 100; ++i) pair.Pop();
  for (uint64_t id = 100; id < 9999; ++id) pair.Cancel(id);
  EXPECT_EQ(pair.size(), 1U);
  EXPECT_EQ(pair.Pop(), 9999000);
  for (int64_t i = 0; i < 5000; ++i) pair.Push(5000 - i);
  pair.Drain();
}

TEST(EventQueueLadderTest, RestartsInEveryPhase) {
  TestRandom random(11);
  Pair pair;
  int64_t now_ns = 0;
  const auto push = [&] { pair.Push(now_ns + random.TimeBelow(1000000)); };
  for (int i = 0; i < 9000; ++i) {
    push();
    if (i % 1021 == 0 || i == 2048 || i == 2049) pair.Restart();
  }
  for (int i = 0; i < 20000; ++i) {
    now_ns = pair.Pop();
    if (i % 1999 == 0) pair.Restart();  // With a vacant root.
    push();
    if (i % 2003 == 0) pair.Restart();
    if (i % 3 == 0) {
      pair.Cancel(random.Below(pair.pushes()));
      push();
    }
  }
  while (pair.size() > 0) {
    pair.Pop();
    if (pair.size() % 1009 == 0) pair.Restart();
  }
  push();
  pair.Drain();
}

// The same calls on several queues, of which one also calls Top after each of them, and one is
// copied now and then.
TEST(EventQueueLadderTest, TopAndCopiesChangeNothingThatCanBeSeen) {
  TestRandom random(12);
  EventQueue plain;
  EventQueue peeked;
  EventQueue copied;
  std::vector<uint64_t> handles;
  for (uint64_t i = 0; i < 30000; ++i) {
    const uint64_t dice = random.Below(100);
    if (dice < 60 || plain.empty()) {
      const SimTime time(random.TimeBelow(1 << 24));
      handles.push_back(plain.Push(time, EventRank::kTimer, EventKind::kTimer, 0, 0, i));
      for (EventQueue* queue : {&peeked, &copied}) {
        ASSERT_EQ(queue->Push(time, EventRank::kTimer, EventKind::kTimer, 0, 0, i), handles.back());
      }
    } else if (dice < 80) {
      const uint64_t sequence = plain.Pop().sequence;
      ASSERT_EQ(peeked.Pop().sequence, sequence);
      ASSERT_EQ(copied.Pop().sequence, sequence);
    } else {
      const uint64_t handle = handles[random.Below(handles.size())];
      const bool cancelled = plain.Cancel(handle);
      ASSERT_EQ(peeked.Cancel(handle), cancelled);
      ASSERT_EQ(copied.Cancel(handle), cancelled);
    }
    if (!peeked.empty()) peeked.Top();
    if (i % 1000 == 999) {
      EventQueue copy = copied;
      std::swap(copy, copied);
      // What happens to the other copy stays there.
      while (copy.size() > 50) copy.Pop();
    }
    if (i % 5000 == 4999) {
      const std::string bytes = Saved(plain);
      ASSERT_EQ(Saved(peeked), bytes);
      ASSERT_EQ(Saved(copied), bytes);
    }
  }
  EXPECT_GT(plain.size(), 3000U);
}

TEST(EventQueueLadderTest, AResumedLargeQueueContinuesExactlyLikeTheOriginal) {
  TestRandom random(13);
  EventQueue original;
  const auto push = [](EventQueue& queue, int64_t time_ns) {
    return queue.Push(SimTime(time_ns), EventRank::kArrival, EventKind::kTimer, 0, 0, 0);
  };
  for (int i = 0; i < 8000; ++i) push(original, random.TimeBelow(100000));
  for (int i = 0; i < 500; ++i) original.Pop();
  EventQueue resumed = Loaded(Saved(original));
  std::vector<uint64_t> handles;
  for (int i = 0; i < 12000; ++i) {
    const int64_t time_ns = random.TimeBelow(200000);
    handles.push_back(push(original, time_ns));
    ASSERT_EQ(push(resumed, time_ns), handles.back());
    ASSERT_EQ(original.Pop().sequence, resumed.Pop().sequence);
    if (i % 4 == 0) {
      const uint64_t victim = handles[random.Below(handles.size())];
      ASSERT_EQ(original.Cancel(victim), resumed.Cancel(victim));
    }
  }
  EXPECT_GT(original.size(), 3000U);
  EXPECT_EQ(Saved(original), Saved(resumed));
}

// ---- The ladder by itself ----

using Keys = std::vector<std::pair<int64_t, uint64_t>>;

Keys Sorted(const std::vector<EventKey>& keys) {
  Keys sorted;
  for (const EventKey& key : keys) sorted.emplace_back(key.time_ns, key.order);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// All keys in the ladder.
Keys Contents(const EventLadder& ladder) {
  std::vector<EventKey> keys;
  ladder.ForEach([&keys](const EventKey& key) { keys.push_back(key); });
  return Sorted(keys);
}

// Removes the keys that are near from the oracle and returns them in order.
Keys ExtractNear(const EventLadder& ladder, std::set<std::pair<int64_t, uint64_t>>* oracle) {
  Keys near_keys;
  while (!oracle->empty() && ladder.IsNear(oracle->begin()->first)) {
    near_keys.push_back(*oracle->begin());
    oracle->erase(oracle->begin());
  }
  return near_keys;
}

TEST(EventLadderTest, HandsOutExactlyTheNearKeysInSmallGroups) {
  TestRandom random(14);
  EventLadder ladder;
  std::set<std::pair<int64_t, uint64_t>> oracle;
  std::vector<EventKey> group;
  uint64_t order = 0;
  for (; order < 5000; ++order) {
    group.push_back(EventKey{random.TimeBelow(1000000000), order});
    oracle.emplace(group.back().time_ns, order);
  }
  ASSERT_TRUE(ladder.CanRegroup(oracle.begin()->first, group.size()));
  ladder.Regroup(&group);
  size_t groups = 0;
  while (!ladder.empty()) {
    ++groups;
    ASSERT_FALSE(group.empty());
    ASSERT_LE(group.size(), EventLadder::kFewKeys);
    ASSERT_EQ(Sorted(group), ExtractNear(ladder, &oracle));
    ASSERT_EQ(ladder.size(), oracle.size());
    if (groups % 64 == 0) {
      ASSERT_EQ(Contents(ladder), Keys(oracle.begin(), oracle.end()));
    }
    // Crowds and single keys, as long as not too many were pushed.
    const int64_t base_ns = oracle.begin()->first;
    const size_t count = groups % 50 == 0 ? 2000 : 10;
    for (size_t i = 0; i < count && order < 40000; ++i, ++order) {
      const int64_t time_ns = base_ns + random.TimeBelow(count == 10 ? 1000000000 : 5000);
      ladder.Push(EventKey{time_ns, order});
      oracle.emplace(time_ns, order);
    }
    ladder.TakeNext(&group);
  }
  EXPECT_EQ(order, 40000U);
  EXPECT_GT(groups, 1000U);
  EXPECT_EQ(Sorted(group), Keys(oracle.begin(), oracle.end()));
  EXPECT_TRUE(ladder.IsNear(kMaxTime));
}

TEST(EventLadderTest, AnInstantIsNeverCut) {
  EventLadder ladder;
  std::vector<EventKey> group;
  for (uint64_t order = 0; order < 3000; ++order) {
    group.push_back(EventKey{order < 1500 ? 5 : 6, order});
  }
  ladder.Regroup(&group);
  EXPECT_EQ(group.size(), 1500U);
  EXPECT_EQ(ladder.size(), 1500U);
  EXPECT_TRUE(ladder.IsNear(5));
  EXPECT_FALSE(ladder.IsNear(6));
  // There is nothing to be gained from keys that all lie at the border.
  EXPECT_FALSE(ladder.CanRegroup(5, 1500));
  EXPECT_TRUE(ladder.CanRegroup(4, 1500));
  ladder.TakeNext(&group);
  EXPECT_EQ(group.size(), 1500U);
  EXPECT_TRUE(ladder.empty());
  EXPECT_TRUE(ladder.IsNear(6));
  EXPECT_FALSE(ladder.IsNear(7));
}

TEST(EventLadderTest, FewKeysMakeEverythingNear) {
  EventLadder ladder;
  EXPECT_TRUE(ladder.IsNear(kMaxTime));
  EXPECT_FALSE(ladder.CanRegroup(kMaxTime, 3000));
  std::vector<EventKey> group;
  for (uint64_t order = 0; order < 3000; ++order) group.push_back(EventKey{1, order});
  ladder.Regroup(&group);
  for (uint64_t order = 0; order < EventLadder::kFewKeys; ++order) {
    ladder.Push(EventKey{kMaxTime - static_cast<int64_t>(order), order});
  }
  EXPECT_FALSE(ladder.IsNear(2));
  ladder.TakeNext(&group);
  EXPECT_EQ(group.size(), EventLadder::kFewKeys);
  EXPECT_TRUE(ladder.empty());
  EXPECT_TRUE(ladder.IsNear(kMaxTime));
}

TEST(EventLadderTest, KeepsOnlyWhatItIsToldTo) {
  TestRandom random(15);
  EventLadder ladder;
  std::vector<EventKey> group;
  for (uint64_t order = 0; order < 3000; ++order) {
    group.push_back(EventKey{random.TimeBelow(1 << 20), order});
  }
  ladder.Regroup(&group);
  for (uint64_t order = 3000; order < 6000; ++order) {
    ladder.Push(EventKey{(1 << 20) + random.TimeBelow(1 << 20), order});
  }
  Keys want = Contents(ladder);
  want.erase(
      std::remove_if(want.begin(), want.end(), [](const auto& key) { return key.second % 3 != 0; }),
      want.end());
  const bool one_is_near = ladder.IsNear(1);
  ladder.KeepIf([](const EventKey& key) { return key.order % 3 == 0; });
  EXPECT_EQ(Contents(ladder), want);
  EXPECT_EQ(ladder.size(), want.size());
  EXPECT_EQ(ladder.IsNear(1), one_is_near);
  Keys got;
  while (!ladder.empty()) {
    ladder.TakeNext(&group);
    const Keys sorted = Sorted(group);
    got.insert(got.end(), sorted.begin(), sorted.end());
  }
  EXPECT_EQ(got, want);
}

TEST(EventLadderDeathTest, RefusesNearKeysAndHasNothingToHandOutWhenEmpty) {
  EventLadder ladder;
  std::vector<EventKey> group;
  EXPECT_DEATH(ladder.Push(EventKey{0, 1}), "CHECK failed");
  EXPECT_DEATH(ladder.TakeNext(&group), "CHECK failed");
}

}  // namespace event_queue_ladder_test
}  // namespace drasim
