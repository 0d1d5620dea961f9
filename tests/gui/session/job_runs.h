// A tiny scenario for the tests of workers, and its run as `drasim run` makes it.
#ifndef DRASIM_TESTS_GUI_SESSION_JOB_RUNS_H_
#define DRASIM_TESTS_GUI_SESSION_JOB_RUNS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"
#include "tests/testing/assert_ok.h"

namespace drasim {

// Two nodes of two GPUs. `least-allocated` spreads the small pods, so `wide` waits for an hour;
// `most-allocated` packs them.
inline constexpr char kTinyScenario[] = R"(name: tiny
mode: replay
order: trace
cluster:
  nodes: 2
  node: {cpu: "16", memory: 64Gi, gpus: 2, gpu_model: V100}
workload:
  jobs:
    - {name: small-a, cpu: "2", gpus: 1, run_time: 1h, tenant: red}
    - {name: small-b, cpu: "2", gpus: 1, run_time: 1h, arrival: 1s, tenant: blue}
    - {name: wide, cpu: "4", gpus: 2, run_time: 10m, arrival: 2s, tenant: red}
scheduler: {policy: least-allocated}
)";

using JobSettings = std::vector<std::pair<std::string, std::string>>;

// Leaves the files of the run in `dir`, as `drasim run FILE --set ... --out DIR` does.
inline void RunFile(const std::string& file, const JobSettings& settings, const std::string& dir) {
  ASSERT_OK_AND_ASSIGN(GivenScenario given, ReadGiven(file));
  for (const auto& [key, value] : settings) {
    ASSERT_EQ(OverrideKey(key, value, "--set", &given), absl::OkStatus());
  }
  SetOutputDir(dir, &given);
  ASSERT_OK_AND_ASSIGN(RunSpec spec, ResolveGiven(given));
  ASSERT_OK_AND_ASSIGN(const auto lock, PrepareOutputDir(dir, /*force=*/false));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Simulation> sim, Simulation::Build(std::move(spec)));
  ASSERT_OK_AND_ASSIGN(const auto outputs, RunOutputs::Attach(sim.get(), dir));
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_EQ(outputs->Complete(0), absl::OkStatus());
}

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_SESSION_JOB_RUNS_H_
