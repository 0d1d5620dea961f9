// A state machine as a row of boxes with arrows, such as that of a ResourceClaim.
#ifndef DRASIM_GUI_VIEW_STATE_BOXES_H_
#define DRASIM_GUI_VIEW_STATE_BOXES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_claim.h"
#include "gui/view/palette.h"

namespace drasim::view {

struct StateBox {
  std::string name;     // inside
  std::string caption;  // beneath: "9h24m50s", "159 times", "refuses 15 of 17"
  bool reached = false;
  bool present = false;
  bool repeated = false;  // reached more than once
};

struct StateBoxesFrame {
  float width = 480;  // in pixels
  float char_width = 7;
  float line_height = 16;
  ThemeKind theme = ThemeKind::kDark;
  bool operator==(const StateBoxesFrame&) const = default;
};

struct StateBoxesPicture {
  DrawList list;
  float height = 0;
  std::vector<Rect> boxes;  // by state
};

// The states of a claim in the order of its machine. States after its end are left out until it
// reaches them.
std::vector<StateBox> StateBoxesOf(const ClaimInspection& claim);

// From left to right, in as many rows as names and captions need. A bracket connects neighbours
// that were reached in turn several times.
StateBoxesPicture DrawStateBoxes(absl::Span<const StateBox> states, const StateBoxesFrame& frame);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_STATE_BOXES_H_
