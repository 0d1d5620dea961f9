// The key figures of a run, from its ledger alone.
//
// docs/metrics.md defines the figures of summary.json. These are simpler: they know records only,
// so the time before the first arrival and after the last start counts as any other.
#ifndef DRASIM_GUI_VIEW_RUN_FIGURES_H_
#define DRASIM_GUI_VIEW_RUN_FIGURES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "gui/view/node_slices.h"
#include "gui/view/pod_table.h"
#include "gui/view/tenant_table.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim::view {

struct RunFigures {
  SimTime end;  // of the last record
  int64_t pods = 0;
  int64_t started = 0;
  int64_t finished = 0;
  int64_t waiting = 0;  // at the end
  int64_t dropped = 0;
  int64_t attempts_failed = 0;
  int64_t evictions = 0;
  int64_t most_waiting = 0;  // pods at one time
  bool has_gpus = false;
  double allocated_percent_peak = 0;  // of the GPUs then there
  double allocated_percent_end = 0;
  // Means over time, from 0 to the end; zero in a run without virtual time.
  double allocated_percent_mean = 0;  // of the GPUs then there
  bool has_slices = false;
  double held_percent_mean = 0;      // of all memory slices
  double stranded_percent_mean = 0;  // the same
  double waiting_mean = 0;           // pods
  WaitFigures waits;                 // from arrival to the first start
};

// Follows the levels of a run: allocated GPUs, slices, waiting pods.
class FigureFold {
 public:
  // Counts every node as it is now. O(nodes x devices). `cluster` must outlive the fold, and so
  // must the callable of `layouts`, which tells of static MIG layouts as they are at each record;
  // absent if there are none.
  explicit FigureFold(const ClusterState* cluster,
                      std::optional<LayoutOfGpu> layouts = std::nullopt);

  // After the record was applied to the cluster and added to `pods`. O(devices of the node).
  void Add(const Record& record, const PodFold& pods);

  // The present levels.
  const SliceCounts& slices() const { return slices_; }
  double allocated_percent() const;

  // `pods`: of the same moment.
  RunFigures Figures(const PodTable& pods) const;

 private:
  void Advance(SimTime time);

  const ClusterState* cluster_;
  std::optional<LayoutOfGpu> layouts_;
  std::vector<SliceCounts> by_node_;
  SliceCounts slices_;  // the sum
  int64_t allocated_milli_ = 0;
  int64_t capacity_milli_ = 0;
  int64_t waiting_ = 0;
  int64_t most_waiting_ = 0;
  double peak_percent_ = 0;
  SimTime time_;
  // Level x nanoseconds.
  absl::uint128 allocated_sum_ = 0;
  absl::uint128 capacity_sum_ = 0;
  absl::uint128 held_sum_ = 0;
  absl::uint128 stranded_sum_ = 0;
  absl::uint128 slices_sum_ = 0;
  absl::uint128 waiting_sum_ = 0;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_RUN_FIGURES_H_
