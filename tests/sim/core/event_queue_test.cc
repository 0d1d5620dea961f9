// One conformance suite for the queue and for a naive oracle on std::set, random histories that
// drive both side by side, and what only the real queue has: checkpoints, sweeps, checks, a ladder.
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
#include "sim/core/event_ladder.h"
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
using Keys = std::vector<std::pair<int64_t, uint64_t>>;
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
  std::vector<Handles> handles;  // All events ever pushed, so that many are stale.
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

// ---- Large queues: distributions of times that stress the ladder in front of the heap, each
// against a naive oracle on std::set, and the ladder by itself. ----

EventQueue LoadedIntoEmpty(const std::string& bytes) {
  StateReader reader(bytes);
  EventQueue queue;
  queue.Load(reader);
  EXPECT_TRUE(reader.status().ok()) << reader.status().message();
  EXPECT_TRUE(reader.AtEnd());
  return queue;
}

// `ahead_ns`, which is not negative, after `now_ns`, but not after the end of time.
int64_t Ahead(int64_t now_ns, int64_t ahead_ns) {
  return now_ns > kMaxTime - ahead_ns ? kMaxTime : now_ns + ahead_ns;
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
    queue_ = LoadedIntoEmpty(bytes);
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
      // Changes of the other copy stay there.
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
  EventQueue resumed = LoadedIntoEmpty(Saved(original));
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

}  // namespace event_queue_test
}  // namespace drasim
