// Event queues under the hold model: with a fixed number of pending events, pop the first and push
// its successor a random distance ahead (D. W. Jones, "An Empirical Comparison of Priority-Queue
// and Event-Set Implementations", Communications of the ACM 29(4), 1986). One item is one pop with
// its push.
//
// The drasim queue runs beside the two obvious choices from the standard library with the same
// events and random numbers, so their ratio holds on any machine.
#include <cstdint>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "model/time.h"
#include "sim/core/event.h"
#include "sim/core/event_queue.h"

namespace drasim {
namespace {

// Events lie at most about a second ahead; the width hardly matters while ties are rare.
constexpr uint64_t kSpanMaskNs = (uint64_t{1} << 30) - 1;

// The SplitMix64 step: a few cycles, so the benchmark measures the queue and not the generator.
class Random {
 public:
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_ = 1;
};

class DrasimEventQueue {
 public:
  void Push(const Event& event) {
    queue_.Push(event.time, event.rank, event.kind, event.a, event.b, event.c);
  }
  Event Pop() { return queue_.Pop(); }

 private:
  EventQueue queue_;
};

class StdPriorityQueue {
 public:
  void Push(Event event) {
    event.sequence = ++last_sequence_;
    queue_.push(event);
  }
  Event Pop() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& x, const Event& y) const {
      return std::make_tuple(x.time.ns(), x.rank, x.sequence) >
             std::make_tuple(y.time.ns(), y.rank, y.sequence);
    }
  };

  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  uint64_t last_sequence_ = 0;
};

// Needs no sequence: a multimap keeps equal keys in the order of insertion.
class StdMultimap {
 public:
  void Push(const Event& event) {
    queue_.emplace(std::make_pair(event.time.ns(), event.rank), event);
  }
  Event Pop() {
    const Event event = queue_.begin()->second;
    queue_.erase(queue_.begin());
    return event;
  }

 private:
  std::multimap<std::pair<int64_t, EventRank>, Event> queue_;
};

Event RandomSuccessor(Random& random, SimTime now) {
  const uint64_t bits = random.Next();
  Event event;
  event.time = SimTime(now.ns() + static_cast<int64_t>(bits & kSpanMaskNs));
  event.rank = static_cast<EventRank>((bits >> 32) % kEventRankCount);
  event.kind = EventKind::kTimer;
  event.c = bits;
  return event;
}

// Argument: pending events.
template <typename Queue>
void BM_Hold(benchmark::State& state) {
  Random random;
  Queue queue;
  for (int64_t i = 0; i < state.range(0); ++i) queue.Push(RandomSuccessor(random, SimTime(0)));
  for (auto _ : state) {
    const Event event = queue.Pop();
    benchmark::DoNotOptimize(event.c);
    queue.Push(RandomSuccessor(random, event.time));
  }
  // Items are queue operations: a pop and a push each time.
  state.SetItemsProcessed(2 * static_cast<int64_t>(state.iterations()));
}
BENCHMARK_TEMPLATE(BM_Hold, DrasimEventQueue)->Arg(1)->Arg(1000)->Arg(200000)->Arg(1000000);
BENCHMARK_TEMPLATE(BM_Hold, StdPriorityQueue)->Arg(1)->Arg(1000)->Arg(200000)->Arg(1000000);
BENCHMARK_TEMPLATE(BM_Hold, StdMultimap)->Arg(1)->Arg(1000)->Arg(200000)->Arg(1000000);

// A timer that is set and cancelled before it expires, among pending events; includes the sweeps.
void BM_PushCancel(benchmark::State& state) {
  Random random;
  EventQueue queue;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const Event event = RandomSuccessor(random, SimTime(0));
    queue.Push(event.time, event.rank, event.kind, event.a, event.b, event.c);
  }
  for (auto _ : state) {
    const Event event = RandomSuccessor(random, SimTime(0));
    const uint64_t handle =
        queue.Push(event.time, event.rank, event.kind, event.a, event.b, event.c);
    benchmark::DoNotOptimize(queue.Cancel(handle));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(BM_PushCancel)->Arg(1000)->Arg(200000);

}  // namespace
}  // namespace drasim
