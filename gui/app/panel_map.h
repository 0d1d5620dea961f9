// The cluster as a map; in a comparison A, B and their difference side by side.
#ifndef DRASIM_GUI_APP_PANEL_MAP_H_
#define DRASIM_GUI_APP_PANEL_MAP_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeMapPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_MAP_H_
