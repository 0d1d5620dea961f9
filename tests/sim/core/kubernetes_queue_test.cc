// The queue's rules one by one, and random histories.
#include "sim/core/kubernetes_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/priority_sort.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace kubernetes_queue_test {

using Pods = std::vector<uint32_t>;

constexpr uint64_t kFit = 1;
constexpr uint64_t kTaint = 2;

PodId Pod(uint32_t value) { return PodId(value); }
ShapeId Shape(uint32_t value) { return ShapeId(value); }
SimTime Sec(int64_t s) { return SimTime(s * kSecondNs); }
SimTime Ms(int64_t ms) { return SimTime(ms * 1'000'000); }

constexpr auto kAlways = [](ShapeId /*shape*/, uint64_t /*rejectors*/) { return true; };

Pods Drain(KubernetesQueue& queue, SimTime now) {
  Pods pods;
  while (queue.CanPop()) pods.push_back(queue.Pop(now).pod.value());
  return pods;
}

std::string Saved(const KubernetesQueue& queue) {
  StateWriter out;
  queue.Save(out);
  return out.Release();
}

// QueueSort of the youngest pod first, to see that the queue asks its plugin.
class NewestFirst : public QueueSortPlugin {
 public:
  absl::string_view name() const override { return "NewestFirst"; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    return a.sequence > b.sequence;
  }
};

// Calls most pods equal.
class EvenFirst : public QueueSortPlugin {
 public:
  absl::string_view name() const override { return "EvenFirst"; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    return a.pod.value() % 2 < b.pod.value() % 2;
  }
};

class KubernetesQueueTest : public testing::Test {
 protected:
  KubernetesQueue Make() const { return KubernetesQueue(&sort_, options_); }

  // A queue with one pod, popped at `now`.
  KubernetesQueue WithOneInFlight(SimTime now, QueuedPod* pod) const {
    KubernetesQueue queue = Make();
    queue.Add(Pod(0), Shape(0), 0, now);
    *pod = queue.Pop(now);
    return queue;
  }

  PrioritySort sort_;
  KubernetesQueueOptions options_;
};

// ---- Order ----

TEST_F(KubernetesQueueTest, PriorityThenTimeThenOrderOfEntry) {
  KubernetesQueue queue = Make();
  EXPECT_FALSE(queue.CanPop());
  queue.Add(Pod(1), Shape(0), 0, Ms(5));
  queue.Add(Pod(2), Shape(0), std::numeric_limits<int32_t>::max(), Ms(6));
  queue.Add(Pod(3), Shape(0), std::numeric_limits<int32_t>::min(), Ms(6));
  queue.Add(Pod(4), Shape(0), 0, Ms(6));
  queue.Add(Pod(5), Shape(0), 0, Ms(6));
  queue.Add(Pod(6), Shape(0), -1, Ms(7));
  queue.Add(Pod(7), Shape(0), 1, Ms(8));
  EXPECT_EQ(queue.active(), 7u);
  EXPECT_EQ(queue.waiting(), 7u);
  EXPECT_EQ(Drain(queue, Ms(9)), (Pods{2, 7, 1, 4, 5, 6, 3}));
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST_F(KubernetesQueueTest, PopReturnsWhatWasAdded) {
  KubernetesQueue queue = Make();
  queue.Add(Pod(8), Shape(3), -3, Ms(11));
  const QueuedPod pod = queue.Pop(Ms(20));
  EXPECT_EQ(pod.pod, Pod(8));
  EXPECT_EQ(pod.priority, -3);
  EXPECT_EQ(pod.queued_at, Ms(11));
}

TEST_F(KubernetesQueueTest, TheOrderIsThePlugins) {
  const NewestFirst sort{};
  KubernetesQueue queue(&sort, options_);
  for (uint32_t i = 0; i < 20; ++i)
    queue.Add(Pod(i), Shape(0), static_cast<int32_t>(i % 2), Sec(i));
  Pods expected;
  for (uint32_t i = 20; i-- > 0;) expected.push_back(i);
  EXPECT_EQ(Drain(queue, Sec(20)), expected);
}

TEST_F(KubernetesQueueTest, AMovedPodKeepsTheTimeOfItsFailure) {
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  queue.Return(pod, Shape(0), kFit, false, Sec(1));
  queue.Add(Pod(1), Shape(0), 0, Sec(2));
  EXPECT_EQ(queue.OnEvent(kAlways, Sec(20)), 1u);
  EXPECT_EQ(queue.active(), 2u);
  const QueuedPod again = queue.Pop(Sec(21));
  EXPECT_EQ(again.pod, Pod(0));
  EXPECT_EQ(again.queued_at, Sec(1));
  EXPECT_GT(again.sequence, pod.sequence);
}

// ---- The gate ----

// PreEnqueue is asked whenever a pod would become active, and again when it may have changed.
TEST_F(KubernetesQueueTest, TheGateIsAskedOnEachWayToActive) {
  bool open = true;
  KubernetesQueue queue = Make();
  queue.set_gate([&open](PodId) { return open; });
  queue.Add(Pod(0), Shape(0), 0, Sec(0));
  const QueuedPod pod = queue.Pop(Sec(0));
  open = false;
  queue.Return(pod, Shape(0), kFit, false, Sec(0));
  EXPECT_EQ(queue.OnEvent(kAlways, Sec(20)), 1u);
  EXPECT_EQ(queue.active(), 0u);
  EXPECT_EQ(queue.gated(), 1u);
  EXPECT_EQ(queue.waiting(), 1u);
  EXPECT_FALSE(queue.CanPop());
  // Neither time nor events open it.
  EXPECT_EQ(queue.OnEvent(kAlways, Sec(21)), 0u);
  EXPECT_EQ(queue.FlushUnschedulable(Sec(600)), 0u);
  queue.Recheck(Pod(0), Sec(601));
  EXPECT_EQ(queue.gated(), 1u);
  open = true;
  queue.Recheck(Pod(0), Sec(602));
  EXPECT_EQ(queue.gated(), 0u);
  EXPECT_EQ(queue.Pop(Sec(602)).pod, Pod(0));
  EXPECT_EQ(queue.CountsOf(Pod(0)).attempts, 2u);  // its past counts on
  // Activate asks, too; and a gated pod can be deleted.
  queue.Return(pod, Shape(0), kFit, false, Sec(602));
  open = false;
  EXPECT_TRUE(queue.Activate(Pod(0), Sec(603)));
  EXPECT_EQ(queue.gated(), 1u);
  KubernetesQueue copy = Make();
  const std::string saved = Saved(queue);
  StateReader in(saved);
  EXPECT_EQ(copy.Load(in), absl::OkStatus());
  EXPECT_EQ(copy.gated(), 1u);
  EXPECT_TRUE(queue.Remove(Pod(0)));
  EXPECT_EQ(queue.waiting(), 0u);
}

// ---- Backoff ----

// An event helps two pods in their backoff: one may skip it. A pod whose backoff is over is not
// asked, and a timeout asks nobody.
TEST_F(KubernetesQueueTest, PodsThatMaySkipTheirBackoff) {
  options_.pop_from_backoff = false;
  KubernetesQueue queue(&sort_, options_);
  for (uint32_t i = 0; i < 3; ++i) {
    const SimTime failed = i == 0 ? Sec(0) : Sec(9);
    queue.Add(Pod(i), Shape(0), 0, failed);
    const QueuedPod pod = queue.Pop(failed);
    queue.Return(pod, Shape(0), kFit, false, failed);
  }
  Pods asked;
  const auto skips = [&asked](PodId pod) {
    asked.push_back(pod.value());
    return pod == Pod(1);
  };
  EXPECT_EQ(queue.OnEvent(kAlways, skips, Sec(9)), 3u);
  EXPECT_EQ(asked, (Pods{1, 2}));
  EXPECT_EQ(queue.active(), 2u);
  EXPECT_EQ(queue.backoff(), 1u);
}

TEST_F(KubernetesQueueTest, BackoffDoublesUpToItsMaximum) {
  for (const bool pop_from_backoff : {true, false}) {
    options_.pop_from_backoff = pop_from_backoff;
    KubernetesQueue queue = Make();
    queue.Add(Pod(0), Shape(0), 0, Sec(0));
    int64_t now_s = 0;
    for (const int64_t backoff_s : {1, 2, 4, 8, 10, 10, 10}) {
      queue.Return(queue.Pop(Sec(now_s)), Shape(0), kFit, true, Sec(now_s));
      EXPECT_EQ(queue.backoff(), 1u);
      EXPECT_TRUE(queue.NeedsBackoffTimer());
      // The second in which the backoff ends must be over.
      const int64_t tick_s = now_s + backoff_s + 1;
      EXPECT_EQ(queue.NextBackoffTick(Sec(now_s)), Sec(tick_s)) << backoff_s;
      EXPECT_EQ(queue.FlushBackoff(Sec(tick_s - 1)), 0u);
      EXPECT_EQ(queue.NextBackoffTick(Sec(tick_s)), Sec(tick_s));
      EXPECT_EQ(queue.FlushBackoff(Sec(tick_s)), 1u);
      EXPECT_FALSE(queue.NeedsBackoffTimer());
      EXPECT_EQ(queue.active(), 1u);
      now_s = tick_s;
    }
  }
}

TEST_F(KubernetesQueueTest, ManyFailuresDoNotOverflow) {
  options_.initial_backoff = SimDuration(1);
  options_.max_backoff = SimDuration::Seconds(100'000'000);
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  for (int i = 0; i < 80; ++i) {
    queue.ReturnToActive(pod, Shape(0), kFit, Sec(0));
    pod = queue.Pop(Sec(0));
  }
  queue.Return(pod, Shape(0), kFit, true, Sec(0));
  EXPECT_EQ(queue.NextBackoffTick(Sec(0)), Sec(100'000'001));
}

TEST_F(KubernetesQueueTest, ABackoffLastsUntilItsSecondIsOver) {
  struct Row {
    bool pop_from_backoff;
    SimTime event;
    bool over;
  };
  // The pod fails at 10.3 s, for the first time.
  const Row kRows[] = {
      {true, Ms(10300), false},  {true, Ms(11999), false},  {true, Sec(12), true},
      {false, Ms(10300), false}, {false, Ms(11300), false}, {false, SimTime(11'300'000'001), true},
  };
  for (const Row& row : kRows) {
    options_.pop_from_backoff = row.pop_from_backoff;
    QueuedPod pod;
    KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
    queue.Return(pod, Shape(0), kFit, false, Ms(10300));
    EXPECT_EQ(queue.unschedulable(), 1u);
    EXPECT_EQ(queue.OnEvent(kAlways, row.event), 1u);
    EXPECT_EQ(queue.unschedulable(), 0u);
    EXPECT_EQ(queue.active(), row.over ? 1u : 0u) << row.event.ns();
    EXPECT_EQ(queue.backoff(), row.over ? 0u : 1u) << row.event.ns();
    if (row.over) continue;
    EXPECT_EQ(queue.NextBackoffTick(row.event), Sec(12));
    EXPECT_EQ(queue.FlushBackoff(Sec(12)), 1u);
  }
}

TEST_F(KubernetesQueueTest, OptionsOfBackoff) {
  QueuedPod pod;
  options_.max_backoff = SimDuration(0);
  KubernetesQueue none = WithOneInFlight(Ms(10300), &pod);
  none.Return(pod, Shape(0), 0, false, Ms(10300));
  EXPECT_EQ(none.active(), 1u);

  // A backoff of no length ends in the second of the failure, and still blocks it.
  options_.max_backoff = SimDuration::Seconds(10);
  options_.initial_backoff = SimDuration(0);
  KubernetesQueue empty = WithOneInFlight(Ms(10300), &pod);
  empty.Return(pod, Shape(0), kFit, true, Ms(10300));
  EXPECT_EQ(empty.backoff(), 1u);
  EXPECT_EQ(empty.NextBackoffTick(Ms(10300)), Sec(11));

  options_.initial_backoff = SimDuration::Seconds(60);
  KubernetesQueue cut = WithOneInFlight(Ms(10300), &pod);
  cut.Return(pod, Shape(0), kFit, true, Ms(10300));
  EXPECT_EQ(cut.NextBackoffTick(Ms(10300)), Sec(21));
}

TEST_F(KubernetesQueueTest, ErrorsBackOffApart) {
  KubernetesQueue queue = Make();
  queue.Add(Pod(0), Shape(0), 0, Sec(0));
  struct Row {
    uint64_t rejectors;
    int64_t failed_s;
    int64_t tick_s;
  };
  // Errors in a row count on their own; a rejection ends the row, and counts all rejections.
  const Row kRows[] = {{0, 0, 2}, {0, 2, 5}, {kFit, 5, 7}, {0, 7, 9}, {kFit, 9, 12}, {0, 12, 14}};
  for (const Row& row : kRows) {
    const SimTime now = Sec(row.failed_s);
    queue.Return(queue.Pop(now), Shape(0), row.rejectors, true, now);
    EXPECT_EQ(queue.backoff(), 1u);
    // Only a pod without an error may be popped early.
    EXPECT_EQ(queue.CanPop(), row.rejectors != 0);
    EXPECT_EQ(queue.NextBackoffTick(now), Sec(row.tick_s));
    EXPECT_EQ(queue.FlushBackoff(Sec(row.tick_s)), 1u);
  }
  const KubernetesQueue::Counts counts = queue.CountsOf(Pod(0));
  EXPECT_EQ(counts.attempts, 6u);
  EXPECT_EQ(counts.unschedulable, 2u);
  EXPECT_EQ(counts.consecutive_errors, 1u);
}

TEST_F(KubernetesQueueTest, AnErrorWaitsForNoEvent) {
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  queue.Return(pod, Shape(0), 0, false, Sec(0));
  EXPECT_EQ(queue.unschedulable(), 0u);
  EXPECT_EQ(queue.backoff(), 1u);
}

// Pods 1, 2 and 3 with the priorities 0, 5 and 9; the backoff of 3 ends a second later.
void FillBackoff(KubernetesQueue& queue) {
  queue.Add(Pod(1), Shape(0), 0, Sec(0));
  queue.Add(Pod(2), Shape(0), 5, Sec(0));
  queue.Add(Pod(3), Shape(0), 9, Sec(0));
  const QueuedPod three = queue.Pop(Sec(0));
  const QueuedPod two = queue.Pop(Sec(0));
  const QueuedPod one = queue.Pop(Sec(0));
  queue.Return(one, Shape(0), kFit, true, Ms(100));
  queue.Return(two, Shape(0), kFit, true, Ms(900));
  queue.Return(three, Shape(0), kFit, true, Ms(1100));
}

TEST_F(KubernetesQueueTest, PopsFromBackoffWhenNothingIsActive) {
  KubernetesQueue queue = Make();
  FillBackoff(queue);
  queue.Add(Pod(4), Shape(0), -1, Ms(1100));
  EXPECT_EQ(queue.active(), 1u);
  EXPECT_EQ(queue.backoff(), 3u);
  EXPECT_EQ(queue.Pop(Ms(1200)).pod, Pod(4));
  EXPECT_EQ(queue.Pop(Ms(1200)).pod, Pod(2));
  EXPECT_EQ(queue.NextBackoffTick(Ms(1200)), Sec(2));
  EXPECT_EQ(queue.Pop(Ms(1200)).pod, Pod(1));
  EXPECT_EQ(queue.NextBackoffTick(Ms(1200)), Sec(3));
  EXPECT_EQ(queue.Pop(Ms(1200)).pod, Pod(3));
  EXPECT_FALSE(queue.CanPop());
}

TEST_F(KubernetesQueueTest, NeedNotPopFromBackoff) {
  options_.pop_from_backoff = false;
  KubernetesQueue queue = Make();
  FillBackoff(queue);
  EXPECT_EQ(queue.backoff(), 3u);
  EXPECT_FALSE(queue.CanPop());
  EXPECT_EQ(queue.FlushBackoff(Sec(2)), 2u);
  EXPECT_EQ(Drain(queue, Sec(2)), (Pods{2, 1}));
  EXPECT_EQ(queue.FlushBackoff(Sec(3)), 1u);
  EXPECT_EQ(Drain(queue, Sec(3)), (Pods{3}));
}

// ---- Events and leftovers ----

TEST_F(KubernetesQueueTest, EventsAskOncePerShapeAndRejectors) {
  KubernetesQueue queue = Make();
  for (uint32_t i = 0; i < 12; ++i) queue.Add(Pod(i), Shape(0), 0, Sec(0));
  for (uint32_t i = 0; i < 12; ++i) {
    const uint64_t rejectors = i % 3 == 0 ? kFit : (kFit | kTaint);
    queue.Return(queue.Pop(Sec(0)), Shape(i % 2), rejectors, false, Sec(0));
  }
  std::vector<std::pair<uint32_t, uint64_t>> asked;
  const auto helps = [&asked](ShapeId shape, uint64_t rejectors) {
    asked.emplace_back(shape.value(), rejectors);
    return shape == Shape(1) && (rejectors & kTaint) != 0;
  };
  EXPECT_EQ(queue.OnEvent(helps, Sec(5)), 4u);
  std::sort(asked.begin(), asked.end());
  const std::vector<std::pair<uint32_t, uint64_t>> expected = {
      {0, kFit}, {0, kFit | kTaint}, {1, kFit}, {1, kFit | kTaint}};
  EXPECT_EQ(asked, expected);
  EXPECT_EQ(queue.unschedulable(), 8u);
  EXPECT_EQ(Drain(queue, Sec(5)), (Pods{1, 5, 7, 11}));
  asked.clear();
  EXPECT_EQ(queue.OnEvent(helps, Sec(6)), 0u);
  EXPECT_EQ(asked.size(), 3u);
}

TEST_F(KubernetesQueueTest, LeftoversAreFlushed) {
  KubernetesQueue queue = Make();
  queue.Add(Pod(0), Shape(0), 0, Sec(0));
  queue.Add(Pod(1), Shape(0), 0, Sec(0));
  EXPECT_FALSE(queue.NeedsFlushTimer());
  queue.Return(queue.Pop(Sec(1)), Shape(0), kFit, false, Sec(1));
  queue.Return(queue.Pop(Sec(30)), Shape(0), kFit, false, Sec(30));
  EXPECT_TRUE(queue.NeedsFlushTimer());
  EXPECT_EQ(queue.NextFlushTick(Sec(31)), Sec(330));
  EXPECT_EQ(queue.FlushUnschedulable(Sec(300)), 0u);
  EXPECT_EQ(queue.NextFlushTick(Sec(330)), Sec(330));
  // Five minutes exactly are not enough for the second.
  EXPECT_EQ(queue.FlushUnschedulable(Sec(330)), 1u);
  EXPECT_EQ(Drain(queue, Sec(330)), (Pods{0}));
  EXPECT_EQ(queue.NextFlushTick(Sec(330)), Sec(360));
  EXPECT_EQ(queue.FlushUnschedulable(Sec(360)), 1u);
  EXPECT_EQ(queue.active(), 1u);
  EXPECT_FALSE(queue.NeedsFlushTimer());
}

TEST_F(KubernetesQueueTest, LeftoversMayStillBackOff) {
  options_.initial_backoff = SimDuration::Seconds(1000);
  options_.max_backoff = SimDuration::Seconds(1000);
  options_.unschedulable_flush = SimDuration::Seconds(0);
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  queue.Return(pod, Shape(0), kFit, false, Sec(60));
  EXPECT_EQ(queue.NextFlushTick(Sec(60)), Sec(90));
  EXPECT_EQ(queue.FlushUnschedulable(Sec(60)), 0u);
  EXPECT_EQ(queue.FlushUnschedulable(Sec(90)), 1u);
  EXPECT_EQ(queue.backoff(), 1u);
  EXPECT_EQ(queue.NextBackoffTick(Sec(90)), Sec(1061));
}

// ---- Removal and activation ----

// One pod in each place: 0 active, 1 backoff, 2 error backoff, 3 unschedulable, 4 in flight.
void FillEveryPlace(KubernetesQueue& queue) {
  for (uint32_t i = 1; i <= 4; ++i) queue.Add(Pod(i), Shape(0), 0, Sec(0));
  queue.Return(queue.Pop(Sec(0)), Shape(0), kFit, true, Sec(0));
  queue.Return(queue.Pop(Sec(0)), Shape(0), 0, true, Sec(0));
  queue.Return(queue.Pop(Sec(0)), Shape(0), kFit, false, Sec(0));
  EXPECT_EQ(queue.Pop(Sec(0)).pod, Pod(4));
  queue.Add(Pod(0), Shape(0), 0, Sec(0));
}

TEST_F(KubernetesQueueTest, RemovesFromEveryPlaceButFlight) {
  KubernetesQueue queue = Make();
  FillEveryPlace(queue);
  EXPECT_EQ(queue.waiting(), 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(queue.Remove(Pod(i)));
    EXPECT_FALSE(queue.Remove(Pod(i)));
    EXPECT_EQ(queue.waiting(), 3 - i);
  }
  EXPECT_FALSE(queue.Remove(Pod(4)));
  EXPECT_FALSE(queue.Remove(Pod(99)));
  EXPECT_FALSE(queue.NeedsBackoffTimer());
  EXPECT_FALSE(queue.NeedsFlushTimer());
  EXPECT_FALSE(queue.CanPop());
  queue.Forget(Pod(4));
  queue.Forget(Pod(4));
  queue.Forget(Pod(99));
  for (uint32_t i = 0; i < 5; ++i) {
    queue.Add(Pod(i), Shape(0), 0, Sec(1));
    EXPECT_EQ(queue.CountsOf(Pod(i)).attempts, 0u);
  }
  EXPECT_EQ(Drain(queue, Sec(1)), (Pods{0, 1, 2, 3, 4}));
}

TEST_F(KubernetesQueueTest, ActivationIgnoresBackoff) {
  KubernetesQueue queue = Make();
  FillEveryPlace(queue);
  EXPECT_FALSE(queue.Activate(Pod(0), Sec(0)));
  EXPECT_FALSE(queue.Activate(Pod(4), Sec(0)));
  EXPECT_FALSE(queue.Activate(Pod(99), Sec(0)));
  for (uint32_t i = 3; i > 0; --i) EXPECT_TRUE(queue.Activate(Pod(i), Sec(0)));
  EXPECT_EQ(queue.active(), 4u);
  EXPECT_EQ(queue.waiting(), 4u);
  // Each is queued since its failure; pod 0 came last.
  EXPECT_EQ(Drain(queue, Sec(0)), (Pods{1, 2, 3, 0}));
}

// As an event does that helps this pod alone: the backoff stays.
TEST_F(KubernetesQueueTest, AnEventOfOnePodMovesThatPodOnly) {
  options_.pop_from_backoff = false;
  KubernetesQueue queue = Make();
  for (uint32_t p = 0; p < 3; ++p) queue.Add(Pod(p), Shape(0), 0, Sec(0));
  for (uint32_t p = 0; p < 3; ++p) queue.Return(queue.Pop(Sec(0)), Shape(0), kFit, false, Sec(0));
  ASSERT_EQ(queue.unschedulable(), 3u);
  // Still backing off.
  EXPECT_TRUE(queue.OnPodEvent(Pod(1), Ms(500)));
  EXPECT_EQ(queue.unschedulable(), 2u);
  EXPECT_EQ(queue.backoff(), 1u);
  EXPECT_FALSE(queue.OnPodEvent(Pod(1), Ms(500)));
  EXPECT_FALSE(queue.OnPodEvent(Pod(7), Ms(500)));
  // Long over.
  EXPECT_TRUE(queue.OnPodEvent(Pod(2), Sec(60)));
  EXPECT_EQ(Drain(queue, Sec(60)), Pods({2}));
  EXPECT_EQ(queue.unschedulable(), 1u);
}

// An updated pod is asked about as it is now, in its old place in time.
TEST_F(KubernetesQueueTest, AnUpdateChangesTheShapeOfAWaitingPod) {
  KubernetesQueue queue = Make();
  for (uint32_t pod = 0; pod < 4; ++pod) {
    const SimTime now = Sec(20 * pod);
    const ShapeId shape = Shape(pod == 1 ? 1 : 2);
    queue.Add(Pod(pod), shape, 0, now);
    queue.Return(queue.Pop(now), shape, kFit, false, now);
  }
  uint64_t asked = 0;
  const auto no = [&asked](uint64_t rejectors) {
    asked = rejectors;
    return false;
  };
  queue.OnUpdate(Pod(1), Shape(2), no, Sec(80));
  EXPECT_EQ(asked, kFit);
  EXPECT_EQ(queue.unschedulable(), 4u);
  queue.OnUpdate(Pod(9), Shape(2), no, Sec(80));  // unknown
  std::vector<uint32_t> shapes;
  queue.OnEvent(
      [&shapes](ShapeId shape, uint64_t) {
        shapes.push_back(shape.value());
        return false;
      },
      Sec(80));
  EXPECT_EQ(shapes, std::vector<uint32_t>{2});
  // The oldest are flushed first, and pod 1 is the second oldest.
  EXPECT_EQ(queue.FlushUnschedulable(Sec(330)), 2u);
  EXPECT_EQ(Drain(queue, Sec(330)), (Pods{0, 1}));
}

TEST_F(KubernetesQueueTest, AnUpdateMovesAPodThatItHelps) {
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  const auto yes = [](uint64_t) { return true; };
  queue.OnUpdate(Pod(0), Shape(1), yes, Sec(0));
  EXPECT_EQ(queue.unschedulable(), 0u);
  EXPECT_EQ(queue.active(), 0u) << "it is in flight";
  queue.Return(pod, Shape(1), kFit, false, Sec(0));
  queue.OnUpdate(Pod(0), Shape(2), yes, Sec(100));
  EXPECT_EQ(queue.active(), 1u) << "its backoff is over";
}

TEST_F(KubernetesQueueTest, ReturnToActiveCountsTheFailure) {
  QueuedPod pod;
  KubernetesQueue queue = WithOneInFlight(Sec(0), &pod);
  queue.ReturnToActive(pod, Shape(0), kFit, Ms(1300));
  EXPECT_EQ(queue.active(), 1u);
  pod = queue.Pop(Ms(1300));
  EXPECT_EQ(pod.queued_at, Ms(1300));
  EXPECT_EQ(queue.CountsOf(Pod(0)).unschedulable, 1u);
  queue.Return(pod, Shape(0), kFit, true, Ms(1300));
  EXPECT_EQ(queue.NextBackoffTick(Ms(1300)), Sec(4));
}

// Most of a thousand pods in one place are removed, so that their remains are swept.
TEST_F(KubernetesQueueTest, MassRemovalLeavesTheOrder) {
  const EvenFirst even_first{};
  for (const QueueSortPlugin* sort : {static_cast<const QueueSortPlugin*>(&sort_),
                                      static_cast<const QueueSortPlugin*>(&even_first)}) {
    for (int place = 0; place < 3; ++place) {
      KubernetesQueue queue(sort, options_);
      for (uint32_t i = 0; i < 1000; ++i) queue.Add(Pod(i), Shape(0), 0, Sec(0));
      std::vector<QueuedPod> popped;
      while (place > 0 && queue.CanPop()) popped.push_back(queue.Pop(Sec(0)));
      for (const QueuedPod& pod : popped) queue.Return(pod, Shape(0), kFit, place == 1, Sec(0));
      Pods expected;
      for (uint32_t i = 0; i < 1000; ++i) {
        if (i % 100 == 0 || i % 100 == 51) {
          expected.push_back(i);
        } else {
          EXPECT_TRUE(queue.Remove(Pod(i)));
        }
      }
      EXPECT_EQ(queue.waiting(), 20u);
      if (place == 2) {
        EXPECT_EQ(queue.OnEvent(kAlways, Sec(1)), 20u);
      }
      if (sort != &sort_) {
        std::stable_sort(expected.begin(), expected.end(),
                         [](uint32_t a, uint32_t b) { return a % 2 < b % 2; });
      }
      EXPECT_EQ(Drain(queue, Sec(1)), expected) << place;
    }
  }
}

// ---- Checkpoints ----

TEST_F(KubernetesQueueTest, DamagedCheckpointsAreRefused) {
  KubernetesQueue queue = Make();
  FillEveryPlace(queue);
  const std::string bytes = Saved(queue);
  for (size_t length = 0; length < bytes.size(); ++length) {
    KubernetesQueue damaged = Make();
    damaged.Add(Pod(7), Shape(0), 0, Sec(0));
    StateReader in(absl::string_view(bytes).substr(0, length));
    EXPECT_FALSE(damaged.Load(in).ok()) << length;
    EXPECT_EQ(damaged.waiting(), 0u) << length;
  }
  KubernetesQueue whole = Make();
  StateReader in(bytes);
  EXPECT_TRUE(whole.Load(in).ok());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(Saved(whole), bytes);
}

// ---- Misuse by callers ----

using KubernetesQueueDeathTest = KubernetesQueueTest;
using Asked = std::vector<std::pair<uint32_t, uint64_t>>;

TEST_F(KubernetesQueueDeathTest, Misuse) {
  KubernetesQueue queue = Make();
  FillEveryPlace(queue);
  QueuedPod waiting;
  waiting.pod = Pod(3);
  EXPECT_DEATH(queue.Add(Pod(4), Shape(0), 0, Sec(1)), "CHECK failed");
  EXPECT_DEATH(queue.Return(waiting, Shape(0), kFit, false, Sec(1)), "CHECK failed");
  EXPECT_DEATH(queue.Forget(Pod(3)), "CHECK failed");
  EXPECT_DEATH(queue.FlushBackoff(Ms(1500)), "CHECK failed");
  EXPECT_DEATH(queue.CountsOf(Pod(99)), "CHECK failed");
  queue.Add(Pod(5), Shape(0), 0, Sec(1));
  EXPECT_DEATH(queue.Pop(Ms(999)), "CHECK failed");
}

// ---- Random histories: the queue beside a naive oracle whose timers run at every tick, and beside
// a second queue that goes through checkpoints. ----

// The rules over one list of pods, each looked at in every step.
class NaiveQueue {
 public:
  enum class Place { kInFlight, kActive, kBackoff, kErrorBackoff, kUnschedulable };
  struct Pod {
    QueuedPod queued;
    ShapeId shape;
    uint64_t rejectors = 0;
    uint32_t attempts = 0;
    uint32_t unschedulable = 0;
    uint32_t errors = 0;
    int64_t expiry_ns = 0;
    Place place = Place::kActive;
  };

  NaiveQueue(const QueueSortPlugin* sort, const KubernetesQueueOptions& options)
      : sort_(sort), options_(options) {}

  void Add(PodId id, ShapeId shape, int32_t priority, SimTime now) {
    Pod pod;
    pod.queued.pod = id;
    pod.queued.priority = priority;
    pod.shape = shape;
    Stamp(&pod, now);
    pods.push_back(pod);
  }

  bool CanPop() const {
    return Count(Place::kActive) > 0 || (options_.pop_from_backoff && Count(Place::kBackoff) > 0);
  }

  QueuedPod Pop() {
    const Place place = Count(Place::kActive) > 0 ? Place::kActive : Place::kBackoff;
    Pod* first = nullptr;
    for (Pod& pod : pods) {
      if (pod.place == place && (first == nullptr || IsBefore(pod, *first))) first = &pod;
    }
    first->place = Place::kInFlight;
    ++first->attempts;
    return first->queued;
  }

  // REQUIRES: the pod is in flight.
  void Return(PodId id, ShapeId shape, uint64_t rejectors, bool moved_since, SimTime now) {
    Pod& pod = *Find(id);
    Fail(&pod, shape, rejectors, now);
    if (rejectors != 0 && !moved_since) {
      pod.place = Place::kUnschedulable;
    } else {
      AfterBackoff(&pod, now);
    }
  }

  void ReturnToActive(PodId id, ShapeId shape, uint64_t rejectors, SimTime now) {
    Fail(Find(id), shape, rejectors, now);
    Find(id)->place = Place::kActive;
  }

  bool Activate(PodId id) {
    Pod* pod = Find(id);
    if (pod == nullptr || pod->place == Place::kInFlight || pod->place == Place::kActive) {
      return false;
    }
    pod->place = Place::kActive;
    return true;
  }

  template <typename Helps>
  size_t OnEvent(Helps helps, SimTime now) {
    size_t moved = 0;
    for (Pod& pod : pods) {
      if (pod.place != Place::kUnschedulable || !helps(pod.shape, pod.rejectors)) continue;
      AfterBackoff(&pod, now);
      ++moved;
    }
    return moved;
  }

  size_t FlushBackoff(SimTime now) {
    size_t moved = 0;
    for (Pod& pod : pods) {
      const bool waits = pod.place == Place::kBackoff || pod.place == Place::kErrorBackoff;
      if (!waits || BacksOff(pod, now)) continue;
      pod.place = Place::kActive;
      ++moved;
    }
    return moved;
  }

  size_t FlushUnschedulable(SimTime now) {
    size_t moved = 0;
    for (Pod& pod : pods) {
      if (pod.place != Place::kUnschedulable) continue;
      if (now - pod.queued.queued_at <= options_.unschedulable_flush) continue;
      AfterBackoff(&pod, now);
      ++moved;
    }
    return moved;
  }

  bool Remove(PodId id) {
    const Pod* pod = Find(id);
    if (pod == nullptr || pod->place == Place::kInFlight) return false;
    Forget(id);
    return true;
  }

  void Forget(PodId id) { pods.erase(pods.begin() + (Find(id) - pods.data())); }

  Pod* Find(PodId id) {
    for (Pod& pod : pods) {
      if (pod.queued.pod == id) return &pod;
    }
    return nullptr;
  }

  size_t Count(Place place) const {
    return static_cast<size_t>(std::count_if(
        pods.begin(), pods.end(), [place](const Pod& pod) { return pod.place == place; }));
  }

  std::vector<Pod> pods;

 private:
  // Times are not negative here.
  int64_t Cut(int64_t ns) const {
    return options_.pop_from_backoff ? ns / kSecondNs * kSecondNs : ns;
  }

  void Stamp(Pod* pod, SimTime now) {
    pod->queued.queued_at = now;
    pod->queued.sequence = next_sequence_++;
  }

  bool IsBefore(const Pod& a, const Pod& b) const {
    if (a.place == Place::kBackoff && a.expiry_ns != b.expiry_ns) {
      return a.expiry_ns < b.expiry_ns;
    }
    if (sort_->Less(a.queued, b.queued)) return true;
    if (sort_->Less(b.queued, a.queued)) return false;
    return a.queued.sequence < b.queued.sequence;
  }

  void Fail(Pod* pod, ShapeId shape, uint64_t rejectors, SimTime now) {
    if (rejectors == 0) {
      ++pod->errors;
    } else {
      ++pod->unschedulable;
      pod->errors = 0;
    }
    pod->shape = shape;
    pod->rejectors = rejectors;
    Stamp(pod, now);
    const int64_t max_ns = options_.max_backoff.ns();
    int64_t backoff_ns = std::min(options_.initial_backoff.ns(), max_ns);
    for (uint32_t i = 1; i < (pod->errors > 0 ? pod->errors : pod->unschedulable); ++i) {
      backoff_ns = std::min(2 * backoff_ns, max_ns);
    }
    pod->expiry_ns = Cut(now.ns() + backoff_ns);
  }

  bool BacksOff(const Pod& pod, SimTime now) const {
    return options_.max_backoff.ns() > 0 && pod.expiry_ns >= Cut(now.ns());
  }

  void AfterBackoff(Pod* pod, SimTime now) {
    if (!BacksOff(*pod, now)) {
      pod->place = Place::kActive;
    } else {
      pod->place = pod->rejectors == 0 ? Place::kErrorBackoff : Place::kBackoff;
    }
  }

  const QueueSortPlugin* sort_;
  KubernetesQueueOptions options_;
  uint64_t next_sequence_ = 0;
};

// Takes random steps. `straight_` lives from the beginning; `resumed_` is loaded now and then.
class Rig {
 public:
  Rig(uint64_t seed, const QueueSortPlugin* sort, const KubernetesQueueOptions& options)
      : random_(seed, "kubernetes_queue"),
        naive_(sort, options),
        straight_(sort, options),
        resumed_(sort, options) {}

  void Step() {
    const uint64_t action = random_.Below(18);
    if (action < 3) {
      Add();
    } else if (action < 7) {
      Pop();
    } else if (action < 12) {
      Land();
    } else if (action < 14) {
      Happen();
    } else if (action < 15) {
      Remove();
    } else if (action < 16) {
      Activate();
    } else if (action < 17) {
      Resume();
    } else {
      Pass(random_.Below(40) == 0 ? random_.Below(700'000'000'000) : random_.Below(2'000'000'000));
    }
    if (random_.Below(3) == 0) Pass(random_.Below(50'000'000));
    ExpectSameSizes();
  }

  size_t popped() const { return popped_; }

 private:
  using Place = NaiveQueue::Place;

  void Add() {
    if (naive_.pods.size() >= 120) return;
    const PodId pod(next_pod_++);
    const ShapeId shape = RandomShape();
    const auto priority = static_cast<int32_t>(random_.Below(3)) - 1;
    naive_.Add(pod, shape, priority, now_);
    straight_.Add(pod, shape, priority, now_);
    resumed_.Add(pod, shape, priority, now_);
  }

  void Pop() {
    ASSERT_EQ(straight_.CanPop(), naive_.CanPop());
    ASSERT_EQ(resumed_.CanPop(), naive_.CanPop());
    if (!naive_.CanPop()) return;
    const QueuedPod wanted = naive_.Pop();
    for (KubernetesQueue* queue : {&straight_, &resumed_}) {
      const QueuedPod found = queue->Pop(now_);
      ASSERT_EQ(found.pod, wanted.pod);
      ASSERT_EQ(found.priority, wanted.priority);
      ASSERT_EQ(found.queued_at, wanted.queued_at);
      ASSERT_EQ(found.sequence, wanted.sequence);
    }
    in_flight_.push_back(wanted);
    ++popped_;
  }

  // Ends the attempt of a pod in flight.
  void Land() {
    if (in_flight_.empty()) return;
    const size_t index = static_cast<size_t>(random_.Below(in_flight_.size()));
    const QueuedPod pod = in_flight_[index];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(index));
    const NaiveQueue::Pod& known = *naive_.Find(pod.pod);
    const KubernetesQueue::Counts counts = straight_.CountsOf(pod.pod);
    EXPECT_EQ(counts.attempts, known.attempts);
    EXPECT_EQ(counts.unschedulable, known.unschedulable);
    EXPECT_EQ(counts.consecutive_errors, known.errors);
    const ShapeId shape = RandomShape();
    const uint64_t rejectors = random_.Below(4);
    const uint64_t outcome = random_.Below(12);
    if (outcome == 0) {
      naive_.Forget(pod.pod);
      straight_.Forget(pod.pod);
      resumed_.Forget(pod.pod);
    } else if (outcome == 1) {
      naive_.ReturnToActive(pod.pod, shape, rejectors, now_);
      straight_.ReturnToActive(pod, shape, rejectors, now_);
      resumed_.ReturnToActive(pod, shape, rejectors, now_);
    } else {
      const bool moved_since = outcome < 4;
      naive_.Return(pod.pod, shape, rejectors, moved_since, now_);
      straight_.Return(pod, shape, rejectors, moved_since, now_);
      resumed_.Return(pod, shape, rejectors, moved_since, now_);
    }
  }

  void Happen() {
    const uint64_t plugins = random_.Below(4);
    const uint64_t salt = random_.Below(3);
    const auto helps = [plugins, salt](ShapeId shape, uint64_t rejectors) {
      return (rejectors & plugins) != 0 && (shape.value() + salt) % 3 != 0;
    };
    Asked to_ask;
    for (const NaiveQueue::Pod& pod : naive_.pods) {
      if (pod.place != Place::kUnschedulable) continue;
      to_ask.emplace_back(pod.shape.value(), pod.rejectors);
    }
    std::sort(to_ask.begin(), to_ask.end());
    to_ask.erase(std::unique(to_ask.begin(), to_ask.end()), to_ask.end());
    const size_t moved = naive_.OnEvent(helps, now_);
    std::vector<Asked> asked;
    for (KubernetesQueue* queue : {&straight_, &resumed_}) {
      asked.emplace_back();
      const auto ask = [&asked, &helps](ShapeId shape, uint64_t rejectors) {
        asked.back().emplace_back(shape.value(), rejectors);
        return helps(shape, rejectors);
      };
      ASSERT_EQ(queue->OnEvent(ask, now_), moved);
    }
    EXPECT_EQ(asked[0], asked[1]);
    std::sort(asked[0].begin(), asked[0].end());
    EXPECT_EQ(asked[0], to_ask);
  }

  void Remove() {
    if (random_.Below(2) == 0) return;
    const PodId pod = RandomPod();
    const bool removed = naive_.Remove(pod);
    EXPECT_EQ(straight_.Remove(pod), removed);
    EXPECT_EQ(resumed_.Remove(pod), removed);
  }

  void Activate() {
    const PodId pod = RandomPod();
    const bool activated = naive_.Activate(pod);
    EXPECT_EQ(straight_.Activate(pod, now_), activated);
    EXPECT_EQ(resumed_.Activate(pod, now_), activated);
  }

  void Resume() {
    const std::string bytes = Saved(straight_);
    ASSERT_EQ(Saved(resumed_), bytes);
    StateReader in(bytes);
    const absl::Status status = resumed_.Load(in);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(in.AtEnd());
    ASSERT_EQ(Saved(resumed_), bytes);
  }

  // The oracle's timers run at every tick, the queues' when they are said to be due.
  void Pass(uint64_t ns) {
    const SimTime end = now_ + SimDuration(static_cast<int64_t>(ns));
    for (;;) {
      const SimTime tick((now_.ns() / kSecondNs + 1) * kSecondNs);
      if (tick > end) break;
      const bool backoff_due =
          straight_.NeedsBackoffTimer() && straight_.NextBackoffTick(now_) == tick;
      const bool flush_due = straight_.NeedsFlushTimer() && straight_.NextFlushTick(now_) == tick;
      now_ = tick;
      const size_t released = naive_.FlushBackoff(now_);
      ASSERT_EQ(released > 0, backoff_due) << now_.ns();
      const bool is_flush_tick = now_.ns() / kSecondNs % 30 == 0;
      const size_t flushed = is_flush_tick ? naive_.FlushUnschedulable(now_) : 0;
      ASSERT_EQ(flushed > 0, flush_due) << now_.ns();
      for (KubernetesQueue* queue : {&straight_, &resumed_}) {
        if (backoff_due) {
          ASSERT_EQ(queue->NextBackoffTick(now_), now_);
          ASSERT_EQ(queue->FlushBackoff(now_), released);
        }
        if (flush_due) {
          ASSERT_EQ(queue->NextFlushTick(now_), now_);
          ASSERT_EQ(queue->FlushUnschedulable(now_), flushed);
        }
      }
    }
    now_ = end;
  }

  void ExpectSameSizes() {
    for (const KubernetesQueue* queue : {&straight_, &resumed_}) {
      ASSERT_EQ(queue->active(), naive_.Count(Place::kActive));
      ASSERT_EQ(queue->backoff(),
                naive_.Count(Place::kBackoff) + naive_.Count(Place::kErrorBackoff));
      ASSERT_EQ(queue->unschedulable(), naive_.Count(Place::kUnschedulable));
      ASSERT_EQ(queue->waiting() + in_flight_.size(), naive_.pods.size());
    }
  }

  ShapeId RandomShape() { return ShapeId(static_cast<uint32_t>(random_.Below(3))); }

  // Mostly a pod that is known.
  PodId RandomPod() {
    if (naive_.pods.empty() || random_.Below(8) == 0) {
      return PodId(static_cast<uint32_t>(random_.Below(uint64_t{next_pod_} + 10)));
    }
    return naive_.pods[static_cast<size_t>(random_.Below(naive_.pods.size()))].queued.pod;
  }

  Random random_;
  SimTime now_;
  uint32_t next_pod_ = 0;
  size_t popped_ = 0;
  std::vector<QueuedPod> in_flight_;
  NaiveQueue naive_;
  KubernetesQueue straight_;
  KubernetesQueue resumed_;
};

// QueueSort by priority alone, behind another name: equal pods are many, and the plugin is asked.
class PriorityOnly : public QueueSortPlugin {
 public:
  absl::string_view name() const override { return "PriorityOnly"; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    return a.priority > b.priority;
  }
};

KubernetesQueueOptions RandomOptions(Random& random) {
  const int64_t kInitialMs[] = {1000, 1000, 0, 300, 2500};
  const int64_t kMaxMs[] = {10'000, 10'000, 0, 4700, 70'000};
  const int64_t kFlushMs[] = {300'000, 300'000, 0, 45'500};
  KubernetesQueueOptions options;
  options.initial_backoff = SimDuration::Millis(kInitialMs[random.Below(5)]);
  options.max_backoff = SimDuration::Millis(kMaxMs[random.Below(5)]);
  options.unschedulable_flush = SimDuration::Millis(kFlushMs[random.Below(4)]);
  return options;
}

void RunRandomHistories(const QueueSortPlugin* sort) {
  for (uint64_t seed = 1; seed <= SoakSeeds(10); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed, "options");
    // Defaults, but for popping from backoff, in the first two.
    KubernetesQueueOptions options;
    if (seed > 2) options = RandomOptions(random);
    options.pop_from_backoff = seed % 2 == 1;
    Rig rig(seed, sort, options);
    for (int step = 0; step < 4000; ++step) {
      rig.Step();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(rig.popped(), 200u);
  }
}

TEST(KubernetesQueueRandomTest, MatchesANaiveQueueByKey) {
  const PrioritySort sort{};
  RunRandomHistories(&sort);
}

TEST(KubernetesQueueRandomTest, MatchesANaiveQueueByPlugin) {
  const PriorityOnly sort{};
  RunRandomHistories(&sort);
}

}  // namespace kubernetes_queue_test
}  // namespace drasim
