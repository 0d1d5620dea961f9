#include "sim/record/ledger_series.h"

#include <algorithm>

#include "model/check.h"
#include "model/proto/ledger.pb.h"

namespace drasim {
namespace {

// Places in kSeriesNames: levels, which go up and down; counters, from the first RunCounter on, of
// which the last is apart; slices, which are sampled.
constexpr size_t kLevels = 9;
constexpr size_t kFirstCounters = 12;
constexpr size_t kFirstSlices = kLevels + kFirstCounters;
constexpr size_t kSliceLevels = 3;
constexpr size_t kFirstWaiting = kFirstSlices + kSliceLevels;
constexpr size_t kPlaceOfPlacesTakenBack = kFirstWaiting + kWaitKinds;
static_assert(kSeriesMetrics == kPlaceOfPlacesTakenBack + 1);
static_assert(kRunCounters == kFirstCounters + 1);

constexpr bool IsSlices(size_t metric) { return metric >= kFirstSlices && metric < kFirstWaiting; }

// Whether a level other than those of waiting pods can differ after records of the kind.
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

bool IsEvent(RecordKind kind) {
  return kind == RecordKind::kNodeChanged || kind == RecordKind::kDevicesChanged;
}

void PackEvents(const std::vector<SeriesEvent>& events, proto::LedgerSeries* out) {
  uint64_t record_before = out->first_record();
  SimTime time_before;
  for (const SeriesEvent& event : events) {
    out->add_event_record(event.record - record_before);
    out->add_event_time_ns(event.time.ns() - time_before.ns());
    out->mutable_event_kind()->push_back(static_cast<char>(event.kind));
    out->mutable_event_detail()->push_back(static_cast<char>(event.detail));
    out->add_event_node(event.node.value());
    record_before = event.record;
    time_before = event.time;
  }
}

// `records` are those of the frame's blocks.
bool UnpackEvents(const proto::LedgerSeries& p, uint64_t records, size_t nodes,
                  LedgerSeries* series) {
  const int n = p.event_record_size();
  const auto events = static_cast<size_t>(n);
  if (p.event_time_ns_size() != n || p.event_kind().size() != events ||
      p.event_detail().size() != events || p.event_node_size() != n || p.events() < events) {
    return false;
  }
  uint64_t in_frame = 0;  // number of the record within the frame
  int64_t time_ns = 0;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    SeriesEvent event;
    event.kind = static_cast<RecordKind>(static_cast<unsigned char>(p.event_kind()[at]));
    event.detail = static_cast<unsigned char>(p.event_detail()[at]);
    const uint32_t most =
        event.kind == RecordKind::kNodeChanged ? kLastNodeChange : kLastDeviceChange;
    if (!IsEvent(event.kind) || event.detail == 0 || event.detail > most ||
        p.event_node(i) >= nodes || (i > 0 && p.event_record(i) == 0) || in_frame >= records ||
        p.event_record(i) >= records - in_frame) {
      return false;
    }
    in_frame += p.event_record(i);
    event.record = p.first_record() + in_frame;
    time_ns = WrappedSum(time_ns, static_cast<uint64_t>(p.event_time_ns(i)));
    event.time = SimTime(time_ns);
    event.node = NodeId(p.event_node(i));
    series->events.push_back(event);
  }
  series->events_left_out = static_cast<uint64_t>(
      WrappedSum(static_cast<int64_t>(series->events_left_out), p.events() - events));
  return true;
}

std::array<int64_t, kLevels> LevelsOf(const LiveState& live) {
  const LiveTotals& t = live.totals();
  return {static_cast<int64_t>(live.pods().size()) - t.pods_resident,
          t.pods_resident,
          t.gpu_milli_allocated,
          t.gpu_milli_capacity,
          t.gpus_in_use,
          t.cpu_milli_allocated,
          t.memory_bytes_allocated,
          t.nodes_in_use,
          t.nodes_available};
}

}  // namespace

SeriesValues SeriesValuesOf(const LiveState& live, const SliceCounts& slices) {
  SeriesValues values{};
  const std::array<int64_t, kLevels> levels = LevelsOf(live);
  std::copy(levels.begin(), levels.end(), values.begin());
  for (size_t c = 0; c < kFirstCounters; ++c) {
    values[kLevels + c] = live.counter(static_cast<RunCounter>(c));
  }
  values[kFirstSlices] = slices.slices;
  values[kFirstSlices + 1] = slices.held;
  values[kFirstSlices + 2] = slices.stranded;
  for (size_t w = 0; w < kWaitKinds; ++w) {
    values[kFirstWaiting + w] = live.waiting(static_cast<WaitKind>(w));
  }
  values[kPlaceOfPlacesTakenBack] = live.counter(RunCounter::kPlacesTakenBack);
  return values;
}

void SeriesFolder::Widen(size_t metric, int64_t value) {
  least_[metric] = std::min(least_[metric], value);
  largest_[metric] = std::max(largest_[metric], value);
}

void SeriesFolder::OnRecord(const Record& record, const LiveState& live) {
  block_.end = record.time;
  if (IsEvent(record.kind)) {
    if (events_.size() < kMaxSeriesEvents) {
      events_.push_back({block_.first_record + block_.records, record.time, record.kind,
                         record.detail, record.node});
    }
    ++event_count_;
  }
  if (block_.records++ == 0) {
    block_.begin = record.time;
    first_ = least_ = largest_ = SeriesValuesOf(live, SliceCounts());
    return;
  }
  for (size_t w = 0; w < kWaitKinds; ++w) {
    Widen(kFirstWaiting + w, live.waiting(static_cast<WaitKind>(w)));
  }
  if (!ChangesLevels(record.kind)) return;
  const std::array<int64_t, kLevels> levels = LevelsOf(live);
  for (size_t m = 0; m < kLevels; ++m) Widen(m, levels[m]);
}

void SeriesFolder::EndBlock(const LiveState& live, const SliceCounts& slices_before,
                            const SliceCounts& slices) {
  DRASIM_CHECK(block_.records > 0);
  const SeriesValues before = SeriesValuesOf(live, slices_before);
  const SeriesValues last = SeriesValuesOf(live, slices);
  for (size_t m = 0; m < kSeriesMetrics; ++m) {
    // Counters only grow, so their extremes are at the ends, too.
    if (IsSlices(m)) first_[m] = least_[m] = largest_[m] = before[m];
    Widen(m, last[m]);
    points_[m].push_back({first_[m], last[m], least_[m], largest_[m]});
  }
  blocks_.push_back(block_);
  block_.first_record += block_.records;
  block_.records = 0;
}

void SeriesFolder::Clear() {
  blocks_.clear();
  for (std::vector<SeriesPoint>& points : points_) points.clear();
  events_.clear();
  event_count_ = 0;
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
  PackEvents(events_, &series);
  series.set_events(event_count_);
  return series.SerializeAsString();
}

bool UnpackSeries(const std::string& payload, size_t nodes, LedgerSeries* series) {
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
  return UnpackEvents(p, record - p.first_record(), nodes, series);
}

}  // namespace drasim
