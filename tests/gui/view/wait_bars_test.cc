#include "gui/view/wait_bars.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace drasim::view {
namespace wait_bars_test {

WaitBar Bar(const std::string& wants, std::optional<double> a, std::optional<double> b) {
  WaitBar bar;
  bar.wants = wants;
  bar.a = a;
  bar.b = b;
  return bar;
}

std::vector<Rect> FillsOf(const DrawList& list, Rgb colour) {
  std::vector<Rect> fills;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kFills || item.ink.colour != colour) continue;
    fills.insert(fills.end(), list.rects(item).begin(), list.rects(item).end());
  }
  return fills;
}

std::vector<std::string> TextsOf(const DrawList& list, Anchor anchor) {
  std::vector<std::string> texts;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const TextItem& text : list.texts(item)) {
      if (text.anchor == anchor) texts.push_back(text.text);
    }
  }
  return texts;
}

TEST(WaitBarsTest, EqualRatiosHaveEqualLengths) {
  const std::vector<WaitBar> bars = {Bar("7g.80gb", 100, 10'000), Bar("1g.10gb", 10, 1'000)};
  const WaitBarsPicture picture = DrawWaitBars(bars, 900, 7, 16, ThemeKind::kLight);
  const Theme& theme = ThemeOf(ThemeKind::kLight);
  const std::vector<Rect> a = FillsOf(picture.list, theme.categories[0]);
  const std::vector<Rect> b = FillsOf(picture.list, theme.categories[1]);
  ASSERT_EQ(a.size(), size_t{2});
  ASSERT_EQ(b.size(), size_t{2});
  EXPECT_NEAR(b[0].width - a[0].width, b[1].width - a[1].width, 0.1);
  EXPECT_NEAR(a[0].width - a[1].width, (b[0].width - a[0].width) / 2, 0.1);
  EXPECT_GT(b[0].width - a[0].width, 100);
  // B stands below A, both in the row's box.
  ASSERT_EQ(picture.boxes.size(), size_t{2});
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(b[i].y, a[i].bottom());
    EXPECT_GE(a[i].y, picture.boxes[i].y);
    EXPECT_LE(b[i].bottom(), picture.boxes[i].bottom());
  }
  EXPECT_EQ(picture.boxes[1].bottom(), picture.height);
  EXPECT_EQ(
      TextsOf(picture.list, Anchor::kEnd),
      (std::vector<std::string>{"7g.80gb", "1m40s → 2h46m ×100", "1g.10gb", "10s → 16m40s ×100"}));
}

TEST(WaitBarsTest, RunsWithoutAStartHaveNoBar) {
  const std::vector<WaitBar> bars = {Bar("a", std::nullopt, 7), Bar("b", 0, 3), Bar("c", 2, 3)};
  const WaitBarsPicture picture = DrawWaitBars(bars, 900, 7, 16, ThemeKind::kDark);
  const Theme& theme = ThemeOf(ThemeKind::kDark);
  const std::vector<Rect> a = FillsOf(picture.list, theme.categories[0]);
  ASSERT_EQ(a.size(), size_t{2});
  EXPECT_EQ(a[0].width, 1);  // no wait at all still shows
  EXPECT_EQ(FillsOf(picture.list, theme.categories[1]).size(), size_t{3});
  EXPECT_EQ(TextsOf(picture.list, Anchor::kEnd),
            (std::vector<std::string>{"a", "no start → 7s", "b", "0s → 3s", "c", "2s → 3s ×1.5"}));
}

TEST(WaitBarsTest, NothingToShowIsNoError) {
  EXPECT_TRUE(DrawWaitBars({}, 900, 7, 16, ThemeKind::kDark).boxes.empty());
  const WaitBarsPicture narrow =
      DrawWaitBars({Bar("x", std::nullopt, std::nullopt)}, 10, 7, 16, ThemeKind::kDark);
  EXPECT_EQ(narrow.boxes.size(), size_t{1});
}

}  // namespace wait_bars_test
}  // namespace drasim::view
