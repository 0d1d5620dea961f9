// A folder of scheduler_perf configurations as a benchmark suite: one cell for each workload.
//
//   PerfSelection selection;
//   selection.root = "scheduler_perf";
//   selection.labels = "performance,-short";
//   ASSIGN_OR_RETURN(const PerfSuite suite, ReadPerfSuite(selection));
//   ASSIGN_OR_RETURN(const std::vector<PerfReport> reports,
//                    RunPerfSuite(suite, PerfRunOptions(), "results"));
//
// A cell is called FOLDER/CASE/WORKLOAD/kubernetes/kube-scheduler/SEED.
#ifndef DRASIM_SIM_PERF_PERF_SUITE_H_
#define DRASIM_SIM_PERF_PERF_SUITE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/suite.h"
#include "sim/perf/perf_config.h"
#include "sim/perf/perf_report.h"
#include "sim/scenario/run_spec.h"

namespace drasim::perf {

inline constexpr char kPerfSuiteName[] = "scheduler_perf";
// Grows when a figure changes its meaning.
inline constexpr int32_t kPerfSuiteVersion = 1;
// The attempt's duration unless timing.schedule is set.
inline constexpr char kPerfAttemptLatency[] = "1ms";

struct PerfSelection {
  std::string root;
  std::string overlay;  // a folder whose files replace templates; empty: none
  // Labels that a workload must have, and with a leading '-' must not have, separated by commas.
  std::string labels;
  bench::Filter filter;
  std::optional<bench::Tier> last;    // workloads of later tiers are left out
  std::vector<std::string> settings;  // KEY=VALUE of scenario keys: scheduler, timing, seed
};

struct PerfEntry {
  bench::CellId id;
  bench::Tier tier = bench::Tier::kNightly;
  std::string folder;  // of the configuration, below the root
  const PerfCase* of = nullptr;
  const PerfWorkload* workload = nullptr;
};

struct PerfSuite {
  std::vector<std::unique_ptr<const PerfConfig>> configs;
  std::vector<PerfEntry> entries;  // sorted by id
  bool complete = true;            // nothing was left out
  std::string root;
  std::string overlay;
  std::string config_texts;  // of all configurations
  RunSpec spec;
};

// Reads every performance-config.yaml below the root. NotFound if there is none. InvalidArgument as
// ReadPerfConfig, for malformed settings, and for settings that a simulated cluster of these
// objects does not have.
absl::StatusOr<PerfSuite> ReadPerfSuite(const PerfSelection& selection);

// Checks and runs one workload in this process. Never fails: the report says why.
PerfReport RunPerfEntry(const PerfSuite& suite, const PerfEntry& entry);
// Checks whether the entry can run, without running it: kRefused or kFailed, else kRuns without
// figures.
PerfReport CheckPerfEntry(const PerfSuite& suite, const PerfEntry& entry);

struct PerfRunOptions {
  size_t jobs = 1;
  double timeout_seconds = 600;  // for each workload
  bool quiet = false;
  // Identifies the program: workloads that another program ran are run again.
  std::string program;
};

// Runs all, each in a process of its own, and leaves in `dir` the files of a suite's results
// (sim/bench/bench_run.h) and perf.csv. Each report is kept at once in perf.partial; a later call
// with the same folder takes it from there, unless a file below the root or the overlay, a setting
// or the program has changed. Reports are in the order of the entries. Errors of files.
absl::StatusOr<std::vector<PerfReport>> RunPerfSuite(const PerfSuite& suite,
                                                     const PerfRunOptions& options,
                                                     const std::string& dir);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_SUITE_H_
