// One cell of a comparison: one scenario run without output files, reduced to the figures that
// tables show (cell_metrics.h names them).
#ifndef DRASIM_SIM_COMPARE_CELL_H_
#define DRASIM_SIM_COMPARE_CELL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/compare/start_figures.h"
#include "sim/record/load_table.h"
#include "sim/record/order_hashes.h"
#include "sim/run/device_outputs.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// The outcome of a replay for its jobs, each figure as summary.json has it (docs/metrics.md). A
// figure is missing when no job finished, when none ended (makespan), when the cluster had no GPU
// or no time passed (utilisation), when no GPU time was held (goodput).
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

// Why pods came to nothing, or had to try again: the text of a reason and how often. Of pods that
// were never placed, those for which some node gave it at their last attempt; then, of pods that
// nodes turned away, the times.
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
  StartFigures starts;                 // if asked for
  std::vector<FailureCount> failures;  // if starts are; most frequent first within either kind
  OrderHashes hashes;
  uint64_t fingerprint = 0;
  std::vector<std::string> warnings;

  // The row of that load; null when the run has none.
  const LoadRow* AtLoad(int64_t arrived_percent) const;
};

// Builds and runs a scenario. `with_starts`: how pods came to work, too, which takes
// memory for each pod. `on_progress` is called now and then with the share of the jobs that have
// arrived, below 1. `is_world`: InvalidArgument where pods ask for a resource that no node has, for
// a world without what its pods need says nothing about them. Thread-safe: cells share nothing.
absl::StatusOr<CellResult> RunCell(const RunSpec& spec, bool with_starts = false,
                                   const std::function<void(double)>& on_progress = nullptr,
                                   bool is_world = false);

// Calls work(i) for i in [0, n) on up to `jobs` threads. The first error stops the handing out of
// further work and is returned. `done` is called after each success, one at a time.
absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done);

// The number of threads a flag asks for; all cores by default. InvalidArgument unless 1..256.
absl::StatusOr<size_t> ParseJobs(const std::string& text);

// Whether another seed may lead to another run: false only when no source of the scenario is
// random.
bool DependsOnSeed(const RunSpec& spec);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_CELL_H_
