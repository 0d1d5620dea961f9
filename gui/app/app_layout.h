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
#include "gui/app/panel_places.h"
#include "gui/app/view_list.h"
#include "gui/session/run_overview.h"
#include "gui/view/draw_list.h"
#include "model/time.h"

namespace drasim::gui {

class App;
class ExportList;
class FindBox;
class StartPage;
class TimelineBar;

// What stands above the panels; one at a time.
enum class Overlay : uint8_t { kNone, kFind, kGoTo, kOpenA, kOpenB, kExports, kKeys };

class AppLayout {
 public:
  AppLayout();
  ~AppLayout();

  // Fills the display. Inside a frame of ImGui.
  void Draw(App* app, SimDuration elapsed);

  // Showing the one that is shown closes it.
  void Show(Overlay overlay);
  Overlay overlay() const { return overlay_; }
  // Brings the panel's tab to the front and gives it the keys. Once more: the next panel of the
  // same view.
  void Focus(ViewKind view, App* app);
  // The panel with the keys; none without a focus. An index into App::panels().
  std::optional<size_t> focused_panel() const { return focused_; }
  // Whether a list is being searched.
  bool animating() const;

  struct PlacedPanel {
    size_t panel = 0;  // index into App::panels()
    view::Rect rect;
  };
  // Panels drawn in the last frame.
  absl::Span<const PlacedPanel> placed() const { return placed_; }

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
  std::vector<PlacedPanel> placed_;
  std::array<Chip, 2> chips_;
  size_t notices_seen_ = 0;
  SimDuration notices_age_;  // since the last one came
  bool notices_fade_ = false;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_LAYOUT_H_
