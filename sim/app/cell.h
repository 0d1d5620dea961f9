// One cell of a comparison: one scenario run without output files, reduced to the figures that
// tables show.
#ifndef DRASIM_SIM_APP_CELL_H_
#define DRASIM_SIM_APP_CELL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/record/load_table.h"
#include "sim/record/order_hashes.h"

namespace drasim {

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
  OrderHashes hashes;
  uint64_t fingerprint = 0;
  std::vector<std::string> warnings;

  // The row of that load; null when the run has none.
  const LoadRow* AtLoad(int64_t arrived_percent) const;
};

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
// names.
absl::StatusOr<std::vector<std::string>> ParsePolicies(const std::string& text);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_CELL_H_
