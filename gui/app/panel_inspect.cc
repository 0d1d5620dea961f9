#include "gui/app/panel_inspect.h"

#include <imgui.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/app/inspect_draw.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/inspection.h"
#include "gui/view/life_bar.h"
#include "gui/view/svg.h"
#include "gui/view/table_model.h"
#include "gui/view/wait_text.h"

namespace drasim::gui {
namespace {

const std::shared_ptr<const Inspection>& InspectionOf(const AppState& app) {
  return app.a.inspections[static_cast<size_t>(app.selected.kind)];
}

// Whether there is something to show of the selected object.
bool IsComplete(const Inspection& inspection) {
  switch (inspection.request.object.kind) {
    case ObjectKind::kPod:
      return inspection.pod.has_value();
    case ObjectKind::kNode:
      return inspection.node.has_value();
    case ObjectKind::kClaim:
      return inspection.claim.has_value();
    case ObjectKind::kTenant:
      return inspection.tenant.has_value();
    case ObjectKind::kNone:
      return false;
  }
  return false;
}

class InspectPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kInspect; }
  absl::string_view title() const override { return title_; }
  std::string Subtitle(const AppState& app) const override {
    const std::shared_ptr<const Inspection>& inspection = InspectionOf(app);
    switch (app.selected.kind) {
      case ObjectKind::kPod:
        if (inspection != nullptr && inspection->pod.has_value() &&
            inspection->request.object == app.selected) {
          return absl::StrCat("wants ", inspection->pod->wants);
        }
        return "pod";
      case ObjectKind::kNode:
        return "node";
      case ObjectKind::kClaim:
        return "ResourceClaim";
      case ObjectKind::kTenant:
        return "tenant";
      case ObjectKind::kNone:
        break;
    }
    return "";
  }

  void Draw(AppState* app, bool) override {
    title_ = app->selected.kind == ObjectKind::kNone ? "Inspector" : app->selected.name;
    DrawBackAndForward(app);
    if (app->selected.kind == ObjectKind::kNone) {
      WrappedDimText("Click a pod, a node, a claim or a tenant, or press Ctrl+P and type its name.",
                     *app);
      return;
    }
    if (app->a.job != nullptr && !app->a.opened()) {
      WrappedDimText(absl::StrCat(app->selected.name, " can be inspected when the run is over."),
                     *app);
      return;
    }
    const std::shared_ptr<const Inspection> inspection = InspectionOf(*app);
    // While the cursor moves, the object as it was a moment before stays in sight.
    if (inspection == nullptr || inspection->request.object != app->selected) {
      DimText(absl::StrCat("Reading about ", app->selected.name, " ..."), *app);
      return;
    }
    if (!inspection->status.ok() || !IsComplete(*inspection)) {
      WrappedText(inspection->status.ok() ? "Nothing is known about it."
                                          : inspection->status.message());
      return;
    }
    // Objects have their own scroll positions.
    ImGui::PushID(static_cast<int>(app->selected.kind));
    ImGui::BeginChild(app->selected.name.c_str(), ImVec2(0, 0), false, 0);
    switch (app->selected.kind) {
      case ObjectKind::kPod:
        pod_.Draw(inspection, app);
        break;
      case ObjectKind::kNode:
        node_.Draw(*inspection, app);
        break;
      case ObjectKind::kClaim:
        claim_.Draw(inspection, app);
        break;
      case ObjectKind::kTenant:
        DrawTenantInspection(*inspection, app);
        break;
      case ObjectKind::kNone:
        break;
    }
    ImGui::EndChild();
    ImGui::PopID();
  }

  std::vector<PanelExport> Exports(const AppState& app) override {
    const std::shared_ptr<const Inspection>& inspection = InspectionOf(app);
    const bool is_shown = app.selected.kind == ObjectKind::kPod && inspection != nullptr &&
                          inspection->request.object == app.selected;
    if (!is_shown || !inspection->pod.has_value()) return {};
    view::LifeBarFrame frame;
    frame.width = 800;
    frame.theme = app.looks.theme;
    const view::LifeBar bar = view::DrawLifeBar(*inspection->pod, frame);
    view::SvgOptions options;
    options.width = frame.width;
    options.height = bar.height;
    options.theme = frame.theme;
    options.title = absl::StrCat("Life of ", inspection->pod->name);
    const std::array<const view::DrawList*, 1> lists = {&bar.list};
    return {{"life.svg", view::SvgText(lists, options)}};
  }

 private:
  static void DrawBackAndForward(AppState* app) {
    if (!app->CanGoBack() && !app->CanGoForward()) return;
    const auto arrow = [&](const char* id, ImGuiDir direction, bool enabled) {
      if (!enabled) ImGui::BeginDisabled();
      const bool pressed = ImGui::ArrowButton(id, direction);
      if (!enabled) ImGui::EndDisabled();
      return pressed && enabled;
    };
    const bool back = arrow("back", ImGuiDir_Left, app->CanGoBack());
    ImGui::SameLine();
    const bool forward = arrow("forward", ImGuiDir_Right, app->CanGoForward());
    if (back) app->GoBack();
    if (forward) app->GoForward();
  }

  std::string title_ = "Inspector";
  PodPage pod_;
  NodePage node_;
  ClaimPage claim_;
};

}  // namespace

std::unique_ptr<Panel> MakeInspectPanel() { return std::make_unique<InspectPanel>(); }

}  // namespace drasim::gui
