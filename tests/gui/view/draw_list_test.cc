#include "gui/view/draw_list.h"

#include <array>
#include <cstddef>

#include "gtest/gtest.h"
#include "gui/view/palette.h"

namespace drasim::view {
namespace draw_list_test {

Ink Red() {
  Ink ink;
  ink.colour = Rgb{200, 0, 0};
  return ink;
}

TEST(DrawListTest, NeighboursOfOneLookAreOneItem) {
  DrawList list;
  list.AddRect({0, 0, 10, 10}, Red());
  list.AddRect({10, 0, 10, 10}, Red());
  Ink hatched = Red();
  hatched.hatch = Hatch::kRising;
  list.AddRect({20, 0, 10, 10}, hatched);
  list.AddOutline({20, 0, 10, 10}, hatched);
  list.AddOutline({20, 0, 10, 10}, hatched, 2);
  ASSERT_EQ(list.items().size(), size_t{4});
  EXPECT_EQ(list.items()[0].count, 2U);
  EXPECT_EQ(list.rects(list.items()[0])[1], (Rect{10, 0, 10, 10}));
  EXPECT_EQ(list.items()[1].ink.hatch, Hatch::kRising);
  EXPECT_EQ(list.items()[2].kind, DrawKind::kOutlines);
  EXPECT_EQ(list.items()[3].line_width, 2);
}

TEST(DrawListTest, LeavesOutWhatCannotBeSeen) {
  DrawList list;
  list.AddRect({0, 0, 0, 10}, Red());
  list.AddRect({0, 0, 10, -1}, Red());
  list.AddText({0, 0}, Anchor::kStart, TextSize::kSmall, Rgb{}, "");
  const std::array<Point, 1> point = {Point{1, 1}};
  list.AddPolyline(point, Red());
  EXPECT_TRUE(list.empty());
}

TEST(DrawListTest, KeepsOrderAndContents) {
  DrawList list;
  list.AddLine({1, 2}, {3, 4}, Red(), 1.5F, /*dashed=*/true);
  list.AddText({5, 6}, Anchor::kEnd, TextSize::kStrong, Rgb{1, 2, 3}, "a");
  list.AddText({7, 8}, Anchor::kMiddle, TextSize::kSmall, Rgb{4, 5, 6}, "b");
  ASSERT_EQ(list.items().size(), size_t{2});
  EXPECT_TRUE(list.items()[0].dashed);
  EXPECT_EQ(list.points(list.items()[0])[1], (Point{3, 4}));
  ASSERT_EQ(list.texts(list.items()[1]).size(), size_t{2});
  EXPECT_EQ(list.texts(list.items()[1])[0].text, "a");
  EXPECT_EQ(list.texts(list.items()[1])[1].colour, (Rgb{4, 5, 6}));
  list.Clear();
  EXPECT_TRUE(list.empty());
}

TEST(DrawListTest, RectanglesDoNotShareTheirEdges) {
  const Rect rect = {10, 20, 5, 5};
  EXPECT_TRUE(rect.Contains({10, 20}));
  EXPECT_TRUE(rect.Contains({14.9F, 24.9F}));
  EXPECT_FALSE(rect.Contains({15, 22}));
  EXPECT_FALSE(rect.Contains({12, 25}));
}

}  // namespace draw_list_test
}  // namespace drasim::view
