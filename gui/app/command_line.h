// Views as command lines: what a user copies to come back, or to send to others.
#ifndef DRASIM_GUI_APP_COMMAND_LINE_H_
#define DRASIM_GUI_APP_COMMAND_LINE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

// A word of a POSIX shell's command line. Quoted only if it must be.
std::string ShellWord(absl::string_view text);

// A time as `--at` reads it back, exact: "20h", "4h10m13.366s", "record 1234".
std::string TypedTime(const view::TimeTarget& at, bool by_record);

// "drasim-gui --at 20h --view map,pods --select pod-1 results/a results/b".
std::string ViewCommandLine(const AppState& app);

// "drasim explain results/a --pod pod-1 --at 20h" for the selected pod; empty if no pod is
// selected or nothing is opened.
std::string ExplainCommandLine(const AppState& app);

// "drasim report results/a results/b --out report.html --at 20h"; empty if nothing is opened.
std::string ReportCommandLine(const AppState& app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_COMMAND_LINE_H_
