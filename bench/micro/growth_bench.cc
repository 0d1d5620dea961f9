// Costs that grow with the number of jobs: whole replays on 64 nodes of 8 GPUs, at two sizes. Batch
// queues may take at most n log n, kube-scheduler's queue a constant time per attempt: compare
// time_per_job, or time_per_attempt, of the two sizes.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/micro/overloaded_run.h"
#include "model/check.h"
#include "model/random.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

void Replay(benchmark::State& state, const proto::Scenario& scenario) {
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  DRASIM_CHECK(spec.ok());
  int64_t attempts = 0;
  for (auto _ : state) {
    state.PauseTiming();
    absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(*spec);
    DRASIM_CHECK(sim.ok());
    DRASIM_CHECK((*sim)->Start().ok());
    state.ResumeTiming();
    DRASIM_CHECK((*sim)->Run().ok());
    state.PauseTiming();
    attempts =
        (*sim)->metrics().sample().attempts_failed + (*sim)->metrics().sample().pods_scheduled;
    sim->reset();
    state.ResumeTiming();
  }
  using benchmark::Counter;
  const auto per = Counter::kIsIterationInvariantRate | Counter::kInvert;
  state.counters["time_per_job"] =
      Counter(static_cast<double>(scenario.workload().jobs_size()), per);
  state.counters["time_per_attempt"] = Counter(static_cast<double>(attempts), per);
}

void BM_KubernetesQueue(benchmark::State& state) {
  Replay(state,
         OverloadedRun(state.range(0), "kubernetes", [](int64_t, Random&, proto::InlineJob*) {}));
}
BENCHMARK(BM_KubernetesQueue)->Arg(5'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void BM_KubernetesQueueAtOneInstant(benchmark::State& state) {
  Replay(state,
         OverloadedRun(state.range(0), "kubernetes", [](int64_t, Random&, proto::InlineJob* job) {
           job->set_arrival("0s");
           job->set_run_time("5m");
         }));
}
BENCHMARK(BM_KubernetesQueueAtOneInstant)->Arg(5'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void BM_KubernetesQueuePreempting(benchmark::State& state) {
  Replay(state,
         OverloadedRun(state.range(0), "kubernetes", [](int64_t i, Random&, proto::InlineJob* job) {
           job->set_priority(static_cast<int32_t>(i));
           job->set_gpus(1);
           job->set_run_time("10h");
         }));
}
BENCHMARK(BM_KubernetesQueuePreempting)->Arg(1'000)->Arg(2'000)->Unit(benchmark::kMillisecond);

void BM_PriorityPreempting(benchmark::State& state) {
  proto::Scenario scenario =
      OverloadedRun(state.range(0), "priority", [](int64_t, Random& random, proto::InlineJob* job) {
        job->set_priority(static_cast<int32_t>(random.Below(1'000'000)));
      });
  scenario.mutable_preemption()->set_mode("priority");
  Replay(state, scenario);
}
BENCHMARK(BM_PriorityPreempting)->Arg(10'000)->Arg(40'000)->Unit(benchmark::kMillisecond);

void BM_DrfWithATenantPerJob(benchmark::State& state) {
  Replay(state, OverloadedRun(state.range(0), "drf", [](int64_t i, Random&, proto::InlineJob* job) {
           job->set_tenant(absl::StrCat("tenant-", i));
         }));
}
BENCHMARK(BM_DrfWithATenantPerJob)->Arg(10'000)->Arg(40'000)->Unit(benchmark::kMillisecond);

void Backfilling(benchmark::State& state, const std::string& backfill) {
  proto::Scenario scenario =
      OverloadedRun(state.range(0), "fifo", [](int64_t, Random&, proto::InlineJob*) {});
  scenario.mutable_scheduler()->set_backfill(backfill);
  Replay(state, scenario);
}
void BM_EasyBackfilling(benchmark::State& state) { Backfilling(state, "easy"); }
BENCHMARK(BM_EasyBackfilling)->Arg(4'000)->Arg(16'000)->Unit(benchmark::kMillisecond);

void BM_ConservativeBackfilling(benchmark::State& state) { Backfilling(state, "conservative"); }
BENCHMARK(BM_ConservativeBackfilling)->Arg(4'000)->Arg(16'000)->Unit(benchmark::kMillisecond);

// GPU models that no node has: jobs are dropped on arrival.
void BM_DistinctGpuModels(benchmark::State& state) {
  Replay(state,
         OverloadedRun(state.range(0), "fifo", [](int64_t i, Random&, proto::InlineJob* job) {
           job->set_gpu_model(absl::StrCat("model-", i));
         }));
}
BENCHMARK(BM_DistinctGpuModels)->Arg(10'000)->Arg(40'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
