// Names of WaitKind, the same in plots, tables and reports.
#ifndef DRASIM_GUI_VIEW_WAIT_KIND_H_
#define DRASIM_GUI_VIEW_WAIT_KIND_H_

#include "absl/strings/string_view.h"
#include "sim/record/live_state.h"

namespace drasim::view {

inline absl::string_view WaitKindName(WaitKind kind) {
  switch (kind) {
    case WaitKind::kUntried:
      return "not tried yet";
    case WaitKind::kNoRoom:
      return "no room";
    case WaitKind::kDriver:
      return "driver's answer";
  }
  return "";
}

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WAIT_KIND_H_
