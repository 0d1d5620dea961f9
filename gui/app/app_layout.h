// The window from edge to edge: header, timeline, panels in their places, notices, and the lists
// and forms that open above them.
#ifndef DRASIM_GUI_APP_APP_LAYOUT_H_
#define DRASIM_GUI_APP_APP_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/app/app_view.h"
#include "gui/app/panel_places.h"
#include "gui/app/view_list.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/view/draw_list.h"
#include "model/time.h"

namespace drasim::gui {

class ExportList;
class FindBox;
class StartPage;
class TimelineBar;

class AppLayout : public AppView {
 public:
  AppLayout();
  ~AppLayout() override;

  void TakeKeys(App* app) override;
  void Draw(App* app, SimDuration elapsed) override;
  bool animating() const override;
  void Show(Overlay overlay) override;
  Overlay overlay() const override { return overlay_; }
  void Focus(ViewKind view, App* app) override;
  std::optional<size_t> focused_panel() const override { return focused_; }
  absl::Span<const PlacedPanel> placed() const override { return placed_; }

 private:
  // The text of a chip: computed from the scenario once per run.
  struct Chip {
    std::shared_ptr<const RunOverview> overview;
    std::string text;
  };

  void DrawHeader(App* app);
  static void DrawMenus(bool compact, App* app);
  float DrawChip(const char* letter, size_t category, RunSlot* slot, float x, float right,
                 Chip* chip, App* app);
  void DrawFind(float x, float right, App* app);
  float DrawJobs(float top, App* app);
  float DrawNotices(App* app, SimDuration elapsed);
  void DrawPanels(const view::Rect& area, App* app);
  void DrawRoom(const PlacedRoom& room, const PlacesRequest& request, App* app);
  void DrawPanel(size_t panel, const std::vector<size_t>& tabs, const view::Rect& rect, App* app);
  void DrawTitles(size_t panel, const std::vector<size_t>& tabs, const view::Rect& bar, App* app);
  static void DrawSplitter(const PlacedSplitter& splitter, App* app);
  void DrawPage(const view::Rect& area, App* app);
  void DrawOverlay(App* app);
  // Brings the inspector to the front when another object is selected.
  void FollowSelection(const App& app);
  void FollowFocus(const App& app);
  void Raise(size_t panel);
  std::vector<size_t> PanelsOf(Room room, const App& app) const;

  std::unique_ptr<TimelineBar> timeline_;
  std::unique_ptr<FindBox> find_;
  std::unique_ptr<StartPage> start_;
  std::unique_ptr<ExportList> exports_;

  Overlay overlay_ = Overlay::kNone;
  bool overlay_is_new_ = false;
  std::vector<uint64_t> raised_;  // by panel: when its tab came to the front
  uint64_t raises_ = 0;
  std::optional<size_t> focused_;
  ObjectRef followed_;
  std::vector<PlacedPanel> placed_;
  std::array<Chip, 2> chips_;
  size_t notices_seen_ = 0;
  SimDuration notices_age_;  // since the last one came
  bool notices_fade_ = false;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_LAYOUT_H_
