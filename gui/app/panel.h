// One panel of the window: a class per panel_*.cc, registered by one line of panel_list.cc.
#ifndef DRASIM_GUI_APP_PANEL_H_
#define DRASIM_GUI_APP_PANEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/app/view_list.h"

namespace drasim::gui {

// A file that a panel can be exported to.
struct PanelExport {
  std::string name;  // "pods.csv", "waiting.svg"
  std::string content;
};

// A panel keeps what lasts from frame to frame: scroll positions, models, caches.
class Panel {
 public:
  virtual ~Panel() = default;
  virtual ViewKind view() const = 0;
  // "Cluster", and beside it in dim letters "32 nodes, memory slice 0 at the top".
  virtual absl::string_view title() const = 0;
  virtual std::string Subtitle(const AppState& app) const = 0;
  // Fills the ImGui child window that is open. `focused`: keys are for this panel. A frame in which
  // nothing changed must cost next to nothing.
  virtual void Draw(AppState* app, bool focused) = 0;
  // The panel's data and picture, as CSV and SVG.
  virtual std::vector<PanelExport> Exports(const AppState&) { return {}; }
};

using PanelFactory = std::unique_ptr<Panel> (*)();
// In the order of the keys 1, 2, 3, ...
absl::Span<const PanelFactory> PanelList();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_H_
