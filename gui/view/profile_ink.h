// The colour of what pods ask for or hold, the same as on the map.
#ifndef DRASIM_GUI_VIEW_PROFILE_INK_H_
#define DRASIM_GUI_VIEW_PROFILE_INK_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/palette.h"

namespace drasim::view {

// `profiles` as in ClusterMapData. `text` is a request or a held part: "3g.40gb", "2 x 1g.10gb +
// 3g.40gb", "GPU", "0.46 GPU of T4"; of several profiles the largest counts. None for texts without
// devices.
std::optional<Ink> ProfileInk(const Theme& theme, absl::Span<const std::string> profiles,
                              absl::string_view text);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_PROFILE_INK_H_
