// The metrics of suites: those of runs (sim/compare/cell_metrics.h), then those of cases.
#ifndef DRASIM_SIM_BENCH_BENCH_METRICS_H_
#define DRASIM_SIM_BENCH_BENCH_METRICS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/compare/cell.h"
#include "sim/sdra/case_answers.h"

namespace drasim::bench {

struct BenchMetric {
  const char* name;
  bool more_is_better = true;
  bool of_cases = false;  // of answers to cases, not of runs
};

// Names are unique.
const std::vector<BenchMetric>& BenchMetrics();

// InvalidArgument for an unknown name, with a suggestion. O(metrics).
absl::StatusOr<BenchMetric> FindBenchMetric(absl::string_view name);

// The figures as files have them, in the order of BenchMetrics(); empty for what the result lacks.
std::vector<std::string> BenchFigures(const CellResult& result);
std::vector<std::string> BenchFigures(const CaseAnswers& answers);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_METRICS_H_
