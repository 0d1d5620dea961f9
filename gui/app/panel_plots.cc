#include "gui/app/panel_plots.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/plot_draw.h"
#include "gui/app/run_plots.h"
#include "gui/app/scoped_font.h"
#include "gui/app/widgets.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_overview.h"
#include "gui/view/palette.h"
#include "gui/view/plot_model.h"
#include "gui/view/svg.h"
#include "gui/view/timeline.h"
#include "model/time.h"

namespace drasim::gui {
namespace {

using view::PlotModel;
using view::PlotPicture;

constexpr float kLeastPlotHeight = 110;  // at scale 1
constexpr float kPixelsPerRate = 2;      // of a bucket

class PlotsPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kPlots; }
  absl::string_view title() const override { return "Plots"; }
  std::string Subtitle(const AppState& app) const override;
  void Draw(AppState* app, bool focused) override;
  std::vector<PanelExport> Exports(const AppState& app) override;

 private:
  // Makes the plots again after the runs or the theme changed; what was toggled stays.
  void Update(const AppState& app);
  std::vector<size_t> Shown() const;
  view::PlotFrame FrameOf(const AppState& app, ImVec2 size) const;
  std::vector<view::PlotMarker> MarkersOf(const AppState& app) const;
  void DrawPlot(size_t index, ImVec2 size, bool is_first, AppState* app);
  void TakeInput(size_t index, ImVec2 origin, AppState* app);
  void DrawButtons(size_t index, ImVec2 at, float width, bool is_first, AppState* app);
  void DrawMenu(AppState* app);

  std::shared_ptr<const RunOverview> a_;
  std::shared_ptr<const RunOverview> b_;
  view::ThemeKind theme_ = view::ThemeKind::kDark;
  std::vector<RunPlot> plots_;
  std::set<std::string> hidden_;  // ids

  bool seeks_ = false;  // the held button moves the cursor
  float pan_rest_ = 0;  // thousandths of the window below one
};

std::string PlotsPanel::Subtitle(const AppState& app) const {
  const view::Timeline& timeline = app.timeline;
  if (app.a.overview == nullptr || timeline.shows_everything()) return "";
  return absl::StrCat(app.a.overview->TimeText(timeline.window_begin()), " – ",
                      app.a.overview->TimeText(timeline.window_end()));
}

void PlotsPanel::Update(const AppState& app) {
  // B takes part as soon as its series are there.
  if (a_ == app.a.overview && b_ == app.b.overview && theme_ == app.looks.theme) return;
  a_ = app.a.overview;
  b_ = app.b.overview;
  theme_ = app.looks.theme;
  std::vector<RunPlot> before = std::move(plots_);
  plots_ = PlotsOf(*a_, b_.get(), theme_);
  for (RunPlot& plot : plots_) {
    for (const RunPlot& old : before) {
      const view::PlotSpec& was = old.model->spec();
      if (old.id != plot.id || was.series.size() != plot.model->spec().series.size()) continue;
      plot.model->SetLog(was.log);
      for (size_t i = 0; i < was.series.size(); ++i) {
        if (!was.series[i].visible) plot.model->Toggle(view::LegendKind::kSeries, i);
      }
    }
  }
}

std::vector<size_t> PlotsPanel::Shown() const {
  std::vector<size_t> shown;
  for (size_t i = 0; i < plots_.size(); ++i) {
    if (!hidden_.contains(plots_[i].id)) shown.push_back(i);
  }
  return shown;
}

view::PlotFrame PlotsPanel::FrameOf(const AppState& app, ImVec2 size) const {
  view::PlotFrame frame;
  frame.width = size.x;
  frame.height = size.y;
  frame.char_width = CharWidth(app);
  frame.line_height = LineHeight(app);
  // One axis of time for all: room for "100,000" at the left, and for the longest legend.
  constexpr float kValueChars = 9;  // two of them for the gaps
  frame.left = kValueChars * frame.char_width;
  size_t widest = 0;
  for (const RunPlot& plot : plots_) {
    for (const view::PlotSeries& series : plot.model->spec().series) {
      widest = std::max(widest, series.name.size());
    }
  }
  frame.legend = view::LegendWidth(widest, frame);
  frame.begin = app.timeline.window_begin();
  frame.end = app.timeline.window_end();
  frame.x = a_->by_record && !a_->load.empty() ? view::PlotX::kLoad : view::PlotX::kTime;
  frame.theme = theme_;
  return frame;
}

std::vector<view::PlotMarker> PlotsPanel::MarkersOf(const AppState& app) const {
  std::vector<view::PlotMarker> markers;
  const auto add = [&](SimTime time, absl::string_view label, Rgb colour) {
    view::PlotMarker marker;
    marker.time = time;
    marker.label = std::string(label);
    marker.colour = colour;
    markers.push_back(std::move(marker));
  };
  for (const view::Bookmark& bookmark : app.timeline.bookmarks()) {
    add(bookmark.at.time, "", app.theme().categories[0]);
  }
  if (app.comparison == nullptr) return markers;
  const std::shared_ptr<const RunComparison> result = app.comparison->result();
  if (result != nullptr && !result->divergences.empty()) {
    add(result->divergences.front().time, "first divergence", app.theme().categories[2]);
  }
  return markers;
}

void PlotsPanel::Draw(AppState* app, bool) {
  if (app->a.overview == nullptr) {
    DimText("Reading the run…", *app);
    return;
  }
  Update(*app);
  if (!(app->timeline.window_begin() < app->timeline.window_end())) {
    DimText("Nothing happens in this run.", *app);
    return;
  }
  const std::vector<size_t> shown = Shown();
  if (shown.empty()) {
    DrawMenu(app);
    return;
  }
  std::vector<view::PlotMarker> markers = MarkersOf(*app);
  // The wheel zooms time above the plots, so ImGui must not scroll.
  ImGui::BeginChild("column", ImVec2(0, 0), false, ImGuiWindowFlags_NoScrollWithMouse);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float gap = std::round(3 * app->looks.scale);
  const auto count = static_cast<float>(shown.size());
  // A legend below its plot needs room of its own. The plots share the rest evenly.
  const view::PlotFrame frame = FrameOf(*app, space);
  std::vector<float> heights;
  float rest = space.y - gap * (count - 1);
  for (const size_t index : shown) {
    const view::PlotSpec& spec = plots_[index].model->spec();
    heights.push_back(
        kLeastPlotHeight * app->looks.scale +
        view::LegendHeight(spec.series.size() + spec.differences.size(), frame.legend, frame));
    rest -= heights.back();
  }
  const float more = std::max(rest, 0.0F) / count;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gap, gap));
  for (size_t i = 0; i < shown.size(); ++i) {
    plots_[shown[i]].model->SetMarkers(markers);
    DrawPlot(shown[i], ImVec2(space.x, std::floor(heights[i] + more)), i == 0, app);
    // The uppermost plot says what the lines mean.
    for (view::PlotMarker& marker : markers) marker.label.clear();
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

void PlotsPanel::DrawPlot(size_t index, ImVec2 size, bool is_first, AppState* app) {
  RunPlot& plot = plots_[index];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(plot.id.c_str());
  ImGui::InvisibleButton("plot", size,
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemAllowOverlap();
  // The picture of the last frame took the input of this one.
  TakeInput(index, at, app);
  if (ImGui::IsRectVisible(at, ImVec2(at.x + size.x, at.y + size.y))) {
    const view::PlotFrame frame = FrameOf(*app, size);
    plot.SetWindow(frame.begin, frame.end, static_cast<size_t>(size.x / kPixelsPerRate));
    const PlotPicture& picture = plot.model->Draw(frame, app->timeline.cursor().time);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
    Paint(picture.base, at, *app, list);
    Paint(picture.overlay, at, *app, list);
    list->PopClipRect();
    DrawButtons(index, at, size.x, is_first, app);
  }
  ImGui::PopID();
}

void PlotsPanel::TakeInput(size_t index, ImVec2 origin, AppState* app) {
  PlotModel& model = *plots_[index].model;
  const PlotPicture& picture = model.picture();
  if (picture.legend.empty()) return;  // not drawn yet
  const ImGuiIO& io = ImGui::GetIO();
  const view::Point mouse = {io.MousePos.x - origin.x, io.MousePos.y - origin.y};
  const bool beside = mouse.x >= picture.area.right() || mouse.x < picture.area.x ||
                      model.LegendAt(mouse).has_value();
  view::Timeline& timeline = app->timeline;
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    if (beside) {
      ImGui::SetScrollY(ImGui::GetScrollY() - io.MouseWheel * 3 * ImGui::GetTextLineHeight());
    } else {
      timeline.Zoom(io.MouseWheel > 0 ? view::kZoomIn : view::kZoomOut, model.TimeAt(mouse.x));
    }
  }
  if (ImGui::IsItemActivated()) {
    pan_rest_ = 0;
    seeks_ = ImGui::IsMouseDown(ImGuiMouseButton_Left) && !beside;
    const std::optional<size_t> row =
        ImGui::IsMouseClicked(ImGuiMouseButton_Left) ? model.LegendAt(mouse) : std::nullopt;
    if (row.has_value()) {
      seeks_ = false;
      const view::LegendRow& clicked = picture.legend[*row];
      model.Toggle(clicked.kind, clicked.index);
      return;
    }
  }
  if (ImGui::IsItemHovered() && !beside && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    timeline.ShowEverything();
    return;
  }
  if (!ImGui::IsItemActive()) return;
  if (seeks_ && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    view::TimeTarget target;
    target.time = model.TimeAt(mouse.x);
    // A held button that does not move leaves the cursor to the clock.
    if (io.MouseDelta.x != 0 || ImGui::IsItemActivated()) timeline.MoveTo(target);
  } else if (ImGui::IsMouseDown(ImGuiMouseButton_Right) ||
             ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
    pan_rest_ -= io.MouseDelta.x * 1000 / std::max(picture.area.width, 1.0F);
    const float whole = std::trunc(pan_rest_);
    pan_rest_ -= whole;
    if (whole != 0) timeline.Pan(static_cast<int64_t>(whole));
  }
}

void PlotsPanel::DrawButtons(size_t index, ImVec2 at, float width, bool is_first, AppState* app) {
  RunPlot& plot = plots_[index];
  const ScopedFont font(app->fonts.small);
  const ImVec2 end = ImGui::GetCursorScreenPos();
  float x = at.x + width - 2 * app->looks.scale;
  const auto place = [&](const char* label) {
    x -= ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorScreenPos(ImVec2(x, at.y));
    x -= 4 * app->looks.scale;
    return ImGui::SmallButton(label);
  };
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, Packed(app->theme().dim_text));
  if (is_first && place("plots")) ImGui::OpenPopup("choose");
  const bool log = plot.model->spec().log;
  if (plot.can_be_log && place(log ? "linear" : "log")) plot.model->SetLog(!log);
  ImGui::PopStyleColor(2);
  if (is_first && ImGui::BeginPopup("choose")) {
    DrawMenu(app);
    ImGui::EndPopup();
  }
  ImGui::SetCursorScreenPos(end);
}

void PlotsPanel::DrawMenu(AppState* app) {
  for (const RunPlot& plot : plots_) {
    bool shown = !hidden_.contains(plot.id);
    if (!ImGui::Checkbox(plot.model->spec().title.c_str(), &shown)) continue;
    if (shown) {
      hidden_.erase(plot.id);
    } else {
      hidden_.insert(plot.id);
    }
  }
  if (plots_.empty()) DimText("The ledger has no series.", *app);
  bool follows = app->timeline.mode() == view::WindowMode::kFollow;
  if (ImGui::Checkbox("A zoomed window follows the cursor", &follows)) {
    app->timeline.SetMode(follows ? view::WindowMode::kFollow : view::WindowMode::kStay);
  }
}

std::vector<PanelExport> PlotsPanel::Exports(const AppState& app) {
  std::vector<PanelExport> files;
  if (a_ == nullptr || !(app.timeline.window_begin() < app.timeline.window_end())) return files;
  for (const size_t index : Shown()) {
    RunPlot& plot = plots_[index];
    const view::PlotFrame frame = FrameOf(app, ImVec2(900, 220));
    view::SvgOptions options;
    options.width = frame.width;
    options.height = frame.height;
    options.theme = theme_;
    options.title = plot.model->spec().title;
    plot.SetWindow(frame.begin, frame.end, static_cast<size_t>(frame.width / kPixelsPerRate));
    const PlotPicture& picture = plot.model->Draw(frame, app.timeline.cursor().time);
    const view::DrawList* const lists[] = {&picture.base, &picture.overlay};
    files.push_back({absl::StrCat(plot.id, ".svg"), view::SvgText(lists, options)});
    files.push_back(
        {absl::StrCat(plot.id, ".csv"), view::PlotCsv(plot.model->spec(), frame.begin, frame.end)});
  }
  return files;
}

}  // namespace

std::unique_ptr<Panel> MakePlotsPanel() { return std::make_unique<PlotsPanel>(); }

}  // namespace drasim::gui
