// The scheduling queue of a full cluster: an event wakes waiting pods of one shape; each is popped,
// fails again and is returned. One item is one such cycle of a pod.
#include <cstdint>

#include "benchmark/benchmark.h"
#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/priority_sort.h"
#include "sim/core/kubernetes_queue.h"

namespace drasim {
namespace {

constexpr uint64_t kRejectors = 1;

ShapeId ShapeOf(PodId pod, uint32_t shapes) { return ShapeId(pod.value() % shapes); }

// Pops all available pods and returns them as unschedulable.
int64_t TryAll(KubernetesQueue& queue, uint32_t shapes, SimTime now) {
  int64_t cycles = 0;
  while (queue.CanPop()) {
    const QueuedPod pod = queue.Pop(now);
    queue.Return(pod, ShapeOf(pod.pod, shapes), kRejectors, false, now);
    ++cycles;
  }
  return cycles;
}

// Arguments: waiting pods; their shapes, one of which each event helps; time between two events in
// ms. Pods with less than ten seconds between their attempts are popped from backoff.
void BM_EventCycle(benchmark::State& state) {
  const auto waiting = static_cast<uint32_t>(state.range(0));
  const auto shapes = static_cast<uint32_t>(state.range(1));
  const SimDuration step = SimDuration::Millis(state.range(2));
  const PrioritySort sort{};
  KubernetesQueue queue(&sort, KubernetesQueueOptions());
  SimTime now;
  for (uint32_t i = 0; i < waiting; ++i) {
    const PodId pod(i);
    queue.Add(pod, ShapeOf(pod, shapes), static_cast<int32_t>(i % 3), now);
  }
  TryAll(queue, shapes, now);
  int64_t cycles = 0;
  uint32_t helped = 0;
  for (auto _ : state) {
    now = now + step;
    const ShapeId shape(helped);
    helped = (helped + 1) % shapes;
    queue.OnEvent([shape](ShapeId asked, uint64_t) { return asked == shape; }, now);
    cycles += TryAll(queue, shapes, now);
  }
  state.SetItemsProcessed(cycles);
}
BENCHMARK(BM_EventCycle)
    ->ArgNames({"waiting", "shapes", "step_ms"})
    ->Args({500, 1, 1})
    ->Args({500, 1, 20000})
    ->Args({500, 50, 1})
    ->Args({100000, 1, 1})
    ->Args({100000, 1, 20000})
    ->Args({100000, 100, 1})
    ->Args({100000, 1000, 1});

}  // namespace
}  // namespace drasim
