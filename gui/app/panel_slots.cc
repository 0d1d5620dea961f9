#include "gui/app/panel_slots.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/inspection.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/draw_list.h"
#include "gui/view/gantt.h"
#include "gui/view/inspect_node.h"
#include "gui/view/svg.h"
#include "model/time.h"

namespace drasim::gui {
namespace {

std::shared_ptr<const Inspection> InspectionOfNode(const AppState& app) {
  const std::shared_ptr<const Inspection>& inspection =
      app.a.inspections[static_cast<size_t>(ObjectKind::kNode)];
  if (inspection == nullptr || inspection->request.object.name != app.node) return nullptr;
  return inspection;
}

class SlotsPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kInspect; }
  absl::string_view title() const override { return title_; }
  std::string Subtitle(const AppState& app) const override {
    if (app.node.empty()) return "";
    return absl::StrCat("slots over time, ", InstantText(app.timeline.window_begin(), app), " to ",
                        InstantText(app.timeline.window_end(), app));
  }

  void Draw(AppState* app, bool) override {
    // A cluster is looked at before anything is selected.
    if (app->node.empty() && app->a.snapshot != nullptr && app->a.snapshot->nodes.rows() > 0) {
      app->node = app->a.snapshot->nodes.row(0).name;
    }
    title_ = app->node.empty() ? "Node" : app->node;
    const std::shared_ptr<const Inspection> inspection = InspectionOfNode(*app);
    if (inspection == nullptr && app->a.job != nullptr && !app->a.opened()) {
      WrappedDimText("The slots over time can be seen when the run is over.", *app);
      return;
    }
    if (inspection == nullptr) {
      if (!app->node.empty()) DimText(absl::StrCat("Reading about ", app->node, " ..."), *app);
      return;
    }
    if (!inspection->node.has_value()) {
      WrappedText(inspection->status.message());
      return;
    }
    if (inspection->node->figures.gpus == 0 && inspection->node->slots.empty()) {
      WrappedDimText("This node has no GPUs.", *app);
    } else {
      DrawSlots(inspection, app);
    }
    DimText(view::NodeFooterText(inspection->node->figures), *app);
  }

  std::vector<PanelExport> Exports(const AppState& app) override {
    const std::shared_ptr<const Inspection> inspection = InspectionOfNode(app);
    if (inspection == nullptr || !inspection->node.has_value()) return {};
    view::GanttFrame frame = FrameOf(app, 800, 480);
    frame.char_width = view::GanttFrame().char_width;
    frame.line_height = view::GanttFrame().line_height;
    const view::GanttPicture picture = view::DrawGantt(*inspection->node, ProfilesOf(app), frame);
    view::DrawList cursor;
    view::DrawGanttCursor(*inspection->node, picture, frame, inspection->node->now, "", &cursor);
    view::SvgOptions options;
    options.width = frame.width;
    options.height = frame.height;
    options.theme = frame.theme;
    options.title = absl::StrCat("Slots of ", app.node, " over time");
    const std::array<const view::DrawList*, 2> lists = {&picture.list, &cursor};
    return {{"slots.svg", view::SvgText(lists, options)}};
  }

 private:
  static std::vector<std::string> ProfilesOf(const AppState& app) {
    return app.a.snapshot != nullptr ? app.a.snapshot->map.profiles : std::vector<std::string>();
  }

  static view::GanttFrame FrameOf(const AppState& app, float width, float height) {
    view::GanttFrame frame;
    frame.width = width;
    frame.height = height;
    frame.begin = app.timeline.window_begin();
    frame.end = std::max(app.timeline.window_end(), frame.begin + SimDuration(1));
    frame.by_record = app.a.overview != nullptr && app.a.overview->by_record;
    frame.theme = app.looks.theme;
    return frame;
  }

  void DrawSlots(const std::shared_ptr<const Inspection>& inspection, AppState* app) {
    const view::NodeInspection& node = *inspection->node;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float footer = ImGui::GetTextLineHeightWithSpacing();
    view::GanttFrame frame = FrameOf(*app, room.x, std::max(room.y - footer, 4 * footer));
    frame.char_width = CharWidth(*app);
    frame.line_height = LineHeight(*app);
    std::vector<std::string> profiles = ProfilesOf(*app);
    if (drawn_ != inspection || frame != frame_ || profiles != profiles_) {
      profiles_ = std::move(profiles);
      picture_ = view::DrawGantt(node, profiles_, frame);
      drawn_ = inspection;
      frame_ = frame;
    }
    ImGui::PushID("slots");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("area", ImVec2(std::max(frame.width, 1.0F), frame.height));
    ImGui::PopID();
    const bool clicked = ImGui::IsItemClicked(ImGuiMouseButton_Left);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(at, ImVec2(at.x + frame.width, at.y + frame.height), true);
    Paint(picture_.list, at, *app, list);
    overlay_.Clear();
    const bool pod_is_selected = app->selected.kind == ObjectKind::kPod;
    view::DrawGanttCursor(node, picture_, frame, app->timeline.cursor().time,
                          pod_is_selected ? app->selected.name : absl::string_view(), &overlay_);
    Paint(overlay_, at, *app, list);
    list->PopClipRect();
    const std::optional<view::Point> mouse = MouseIn({at.x, at.y});
    if (mouse.has_value()) Point(node, *mouse, clicked, app);
  }

  // Handles the mouse above the picture: zoom, tooltip and clicks.
  void Point(const view::NodeInspection& node, view::Point mouse, bool clicked, AppState* app) {
    const std::optional<size_t> slot = picture_.SlotAt(mouse);
    const SimTime time = TimeAt(mouse.x);
    const float wheel = ImGui::GetIO().MouseWheel;
    if (wheel != 0 && !ImGui::GetIO().KeyCtrl) {
      app->timeline.Zoom(wheel > 0 ? view::kZoomIn : view::kZoomOut, time);
    }
    if (!slot.has_value()) {
      if (clicked && picture_.area.Contains(mouse)) app->timeline.MoveTo({time});
      return;
    }
    const view::NodeSlot& hit = node.slots[*slot];
    const std::string text = absl::StrCat(hit.pod_name, "\n", hit.part.label, " on GPU ",
                                          hit.part.device, "\n", InstantText(hit.from, *app),
                                          " to ", hit.open ? "now" : InstantText(hit.to, *app),
                                          ", ", LengthText(hit.to - hit.from, *app));
    ImGui::BeginTooltip();
    Text(text);
    ImGui::EndTooltip();
    if (clicked) app->Select({ObjectKind::kPod, hit.pod_name});
  }

  SimTime TimeAt(float x) const {
    const float width = std::max(picture_.area.width, 1.0F);  // none in a narrow panel
    const double share = std::clamp(static_cast<double>((x - picture_.area.x) / width), 0.0, 1.0);
    const auto span = static_cast<double>((frame_.end - frame_.begin).ns());
    return frame_.begin + SimDuration(static_cast<int64_t>(share * span));
  }

  std::string title_ = "Node";
  std::shared_ptr<const Inspection> drawn_;
  view::GanttFrame frame_;
  std::vector<std::string> profiles_;
  view::GanttPicture picture_;
  view::DrawList overlay_;
};

}  // namespace

std::unique_ptr<Panel> MakeSlotsPanel() { return std::make_unique<SlotsPanel>(); }

}  // namespace drasim::gui
