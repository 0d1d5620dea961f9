// A cluster map on the screen, with its mouse and its tooltip. All maps of a comparison show the
// same part of the cluster, with every node in the same place.
#ifndef DRASIM_GUI_APP_MAP_CANVAS_H_
#define DRASIM_GUI_APP_MAP_CANVAS_H_

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/session/inspection.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/draw_list.h"
#include "gui/view/map_model.h"
#include "gui/view/palette.h"

namespace drasim::gui {

// The run that a canvas shows: A, B, or A with the difference of B to it.
enum class MapRuns : uint8_t { kA, kB, kDifference };

class MapCanvas {
 public:
  explicit MapCanvas(MapRuns runs) : runs_(runs) {}

  // Fills a rectangle of the open window at its cursor. The run must have a snapshot; a difference
  // needs both, of the same nodes. Costs no layout as long as the cluster is the same.
  void Draw(ImVec2 size, AppState* app);

  // The legend of the last drawing.
  absl::Span<const view::MapLegendRow> Legend(const AppState& app);
  // Pictures of the last drawing, for exports; empty before the first.
  std::string Svg(const AppState& app);
  // The places of the nodes and slots of the last frame on the screen.
  const view::ClusterMap& map() const { return *map_; }
  const view::MapView& view() const { return view_; }
  ImVec2 origin() const { return origin_; }

 private:
  const RunSlot& RunOf(const AppState& app) const;
  void TakeSnapshot(const AppState& app);
  void Arrange(ImVec2 size, AppState* app);
  void TakeInput(AppState* app);
  // The place of the selected pod or node; none if it is not on the map.
  std::optional<view::MapHit> FindSelected(const AppState& app);
  // The row of the selected pod; none if it has not arrived yet.
  std::optional<size_t> FindSelectedPod();
  void DrawTooltip(const view::MapHit& hit, const AppState& app) const;
  void Click(const view::MapHit& hit, AppState* app);

  MapRuns runs_;
  std::shared_ptr<view::ClusterMap> map_;     // shared as MapSettings::arranged
  std::shared_ptr<const RunSnapshot> shown_;  // owns the map's data
  std::shared_ptr<const RunSnapshot> other_;  // B of a difference

  // Inputs of the present arrangement.
  std::string arranged_for_;
  ImVec2 arranged_size_;
  std::shared_ptr<const view::ClusterMap> arranged_as_;
  uint64_t arrangements_ = 0;
  bool like_a_ = true;  // B has A's nodes
  std::string like_a_for_;

  view::MapView view_;
  float fit_scale_ = 1;
  ImVec2 origin_;
  bool dragged_ = false;

  struct LegendKey {
    const RunSnapshot* shown = nullptr;
    const RunSnapshot* other = nullptr;
    view::MapColour colour = view::MapColour::kProfile;
    view::ThemeKind theme = view::ThemeKind::kDark;
    bool operator==(const LegendKey&) const = default;
  };
  LegendKey legend_key_;
  std::vector<view::MapLegendRow> legend_;

  ObjectRef selected_;  // for which `hit_` was looked up
  const RunSnapshot* selected_in_ = nullptr;
  std::optional<view::MapHit> hit_;
  // Pods keep their numbers, so a pod that has not arrived yet is looked for among new ones only.
  std::optional<uint32_t> pod_;  // its number
  uint32_t pods_searched_ = 0;
};

// A row of squares with their texts, broken where it is too long. Returns its height; `draw` false
// only measures.
float LegendRow(absl::Span<const view::MapLegendRow> rows, float width, bool draw,
                const AppState& app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_MAP_CANVAS_H_
