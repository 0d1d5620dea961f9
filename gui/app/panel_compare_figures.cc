#include "gui/app/panel_compare_figures.h"

#include <imgui.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/comparison_state.h"
#include "gui/app/plot_draw.h"
#include "gui/app/scoped_font.h"
#include "gui/app/widgets.h"
#include "gui/session/comparison_job.h"
#include "gui/view/compare_model.h"

namespace drasim::gui {
namespace {

using view::FigureDelta;

// A text that ends at the right edge of the table's cell.
void CellAtRight(absl::string_view text, ImU32 colour) {
  const char* const end = text.data() + text.size();
  const float spare = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.data(), end).x;
  if (spare > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + spare);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  Text(text);
  ImGui::PopStyleColor();
}

class FiguresPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kCompare; }
  absl::string_view title() const override { return "Figures of the whole run"; }
  std::string Subtitle(const AppState&) const override { return "B against A"; }
  void Draw(AppState* app, bool focused) override;
  std::vector<PanelExport> Exports(const AppState& app) override;
};

void FiguresPanel::Draw(AppState* app, bool) {
  const std::shared_ptr<const RunComparison> result = ComparisonOrLine(*app);
  if (result == nullptr) return;
  const ScopedFont font(app->fonts.small);
  const view::Theme& theme = app->theme();
  WrappedDimText(view::ScenariosLine(result->keys), *app);

  const ImU32 text = Packed(theme.text);
  const ImU32 dim = Packed(theme.dim_text);
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  if (ImGui::BeginTable("figures", 4, kFlags)) {
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_None, 2.4F);
    for (const char* name : {"A", "B", "B - A"}) {
      ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_None, name[1] == '\0' ? 1.0F : 1.5F);
    }
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TableNextColumn();
    CellAtRight("A", Packed(theme.categories[0]));
    ImGui::TableNextColumn();
    CellAtRight("B", Packed(theme.categories[1]));
    ImGui::TableNextColumn();
    CellAtRight("B - A", dim);
    for (const FigureDelta& delta : result->model->deltas()) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      Text(delta.metric);
      ImGui::TableNextColumn();
      CellAtRight(delta.a, text);
      ImGui::TableNextColumn();
      CellAtRight(delta.b, text);
      ImGui::TableNextColumn();
      // The word says what the colour does.
      const absl::string_view verdict = view::DeltaVerdictName(delta.verdict);
      const bool worse = delta.verdict == FigureDelta::Verdict::kWorse;
      const ImU32 colour = verdict.empty() ? dim
                           : worse         ? Packed(theme.stranded)
                                           : Packed(theme.categories[0]);
      CellAtRight(absl::StrCat(delta.difference, verdict.empty() ? "" : " ", verdict), colour);
    }
    ImGui::EndTable();
  }
  const view::CompareModel& model = *result->model;
  if (model.only_in_a() + model.only_in_b() > 0) {
    DimText(absl::StrCat("Pods of one run alone: ", model.only_in_a(), " in A, ", model.only_in_b(),
                         " in B"),
            *app);
  }
  if (result->keys.empty() || !ImGui::TreeNode("Keys of the scenario that differ")) return;
  if (ImGui::BeginTable("keys", 3, kFlags)) {
    const auto cell = [](const std::string& value) {
      ImGui::TableNextColumn();
      Text(value.empty() ? absl::string_view("-") : absl::string_view(value));
    };
    for (const view::KeyDifference& key : result->keys) {
      cell(key.key);
      cell(key.a);
      cell(key.b);
    }
    ImGui::EndTable();
  }
  ImGui::TreePop();
}

std::vector<PanelExport> FiguresPanel::Exports(const AppState& app) {
  if (app.comparison == nullptr) return {};
  const std::shared_ptr<const RunComparison> result = app.comparison->result();
  if (result == nullptr || result->model == nullptr) return {};
  return {{"figures.csv", view::FiguresCsv(result->model->deltas())}};
}

}  // namespace

std::unique_ptr<Panel> MakeCompareFiguresPanel() { return std::make_unique<FiguresPanel>(); }

}  // namespace drasim::gui
