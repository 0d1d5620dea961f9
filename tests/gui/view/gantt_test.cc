#include "gui/view/gantt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_node.h"
#include "gui/view/palette.h"
#include "model/time.h"

namespace drasim {
namespace gantt_test {

using view::DrawGantt;
using view::DrawItem;
using view::DrawKind;
using view::DrawList;
using view::GanttFrame;
using view::GanttPicture;
using view::NodeInspection;
using view::NodeSlot;
using view::Rect;

SimTime Seconds(int64_t seconds) { return SimTime(seconds * kSecondNs); }

NodeSlot Slot(absl::string_view pod, uint8_t gpu, int32_t offset, int32_t size, int64_t from,
              int64_t to) {
  NodeSlot slot;
  slot.pod_name = std::string(pod);
  slot.part.device = gpu;
  slot.part.start = offset;
  slot.part.size = size;
  slot.part.whole = 8;
  slot.part.label = size == 4 ? "3g.40gb" : "1g.10gb";
  slot.offset = offset;
  slot.from = Seconds(from);
  slot.to = Seconds(to);
  return slot;
}

const std::vector<std::string>& Profiles() {
  static const auto* const profiles = new std::vector<std::string>{"1g.10gb", "3g.40gb"};
  return *profiles;
}

GanttFrame Frame() {
  GanttFrame frame;
  frame.width = 449;   // 400 for the boxes
  frame.height = 216;  // 200
  frame.begin = Seconds(100);
  frame.end = Seconds(200);
  return frame;
}

NodeInspection TwoGpus() {
  NodeInspection node;
  node.figures.gpus = 2;
  node.slots = {Slot("a", 0, 4, 4, 50, 150), Slot("b", 1, 0, 1, 120, 160),
                Slot("early", 0, 0, 4, 10, 90)};
  return node;
}

std::vector<std::string> TextsOf(const DrawList& list) {
  std::vector<std::string> texts;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const view::TextItem& text : list.texts(item)) texts.push_back(text.text);
  }
  return texts;
}

bool HasText(const DrawList& list, absl::string_view wanted) {
  const std::vector<std::string> texts = TextsOf(list);
  return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

TEST(GanttTest, PlacesABoxByTimeGpuAndSlices) {
  const GanttPicture picture = DrawGantt(TwoGpus(), Profiles(), Frame());
  EXPECT_EQ(picture.area, (Rect{42, 0, 400, 200}));
  ASSERT_EQ(picture.boxes.size(), 2u);
  // Slices 4 to 7 of GPU 0: the lower half of its row, which is 88 pixels and a gap of 12 high.
  // From the left edge, because it began before, to half of the width.
  EXPECT_EQ(picture.boxes[0].rect, (Rect{42, 44, 199, 43}));
  EXPECT_EQ(picture.boxes[0].slot, 0u);
  EXPECT_EQ(picture.boxes[1].rect, (Rect{122, 100, 159, 10}));
  EXPECT_EQ(picture.boxes[1].slot, 1u);
  EXPECT_EQ(picture.SlotAt({60, 60}), 0u);
  EXPECT_EQ(picture.SlotAt({60, 40}), std::nullopt);
  EXPECT_TRUE(HasText(picture.list, "GPU 1"));
  EXPECT_TRUE(HasText(picture.list, "a 3g.40gb"));
  // Too low for a text.
  EXPECT_FALSE(HasText(picture.list, "b 1g.10gb"));
}

TEST(GanttTest, ColoursBoxesByProfile) {
  const GanttPicture picture = DrawGantt(TwoGpus(), Profiles(), Frame());
  const view::Theme& theme = view::ThemeOf(view::ThemeKind::kDark);
  std::vector<std::string> found;
  for (const DrawItem& item : picture.list.items()) {
    if (item.kind != DrawKind::kFills) continue;
    for (const Rect& rect : picture.list.rects(item)) {
      for (size_t b = 0; b < picture.boxes.size(); ++b) {
        if (rect != picture.boxes[b].rect) continue;
        // The smaller profile is the first step, the larger one the second.
        EXPECT_EQ(item.ink.colour, view::StepColour(theme, b == 0 ? 1 : 0, 2));
        found.push_back(absl::StrCat(b));
      }
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"0", "1"}));
}

TEST(GanttTest, ManyShortSlotsOfOnePlaceShareAPixel) {
  NodeInspection node;
  node.figures.gpus = 1;
  for (int i = 0; i < 10'000; ++i) {
    NodeSlot slot = Slot("p", 0, 0, 4, 0, 0);
    slot.from = Seconds(100) + SimDuration(i * (100 * kSecondNs / 10'000));
    slot.to = slot.from;
    node.slots.push_back(slot);
  }
  // One at the same time in another place must stay in sight.
  NodeSlot other = Slot("other", 0, 4, 4, 150, 150);
  node.slots.push_back(other);
  const GanttPicture picture = DrawGantt(node, Profiles(), Frame());
  EXPECT_LE(picture.boxes.size(), 410u);
  EXPECT_GE(picture.boxes.size(), 390u);
  EXPECT_EQ(picture.boxes.back().slot, 10'000u);
  EXPECT_EQ(picture.boxes.back().rect.width, 1);
}

TEST(GanttTest, CursorDimsWhatIsLaterAndOutlinesThePod) {
  const NodeInspection node = TwoGpus();
  const GanttPicture picture = DrawGantt(node, Profiles(), Frame());
  DrawList list;
  view::DrawGanttCursor(node, picture, Frame(), Seconds(125), "b", &list);
  ASSERT_EQ(list.items().size(), 3u);
  EXPECT_EQ(list.rects(list.items()[0])[0], (Rect{142, 0, 300, 200}));
  EXPECT_LT(list.items()[0].ink.alpha, 255);
  EXPECT_EQ(list.items()[1].kind, DrawKind::kOutlines);
  EXPECT_EQ(list.rects(list.items()[1])[0], picture.boxes[1].rect);
  EXPECT_EQ(list.points(list.items()[2])[0].x, 142);
  list.Clear();
  // Before the window: everything is later, and there is no line.
  view::DrawGanttCursor(node, picture, Frame(), Seconds(50), "", &list);
  ASSERT_EQ(list.items().size(), 1u);
  EXPECT_EQ(list.rects(list.items()[0])[0], picture.area);
  list.Clear();
  view::DrawGanttCursor(node, picture, Frame(), Seconds(250), "", &list);
  EXPECT_TRUE(list.empty());
}

TEST(GanttTest, CountsRecordsWhereTheRunHasNoClock) {
  GanttFrame frame = Frame();
  frame.begin = SimTime();
  frame.end = SimTime(4000);
  frame.by_record = true;
  const GanttPicture picture = DrawGantt(TwoGpus(), Profiles(), frame);
  EXPECT_TRUE(HasText(picture.list, "2,000"));
}

TEST(GanttTest, FooterOfNodesWithAndWithoutMig) {
  view::NodeTableRow node;
  node.gpus = 8;
  node.gpu_milli = 2500;
  node.cpu_milli_capacity = 128'000;
  node.pods = 1;
  EXPECT_EQ(view::NodeFooterText(node), "2.50 of 8 GPUs allocated · CPU 0 of 128 · 1 pod");
  node.slices.slices = 64;
  node.slices.held = 48;
  node.slices.stranded = 3;
  node.pods = 33;
  node.state = view::NodeState::kCordoned;
  EXPECT_EQ(view::NodeFooterText(node),
            "48 of 64 slices held · 3 stranded · CPU 0 of 128 · 33 pods · cordoned");
}

}  // namespace gantt_test
}  // namespace drasim
