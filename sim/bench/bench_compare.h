// Compares the results of a suite with earlier ones: a verdict for every cell.
//
//   ASSIGN_OR_RETURN(const BenchResults base, ReadBenchResults("bench/baseline/core.csv"));
//   ASSIGN_OR_RETURN(const BenchResults head, ReadBenchResults("results/bench"));
//   ASSIGN_OR_RETURN(const BenchComparison comparison, CompareBench(base, head, Scope()));
//   if (comparison.Count(CellVerdict::kWorse) > 0) ...
//
// docs/benchmarks.md has the rules for users.
#ifndef DRASIM_SIM_BENCH_BENCH_COMPARE_H_
#define DRASIM_SIM_BENCH_BENCH_COMPARE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/suite.h"
#include "sim/compare/paired.h"
#include "sim/compare/verdict.h"

namespace drasim::bench {

// The cells that count, beside what both sides were asked to run.
struct Scope {
  std::optional<Tier> last;
  Filter filter;
};

// A figure that differs between the two sides, over the seeds of a group.
struct FigureChange {
  absl::string_view metric;
  double base_mean = 0;
  double head_mean = 0;
  PairedDifference difference;  // of groups with randomness
  double adjusted_p = 1;        // likewise
};

// The cells of one entry, queue and policy that both sides have.
struct BenchGroup {
  CellId id;  // of the first cell; its seed is of no account
  size_t cells = 0;
  size_t changed = 0;  // cells whose decisions or figures differ
  bool random = false;
  CellVerdict verdict = CellVerdict::kSame;  // on the primary metric
  Primary primary;
  FigureChange primary_change;  // adjusted after Holm
  // Other metrics that differ: all of a group without randomness, else those significant at 5 %
  // after Benjamini and Hochberg. For information.
  std::vector<FigureChange> secondary;
};

struct CellComparison {
  CellId id;
  CellVerdict verdict = CellVerdict::kSame;
  std::string base_figure;  // of the primary metric, as written; empty: none
  std::string head_figure;
  std::string why;  // one line; empty for a cell that is the same in every column
};

struct BenchComparison {
  std::vector<CellComparison> cells;  // sorted
  std::vector<BenchGroup> groups;     // sorted
  size_t tests = 0;                   // groups with randomness that have changed

  size_t Count(CellVerdict verdict) const;
  // Cells that both sides have run on the same inputs.
  size_t Compared() const { return cells.size() - Count(CellVerdict::kMissing); }
};

// Work counters may grow by a hundredth.
inline constexpr uint64_t kCounterGatePercent = 1;

// A cell is
//   missing  if one side lacks it, or ran other inputs;
//   same     if fingerprint and all metrics agree;
//   better, other, unclear or worse else, as JudgeOutcome and JudgeExactOutcome say about the
//   primary
//            metric of its group, with Holm's adjustment over all groups that have changed. Groups
//            without any change cannot raise a false alarm, so they are not counted;
//   worse    in any case if a counter that both sides have grew by more than kCounterGatePercent:
//            decisions, nodes filtered and scored, events, queue operations, calls of allocators,
//            of the API and, by plugin, of filters and scores.
// InvalidArgument for results of different suites or versions.
absl::StatusOr<BenchComparison> CompareBench(const BenchResults& base, const BenchResults& head,
                                             const Scope& scope);

// --- Baselines ---

struct Acceptance {
  BenchTable table;
  size_t rewritten = 0;
  size_t added = 0;
  size_t removed = 0;                // the suite no longer has them
  std::vector<CellProblem> missing;  // did not run; their rows stay
};

// The baseline with the rows of `head`. Rows that are equal in all columns but the reason, as far
// as the baseline has the columns, keep their reason; the others get `reason`. A new version of the
// suite replaces all rows, which takes results of the whole suite. `base` may be empty.
// InvalidArgument for another suite, and for results of a part if the version is new or the
// baseline lacks counters.
absl::StatusOr<Acceptance> AcceptResults(const BenchTable& base, const BenchResults& head,
                                         const std::string& reason);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_COMPARE_H_
