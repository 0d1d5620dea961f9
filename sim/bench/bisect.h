// The first commit of a git history that changes what a benchmark does: `drasim bench bisect`.
//
//   BisectOptions options;
//   options.good = "v0.1.0";
//   options.bad = "HEAD";
//   ASSIGN_OR_RETURN(const BisectResult result, Bisect(cells, options));
//   result.changes[0].commits[0];
//
// Commits are built in worktrees and run the cells with `drasim run`, so that the history may reach
// back beyond benchmark suites. Nothing in the repository's own working tree is touched.
#ifndef DRASIM_SIM_BENCH_BISECT_H_
#define DRASIM_SIM_BENCH_BISECT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bisect_options.h"

namespace drasim::bench {

struct BisectChange {
  // One commit; several if those before the last could not be tested, and one of them made the
  // change. Oldest last.
  std::vector<std::string> commits;
  std::string subject;  // of the first of them
  std::vector<FigureStep> figures;
  // Before and after the change; absent if all decisions are the same.
  std::optional<std::array<BisectDecision, 2>> decision;
};

struct BisectResult {
  std::vector<BisectChange> changes;  // oldest first; empty: both ends agree
  size_t commits = 0;                 // between the two ends
  size_t built = 0;                   // programs that were built
  std::vector<std::string> skipped;   // could not be built or run
};

// `cells`: at least one. A commit that cannot be built or run is skipped, as by `git bisect skip`.
// InvalidArgument for names that are no commits and if `good` is no ancestor of `bad`; errors of
// git; FailedPrecondition if one of the ends cannot be built or run. O(log commits) builds for each
// change.
absl::StatusOr<BisectResult> Bisect(const std::vector<BenchCell>& cells,
                                    const BisectOptions& options);

// Lines for people.
std::string BisectText(const BisectResult& result);
// drasim.bench-bisect/v1.
std::string BisectJson(const BisectResult& result);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BISECT_H_
