#include "gui/view/state_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gui/view/unit_text.h"
#include "sim/record/live_claims.h"

namespace drasim::view {
namespace {

Ink BoxInk(Rgb colour, uint8_t alpha = 255) {
  Ink ink;
  ink.colour = colour;
  ink.alpha = alpha;
  return ink;
}

void AddArrow(Point from, Point to, const Ink& ink, DrawList* list) {
  constexpr float kHead = 3;
  list->AddLine(from, to, ink);
  const std::array<Point, 3> head = {
      {{to.x - kHead, to.y - kHead}, to, {to.x - kHead, to.y + kHead}}};
  list->AddPolyline(head, ink);
}

}  // namespace

std::vector<StateBox> StateBoxesOf(const ClaimInspection& claim) {
  std::vector<StateBox> boxes;
  for (const ClaimStep& step : claim.steps) {
    const bool is_end = step.state >= ClaimState::kReleasing;
    if (is_end && step.times == 0 && !step.present) continue;
    StateBox box;
    box.name = step.name;
    box.reached = step.times > 0;
    box.present = step.present && !claim.deleted;
    box.repeated = step.times > 1;
    if (step.state == ClaimState::kDriverAsked && claim.nodes_refused > 0 &&
        claim.state <= ClaimState::kNodeSelected) {
      box.caption = absl::StrCat("refuses ", claim.nodes_refused, " of ", claim.nodes_asked);
    } else if (step.times > 1) {
      box.caption = absl::StrCat(CommaText(step.times), " times");
    } else if (step.times == 1) {
      box.caption = TimeText(step.first);
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

StateBoxesPicture DrawStateBoxes(absl::Span<const StateBox> states, const StateBoxesFrame& frame) {
  StateBoxesPicture picture;
  if (states.empty()) return picture;
  const Theme& theme = ThemeOf(frame.theme);
  size_t longest = 0;
  for (const StateBox& state : states) {
    longest = std::max({longest, state.name.size(), state.caption.size()});
  }
  const float gap = 2 * frame.char_width;
  const float least = static_cast<float>(longest + 1) * frame.char_width;
  const auto fitting = static_cast<size_t>(std::max((frame.width + gap) / (least + gap), 1.0F));
  const size_t rows = (states.size() + fitting - 1) / fitting;
  // Rows of about equal lengths.
  const size_t per_row = (states.size() + rows - 1) / rows;
  const auto in_row = static_cast<float>(per_row);
  const float width = std::max((frame.width + gap) / in_row - gap, frame.char_width);
  const float bracket = std::floor(frame.line_height / 2);
  const float height = std::floor(frame.line_height * 1.4F);
  const float row_height = bracket + height + frame.line_height;
  for (size_t i = 0; i < states.size(); ++i) {
    const StateBox& state = states[i];
    const auto column = static_cast<float>(i % per_row);
    Rect box;
    box.x = column * (width + gap);
    const size_t row = i / per_row;
    box.y = static_cast<float>(row) * row_height + bracket;
    box.width = width;
    box.height = height;
    picture.boxes.push_back(box);
    // No meaning rests on the colour: the present state has a thick border and strong letters, a
    // state that was not reached has dim ones.
    Rgb edge = theme.grid;
    if (state.reached) edge = theme.categories[3];
    if (state.present) edge = theme.categories[1];
    if (state.reached || state.present) {
      picture.list.AddRect(box, BoxInk(Blend(theme.panel, edge, 180)));
    }
    picture.list.AddOutline(box, BoxInk(edge), state.present ? 2 : 1);
    const Point middle = {box.x + box.width / 2, box.y + box.height / 2};
    picture.list.AddText(middle, Anchor::kMiddle,
                         state.present ? TextSize::kStrong : TextSize::kSmall,
                         state.reached || state.present ? theme.text : theme.dim_text, state.name);
    picture.list.AddText({middle.x, box.bottom() + frame.line_height / 2}, Anchor::kMiddle,
                         TextSize::kSmall, theme.dim_text, state.caption);
    if (i % per_row == 0) continue;
    const Rect& before = picture.boxes[i - 1];
    AddArrow({before.right() + 2, middle.y}, {box.x - 2, middle.y}, BoxInk(theme.dim_text),
             &picture.list);
    if (!state.repeated || !states[i - 1].repeated) continue;
    const float left = before.x + before.width / 2;
    const std::array<Point, 4> path = {{{middle.x, box.y},
                                        {middle.x, box.y - bracket + 1},
                                        {left, box.y - bracket + 1},
                                        {left, box.y}}};
    picture.list.AddPolyline(path, BoxInk(theme.categories[1]));
  }
  picture.height = static_cast<float>(rows) * row_height;
  return picture;
}

}  // namespace drasim::view
