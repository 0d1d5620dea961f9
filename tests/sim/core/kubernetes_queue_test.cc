// The queue's rules one by one. kubernetes_queue_random_test.cc has the random histories.
#include "sim/core/kubernetes_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/priority_sort.h"

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
class NewestFirst : public Plugin {
 public:
  absl::string_view name() const override { return "NewestFirst"; }
  uint32_t points() const override { return kQueueSort; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    return a.sequence > b.sequence;
  }
};

// Calls most pods equal.
class EvenFirst : public Plugin {
 public:
  absl::string_view name() const override { return "EvenFirst"; }
  uint32_t points() const override { return kQueueSort; }
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

// Of a thousand pods in one place most are removed, so that what they left behind is swept.
TEST_F(KubernetesQueueTest, MassRemovalLeavesTheOrder) {
  const EvenFirst even_first{};
  for (const Plugin* sort :
       {static_cast<const Plugin*>(&sort_), static_cast<const Plugin*>(&even_first)}) {
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

// ---- What callers must not do ----

using KubernetesQueueDeathTest = KubernetesQueueTest;

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

}  // namespace kubernetes_queue_test
}  // namespace drasim
