// The part of `drasim bench` that is about costs: how instructions are counted, two binaries side
// by side, and tables of what they cost.
#ifndef DRASIM_SIM_APP_BENCH_COSTS_H_
#define DRASIM_SIM_APP_BENCH_COSTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sim/app/flags.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/cost_verdicts.h"
#include "sim/bench/side_by_side.h"

namespace drasim {

// --jobs, --timeout, --quiet and, with --instructions, how they are counted, for the scope. A
// QuietFailure(kExitMissing), after a message, if they are to be counted and cannot be.
absl::StatusOr<bench::BenchRunOptions> RunOptionsOf(const ParsedFlags& flags,
                                                    const bench::Scope& scope);

// bench compare BASE_BINARY HEAD_BINARY --suite FILE --out DIR.
absl::StatusOr<bench::SideBySide> RunBinaries(const ParsedFlags& flags, const bench::Scope& scope);

// Judges the costs of both sides, marks cells that are worse, and returns what there is to say.
// Empty if nothing was measured. `*not_compared`: there are no instructions to judge, or those of
// the sides do not compare.
std::string JudgeCosts(const bench::BenchResults& base, const bench::BenchResults& head,
                       absl::Span<const bench::CellTimes> times, const bench::Scope& scope,
                       bench::BenchComparison* comparison, bool* not_compared);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_BENCH_COSTS_H_
