#include "gui/app/panel_compare_divergence.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/comparison_state.h"
#include "gui/app/map_canvas.h"
#include "gui/app/plot_draw.h"
#include "gui/app/scoped_font.h"
#include "gui/app/widgets.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_overview.h"
#include "gui/view/compare_model.h"
#include "gui/view/map_model.h"
#include "gui/view/palette.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"
#include "model/time.h"

namespace drasim::gui {
namespace {

using view::PodDivergence;

constexpr absl::string_view kTolerances[] = {"1s", "10s", "1m", "10m", "1h"};
constexpr int64_t kToleranceSeconds[] = {1, 10, 60, 600, 3600};

class DivergencePanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kCompare; }
  absl::string_view title() const override { return "Divergences"; }
  std::string Subtitle(const AppState& app) const override;
  void Draw(AppState* app, bool focused) override;

 private:
  // The divergence that is shown: that of the selected pod, or the last one up to the cursor.
  static std::optional<size_t> Place(const RunComparison& comparison, const AppState& app);
  static void GoTo(const RunComparison& comparison, size_t index, AppState* app);
  static void DrawSteps(const RunComparison& comparison, std::optional<size_t> place,
                        AppState* app);
  static void DrawStories(const std::string& pod, float height, AppState* app);
  static void DrawAllPods(const view::StartCounts& starts, const AppState& app);
};

std::optional<size_t> DivergencePanel::Place(const RunComparison& comparison, const AppState& app) {
  const std::vector<PodDivergence>& all = comparison.model->divergences();
  const SimTime now = app.timeline.cursor().time;
  const auto name = [&](size_t i) { return comparison.a_pods.name(all[i].a); };
  // Several pods may diverge at one instant; the selected one of them counts.
  const auto begin = std::lower_bound(
      all.begin(), all.end(), now,
      [](const PodDivergence& divergence, SimTime time) { return divergence.time < time; });
  const auto first = static_cast<size_t>(begin - all.begin());
  for (size_t i = first; i < all.size() && all[i].time == now; ++i) {
    if (app.selected.kind == ObjectKind::kPod && name(i) == app.selected.name) return i;
  }
  if (first < all.size() && all[first].time == now) return first;
  if (first > 0) return first - 1;
  return std::nullopt;
}

std::string DivergencePanel::Subtitle(const AppState& app) const {
  if (app.comparison == nullptr) return "";
  const std::shared_ptr<const RunComparison> result = app.comparison->result();
  if (result == nullptr || result->model == nullptr) return "";
  const std::optional<size_t> place = Place(*result, app);
  const auto count = static_cast<int64_t>(result->model->divergences().size());
  return absl::StrCat(
      place.has_value() ? absl::StrCat(view::CommaText(static_cast<int64_t>(*place) + 1), " of ")
                        : "",
      view::CommaText(count), ", starts over ", view::WaitText(app.tolerance), " apart");
}

void DivergencePanel::GoTo(const RunComparison& comparison, size_t index, AppState* app) {
  app->timeline.Pause();
  app->timeline.MoveTo(comparison.divergences[index]);
  ObjectRef pod;
  pod.kind = ObjectKind::kPod;
  pod.name = std::string(comparison.a_pods.name(comparison.model->divergences()[index].a));
  app->Select(std::move(pod));
}

void DivergencePanel::DrawSteps(const RunComparison& comparison, std::optional<size_t> place,
                                AppState* app) {
  const size_t count = comparison.model->divergences().size();
  if (ImGui::Button("P previous") && place.has_value() && *place > 0) {
    GoTo(comparison, *place - 1, app);
  }
  ImGui::SameLine();
  const size_t next = place.has_value() ? *place + 1 : 0;
  if (ImGui::Button("N next") && next < count) GoTo(comparison, next, app);
  ImGui::SameLine(0, ImGui::GetFontSize());
  int chosen = -1;
  for (size_t i = 0; i < std::size(kToleranceSeconds); ++i) {
    if (app->tolerance == SimDuration::Seconds(kToleranceSeconds[i])) chosen = static_cast<int>(i);
  }
  if (Choice("tolerance", kTolerances, &chosen, *app)) {
    app->tolerance = SimDuration::Seconds(kToleranceSeconds[chosen]);
  }
}

void DivergencePanel::Draw(AppState* app, bool) {
  const std::shared_ptr<const RunComparison> result = ComparisonOrLine(*app);
  if (result == nullptr) return;
  const ScopedFont font(app->fonts.small);
  const std::optional<size_t> place = Place(*result, *app);
  DrawSteps(*result, place, app);
  const std::vector<PodDivergence>& all = result->model->divergences();
  if (all.empty()) {
    DimText("Both runs decided alike about every pod.", *app);
  } else if (!place.has_value()) {
    DimText("The first divergence lies after the cursor.", *app);
  }
  const float bar = 3.2F * ImGui::GetTextLineHeightWithSpacing();
  if (place.has_value()) {
    const PodDivergence& divergence = all[*place];
    ObjectRef pod;
    pod.kind = ObjectKind::kPod;
    pod.name = std::string(result->a_pods.name(divergence.a));
    Link(pod, app);
    ImGui::SameLine();
    DimText(absl::StrCat(result->a_pods.wants(divergence.a), " · ",
                         app->a.overview != nullptr ? app->a.overview->TimeText(divergence.time)
                                                    : view::TimeText(divergence.time)),
            *app);
    WrappedText(divergence.text);
    const float height = ImGui::GetContentRegionAvail().y - bar;
    DrawStories(pod.name, std::max(height, 4 * ImGui::GetTextLineHeightWithSpacing()), app);
  }
  DrawAllPods(result->model->starts(), *app);
}

void DivergencePanel::DrawStories(const std::string& pod, float height, AppState* app) {
  const std::shared_ptr<const ComparisonJob::Stories> stories = app->comparison->stories();
  const bool told = stories != nullptr && stories->pod == pod;
  if (!told) {
    DimText(app->selected.name == pod ? "Reading its life in both runs…"
                                      : "Select the pod for its life in both runs.",
            *app);
    return;
  }
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const auto column = [&](const char* run, size_t category, const auto& lines) {
    ImGui::BeginChild(run, ImVec2(width, height), false);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight();
    ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + 3 * app->looks.scale, at.y + line),
                                              Packed(app->theme().categories[category]));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 8 * app->looks.scale);
    StrongText(run, *app);
    if (lines.empty()) DimText("This run has no such pod.", *app);
    for (const auto& event : lines) {
      DimText(app->a.overview != nullptr ? app->a.overview->TimeText(event.time)
                                         : view::TimeText(event.time),
              *app);
      ImGui::SameLine();
      WrappedText(event.text);
    }
    ImGui::EndChild();
  };
  column("A", 0, stories->a);
  ImGui::SameLine(0, gap);
  column("B", 1, stories->b);
}

void DivergencePanel::DrawAllPods(const view::StartCounts& starts, const AppState& app) {
  const int64_t all = starts.later + starts.alike + starts.earlier;
  if (all == 0) return;
  const view::Theme& theme = app.theme();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = std::round(ImGui::GetTextLineHeight() * 0.7F);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string within = absl::StrCat("within ", view::WaitText(app.tolerance), ":");
  std::vector<view::MapLegendRow> legend;
  float x = at.x;
  const auto part = [&](int64_t count, Rgb colour, view::Hatch hatch, absl::string_view name) {
    view::MapLegendRow row;
    row.ink.colour = colour;
    row.ink.hatch = hatch;
    row.text = absl::StrCat(name, " ", view::CommaText(count));
    const float length =
        width * static_cast<float>(static_cast<double>(count) / static_cast<double>(all));
    PaintInk({x, at.y, length, height}, row.ink, app, ImGui::GetWindowDrawList());
    x += length;
    legend.push_back(std::move(row));
  };
  part(starts.later, theme.categories[1], view::Hatch::kFalling, "B later:");
  part(starts.alike, theme.muted_cell, view::Hatch::kNone, within);
  part(starts.earlier, theme.categories[0], view::Hatch::kNone, "B earlier:");
  ImGui::Dummy(ImVec2(width, height));
  LegendRow(legend, width, /*draw=*/true, app);
}

}  // namespace

std::unique_ptr<Panel> MakeCompareDivergencePanel() { return std::make_unique<DivergencePanel>(); }

}  // namespace drasim::gui
