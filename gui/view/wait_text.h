// Lengths of time as people read and type them: "10h35m", "5m32s", "2d".
#ifndef DRASIM_GUI_VIEW_WAIT_TEXT_H_
#define DRASIM_GUI_VIEW_WAIT_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"

namespace drasim::view {

// The two largest units, the rest cut off: "1d3h", "10h35m", "5m32s", "12s", "2.5s", "350ms",
// "12us", "0s". Negative lengths have a leading '-'.
std::string WaitText(SimDuration length);

// One or more numbers with units (d, h, m, s, ms), such as "90s", "1h30m" or "1.5d"; at most a
// hundred years. InvalidArgument tells what was expected, without the text itself.
absl::StatusOr<SimDuration> ParseWait(absl::string_view text);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_WAIT_TEXT_H_
