// The decision path on a half-full openb-like cluster: filters, each score, the fragmentation
// measure, one decision with and without the cache.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "model/check.h"
#include "model/fragmentation.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

// The embedded workload after `events` arrivals.
std::unique_ptr<Simulation> HalfFull(const std::string& policy, bool cache) {
  proto::Scenario scenario;
  scenario.mutable_scheduler()->set_policy(policy);
  scenario.mutable_scheduler()->set_cache(cache);
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  DRASIM_CHECK(spec.ok());
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(*spec);
  DRASIM_CHECK(sim.ok());
  (*sim)->set_stop_after_events(4000);
  DRASIM_CHECK((*sim)->Start().ok());
  DRASIM_CHECK((*sim)->Run().ok());
  return *std::move(sim);
}

std::vector<NodeId> AllNodes(const ClusterState& cluster) {
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < cluster.node_count(); ++i) nodes.push_back(NodeId(i));
  return nodes;
}

// A shape that shares a GPU: the expensive case.
ShapeId SharedShape(const ClusterState& cluster) {
  for (size_t s = 0; s < cluster.shapes().size(); ++s) {
    if (cluster.shapes().row(ShapeId(s)).request.is_share()) return ShapeId(s);
  }
  DRASIM_UNREACHABLE("the embedded workload has shared GPUs");
}

PodContext ContextOf(const ClusterState& cluster, ShapeId shape) {
  PodContext context;
  context.shape_id = shape;
  context.shape = &cluster.shapes().row(shape);
  return context;
}

PolicyContext MakeContext(const Simulation& sim, RunStreams* streams) {
  PolicyContext context;
  context.fragmentation = &sim.fragmentation();
  context.streams = streams;
  return context;
}

void BM_Filter(benchmark::State& state, const char* name) {
  const std::unique_ptr<Simulation> sim = HalfFull("fgd", true);
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(1);
  const auto plugin = *BuiltinRegistry().MakePlugin(name, MakeContext(*sim, streams.get()));
  const auto& filter = dynamic_cast<const FilterPlugin&>(*plugin);
  const std::vector<NodeId> nodes = AllNodes(sim->cluster());
  const PodContext pod = ContextOf(sim->cluster(), SharedShape(sim->cluster()));
  std::vector<ReasonIndex> verdicts(nodes.size());
  for (auto _ : state) {
    std::fill(verdicts.begin(), verdicts.end(), kFits);
    filter.Filter(pod, sim->cluster(), nodes, absl::MakeSpan(verdicts));
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(nodes.size()));
}
BENCHMARK_CAPTURE(BM_Filter, NodeResourcesFit, "NodeResourcesFit");
BENCHMARK_CAPTURE(BM_Filter, GpuShareFit, "GpuShareFit");

void BM_Score(benchmark::State& state, const char* name) {
  const std::unique_ptr<Simulation> sim = HalfFull("fgd", true);
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(1);
  const PolicyContext context = MakeContext(*sim, streams.get());
  const auto plugin = *BuiltinRegistry().MakePlugin(name, context);
  auto& score = dynamic_cast<ScorePlugin&>(*plugin);
  const auto fit = *BuiltinRegistry().MakePlugin("NodeResourcesFit", context);
  const auto gpu_fit = *BuiltinRegistry().MakePlugin("GpuShareFit", context);
  const std::vector<NodeId> nodes = AllNodes(sim->cluster());
  const PodContext pod = ContextOf(sim->cluster(), SharedShape(sim->cluster()));
  std::vector<ReasonIndex> verdicts(nodes.size(), kFits);
  for (Plugin* const filter : {fit.get(), gpu_fit.get()}) {
    dynamic_cast<FilterPlugin&>(*filter).Filter(pod, sim->cluster(), nodes,
                                                absl::MakeSpan(verdicts));
  }
  std::vector<NodeId> feasible;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits) feasible.push_back(nodes[i]);
  }
  std::vector<int64_t> scores(feasible.size());
  for (auto _ : state) {
    score.Score(pod, sim->cluster(), feasible, absl::MakeSpan(scores));
    benchmark::DoNotOptimize(scores.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(feasible.size()));
}
BENCHMARK_CAPTURE(BM_Score, Random, "Random");
BENCHMARK_CAPTURE(BM_Score, DotProduct, "DotProduct");
BENCHMARK_CAPTURE(BM_Score, GpuClustering, "GpuClustering");
BENCHMARK_CAPTURE(BM_Score, GpuPacking, "GpuPacking");
BENCHMARK_CAPTURE(BM_Score, BestFit, "BestFit");
BENCHMARK_CAPTURE(BM_Score, FGD, "FGD");

void BM_FragmentationAmount(benchmark::State& state) {
  const std::unique_ptr<Simulation> sim = HalfFull("fgd", true);
  const size_t n = sim->cluster().node_count();
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim->fragmentation().Amount(ViewOf(sim->cluster(), NodeId(i))));
    i = i + 1 == n ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FragmentationAmount);

// The work after every event: one node's new contribution and the cluster-wide report.
void BM_FragmentationReport(benchmark::State& state) {
  const std::unique_ptr<Simulation> sim = HalfFull("fgd", true);
  FragmentationTracker tracker(&sim->fragmentation());
  const size_t n = sim->cluster().node_count();
  for (size_t i = 0; i < n; ++i) tracker.Update(sim->cluster(), NodeId(i));
  size_t i = 0;
  for (auto _ : state) {
    tracker.Update(sim->cluster(), NodeId(i));
    benchmark::DoNotOptimize(tracker.Report());
    i = i + 1 == n ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FragmentationReport);

// A whole fill of the embedded workload; items are decisions.
void BM_Fill(benchmark::State& state, const char* policy, bool cache) {
  uint64_t decisions = 0;
  for (auto _ : state) {
    state.PauseTiming();
    proto::Scenario scenario;
    scenario.mutable_scheduler()->set_policy(policy);
    scenario.mutable_scheduler()->set_cache(cache);
    const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
    DRASIM_CHECK(spec.ok());
    auto sim = *Simulation::Build(*spec);
    DRASIM_CHECK(sim->Start().ok());
    state.ResumeTiming();
    DRASIM_CHECK(sim->Run().ok());
    decisions += sim->cycle().work().decisions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(decisions));
}
BENCHMARK_CAPTURE(BM_Fill, fgd_cached, "fgd", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Fill, fgd_uncached, "fgd", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Fill, best_fit_cached, "best-fit", true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
