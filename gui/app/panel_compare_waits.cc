#include "gui/app/panel_compare_waits.h"

#include <imgui.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/comparison_state.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/comparison_job.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "gui/view/svg.h"
#include "gui/view/wait_bars.h"

namespace drasim::gui {
namespace {

// The filter for pods that want this.
std::string FilterFor(const std::string& wants) {
  const bool plain = wants.find_first_of(" ,\"") == std::string::npos;
  return plain ? absl::StrCat("wants:", wants) : absl::StrCat("wants:\"", wants, "\"");
}

class WaitsPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kCompare; }
  absl::string_view title() const override { return "From arrival to first start, mean"; }
  std::string Subtitle(const AppState&) const override {
    return "by what the pod asks for · log scale · click for its pods";
  }
  void Draw(AppState* app, bool focused) override;
  std::vector<PanelExport> Exports(const AppState& app) override;

 private:
  void Update(std::shared_ptr<const RunComparison> result, float width, const AppState& app);

  std::shared_ptr<const RunComparison> drawn_;
  float width_ = 0;
  float char_width_ = 0;
  view::ThemeKind theme_ = view::ThemeKind::kDark;
  view::WaitBarsPicture picture_;
};

void WaitsPanel::Update(std::shared_ptr<const RunComparison> result, float width,
                        const AppState& app) {
  const float char_width = CharWidth(app);
  if (drawn_ == result && width_ == width && char_width_ == char_width &&
      theme_ == app.looks.theme) {
    return;
  }
  drawn_ = std::move(result);
  width_ = width;
  char_width_ = char_width;
  theme_ = app.looks.theme;
  std::vector<view::WaitBar> bars;
  for (const WaitPair& pair : drawn_->waits) {
    view::WaitBar bar;
    bar.wants = pair.wants;
    if (pair.a_seconds >= 0) bar.a = pair.a_seconds;
    if (pair.b_seconds >= 0) bar.b = pair.b_seconds;
    bars.push_back(std::move(bar));
  }
  picture_ = view::DrawWaitBars(bars, width, char_width, LineHeight(app), theme_);
}

void WaitsPanel::Draw(AppState* app, bool) {
  std::shared_ptr<const RunComparison> result = ComparisonOrLine(*app);
  if (result == nullptr) return;
  if (result->waits.empty()) {
    DimText("No pod of these runs has a wait.", *app);
    return;
  }
  Update(std::move(result), ImGui::GetContentRegionAvail().x, *app);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  for (size_t i = 0; i < picture_.boxes.size(); ++i) {
    const view::Rect& box = picture_.boxes[i];
    ImGui::SetCursorScreenPos(ImVec2(at.x + box.x, at.y + box.y));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("wants", ImVec2(box.width, box.height))) {
      app->pod_filter = FilterFor(drawn_->waits[i].wants);
    }
    ImGui::PopID();
    if (!ImGui::IsItemHovered() && !ImGui::IsItemFocused()) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    list->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                        Packed(app->theme().grid));
  }
  Paint(picture_.list, at, *app, list);
}

std::vector<PanelExport> WaitsPanel::Exports(const AppState&) {
  if (drawn_ == nullptr) return {};
  view::SvgOptions options;
  options.width = width_;
  options.height = picture_.height;
  options.theme = theme_;
  options.title = "From arrival to first start, mean";
  const view::DrawList* const lists[] = {&picture_.list};
  return {{"waits.svg", view::SvgText(lists, options)}};
}

}  // namespace

std::unique_ptr<Panel> MakeCompareWaitsPanel() { return std::make_unique<WaitsPanel>(); }

}  // namespace drasim::gui
