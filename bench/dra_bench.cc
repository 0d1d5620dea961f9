// Classic DRA's control plane: single steps of its network, and whole runs without latencies, which
// measure only the simulator's own work.
//
// Ceilings on one core of an x86-64 machine of 2020 or later: 50 us per pod with one claim from a
// template on 5,000 nodes of 8 devices, from its arrival to the end of its claim; 200 ns per change
// delivered to a client; 100 ns per call with an immediate reply.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "model/check.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "policies/devices/counting_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/classic/dynamic_resources.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim {
namespace {

// --- Single steps ---

class SilentActor : public Actor {
 public:
  void OnWatch(const WatchEvent&) override { ++heard_; }
  void OnReply(uint64_t, const ApiReply&) override { ++heard_; }
  void OnTimer(uint64_t) override { ++heard_; }
  int64_t heard() const { return heard_; }

 private:
  int64_t heard_ = 0;
};

// A server with `pods` pods, and clients that watch all of them.
struct NetworkWorld {
  NetworkWorld(size_t pods, size_t clients, const char* latency = "") : network(&names, 1) {
    for (size_t i = 0; i < pods; ++i) {
      Pod pod;
      pod.meta.ns = names.Intern("default");
      pod.meta.name = names.Intern(absl::StrCat("pod-", i));
      ApiRequest request;
      request.verb = Verb::kCreate;
      request.object = std::make_shared<const Pod>(pod);
      DRASIM_CHECK(network.server().Handle(request).ok());
    }
    for (size_t i = 0; i < clients; ++i) {
      ClientOptions options;
      options.name = absl::StrCat("client-", i);
      options.watches = WatchBit(ObjectKind::kPod);
      if (*latency != '\0') options.read_latency = *Distribution::Parse(latency);
      ends.push_back(network.Connect(options, &actor));
    }
  }
  // Changes the pod's phase.
  ApiRequest Patch(size_t pod) {
    phase = phase == KubePodPhase::kRunning ? KubePodPhase::kPending : KubePodPhase::kRunning;
    auto object = std::make_shared<Pod>();
    object->meta.ns = names.Intern("default");
    object->meta.name = names.Intern(absl::StrCat("pod-", pod));
    object->phase = phase;
    ApiRequest request;
    request.verb = Verb::kPatchStatus;
    request.part = StatusPart::kPhase;
    request.object = Ref<Pod>(std::move(object));
    return request;
  }
  ApiRequest Get(size_t pod) {
    ApiRequest request;
    request.ns = names.Intern("default");
    request.name = names.Intern(absl::StrCat("pod-", pod));
    return request;
  }

  NamePool names;
  ApiNetwork network;
  SilentActor actor;
  std::vector<ApiClient*> ends;
  KubePodPhase phase = KubePodPhase::kPending;
};

// One write that all clients receive. An item is one delivery to one client.
void BM_Change(benchmark::State& state) {
  const auto pods = static_cast<size_t>(state.range(0));
  NetworkWorld world(pods, static_cast<size_t>(state.range(1)));
  const ApiRequest patches[] = {world.Patch(pods / 2), world.Patch(pods / 2)};
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(world.ends[0]->Call(patches[next], 0));
    next ^= 1;
    world.network.RunUntil(world.network.now());
  }
  if (world.actor.heard() == 0) state.SkipWithError("nobody heard of anything");
  state.SetItemsProcessed(world.actor.heard());
}
BENCHMARK(BM_Change)->ArgNames({"pods", "clients"})->Args({10, 1})->Args({10, 6})->Args({10000, 6});

// A call with an immediate reply: a GET.
void BM_Call(benchmark::State& state) {
  const auto pods = static_cast<size_t>(state.range(0));
  NetworkWorld world(pods, 1);
  const ApiRequest get = world.Get(pods / 2);
  for (auto _ : state) benchmark::DoNotOptimize(world.ends[0]->Call(get, 0));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Call)->ArgName("pods")->Arg(10)->Arg(10000);

// A call with a delayed reply, among timers that are due later.
void BM_CallWithLatency(benchmark::State& state) {
  NetworkWorld world(10, 1, "constant(0.001)");
  for (int64_t i = 0; i < state.range(0); ++i) {
    world.ends[0]->ArmTimer(SimDuration::Seconds(1'000'000 + i), 0);
  }
  const ApiRequest get = world.Get(5);
  for (auto _ : state) {
    world.ends[0]->Call(get, 0);
    world.network.RunUntil(*world.network.NextTime());
  }
  if (world.actor.heard() != state.iterations()) state.SkipWithError("calls were not answered");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CallWithLatency)->ArgName("waiting")->Arg(0)->Arg(10000);

// A timer that is due at once, among timers that are due later.
void BM_TimerNow(benchmark::State& state) {
  NetworkWorld world(10, 1);
  for (int64_t i = 0; i < state.range(0); ++i) {
    world.ends[0]->ArmTimer(SimDuration::Seconds(1'000'000 + i), 0);
  }
  for (auto _ : state) {
    world.ends[0]->ArmTimer(SimDuration(), 0);
    world.network.RunUntil(*world.network.NextTime());
  }
  if (world.actor.heard() != state.iterations()) state.SkipWithError("timers were lost");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TimerNow)->ArgName("waiting")->Arg(0)->Arg(10000);

// PreScore of a pod with an unallocated claim: draws as many of the feasible nodes as a context can
// hold.
void BM_PreScore(benchmark::State& state) {
  NamePool names;
  ApiNetwork network(&names, 1);
  SilentActor actor;
  DynamicResources plugin(network.Connect(ClientOptions(), &actor), DraBehaviour(), 1);
  DynamicResources::Cycle cycle;
  cycle.claims.resize(1);
  cycle.claims[0].claim = std::make_shared<const ResourceClaim>();
  std::vector<NodeId> nodes;
  for (int64_t i = 0; i < state.range(0); ++i) nodes.emplace_back(static_cast<size_t>(i));
  for (auto _ : state) {
    plugin.PreScore(&cycle, nodes);
    benchmark::DoNotOptimize(cycle.potential.data());
  }
  if (cycle.potential.size() != kMaxNodesInContext) state.SkipWithError("too few nodes");
}
BENCHMARK(BM_PreScore)->ArgName("feasible")->Arg(500)->Arg(5000)->Arg(50000);

// --- Whole runs ---

constexpr char kBenchDriver[] = "gpu.example.com";
constexpr size_t kBenchPods = 5000;
constexpr int64_t kBenchGapNs = 10'000'000;

// Pods that arrive one after the other, each with its own claim and the same run time. A node has
// CPU for as many pods as it has devices.
DraScenario BenchScenario(size_t nodes, size_t pods, int64_t run_ns, bool strict_upstream) {
  DraScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.shapes = {TestShape(1000, 0)};
  CountingDriverOptions driver;
  driver.name = kBenchDriver;
  for (size_t n = 0; n < nodes; ++n) {
    s.engine.nodes.push_back(TestNode(absl::StrCat("node-", n), 8000, 8));
    driver.units.emplace_back(NodeId(n), 8);
  }
  for (size_t p = 0; p < pods; ++p) {
    const auto at_ns = static_cast<int64_t>(p) * kBenchGapNs;
    s.engine.pods.push_back({absl::StrCat("pod-", p), 0, at_ns, run_ns, 0});
  }
  s.drivers = {std::move(driver)};
  s.plane.behaviour.queueing_hints = true;
  s.plane.behaviour.strict_upstream = strict_upstream;
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kBenchDriver)).ok());
    DRASIM_CHECK(plane.Create(TestTemplate(plane.names(), "template", "class")).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromTemplate(names, "gpu", "template")};
  };
  return s;
}

// Times `run` on a new rig per iteration; `bad` returns the fault found, or null.
void RunPods(benchmark::State& state, size_t pods, int64_t run_ns, uint64_t pause_after_events,
             absl::Status (*run)(Engine&), const char* (*bad)(DraRig&)) {
  for (auto _ : state) {
    state.PauseTiming();
    DraScenario scenario =
        BenchScenario(static_cast<size_t>(state.range(0)), pods, run_ns, state.range(1) != 0);
    scenario.engine.options.stop_after_events = pause_after_events;
    auto rig = std::make_unique<DraRig>(std::move(scenario));
    rig->plane().set_on_message(nullptr);
    state.ResumeTiming();
    const absl::Status status = run(rig->rig().engine());
    state.PauseTiming();
    if (!status.ok()) state.SkipWithError("the run failed");
    if (const char* what = bad(*rig)) state.SkipWithError(what);
    rig.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(pods));
  state.counters["per_pod"] =
      benchmark::Counter(static_cast<double>(pods), benchmark::Counter::kIsIterationInvariantRate |
                                                        benchmark::Counter::kInvert);
}

// Arguments: nodes; whether the driver's library follows upstream, which looks at each pod once
// more than necessary.
void ClusterArgs(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"nodes", "strict"})
      ->Args({500, 1})
      ->Args({5000, 1})
      ->Args({5000, 0})
      ->Args({50000, 1})
      ->Unit(benchmark::kMillisecond);
}

// From a pod's arrival to its start; pods never leave.
constexpr size_t kStayingPods = 4000;  // the capacity of 500 nodes
void BM_PodsToRunning(benchmark::State& state) {
  RunPods(
      state, kStayingPods, 1'000'000 * kSecondNs, 1,
      [](Engine& engine) {
        const int64_t last_ns = (static_cast<int64_t>(kStayingPods) - 1) * kBenchGapNs;
        absl::Status status;
        while (status.ok() && !engine.finished() && engine.now().ns() <= last_ns) {
          status = engine.Run();
        }
        return status;
      },
      [](DraRig& rig) -> const char* {
        size_t running = 0;
        const ControlPlane& plane = rig.plane();
        for (const Ref<Pod>& pod : plane.network().server().objects().of<Pod>().Sorted()) {
          running += pod->phase == KubePodPhase::kRunning ? 1u : 0u;
        }
        return running == kStayingPods ? nullptr : "not every pod runs";
      });
}
BENCHMARK(BM_PodsToRunning)->Apply(ClusterArgs);

// The full lifetime of a pod, from its arrival to the end of its claim.
void BM_PodsWithClaims(benchmark::State& state) {
  RunPods(
      state, kBenchPods, kSecondNs, 0, [](Engine& engine) { return engine.Run(); },
      [](DraRig& rig) -> const char* {
        // One cycle to ask the driver, one to bind.
        const uint64_t cycles = rig.plane().scheduler().attempts();
        return cycles == 2 * kBenchPods ? nullptr : "not every pod was bound in its second cycle";
      });
}
BENCHMARK(BM_PodsWithClaims)->Apply(ClusterArgs);

}  // namespace
}  // namespace drasim
