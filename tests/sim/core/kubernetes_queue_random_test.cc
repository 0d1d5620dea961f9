// Random histories: the queue beside a naive oracle whose timers run at every tick, and beside a
// second queue that goes through checkpoints.
#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "sim/core/kubernetes_queue.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace kubernetes_queue_random_test {

using Asked = std::vector<std::pair<uint32_t, uint64_t>>;

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

  NaiveQueue(const Plugin* sort, const KubernetesQueueOptions& options)
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

  const Plugin* sort_;
  KubernetesQueueOptions options_;
  uint64_t next_sequence_ = 0;
};

std::string Saved(const KubernetesQueue& queue) {
  StateWriter out;
  queue.Save(out);
  return out.Release();
}

// Takes random steps. `straight_` lives from the beginning; `resumed_` is loaded now and then.
class Rig {
 public:
  Rig(uint64_t seed, const Plugin* sort, const KubernetesQueueOptions& options)
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
class PriorityOnly : public Plugin {
 public:
  absl::string_view name() const override { return "PriorityOnly"; }
  uint32_t points() const override { return kQueueSort; }
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

void RunRandomHistories(const Plugin* sort) {
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

}  // namespace kubernetes_queue_random_test
}  // namespace drasim
