// The life of a pod as a bar: what it did from its arrival on, and every attempt as a mark.
#ifndef DRASIM_GUI_VIEW_LIFE_BAR_H_
#define DRASIM_GUI_VIEW_LIFE_BAR_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gui/view/draw_list.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/palette.h"

namespace drasim::view {

struct LifeBarFrame {
  float width = 480;  // in pixels
  float char_width = 7;
  float line_height = 16;
  bool by_record = false;  // the clock counts records
  ThemeKind theme = ThemeKind::kDark;
  bool operator==(const LifeBarFrame&) const = default;
};

struct LifeLegendRow {
  Ink ink;
  std::string text;  // "155 placed, taken back", "running for 2h10m"
};

// The marks in one pixel column, which follow each other in PodInspection::marks.
struct LifeColumn {
  Rect rect;
  size_t first = 0;
  size_t count = 0;
};

struct LifeBar {
  DrawList list;
  float height = 0;
  Rect bar;
  std::vector<LifeColumn> columns;
  std::vector<LifeLegendRow> legend;
  // The column under a point, or the nearest within two pixels.
  std::optional<size_t> ColumnAt(Point point) const;
};

// Every mark is in sight: marks that share a pixel column share its height by their outcomes.
// O(segments + marks).
LifeBar DrawLifeBar(const PodInspection& pod, const LifeBarFrame& frame);

// The marks of a column in words, the first few of many.
std::string LifeColumnText(const PodInspection& pod, const LifeColumn& column, bool by_record);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_LIFE_BAR_H_
