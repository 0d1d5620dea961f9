// Worlds side by side: the printed table, with a row per metric and a column per world, and what
// stands below it.
#ifndef DRASIM_SIM_COMPARE_WORLD_TABLE_H_
#define DRASIM_SIM_COMPARE_WORLD_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/statistics.h"

namespace drasim {

struct WorldColumn {
  std::string name;                    // as in --worlds
  std::vector<MeanInterval> metrics;   // beside the table's
  std::vector<bool> defined;           // whether there is such a figure
  std::vector<FailureCount> failures;  // of the first seed
};

// A heading of two lines (front end, policy); then each metric: its mean, with +- where there are
// several seeds, and in brackets how much more it is than in the first world, "=" for just as much.
// The best value of a row is bold with `ansi`, unless all are the same. REQUIRES: at least one
// column.
std::string WorldTable(absl::Span<const CellMetric> metrics, absl::Span<const WorldColumn> columns,
                       size_t seeds, bool ansi);

// For each world that has some, its most frequent failures, three at most. Empty when none has.
std::string FailureLines(absl::Span<const WorldColumn> columns);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_WORLD_TABLE_H_
