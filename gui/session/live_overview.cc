#include "gui/session/live_overview.h"

#include <algorithm>
#include <utility>

#include "gui/view/inspect_node.h"
#include "model/check.h"

namespace drasim::gui {

LiveOverview::LiveOverview(RunOverview run, const ClusterState& cluster, bool by_record,
                           std::optional<LayoutOfGpu> layouts)
    : run_(std::move(run)), builder_(&run_), slices_(cluster, layouts) {
  run_.by_record = by_record;
  run_.partial = true;
  DescribeNodes(cluster, &run_);
}

void LiveOverview::OnRecord(const Record& record, const ClusterState& cluster,
                            const LiveState& live, std::optional<LayoutOfGpu> layouts) {
  folder_.OnRecord(record, live);
  slices_.OnRecord(record);
  ++run_.records;
  time_ = std::max(time_, record.time);
  if (record.kind == RecordKind::kNodeChanged || record.kind == RecordKind::kDevicesChanged) {
    const SimTime at = run_.by_record ? SimTime(static_cast<int64_t>(run_.records)) : record.time;
    run_.events.push_back({{at, run_.records},
                           cluster.node_spec(record.node).name,
                           view::NodeEventText(record),
                           view::TakesNoPods(record)});
  }
  if (++in_block_ >= block_records_) EndBlock(cluster, live, layouts);
}

void LiveOverview::EndBlock(const ClusterState& cluster, const LiveState& live,
                            std::optional<LayoutOfGpu> layouts) {
  in_block_ = 0;
  const SliceCounts before = slices_.counts();
  folder_.EndBlock(live, before, slices_.Sample(cluster, live, layouts));
  const size_t known = series_.blocks.size();
  DRASIM_CHECK(UnpackSeries(folder_.Pack(), cluster.node_count(), &series_));
  folder_.Clear();
  builder_.AddBlocks(series_, known);
  if (series_.blocks.size() < next_longer_) return;
  block_records_ *= 2;
  next_longer_ += kBlocksBeforeLonger;
}

std::shared_ptr<const RunOverview> LiveOverview::Now(const ClusterState& cluster,
                                                     const LiveState& live,
                                                     std::optional<LayoutOfGpu> layouts,
                                                     const view::PodTable& pods) {
  if (in_block_ > 0) EndBlock(cluster, live, layouts);
  auto now = std::make_shared<RunOverview>(run_);
  now->end = run_.by_record ? SimTime(static_cast<int64_t>(run_.records)) : time_;
  now->pods = live.counter(RunCounter::kPodsArrived);
  HoldSeries(now->end, now.get());
  if (!now->by_record) AddWaits(pods, now.get());
  return now;
}

}  // namespace drasim::gui
