// Worlds side by side: the printed table, with a row per metric and a column per world, and the
// lines on failures below it.
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
  std::vector<MeanInterval> metrics;   // parallel to the table's
  std::vector<bool> defined;           // whether the world has the figure
  std::vector<FailureCount> failures;  // of the first seed
};

// A heading of two lines (front end, policy); then each metric: its mean, with +- if there are
// several seeds, and in brackets the difference from the first world, "=" for none. With `ansi`,
// the best value of a row is bold unless all are the same. REQUIRES: at least one column.
std::string WorldTable(absl::Span<const CellMetric> metrics, absl::Span<const WorldColumn> columns,
                       size_t seeds, bool ansi);

// The most frequent failures of each world that has some, three at most. Empty if none has.
std::string FailureLines(absl::Span<const WorldColumn> columns);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_WORLD_TABLE_H_
