#include "gui/view/life_bar.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_pod.h"
#include "model/time.h"

namespace drasim {
namespace life_bar_test {

using view::DrawItem;
using view::DrawKind;
using view::DrawLifeBar;
using view::LifeBar;
using view::LifeBarFrame;
using view::LifeColumn;
using view::LifeMark;
using view::LifeSegment;
using view::PodInspection;
using view::Rect;

SimTime Seconds(int64_t seconds) { return SimTime(seconds * kSecondNs); }

void AddMark(LifeMark::Kind kind, int64_t seconds, PodInspection* pod) {
  LifeMark mark;
  mark.kind = kind;
  mark.time = Seconds(seconds);
  pod->marks.push_back(mark);
}

void AddSegment(LifeSegment::Kind kind, int64_t from, int64_t to, PodInspection* pod) {
  LifeSegment segment;
  segment.kind = kind;
  segment.from = Seconds(from);
  segment.to = Seconds(to);
  pod->segments.push_back(segment);
}

// Waits from 1,000 s on for 300 s, then runs for 100 s: a pixel per second.
PodInspection ShortLife() {
  PodInspection pod;
  pod.arrival = Seconds(1000);
  AddSegment(LifeSegment::Kind::kWaiting, 1000, 1300, &pod);
  AddSegment(LifeSegment::Kind::kRunning, 1300, 1400, &pod);
  AddMark(LifeMark::Kind::kArrived, 1000, &pod);
  AddMark(LifeMark::Kind::kNoNode, 1010, &pod);
  AddMark(LifeMark::Kind::kPlaced, 1200, &pod);
  AddMark(LifeMark::Kind::kTakenBack, 1200, &pod);
  AddMark(LifeMark::Kind::kNoNode, 1200, &pod);
  AddMark(LifeMark::Kind::kNoNode, 1200, &pod);
  AddMark(LifeMark::Kind::kBound, 1300, &pod);
  AddMark(LifeMark::Kind::kFinished, 1400, &pod);
  return pod;
}

LifeBarFrame Frame() {
  LifeBarFrame frame;
  frame.width = 400;
  return frame;
}

std::string LegendText(const LifeBar& bar) {
  std::string text;
  for (const view::LifeLegendRow& row : bar.legend) absl::StrAppend(&text, row.text, "; ");
  return text;
}

TEST(LifeBarTest, CountsAttemptsByOutcome) {
  const LifeBar bar = DrawLifeBar(ShortLife(), Frame());
  EXPECT_EQ(LegendText(bar),
            "1 placed, taken back; 3 found no node; 1 bound; finished; waiting for 5m; "
            "running for 1m40s; ");
}

TEST(LifeBarTest, MarksOfOneColumnShareItsHeight) {
  const LifeBar bar = DrawLifeBar(ShortLife(), Frame());
  ASSERT_EQ(bar.columns.size(), 4u);
  EXPECT_EQ(bar.columns[0].rect, (Rect{10, 0, 2, 16}));
  EXPECT_EQ(bar.columns[1].rect, (Rect{200, 0, 2, 16}));
  EXPECT_EQ(bar.columns[1].first, 3u);
  EXPECT_EQ(bar.columns[1].count, 3u);
  EXPECT_EQ(bar.columns[3].rect, (Rect{399, 0, 1, 16}));
  // A third of the column was taken back, the rest found no node.
  std::vector<Rect> parts;
  for (const DrawItem& item : bar.list.items()) {
    if (item.kind != DrawKind::kFills) continue;
    for (const Rect& rect : bar.list.rects(item)) {
      if (rect.x == 200) parts.push_back(rect);
    }
  }
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FLOAT_EQ(parts[0].height, 16.0F / 3);
  EXPECT_FLOAT_EQ(parts[1].y, 16.0F / 3);
  EXPECT_FLOAT_EQ(parts[1].height, 32.0F / 3);
}

TEST(LifeBarTest, SegmentsFollowEachOther) {
  const LifeBar bar = DrawLifeBar(ShortLife(), Frame());
  const DrawItem& waiting = bar.list.items()[0];
  const DrawItem& running = bar.list.items()[1];
  EXPECT_EQ(bar.list.rects(waiting)[0], (Rect{0, 0, 300, 16}));
  EXPECT_EQ(bar.list.rects(running)[0], (Rect{300, 0, 100, 16}));
  EXPECT_NE(waiting.ink, running.ink);
}

TEST(LifeBarTest, NoAttemptIsLostAmongThousands) {
  PodInspection pod;
  pod.arrival = Seconds(0);
  AddSegment(LifeSegment::Kind::kWaiting, 0, 100'000, &pod);
  for (int i = 0; i < 5000; ++i) AddMark(LifeMark::Kind::kNoNode, i * 20, &pod);
  AddMark(LifeMark::Kind::kEvicted, 99'990, &pod);
  const LifeBar bar = DrawLifeBar(pod, Frame());
  size_t marks = 0;
  for (const LifeColumn& column : bar.columns) {
    EXPECT_EQ(column.first, marks);
    marks += column.count;
    EXPECT_GE(column.rect.width, 1);
  }
  EXPECT_EQ(marks, 5001u);
  EXPECT_EQ(bar.columns.size(), 400u);
  EXPECT_EQ(LegendText(bar), "5,000 found no node; 1 evicted; waiting for 1d3h; ");
}

TEST(LifeBarTest, FindsTheNearestColumnWithinReach) {
  const LifeBar bar = DrawLifeBar(ShortLife(), Frame());
  EXPECT_EQ(bar.ColumnAt({201, 8}), 1u);
  EXPECT_EQ(bar.ColumnAt({198.5F, 8}), 1u);
  EXPECT_EQ(bar.ColumnAt({190, 8}), std::nullopt);
  EXPECT_EQ(bar.ColumnAt({201, 20}), std::nullopt);
}

TEST(LifeBarTest, TellsTheMarksOfAColumn) {
  PodInspection pod = ShortLife();
  pod.verdicts.resize(2);
  pod.verdicts[1].text = "no room";
  pod.marks[4].verdict = 1;
  const LifeBar bar = DrawLifeBar(pod, Frame());
  EXPECT_EQ(view::LifeColumnText(pod, bar.columns[1], false),
            "20m taken back\n20m found no node: no room\n20m found no node: ");
  LifeColumn many;
  many.count = pod.marks.size();
  pod.marks.resize(10);
  many.count = 10;
  const std::string text = view::LifeColumnText(pod, many, true);
  EXPECT_NE(text.find("record 1,000,000,000,000 arrived\n"), std::string::npos);
  EXPECT_NE(text.find("\nand 2 more"), std::string::npos);
}

TEST(LifeBarTest, APodThatHasJustArrivedHasABar) {
  PodInspection pod;
  pod.arrival = Seconds(5);
  AddSegment(LifeSegment::Kind::kWaiting, 5, 5, &pod);
  AddMark(LifeMark::Kind::kArrived, 5, &pod);
  const LifeBar bar = DrawLifeBar(pod, Frame());
  EXPECT_TRUE(bar.columns.empty());
  EXPECT_EQ(LegendText(bar), "");
  EXPECT_GT(bar.height, 16);
}

}  // namespace life_bar_test
}  // namespace drasim
