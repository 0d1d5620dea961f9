// One conformance suite for the queue and for a naive oracle on std::set, random histories that
// drive both side by side, and what only the real queue has: checkpoints, sweeps, checks.
#include "sim/core/event_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/core/event.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace event_queue_test {

constexpr int64_t kMinTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

// The contract, written as plainly as possible.
class NaiveQueue {
 public:
  uint64_t Push(SimTime time, EventRank rank, EventKind kind, uint32_t a, uint32_t b, uint64_t c) {
    Event event;
    event.time = time;
    event.rank = rank;
    event.kind = kind;
    event.a = a;
    event.b = b;
    event.c = c;
    event.sequence = ++last_sequence_;
    events_.insert(event);
    return event.sequence;
  }

  bool Cancel(uint64_t handle) {
    for (auto it = events_.begin(); it != events_.end(); ++it) {
      if (it->sequence == handle) {
        events_.erase(it);
        return true;
      }
    }
    return false;
  }

  Event Top() const { return *events_.begin(); }

  Event Pop() {
    const Event first = Top();
    events_.erase(events_.begin());
    return first;
  }

  bool empty() const { return events_.empty(); }
  size_t size() const { return events_.size(); }

 private:
  struct ByKey {
    bool operator()(const Event& x, const Event& y) const {
      return std::make_tuple(x.time.ns(), static_cast<int>(x.rank), x.sequence) <
             std::make_tuple(y.time.ns(), static_cast<int>(y.rank), y.sequence);
    }
  };

  std::set<Event, ByKey> events_;
  uint64_t last_sequence_ = 0;
};

// A generator with a fixed output on every platform (the SplitMix64 step).
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t bound) {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  uint64_t state_;
};

template <typename Queue>
uint64_t PushAt(Queue& queue, int64_t time_ns, EventRank rank, uint64_t id) {
  return queue.Push(SimTime(time_ns), rank, EventKind::kTimer, 0, 0, id);
}

// Pops everything and returns the ids in the order in which they came.
template <typename Queue>
std::vector<uint64_t> Drain(Queue& queue) {
  std::vector<uint64_t> ids;
  while (!queue.empty()) ids.push_back(queue.Pop().c);
  return ids;
}

using Ids = std::vector<uint64_t>;

std::string Saved(const EventQueue& queue) {
  StateWriter writer;
  queue.Save(writer);
  return writer.Release();
}

// Loads into a queue that is in use, and expects the bytes to be complete and valid.
EventQueue Loaded(const std::string& bytes) {
  StateReader reader(bytes);
  EventQueue queue;
  for (uint64_t id = 0; id < 9; ++id) PushAt(queue, 0, EventRank::kTimer, 987654321);
  queue.Pop();
  queue.Load(reader);
  EXPECT_TRUE(reader.status().ok()) << reader.status().message();
  EXPECT_TRUE(reader.AtEnd());
  return queue;
}

// ---- Both queues ----

template <typename Queue>
class EventQueueConformanceTest : public testing::Test {};

struct QueueNames {
  template <typename Queue>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Queue, EventQueue> ? "EventQueue" : "NaiveQueue";
  }
};

using Queues = testing::Types<EventQueue, NaiveQueue>;
TYPED_TEST_SUITE(EventQueueConformanceTest, Queues, QueueNames);

TYPED_TEST(EventQueueConformanceTest, ReturnsEveryFieldOfAnEvent) {
  TypeParam queue;
  const uint64_t handle = queue.Push(SimTime(-5), EventRank::kIntentDone, EventKind::kIntentDone,
                                     4000000000U, 7, 0xfedcba9876543210U);
  const Event top = queue.Top();
  const Event popped = queue.Pop();
  for (const Event& event : {top, popped}) {
    EXPECT_EQ(event.time.ns(), -5);
    EXPECT_EQ(event.rank, EventRank::kIntentDone);
    EXPECT_EQ(event.sequence, handle);
    EXPECT_EQ(event.kind, EventKind::kIntentDone);
    EXPECT_EQ(event.a, 4000000000U);
    EXPECT_EQ(event.b, 7U);
    EXPECT_EQ(event.c, 0xfedcba9876543210U);
  }
  EXPECT_NE(handle, 0U);
}

TYPED_TEST(EventQueueConformanceTest, TopStaysUntilPopped) {
  TypeParam queue;
  PushAt(queue, 2, EventRank::kTimer, 2);
  PushAt(queue, 1, EventRank::kTimer, 1);
  EXPECT_EQ(queue.Top().c, 1U);
  EXPECT_EQ(queue.Top().c, 1U);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.Pop().c, 1U);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.Top().c, 2U);
  EXPECT_EQ(queue.Pop().c, 2U);
  EXPECT_TRUE(queue.empty());
}

TYPED_TEST(EventQueueConformanceTest, TimeDecidesThenRank) {
  TypeParam queue;
  for (uint64_t rank = kEventRankCount; rank-- > 0;) {
    PushAt(queue, 20, static_cast<EventRank>(rank), rank);
  }
  PushAt(queue, 21, EventRank::kNodeChange, 100);
  PushAt(queue, 19, EventRank::kScheduling, 200);
  EXPECT_EQ(Drain(queue), (Ids{200, 0, 1, 2, 3, 4, 5, 6, 100}));
}

TYPED_TEST(EventQueueConformanceTest, EqualsAreFirstInFirstOut) {
  TypeParam queue;
  Ids expected;
  for (uint64_t id = 0; id < 1000; ++id) {
    PushAt(queue, 3, EventRank::kArrival, id);
    expected.push_back(id);
  }
  // Popping one and pushing it again moves it behind its equals, though it reuses storage of an
  // older one.
  for (uint64_t id = 0; id < 300; ++id) {
    EXPECT_EQ(queue.Pop().c, id);
    PushAt(queue, 3, EventRank::kArrival, id);
  }
  std::rotate(expected.begin(), expected.begin() + 300, expected.end());
  EXPECT_EQ(Drain(queue), expected);
}

TYPED_TEST(EventQueueConformanceTest, AcceptsTheExtremesOfTime) {
  TypeParam queue;
  PushAt(queue, kMaxTime, EventRank::kScheduling, 5);
  PushAt(queue, kMaxTime, EventRank::kNodeChange, 4);
  PushAt(queue, 0, EventRank::kTimer, 3);
  PushAt(queue, -1, EventRank::kTimer, 2);
  PushAt(queue, kMinTime, EventRank::kTimer, 1);
  EXPECT_EQ(Drain(queue), (Ids{1, 2, 3, 4, 5}));
}

TYPED_TEST(EventQueueConformanceTest, AcceptsATimeBeforeThePopped) {
  TypeParam queue;
  PushAt(queue, 10, EventRank::kTimer, 10);
  PushAt(queue, 20, EventRank::kTimer, 20);
  EXPECT_EQ(queue.Pop().c, 10U);
  PushAt(queue, 5, EventRank::kTimer, 5);
  EXPECT_EQ(Drain(queue), (Ids{5, 20}));
}

TYPED_TEST(EventQueueConformanceTest, CancelRemovesExactlyOne) {
  TypeParam queue;
  const uint64_t first = PushAt(queue, 1, EventRank::kTimer, 1);
  PushAt(queue, 2, EventRank::kTimer, 2);
  const uint64_t third = PushAt(queue, 2, EventRank::kTimer, 3);
  PushAt(queue, 2, EventRank::kTimer, 4);
  EXPECT_TRUE(queue.Cancel(third));
  EXPECT_FALSE(queue.Cancel(third));
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.Top().c, 1U);
  EXPECT_TRUE(queue.Cancel(first));
  EXPECT_EQ(queue.Top().c, 2U);
  EXPECT_EQ(Drain(queue), (Ids{2, 4}));
}

TYPED_TEST(EventQueueConformanceTest, IsUsableAgainAfterItsLastEventWasCancelled) {
  TypeParam queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_TRUE(queue.Cancel(PushAt(queue, 1, EventRank::kTimer, 1)));
  EXPECT_TRUE(queue.empty());
  PushAt(queue, 0, EventRank::kTimer, 2);
  PushAt(queue, 2, EventRank::kTimer, 3);
  EXPECT_EQ(Drain(queue), (Ids{2, 3}));
}

TYPED_TEST(EventQueueConformanceTest, CancelRefusesWhatIsNotPending) {
  TypeParam queue;
  EXPECT_FALSE(queue.Cancel(0));
  EXPECT_FALSE(queue.Cancel(1));
  const uint64_t popped = PushAt(queue, 1, EventRank::kTimer, 1);
  queue.Pop();
  EXPECT_FALSE(queue.Cancel(popped));
  // The next event may live where the popped one lived; the old handle must not reach it.
  const uint64_t next = PushAt(queue, 2, EventRank::kTimer, 2);
  EXPECT_FALSE(queue.Cancel(popped));
  EXPECT_FALSE(queue.Cancel(0));
  EXPECT_FALSE(queue.Cancel(std::numeric_limits<uint64_t>::max()));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_TRUE(queue.Cancel(next));
}

TYPED_TEST(EventQueueConformanceTest, Sorts200000EventsAroundCancellations) {
  constexpr uint64_t kEvents = 200000;
  // Few and first, because the naive queue's Cancel walks over all events.
  constexpr uint64_t kCancelled = 20;
  TestRandom random(4);
  TypeParam queue;
  std::vector<std::tuple<int64_t, EventRank, uint64_t>> expected;  // Ids grow with the pushes.
  std::vector<uint64_t> handles;
  for (uint64_t id = 0; id < kEvents; ++id) {
    const auto time_ns = static_cast<int64_t>(random.Below(50000));
    const auto rank = static_cast<EventRank>(random.Below(kEventRankCount));
    handles.push_back(PushAt(queue, time_ns, rank, id));
    if (id >= kCancelled) expected.emplace_back(time_ns, rank, id);
  }
  for (size_t i = 0; i < kCancelled; ++i) EXPECT_TRUE(queue.Cancel(handles[i]));
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(queue.size(), expected.size());
  for (const auto& want : expected) {
    const Event event = queue.Pop();
    ASSERT_TRUE(std::make_tuple(event.time.ns(), event.rank, event.c) == want);
  }
  EXPECT_TRUE(queue.empty());
}

// ---- The queue against the oracle ----

struct Mix {
  uint64_t seed;
  int64_t span_ns;  // New events lie this far ahead at most; small spans make many equal keys.
  uint64_t push_percent;  // The rest after push and pop is cancellations.
  uint64_t pop_percent;
  uint64_t restart_period;  // Steps between restarts from a checkpoint; 0 is never.
};

void ExpectSameEvent(const Event& event, const Event& want) {
  EXPECT_EQ(event.time.ns(), want.time.ns());
  EXPECT_EQ(event.rank, want.rank);
  EXPECT_EQ(event.kind, want.kind);
  EXPECT_EQ(event.a, want.a);
  EXPECT_EQ(event.b, want.b);
  EXPECT_EQ(event.c, want.c);
}

void RunAgainstOracle(const Mix& mix) {
  SCOPED_TRACE(testing::Message() << "seed " << mix.seed);
  constexpr uint64_t kSteps = 12000;
  struct Handles {
    uint64_t queue;
    uint64_t oracle;
  };
  TestRandom random(mix.seed);
  EventQueue queue;
  NaiveQueue oracle;
  std::vector<Handles> handles;  // Of all events ever pushed, so that many are stale.
  int64_t now_ns = 0;
  for (uint64_t step = 1; step <= kSteps && !testing::Test::HasFailure(); ++step) {
    const uint64_t dice = random.Below(100);
    if (dice < mix.push_percent || handles.empty()) {
      const SimTime time(
          now_ns + static_cast<int64_t>(random.Below(static_cast<uint64_t>(mix.span_ns) + 1)));
      const auto rank = static_cast<EventRank>(random.Below(kEventRankCount));
      const auto kind = static_cast<EventKind>(random.Below(kEventKindCount));
      const auto a = static_cast<uint32_t>(random.Below(uint64_t{1} << 32));
      const auto b = static_cast<uint32_t>(random.Below(10));
      const uint64_t last = handles.empty() ? 0 : handles.back().queue;
      handles.push_back(Handles{queue.Push(time, rank, kind, a, b, step),
                                oracle.Push(time, rank, kind, a, b, step)});
      EXPECT_GT(handles.back().queue, last);
    } else if (dice < mix.push_percent + mix.pop_percent) {
      if (oracle.empty()) continue;
      const Event event = queue.Pop();
      ExpectSameEvent(event, oracle.Pop());
      now_ns = event.time.ns();
    } else {
      // Mostly recent handles, which are likely to be pending still.
      const uint64_t back = random.Below(std::min<uint64_t>(handles.size(), 400));
      const Handles& chosen = handles[handles.size() - 1 - back];
      EXPECT_EQ(queue.Cancel(chosen.queue), oracle.Cancel(chosen.oracle));
      EXPECT_LE(queue.tombstones(), std::max<size_t>(queue.size(), 63));
    }
    EXPECT_EQ(queue.size(), oracle.size());
    if (random.Below(4) == 0 && !oracle.empty()) ExpectSameEvent(queue.Top(), oracle.Top());
    if (mix.restart_period != 0 && step % mix.restart_period == 0) queue = Loaded(Saved(queue));
  }
  while (!oracle.empty() && !testing::Test::HasFailure()) {
    ASSERT_FALSE(queue.empty());
    ExpectSameEvent(queue.Pop(), oracle.Pop());
  }
  EXPECT_EQ(queue.size(), oracle.size());
}

TEST(EventQueueOracleTest, GrowingAndShrinking) {
  for (uint64_t seed = 1; seed <= SoakSeeds(4); ++seed) {
    RunAgainstOracle(Mix{seed, 1000000, 55, 43, 0});
    RunAgainstOracle(Mix{seed + 10, 1000000, 49, 49, 0});
  }
}

TEST(EventQueueOracleTest, ManyEqualKeys) {
  for (uint64_t seed = 20; seed < 20 + SoakSeeds(4); ++seed) {
    RunAgainstOracle(Mix{seed, 0, 52, 43, 0});
    RunAgainstOracle(Mix{seed + 10, 3, 52, 43, 0});
  }
}

TEST(EventQueueOracleTest, ManyCancellations) {
  for (uint64_t seed = 40; seed < 44; ++seed) {
    RunAgainstOracle(Mix{seed, 1000, 50, 10, 0});
    RunAgainstOracle(Mix{seed + 10, 100000, 40, 5, 0});
  }
}

TEST(EventQueueOracleTest, RestartsFromCheckpoints) {
  for (uint64_t seed = 60; seed < 64; ++seed) {
    RunAgainstOracle(Mix{seed, 100, 50, 30, 97});
    RunAgainstOracle(Mix{seed + 10, 100000, 54, 44, 501});
  }
}

// ---- Tombstones ----

TEST(EventQueueTest, TombstonesAreSweptAndCounted) {
  EventQueue queue;
  std::vector<uint64_t> handles;
  for (uint64_t id = 0; id < 1000; ++id) {
    handles.push_back(PushAt(queue, static_cast<int64_t>(id), EventRank::kTimer, id));
  }
  for (size_t i = 500; i < 1000; ++i) EXPECT_TRUE(queue.Cancel(handles[i]));
  EXPECT_EQ(queue.size(), 500U);
  EXPECT_EQ(queue.tombstones(), 500U);
  // One more and they are the majority.
  EXPECT_TRUE(queue.Cancel(handles[0]));
  EXPECT_EQ(queue.size(), 499U);
  EXPECT_EQ(queue.tombstones(), 0U);
  Ids expected;
  for (uint64_t id = 1; id < 500; ++id) expected.push_back(id);
  EXPECT_EQ(Drain(queue), expected);
}

TEST(EventQueueTest, SweepsRightAfterAPop) {
  EventQueue queue;
  std::vector<uint64_t> handles;
  for (uint64_t id = 0; id < 200; ++id) {
    handles.push_back(PushAt(queue, static_cast<int64_t>(id % 10), EventRank::kTimer, id));
  }
  EXPECT_EQ(queue.Pop().c, 0U);
  for (size_t i = 1; i < 198; ++i) EXPECT_TRUE(queue.Cancel(handles[i]));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_LE(queue.tombstones(), 63U);
  EXPECT_FALSE(queue.Cancel(handles[0]));
  EXPECT_EQ(Drain(queue), (Ids{198, 199}));
}

TEST(EventQueueTest, CancelledTimersDoNotPileUp) {
  EventQueue queue;
  PushAt(queue, kMaxTime, EventRank::kScheduling, 0);
  for (int64_t i = 0; i < 100000; ++i) {
    const uint64_t handle = PushAt(queue, 1000000 - i, EventRank::kTimer, 1);
    EXPECT_TRUE(queue.Cancel(handle));
    ASSERT_LE(queue.tombstones(), 63U);
  }
  EXPECT_EQ(Drain(queue), (Ids{0}));
}

// ---- Checkpoints ----

// A history with pops, cancellations, tombstones and free slots. When `peek`, Top is called all the
// time, which changes the heap's layout and nothing else.
EventQueue QueueWithHistory(bool peek) {
  TestRandom random(7);
  EventQueue queue;
  std::vector<uint64_t> handles;
  for (uint64_t id = 0; id < 600; ++id) {
    const auto time_ns = static_cast<int64_t>(random.Below(100));
    const auto rank = static_cast<EventRank>(random.Below(kEventRankCount));
    handles.push_back(PushAt(queue, time_ns, rank, id));
    if (random.Below(3) == 0) queue.Pop();
    if (random.Below(4) == 0) queue.Cancel(handles[random.Below(handles.size())]);
    if (peek && !queue.empty()) queue.Top();
  }
  queue.Pop();
  if (peek) queue.Top();
  return queue;
}

TEST(EventQueueStateTest, BytesDoNotDependOnTheHeapsLayout) {
  const EventQueue plain = QueueWithHistory(false);
  const EventQueue peeked = QueueWithHistory(true);
  ASSERT_GT(plain.size(), 100U);
  EXPECT_EQ(Saved(plain), Saved(peeked));
  EXPECT_EQ(Saved(plain), Saved(Loaded(Saved(plain))));
}

TEST(EventQueueStateTest, AResumedQueueContinuesExactlyLikeTheOriginal) {
  EventQueue original = QueueWithHistory(false);
  EventQueue resumed = Loaded(Saved(original));
  TestRandom random(8);
  std::vector<uint64_t> handles;
  for (uint64_t id = 1000; id < 2000; ++id) {
    const auto time_ns = static_cast<int64_t>(random.Below(200));
    const uint64_t handle = PushAt(original, time_ns, EventRank::kArrival, id);
    ASSERT_EQ(PushAt(resumed, time_ns, EventRank::kArrival, id), handle);
    handles.push_back(handle);
    if (random.Below(2) == 0) {
      const Event event = original.Pop();
      const Event same = resumed.Pop();
      ASSERT_EQ(event.sequence, same.sequence);
      ASSERT_EQ(event.c, same.c);
    }
    if (random.Below(5) == 0) {
      const uint64_t victim = handles[random.Below(handles.size())];
      ASSERT_EQ(original.Cancel(victim), resumed.Cancel(victim));
    }
  }
  EXPECT_EQ(Saved(original), Saved(resumed));
  EXPECT_EQ(Drain(original), Drain(resumed));
}

TEST(EventQueueStateTest, EveryTruncationIsAnErrorAndLeavesAnEmptyQueue) {
  EventQueue source;
  PushAt(source, 1000000, EventRank::kTimer, 1);
  PushAt(source, 1, EventRank::kArrival, 1000);
  source.Pop();
  const std::string bytes = Saved(source);
  for (size_t n = 0; n < bytes.size(); ++n) {
    StateReader reader(absl::string_view(bytes).substr(0, n));
    EventQueue queue;
    PushAt(queue, 1, EventRank::kTimer, 1);
    queue.Load(reader);
    EXPECT_FALSE(reader.status().ok()) << n;
    EXPECT_TRUE(queue.empty()) << n;
  }
}

// A checkpoint written by hand: by default two pending events and a free slot, three pushes so far.
struct RawQueue {
  struct RawEvent {
    int64_t time_ns;
    uint64_t rank;
    uint64_t sequence;
    uint64_t kind;
    uint64_t a;
    uint64_t b;
    uint64_t c;
  };

  static uint64_t Sequence(uint64_t push, uint64_t slot) {
    return (push << EventQueue::kSlotBits) | slot;
  }

  uint64_t next_push = 4;
  std::vector<uint32_t> free_slots = {1};
  std::vector<RawEvent> events = {RawEvent{-7, 4, Sequence(3, 2), 0, 7, 8, 9},
                                  RawEvent{9, 5, Sequence(1, 0), 4, 1, 2, 3}};

  std::string Bytes() const {
    StateWriter writer;
    writer.Section("event_queue");
    writer.U64(next_push);
    writer.Ints(free_slots);
    writer.U64(events.size());
    for (const RawEvent& event : events) {
      writer.I64(event.time_ns);
      for (const uint64_t word :
           {event.rank, event.sequence, event.kind, event.a, event.b, event.c}) {
        writer.U64(word);
      }
    }
    return writer.Release();
  }
};

TEST(EventQueueStateTest, WritesLiveEventsInKeyOrder) {
  EventQueue queue;
  queue.Push(SimTime(9), EventRank::kTimer, EventKind::kTimer, 1, 2, 3);
  const uint64_t gone = queue.Push(SimTime(5), EventRank::kTimer, EventKind::kTimer, 4, 5, 6);
  queue.Push(SimTime(-7), EventRank::kArrival, EventKind::kPodArrival, 7, 8, 9);
  ASSERT_TRUE(queue.Cancel(gone));
  EXPECT_EQ(Saved(queue), RawQueue().Bytes());
  EventQueue loaded = Loaded(RawQueue().Bytes());
  EXPECT_FALSE(loaded.Cancel(gone));
  EXPECT_EQ(Drain(loaded), (Ids{9, 3}));
}

TEST(EventQueueStateTest, LoadRefusesWhatSaveCannotHaveWritten) {
  struct Case {
    void (*spoil)(RawQueue& raw);
    absl::string_view error;
  };
  constexpr uint64_t kTooWide = uint64_t{1} << 32;
  const std::vector<Case> cases = {
      {[](RawQueue& raw) { raw.events[0].rank = kEventRankCount; }, "event 0 has a field out of"},
      {[](RawQueue& raw) { raw.events[1].kind = kEventKindCount; }, "event 1 has a field out of"},
      {[](RawQueue& raw) { raw.events[0].a = kTooWide; }, "event 0 has a field out of range"},
      {[](RawQueue& raw) { raw.events[0].b = kTooWide; }, "event 0 has a field out of range"},
      {[](RawQueue& raw) { raw.next_push = 0; }, "next push number 0 is out of range"},
      {[](RawQueue& raw) { raw.next_push = EventQueue::kMaxPushes + 2; }, "is out of range"},
      {[](RawQueue& raw) { raw.next_push = 3; }, "event 0 has a sequence never handed out"},
      {[](RawQueue& raw) { raw.events[1].sequence = RawQueue::Sequence(0, 0); },
       "event 1 has a sequence never handed out"},
      {[](RawQueue& raw) { raw.events[1].sequence = RawQueue::Sequence(1, 3); },
       "event 1 has no slot of its own"},
      {[](RawQueue& raw) { raw.events[1].sequence = RawQueue::Sequence(1, 2); },
       "event 1 has no slot of its own"},
      {[](RawQueue& raw) { raw.free_slots = {0}; }, "free slot 0 is not free"},
      {[](RawQueue& raw) { raw.free_slots.push_back(1); }, "free slot 1 is not free"},
      {[](RawQueue& raw) { raw.free_slots = {5}; }, "free slot 5 is not free"},
      {[](RawQueue& raw) { std::swap(raw.events[0], raw.events[1]); }, "event 1 is out of order"},
  };
  for (const Case& test_case : cases) {
    SCOPED_TRACE(testing::Message() << test_case.error);
    RawQueue raw;
    test_case.spoil(raw);
    const std::string bytes = raw.Bytes();
    StateReader reader(bytes);
    EventQueue queue;
    queue.Load(reader);
    EXPECT_EQ(reader.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(absl::StrContains(reader.status().message(), test_case.error))
        << reader.status().message();
    EXPECT_TRUE(queue.empty());
  }
}

// ---- Programming errors ----

TEST(EventQueueDeathTest, AnEmptyQueueHasNoFirstEvent) {
  EventQueue queue;
  EXPECT_DEATH(queue.Top(), "CHECK failed");
  EXPECT_DEATH(queue.Pop(), "CHECK failed");
  const uint64_t handle = PushAt(queue, 1, EventRank::kTimer, 1);
  queue.Cancel(handle);
  EXPECT_DEATH(queue.Pop(), "CHECK failed");
}

}  // namespace event_queue_test
}  // namespace drasim
