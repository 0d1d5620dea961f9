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
  void DrawHeader(App* app);
  void DrawMenus(App* app, bool compact);
  float DrawChips(App* app, float x, float right);
  void DrawFigures(App* app, float left, float right);
  void DrawJobs(App* app);
  void DrawNotices(App* app, SimDuration elapsed);
  float NoticesHeight(const App& app) const;
  void DrawPanels(App* app, const view::Rect& area);
  void DrawRoom(App* app, const PlacedRoom& room);
  void DrawPanel(App* app, size_t panel, const std::vector<size_t>& tabs, const view::Rect& rect);
  void DrawSplitters(App* app, absl::Span<const PlacedSplitter> splitters);
  void DrawError(App* app, const view::Rect& area);
  void DrawProgress(App* app, const view::Rect& area);
  void DrawOverlay(App* app);
  std::vector<size_t> PanelsIn(const App& app, Room room) const;

  std::unique_ptr<TimelineBar> timeline_;
  std::unique_ptr<FindBox> find_;
  std::unique_ptr<StartPage> start_;
  std::unique_ptr<ExportList> exports_;

  Overlay overlay_ = Overlay::kNone;
  bool overlay_is_new_ = false;
  std::array<size_t, 6> front_ = {};  // by Room: the panel in front, or in front of its tab
  std::array<bool, 6> has_front_ = {};
  std::optional<size_t> focused_;
  std::vector<PlacedPanel> placed_;
  size_t notices_seen_ = 0;
  SimDuration notices_age_;  // since the last one came
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_LAYOUT_H_
