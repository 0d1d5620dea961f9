#include "gui/app/map_canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gui/app/plot_draw.h"
#include "gui/app/scoped_font.h"
#include "gui/app/widgets.h"
#include "gui/session/run_overview.h"
#include "gui/view/svg.h"
#include "model/number_text.h"

namespace drasim::gui {
namespace {

using view::ClusterMap;
using view::MapColour;
using view::MapHit;
using view::MapLegendRow;
using view::Point;

constexpr float kZoomStep = 1.2F;  // of a notch of the wheel
constexpr float kPad = 4;          // around the map, for frames around nodes

std::string CountText(int64_t milli) {
  return milli % 1000 == 0 ? absl::StrCat(milli / 1000)
                           : FixedText(static_cast<double>(milli) / 1000, 1);
}

// A run and its cluster; changes when its nodes may have others in their places.
std::string ClusterKey(const RunSlot& run) {
  const view::ClusterMapData& map = run.snapshot->map;
  return absl::StrCat(run.overview != nullptr ? run.overview->path : "", " ", map.nodes.size(), " ",
                      map.gpus.size());
}

// The name of the pod with that place in the order of arrivals, by which maps number pods.
std::string PodName(const RunSnapshot& run, uint32_t pod) {
  const std::optional<size_t> row = run.pods.FindNumber(pod);
  return row.has_value() ? std::string(run.pods.name(*row)) : absl::StrCat("pod ", pod);
}

}  // namespace

const RunSlot& MapCanvas::RunOf(const AppState& app) const {
  return runs_ == MapRuns::kB ? app.b : app.a;
}

void MapCanvas::TakeSnapshot(const AppState& app) {
  const RunSlot& run = RunOf(app);
  if (runs_ == MapRuns::kDifference) other_ = app.b.snapshot;
  const std::string key = ClusterKey(run);
  if (map_ == nullptr || !absl::StartsWith(arranged_for_, absl::StrCat(key, "|"))) {
    map_ = std::make_shared<ClusterMap>(&run.snapshot->map);
    arranged_for_.clear();
    pod_.reset();
    pods_searched_ = 0;
    selected_in_ = nullptr;
  } else if (shown_ != run.snapshot) {
    map_->Show(&run.snapshot->map);
  }
  shown_ = run.snapshot;
}

void MapCanvas::Arrange(ImVec2 size, AppState* app) {
  MapSettings& settings = app->map;
  const RunSlot& run = RunOf(*app);
  // Groups by label are those of the snapshot, which may lag behind the choice.
  const bool by_label = settings.grouping == view::MapGrouping::kLabel;
  const std::string looks =
      absl::StrCat("|", static_cast<int>(settings.grouping), "|", static_cast<int>(settings.order),
                   "|", by_label ? shown_->request.label : "");
  if (runs_ == MapRuns::kB && app->a.snapshot != nullptr) {
    const std::string both = absl::StrCat(ClusterKey(app->a), "\n", ClusterKey(app->b));
    if (both != like_a_for_) {
      like_a_for_ = both;
      like_a_ = view::SameCluster(app->a.snapshot->map, shown_->map);
    }
  }
  const bool shares = app->a.snapshot != nullptr && like_a_;
  const std::string own_key = absl::StrCat(ClusterKey(run), looks);
  const std::string shared_key = shares ? absl::StrCat(ClusterKey(app->a), looks) : "";

  const bool resized = size.x != arranged_size_.x || size.y != arranged_size_.y;
  if (shares && settings.arranged != nullptr && settings.arranged_for == shared_key &&
      (settings.arranged != map_ || !resized)) {
    const bool followed = arranged_as_ == settings.arranged &&
                          arrangements_ == settings.arranged->arrangements() &&
                          arranged_for_ == own_key;
    if (settings.arranged != map_ && !followed) {
      map_->ArrangeAs(*settings.arranged);
      arranged_as_ = settings.arranged;
      arrangements_ = settings.arranged->arrangements();
    }
    arranged_for_ = own_key;
    return;
  }
  if (arranged_for_ == own_key && !resized && !shares) return;
  const float aspect = std::max(size.x, 1.0F) / std::max(size.y, 1.0F);
  map_->Arrange(settings.grouping, settings.order, aspect);
  // Labels of a small map need a larger share of it.
  constexpr float kLargestLabel = 3;
  const float label = LineHeight(*app) * 0.8F / map_->Fit(size.x, size.y).scale;
  if (label > ClusterMap::kLabelHeight && label < kLargestLabel) {
    map_->Arrange(settings.grouping, settings.order, aspect, label * 1.1F);
  }
  arranged_for_ = own_key;
  arranged_size_ = size;
  if (!shares) return;
  settings.arranged = map_;
  settings.arranged_for = shared_key;
}

void MapCanvas::Draw(ImVec2 size, AppState* app) {
  TakeSnapshot(*app);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = kPad * app->looks.scale;
  const ImVec2 inner(std::max(size.x - 2 * pad, 1.0F), std::max(size.y - 2 * pad, 1.0F));
  Arrange(inner, app);

  view::MapView fit = map_->Fit(inner.x, inner.y);
  fit_scale_ = fit.scale;
  // The view of the last frame, for the inputs that it got.
  view_ = ClusterMap::Zoomed(fit, app->map.zoom, Point());
  view_.origin = app->map.origin;
  origin_ = ImVec2(at.x + pad, at.y + pad);

  ImGui::PushID(static_cast<int>(runs_));
  ImGui::InvisibleButton("map", ImVec2(std::max(size.x, 1.0F), std::max(size.y, 1.0F)),
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  TakeInput(app);
  view_.colour = runs_ == MapRuns::kDifference ? MapColour::kDifference : app->map.colour;
  // The difference is shown between two maps, or in place of the first.
  if (runs_ == MapRuns::kB && view_.colour == MapColour::kDifference) {
    view_.colour = MapColour::kProfile;
  }
  if (runs_ == MapRuns::kA) {
    other_ = view_.colour == MapColour::kDifference ? app->b.snapshot : nullptr;
  }
  view_.theme = app->looks.theme;
  view_.now = shown_->time;
  view_.char_width = CharWidth(*app);
  view_.line_height = LineHeight(*app);

  const bool selection_moved = selected_ != app->selected;
  view_.selected = FindSelected(*app);
  if (selection_moved && view_.selected.has_value() && app->map.zoom != 1 &&
      shown_->map.nodes[view_.selected->node].gpu_count > 0) {
    view_ = map_->Showing(view_, view_.selected->node);
  }
  app->map.origin = view_.origin;

  const view::ClusterMapData* const b =
      view_.colour == MapColour::kDifference && other_ != nullptr ? &other_->map : nullptr;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  Paint(map_->Draw(view_, b), origin_, *app, list);
  if (hovered && !dragged_) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const std::optional<MapHit> hit =
        map_->HitTest(view_, {mouse.x - origin_.x, mouse.y - origin_.y});
    if (hit.has_value()) {
      const view::Rect box =
          hit->gpu.has_value() ? map_->GpuRect(view_, *hit->gpu) : map_->NodeRect(view_, hit->node);
      list->AddRect(ImVec2(origin_.x + box.x - 1, origin_.y + box.y - 1),
                    ImVec2(origin_.x + box.right() + 1, origin_.y + box.bottom() + 1),
                    Packed(app->theme().dim_text));
      DrawTooltip(*hit, *app);
    }
  }
  list->PopClipRect();
}

void MapCanvas::TakeInput(AppState* app) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 mouse = io.MousePos;
  const Point pixel = {mouse.x - origin_.x, mouse.y - origin_.y};
  const float scale_before = view_.scale;
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    view_ = ClusterMap::Zoomed(view_, std::pow(kZoomStep, io.MouseWheel), pixel);
  }
  if (ImGui::IsItemActivated()) dragged_ = false;
  if (ImGui::IsItemActive()) {
    for (const ImGuiMouseButton button :
         {ImGuiMouseButton_Left, ImGuiMouseButton_Right, ImGuiMouseButton_Middle}) {
      if (!ImGui::IsMouseDragging(button)) continue;
      dragged_ = true;
      view_.origin.x -= io.MouseDelta.x / view_.scale;
      view_.origin.y -= io.MouseDelta.y / view_.scale;
      break;
    }
  }
  // Wishes of commands, once for all maps.
  MapSettings& settings = app->map;
  if (settings.zoom_by != 1) {
    view_ = ClusterMap::Zoomed(view_, settings.zoom_by, {view_.width / 2, view_.height / 2});
  }
  view_.origin.x += settings.pan_by.x * view_.width / view_.scale;
  view_.origin.y += settings.pan_by.y * view_.height / view_.scale;
  settings.zoom_by = 1;
  settings.pan_by = {};
  // Only after a change: a quotient of floats would drift from frame to frame.
  if (view_.scale != scale_before) settings.zoom = view_.scale / fit_scale_;

  if (!ImGui::IsItemDeactivated()) return;
  const bool clicked = !dragged_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  dragged_ = false;
  if (!clicked) return;
  const std::optional<MapHit> hit = map_->HitTest(view_, pixel);
  if (hit.has_value()) Click(*hit, app);
}

void MapCanvas::Click(const MapHit& hit, AppState* app) {
  ObjectRef object;
  object.kind = ObjectKind::kNode;
  object.name = shown_->map.nodes[hit.node].name;
  if (hit.slot.has_value()) {
    const std::optional<size_t> pod = shown_->pods.FindNumber(shown_->map.slots[*hit.slot].pod);
    if (pod.has_value()) {
      object.kind = ObjectKind::kPod;
      object.name = std::string(shown_->pods.name(*pod));
    }
  }
  app->Select(std::move(object));
}

std::optional<size_t> MapCanvas::FindSelectedPod() {
  const view::PodTable& pods = shown_->pods;
  for (; !pod_.has_value() && pods_searched_ < pods.rows(); ++pods_searched_) {
    const std::optional<size_t> row = pods.FindNumber(pods_searched_);
    if (row.has_value() && pods.name(*row) == selected_.name) pod_ = pods_searched_;
  }
  const std::optional<size_t> row = pod_.has_value() ? pods.FindNumber(*pod_) : std::nullopt;
  return row.has_value() && pods.name(*row) == selected_.name ? row : std::nullopt;
}

std::optional<MapHit> MapCanvas::FindSelected(const AppState& app) {
  if (selected_ == app.selected && selected_in_ == shown_.get()) return hit_;
  if (selected_ != app.selected) {
    pod_.reset();
    pods_searched_ = 0;
  }
  selected_ = app.selected;
  selected_in_ = shown_.get();
  hit_.reset();
  const view::ClusterMapData& data = shown_->map;
  if (selected_.kind == ObjectKind::kNode) {
    for (uint32_t n = 0; n < data.nodes.size(); ++n) {
      if (data.nodes[n].name != selected_.name) continue;
      hit_.emplace();
      hit_->node = n;
      break;
    }
  } else if (selected_.kind == ObjectKind::kPod) {
    const std::optional<size_t> row = FindSelectedPod();
    if (!row.has_value()) return hit_;
    const absl::string_view on = shown_->pods.node(*row);
    for (uint32_t n = 0; n < data.nodes.size() && !on.empty(); ++n) {
      const view::MapNode& node = data.nodes[n];
      if (node.name != on) continue;
      for (uint32_t g = node.first_gpu; g < node.first_gpu + node.gpu_count && !hit_; ++g) {
        const view::MapGpu& gpu = data.gpus[g];
        for (uint32_t s = gpu.first_slot; s < gpu.first_slot + gpu.slot_count; ++s) {
          if (data.slots[s].pod != *pod_) continue;
          hit_.emplace();
          hit_->node = n;
          hit_->gpu = g;
          hit_->slot = s;
          break;
        }
      }
      break;
    }
  }
  return hit_;
}

void MapCanvas::DrawTooltip(const MapHit& hit, const AppState& app) const {
  const auto write = [&](const RunSnapshot& run, absl::string_view prefix) {
    const std::string text =
        view::HitText(run.map, hit, [&](uint32_t pod) { return PodName(run, pod); });
    bool first = true;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (first) {
        StrongText(absl::StrCat(prefix, line), app);
      } else if (absl::StartsWith(line, "free ") || absl::StartsWith(line, "fits ")) {
        DimText(line, app);
      } else {
        Text(line);
      }
      first = false;
    }
  };
  ImGui::BeginTooltip();
  const bool two = view_.colour == MapColour::kDifference && other_ != nullptr;
  write(*shown_, two ? "A: " : "");
  if (two) write(*other_, "B: ");
  ImGui::EndTooltip();
}

absl::Span<const MapLegendRow> MapCanvas::Legend(const AppState& app) {
  if (map_ == nullptr) return {};
  const bool differs = view_.colour == MapColour::kDifference;
  const RunSnapshot* const other = differs ? other_.get() : nullptr;
  const LegendKey key = {shown_.get(), other, view_.colour, app.looks.theme};
  if (legend_key_ == key) return legend_;
  legend_key_ = key;
  legend_.clear();
  const std::vector<std::string>& profiles = shown_->map.profiles;
  const bool sliced = shown_->slices.slices > 0;
  const bool shares = shown_->map.has_shares;
  for (MapLegendRow& row : map_->Legend(view_.colour, app.looks.theme)) {
    if (view_.colour == MapColour::kProfile) {
      // Variants have the colours of their neighbours, and a run has either instances or shares.
      const bool is_profile = absl::c_linear_search(profiles, row.text);
      if (is_profile && absl::StrContains(row.text, "+")) continue;
      if (sliced && !shares && absl::StrContains(row.text, "GPU")) continue;
      if (!sliced && absl::StrContains(row.text, "stranded")) continue;
    }
    legend_.push_back(std::move(row));
  }
  if (other != nullptr && legend_.size() == 4) {
    const view::MapDifference counts = view::DifferenceOf(shown_->map, other->map);
    const int64_t milli[] = {counts.only_a, counts.only_b, counts.both, counts.neither};
    for (size_t i = 0; i < 4; ++i) absl::StrAppend(&legend_[i].text, " ", CountText(milli[i]));
  }
  return legend_;
}

std::string MapCanvas::Svg(const AppState& app) {
  if (map_ == nullptr) return "";
  const view::ClusterMapData* const b =
      view_.colour == MapColour::kDifference && other_ != nullptr ? &other_->map : nullptr;
  view::SvgOptions options;
  options.width = view_.width;
  options.height = view_.height;
  options.theme = app.looks.theme;
  options.title = "Cluster";
  const view::DrawList* const lists[] = {&map_->Draw(view_, b)};
  return view::SvgText(lists, options);
}

float LegendRow(absl::Span<const MapLegendRow> rows, float width, bool draw, const AppState& app) {
  const ScopedFont font(app.fonts.small);
  const float line = std::round(ImGui::GetTextLineHeight() * 1.35F);
  const float square = std::round(ImGui::GetTextLineHeight() * 0.62F);
  const float gap = square * 0.7F;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImU32 colour = Packed(app.theme().text);
  float x = 0;
  float y = 0;
  for (const MapLegendRow& row : rows) {
    const char* const begin = row.text.data();
    const char* const end = begin + row.text.size();
    const float length = square + gap + ImGui::CalcTextSize(begin, end).x + 2 * gap;
    if (x > 0 && x + length > width) {
      x = 0;
      y += line;
    }
    if (draw) {
      const float middle = at.y + y + line / 2;
      const view::Rect box = {at.x + x, middle - square / 2, square, square};
      PaintInk(box, row.ink, app, list);
      list->AddText(ImVec2(box.right() + gap, middle - ImGui::GetTextLineHeight() / 2), colour,
                    begin, end);
    }
    x += length;
  }
  if (draw) ImGui::Dummy(ImVec2(width, y + line));
  return y + line;
}

}  // namespace drasim::gui
