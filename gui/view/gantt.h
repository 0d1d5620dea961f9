// The slots of a node over time: a row per GPU, in which each pod's part is a box. Its height is
// its place on the GPU, slice 0 at the top as on the map.
//
//   const GanttPicture picture = DrawGantt(node, profiles, frame);
//   const std::optional<size_t> slot = picture.SlotAt(mouse);     // of node.slots
#ifndef DRASIM_GUI_VIEW_GANTT_H_
#define DRASIM_GUI_VIEW_GANTT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_node.h"
#include "gui/view/palette.h"
#include "model/time.h"

namespace drasim::view {

struct GanttFrame {
  float width = 480;  // in pixels
  float height = 330;
  float char_width = 7;  // of the small text
  float line_height = 16;
  SimTime begin;  // REQUIRES: begin < end
  SimTime end;
  bool by_record = false;  // the clock counts records
  ThemeKind theme = ThemeKind::kDark;
  bool operator==(const GanttFrame&) const = default;
};

struct GanttBox {
  Rect rect;
  size_t slot = 0;  // index into NodeInspection::slots
};

struct GanttPicture {
  DrawList list;
  Rect area;                    // of the boxes
  std::vector<GanttBox> boxes;  // in sight, in painter's order
  // The uppermost slot at a point.
  std::optional<size_t> SlotAt(Point point) const;
};

// `profiles` as in ClusterMapData, for the colours. Slots narrower than a pixel get one; those that
// would fall on such a pixel of the same place again are left out. O(slots).
GanttPicture DrawGantt(const NodeInspection& node, absl::Span<const std::string> profiles,
                       const GanttFrame& frame);

// Draws the parts that depend on the cursor: the line, a veil over later times, and outlines around
// the boxes of one pod. O(boxes).
void DrawGanttCursor(const NodeInspection& node, const GanttPicture& picture,
                     const GanttFrame& frame, SimTime cursor, absl::string_view pod,
                     DrawList* list);

// "48 of 64 slices held · 3 stranded · CPU 0 of 128 · 33 pods", of the node as it is now.
std::string NodeFooterText(const NodeTableRow& node);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_GANTT_H_
