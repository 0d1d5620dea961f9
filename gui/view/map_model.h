// The map of a cluster as rectangles: nodes, their GPUs, and the slots of each GPU.
//
// A GPU is a column of units, unit 0 at the top: the memory slices of a MIG GPU, or thousandths of
// a shared or whole one. Replicas of a time-sliced GPU stand side by side in its column. Layout is
// done once per grouping and order; drawing and hit tests touch only visible nodes, so a cluster of
// 100,000 GPUs costs no more than its visible part.
//
//   ClusterMap map(&data);
//   map.Arrange(MapGrouping::kModel, MapOrder::kName, width / height);
//   MapView view = map.Fit(width, height);
//   const DrawList& list = map.Draw(view, nullptr);
//   const std::optional<MapHit> hit = map.HitTest(view, mouse);
//
// The data must outlive the map. One thread at a time.
#ifndef DRASIM_GUI_VIEW_MAP_MODEL_H_
#define DRASIM_GUI_VIEW_MAP_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "model/time.h"

namespace drasim::view {

// --- Input ---

inline constexpr uint32_t kNoPod = 0xffff'ffff;

// An instance or a share on a GPU.
struct MapSlot {
  uint16_t start = 0;  // in units of the GPU, from the top
  uint16_t size = 0;
  uint16_t profile = 0;   // index into ClusterMapData::profiles
  uint16_t state = 0;     // index into ClusterMapData::states
  uint32_t tenant = 0;    // index into ClusterMapData::tenants
  uint32_t pod = kNoPod;  // the caller's number for its pod
  SimTime since = {};     // held, or created, since then
  uint8_t replica = 0;    // of a time-sliced GPU
  bool held = true;       // otherwise an idle instance of a static layout
};

inline constexpr uint32_t kNoSlot = 0xffff'ffff;
inline constexpr uint16_t kShareUnits = 1000;  // of a GPU that is no MIG GPU
inline constexpr uint16_t kMaxSlices = 32;

struct MapGpu {
  uint16_t units = kShareUnits;  // memory slices, at most kMaxSlices; or kShareUnits
  uint8_t replicas = 1;
  bool healthy = true;
  uint32_t stranded = 0;  // bit per free slice that no instance can cover
  uint32_t fits = 0;      // bit per profile (of the first 32) that fits once more
  // Slices of a MIG GPU that is used whole, for its height on the map; 0: as `units` say.
  uint16_t slices = 0;
  int32_t fragmentation_milli = 0;  // FGD's share of the GPU that typical jobs cannot use, 0..1000
  // Set by AddGpu, ReplaceGpu and SetSlots.
  uint32_t node = 0;
  int32_t held_milli = 0;  // the share that pods hold, 0..1000
  uint32_t first_slot = 0;
  uint32_t slot_count = 0;
  uint32_t slot_room = 0;
  uint32_t lead = kNoSlot;  // its largest held slot: index into ClusterMapData::slots
};

struct MapNode {
  std::string name;
  std::string pool;   // by PoolOf (gui/view/node_groups.h)
  std::string model;  // of its GPUs
  std::string label;  // value of the label to group by; empty without it
  SimTime since;      // in the cluster since then
  bool available = true;
  // Set by AddNode and AddGpu.
  uint32_t first_gpu = 0;
  uint32_t gpu_count = 0;
  // Set by SumUpNodes, SumUpNode and SetSlots. Sums over its GPUs, so that a map of nodes need not
  // look at these.
  int64_t held_milli = 0;
  int64_t stranded_milli = 0;
  int64_t fragmentation_milli = 0;
  // The profile, the tenant and the state that lead on most of its GPUs, and since when its largest
  // slot is there; not held while pods hold nothing of it.
  MapSlot lead = {.held = false};
};

// A cluster at one instant. Nodes are added in order, each followed by its GPUs.
struct ClusterMapData {
  std::vector<MapNode> nodes;
  std::vector<MapGpu> gpus;
  std::vector<MapSlot> slots;         // with gaps
  std::vector<std::string> profiles;  // from the smallest to the largest
  std::vector<std::string> tenants;
  std::vector<std::string> states;  // of claims and devices
  bool has_shares = false;          // some GPU has kShareUnits; set by AddGpu
  // To be raised by callers that change fields directly; the functions below do it.
  uint64_t version = 0;

  uint32_t AddNode(MapNode node);
  // For the node added last. SumUpNodes must follow the last one.
  uint32_t AddGpu(MapGpu gpu, absl::Span<const MapSlot> slots_of_gpu);
  // Replaces the slots of a GPU by others, which must not lie in `slots`. Amortised O(slots + GPUs
  // of the node).
  void SetSlots(uint32_t gpu, absl::Span<const MapSlot> slots_of_gpu);
  // Replaces all of a GPU. SumUpNode must follow the last GPU of its node.
  void ReplaceGpu(uint32_t gpu, MapGpu by, absl::Span<const MapSlot> slots_of_gpu);
  // Sets the sums and leads of all nodes, or of one. O(GPUs).
  void SumUpNodes();
  void SumUpNode(uint32_t node);
  absl::Span<const MapSlot> SlotsOf(const MapGpu& gpu) const {
    return absl::MakeConstSpan(slots).subspan(gpu.first_slot, gpu.slot_count);
  }

 private:
  void PlaceSlots(uint32_t gpu, absl::Span<const MapSlot> slots_of_gpu);
  void SumUp(MapNode* node) const;
};

// --- Looks ---

enum class MapGrouping : uint8_t { kNone, kPool, kModel, kLabel };
enum class MapOrder : uint8_t { kName, kFragmentation, kAge };
enum class MapColour : uint8_t {
  kProfile,
  kStranded,
  kFragmentation,  // the share that typical jobs cannot use, or of MIG that is stranded
  kTenant,
  kAge,
  kState,
  kDifference,  // to run B, whose GPUs have the same numbers
};

// Smallest things drawn.
enum class MapDetail : uint8_t { kNode, kGpu, kSlot };

struct MapHit {
  uint32_t node = 0;
  std::optional<uint32_t> gpu = std::nullopt;   // index into ClusterMapData::gpus
  std::optional<uint32_t> slot = std::nullopt;  // index into ClusterMapData::slots
  bool operator==(const MapHit&) const = default;
};

// The part of the map in sight. Its origin is the place in the map's own units at the upper left.
struct MapView {
  float width = 0;  // in pixels
  float height = 0;
  float scale = 1;  // pixels per unit: the width of a GPU
  Point origin;
  MapColour colour = MapColour::kProfile;
  ThemeKind theme = ThemeKind::kDark;
  SimTime now;  // for ages
  float char_width = 7;
  float line_height = 16;
  std::optional<MapHit> selected = std::nullopt;
  bool operator==(const MapView&) const = default;
};

struct MapLegendRow {
  Ink ink;
  std::string text;
};

class ClusterMap {
 public:
  explicit ClusterMap(const ClusterMapData* data);

  // Places all nodes with GPUs, in an area of about that ratio of width to height. Must be called
  // again after nodes were added. Names are ordered naturally: node-2 before node-10.
  // `label_height`: of the line above each node, in widths of a GPU.
  // REQUIRES: aspect > 0. O(nodes log nodes).
  void Arrange(MapGrouping grouping, MapOrder order, float aspect,
               float label_height = kLabelHeight);
  // Places the nodes as `other` does. REQUIRES: both show states of the same nodes. O(nodes).
  void ArrangeAs(const ClusterMap& other);
  // Changes with every Arrange.
  uint64_t arrangements() const { return arrangements_; }
  // Shows another state of the same nodes; every node keeps its place. O(1).
  // REQUIRES: the new data have as many nodes, each with as many GPUs.
  void Show(const ClusterMapData* data);
  static constexpr float kLabelHeight = 1.4F;
  float width() const { return width_; }  // in the map's units
  float height() const { return height_; }

  // The view that shows everything.
  MapView Fit(float width, float height) const;
  // `view`, scaled by `factor` around a pixel. The scale stays between 0.05 and 200.
  static MapView Zoomed(const MapView& view, float factor, Point pixel);
  // `view`, moved as little as possible so that the node is in sight.
  MapView Showing(const MapView& view, uint32_t node) const;

  static MapDetail DetailOf(const MapView& view);

  // The visible part, in pixels; edges may stick out and are to be clipped. `b` is the same cluster
  // in run B, for MapColour::kDifference; otherwise null. Where slots are too small, a node or GPU
  // is a bar in the legend's colours without hatching: from the top the share that pods hold, in
  // the colour of its lead; from the bottom the share that is stranded. In a difference it shows
  // the common share and above it the larger run's, by fragmentation a single colour.
  // Costs nothing if neither view nor data changed.
  const DrawList& Draw(const MapView& view, const ClusterMapData* b);

  // The node, GPU and slot at a pixel. O(log groups + slots of a GPU).
  std::optional<MapHit> HitTest(const MapView& view, Point pixel) const;

  // Places in pixels. REQUIRES: the node has GPUs.
  Rect NodeRect(const MapView& view, uint32_t node) const;
  Rect GpuRect(const MapView& view, uint32_t gpu) const;
  Rect SlotRect(const MapView& view, uint32_t gpu, const MapSlot& slot) const;

  // Colours with their meaning.
  std::vector<MapLegendRow> Legend(MapColour colour, ThemeKind theme) const;

 private:
  // Nodes of one pool, model or label, in rows of equal tiles.
  struct Group {
    std::string title;
    float top = 0;  // of its title
    float tiles_top = 0;
    float tile_width = 0;
    float tile_height = 0;
    float column_height = 0;  // of a GPU
    uint32_t gpus_per_row = 1;
    uint32_t tiles_per_row = 1;
    uint32_t first = 0;  // index into order_
    uint32_t count = 0;
  };

  const std::string& KeyOf(const MapNode& node, MapGrouping grouping) const;
  void MeasureNames();
  // Sets the rows of all groups for a width, and returns the height.
  float Stack(float width);
  Rect TileOf(const Group& group, uint32_t index) const;  // in the map's units, without gaps
  Rect ColumnOf(const Group& group, const Rect& tile, uint32_t gpu) const;
  const Group& GroupOf(uint32_t node) const;
  static Rect ToPixels(const MapView& view, const Rect& rect);
  static Rect SlotIn(const Rect& column, const MapGpu& gpu, const MapSlot& slot);

  void DrawGroup(const Group& group, const MapView& view, const ClusterMapData* b);
  void DrawNode(const Group& group, uint32_t index, const MapView& view, const ClusterMapData* b);
  void DrawLabel(const MapNode& node, const Rect& pixels, const MapView& view,
                 const ClusterMapData* b);
  void DrawSelection(const MapView& view);
  void DrawGpu(uint32_t gpu, const Rect& column, const MapView& view, const ClusterMapData* b);
  void DrawDifference(const MapGpu& a, const MapGpu* b, const ClusterMapData* b_data,
                      const Rect& column, const Theme& theme);
  // The look of a node or GPU that is too small for its slots. Shares in thousandths.
  struct Summary {
    bool usable = true;
    int64_t held = 0;
    int64_t stranded = 0;
    int64_t fragmentation = 0;
    int64_t held_in_b = 0;
    const MapSlot* lead = nullptr;
  };
  Summary SummaryOfGpu(uint32_t gpu, const ClusterMapData* b) const;
  Summary SummaryOfNode(uint32_t node, const ClusterMapData* b) const;
  void DrawSummary(const Summary& summary, const Rect& rect, const MapView& view);
  Ink SlotInk(const MapSlot& slot, const MapView& view, const Theme& theme) const;

  const ClusterMapData* data_;
  size_t common_prefix_ = 0;  // of the names of all nodes
  size_t longest_name_ = 0;
  std::vector<Group> groups_;
  std::vector<uint32_t> order_;     // nodes, by group
  std::vector<uint32_t> place_of_;  // by node: index into order_; kNowhere without GPUs
  float width_ = 0;
  float height_ = 0;
  float label_height_ = kLabelHeight;
  uint64_t arrangements_ = 0;

  std::optional<MapView> drawn_view_;
  uint64_t drawn_version_ = 0;
  uint64_t drawn_b_version_ = 0;
  const ClusterMapData* drawn_b_ = nullptr;
  DrawList list_;
};

// A few lines about a hit: node, GPU, slots with their pods, room.
std::string HitText(const ClusterMapData& data, const MapHit& hit,
                    absl::FunctionRef<std::string(uint32_t pod)> pod_name);

// --- Two runs ---

// Whether both have the same nodes with as many GPUs, in the same order. O(nodes).
bool SameCluster(const ClusterMapData& a, const ClusterMapData& b);

// Slices held in one run, both or neither, in thousandths. A GPU that is not cut into slices in
// both runs counts as one slice, by its shares.
struct MapDifference {
  int64_t only_a = 0;
  int64_t only_b = 0;
  int64_t both = 0;
  int64_t neither = 0;
  bool operator==(const MapDifference&) const = default;
};
// REQUIRES: SameCluster(a, b). O(slots).
MapDifference DifferenceOf(const ClusterMapData& a, const ClusterMapData& b);

// --- The fit list ---

// The number of further instances of a profile that fit now, against the pods that wait for it.
struct FitRow {
  std::string profile;
  Rgb colour;
  int64_t fits = 0;
  int64_t waits = 0;
};

struct FitPicture {
  DrawList list;
  float height = 0;
  std::vector<Rect> boxes;  // by row, to be clicked on
};

// One cell per profile, as many side by side as the width allows, with two bars on one scale.
FitPicture DrawFitList(absl::Span<const FitRow> rows, float width, float char_width,
                       float line_height, ThemeKind theme);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_MAP_MODEL_H_
