#include "gui/session/series_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gui/view/node_groups.h"
#include "gui/view/wait_series.h"

namespace drasim::gui {
namespace {

// Larger than any run asks for; a damaged ledger may.
constexpr double kMostLoadPercent = 1e6;

constexpr size_t MetricNumber(absl::string_view name) {
  size_t metric = 0;
  while (metric < kSeriesMetrics && kSeriesNames[metric] != name) ++metric;
  return metric;
}
constexpr size_t kCapacityMetric = MetricNumber("gpu_capacity_milli");
constexpr size_t kArrivedMetric = MetricNumber("gpu_arrived_milli");
static_assert(kCapacityMetric < kSeriesMetrics && kArrivedMetric < kSeriesMetrics);

double LoadOf(int64_t arrived, int64_t capacity) {
  if (capacity <= 0) return 0;
  return std::clamp(100 * static_cast<double>(arrived) / static_cast<double>(capacity), 0.0,
                    kMostLoadPercent);
}

void HoldUntil(SimTime end, view::Pyramid* data) {
  if (data->empty() || data->time(data->size() - 1) >= end) return;
  data->Append(end, data->value(data->size() - 1));
}

}  // namespace

void SeriesBuilder::AddBlocks(const LedgerSeries& series, size_t from) {
  if (overview_.series.empty()) SetNames(series.names);
  for (size_t b = from; b < series.blocks.size(); ++b) {
    const SeriesBlock& block = series.blocks[b];
    SimTime begin = block.begin;
    SimTime end = block.end;
    if (overview_.by_record) {
      begin = SimTime(static_cast<int64_t>(block.first_record + 1));
      end = SimTime(static_cast<int64_t>(block.first_record + block.records));
    }
    begin = std::max(begin, latest_);
    latest_ = end = std::max(begin, end);
    for (size_t m = 0; m < series.names.size(); ++m) {
      const SeriesPoint& point = series.points[m][b];
      view::SampleSummary summary;
      summary.first = static_cast<double>(point.first);
      summary.last = static_cast<double>(point.last);
      summary.min = std::min({static_cast<double>(point.least), summary.first, summary.last});
      summary.max = std::max({static_cast<double>(point.largest), summary.first, summary.last});
      overview_.series[m].data.AppendBlock(begin, end, summary);
    }
    AddLoad(begin, end, series, b);
  }
}

void SeriesBuilder::AddRecord(SimTime time, const LiveState& live, const SliceCounts& slices) {
  if (overview_.series.empty()) {
    SetNames({std::begin(kSeriesNames), std::end(kSeriesNames)});
  }
  time = latest_ = std::max(latest_, time);
  const SeriesValues values = SeriesValuesOf(live, slices);
  for (size_t m = 0; m < kSeriesMetrics; ++m) {
    if (!own_[m].has_value()) continue;
    view::Pyramid& data = overview_.series[*own_[m]].data;
    const auto value = static_cast<double>(values[m]);
    if (data.empty() || data.value(data.size() - 1) != value) data.Append(time, value);
  }
  const double load = LoadOf(values[kArrivedMetric], values[kCapacityMetric]);
  if (overview_.gpus > 0 && (overview_.load.empty() || load > load_)) {
    load_ = std::max(load, load_);
    overview_.load.Append(time, load_);
  }
}

void SeriesBuilder::SetNames(const std::vector<std::string>& names) {
  overview_.series.resize(names.size());
  for (size_t m = 0; m < names.size(); ++m) {
    overview_.series[m].name = names[m];
    for (size_t k = 0; k < kSeriesMetrics; ++k) {
      if (names[m] == kSeriesNames[k]) own_[k] = m;
    }
  }
}

void SeriesBuilder::AddLoad(SimTime begin, SimTime end, const LedgerSeries& series, size_t b) {
  if (overview_.gpus == 0 || !own_[kArrivedMetric].has_value() ||
      !own_[kCapacityMetric].has_value()) {
    return;
  }
  const SeriesPoint& arrived = series.points[*own_[kArrivedMetric]][b];
  const SeriesPoint& capacity = series.points[*own_[kCapacityMetric]][b];
  view::SampleSummary summary;
  summary.first = summary.min = std::max(load_, LoadOf(arrived.first, capacity.first));
  summary.last = summary.max = std::max(summary.first, LoadOf(arrived.last, capacity.last));
  load_ = summary.last;
  overview_.load.AppendBlock(begin, end, summary);
}

void HoldSeries(SimTime end, RunOverview* overview) {
  for (MetricSeries& series : overview->series) HoldUntil(end, &series.data);
  HoldUntil(end, &overview->load);
}

void DescribeNodes(const ClusterState& cluster, RunOverview* overview) {
  overview->nodes = static_cast<int64_t>(cluster.node_count());
  overview->label_keys = view::LabelKeysOf(cluster);
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    overview->gpus += cluster.node(NodeId(n)).gpu_count;
    overview->slices |= cluster.any_mig() && cluster.has_mig(NodeId(n));
  }
}

void AddWaits(const view::PodTable& pods, RunOverview* overview) {
  std::vector<view::PodStart> starts;
  for (size_t p = 0; p < pods.rows(); ++p) {
    const view::PodRow& row = pods.row(p);
    if (row.started) starts.push_back({row.first_start, row.first_start - row.arrival});
  }
  if (starts.empty()) return;
  view::WaitSeries waits = view::WaitSeriesOf(starts, overview->end);
  overview->series.push_back({"wait_p50", std::move(waits.p50)});
  overview->series.push_back({"wait_p95", std::move(waits.p95)});
}

}  // namespace drasim::gui
