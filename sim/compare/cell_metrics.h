// The columns of comparisons: figures of a cell, by name.
#ifndef DRASIM_SIM_COMPARE_CELL_METRICS_H_
#define DRASIM_SIM_COMPARE_CELL_METRICS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/compare/cell.h"

namespace drasim {

// One column of a comparison. Loads are percentages of the cluster's GPUs that have been requested
// so far. docs/metrics.md has the units and where each figure comes from.
struct CellMetric {
  const char* name;   // in files
  const char* title;  // in printed tables
  int decimals;       // in printed tables
  bool more_is_better;
  double (*value)(const CellResult&);  // NaN: the run has no such figure
  bool at_load = false;  // at the moment when requests add up to a percentage of all GPUs
};

// The columns for fills and for replays. Columns of a fill are also defined for replays that
// reached the load; those of a replay are not defined for fills.
absl::Span<const CellMetric> FillMetrics();
absl::Span<const CellMetric> ReplayMetrics();
// The match of requests and devices. All but `acceptance` need a report on devices.
absl::Span<const CellMetric> DeviceMetrics();
// The starts of pods; these need a report on starts.
absl::Span<const CellMetric> StartMetrics();

// The metrics of a comparison of worlds by name: those of all families that tell worlds apart.
std::vector<CellMetric> WorldMetrics();
// The metric's label if it has a row of its own, which has room for more than the title.
absl::string_view RowLabel(const CellMetric& metric);

// All four families, in this order. Names and titles are unique.
std::vector<CellMetric> AllMetrics();

// The metric of that name. InvalidArgument for an unknown one, with a suggestion. O(metrics).
absl::StatusOr<CellMetric> FindMetric(absl::string_view name);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_CELL_METRICS_H_
