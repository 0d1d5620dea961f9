// The slots of a node over time: a row per GPU.
#ifndef DRASIM_GUI_APP_PANEL_SLOTS_H_
#define DRASIM_GUI_APP_PANEL_SLOTS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

// The slots of AppState::node over time. Its view is kInspect: it is shown with the inspector.
std::unique_ptr<Panel> MakeSlotsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_SLOTS_H_
