// Fills the curves of a RunOverview: from the blocks of a ledger, and from records behind them.
//
//   SeriesBuilder builder(&overview);
//   builder.AddBlocks(series, 0);
//   builder.AddRecord(time, live, slices);
//   HoldSeries(end, &overview);
#ifndef DRASIM_GUI_SESSION_SERIES_BUILDER_H_
#define DRASIM_GUI_SESSION_SERIES_BUILDER_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gui/session/run_overview.h"
#include "gui/view/pod_table.h"
#include "model/cluster_state.h"
#include "model/mig_slices.h"
#include "model/time.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"

namespace drasim::gui {

// Knows where in the overview its curves stand: nobody may add others before it is done. The
// overview outlives it, and says whether the clock counts records and how many GPUs there are.
class SeriesBuilder {
 public:
  explicit SeriesBuilder(RunOverview* overview) : overview_(*overview) {}

  // Adds the blocks from `from` on. REQUIRES: all calls are about series with the same names.
  void AddBlocks(const LedgerSeries& series, size_t from);
  // After a record at that instant of the clock. Samples are added where values change.
  void AddRecord(SimTime time, const LiveState& live, const SliceCounts& slices);
  // The instant of the last sample.
  SimTime latest() const { return latest_; }

 private:
  void SetNames(const std::vector<std::string>& names);
  // Never decreases, also where nodes join.
  void AddLoad(SimTime begin, SimTime end, const LedgerSeries& series, size_t b);

  RunOverview& overview_;
  SimTime latest_;
  double load_ = 0;
  // By our number of a metric: its place among the overview's.
  std::array<std::optional<size_t>, kSeriesMetrics> own_;
};

// The last values hold until then.
void HoldSeries(SimTime end, RunOverview* overview);
// Sets what the overview tells of the nodes.
void DescribeNodes(const ClusterState& cluster, RunOverview* overview);
// Percentiles of the waits, by the overview's end. O(pods log pods).
void AddWaits(const view::PodTable& pods, RunOverview* overview);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_SERIES_BUILDER_H_
