// LiveOverview: the overview of a run in progress; it grows with the run's records.
//
//   LiveOverview live(cluster, scenario, /*by_record=*/false, layouts);
//   live.OnRecord(record, live_state);                       // each
//   Publish(live.Now(cluster, live_state, layouts, pods));   // now and then
#ifndef DRASIM_GUI_SESSION_LIVE_OVERVIEW_H_
#define DRASIM_GUI_SESSION_LIVE_OVERVIEW_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "gui/session/run_overview.h"
#include "gui/session/series_builder.h"
#include "gui/view/pod_table.h"
#include "model/cluster_state.h"
#include "model/mig_slices.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"
#include "sim/record/slice_sampler.h"

namespace drasim::gui {

class LiveOverview {
 public:
  // The records of a block, for as many blocks; then blocks become twice as long. No extreme is
  // lost, and the curves of 100 million records keep some 60,000 blocks.
  static constexpr uint64_t kFirstBlockRecords = 256;
  static constexpr uint64_t kBlocksBeforeLonger = 8192;

  // `cluster` has the nodes as they are before the first record; `layouts` as for SliceSampler.
  // `by_record`: as in RunOverview. `run` has the data known beforehand: name and scenario.
  LiveOverview(RunOverview run, const ClusterState& cluster, bool by_record,
               std::optional<LayoutOfGpu> layouts);
  LiveOverview(const LiveOverview&) = delete;
  LiveOverview& operator=(const LiveOverview&) = delete;

  // `cluster` and `live` have seen the record. Amortised O(1), as SliceSampler::Sample at the ends
  // of blocks.
  void OnRecord(const Record& record, const ClusterState& cluster, const LiveState& live,
                std::optional<LayoutOfGpu> layouts);
  // The run up to its last record, with the percentiles of the waits of `pods`. O(blocks + pods log
  // pods).
  std::shared_ptr<const RunOverview> Now(const ClusterState& cluster, const LiveState& live,
                                         std::optional<LayoutOfGpu> layouts,
                                         const view::PodTable& pods);

 private:
  void EndBlock(const ClusterState& cluster, const LiveState& live,
                std::optional<LayoutOfGpu> layouts);

  RunOverview run_;
  SeriesBuilder builder_;
  SeriesFolder folder_;
  SliceSampler slices_;
  LedgerSeries series_;
  SimTime time_;
  uint64_t in_block_ = 0;
  uint64_t block_records_ = kFirstBlockRecords;
  uint64_t next_longer_ = kBlocksBeforeLonger;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_LIVE_OVERVIEW_H_
