// The inspector: everything about the selected pod, node, claim or tenant.
#ifndef DRASIM_GUI_APP_PANEL_INSPECT_H_
#define DRASIM_GUI_APP_PANEL_INSPECT_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeInspectPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_INSPECT_H_
