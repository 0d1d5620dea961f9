// The table of ResourceClaims of a classic DRA run.
#ifndef DRASIM_GUI_APP_PANEL_CLAIMS_H_
#define DRASIM_GUI_APP_PANEL_CLAIMS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeClaimsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_CLAIMS_H_
