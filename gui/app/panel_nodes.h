// The table of nodes.
#ifndef DRASIM_GUI_APP_PANEL_NODES_H_
#define DRASIM_GUI_APP_PANEL_NODES_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeNodesPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_NODES_H_
