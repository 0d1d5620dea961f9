#include "gui/view/draw_list.h"

#include <array>
#include <cstddef>
#include <utility>

namespace drasim::view {

void DrawList::Clear() {
  items_.clear();
  points_.clear();
  rects_.clear();
  texts_.clear();
}

void DrawList::AddPolyline(absl::Span<const Point> points, const Ink& ink, float line_width,
                           bool dashed) {
  if (points.size() < 2) return;
  DrawItem item;
  item.kind = DrawKind::kPolyline;
  item.dashed = dashed;
  item.ink = ink;
  item.line_width = line_width;
  item.first = static_cast<uint32_t>(points_.size());
  item.count = static_cast<uint32_t>(points.size());
  items_.push_back(item);
  points_.insert(points_.end(), points.begin(), points.end());
}

void DrawList::AddLine(Point from, Point to, const Ink& ink, float line_width, bool dashed) {
  const std::array<Point, 2> ends = {from, to};
  AddPolyline(ends, ink, line_width, dashed);
}

void DrawList::AddTo(DrawKind kind, const Rect& rect, const Ink& ink, float line_width) {
  if (!(rect.width > 0 && rect.height > 0)) return;
  const bool continues = !items_.empty() && items_.back().kind == kind &&
                         items_.back().ink == ink && items_.back().line_width == line_width;
  if (!continues) {
    DrawItem item;
    item.kind = kind;
    item.ink = ink;
    item.line_width = line_width;
    item.first = static_cast<uint32_t>(rects_.size());
    items_.push_back(item);
  }
  ++items_.back().count;
  rects_.push_back(rect);
}

void DrawList::AddText(Point at, Anchor anchor, TextSize size, Rgb colour, std::string text) {
  if (text.empty()) return;
  if (items_.empty() || items_.back().kind != DrawKind::kTexts) {
    DrawItem item;
    item.kind = DrawKind::kTexts;
    item.first = static_cast<uint32_t>(texts_.size());
    items_.push_back(item);
  }
  ++items_.back().count;
  TextItem text_item;
  text_item.at = at;
  text_item.anchor = anchor;
  text_item.size = size;
  text_item.colour = colour;
  text_item.text = std::move(text);
  texts_.push_back(std::move(text_item));
}

}  // namespace drasim::view
