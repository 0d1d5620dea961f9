// The table of pods: those that wait, or all that have arrived, with a filter.
#ifndef DRASIM_GUI_APP_PANEL_PODS_H_
#define DRASIM_GUI_APP_PANEL_PODS_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakePodsPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_PODS_H_
