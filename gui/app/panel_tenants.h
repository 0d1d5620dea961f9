// The table of tenants.
#ifndef DRASIM_GUI_APP_PANEL_TENANTS_H_
#define DRASIM_GUI_APP_PANEL_TENANTS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeTenantsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_TENANTS_H_
