#include "gui/app/plot_draw.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace drasim::gui {
namespace {

// Rectangles per reservation: their vertices must fit into an index of 16 bits.
constexpr size_t kRectsAtOnce = 8192;
// Points of a polyline drawn by one call of ImGui, which makes up to four vertices of each.
constexpr size_t kPointsAtOnce = 8192;
// Pixels of hatchings and dashes at scale 1; svg.cc has the same.
constexpr float kHatchSpacing = 6;
constexpr float kHatchWidth = 2;
constexpr float kDash = 4;
constexpr float kDashGap = 3;

ImU32 PackedInk(const view::Ink& ink) { return Packed(ink.colour, ink.alpha); }

ImVec2 At(ImVec2 origin, view::Point point) {
  return ImVec2(origin.x + point.x, origin.y + point.y);
}

// A rectangle of the screen: half-open, perhaps empty.
struct Box {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
  bool empty() const { return !(left < right && top < bottom); }
};

Box BoxOf(const view::Rect& rect, ImVec2 origin) {
  return {origin.x + rect.x, origin.y + rect.y, origin.x + rect.right(), origin.y + rect.bottom()};
}

Box Common(const Box& a, const Box& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

Box ClipOf(const ImDrawList& list) {
  const ImVec2 from = list.GetClipRectMin();
  const ImVec2 to = list.GetClipRectMax();
  return {from.x, from.y, to.x, to.y};
}

// --- Rectangles ---

// Appends rectangles and convex polygons to a draw list, in reservations that fit its indices. One
// of these serves as many items as possible: a large map has as many items as rectangles. Between
// the calls nobody else may append, unless GiveBack was called.
class Filler {
 public:
  explicit Filler(ImDrawList* list) : list_(list) {}
  ~Filler() { GiveBack(); }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  void SetColour(ImU32 colour) { colour_ = colour; }

  void AddBox(const Box& box) {
    if (box.empty()) return;
    // As ImDrawList::PrimRect does, which cannot be inlined: maps have ten thousands of boxes.
    Reserve(4);
    const unsigned first = list_->_VtxCurrentIdx;
    for (const unsigned corner : {0U, 1U, 2U, 0U, 2U, 3U}) {
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(first + corner));
    }
    list_->PrimWriteVtx(ImVec2(box.left, box.top), white_, colour_);
    list_->PrimWriteVtx(ImVec2(box.right, box.top), white_, colour_);
    list_->PrimWriteVtx(ImVec2(box.right, box.bottom), white_, colour_);
    list_->PrimWriteVtx(ImVec2(box.left, box.bottom), white_, colour_);
    Took(4);
  }

  // REQUIRES: 3 <= count <= 6.
  void AddConvex(const ImVec2* points, unsigned count) {
    Reserve(count);
    const unsigned first = list_->_VtxCurrentIdx;
    for (unsigned i = 2; i < count; ++i) {
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(first));
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(first + i - 1));
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(first + i));
    }
    for (unsigned i = 0; i < count; ++i) list_->PrimWriteVtx(points[i], white_, colour_);
    Took(count);
  }

  // Ends the reservation. More may be added later.
  void GiveBack() {
    if (vertices_left_ > 0 || indices_left_ > 0) {
      list_->PrimUnreserve(indices_left_, vertices_left_);
    }
    vertices_left_ = 0;
    indices_left_ = 0;
    reserve_ = kFirst;
  }

 private:
  // Small at first: many lists have a few rectangles between their texts.
  static constexpr int kFirst = 16;
  static constexpr int kVertices = 4 * static_cast<int>(kRectsAtOnce);
  static constexpr int IndicesOf(int vertices) { return 3 * (vertices - 2); }

  void Reserve(unsigned vertices) {
    if (vertices_left_ >= static_cast<int>(vertices) &&
        indices_left_ >= IndicesOf(static_cast<int>(vertices))) {
      return;
    }
    const int more = std::min(reserve_ * 4, kVertices);
    GiveBack();
    reserve_ = more;
    vertices_left_ = reserve_;
    indices_left_ = 2 * reserve_;
    list_->PrimReserve(indices_left_, vertices_left_);
  }

  void Took(unsigned vertices) {
    vertices_left_ -= static_cast<int>(vertices);
    indices_left_ -= IndicesOf(static_cast<int>(vertices));
  }

  ImDrawList* list_;
  const ImVec2 white_ = ImGui::GetFontTexUvWhitePixel();  // of the texture
  ImU32 colour_ = 0;
  int reserve_ = kFirst;
  int vertices_left_ = 0;
  int indices_left_ = 0;
};

// --- Hatchings ---

// The part of `box` with from <= x + y < to, or where `falling`, from <= x - y < to.
void AddBand(const Box& box, bool falling, float from, float to, Filler* filler) {
  // Both kinds are one in (x, s) with s = y or -y: a band between two lines x + s = constant.
  const float sign = falling ? -1.0F : 1.0F;
  const float s0 = falling ? -box.bottom : box.top;
  const float s1 = falling ? -box.top : box.bottom;
  const float x0 = box.left;
  const float x1 = box.right;
  from = std::max(from, x0 + s0);
  to = std::min(to, x1 + s1);
  if (!(from < to)) return;
  ImVec2 points[6];
  unsigned count = 0;
  const auto add = [&](float x, float s) { points[count++] = ImVec2(x, s * sign); };
  // A line's end on the edges with small x (left, then s1), and the one with small s.
  const auto lower = [&](float sum) { add(std::max(x0, sum - s1), std::min(sum - x0, s1)); };
  const auto upper = [&](float sum) { add(std::min(sum - s0, x1), std::max(s0, sum - x1)); };
  lower(from);
  if (from < x0 + s1 && x0 + s1 < to) add(x0, s1);
  lower(to);
  upper(to);
  if (from < x1 + s0 && x1 + s0 < to) add(x1, s0);
  upper(from);
  filler->AddConvex(points, count);
}

// The first multiple of `spacing` whose stripe may reach beyond `place`.
float FirstStripe(float place, float spacing, float width) {
  return std::floor((place - width) / spacing) * spacing;
}

// Diagonal stripes. Their edges lie between the centres of pixels, so every row of pixels gets the
// same width, and the places are those of the screen, so neighbours match.
void AddDiagonals(const Box& box, bool falling, float spacing, float width, Filler* filler) {
  const float least = falling ? box.left - box.bottom : box.left + box.top;
  const float most = falling ? box.right - box.top : box.right + box.bottom;
  for (float sum = FirstStripe(least, spacing, width); sum < most; sum += spacing) {
    AddBand(box, falling, sum - 0.5F, sum - 0.5F + width, filler);
  }
}

void AddStripes(const Box& box, bool vertical, float spacing, float width, Filler* filler) {
  const float least = vertical ? box.left : box.top;
  const float most = vertical ? box.right : box.bottom;
  for (float at = FirstStripe(least, spacing, width); at < most; at += spacing) {
    const Box stripe = vertical ? Box{at, box.top, at + width, box.bottom}
                                : Box{box.left, at, box.right, at + width};
    filler->AddBox(Common(stripe, box));
  }
}

void AddDots(const Box& box, float spacing, float width, Filler* filler) {
  for (float y = FirstStripe(box.top, spacing, width); y < box.bottom; y += spacing) {
    const Box row = Common(Box{box.left, y, box.right, y + width}, box);
    if (!row.empty()) AddStripes(row, /*vertical=*/true, spacing, width, filler);
  }
}

void AddHatch(const Box& box, view::Hatch hatch, float scale, Filler* filler) {
  const float spacing = std::round(kHatchSpacing * scale);
  const float width = std::round(kHatchWidth * scale);
  const float thin = std::max(std::round(width / 2), 1.0F);
  switch (hatch) {
    case view::Hatch::kNone:
      return;
    case view::Hatch::kRising:
      AddDiagonals(box, /*falling=*/false, spacing, width, filler);
      return;
    case view::Hatch::kFalling:
      AddDiagonals(box, /*falling=*/true, spacing, width, filler);
      return;
    case view::Hatch::kCrossed:
      AddDiagonals(box, /*falling=*/false, spacing, thin, filler);
      AddDiagonals(box, /*falling=*/true, spacing, thin, filler);
      return;
    case view::Hatch::kHorizontal:
      AddStripes(box, /*vertical=*/false, spacing, width, filler);
      return;
    case view::Hatch::kVertical:
      AddStripes(box, /*vertical=*/true, spacing, width, filler);
      return;
    case view::Hatch::kDotted:
      AddDots(box, spacing, width, filler);
      return;
  }
}

void PaintFills(absl::Span<const view::Rect> rects, const view::Ink& ink, ImVec2 origin,
                const Box& clip, const AppState& app, Filler* filler) {
  filler->SetColour(PackedInk(ink));
  for (const view::Rect& rect : rects) {
    const Box box = BoxOf(rect, origin);
    if (!Common(box, clip).empty()) filler->AddBox(box);
  }
  if (ink.hatch == view::Hatch::kNone) return;
  // The lines have the colour of the ground, as if the fill were cut.
  filler->SetColour(Packed(app.theme().panel, ink.alpha));
  for (const view::Rect& rect : rects) {
    const Box box = Common(BoxOf(rect, origin), clip);
    if (!box.empty()) AddHatch(box, ink.hatch, app.looks.scale, filler);
  }
}

void PaintOutlines(absl::Span<const view::Rect> rects, const view::DrawItem& item, ImVec2 origin,
                   const Box& clip, Filler* filler) {
  filler->SetColour(PackedInk(item.ink));
  for (const view::Rect& rect : rects) {
    const Box box = BoxOf(rect, origin);
    if (Common(box, clip).empty()) continue;
    const float across = std::min(item.line_width, rect.width / 2);
    const float down = std::min(item.line_width, rect.height / 2);
    filler->AddBox({box.left, box.top, box.right, box.top + down});
    filler->AddBox({box.left, box.bottom - down, box.right, box.bottom});
    filler->AddBox({box.left, box.top + down, box.left + across, box.bottom - down});
    filler->AddBox({box.right - across, box.top + down, box.right, box.bottom - down});
  }
}

// --- Lines ---

// A horizontal or vertical line as whole pixels, which stays as crisp as the grid of a plot must
// be.
void AddStraight(ImVec2 from, ImVec2 to, float width, Filler* filler) {
  const float thick = std::max(std::round(width), 1.0F);
  if (from.y == to.y) {
    const float top = std::round(from.y - thick / 2);
    filler->AddBox({std::min(from.x, to.x), top, std::max(from.x, to.x), top + thick});
  } else {
    const float left = std::round(from.x - thick / 2);
    filler->AddBox({left, std::min(from.y, to.y), left + thick, std::max(from.y, to.y)});
  }
}

// The part of a segment that may be seen, as shares of its length. False if there is none.
bool SeenPart(ImVec2 from, ImVec2 to, const Box& clip, float* begin, float* end) {
  *begin = 0;
  *end = 1;
  const auto cut = [&](float start, float delta, float least, float most) {
    if (delta == 0) return start >= least && start <= most;
    const float a = (least - start) / delta;
    const float b = (most - start) / delta;
    *begin = std::max(*begin, std::min(a, b));
    *end = std::min(*end, std::max(a, b));
    return *begin < *end;
  };
  return cut(from.x, to.x - from.x, clip.left, clip.right) &&
         cut(from.y, to.y - from.y, clip.top, clip.bottom);
}

// Dashes run on around corners. Only those in sight are made, however long the line.
void PaintDashed(absl::Span<const view::Point> points, const view::DrawItem& item, ImVec2 origin,
                 Box clip, const AppState& app, Filler* filler, ImDrawList* list) {
  const double period = (kDash + kDashGap) * app.looks.scale;
  const double dash = kDash * app.looks.scale;
  clip = {clip.left - item.line_width, clip.top - item.line_width, clip.right + item.line_width,
          clip.bottom + item.line_width};
  filler->SetColour(PackedInk(item.ink));
  double walked = 0;  // along the line
  for (size_t i = 1; i < points.size(); ++i) {
    const ImVec2 from = At(origin, points[i - 1]);
    const ImVec2 to = At(origin, points[i]);
    const ImVec2 delta(to.x - from.x, to.y - from.y);
    const float length = std::hypot(delta.x, delta.y);
    const double before = walked;
    walked += static_cast<double>(length);
    float begin = 0;
    float end = 1;
    if (length <= 0 || !SeenPart(from, to, clip, &begin, &end)) continue;
    const bool straight = delta.x == 0 || delta.y == 0;
    // Places of dashes within the segment.
    const double phase = std::fmod(before, period);
    const double whole = length;
    const double first = begin * whole;
    const double last = end * whole;
    // In floats a period would be lost beside a long line, and the loop would not end.
    double at = std::floor((first + phase) / period) * period - phase;
    for (; at < last; at += period) {
      const auto a = static_cast<float>(std::max(at, first) / whole);
      const auto b = static_cast<float>(std::min(at + dash, last) / whole);
      if (a >= b) continue;
      const ImVec2 ends[] = {ImVec2(from.x + delta.x * a, from.y + delta.y * a),
                             ImVec2(from.x + delta.x * b, from.y + delta.y * b)};
      if (straight) {
        AddStraight(ends[0], ends[1], item.line_width, filler);
      } else {
        filler->GiveBack();
        list->AddPolyline(ends, 2, PackedInk(item.ink), ImDrawFlags_None, item.line_width);
      }
    }
  }
}

void PaintPolyline(absl::Span<const view::Point> points, const view::DrawItem& item, ImVec2 origin,
                   const Box& clip, const AppState& app, Filler* filler, ImDrawList* list) {
  if (item.dashed) {
    PaintDashed(points, item, origin, clip, app, filler, list);
    return;
  }
  const bool straight =
      points.size() == 2 && (points[0].x == points[1].x || points[0].y == points[1].y);
  if (straight) {
    filler->SetColour(PackedInk(item.ink));
    AddStraight(At(origin, points[0]), At(origin, points[1]), item.line_width, filler);
    return;
  }
  filler->GiveBack();
  // ImGui keeps the path's memory from frame to frame.
  for (size_t begin = 0; begin + 1 < points.size(); begin += kPointsAtOnce - 1) {
    const size_t end = std::min(begin + kPointsAtOnce, points.size());
    list->PathClear();
    for (size_t i = begin; i < end; ++i) list->PathLineTo(At(origin, points[i]));
    list->PathStroke(PackedInk(item.ink), ImDrawFlags_None, item.line_width);
  }
}

// --- Texts ---

const ImFont& FontOf(view::TextSize size, const AppState& app) {
  const ImFont* font = nullptr;
  switch (size) {
    case view::TextSize::kSmall:
      font = app.fonts.small;
      break;
    case view::TextSize::kNormal:
      font = app.fonts.normal;
      break;
    case view::TextSize::kStrong:
      font = app.fonts.strong;
      break;
  }
  return font != nullptr ? *font : *ImGui::GetFont();
}

void PaintTexts(absl::Span<const view::TextItem> texts, ImVec2 origin, const Box& clip,
                const AppState& app, ImDrawList* to) {
  for (const view::TextItem& item : texts) {
    const ImFont& font = FontOf(item.size, app);
    ImVec2 at = At(origin, item.at);
    at.y -= font.FontSize / 2;
    if (at.y >= clip.bottom || at.y + font.FontSize <= clip.top) continue;
    const char* begin = item.text.data();
    const char* end = begin + item.text.size();
    if (item.anchor != view::Anchor::kStart) {
      const float width = font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, begin, end).x;
      at.x -= item.anchor == view::Anchor::kMiddle ? width / 2 : width;
    }
    if (at.x >= clip.right) continue;
    // Between pixels letters would blur.
    at = ImVec2(std::round(at.x), std::round(at.y));
    to->AddText(&font, font.FontSize, at, Packed(item.colour), begin, end);
  }
}

}  // namespace

ImU32 Packed(Rgb colour, uint8_t alpha) {
  return (ImU32{colour.red} << IM_COL32_R_SHIFT) | (ImU32{colour.green} << IM_COL32_G_SHIFT) |
         (ImU32{colour.blue} << IM_COL32_B_SHIFT) | (ImU32{alpha} << IM_COL32_A_SHIFT);
}

void Paint(const view::DrawList& list, ImVec2 origin, const AppState& app, ImDrawList* to) {
  const Box clip = ClipOf(*to);
  Filler filler(to);
  for (const view::DrawItem& item : list.items()) {
    switch (item.kind) {
      case view::DrawKind::kPolyline:
        PaintPolyline(list.points(item), item, origin, clip, app, &filler, to);
        break;
      case view::DrawKind::kFills:
        PaintFills(list.rects(item), item.ink, origin, clip, app, &filler);
        break;
      case view::DrawKind::kOutlines:
        PaintOutlines(list.rects(item), item, origin, clip, &filler);
        break;
      case view::DrawKind::kTexts:
        filler.GiveBack();
        PaintTexts(list.texts(item), origin, clip, app, to);
        break;
    }
  }
}

void PaintInk(const view::Rect& rect, const view::Ink& ink, const AppState& app, ImDrawList* to) {
  Filler filler(to);
  PaintFills(absl::MakeConstSpan(&rect, 1), ink, ImVec2(0, 0), ClipOf(*to), app, &filler);
}

float CharWidth(const AppState& app) {
  const ImFont& font = FontOf(view::TextSize::kSmall, app);
  return font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, "0").x;
}

float LineHeight(const AppState& app) {
  return std::round(FontOf(view::TextSize::kSmall, app).FontSize * 8 / 7);
}

}  // namespace drasim::gui
