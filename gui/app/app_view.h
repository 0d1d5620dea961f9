// AppView: the contents of the window as App sees them. They are drawn through it, and commands
// bring parts of them to the front. AppLayout is the one implementation; App itself knows none of
// its parts.
#ifndef DRASIM_GUI_APP_APP_VIEW_H_
#define DRASIM_GUI_APP_APP_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/types/span.h"
#include "gui/app/view_list.h"
#include "gui/view/draw_list.h"
#include "model/time.h"

namespace drasim::gui {

class App;

// The box above the panels; one at a time.
enum class Overlay : uint8_t { kNone, kFind, kGoTo, kOpenA, kOpenB, kExports, kKeys };

class AppView {
 public:
  virtual ~AppView() = default;

  // Runs the commands whose keys were pressed. Inside a frame of ImGui, before Draw.
  virtual void TakeKeys(App* app) = 0;
  // Fills the display. Inside a frame of ImGui.
  virtual void Draw(App* app, SimDuration elapsed) = 0;
  // Whether the next frame may differ without an event of the user.
  virtual bool animating() const = 0;

  // Shows the overlay, or closes it if it is shown already.
  virtual void Show(Overlay overlay) = 0;
  virtual Overlay overlay() const = 0;
  // Brings the panel's tab to the front and gives it the keys. Once more: the next panel of the
  // same view.
  virtual void Focus(ViewKind view, App* app) = 0;
  // The panel with the keys; none without a focus. An index into App::panels().
  virtual std::optional<size_t> focused_panel() const = 0;

  struct PlacedPanel {
    size_t panel = 0;  // index into App::panels()
    view::Rect rect;
  };
  // Panels drawn in the last frame.
  virtual absl::Span<const PlacedPanel> placed() const = 0;
};

// The window's contents (app_layout.cc).
std::unique_ptr<AppView> MakeAppView();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_VIEW_H_
