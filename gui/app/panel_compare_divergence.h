// The pods about which two runs decided differently, one at a time with its life in both.
#ifndef DRASIM_GUI_APP_PANEL_COMPARE_DIVERGENCE_H_
#define DRASIM_GUI_APP_PANEL_COMPARE_DIVERGENCE_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeCompareDivergencePanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_COMPARE_DIVERGENCE_H_
