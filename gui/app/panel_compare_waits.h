// From arrival to first start in two runs, by what the pods want.
#ifndef DRASIM_GUI_APP_PANEL_COMPARE_WAITS_H_
#define DRASIM_GUI_APP_PANEL_COMPARE_WAITS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeCompareWaitsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_COMPARE_WAITS_H_
