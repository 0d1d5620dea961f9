// FGD's fragmentation over time.
#ifndef DRASIM_GUI_VIEW_FRAGMENTATION_SERIES_H_
#define DRASIM_GUI_VIEW_FRAGMENTATION_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gui/view/change_series.h"
#include "gui/view/pyramid.h"
#include "model/cluster_state.h"
#include "model/fragmentation.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim::view {

// Samples the idle GPUs that typical pods cannot use, in % of idle GPUs, about 2000 times a run.
// Nodes that have changed are counted again only when a sample is due, so the cost per record is
// small: O(1), and at a sample O(changed nodes x typical pods).
class FragmentationSeries {
 public:
  // Counts every node at the first record. `model` must outlive the series. `end`: of the run.
  FragmentationSeries(const FragmentationModel* model, const ClusterState& cluster, SimTime end);

  // After the record was applied. `now`: the sample's time, not before the last one.
  void Add(const Record& record, SimTime now, const ClusterState& cluster);
  // The last sample holds until the end of the run.
  Pyramid Take() { return series_.Take(end_); }

 private:
  FragmentationTracker tracker_;
  SimTime end_;
  int64_t step_;
  int64_t next_ = 0;           // time of the next sample
  std::vector<bool> changed_;  // by node: in stale_
  std::vector<size_t> stale_;
  ChangeSeries series_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_FRAGMENTATION_SERIES_H_
