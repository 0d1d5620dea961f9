// Primitives that the view models hand out, for ImGui's draw lists and for SVG alike.
//
//   DrawList list;
//   list.AddRect({10, 10, 40, 20}, ink);
//   list.AddText({30, 20}, Anchor::kMiddle, TextSize::kSmall, theme.text, "3h");
//   for (const DrawItem& item : list.items()) { ... }   // in painter's order
//
// In pixels; x grows to the right, y downwards. Clear() keeps the memory, so a list that is filled
// at every frame does not allocate.
#ifndef DRASIM_GUI_VIEW_DRAW_LIST_H_
#define DRASIM_GUI_VIEW_DRAW_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/palette.h"
#include "gui/view/rgb.h"

namespace drasim::view {

struct Point {
  float x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};

struct Rect {
  float x = 0;
  float y = 0;
  float width = 0;
  float height = 0;
  float right() const { return x + width; }
  float bottom() const { return y + height; }
  // The right and lower edges belong to the neighbour.
  bool Contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  bool operator==(const Rect&) const = default;
};

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

enum class TextSize : uint8_t { kSmall, kNormal, kStrong };

struct TextItem {
  Point at;  // x as the anchor says, y the middle of the line
  Anchor anchor = Anchor::kStart;
  TextSize size = TextSize::kNormal;
  Rgb colour;
  std::string text;
};

enum class DrawKind : uint8_t {
  kPolyline,  // one line through `count` points
  kFills,     // `count` filled rectangles, such as the columns under a curve
  kOutlines,  // `count` rectangles, outlined inside their edges
  kTexts,     // `count` texts, each with its own colour
};

// A run of primitives of one kind and look.
struct DrawItem {
  DrawKind kind = DrawKind::kFills;
  bool dashed = false;  // of a polyline
  Ink ink;
  float line_width = 1;  // of polylines and outlines
  uint32_t first = 0;    // index into the points, rectangles or texts
  uint32_t count = 0;
};

class DrawList {
 public:
  void Clear();
  bool empty() const { return items_.empty(); }

  // A line of fewer than two points is left out.
  void AddPolyline(absl::Span<const Point> points, const Ink& ink, float line_width = 1,
                   bool dashed = false);
  void AddLine(Point from, Point to, const Ink& ink, float line_width = 1, bool dashed = false);
  // Neighbours of one look become one item. Empty rectangles are left out.
  void AddRect(const Rect& rect, const Ink& ink) { AddTo(DrawKind::kFills, rect, ink, 1); }
  void AddOutline(const Rect& rect, const Ink& ink, float line_width = 1) {
    AddTo(DrawKind::kOutlines, rect, ink, line_width);
  }
  // An empty text is left out.
  void AddText(Point at, Anchor anchor, TextSize size, Rgb colour, std::string text);

  // In painter's order: a later item covers an earlier one.
  absl::Span<const DrawItem> items() const { return items_; }
  // The contents of an item of the fitting kind.
  absl::Span<const Point> points(const DrawItem& item) const {
    return absl::MakeConstSpan(points_).subspan(item.first, item.count);
  }
  absl::Span<const Rect> rects(const DrawItem& item) const {
    return absl::MakeConstSpan(rects_).subspan(item.first, item.count);
  }
  absl::Span<const TextItem> texts(const DrawItem& item) const {
    return absl::MakeConstSpan(texts_).subspan(item.first, item.count);
  }

 private:
  void AddTo(DrawKind kind, const Rect& rect, const Ink& ink, float line_width);

  std::vector<DrawItem> items_;
  std::vector<Point> points_;
  std::vector<Rect> rects_;
  std::vector<TextItem> texts_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_DRAW_LIST_H_
