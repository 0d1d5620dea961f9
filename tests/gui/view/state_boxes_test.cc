#include "gui/view/state_boxes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_claim.h"
#include "model/time.h"
#include "sim/record/live_claims.h"

namespace drasim {
namespace state_boxes_test {

using view::ClaimInspection;
using view::ClaimStep;
using view::DrawItem;
using view::DrawKind;
using view::DrawStateBoxes;
using view::StateBox;
using view::StateBoxesFrame;
using view::StateBoxesOf;
using view::StateBoxesPicture;

void AddStep(ClaimState state, const char* name, int64_t times, ClaimInspection* claim) {
  ClaimStep step;
  step.state = state;
  step.name = name;
  step.times = times;
  step.first = SimTime(90 * kSecondNs);
  step.present = state == claim->state;
  claim->steps.push_back(step);
}

ClaimInspection WaitingClaim() {
  ClaimInspection claim;
  claim.state = ClaimState::kNodeSelected;
  claim.nodes_asked = 17;
  claim.nodes_refused = 15;
  AddStep(ClaimState::kCreated, "created", 1, &claim);
  AddStep(ClaimState::kDriverAsked, "driver asked", 160, &claim);
  AddStep(ClaimState::kNodeSelected, "node selected", 1590, &claim);
  AddStep(ClaimState::kAllocated, "allocated", 0, &claim);
  AddStep(ClaimState::kReleasing, "releasing", 0, &claim);
  return claim;
}

std::string BoxesText(const std::vector<StateBox>& boxes) {
  std::string text;
  for (const StateBox& box : boxes) {
    absl::StrAppend(&text, box.name, box.reached ? "+" : "", box.present ? "*" : "",
                    box.repeated ? "~" : "", " (", box.caption, "); ");
  }
  return text;
}

TEST(StateBoxesTest, BoxesOfAClaim) {
  ClaimInspection claim = WaitingClaim();
  EXPECT_EQ(BoxesText(StateBoxesOf(claim)),
            "created+ (1m30s); driver asked+~ (refuses 15 of 17); "
            "node selected+*~ (1,590 times); allocated (); ");
  // After its allocation the refusals are history.
  claim.state = ClaimState::kAllocated;
  claim.steps[2].present = false;
  claim.steps[3].times = 1;
  claim.steps[3].present = true;
  claim.steps[4].times = 1;
  EXPECT_EQ(BoxesText(StateBoxesOf(claim)),
            "created+ (1m30s); driver asked+~ (160 times); node selected+~ (1,590 times); "
            "allocated+* (1m30s); releasing+ (1m30s); ");
  claim.deleted = true;
  for (const StateBox& box : StateBoxesOf(claim)) EXPECT_FALSE(box.present);
}

size_t LinesOf(const StateBoxesPicture& picture, size_t points) {
  size_t count = 0;
  for (const DrawItem& item : picture.list.items()) {
    count += item.kind == DrawKind::kPolyline && item.count == points ? 1U : 0U;
  }
  return count;
}

TEST(StateBoxesTest, ArrowsBetweenBoxesAndABracketOverRepetitions) {
  StateBoxesFrame frame;
  frame.width = 700;
  const std::vector<StateBox> boxes = StateBoxesOf(WaitingClaim());
  const StateBoxesPicture picture = DrawStateBoxes(boxes, frame);
  ASSERT_EQ(picture.boxes.size(), 4u);
  for (size_t i = 1; i < picture.boxes.size(); ++i) {
    EXPECT_EQ(picture.boxes[i].y, picture.boxes[0].y);
    EXPECT_GT(picture.boxes[i].x, picture.boxes[i - 1].right());
  }
  EXPECT_FLOAT_EQ(picture.boxes.back().right(), 700);
  EXPECT_EQ(LinesOf(picture, 3), 3u);  // heads of arrows
  EXPECT_EQ(LinesOf(picture, 4), 1u);  // brackets
  size_t thick = 0;
  for (const DrawItem& item : picture.list.items()) {
    if (item.kind == DrawKind::kOutlines && item.line_width == 2) thick += item.count;
  }
  EXPECT_EQ(thick, 1u);
}

TEST(StateBoxesTest, NarrowPanelsGetSeveralRows) {
  StateBoxesFrame frame;
  frame.width = 300;
  const std::vector<StateBox> boxes = StateBoxesOf(WaitingClaim());
  const StateBoxesPicture picture = DrawStateBoxes(boxes, frame);
  EXPECT_EQ(picture.boxes[0].x, picture.boxes[2].x);
  EXPECT_GT(picture.boxes[2].y, picture.boxes[0].bottom());
  EXPECT_LE(picture.boxes[1].right(), 300.01F);
  EXPECT_GE(picture.height, picture.boxes[3].bottom());
  // Too narrow for anything: no crash, a box per row.
  frame.width = 1;
  EXPECT_EQ(DrawStateBoxes(boxes, frame).boxes.size(), 4u);
  EXPECT_EQ(DrawStateBoxes({}, frame).height, 0);
}

}  // namespace state_boxes_test
}  // namespace drasim
