#include "gui/view/gantt.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/node_slices.h"
#include "gui/view/profile_ink.h"
#include "gui/view/ticks.h"
#include "gui/view/unit_text.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/pod_shape.h"

namespace drasim::view {
namespace {

Ink GanttInk(Rgb colour, uint8_t alpha = 255) {
  Ink ink;
  ink.colour = colour;
  ink.alpha = alpha;
  return ink;
}

// The pixel of an instant, inside the area.
float GanttX(const Rect& area, const GanttFrame& frame, SimTime time) {
  const SimTime shown = std::clamp(time, frame.begin, frame.end);
  const double share = static_cast<double>((shown - frame.begin).ns()) /
                       static_cast<double>((frame.end - frame.begin).ns());
  return area.x + static_cast<float>(share * static_cast<double>(area.width));
}

float CharsWide(const GanttFrame& frame, absl::string_view text) {
  return frame.char_width * static_cast<float>(text.size());
}

// The name of the pod with what it holds, or the name alone, or nothing, as there is room.
std::string GanttLabel(const NodeSlot& slot, const GanttFrame& frame, const Rect& box) {
  const float room = box.width - frame.char_width;
  if (box.height < frame.line_height * 0.8F) return "";
  std::string text = absl::StrCat(slot.pod_name, " ", slot.part.label);
  if (CharsWide(frame, text) <= room) return text;
  return CharsWide(frame, slot.pod_name) <= room ? slot.pod_name : std::string();
}

int64_t GpusOf(const NodeInspection& node) {
  int64_t gpus = node.figures.gpus;
  for (const NodeSlot& slot : node.slots) gpus = std::max(gpus, int64_t{slot.part.device} + 1);
  return gpus;
}

}  // namespace

std::optional<size_t> GanttPicture::SlotAt(Point point) const {
  for (size_t i = boxes.size(); i-- > 0;) {
    if (boxes[i].rect.Contains(point)) return boxes[i].slot;
  }
  return std::nullopt;
}

GanttPicture DrawGantt(const NodeInspection& node, absl::Span<const std::string> profiles,
                       const GanttFrame& frame) {
  DRASIM_CHECK(frame.begin < frame.end);
  const Theme& theme = ThemeOf(frame.theme);
  GanttPicture picture;
  DrawList& list = picture.list;
  const int64_t gpus = GpusOf(node);
  const std::string last_gpu = absl::StrCat("GPU ", std::max<int64_t>(gpus - 1, 0));
  Rect& area = picture.area;
  area.x = CharsWide(frame, last_gpu) + frame.char_width;
  area.width = std::max(frame.width - area.x - frame.char_width, 1.0F);
  area.height = std::max(frame.height - frame.line_height, 1.0F);

  // Axis and rows.
  const int max_ticks = std::max(2, static_cast<int>(area.width / (9 * frame.char_width)));
  std::vector<Tick> ticks = TimeTicks(frame.begin, frame.end, max_ticks);
  for (Tick& tick : ticks) {
    if (frame.by_record) tick.label = CommaText(static_cast<int64_t>(tick.value));
  }
  const float row = area.height / static_cast<float>(std::max<int64_t>(gpus, 1));
  const float gap = row >= 12 ? std::floor(row / 8) : (row >= 3 ? 1.0F : 0.0F);
  // Labels that would overlap are left out.
  const auto stride = static_cast<int64_t>(std::ceil(frame.line_height / std::max(row, 0.1F)));
  for (int64_t g = 0; g < gpus; ++g) {
    const float y = area.y + row * static_cast<float>(g);
    list.AddRect({area.x, y, area.width, row - gap}, GanttInk(theme.free_cell));
  }
  for (const Tick& tick : ticks) {
    const float x = GanttX(area, frame, SimTime(static_cast<int64_t>(tick.value)));
    list.AddLine({x, area.y}, {x, area.bottom()}, GanttInk(theme.grid));
  }
  for (const Tick& tick : ticks) {
    const float x = GanttX(area, frame, SimTime(static_cast<int64_t>(tick.value)));
    const float half = (CharsWide(frame, tick.label) + frame.char_width) / 2;
    const float inside = std::clamp(x, half, std::max(half, frame.width - half));
    list.AddText({inside, area.bottom() + frame.line_height / 2}, Anchor::kMiddle, TextSize::kSmall,
                 theme.dim_text, tick.label);
  }
  for (int64_t g = 0; g < gpus; g += std::max<int64_t>(stride, 1)) {
    const float middle = area.y + row * static_cast<float>(g) + (row - gap) / 2;
    list.AddText({area.x - frame.char_width, middle}, Anchor::kEnd, TextSize::kSmall,
                 theme.dim_text, absl::StrCat("GPU ", g));
  }

  // Boxes. Inks by label, since few labels have many slots.
  std::map<std::string, Ink> inks;
  std::map<std::pair<uint8_t, int32_t>, float> covered;  // by place on a GPU: up to this pixel
  struct Label {
    Point at;
    Rgb colour;
    std::string text;
  };
  std::vector<Label> labels;
  for (size_t s = 0; s < node.slots.size(); ++s) {
    const NodeSlot& slot = node.slots[s];
    if (slot.to < frame.begin || slot.from > frame.end || slot.part.whole <= 0) continue;
    const auto whole = static_cast<float>(slot.part.whole);
    const float left = GanttX(area, frame, slot.from);
    const float right = GanttX(area, frame, slot.to);
    Rect box;
    box.x = left;
    // A pixel between neighbours, where there is one to spare.
    box.width = std::max(right - left > 3 ? right - left - 1 : right - left, 1.0F);
    box.y = area.y + row * static_cast<float>(slot.part.device) +
            (row - gap) * static_cast<float>(slot.offset) / whole;
    const float height = (row - gap) * static_cast<float>(slot.part.size) / whole;
    box.height = std::max(height > 4 ? height - 1 : height, 1.0F);
    float& drawn = covered[{slot.part.device, slot.offset}];
    if (box.width <= 1 && box.x < drawn) continue;
    drawn = std::max(drawn, box.right());
    const auto [ink, is_new] = inks.try_emplace(slot.part.label);
    if (is_new) {
      ink->second =
          ProfileInk(theme, profiles, slot.part.label).value_or(GanttInk(theme.muted_cell));
    }
    list.AddRect(box, ink->second);
    picture.boxes.push_back({box, s});
    std::string text = GanttLabel(slot, frame, box);
    if (text.empty()) continue;
    labels.push_back({{box.x + frame.char_width / 2, box.y + box.height / 2},
                      TextOn(ink->second.colour),
                      std::move(text)});
  }
  for (Label& label : labels) {
    list.AddText(label.at, Anchor::kStart, TextSize::kSmall, label.colour, std::move(label.text));
  }
  for (const NodeEvent& event : node.events) {
    if (event.time < frame.begin || event.time > frame.end) continue;
    const float x = GanttX(area, frame, event.time);
    list.AddLine({x, area.y}, {x, area.bottom()}, GanttInk(theme.stranded), 1, /*dashed=*/true);
  }
  return picture;
}

void DrawGanttCursor(const NodeInspection& node, const GanttPicture& picture,
                     const GanttFrame& frame, SimTime cursor, absl::string_view pod,
                     DrawList* list) {
  const Theme& theme = ThemeOf(frame.theme);
  const Rect& area = picture.area;
  if (cursor < frame.end) {
    const float x = GanttX(area, frame, cursor);
    list->AddRect({x, area.y, area.right() - x, area.height}, GanttInk(theme.panel, 140));
  }
  for (const GanttBox& box : picture.boxes) {
    if (pod.empty() || node.slots[box.slot].pod_name != pod) continue;
    list->AddOutline(box.rect, GanttInk(theme.text));
  }
  if (cursor < frame.begin || cursor > frame.end) return;
  const float x = GanttX(area, frame, cursor);
  list->AddLine({x, area.y}, {x, area.bottom()}, GanttInk(theme.cursor), 2);
}

std::string NodeFooterText(const NodeTableRow& node) {
  const auto cores = [](int64_t milli) { return DoubleText(static_cast<double>(milli) / 1000); };
  std::string text;
  if (node.slices.slices > 0) {
    text = absl::StrCat(node.slices.held, " of ", node.slices.slices, " slices held · ",
                        node.slices.stranded, " stranded");
  } else {
    text = absl::StrCat(FixedText(static_cast<double>(node.gpu_milli) / kDeviceMilli, 2), " of ",
                        node.gpus, node.gpus == 1 ? " GPU allocated" : " GPUs allocated");
  }
  absl::StrAppend(&text, " · CPU ", cores(node.cpu_milli), " of ", cores(node.cpu_milli_capacity),
                  " · ", CommaText(node.pods), node.pods == 1 ? " pod" : " pods");
  if (node.state != NodeState::kReady) absl::StrAppend(&text, " · ", NodeStateName(node.state));
  return text;
}

}  // namespace drasim::view
