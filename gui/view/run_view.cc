#include "gui/view/run_view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/number_text.h"
#include "model/record.h"
#include "model/resource_request.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

double Percent(int64_t part, int64_t whole) {
  if (whole == 0) return 0;
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// --- Folding the records ---

// Whether the record is an outcome, after which the curve gets a point.
bool Count(const Record& record, const ClusterState& cluster, RunTotals* totals) {
  switch (record.kind) {
    case RecordKind::kPodArrived: {
      ++totals->pods_arrived;
      const int64_t milli = cluster.pod_shape(record.pod).wanted_gpu_milli();
      // A ledger may claim anything: the sum stops at the largest number instead of overflowing.
      const int64_t room = std::numeric_limits<int64_t>::max() - totals->gpu_arrived_milli;
      totals->gpu_arrived_milli += std::min(milli, room);
      return false;
    }
    case RecordKind::kPodBound:
      ++totals->pods_scheduled;
      return true;
    case RecordKind::kPodDropped:
      ++totals->pods_dropped;
      return true;
    case RecordKind::kPodFinished:
      ++totals->pods_finished;
      return true;
    case RecordKind::kPodReserved:
    case RecordKind::kPodUnreserved:
    case RecordKind::kPodEvicted:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
    case RecordKind::kNodeChanged:
    case RecordKind::kPodAdmitted:
    case RecordKind::kPodRejected:
      return true;
    case RecordKind::kDevicesChanged:
    case RecordKind::kPodStarted:
      return false;
    case RecordKind::kAttemptFailed:
      ++totals->attempts_failed;
      return false;
    case RecordKind::kRunEnded:
      return false;
  }
  return false;
}

int64_t SumOf(const std::vector<int32_t>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), int64_t{0});
}

// The devices of all nodes as the records go by, and as they were at the moment to show. A record
// changes one node, so only nodes that have changed since are copied.
class DeviceHistory {
 public:
  DeviceHistory(const ClusterState& cluster, std::optional<SimTime> at)
      : cluster_(cluster), at_(at), changed_(cluster.node_count(), false) {
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      now_.push_back(AllocatedOnDevices(cluster, NodeId(n)));
      allocated_milli_ += SumOf(now_.back());
    }
    shown_ = now_;
    totals_ = shown_totals_ = cluster.totals();
  }

  // After the record was applied to the cluster.
  void Add(const Record& record) {
    if (record.time > time_) EndInstant();
    time_ = record.time;
    totals_ = cluster_.totals();
    if (!record.node.valid()) return;
    const size_t n = record.node.value();
    allocated_milli_ -= SumOf(now_[n]);
    now_[n] = AllocatedOnDevices(cluster_, record.node);
    allocated_milli_ += SumOf(now_[n]);
    if (changed_[n]) return;
    changed_[n] = true;
    stale_.push_back(n);
  }

  // On all devices, after the last record.
  int64_t allocated_milli() const { return allocated_milli_; }

  // After all records.
  void Show(RunView* view) {
    EndInstant();
    if (!at_.has_value() && most_milli_ == 0) TakeNow();
    const bool at_end = shown_time_ == time_ && (!at_.has_value() || *at_ >= time_);
    view->moment = at_end            ? ShownMoment::kEnd
                   : at_.has_value() ? ShownMoment::kAsked
                                     : ShownMoment::kPeak;
    view->shown = view->moment == ShownMoment::kAsked ? *at_ : shown_time_;
    view->totals.cluster = shown_totals_;
    view->nodes.resize(shown_.size());
    for (size_t n = 0; n < shown_.size(); ++n) {
      const NodeSpec& spec = cluster_.node_spec(NodeId(n));
      view->nodes[n].name = spec.name;
      view->nodes[n].model = GpuModelText(spec);
      view->nodes[n].allocated_milli = shown_[n];
    }
  }

 private:
  void EndInstant() {
    if (at_.has_value()) {
      if (time_ <= *at_) TakeNow();
    } else if (allocated_milli_ > most_milli_) {
      most_milli_ = allocated_milli_;
      TakeNow();
    }
  }

  void TakeNow() {
    for (const size_t n : stale_) {
      shown_[n] = now_[n];
      changed_[n] = false;
    }
    stale_.clear();
    shown_totals_ = totals_;
    shown_time_ = time_;
  }

  const ClusterState& cluster_;
  std::optional<SimTime> at_;
  std::vector<std::vector<int32_t>> now_;  // by node, by device
  std::vector<std::vector<int32_t>> shown_;
  std::vector<size_t> stale_;  // nodes of `shown_` that have changed since
  std::vector<bool> changed_;  // the same by node
  ClusterTotals totals_;
  ClusterTotals shown_totals_;
  SimTime time_;
  SimTime shown_time_;
  int64_t allocated_milli_ = 0;
  int64_t most_milli_ = 0;
};

CurvePoint PointNow(const RunTotals& totals, int64_t allocated_milli, int64_t capacity_milli) {
  CurvePoint point;
  point.arrived_percent = Percent(totals.gpu_arrived_milli, capacity_milli);
  point.allocated_percent = Percent(allocated_milli, capacity_milli);
  return point;
}

int64_t CountWaiting(const ClusterState& cluster) {
  int64_t waiting = 0;
  for (size_t i = 0; i < cluster.pod_count(); ++i) {
    if (cluster.pod_phase(PodId(i)) == PodPhase::kPending) ++waiting;
  }
  return waiting;
}

// --- Texts ---

// "5919.4 of 6212.0 (95.29 %)", from thousandths.
std::string ShareText(int64_t part_milli, int64_t whole_milli) {
  return absl::StrCat(FixedText(static_cast<double>(part_milli) / 1000, 1), " of ",
                      FixedText(static_cast<double>(whole_milli) / 1000, 1), " (",
                      FixedText(Percent(part_milli, whole_milli), 2), " %)");
}

// --- The map ---

constexpr size_t kDevicesPerRow = 8;
constexpr int kCellGap = 1;
constexpr int kBoxGap = 3;
constexpr int kGroupGap = 6;

// Indices of the nodes that have devices, in the order of the map.
std::vector<uint32_t> MapOrder(const RunView& view) {
  std::vector<uint32_t> order;
  for (size_t n = 0; n < view.nodes.size(); ++n) {
    if (!view.nodes[n].allocated_milli.empty()) order.push_back(static_cast<uint32_t>(n));
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t left, uint32_t right) {
    const NodeView& a = view.nodes[left];
    const NodeView& b = view.nodes[right];
    if (a.model != b.model) return a.model < b.model;
    return a.allocated_milli.size() > b.allocated_milli.size();
  });
  return order;
}

// Edge to edge of `cells` devices, with the gaps between and around them.
int EdgeOf(size_t cells, int cell) {
  return static_cast<int>(cells) * (cell + kCellGap) + kCellGap;
}

MapLayout LayOut(const RunView& view, absl::Span<const uint32_t> order, int width, int cell,
                 int title_height) {
  MapLayout map;
  map.cell = cell;
  int x = 0;
  int y = 0;
  int row_height = 0;
  for (const uint32_t n : order) {
    const NodeView& node = view.nodes[n];
    const size_t devices = node.allocated_milli.size();
    if (map.groups.empty() || map.groups.back().model != node.model) {
      if (!map.groups.empty()) y += row_height + kGroupGap;
      MapGroup group;
      group.model = node.model;
      group.title_y = y;
      map.groups.push_back(std::move(group));
      y += title_height;
      x = 0;
      row_height = 0;
    }
    const int box_width = EdgeOf(std::min(devices, kDevicesPerRow), cell);
    const int box_height = EdgeOf((devices + kDevicesPerRow - 1) / kDevicesPerRow, cell);
    if (x > 0 && x + box_width > width) {
      x = 0;
      y += row_height + kBoxGap;
      row_height = 0;
    }
    MapBox box;
    box.rect = PixelRect{x, y, box_width, box_height};
    box.node = n;
    map.boxes.push_back(box);
    map.width = std::max(map.width, x + box_width);
    x += box_width + kBoxGap;
    row_height = std::max(row_height, box_height);
    map.height = y + row_height;
    MapGroup& group = map.groups.back();
    ++group.nodes;
    group.devices += static_cast<int64_t>(devices);
    for (const int32_t milli : node.allocated_milli) group.allocated_milli += milli;
  }
  return map;
}

}  // namespace

CurveThinner::CurveThinner(size_t max_points) : max_points_(max_points) {
  DRASIM_CHECK_GE(max_points, 2u);
}

void CurveThinner::Add(const CurvePoint& point) {
  last_ = point;
  const uint64_t index = seen_++;
  if (index % stride_ != 0) return;
  // One place is for the last point.
  if (kept_.size() == max_points_ - 1) {
    for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }
  if (index % stride_ == 0) kept_.push_back(point);
}

std::vector<CurvePoint> CurveThinner::Points() const {
  std::vector<CurvePoint> points = kept_;
  if (seen_ > 0 && (seen_ - 1) % stride_ != 0) points.push_back(last_);
  return points;
}

std::vector<int32_t> AllocatedOnDevices(const ClusterState& cluster, NodeId node) {
  std::vector<int32_t> allocated;
  const bool mig = cluster.any_mig() && cluster.has_mig(node);
  for (const int16_t idle : cluster.device_milli_idle(node)) {
    int32_t milli = kDeviceMilli - idle;
    if (mig) {
      // Nothing but MIG may use a GPU with an instance, so it reads as idle 0.
      const MigState state = cluster.device_mig(node)[allocated.size()];
      if (state != 0) {
        const MigTable* const table = cluster.mig_table(node, allocated.size());
        milli = MilliOfUnits(std::popcount(table->units_used(state)), table->product().units);
      }
    }
    allocated.push_back(milli);
  }
  return allocated;
}

absl::StatusOr<RunView> ReadRunView(LedgerReader* reader, std::optional<SimTime> at) {
  RunView view;
  view.path = reader->path();
  view.scenario_yaml = reader->header().scenario_yaml();
  const ClusterState& cluster = reader->cluster();
  const bool has_gpus = cluster.totals().gpu_milli_capacity > 0;
  DeviceHistory history(cluster, at);
  CurveThinner thinner(kMaxCurvePoints);
  if (has_gpus) thinner.Add(CurvePoint());
  while (true) {
    Record record;
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    view.end = record.time;
    history.Add(record);
    if (Count(record, cluster, &view.totals) && has_gpus) {
      thinner.Add(
          PointNow(view.totals, history.allocated_milli(), cluster.totals().gpu_milli_capacity));
    }
  }
  view.partial = !reader->complete();
  view.records = reader->records();
  view.fingerprint = view.partial ? 0 : reader->fingerprint();
  history.Show(&view);
  view.curve = thinner.Points();
  view.totals.pods_waiting = CountWaiting(cluster);
  return view;
}

absl::StatusOr<RunView> OpenRunView(const std::string& path, std::optional<SimTime> at) {
  ASSIGN_OR_RETURN(std::unique_ptr<LedgerReader> reader, LedgerReader::Open(path));
  return ReadRunView(reader.get(), at);
}

std::string MomentText(const RunView& view) {
  const std::string time = absl::StrCat(FixedText(view.shown.seconds(), 3), " s");
  switch (view.moment) {
    case ShownMoment::kEnd:
      return absl::StrCat(
          view.partial ? "where the ledger breaks off, " : "at the end of the run, ", time);
    case ShownMoment::kPeak:
      return absl::StrCat("at ", time, ", when most was allocated");
    case ShownMoment::kAsked:
      return absl::StrCat("at ", time);
  }
  return time;
}

std::vector<SummaryLine> SummaryLines(const RunView& view) {
  const RunTotals& totals = view.totals;
  const ClusterTotals& cluster = totals.cluster;
  std::vector<SummaryLine> lines;
  const auto add = [&](absl::string_view label, const std::string& value) {
    lines.push_back(SummaryLine{std::string(label), value});
  };
  add("ledger", view.path);
  add("records", absl::StrCat(view.records, view.partial ? " (partial)" : ""));
  add("fingerprint",
      view.partial ? "-" : absl::StrCat(absl::Hex(view.fingerprint, absl::kZeroPad16)));
  add("virtual time", absl::StrCat(FixedText(view.end.seconds(), 3), " s"));
  add("pods arrived", absl::StrCat(totals.pods_arrived));
  add("pods scheduled", absl::StrCat(totals.pods_scheduled));
  add("pods waiting", absl::StrCat(totals.pods_waiting));
  add("pods dropped", absl::StrCat(totals.pods_dropped));
  add("pods finished", absl::StrCat(totals.pods_finished));
  add("failed attempts", absl::StrCat(totals.attempts_failed));
  add("GPUs requested", ShareText(totals.gpu_arrived_milli, cluster.gpu_milli_capacity));
  int64_t allocated_milli = 0;
  int64_t devices = 0;
  for (const NodeView& node : view.nodes) {
    allocated_milli += SumOf(node.allocated_milli);
    devices += static_cast<int64_t>(node.allocated_milli.size());
  }
  add("devices shown", MomentText(view));
  add("GPUs allocated", ShareText(allocated_milli, devices * kDeviceMilli));
  add("GPUs in use", absl::StrCat(cluster.gpus_in_use, " of ", cluster.gpu_count));
  add("CPU cores allocated", ShareText(cluster.cpu_milli_allocated, cluster.cpu_milli_capacity));
  add("nodes in use", absl::StrCat(cluster.nodes_in_use, " of ", view.nodes.size()));
  return lines;
}

Rgb DeviceColour(int32_t allocated_milli) {
  struct Stop {
    int milli;
    int red;
    int green;
    int blue;
  };
  static constexpr std::array<Stop, 5> kStops = {{{0, 44, 48, 56},
                                                  {1, 34, 74, 122},
                                                  {334, 32, 138, 140},
                                                  {667, 132, 190, 92},
                                                  {1000, 250, 214, 66}}};
  static_assert(kStops.back().milli == kDeviceMilli);
  DRASIM_CHECK(allocated_milli >= 0 && allocated_milli <= kDeviceMilli);
  size_t upper = 1;
  while (kStops[upper].milli < allocated_milli) ++upper;
  const Stop& from = kStops[upper - 1];
  const Stop& to = kStops[upper];
  const auto between = [&](int a, int b) {
    const int way = (b - a) * (allocated_milli - from.milli) / (to.milli - from.milli);
    return static_cast<uint8_t>(a + way);
  };
  Rgb colour;
  colour.red = between(from.red, to.red);
  colour.green = between(from.green, to.green);
  colour.blue = between(from.blue, to.blue);
  return colour;
}

Axis AxisFor(double largest) {
  DRASIM_CHECK(largest >= 0 && largest <= 1e18);
  constexpr int kMaxSteps = 6;
  Axis axis;
  // 1, 2, 5, 10, 20, ...: the factor to the next one goes round.
  for (int i = 0; static_cast<double>(axis.step * kMaxSteps) < largest; ++i) {
    axis.step = i % 3 == 1 ? axis.step / 2 * 5 : axis.step * 2;
  }
  axis.max = axis.step;
  while (static_cast<double>(axis.max) < largest) axis.max += axis.step;
  return axis;
}

MapLayout LayOutMap(const RunView& view, int width, int cell, int title_height) {
  DRASIM_CHECK(cell > 0 && title_height >= 0);
  return LayOut(view, MapOrder(view), width, cell, title_height);
}

MapLayout FitMap(const RunView& view, int width, int height, int title_height) {
  DRASIM_CHECK_GE(title_height, 0);
  const std::vector<uint32_t> order = MapOrder(view);
  MapLayout map;
  for (int cell = kMaxCell; cell >= kMinCell; --cell) {
    map = LayOut(view, order, width, cell, title_height);
    if (map.height <= height && map.width <= width) break;
  }
  return map;
}

PixelRect DeviceRect(const MapLayout& map, const MapBox& box, size_t device) {
  return PixelRect{box.rect.x + EdgeOf(device % kDevicesPerRow, map.cell),
                   box.rect.y + EdgeOf(device / kDevicesPerRow, map.cell), map.cell, map.cell};
}

std::optional<DeviceRef> FindDevice(const RunView& view, const MapLayout& map, int x, int y) {
  for (const MapBox& box : map.boxes) {
    if (!box.rect.Contains(x, y)) continue;
    const size_t devices = view.nodes[box.node].allocated_milli.size();
    for (size_t d = 0; d < devices; ++d) {
      if (!DeviceRect(map, box, d).Contains(x, y)) continue;
      DeviceRef ref;
      ref.node = box.node;
      ref.device = static_cast<uint32_t>(d);
      return ref;
    }
  }
  return std::nullopt;
}

std::string GroupTitle(const MapGroup& group) {
  return absl::StrCat(group.model.empty() ? "unknown model" : group.model, ": ", group.nodes,
                      group.nodes == 1 ? " node, " : " nodes, ", group.devices,
                      group.devices == 1 ? " GPU, " : " GPUs, ",
                      FixedText(Percent(group.allocated_milli, group.devices * kDeviceMilli), 2),
                      " % allocated");
}

std::string DeviceText(const RunView& view, const DeviceRef& ref) {
  const NodeView& node = view.nodes[ref.node];
  return absl::StrCat("node ", node.name, "\n", node.model.empty() ? "unknown model" : node.model,
                      ", device ", ref.device, " of 0..", node.allocated_milli.size() - 1, "\n",
                      node.allocated_milli[ref.device], " of ", kDeviceMilli, " milli allocated");
}

}  // namespace drasim
