#include "gui/view/wait_series.h"

#include <algorithm>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "gui/view/tenant_table.h"
#include "model/check.h"

namespace drasim::view {

WaitSeries WaitSeriesOf(const std::vector<PodStart>& starts, SimTime end, size_t buckets) {
  DRASIM_CHECK_GT(buckets, size_t{0});
  const int64_t length = std::max<int64_t>(end.ns(), 0);
  std::vector<std::vector<SimDuration>> waits(buckets);
  for (const PodStart& start : starts) {
    const int64_t ns = std::clamp<int64_t>(start.start.ns(), 0, length);
    const absl::int128 bucket =
        length == 0 ? 0 : absl::int128(ns) * static_cast<int64_t>(buckets) / length;
    waits[std::min(static_cast<size_t>(bucket), buckets - 1)].push_back(start.wait);
  }
  WaitSeries series;
  for (size_t b = 0; b < buckets; ++b) {
    if (waits[b].empty()) continue;
    const WaitFigures figures = WaitFiguresOf(&waits[b]);
    const SimTime begin(static_cast<int64_t>(absl::int128(length) * static_cast<int64_t>(b) /
                                             static_cast<int64_t>(buckets)));
    series.p50.Append(begin, figures.p50.seconds());
    series.p95.Append(begin, figures.p95.seconds());
  }
  return series;
}

}  // namespace drasim::view
