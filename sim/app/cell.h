// One cell of a comparison: one scenario run without output files, reduced to the figures that
// tables show. And what a comparison runs over: queues, policies, seeds.
#ifndef DRASIM_SIM_APP_CELL_H_
#define DRASIM_SIM_APP_CELL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/scenario.pb.h"
#include "sim/app/commands.h"
#include "sim/record/load_table.h"
#include "sim/record/order_hashes.h"

namespace drasim {

// What a replay meant for its jobs, each figure as summary.json has it (docs/metrics.md). A figure
// is missing when no job finished, when none ended (makespan), when the cluster had no GPU or no
// time passed (utilisation), when no GPU time was held (goodput).
struct ReplayFigures {
  int64_t jobs_finished = 0;
  int64_t preemptions = 0;
  std::optional<double> mean_jct_seconds;
  std::optional<double> p95_jct_seconds;
  std::optional<double> mean_queueing_seconds;
  std::optional<double> mean_slowdown;  // bounded
  std::optional<double> makespan_seconds;
  std::optional<double> gpu_utilisation_percent;  // allocated of capacity, averaged over time
  std::optional<double> goodput;                  // 0..1
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
  ReplayFigures replay;  // empty after a fill
  OrderHashes hashes;
  uint64_t fingerprint = 0;
  std::vector<std::string> warnings;

  // The row of that load; null when the run has none.
  const LoadRow* AtLoad(int64_t arrived_percent) const;
};

// One column of a comparison. Loads are percentages of the cluster's GPUs that have been requested
// so far.
struct CellMetric {
  const char* name;   // in files
  const char* title;  // in printed tables
  int decimals;       // in printed tables
  bool more_is_better;
  double (*value)(const CellResult&);  // not a number: the run has no such figure
};
absl::Span<const CellMetric> FillMetrics();
absl::Span<const CellMetric> ReplayMetrics();

// Builds and runs a resolved scenario. Thread-safe: cells share nothing.
absl::StatusOr<CellResult> RunCell(const proto::Scenario& scenario);

// Calls work(i) for i in [0, n) on up to `jobs` threads. The first error stops the handing out of
// further work and is returned. `done` is called after each success, one at a time.
absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done);

// The number of threads a flag asks for; all cores by default. InvalidArgument unless 1..256.
absl::StatusOr<size_t> ParseJobs(const std::string& text);

// "all" or empty: every built-in policy; else a comma-separated list. InvalidArgument for unknown
// names and for a name that is there twice.
absl::StatusOr<std::vector<std::string>> ParsePolicies(const std::string& text);

// What scheduler.queue may be: every built-in queue policy, then kubernetes.
std::vector<std::string> QueueNames();
// "all": all of these; else a comma-separated list. Errors as those of ParsePolicies.
absl::StatusOr<std::vector<std::string>> ParseQueues(const std::string& text);

// What competes in a comparison, beside seeds.
struct Contenders {
  std::vector<std::string> queues;    // one at least; a fill has one, which means nothing
  std::vector<std::string> policies;  // one at least
  // Resolved. That of queues[q] and policies[p] is number q * policies.size() + p.
  std::vector<proto::Scenario> scenarios;
};
// From --queues (default: the scenario's) and --policies (default: all, or the scenario's when
// --queues is given). Each queue has the defaults that it would have in a run of its own.
// InvalidArgument for what does not resolve, and for --queues in a fill.
absl::StatusOr<Contenders> MakeContenders(const ParsedFlags& flags, const GivenScenario& given);

// Whether another seed may lead to another run: false only when no source of the resolved scenario
// is random.
bool DependsOnSeed(const proto::Scenario& scenario);
// Says so in one line on standard error when there are several seeds and none of the contenders
// depends on them.
void NoteIdleSeeds(const Contenders& contenders, size_t seeds);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_CELL_H_
