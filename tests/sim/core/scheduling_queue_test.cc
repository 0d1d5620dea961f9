#include "sim/core/scheduling_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/priority_sort.h"

namespace drasim {
namespace {

using Pods = std::vector<uint32_t>;

PodId Id(uint32_t value) { return PodId(value); }

Pods Drain(SchedulingQueue& queue) {
  Pods pods;
  while (queue.active() > 0) pods.push_back(queue.Pop().pod.value());
  return pods;
}

std::string Saved(const SchedulingQueue& queue) {
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

TEST(SchedulingQueueTest, PriorityThenTimeThenOrderOfEntry) {
  const PrioritySort sort{};
  SchedulingQueue queue(&sort);
  queue.Add(Id(1), 0, SimTime(5));
  queue.Add(Id(2), 3, SimTime(9));
  queue.Add(Id(3), 0, SimTime(4));
  queue.Add(Id(4), 3, SimTime(9));
  queue.Add(Id(5), -1, SimTime(0));
  queue.Add(Id(6), 3, SimTime(8));
  EXPECT_EQ(queue.active(), 6u);
  EXPECT_EQ(queue.unschedulable(), 0u);
  EXPECT_EQ(Drain(queue), (Pods{6, 2, 4, 3, 1, 5}));
  EXPECT_EQ(queue.active(), 0u);
}

TEST(SchedulingQueueTest, PopReturnsWhatWasAdded) {
  const PrioritySort sort{};
  SchedulingQueue queue(&sort);
  queue.Add(Id(7), -3, SimTime(11));
  queue.Add(Id(8), -3, SimTime(11));
  const QueuedPod first = queue.Pop();
  const QueuedPod second = queue.Pop();
  EXPECT_EQ(first.pod, Id(7));
  EXPECT_EQ(first.priority, -3);
  EXPECT_EQ(first.queued_at, SimTime(11));
  EXPECT_EQ(second.pod, Id(8));
  EXPECT_LT(first.sequence, second.sequence);
}

TEST(SchedulingQueueTest, SleepersReturnToTheirOldPlaces) {
  const PrioritySort sort{};
  SchedulingQueue queue(&sort);
  for (uint32_t i = 0; i < 4; ++i) queue.Add(Id(i), 0, SimTime(10));
  // 0 and 2 do not fit.
  const QueuedPod zero = queue.Pop();
  queue.AddUnschedulable(zero);
  EXPECT_EQ(queue.Pop().pod, Id(1));
  queue.AddUnschedulable(queue.Pop());
  EXPECT_EQ(queue.active(), 1u);
  EXPECT_EQ(queue.unschedulable(), 2u);
  queue.Add(Id(4), 1, SimTime(20));
  queue.MoveAllToActive();
  EXPECT_EQ(queue.active(), 4u);
  EXPECT_EQ(queue.unschedulable(), 0u);
  EXPECT_EQ(Drain(queue), (Pods{4, 0, 2, 3}));
  queue.MoveAllToActive();
  EXPECT_EQ(queue.active(), 0u);
}

TEST(SchedulingQueueTest, TheOrderIsThePlugins) {
  const NewestFirst sort{};
  SchedulingQueue queue(&sort);
  for (uint32_t i = 0; i < 5; ++i) queue.Add(Id(i), static_cast<int32_t>(i % 2), SimTime(i));
  EXPECT_EQ(Drain(queue), (Pods{4, 3, 2, 1, 0}));
}

// The contract over plain lists: the smallest of all active pods is searched for at every Pop.
class NaiveQueue {
 public:
  void Add(PodId pod, int32_t priority, SimTime now) {
    QueuedPod queued;
    queued.pod = pod;
    queued.priority = priority;
    queued.queued_at = now;
    queued.sequence = ++last_;
    active.push_back(queued);
  }
  QueuedPod Pop() {
    const auto key = [](const QueuedPod& p) {
      return std::make_tuple(-int64_t{p.priority}, p.queued_at.ns(), p.sequence);
    };
    const auto first =
        std::min_element(active.begin(), active.end(),
                         [&key](const auto& a, const auto& b) { return key(a) < key(b); });
    const QueuedPod pod = *first;
    active.erase(first);
    return pod;
  }
  void MoveAllToActive() {
    active.insert(active.end(), sleeping.begin(), sleeping.end());
    sleeping.clear();
  }

  std::vector<QueuedPod> active;
  std::vector<QueuedPod> sleeping;

 private:
  uint64_t last_ = 0;
};

TEST(SchedulingQueueTest, RandomHistoriesMatchANaiveQueueAcrossSaveAndLoad) {
  Random random(1, "queue");
  const PrioritySort sort{};
  for (int round = 0; round < 40; ++round) {
    SchedulingQueue queue(&sort);
    NaiveQueue naive;
    int64_t now_ns = 0;
    uint32_t pods = 0;
    for (int step = 0; step < 300; ++step) {
      now_ns += static_cast<int64_t>(random.Below(2));
      const uint64_t action = random.Below(10);
      if (action < 4) {
        const auto priority = static_cast<int32_t>(random.Below(3)) - 1;
        queue.Add(Id(pods), priority, SimTime(now_ns));
        naive.Add(Id(pods), priority, SimTime(now_ns));
        ++pods;
      } else if (action < 8) {
        if (naive.active.empty()) continue;
        const QueuedPod found = queue.Pop();
        const QueuedPod wanted = naive.Pop();
        ASSERT_EQ(found.pod, wanted.pod);
        ASSERT_EQ(found.priority, wanted.priority);
        ASSERT_EQ(found.queued_at, wanted.queued_at);
        if (action < 7) {
          queue.AddUnschedulable(found);
          naive.sleeping.push_back(wanted);
        }
      } else if (action == 8) {
        queue.MoveAllToActive();
        naive.MoveAllToActive();
      } else {
        const std::string bytes = Saved(queue);
        SchedulingQueue loaded(&sort);
        loaded.Add(Id(12345), 99, SimTime(0));  // replaced by what is loaded
        StateReader in(bytes);
        ASSERT_TRUE(loaded.Load(in).ok());
        ASSERT_TRUE(in.AtEnd());
        ASSERT_EQ(Saved(loaded), bytes);
        queue = loaded;
      }
      ASSERT_EQ(queue.active(), naive.active.size());
      ASSERT_EQ(queue.unschedulable(), naive.sleeping.size());
    }
  }
}

TEST(SchedulingQueueTest, TruncatedStateIsAnError) {
  const PrioritySort sort{};
  SchedulingQueue queue(&sort);
  queue.Add(Id(1), 2, SimTime(3));
  queue.Add(Id(4), 5, SimTime(6));
  queue.AddUnschedulable(queue.Pop());
  const std::string bytes = Saved(queue);
  for (size_t n = 0; n < bytes.size(); ++n) {
    StateReader in(absl::string_view(bytes).substr(0, n));
    SchedulingQueue loaded(&sort);
    EXPECT_EQ(loaded.Load(in).code(), absl::StatusCode::kDataLoss) << n;
  }
}

TEST(SchedulingQueueDeathTest, AnEmptyQueueHasNothingToPop) {
  const PrioritySort sort{};
  SchedulingQueue queue(&sort);
  EXPECT_DEATH(queue.Pop(), "CHECK failed");
  queue.Add(Id(1), 0, SimTime());
  queue.AddUnschedulable(queue.Pop());
  EXPECT_DEATH(queue.Pop(), "CHECK failed");
}

}  // namespace
}  // namespace drasim
