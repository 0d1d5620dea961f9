// The figures of two runs side by side, and the keys in which their scenarios differ.
#ifndef DRASIM_GUI_APP_PANEL_COMPARE_FIGURES_H_
#define DRASIM_GUI_APP_PANEL_COMPARE_FIGURES_H_

#include <memory>

#include "gui/app/panel.h"

namespace drasim::gui {

std::unique_ptr<Panel> MakeCompareFiguresPanel();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_COMPARE_FIGURES_H_
