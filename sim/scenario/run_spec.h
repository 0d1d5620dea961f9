// A checked scenario as values: enums, durations and options instead of keys and texts.
//
//   ASSIGN_OR_RETURN(RunSpec spec, ResolveScenario(scenario));  // errors begin with the key
//   if (spec.is_replay() && spec.scheduler.queue == QueueKind::kBatch) {
//     Use(spec.scheduler.batch);
//   }
//   spec.SetSeed(43);  // keeps spec.written->seed() in step
//   ASSIGN_OR_RETURN(std::unique_ptr<Simulation> sim, Simulation::Build(std::move(spec)));
//
// Each part has its own file pair in this folder. Other rooms take decisions from RunSpec, never
// from proto::Scenario. A value type.
#ifndef DRASIM_SIM_SCENARIO_RUN_SPEC_H_
#define DRASIM_SIM_SCENARIO_RUN_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/core/decision_list.h"
#include "sim/core/engine.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/front_end_spec.h"
#include "sim/scenario/node_event_spec.h"
#include "sim/scenario/node_failure_spec.h"
#include "sim/scenario/node_list_spec.h"
#include "sim/scenario/run_options.h"
#include "sim/scenario/scenario_message.h"
#include "sim/scenario/scheduler_spec.h"
#include "sim/scenario/workload_spec.h"

namespace drasim {

// The order of jobs, and the ranking of nodes.
enum class JobOrder : uint8_t {
  kArtifact,  // by name, then shuffled by the Go-compatible stream of the FGD experiments
  kSeeded,    // the same with drasim's own named streams
  kTrace,     // the order of the file
};

struct ClusterSpec {
  NodeListSpec nodes;
  std::optional<double> scale;
  std::string gpu_model;  // of every GPU; empty: the node list's
  std::vector<NodeEventSpec> events;
  std::optional<NodeFailureSpec> failures;
};

struct OutputSpec {
  std::string dir;  // empty: no files
  bool ledger = true;
  uint64_t max_ledger_bytes = 0;
};

struct RunSpec {
  std::string name;
  RunMode mode = RunMode::kFill;
  JobOrder order = JobOrder::kSeeded;
  uint64_t seed = 0;    // for every random stream of the run
  bool helios = false;  // the rules of HeliosArtifact's simulator (docs/fidelity.md)
  ClusterSpec cluster;
  WorkloadSpec workload;
  SchedulerSpec scheduler;
  FrontEndSpec front_end;
  std::optional<DraSpec> dra;  // with classic DRA
  EngineOptions engine;
  SimDuration bind_latency;
  std::vector<QuotaSpec> quotas;
  MetricWindows windows;
  OutputSpec output;
  // Decisions of another scheduler, which the run follows; null: the scenario's scheduler decides.
  std::shared_ptr<const DecisionList> decisions;
  // The resolved scenario, for scenario.yaml, the ledger and messages only.
  ScenarioMessage written;

  bool is_replay() const { return mode == RunMode::kReplay; }
  bool is_stream() const { return workload.stream_interval.has_value(); }

  // Manifests are kept as objects, so that the run's end can be written as objects, too.
  void KeepObjects() {
    cluster.nodes.keep_objects = true;
    workload.keep_objects = true;
  }

  // Setters that keep `written` in step.
  void SetSeed(uint64_t value);
  void SetOutputDir(const std::string& dir);
  absl::Status SetMaxLedger(const std::string& text);  // a value of output.max_ledger
  void SetNodesSha256(const std::string& sha256);
  void SetTraceSha256(const std::string& sha256);
};

// Values of the keys `mode` and `order`.
absl::string_view RunModeName(RunMode mode);
absl::string_view JobOrderName(JobOrder order);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_RUN_SPEC_H_
