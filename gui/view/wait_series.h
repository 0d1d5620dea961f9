// The waits of a run over its clock: medians and 95th percentiles of pods that start together.
#ifndef DRASIM_GUI_VIEW_WAIT_SERIES_H_
#define DRASIM_GUI_VIEW_WAIT_SERIES_H_

#include <cstddef>
#include <vector>

#include "gui/view/pyramid.h"
#include "model/time.h"

namespace drasim::view {

struct PodStart {
  SimTime start;     // the first one
  SimDuration wait;  // from arrival to there
};

// In seconds.
struct WaitSeries {
  Pyramid p50;
  Pyramid p95;
};

inline constexpr size_t kWaitBuckets = 500;

// The clock from 0 to `end` in equal buckets. A bucket with starts has a sample at its begin, the
// nearest-rank percentiles of their waits; others have none, so the values of the bucket before
// hold. Starts outside of the clock count in its first or last bucket. REQUIRES: buckets > 0.
// O(n log n).
WaitSeries WaitSeriesOf(const std::vector<PodStart>& starts, SimTime end,
                        size_t buckets = kWaitBuckets);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WAIT_SERIES_H_
