// The comparison of the opened runs, for the panels that show parts of it.
#ifndef DRASIM_GUI_APP_COMPARISON_STATE_H_
#define DRASIM_GUI_APP_COMPARISON_STATE_H_

#include <memory>

#include "gui/app/app_state.h"
#include "gui/session/comparison_job.h"

namespace drasim::gui {

// Null until both runs were compared; then a line says what is missing.
std::shared_ptr<const RunComparison> ComparisonOrLine(const AppState& app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_COMPARISON_STATE_H_
