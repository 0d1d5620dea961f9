// The contents of drasim-gui's window as plain data: a ledger folded into devices, a curve and
// totals, and the place of each device on the map. Nothing here draws.
#ifndef DRASIM_GUI_VIEW_RUN_VIEW_H_
#define DRASIM_GUI_VIEW_RUN_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gui/view/rgb.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"

namespace drasim {

// --- The run ---

struct NodeView {
  std::string name;
  std::string model;  // of its GPUs; may be empty
  // The share of each device that pods hold, 0..kDeviceMilli, by device index. For a GPU with MIG
  // instances: their share of its units.
  std::vector<int32_t> allocated_milli;
};

// The state right after one outcome (a pod was bound, dropped or finished, or its charge came or
// went while Bind takes time), in per cent of the cluster's GPUs.
struct CurvePoint {
  double arrived_percent = 0;  // requested by every pod that arrived so far; never decreases
  double allocated_percent = 0;
  bool operator==(const CurvePoint&) const = default;
};

struct RunTotals {
  int64_t pods_arrived = 0;
  int64_t pods_scheduled = 0;  // bound
  int64_t pods_waiting = 0;    // hold nothing at the end, but are not given up
  int64_t pods_dropped = 0;
  int64_t pods_finished = 0;
  int64_t attempts_failed = 0;
  int64_t gpu_arrived_milli = 0;  // saturates at the largest int64
  ClusterTotals cluster;          // at the shown moment
};

// The moment that RunView::nodes shows.
enum class ShownMoment : uint8_t {
  kEnd,
  kPeak,   // the earliest moment of the largest allocation
  kAsked,  // a given time
};

// One moment of a run, and its curve from the beginning to the end.
struct RunView {
  std::string path;           // of the ledger
  std::string scenario_yaml;  // from the ledger
  bool partial = false;       // the ledger has no end: the run was interrupted, or still goes on
  uint64_t records = 0;
  uint64_t fingerprint = 0;  // zero when partial
  SimTime end;               // of the last record
  ShownMoment moment = ShownMoment::kEnd;
  SimTime shown;                // the time of that moment
  std::vector<NodeView> nodes;  // at that moment
  // From (0, 0) on, at most kMaxCurvePoints; empty if the cluster has no GPUs.
  std::vector<CurvePoint> curve;
  RunTotals totals;
};

inline constexpr size_t kMaxCurvePoints = 2000;

// NodeView::allocated_milli of a node.
std::vector<int32_t> AllocatedOnDevices(const ClusterState& cluster, NodeId node);

// Reads the rest of a ledger. Nodes are shown in their state at the end of the instant `at`;
// without it, at the largest allocation, since a replay holds nothing at its end. States within one
// instant do not count. Errors are the reader's. O(records x devices of a node + nodes).
absl::StatusOr<RunView> ReadRunView(LedgerReader* reader, std::optional<SimTime> at = std::nullopt);
// The same for a ledger file or the folder of a run.
absl::StatusOr<RunView> OpenRunView(const std::string& path,
                                    std::optional<SimTime> at = std::nullopt);

// Thins a stream of points evenly, in bounded memory: of n points it keeps the first, then every
// 2^k-th with the smallest k for which all of that fits, and always the last one.
class CurveThinner {
 public:
  // REQUIRES: max_points >= 2.
  explicit CurveThinner(size_t max_points);
  // Amortised O(1).
  void Add(const CurvePoint& point);
  // At most max_points, in the order of Add.
  std::vector<CurvePoint> Points() const;

 private:
  size_t max_points_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;
  std::vector<CurvePoint> kept_;
  CurvePoint last_;
};

// --- Texts ---

struct SummaryLine {
  std::string label;
  std::string value;
};

// Behind "Devices": "at 12.500 s, when most was allocated", "at the end of the run, 90.000 s".
std::string MomentText(const RunView& view);

// The main figures, for a table of two columns. Allocation and use are those of the shown moment,
// and GPUs are counted as on the map.
std::vector<SummaryLine> SummaryLines(const RunView& view);

// --- Colours and axes ---

// Grey for an idle device; else from dark blue to light yellow, brighter with more allocated, so
// that no one has to tell red from green. REQUIRES: 0 <= allocated_milli <= kDeviceMilli.
Rgb DeviceColour(int32_t allocated_milli);

// Ticks at 0, step, 2 step, ..., max.
struct Axis {
  int64_t step = 1;
  int64_t max = 1;
};

// At most six steps of 1, 2 or 5 times a power of ten, up to the first tick that is not below
// `largest`. REQUIRES: 0 <= largest <= 1e18.
Axis AxisFor(double largest);

// --- The map ---

// In whole pixels; y grows downwards. The right and lower edges belong to the neighbour.
struct PixelRect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool Contains(int px, int py) const {
    return px >= x && px < x + width && py >= y && py < y + height;
  }
  bool operator==(const PixelRect&) const = default;
};

// All nodes of one GPU model.
struct MapGroup {
  std::string model;
  int title_y = 0;  // top of the line above its nodes
  int64_t nodes = 0;
  int64_t devices = 0;
  int64_t allocated_milli = 0;
};

// One node. Its devices stand inside, eight in a row.
struct MapBox {
  PixelRect rect;
  uint32_t node = 0;  // index into RunView::nodes
};

struct MapLayout {
  int width = 0;  // of everything; larger than the given width if a single node is
  int height = 0;
  int cell = 0;  // edge of a device
  std::vector<MapGroup> groups;
  std::vector<MapBox> boxes;
};

struct DeviceRef {
  uint32_t node = 0;
  uint32_t device = 0;
  bool operator==(const DeviceRef&) const = default;
};

inline constexpr int kMinCell = 3;
inline constexpr int kMaxCell = 22;

// Nodes in rows, grouped by GPU model in order of name; in a group those with more devices come
// first, then the order of the ledger decides. Nodes without devices are left out. Any width is
// valid. O(nodes log nodes).
MapLayout LayOutMap(const RunView& view, int width, int cell, int title_height);
// The same with the largest cell in kMinCell..kMaxCell with which everything fits width and height;
// kMinCell if none does.
MapLayout FitMap(const RunView& view, int width, int height, int title_height);

// The place of a device in the box.
PixelRect DeviceRect(const MapLayout& map, const MapBox& box, size_t device);
// The device at a pixel of the map; absent if there is none. O(nodes).
std::optional<DeviceRef> FindDevice(const RunView& view, const MapLayout& map, int x, int y);

// "T4: 12 nodes, 96 GPUs, 87.50 % allocated"
std::string GroupTitle(const MapGroup& group);
// A few lines about one device: node, model, allocation.
std::string DeviceText(const RunView& view, const DeviceRef& ref);

}  // namespace drasim

#endif  // DRASIM_GUI_VIEW_RUN_VIEW_H_
