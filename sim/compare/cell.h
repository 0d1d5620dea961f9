// One cell of a comparison: one run of a scenario without output files, reduced to the figures that
// tables show (cell_metrics.h names them).
//
//   std::vector<CellResult> results(contenders.all.size());
//   RETURN_IF_ERROR(ForEachInParallel(
//       results.size(), jobs,
//       [&](size_t i) -> absl::Status {
//         ASSIGN_OR_RETURN(results[i], RunCell(contenders.all[i].WithSeed(42)));
//         return absl::OkStatus();
//       },
//       [](size_t) {}));
#ifndef DRASIM_SIM_COMPARE_CELL_H_
#define DRASIM_SIM_COMPARE_CELL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/compare/start_figures.h"
#include "sim/record/load_table.h"
#include "sim/record/order_hashes.h"
#include "sim/run/device_outputs.h"
#include "sim/run/work_steps.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

class Simulation;

// The figures of a replay's jobs, each as in summary.json (docs/metrics.md). A figure is absent if
// no job finished, if none ended (makespan), if the cluster had no GPU or no time passed
// (utilisation), if no GPU time was held (goodput).
struct ReplayFigures {
  bool present = false;  // the run was a replay
  int64_t jobs_submitted = 0;
  int64_t jobs_finished = 0;  // the means are over these
  int64_t preemptions = 0;
  std::optional<double> mean_jct_seconds;
  std::optional<double> p95_jct_seconds;
  std::optional<double> mean_queueing_seconds;
  std::optional<double> mean_slowdown;  // bounded
  std::optional<double> makespan_seconds;
  std::optional<double> gpu_utilisation_percent;  // allocated of capacity, averaged over time
  std::optional<double> goodput;                  // 0..1
};

// A reason why pods were not placed or had to try again. `count`: the pods that were never placed
// and for which some node gave the reason at the last attempt; or, for a reason that kubelets give,
// how often they gave it.
struct FailureCount {
  std::string reason;
  int64_t count = 0;
  bool operator==(const FailureCount&) const = default;
};

struct CellResult {
  int64_t pods_arrived = 0;
  int64_t pods_scheduled = 0;
  int64_t pods_unschedulable = 0;
  int64_t gpu_capacity_milli = 0;
  int64_t gpu_arrived_milli = 0;
  int64_t gpu_allocated_milli = 0;
  int64_t cpu_allocated_milli = 0;
  double fragmentation_milli = 0;          // 2 decimals
  double fragmentation_ratio_percent = 0;  // 2 decimals
  std::vector<LoadRow> by_load;
  ReplayFigures replay;
  DeviceFigures devices;
  StartFigures starts;                 // with `with_starts`
  std::vector<FailureCount> failures;  // likewise; most frequent first within either kind
  OrderHashes hashes;
  uint64_t fingerprint = 0;
  uint64_t records = 0;
  WorkSteps work;
  std::vector<std::string> warnings;

  // The row of that load; null if the run has none.
  const LoadRow* AtLoad(int64_t arrived_percent) const;
};

// Builds and runs a scenario. `with_starts`: also reports the starts of pods, which takes memory
// for each pod. `on_progress` is called now and then with the share of the jobs that have arrived,
// below
// 1. `is_world`: InvalidArgument if pods ask for a resource that no node has, since such a world
// says nothing about them. Thread-safe: cells share nothing.
absl::StatusOr<CellResult> RunCell(const RunSpec& spec, bool with_starts = false,
                                   const std::function<void(double)>& on_progress = nullptr,
                                   bool is_world = false);

// The figures of a simulation that has ended, without those of starts.
CellResult CellOf(const Simulation& sim);

// Whether another seed may lead to another run: false only if nothing in the scenario is random.
bool DependsOnSeed(const RunSpec& spec);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_CELL_H_
