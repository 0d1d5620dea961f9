// Results and verdicts of a suite for the formats of other tools (sim/outputs).
#ifndef DRASIM_SIM_BENCH_BENCH_OUTPUTS_H_
#define DRASIM_SIM_BENCH_BENCH_OUTPUTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"
#include "sim/outputs/result_set.h"

namespace drasim::bench {

// A check for each cell: passed if it ran, else failed or missing. The figures are its metrics, its
// counters of work, and the columns of costs.csv, whose text is `costs`. `suite_path`: where
// annotations point to.
ResultSet BenchRunResults(const BenchResults& results, const BenchRunSummary& summary,
                          absl::string_view costs, const std::string& suite_path);

// A check for each cell: passed if it is the same, failed if it is worse, changed if it is other,
// better or unclear. The figures are the means of the metrics that differ, and the differences as
// METRIC_difference with their 95 % intervals. If `base_path` is a baseline's file, checks point to
// their rows in it; `base` has its rows.
ResultSet BenchCompareResults(const BenchComparison& comparison, const BenchResults& base,
                              const std::string& base_path);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_OUTPUTS_H_
