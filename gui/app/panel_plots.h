// The run as curves over the window of the timeline; in a comparison both runs in each plot.
#ifndef DRASIM_GUI_APP_PANEL_PLOTS_H_
#define DRASIM_GUI_APP_PANEL_PLOTS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakePlotsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_PLOTS_H_
