// Flags that the bench commands share.
#ifndef DRASIM_SIM_APP_BENCH_FLAGS_H_
#define DRASIM_SIM_APP_BENCH_FLAGS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/app/flags.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"

namespace drasim {

// --tier and --filter.
absl::StatusOr<bench::Scope> BenchScopeOf(const ParsedFlags& flags);
// --timeout in seconds; `usual` without the flag.
absl::StatusOr<double> BenchTimeoutOf(const ParsedFlags& flags, double usual);

// A line for each problem, by PrintProblem.
void PrintCellProblems(absl::string_view what, const std::vector<bench::CellProblem>& problems,
                       const ParsedFlags& flags);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_BENCH_FLAGS_H_
