#include "gui/app/panels.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/resource_request.h"

namespace drasim {
namespace {

constexpr float kMapShare = 0.6F;    // of the width
constexpr float kCurveShare = 0.4F;  // of the height of the right side

constexpr ImU32 Packed(const Rgb& colour) {
  return (ImU32{colour.red} << IM_COL32_R_SHIFT) | (ImU32{colour.green} << IM_COL32_G_SHIFT) |
         (ImU32{colour.blue} << IM_COL32_B_SHIFT) | (ImU32{0xff} << IM_COL32_A_SHIFT);
}

constexpr ImU32 kBoxColour = Packed(Rgb{24, 26, 30});
constexpr ImU32 kGridColour = Packed(Rgb{58, 62, 70});
constexpr ImU32 kTextColour = Packed(Rgb{170, 174, 182});
constexpr ImU32 kDiagonalColour = Packed(Rgb{110, 114, 122});
constexpr ImU32 kCurveColour = Packed(Rgb{250, 214, 66});

void Text(const std::string& text) {
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

// --- The map ---

void DrawLegend() {
  constexpr int kStepMilli = 20;
  constexpr float kStepWidth = 3;
  ImGui::TextUnformatted("idle");
  ImGui::SameLine();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  float x = at.x;
  for (int milli = 0; milli <= kDeviceMilli; milli += kStepMilli) {
    ImGui::GetWindowDrawList()->AddRectFilled(
        ImVec2(x, at.y), ImVec2(x + kStepWidth, at.y + height), Packed(DeviceColour(milli)));
    x += kStepWidth;
  }
  ImGui::Dummy(ImVec2(x - at.x, height));
  ImGui::SameLine();
  ImGui::TextUnformatted("all of a GPU allocated");
}

// Fills a rectangle of the map.
void Fill(ImDrawList* list, const ImVec2& origin, const PixelRect& rect, ImU32 colour) {
  const ImVec2 from(origin.x + static_cast<float>(rect.x), origin.y + static_cast<float>(rect.y));
  const ImVec2 to(from.x + static_cast<float>(rect.width),
                  from.y + static_cast<float>(rect.height));
  list->AddRectFilled(from, to, colour);
}

// Only what is in sight: the rest of a large cluster would cost time and vertices for nothing.
void DrawMap(const RunView& view, const MapLayout& map, const ImVec2& origin) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = ImGui::GetWindowPos().y - origin.y;
  const float bottom = top + ImGui::GetWindowHeight();
  for (const MapGroup& group : map.groups) {
    const auto y = static_cast<float>(group.title_y);
    if (y + ImGui::GetTextLineHeight() < top || y > bottom) continue;
    const std::string title = GroupTitle(group);
    list->AddText(ImVec2(origin.x, origin.y + y), kTextColour, title.data(),
                  title.data() + title.size());
  }
  for (const MapBox& box : map.boxes) {
    if (static_cast<float>(box.rect.y + box.rect.height) < top) continue;
    if (static_cast<float>(box.rect.y) > bottom) break;
    Fill(list, origin, box.rect, kBoxColour);
    const std::vector<int32_t>& allocated_milli = view.nodes[box.node].allocated_milli;
    for (size_t d = 0; d < allocated_milli.size(); ++d) {
      Fill(list, origin, DeviceRect(map, box, d), Packed(DeviceColour(allocated_milli[d])));
    }
  }
}

void DrawScrollingMap(const RunView& view, PanelState* state) {
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const auto width = static_cast<int>(space.x);
  const auto height = static_cast<int>(space.y);
  if (width != state->map_width || height != state->map_height) {
    state->map =
        FitMap(view, width, height, static_cast<int>(ImGui::GetTextLineHeightWithSpacing()));
    state->map_width = width;
    state->map_height = height;
  }
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  state->map_x = origin.x;
  state->map_y = origin.y;
  ImGui::Dummy(ImVec2(static_cast<float>(state->map.width), static_cast<float>(state->map.height)));
  DrawMap(view, state->map, origin);
  if (!ImGui::IsWindowHovered()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  state->hovered = FindDevice(view, state->map, static_cast<int>(std::floor(mouse.x - origin.x)),
                              static_cast<int>(std::floor(mouse.y - origin.y)));
  if (!state->hovered.has_value()) return;
  ImGui::BeginTooltip();
  Text(DeviceText(view, *state->hovered));
  ImGui::EndTooltip();
}

void DrawMapPanel(const RunView& view, PanelState* state) {
  state->hovered.reset();
  Text(absl::StrCat("Devices ", MomentText(view)));
  if (view.totals.cluster.gpu_count == 0) {
    ImGui::TextUnformatted("This cluster has no GPUs.");
    return;
  }
  DrawLegend();
  ImGui::BeginChild("map", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
  DrawScrollingMap(view, state);
  ImGui::EndChild();
}

// --- The curve ---

// A rectangle of the screen with two axes in per cent.
struct Plot {
  ImVec2 min;
  ImVec2 max;
  Axis x;
  Axis y;

  ImVec2 At(double x_percent, double y_percent) const {
    const auto across = static_cast<float>(x_percent / static_cast<double>(x.max));
    const auto up = static_cast<float>(y_percent / static_cast<double>(y.max));
    return ImVec2(min.x + across * (max.x - min.x), max.y - up * (max.y - min.y));
  }
};

void DrawAxes(const Plot& plot, ImDrawList* list) {
  constexpr float kLabelGap = 4;
  for (int64_t tick = 0; tick <= plot.x.max; tick += plot.x.step) {
    const auto percent = static_cast<double>(tick);
    const ImVec2 foot = plot.At(percent, 0);
    list->AddLine(foot, ImVec2(foot.x, plot.min.y), kGridColour);
    const std::string label = absl::StrCat(tick);
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    list->AddText(ImVec2(foot.x - width / 2, foot.y + kLabelGap), kTextColour, label.c_str());
  }
  for (int64_t tick = 0; tick <= plot.y.max; tick += plot.y.step) {
    const auto percent = static_cast<double>(tick);
    const ImVec2 left = plot.At(0, percent);
    list->AddLine(left, ImVec2(plot.max.x, left.y), kGridColour);
    const std::string label = absl::StrCat(tick);
    const ImVec2 size = ImGui::CalcTextSize(label.c_str());
    list->AddText(ImVec2(left.x - size.x - kLabelGap, left.y - size.y / 2), kTextColour,
                  label.c_str());
  }
}

void DrawCurve(const RunView& view, const ImVec2& size) {
  constexpr float kLeft = 34;
  constexpr float kRight = 14;
  constexpr float kTop = 8;
  constexpr float kBottom = 22;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  Plot plot;
  plot.min = ImVec2(at.x + kLeft, at.y + kTop);
  plot.max = ImVec2(std::max(at.x + size.x - kRight, plot.min.x),
                    std::max(at.y + size.y - kBottom, plot.min.y));
  // The load only grows, so the last point has the largest. A run that asks for less than the
  // cluster keeps the scale of one that asks for all of it.
  plot.x = AxisFor(std::max(100.0, view.curve.back().arrived_percent));
  plot.y = AxisFor(100);
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawAxes(plot, list);
  list->AddLine(plot.At(0, 0), plot.At(100, 100), kDiagonalColour);
  std::vector<ImVec2> points;
  points.reserve(view.curve.size());
  for (const CurvePoint& point : view.curve) {
    points.push_back(plot.At(point.arrived_percent, point.allocated_percent));
  }
  constexpr float kThickness = 2;
  list->AddPolyline(points.data(), static_cast<int>(points.size()), kCurveColour, ImDrawFlags_None,
                    kThickness);
}

void DrawCurvePanel(const RunView& view) {
  constexpr float kMinHeight = 120;
  ImGui::TextUnformatted("GPU allocation over GPU demand that arrived, % of all GPUs");
  if (view.curve.empty()) {
    ImGui::TextUnformatted("Without GPUs there is no curve.");
    return;
  }
  const ImVec2 space = ImGui::GetContentRegionAvail();
  DrawCurve(view, ImVec2(std::max(space.x, 1.0F), std::max(space.y * kCurveShare, kMinHeight)));
  ImGui::TextDisabled("%s", "grey: everything that arrived is allocated");
}

// --- Figures and scenario ---

void DrawSummary(const RunView& view) {
  if (view.partial) {
    const ImVec4 amber(0.98F, 0.72F, 0.25F, 1.0F);
    ImGui::TextColored(amber, "%s", "Partial: the run was interrupted, or still goes on.");
  }
  if (!ImGui::BeginTable("figures", 2, ImGuiTableFlags_SizingFixedFit)) return;
  for (const SummaryLine& line : SummaryLines(view)) {
    ImGui::TableNextColumn();
    Text(line.label);
    ImGui::TableNextColumn();
    Text(line.value);
  }
  ImGui::EndTable();
}

void DrawScenario(const RunView& view) {
  if (!ImGui::CollapsingHeader("Scenario", ImGuiTreeNodeFlags_DefaultOpen)) return;
  ImGui::BeginChild("scenario", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
  Text(view.scenario_yaml);
  ImGui::EndChild();
}

}  // namespace

void DrawPanels(const RunView& view, PanelState* state) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->WorkPos);
  ImGui::SetNextWindowSize(viewport->WorkSize);
  ImGui::Begin("drasim", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
  const float map_width = std::floor(ImGui::GetContentRegionAvail().x * kMapShare);
  ImGui::BeginChild("left", ImVec2(map_width, 0), true);
  DrawMapPanel(view, state);
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::BeginChild("right", ImVec2(0, 0), true);
  DrawCurvePanel(view);
  DrawSummary(view);
  DrawScenario(view);
  ImGui::EndChild();
  ImGui::End();
}

}  // namespace drasim
