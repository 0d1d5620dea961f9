#include "sim/record/ledger_series.h"

#include <algorithm>

#include "model/check.h"
#include "model/proto/ledger.pb.h"

namespace drasim {
namespace {

// Whether a level can differ after records of the kind.
bool ChangesLevels(RecordKind kind) {
  return kind != RecordKind::kAttemptFailed && kind != RecordKind::kPodStarted &&
         kind != RecordKind::kDevicesChanged && kind != RecordKind::kRunEnded;
}

// The difference and the sum of values that a hostile ledger may claim: they wrap around.
uint64_t WrappedGap(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}
int64_t WrappedSum(int64_t from, uint64_t gap) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + gap);
}

// The first kSeriesLevels values; the others stay unchanged.
void WriteLevels(const LiveState& live, SeriesValues* values) {
  const LiveTotals& t = live.totals();
  const std::array<int64_t, kSeriesLevels> levels = {
      static_cast<int64_t>(live.pods().size()) - t.pods_resident,
      t.pods_resident,
      t.gpu_milli_allocated,
      t.gpu_milli_capacity,
      t.gpus_in_use,
      t.cpu_milli_allocated,
      t.memory_bytes_allocated,
      t.nodes_in_use,
      t.nodes_available};
  std::copy(levels.begin(), levels.end(), values->begin());
}

}  // namespace

SeriesValues SeriesValuesOf(const LiveState& live) {
  SeriesValues values{};
  WriteLevels(live, &values);
  for (size_t c = 0; c < kRunCounters; ++c) {
    values[kSeriesLevels + c] = live.counter(static_cast<RunCounter>(c));
  }
  return values;
}

void SeriesFolder::OnRecord(const Record& record, const LiveState& live) {
  block_.end = record.time;
  if (block_.records++ == 0) {
    block_.begin = record.time;
    first_ = least_ = largest_ = SeriesValuesOf(live);
    return;
  }
  if (!ChangesLevels(record.kind)) return;
  SeriesValues now{};
  WriteLevels(live, &now);
  for (size_t m = 0; m < kSeriesLevels; ++m) {
    least_[m] = std::min(least_[m], now[m]);
    largest_[m] = std::max(largest_[m], now[m]);
  }
}

void SeriesFolder::EndBlock(const LiveState& live) {
  DRASIM_CHECK(block_.records > 0);
  const SeriesValues last = SeriesValuesOf(live);
  for (size_t m = 0; m < kSeriesMetrics; ++m) {
    SeriesPoint point;
    point.first = first_[m];
    point.last = last[m];
    point.least = m < kSeriesLevels ? least_[m] : first_[m];
    point.largest = m < kSeriesLevels ? largest_[m] : last[m];
    points_[m].push_back(point);
  }
  blocks_.push_back(block_);
  block_.first_record += block_.records;
  block_.records = 0;
}

void SeriesFolder::Clear() {
  blocks_.clear();
  for (std::vector<SeriesPoint>& points : points_) points.clear();
}

std::string SeriesFolder::Pack() const {
  DRASIM_CHECK(!blocks_.empty());
  proto::LedgerSeries series;
  series.set_records(blocks_.back().first_record + blocks_.back().records);
  series.set_time_ns(blocks_.back().end.ns());
  series.set_first_record(blocks_.front().first_record);
  SimTime before;
  for (const SeriesBlock& block : blocks_) {
    series.add_block_records(block.records);
    series.add_block_begin_ns(block.begin.ns() - before.ns());
    series.add_block_end_ns(block.end.ns() - block.begin.ns());
    before = block.end;
  }
  for (size_t m = 0; m < kSeriesMetrics; ++m) {
    proto::LedgerSeriesColumn* const column = series.add_columns();
    column->set_name(kSeriesNames[m]);
    int64_t last = 0;
    for (const SeriesPoint& point : points_[m]) {
      column->add_first(point.first - last);
      column->add_last(point.last - point.first);
      column->add_least(WrappedGap(point.least, point.first));
      column->add_largest(WrappedGap(point.first, point.largest));
      last = point.last;
    }
  }
  return series.SerializeAsString();
}

bool UnpackSeries(const std::string& payload, LedgerSeries* series) {
  proto::LedgerSeries p;
  if (!p.ParseFromString(payload)) return false;
  const int n = p.block_records_size();
  if (p.block_begin_ns_size() != n || p.block_end_ns_size() != n) return false;
  if (series->blocks.empty()) {
    series->names.clear();
    for (const proto::LedgerSeriesColumn& column : p.columns()) {
      series->names.push_back(column.name());
    }
    series->points.assign(series->names.size(), {});
  }
  if (static_cast<size_t>(p.columns_size()) != series->names.size()) return false;
  uint64_t record = p.first_record();
  const uint64_t expected =
      series->blocks.empty() ? 0
                             : series->blocks.back().first_record + series->blocks.back().records;
  if (record != expected) return false;
  for (int m = 0; m < p.columns_size(); ++m) {
    const proto::LedgerSeriesColumn& column = p.columns(m);
    if (column.name() != series->names[static_cast<size_t>(m)] || column.first_size() != n ||
        column.last_size() != n || column.least_size() != n || column.largest_size() != n) {
      return false;
    }
  }
  int64_t time_ns = 0;
  for (int i = 0; i < n; ++i) {
    SeriesBlock block;
    block.first_record = record;
    block.records = p.block_records(i);
    time_ns = WrappedSum(time_ns, static_cast<uint64_t>(p.block_begin_ns(i)));
    block.begin = SimTime(time_ns);
    time_ns = WrappedSum(time_ns, static_cast<uint64_t>(p.block_end_ns(i)));
    block.end = SimTime(time_ns);
    record += block.records;
    series->blocks.push_back(block);
  }
  for (int m = 0; m < p.columns_size(); ++m) {
    const proto::LedgerSeriesColumn& column = p.columns(m);
    std::vector<SeriesPoint>& points = series->points[static_cast<size_t>(m)];
    int64_t last = 0;
    for (int i = 0; i < n; ++i) {
      SeriesPoint point;
      point.first = WrappedSum(last, static_cast<uint64_t>(column.first(i)));
      point.last = WrappedSum(point.first, static_cast<uint64_t>(column.last(i)));
      point.least = WrappedSum(point.first, ~column.least(i) + 1);
      point.largest = WrappedSum(point.first, column.largest(i));
      last = point.last;
      points.push_back(point);
    }
  }
  return true;
}

}  // namespace drasim
