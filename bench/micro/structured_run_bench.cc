// Structured DRA's control plane: whole runs without latencies and without files, which measure
// only the simulator's own work. As dra_bench for classic DRA.
//
// Goals on one core of an x86-64 machine of 2020 or later, per pod with one claim from a template,
// from its arrival to its start on 500 nodes: 20 us with whole devices, 50 us with partitions.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

constexpr int64_t kPods = 4000;  // they stay: 500 nodes have room for 4,000 and more

struct Devices {
  const char* device_class;
  const char* selector;
  const char* node;
  const char* driver;
};
constexpr Devices kWhole = {"gpu.example.com", R"(device.driver == "gpu.example.com")", "",
                            "kind: gpu.example.com, devices: 10"};
constexpr Devices kPartitions = {
    "mig.nvidia.com", R"(device.attributes["gpu.nvidia.com"].profile == "1g.5gb")",
    ", gpus: 8, gpu_model: A100-SXM4-40GB", "kind: gpu.nvidia.com, mig: dynamic"};

proto::Scenario ScenarioOf(const Devices& devices, int64_t nodes, const std::string& manifest) {
  std::ofstream(manifest) << absl::StrCat(R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: )",
                                          devices.device_class, R"(
          selectors:
          - cel: {expression: ')",
                                          devices.selector, "'}\n");
  const std::string text = absl::StrCat(R"(
mode: replay
order: trace
cluster:
  nodes: )",
                                        nodes, R"(
  node: {cpu: "64", memory: 256Gi)",
                                        devices.node,
                                        R"(}
front_end:
  kind: dra-structured
  structured:
    zero_latency: true
    slices: [)",
                                        manifest, R"(]
    drivers: [{)",
                                        devices.driver, "}]\n");
  proto::Scenario scenario;
  DRASIM_CHECK(MergeYaml(text, "bench", &scenario).ok());
  for (int64_t i = 0; i < kPods; ++i) {
    proto::InlineJob* const job = scenario.mutable_workload()->add_jobs();
    job->set_name(absl::StrCat("p", i));
    job->set_cpu("1");
    job->set_memory("1Gi");
    job->set_run_time("1000000s");
    job->set_arrival(absl::StrCat(i, "ms"));
    proto::InlineClaim* const claim = job->add_claims();
    claim->set_name("gpu");
    claim->set_template_("one");
  }
  scenario.mutable_output()->set_ledger(false);
  return scenario;
}

// From a pod's arrival to its start.
void BM_StructuredPodsToRunning(benchmark::State& state, const Devices& devices) {
  const std::string manifest =
      (std::filesystem::temp_directory_path() / "drasim_structured_bench.yaml").string();
  const proto::Scenario scenario = ScenarioOf(devices, state.range(0), manifest);
  for (auto _ : state) {
    state.PauseTiming();
    const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
    DRASIM_CHECK(spec.ok());
    auto sim = *Simulation::Build(*spec);
    sim->set_stop_after_events(1);
    DRASIM_CHECK(sim->Start().ok());
    const SimTime last = SimTime() + SimDuration((kPods - 1) * 1'000'000);
    // The slices are published, and each class and the cluster's states are known.
    while (sim->engine().now() < SimTime() + SimDuration(1'000'000)) DRASIM_CHECK(sim->Run().ok());
    state.ResumeTiming();
    while (!sim->engine().finished() && sim->engine().now() <= last) {
      DRASIM_CHECK(sim->Run().ok());
    }
    state.PauseTiming();
    if (sim->engine().pods_waiting() > 0) state.SkipWithError("not every pod runs");
    sim.reset();
    state.ResumeTiming();
  }
  std::filesystem::remove(manifest);
  state.SetItemsProcessed(state.iterations() * kPods);
  state.counters["per_pod"] =
      benchmark::Counter(static_cast<double>(kPods), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(BM_StructuredPodsToRunning, whole, kWhole)
    ->ArgName("nodes")
    ->Arg(500)
    ->Arg(5000)
    ->Arg(50000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_StructuredPodsToRunning, partitions, kPartitions)
    ->ArgName("nodes")
    ->Arg(500)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
