// The panels of drasim-gui: the map of devices on the left; curve, figures and scenario on the
// right. They draw into the Dear ImGui frame that is open, whether a window shows it or not.
#ifndef DRASIM_GUI_APP_PANELS_H_
#define DRASIM_GUI_APP_PANELS_H_

#include <optional>

#include "gui/view/run_view.h"

namespace drasim {

// State that lasts from frame to frame. It belongs to one RunView.
struct PanelState {
  MapLayout map;
  int map_width = -1;  // the size for which `map` was made
  int map_height = -1;
  float map_x = 0;  // where `map` begins on the screen
  float map_y = 0;
  std::optional<DeviceRef> hovered;  // the device under the mouse
};

// Fills the main viewport. Call between ImGui::NewFrame and ImGui::Render. O(nodes + devices in
// sight); a change of size costs a new layout.
void DrawPanels(const RunView& view, PanelState* state);

}  // namespace drasim

#endif  // DRASIM_GUI_APP_PANELS_H_
