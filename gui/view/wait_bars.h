// Waits of two runs as pairs of bars on a logarithmic axis, by what the pods want.
#ifndef DRASIM_GUI_VIEW_WAIT_BARS_H_
#define DRASIM_GUI_VIEW_WAIT_BARS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"

namespace drasim::view {

// A wait in either run, in seconds; absent if none of these pods started.
struct WaitBar {
  std::string wants;
  std::optional<double> a;
  std::optional<double> b;
};

struct WaitBarsPicture {
  DrawList list;
  float height = 0;
  std::vector<Rect> boxes;  // by bar, to be clicked on
};

// One row per entry: its name, A's bar above B's, and both values with their ratio. The axis has
// its labels at the top. REQUIRES: waits are from 0 to 8e7 seconds. O(bars).
WaitBarsPicture DrawWaitBars(absl::Span<const WaitBar> bars, float width, float char_width,
                             float line_height, ThemeKind theme);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WAIT_BARS_H_
