#include "gui/view/plot_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace plot_model_test {

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

// Values at whole seconds.
Pyramid SeriesOf(const std::vector<std::pair<int64_t, double>>& samples) {
  Pyramid pyramid;
  for (const auto& sample : samples) pyramid.Append(At(sample.first), sample.second);
  return pyramid;
}

PlotSeries Series(const std::string& name, const Pyramid* data, uint8_t red) {
  PlotSeries series;
  series.name = name;
  series.data = data;
  series.ink.colour = Rgb{red, 0, 0};
  return series;
}

PlotFrame Frame(int64_t begin_s, int64_t end_s) {
  PlotFrame frame;
  frame.begin = At(begin_s);
  frame.end = At(end_s);
  return frame;
}

// All points of the polylines of a colour.
std::vector<Point> LineOf(const DrawList& list, uint8_t red) {
  std::vector<Point> points;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kPolyline || item.ink.colour != Rgb{red, 0, 0}) continue;
    points.insert(points.end(), list.points(item).begin(), list.points(item).end());
  }
  return points;
}

// The highest and lowest edge of all fills of a colour and opacity in the column at x.
struct Extent {
  float top = 1e9F;
  float bottom = -1e9F;
};
Extent FillsAt(const DrawList& list, uint8_t red, float x, bool opaque) {
  Extent extent;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kFills || item.ink.colour != Rgb{red, 0, 0}) continue;
    if ((item.ink.alpha == 255) != opaque) continue;
    for (const Rect& rect : list.rects(item)) {
      if (x < rect.x || x >= rect.right()) continue;
      extent.top = std::min(extent.top, rect.y);
      extent.bottom = std::max(extent.bottom, rect.bottom());
    }
  }
  return extent;
}

bool HasText(const DrawList& list, const std::string& text) {
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const TextItem& found : list.texts(item)) {
      if (found.text == text) return true;
    }
  }
  return false;
}

// The y of a value on a linear axis.
float LinearY(const PlotPicture& picture, double value) {
  const double way = (value - picture.low) / (picture.high - picture.low);
  return picture.area.bottom() - static_cast<float>(way) * picture.area.height;
}

TEST(PlotModelTest, StepsHoldUntilTheNextSample) {
  const Pyramid data = SeriesOf({{0, 2}, {40, 8}, {90, 4}});
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(20, 120), std::nullopt);
  EXPECT_EQ(picture.low, 0);
  EXPECT_GE(picture.high, 8);
  const std::vector<Point> line = LineOf(picture.base, 10);
  const float y2 = LinearY(picture, 2);
  const float y8 = LinearY(picture, 8);
  const float y4 = LinearY(picture, 4);
  const float x40 = picture.area.x + 0.2F * picture.area.width;
  const float x90 = picture.area.x + 0.7F * picture.area.width;
  const std::vector<Point> expected = {
      {picture.area.x, y2}, {x40, y2}, {x40, y8}, {x90, y8}, {x90, y4}, {picture.area.right(), y4}};
  ASSERT_EQ(line.size(), expected.size());
  for (size_t i = 0; i < line.size(); ++i) {
    EXPECT_NEAR(line[i].x, expected[i].x, 0.01) << i;
    EXPECT_NEAR(line[i].y, expected[i].y, 0.01) << i;
  }
}

TEST(PlotModelTest, LinesAreCutAtTheWindow) {
  const Pyramid data = SeriesOf({{0, 0}, {100, 10}});
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  spec.series[0].style = PlotStyle::kLinear;
  PlotModel plot(spec);
  // No sample lies inside.
  const PlotPicture& picture = plot.Draw(Frame(20, 60), std::nullopt);
  const std::vector<Point> line = LineOf(picture.base, 10);
  ASSERT_EQ(line.size(), size_t{2});
  EXPECT_NEAR(line[0].x, picture.area.x, 0.01);
  EXPECT_NEAR(line[0].y, LinearY(picture, 2), 0.01);
  EXPECT_NEAR(line[1].x, picture.area.right(), 0.01);
  EXPECT_NEAR(line[1].y, LinearY(picture, 6), 0.01);
  EXPECT_EQ(plot.ValueAt(LegendKind::kSeries, 0, At(50)), 5.0);
}

TEST(PlotModelTest, ASpikeOfOneSampleReachesItsHeight) {
  constexpr int64_t kSamples = 100'000;
  Pyramid data;
  for (int64_t i = 0; i < kSamples; ++i) data.Append(At(i), i == 54'321 ? 100 : 1);
  for (const bool filled : {false, true}) {
    PlotSpec spec;
    spec.series.push_back(Series("a", &data, 10));
    spec.series[0].filled = filled;
    PlotModel plot(spec);
    const PlotPicture& picture = plot.Draw(Frame(0, kSamples), std::nullopt);
    const float y100 = LinearY(picture, 100);
    const float x = plot.XOf(At(54'321));
    if (filled) {
      // The spike is translucent over what the whole column holds.
      EXPECT_NEAR(FillsAt(picture.base, 10, x, /*opaque=*/false).top, y100, 0.01);
      EXPECT_NEAR(FillsAt(picture.base, 10, x, /*opaque=*/true).top, LinearY(picture, 1), 0.01);
      continue;
    }
    const std::vector<Point> line = LineOf(picture.base, 10);
    EXPECT_LT(line.size(), size_t{10'000});
    size_t at_top = 0;
    for (const Point& point : line) {
      if (point.y > y100 + 0.01F) continue;
      ++at_top;
      EXPECT_NEAR(point.x, x, 1);
    }
    EXPECT_EQ(at_top, size_t{1});
  }
}

TEST(PlotModelTest, EveryColumnShowsWhatAFullScanFinds) {
  Random random(13, "columns");
  for (const int64_t samples : {5, 300, 20'000}) {
    Pyramid data;
    std::vector<std::pair<int64_t, double>> scan;
    int64_t ns = 0;
    for (int64_t i = 0; i < samples; ++i) {
      ns += static_cast<int64_t>(random.Below(2'000'000));
      const auto value = static_cast<double>(1 + random.Below(999));
      data.Append(SimTime(ns), value);
      scan.emplace_back(ns, value);
    }
    PlotSpec spec;
    spec.high = 1000;
    spec.series.push_back(Series("a", &data, 10));
    spec.series[0].filled = true;
    PlotModel plot(spec);
    PlotFrame frame;
    frame.begin = SimTime(ns / 5);
    frame.end = SimTime(ns / 5 * 4);
    const PlotPicture& picture = plot.Draw(frame, std::nullopt);
    const auto columns = static_cast<int64_t>(picture.area.width);
    const double span = static_cast<double>(frame.end.ns() - frame.begin.ns());
    for (int64_t c = 0; c + 1 < columns; ++c) {
      const auto edge = [&](int64_t column) {
        return frame.begin.ns() + static_cast<int64_t>(span * static_cast<double>(column) /
                                                       static_cast<double>(columns));
      };
      // The value that holds at the column's begin, and all samples up to its end.
      double low = 1e9;
      double high = -1;
      double before = -1;
      for (const auto& sample : scan) {
        if (sample.first <= edge(c)) before = sample.second;
        if (sample.first < edge(c) || sample.first >= edge(c + 1)) continue;
        low = std::min(low, sample.second);
        high = std::max(high, sample.second);
      }
      if (before >= 0) {
        low = std::min(low, before);
        high = std::max(high, before);
      }
      const float x = picture.area.x + (static_cast<float>(c) + 0.5F) * picture.area.width /
                                           static_cast<float>(columns);
      const Extent solid = FillsAt(picture.base, 10, x, /*opaque=*/true);
      const Extent range = FillsAt(picture.base, 10, x, /*opaque=*/false);
      if (high < 0) {
        ASSERT_GT(solid.top, 1e8F) << "column " << c;
        continue;
      }
      const float top = std::min(solid.top, range.top);
      ASSERT_NEAR(top, LinearY(picture, high), 0.01) << samples << " samples, column " << c;
      const float bottom = std::min(solid.top, picture.area.bottom());
      ASSERT_NEAR(bottom, LinearY(picture, low), 0.01) << samples << " samples, column " << c;
    }
  }
}

TEST(PlotModelTest, StacksAddUpAtEveryInstant) {
  Random random(5, "stack");
  std::vector<Pyramid> parts(3);
  for (size_t p = 0; p < parts.size(); ++p) {
    int64_t ns = static_cast<int64_t>(p) * 40;
    for (int i = 0; i < 200; ++i) {
      ns += static_cast<int64_t>(random.Below(5));
      parts[p].Append(SimTime(ns), static_cast<double>(random.Below(100)));
    }
  }
  const std::vector<const Pyramid*> pointers = {&parts[0], &parts[1], &parts[2]};
  std::vector<SimTime> edges;
  for (const int64_t edge : {0, 7, 7, 20, 33, 60, 100, 250, 260, 400, 1000}) {
    edges.push_back(SimTime(edge));
  }
  const std::vector<std::vector<ColumnSpan>> exact = StackColumns(pointers, edges, 600);
  const std::vector<std::vector<ColumnSpan>> bounds = StackColumns(pointers, edges, 0);
  ASSERT_EQ(exact.size(), size_t{3});
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    for (size_t p = 0; p < parts.size(); ++p) {
      double low = 1e9;
      double high = -1e9;
      double last = 0;
      for (int64_t ns = edges[i].ns(); ns < edges[i + 1].ns(); ++ns) {
        double sum = 0;
        bool begun = false;
        for (size_t below = 0; below <= p; ++below) {
          const std::optional<double> value = parts[below].ValueAt(SimTime(ns));
          begun = begun || value.has_value();
          sum += value.value_or(0);
        }
        if (!begun) continue;
        low = std::min(low, sum);
        high = std::max(high, sum);
        last = sum;
      }
      const ColumnSpan& span = exact[p][i];
      ASSERT_EQ(span.valid, high >= 0) << "part " << p << ", column " << i;
      if (!span.valid) continue;
      EXPECT_EQ(span.low, low) << "part " << p << ", column " << i;
      EXPECT_EQ(span.high, high) << "part " << p << ", column " << i;
      EXPECT_EQ(span.last, last) << "part " << p << ", column " << i;
      // The bounds drawn for many samples hide no spike, and agree at the column's end.
      EXPECT_TRUE(bounds[p][i].valid);
      EXPECT_LE(bounds[p][i].low, low);
      EXPECT_GE(bounds[p][i].high, high);
      EXPECT_EQ(bounds[p][i].last, last);
    }
  }
}

TEST(PlotModelTest, MovesBetweenPartsOfAStackLeaveNoSpike) {
  const Pyramid waiting = SeriesOf({{0, 10}, {50, 0}});
  const Pyramid placed = SeriesOf({{0, 0}, {50, 10}});
  const std::vector<SimTime> edges = {At(0), At(100)};
  const std::vector<std::vector<ColumnSpan>> borders = StackColumns({&waiting, &placed}, edges, 4);
  EXPECT_EQ(borders[1][0].low, 10);
  EXPECT_EQ(borders[1][0].high, 10);
  EXPECT_EQ(borders[0][0].low, 0);
}

TEST(PlotModelTest, ASpikeInAStackOfManySamplesReachesItsHeight) {
  constexpr int64_t kSamples = 100'000;
  Pyramid lower;
  Pyramid upper;
  for (int64_t i = 0; i < kSamples; ++i) {
    lower.Append(At(i), 2);
    upper.Append(At(i), i == 54'321 ? 100 : 1);
  }
  PlotSpec spec;
  spec.stacked = true;
  spec.series.push_back(Series("lower", &lower, 10));
  spec.series.push_back(Series("upper", &upper, 20));
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(0, kSamples), std::nullopt);
  const float x = plot.XOf(At(54'321));
  EXPECT_NEAR(FillsAt(picture.base, 20, x, /*opaque=*/false).top, LinearY(picture, 102), 0.01);
  EXPECT_NEAR(FillsAt(picture.base, 20, x, /*opaque=*/true).top, LinearY(picture, 3), 0.01);
  EXPECT_NEAR(FillsAt(picture.base, 10, x, /*opaque=*/true).top, LinearY(picture, 2), 0.01);
}

TEST(PlotModelTest, ShowsMarkersAndReplacedData) {
  Pyramid data = SeriesOf({{0, 10}});
  PlotSpec spec;
  spec.high = 50;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  plot.Draw(Frame(0, 100), std::nullopt);
  PlotMarker marker;
  marker.time = At(20);
  marker.label = "node fails";
  plot.SetMarkers({marker});
  EXPECT_TRUE(HasText(plot.Draw(Frame(0, 100), std::nullopt).base, "node fails"));
  data = SeriesOf({{0, 40}});
  const PlotPicture& before = plot.Draw(Frame(0, 100), std::nullopt);
  EXPECT_NEAR(LineOf(before.base, 10)[0].y, LinearY(before, 10), 0.01);
  plot.Refresh();
  const PlotPicture& after = plot.Draw(Frame(0, 100), std::nullopt);
  EXPECT_NEAR(LineOf(after.base, 10)[0].y, LinearY(after, 40), 0.01);
}

TEST(PlotModelTest, HiddenSeriesLeaveNoGapInAStack) {
  const Pyramid lower = SeriesOf({{0, 10}});
  const Pyramid upper = SeriesOf({{0, 30}});
  PlotSpec spec;
  spec.stacked = true;
  spec.high = 50;
  spec.series.push_back(Series("lower", &lower, 10));
  spec.series.push_back(Series("upper", &upper, 20));
  PlotModel plot(spec);
  const PlotPicture* picture = &plot.Draw(Frame(0, 100), At(50));
  const float x = picture->area.x + 100;
  EXPECT_NEAR(FillsAt(picture->base, 20, x, true).top, LinearY(*picture, 40), 0.01);
  EXPECT_NEAR(FillsAt(picture->base, 10, x, true).top, LinearY(*picture, 10), 0.01);
  // As in the picture, the upper layer leads the legend.
  ASSERT_EQ(picture->legend.size(), size_t{2});
  EXPECT_EQ(picture->legend[0].name, "upper");
  EXPECT_EQ(picture->legend[0].value, "30");
  EXPECT_EQ(picture->legend[1].value, "10");

  const Rect box = picture->legend[1].box;
  const std::optional<size_t> row = plot.LegendAt({box.x + 1, box.y + 1});
  ASSERT_EQ(row, size_t{1});
  plot.Toggle(picture->legend[*row].kind, picture->legend[*row].index);
  picture = &plot.Draw(Frame(0, 100), At(50));
  EXPECT_FALSE(picture->legend[1].visible);
  EXPECT_NEAR(FillsAt(picture->base, 20, x, true).top, LinearY(*picture, 30), 0.01);
  EXPECT_GT(FillsAt(picture->base, 10, x, true).top, 1e8F);
}

TEST(PlotModelTest, ShadesTheDifferenceOfTwoRuns) {
  const Pyramid a = SeriesOf({{0, 10}});
  const Pyramid b = SeriesOf({{0, 10}, {50, 40}});
  PlotSpec spec;
  spec.unit = Unit::kCount;
  spec.high = 50;
  spec.series.push_back(Series("A", &a, 10));
  spec.series.push_back(Series("B", &b, 20));
  spec.differences.emplace_back();
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(0, 100), At(70));
  const float x25 = picture.area.x + 0.25F * picture.area.width;
  const float x75 = picture.area.x + 0.75F * picture.area.width;
  EXPECT_GT(FillsAt(picture.base, 20, x25, false).top, 1e8F);
  const Extent shaded = FillsAt(picture.base, 20, x75, false);
  EXPECT_NEAR(shaded.top, LinearY(picture, 40), 0.01);
  EXPECT_NEAR(shaded.bottom, LinearY(picture, 10), 0.01);
  ASSERT_EQ(picture.legend.size(), size_t{3});
  EXPECT_EQ(picture.legend[0].value, "10");
  EXPECT_EQ(picture.legend[1].value, "40");
  EXPECT_EQ(picture.legend[2].kind, LegendKind::kDifference);
  EXPECT_EQ(picture.legend[2].value, "+30");
}

TEST(PlotModelTest, BandsLieBetweenTheirBorders) {
  const Pyramid p5 = SeriesOf({{0, 10}, {50, 20}});
  const Pyramid p95 = SeriesOf({{0, 40}});
  PlotSpec spec;
  spec.high = 50;
  spec.bands.emplace_back();
  spec.bands[0].name = "p5 to p95";
  spec.bands[0].low = &p5;
  spec.bands[0].high = &p95;
  spec.bands[0].ink.colour = Rgb{30, 0, 0};
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(0, 100), At(70));
  const float x75 = picture.area.x + 0.75F * picture.area.width;
  const Extent band = FillsAt(picture.base, 30, x75, false);
  EXPECT_NEAR(band.top, LinearY(picture, 40), 0.01);
  EXPECT_NEAR(band.bottom, LinearY(picture, 20), 0.01);
  EXPECT_EQ(picture.legend[0].value, "20–40");
}

TEST(PlotModelTest, GoesByArrivedLoad) {
  // Load reaches 50 % after 10 s and 100 % after 100 s.
  const Pyramid load = SeriesOf({{0, 0}, {10, 50}, {100, 100}});
  const Pyramid data = SeriesOf({{0, 1}, {10, 5}, {60, 3}});
  PlotSpec spec;
  spec.load = &load;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  PlotFrame frame = Frame(0, 100);
  frame.x = PlotX::kLoad;
  const PlotPicture& picture = plot.Draw(frame, std::nullopt);
  EXPECT_NEAR(plot.XOf(At(10)), picture.area.x + picture.area.width / 2, 0.01);
  EXPECT_NEAR(plot.XOf(At(60)), picture.area.x + picture.area.width / 2, 0.01);
  EXPECT_EQ(plot.TimeAt(picture.area.x + picture.area.width * 0.3F), At(10));
  EXPECT_EQ(plot.TimeAt(picture.area.right()), At(100));
  EXPECT_TRUE(HasText(picture.base, "by arrived load, %"));
  float top = picture.area.bottom();
  for (const Point& point : LineOf(picture.base, 10)) top = std::min(top, point.y);
  EXPECT_NEAR(top, LinearY(picture, 5), 0.01);
}

TEST(PlotModelTest, LogarithmicAxesSpaceDecadesEvenly) {
  const Pyramid data = SeriesOf({{0, 1}, {25, 10}, {50, 1000}, {75, 0}});
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  plot.SetLog(true);
  const PlotPicture& picture = plot.Draw(Frame(0, 100), std::nullopt);
  EXPECT_EQ(picture.low, 1);
  EXPECT_EQ(picture.high, 1000);
  const std::vector<Point> line = LineOf(picture.base, 10);
  ASSERT_EQ(line.size(), size_t{8});
  EXPECT_NEAR(line[2].y, picture.area.bottom() - picture.area.height / 3, 0.01);
  EXPECT_NEAR(line[4].y, picture.area.y, 0.01);
  EXPECT_NEAR(line[6].y, picture.area.bottom(), 0.01);  // zero stands at the lower edge
}

TEST(PlotModelTest, PlacesAndTimesAreInverse) {
  const Pyramid data = SeriesOf({{0, 1}});
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(100, 500), At(300));
  EXPECT_NEAR(plot.XOf(At(300)), picture.area.x + picture.area.width / 2, 0.01);
  EXPECT_EQ(plot.TimeAt(picture.area.x), At(100));
  EXPECT_EQ(plot.TimeAt(picture.area.right() + 50), At(500));
  EXPECT_EQ(plot.TimeAt(-50), At(100));
  for (int64_t s = 100; s <= 500; s += 7) {
    EXPECT_NEAR(plot.TimeAt(plot.XOf(At(s))).seconds(), static_cast<double>(s), 0.1);
  }
}

TEST(PlotModelTest, FollowsNewDataAndDrawsTheRestOnce) {
  Pyramid data = SeriesOf({{0, 1}});
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  PlotModel plot(spec);
  const PlotPicture& first = plot.Draw(Frame(0, 100), At(5));
  const size_t points = LineOf(first.base, 10).size();
  EXPECT_EQ(first.legend[0].value, "1");
  data.Append(At(50), 9);
  const PlotPicture& second = plot.Draw(Frame(0, 100), At(60));
  EXPECT_GT(LineOf(second.base, 10).size(), points);
  EXPECT_EQ(second.legend[0].value, "9");
}

TEST(PlotModelTest, ANarrowPlotHasItsLegendBelow) {
  const Pyramid data = SeriesOf({{0, 1}, {3600, 1500}});
  PlotSpec spec;
  spec.title = "Pods waiting";
  spec.series.push_back(Series("a pod that waits", &data, 10));
  PlotModel plot(spec);
  PlotFrame frame = Frame(0, 7200);
  frame.width = 1000;
  const PlotPicture* picture = &plot.Draw(frame, std::nullopt);
  EXPECT_GT(picture->legend[0].box.x, picture->area.right());
  frame.width = 400;
  picture = &plot.Draw(frame, std::nullopt);
  EXPECT_GT(picture->legend[0].box.y, picture->area.bottom());
  EXPECT_LE(picture->legend[0].box.bottom(), frame.height + 0.01F);
  EXPECT_GT(picture->area.width, 300);
  // Nothing leaves the picture.
  for (const DrawItem& item : picture->base.items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const TextItem& text : picture->base.texts(item)) {
      const float width = static_cast<float>(text.text.size()) * frame.char_width;
      const float left = text.anchor == Anchor::kStart    ? text.at.x
                         : text.anchor == Anchor::kMiddle ? text.at.x - width / 2
                                                          : text.at.x - width;
      EXPECT_GE(left, 0) << text.text;
      EXPECT_LE(left + width, frame.width + 0.01F) << text.text;
    }
  }
}

TEST(PlotModelTest, PlotsAboveEachOtherShareTheirMargins) {
  const Pyramid small = SeriesOf({{0, 1}, {50, 3}});
  const Pyramid large = SeriesOf({{0, 1'000'000}, {50, 3'000'000}});
  std::vector<Rect> areas;
  for (const Pyramid* data : {&small, &large}) {
    for (const bool stacked : {false, true}) {
      PlotSpec spec;
      spec.stacked = stacked;
      spec.series.push_back(Series(data == &small ? "a" : "a longer name", data, 10));
      PlotModel plot(spec);
      PlotFrame frame = Frame(0, 100);
      frame.left = 12 * frame.char_width;
      frame.legend = LegendWidth(13, frame);
      areas.push_back(plot.Draw(frame, std::nullopt).area);
    }
  }
  for (const Rect& area : areas) {
    EXPECT_EQ(area, areas[0]);
    EXPECT_EQ(area.x, 84);
  }
}

TEST(PlotModelTest, ALegendBelowHasItsHeight) {
  PlotFrame frame = Frame(0, 100);
  const float width = LegendWidth(10, frame);
  frame.width = 2.5F * width + 1;
  EXPECT_EQ(LegendHeight(3, width, frame), 0);
  frame.width = 2.5F * width - 1;
  EXPECT_EQ(LegendHeight(3, width, frame), 60);
  const Pyramid data = SeriesOf({{0, 1}});
  PlotSpec spec;
  spec.series.push_back(Series("ten chars.", &data, 10));
  PlotModel plot(spec);
  const float bottom = plot.Draw(frame, std::nullopt).area.bottom();
  frame.height += LegendHeight(1, width, frame);
  EXPECT_EQ(plot.Draw(frame, std::nullopt).area.bottom(), bottom + 20);
}

TEST(PlotModelTest, EmptyDataGiveAnEmptyPlot) {
  const Pyramid data;
  PlotSpec spec;
  spec.series.push_back(Series("a", &data, 10));
  spec.series.push_back(Series("b", &data, 20));
  spec.series[1].filled = true;
  spec.series[1].style = PlotStyle::kLinear;
  spec.differences.emplace_back();
  PlotModel plot(spec);
  const PlotPicture& picture = plot.Draw(Frame(0, 100), At(5));
  EXPECT_TRUE(LineOf(picture.base, 10).empty());
  EXPECT_EQ(picture.low, 0);
  EXPECT_EQ(picture.high, 1);
  EXPECT_EQ(picture.legend[0].value, "");
}

}  // namespace plot_model_test
}  // namespace drasim::view
