#include "gui/app/panel_map.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/map_canvas.h"
#include "gui/app/plot_draw.h"
#include "gui/app/scoped_font.h"
#include "gui/app/widgets.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/map_model.h"
#include "gui/view/palette.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

using view::MapColour;

constexpr absl::string_view kColours[] = {"profile", "stranded",    "fragmentation", "tenant",
                                          "age",     "claim state", "Δ to B"};
constexpr absl::string_view kGroupings[] = {"none", "pool", "model", "label"};
constexpr absl::string_view kOrders[] = {"name", "fragmentation", "age"};

// Lets a user choose one of a few names from a list. True when `chosen` changed.
bool Combo(absl::string_view label, absl::Span<const absl::string_view> names, int* chosen,
           const AppState& app) {
  ImGui::AlignTextToFramePadding();
  DimText(label, app);
  ImGui::SameLine();
  const std::string id = absl::StrCat("##", label);
  const std::string shown(names[static_cast<size_t>(*chosen)]);
  bool changed = false;
  float widest = 0;
  for (const absl::string_view name : names) {
    widest = std::max(widest, ImGui::CalcTextSize(name.data(), name.data() + name.size()).x);
  }
  ImGui::SetNextItemWidth(widest + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x);
  if (!ImGui::BeginCombo(id.c_str(), shown.c_str())) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name(names[i]);
    const bool is_chosen = static_cast<int>(i) == *chosen;
    if (ImGui::Selectable(name.c_str(), is_chosen) && !is_chosen) {
      *chosen = static_cast<int>(i);
      changed = true;
    }
    if (is_chosen) ImGui::SetItemDefaultFocus();
  }
  ImGui::EndCombo();
  return changed;
}

// Label keys of the nodes of both runs, sorted. None while a run is in progress.
std::vector<absl::string_view> LabelKeys(const AppState& app) {
  std::vector<absl::string_view> keys;
  for (const RunSlot* run : {&app.a, &app.b}) {
    if (run->overview == nullptr) continue;
    keys.insert(keys.end(), run->overview->label_keys.begin(), run->overview->label_keys.end());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

class MapPanel : public Panel {
 public:
  ViewKind view() const override { return ViewKind::kMap; }
  absl::string_view title() const override { return "Cluster"; }
  std::string Subtitle(const AppState& app) const override;
  void Draw(AppState* app, bool focused) override;
  std::vector<PanelExport> Exports(const AppState& app) override;

 private:
  void CompareClusters(const AppState& app);
  void DrawChoices(AppState* app);
  // One map below its title, if it has one.
  void DrawMap(MapCanvas* canvas, absl::string_view title, float width, float height,
               AppState* app);
  void DrawMaps(float height, AppState* app);
  float FitListHeight(float width, const AppState& app);
  void DrawFitList(AppState* app);

  MapCanvas a_{MapRuns::kA};
  MapCanvas b_{MapRuns::kB};
  MapCanvas difference_{MapRuns::kDifference};
  // The subtitle, for which all nodes must be looked at.
  mutable std::shared_ptr<const RunSnapshot> described_;
  mutable std::string description_;
  // B has a snapshot, and the same nodes as A.
  bool comparable_ = false;
  // Shared, so that no later snapshot has the address of one that is gone.
  std::shared_ptr<const RunSnapshot> compared_a_;
  std::shared_ptr<const RunSnapshot> compared_b_;

  struct FitKey {
    std::shared_ptr<const RunSnapshot> run;
    float width = 0;
    float char_width = 0;
    view::ThemeKind theme = view::ThemeKind::kDark;
    bool operator==(const FitKey&) const = default;
  };
  FitKey fit_key_;
  view::FitPicture fit_;
};

std::string MapPanel::Subtitle(const AppState& app) const {
  if (app.a.snapshot == nullptr) return "";
  if (described_ == app.a.snapshot) return description_;
  described_ = app.a.snapshot;
  const RunSnapshot& run = *app.a.snapshot;
  std::string text = absl::StrCat(view::CommaText(static_cast<int64_t>(run.map.nodes.size())),
                                  run.map.nodes.size() == 1 ? " node" : " nodes");
  std::optional<absl::string_view> model;  // of all; empty if there are several
  bool sliced = false;
  for (const view::MapNode& node : run.map.nodes) {
    if (node.gpu_count == 0) continue;
    if (!model.has_value()) model = node.model;
    if (*model != node.model) model = "";
    sliced = sliced || run.map.gpus[node.first_gpu].units != view::kShareUnits;
  }
  const absl::string_view gpu = model.value_or("").empty() ? "GPU" : *model;
  absl::StrAppend(&text, " · one ", gpu, " per column",
                  sliced ? ", memory slice 0 at the top" : "");
  description_ = text;
  return text;
}

void MapPanel::CompareClusters(const AppState& app) {
  const std::shared_ptr<const RunSnapshot>& a = app.a.snapshot;
  const std::shared_ptr<const RunSnapshot>& b = app.b.snapshot;
  if (a == compared_a_ && b == compared_b_) return;
  compared_a_ = a;
  compared_b_ = b;
  comparable_ = a != nullptr && b != nullptr && view::SameCluster(a->map, b->map);
}

void MapPanel::Draw(AppState* app, bool) {
  if (app->a.snapshot == nullptr) {
    DimText("Reading the run…", *app);
    return;
  }
  if (app->a.snapshot->map.gpus.empty()) {
    DimText("This cluster has no GPUs.", *app);
    return;
  }
  CompareClusters(*app);
  if (!comparable_ && app->map.colour == MapColour::kDifference) {
    app->map.colour = MapColour::kProfile;
  }
  DrawChoices(app);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const bool comparing = app->b.snapshot != nullptr;
  const float legend = LegendRow(a_.Legend(*app), space.x, /*draw=*/false, *app);
  float below = comparing ? 0 : legend;
  const float fit_height = comparing ? 0 : FitListHeight(space.x, *app);
  // The map comes first: the list must leave it two thirds of the height.
  const bool fits = fit_height > 0 && fit_height * 3 < space.y - legend;
  if (fits) below += fit_height;
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  const float height = std::max(space.y - below - (fits ? 2 : 1) * spacing, 40.0F);
  if (comparing) {
    DrawMaps(height, app);
  } else {
    DrawMap(&a_, "", space.x, height, app);
    LegendRow(a_.Legend(*app), space.x, /*draw=*/true, *app);
    if (fits) DrawFitList(app);
  }
}

void MapPanel::DrawChoices(AppState* app) {
  MapSettings& map = app->map;
  const ScopedFont font(app->fonts.small);
  int colour = static_cast<int>(map.colour);
  const size_t colours = std::size(kColours) - (comparable_ ? 0 : 1);
  if (Choice("Colour", absl::MakeConstSpan(kColours).first(colours), &colour, *app)) {
    map.colour = static_cast<MapColour>(colour);
  }
  // Group and order go on in the same line where they have room.
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  const float em = ImGui::GetFontSize();
  const float least = 20 * em;
  if (ImGui::GetItemRectMax().x + least < right) ImGui::SameLine(0, em);
  int grouping = static_cast<int>(map.grouping);
  const std::vector<absl::string_view> keys = LabelKeys(*app);
  const size_t groupings = std::size(kGroupings) - (keys.empty() ? 1 : 0);
  if (grouping >= static_cast<int>(groupings)) grouping = 0;
  Combo("Group", absl::MakeConstSpan(kGroupings).first(groupings), &grouping, *app);
  map.grouping = static_cast<view::MapGrouping>(grouping);
  if (map.grouping == view::MapGrouping::kLabel) {
    const auto known = std::find(keys.begin(), keys.end(), map.label);
    int key = known == keys.end() ? 0 : static_cast<int>(known - keys.begin());
    ImGui::SameLine(0, em);
    Combo("by", keys, &key, *app);
    map.label = std::string(keys[static_cast<size_t>(key)]);
  }
  ImGui::SameLine(0, em);
  int order = static_cast<int>(map.order);
  if (Combo("Order", kOrders, &order, *app)) map.order = static_cast<view::MapOrder>(order);
  const std::string hint = "wheel zoom · drag pan · F fit";
  const float width = ImGui::CalcTextSize(hint.c_str()).x;
  if (ImGui::GetItemRectMax().x + width + 2 * em < right) {
    ImGui::SameLine();
    ImGui::SetCursorPosX(ImGui::GetWindowContentRegionMax().x - width);
    DimText(hint, *app);
  }
}

void MapPanel::DrawMap(MapCanvas* canvas, absl::string_view title, float width, float height,
                       AppState* app) {
  if (!title.empty()) {
    const ScopedFont font(app->fonts.small);
    Text(title);
    height -= ImGui::GetTextLineHeightWithSpacing();
  }
  canvas->Draw(ImVec2(width, std::max(height, 1.0F)), app);
}

void MapPanel::DrawMaps(float height, AppState* app) {
  const float gap = ImGui::GetFontSize() * 0.8F;
  const float full = ImGui::GetContentRegionAvail().x;
  const float columns = comparable_ ? 3 : 2;
  const float width = std::floor((full - (columns - 1) * gap) / columns);
  const auto share = [](const RunSnapshot& run) {
    if (run.slices.slices > 0) {
      return absl::StrCat(view::CommaText(run.slices.held), " of ",
                          view::CommaText(run.slices.slices), " slices held, ",
                          view::ValueText(100 * static_cast<double>(run.slices.held) /
                                              static_cast<double>(run.slices.slices),
                                          view::Unit::kPercent));
    }
    return absl::StrCat(view::CommaText(run.waiting), " pods waiting");
  };
  const auto draw = [&](MapCanvas* canvas, absl::string_view title) {
    ImGui::BeginGroup();
    const float legend = LegendRow(canvas->Legend(*app), width, /*draw=*/false, *app);
    DrawMap(canvas, title, width, height - legend - ImGui::GetStyle().ItemSpacing.y, app);
    LegendRow(canvas->Legend(*app), width, /*draw=*/true, *app);
    ImGui::EndGroup();
  };
  draw(&a_, absl::StrCat("A  ", share(*app->a.snapshot)));
  ImGui::SameLine(0, gap);
  draw(&b_, absl::StrCat("B  ", share(*app->b.snapshot)));
  if (!comparable_) return;
  ImGui::SameLine(0, gap);
  draw(&difference_, "B against A, slot by slot");
}

float MapPanel::FitListHeight(float width, const AppState& app) {
  const RunSnapshot& run = *app.a.snapshot;
  if (run.fits.empty()) return 0;
  const FitKey key = {app.a.snapshot, width, CharWidth(app), app.looks.theme};
  if (!(key == fit_key_)) {
    fit_key_ = key;
    std::vector<view::FitRow> rows = run.fits;
    // Each profile has its colour on the map. Largest first, as in the legend.
    const std::vector<std::string>& profiles = run.map.profiles;
    for (view::FitRow& row : rows) {
      row.colour = app.theme().categories[0];
      const auto found = std::find(profiles.begin(), profiles.end(), row.profile);
      if (found == profiles.end()) continue;
      const auto rank = static_cast<size_t>(found - profiles.begin());
      row.colour = view::StepColour(app.theme(), rank, profiles.size());
    }
    std::reverse(rows.begin(), rows.end());
    fit_ = view::DrawFitList(rows, width, key.char_width, LineHeight(app), key.theme);
  }
  return fit_.height + ImGui::GetTextLineHeightWithSpacing() + ImGui::GetStyle().ItemSpacing.y;
}

void MapPanel::DrawFitList(AppState* app) {
  StrongText("One more that fits, against pods that wait for it", *app);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  Paint(fit_.list, at, *app, list);
  const std::vector<view::FitRow>& rows = app->a.snapshot->fits;
  for (size_t i = 0; i < fit_.boxes.size(); ++i) {
    const view::Rect& box = fit_.boxes[i];
    ImGui::SetCursorScreenPos(ImVec2(at.x + box.x, at.y + box.y));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("fit", ImVec2(box.width, box.height))) {
      const std::string& profile = rows[rows.size() - 1 - i].profile;
      // Texts of shares name their size instead.
      const bool named = profile.find(' ') == std::string::npos;
      app->pod_filter = absl::StrCat("wants:", named ? profile : "GPU");
    }
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      list->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), Packed(app->theme().grid));
    }
    ImGui::PopID();
  }
}

std::vector<PanelExport> MapPanel::Exports(const AppState& app) {
  std::vector<PanelExport> files;
  const auto add = [&](const char* name, MapCanvas* canvas) {
    std::string svg = canvas->Svg(app);
    if (!svg.empty()) files.push_back({name, std::move(svg)});
  };
  add("cluster.svg", &a_);
  if (app.b.snapshot == nullptr) return files;
  add("cluster-b.svg", &b_);
  if (comparable_) add("cluster-difference.svg", &difference_);
  return files;
}

}  // namespace

std::unique_ptr<Panel> MakeMapPanel() { return std::make_unique<MapPanel>(); }

}  // namespace drasim::gui
