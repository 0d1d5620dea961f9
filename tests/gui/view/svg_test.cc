#include "gui/view/svg.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/map_model.h"
#include "model/time.h"

namespace drasim::view {
namespace svg_test {

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

size_t CountOf(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string SvgOf(const DrawList& list, const SvgOptions& options) {
  const DrawList* lists[] = {&list};
  return SvgText(lists, options);
}

TEST(SvgTest, WritesEveryPrimitive) {
  DrawList list;
  Ink ink;
  ink.colour = Rgb{255, 0, 16};
  list.AddLine({0, 0.125F}, {10.5F, -3}, ink, 1.5F, /*dashed=*/true);
  ink.alpha = 51;
  ink.hatch = Hatch::kRising;
  list.AddRect({1, 2, 3, 4}, ink);
  list.AddRect({10, 2, 3, 4}, ink);
  ink.alpha = 255;
  ink.hatch = Hatch::kNone;
  list.AddOutline({20, 20, 10, 10}, ink, 2);
  list.AddText({5, 6}, Anchor::kEnd, TextSize::kStrong, Rgb{1, 2, 3}, "a < b & \"c\"");
  SvgOptions options;
  options.width = 400;
  options.height = 150;
  options.title = "Pods & nodes";
  options.id = "p1";
  EXPECT_EQ(SvgOf(list, options),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 150\" width=\"100%\" "
            "style=\"max-width:400px;height:auto;font-variant-numeric:tabular-nums\" role=\"img\" "
            "font-family=\"system-ui,sans-serif\">\n"
            "<title>Pods &amp; nodes</title>\n"
            "<pattern id=\"p1-hatch-1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
            "<path d=\"M0 6L6 0M-1 1L1 -1M5 7L7 5\" stroke=\"#ffffff\" stroke-width=\"1.5\"/>"
            "</pattern>\n"
            "<rect width=\"400\" height=\"150\" fill=\"#ffffff\"/>\n"
            "<polyline fill=\"none\" stroke=\"#ff0010\" stroke-width=\"1.5\" "
            "stroke-dasharray=\"4 3\" points=\"0,0.13 10.5,-3\"/>\n"
            "<path shape-rendering=\"crispEdges\" fill=\"#ff0010\" fill-opacity=\"0.2\" "
            "d=\"M1 2h3v4h-3zM10 2h3v4h-3z\"/>\n"
            "<path fill=\"url(#p1-hatch-1)\" d=\"M1 2h3v4h-3zM10 2h3v4h-3z\"/>\n"
            "<path fill=\"none\" stroke=\"#ff0010\" stroke-width=\"2\" d=\"M21 21h8v8h-8z\"/>\n"
            "<text x=\"5\" y=\"6\" dy=\".35em\" text-anchor=\"end\" font-size=\"13\" "
            "font-weight=\"600\" fill=\"#010203\">a &lt; b &amp; &quot;c&quot;</text>\n"
            "</svg>\n");
}

TEST(SvgTest, RoundsToHundredths) {
  DrawList list;
  list.AddLine({0.005F, 1.004F}, {-0.004F, 123456.789F}, Ink());
  list.AddLine({1.05F, 2.5F}, {std::numeric_limits<float>::infinity(), -1e30F}, Ink());
  const std::string svg = SvgOf(list, SvgOptions());
  // 123456.789 as a float is 123456.7891.
  EXPECT_TRUE(absl::StrContains(svg, "123456.79")) << svg;
  EXPECT_TRUE(absl::StrContains(svg, "points=\"1.05,2.5 10000000,-10000000\"")) << svg;
  EXPECT_FALSE(absl::StrContains(svg, "-0,")) << svg;
  EXPECT_FALSE(absl::StrContains(svg, "e+")) << svg;
}

TEST(SvgTest, EscapesNamesOfAnyKind) {
  EXPECT_EQ(XmlEscaped("pod-1"), "pod-1");
  EXPECT_EQ(XmlEscaped("</text><script>alert('x')</script>"),
            "&lt;/text&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
  EXPECT_EQ(XmlEscaped(absl::string_view("a\0b\x1b\tc\n", 7)), "a?b?\tc\n");
  EXPECT_EQ(XmlEscaped("Größe – ≥"), "Größe – ≥");
}

TEST(SvgTest, PlotsFitAPhone) {
  Pyramid data;
  for (int64_t i = 0; i < 50'000; ++i) data.Append(At(i), static_cast<double>(i % 97));
  PlotSpec spec;
  spec.title = "Pods waiting";
  spec.series.emplace_back();
  spec.series[0].name = "no room";
  spec.series[0].data = &data;
  spec.series[0].filled = true;
  PlotModel plot(spec);
  PlotFrame frame;
  frame.width = 400;
  frame.begin = At(0);
  frame.end = At(50'000);
  frame.theme = ThemeKind::kLight;
  const PlotPicture& picture = plot.Draw(frame, At(1000));
  const DrawList* lists[] = {&picture.base, &picture.overlay};
  SvgOptions options;
  options.width = frame.width;
  options.height = frame.height;
  const std::string svg = SvgText(lists, options);
  EXPECT_TRUE(absl::StartsWith(svg, "<svg "));
  EXPECT_TRUE(absl::EndsWith(svg, "</svg>\n"));
  EXPECT_TRUE(absl::StrContains(svg, "viewBox=\"0 0 400 200\""));
  EXPECT_TRUE(absl::StrContains(svg, ">Pods waiting</text>"));
  EXPECT_TRUE(absl::StrContains(svg, ">no room</text>"));
  EXPECT_EQ(CountOf(svg, "<text"), CountOf(svg, "</text>"));
  // Nothing is fetched: the only address is the name space.
  EXPECT_EQ(CountOf(svg, "http"), size_t{1});
  EXPECT_FALSE(absl::StrContains(svg, "nan"));
  // By pixel columns, not by samples.
  EXPECT_LT(svg.size(), size_t{60'000});
  PlotModel again(spec);
  const PlotPicture& same = again.Draw(frame, At(1000));
  const DrawList* same_lists[] = {&same.base, &same.overlay};
  EXPECT_EQ(SvgText(same_lists, options), svg);
}

TEST(SvgTest, WritesMapsWithTheirHatchings) {
  ClusterMapData data;
  data.profiles = {"1g.10gb"};
  MapNode node;
  node.name = "a<b";
  data.AddNode(node);
  MapGpu gpu;
  gpu.units = 8;
  gpu.stranded = 0b1100;
  data.AddGpu(gpu, {});
  ClusterMap map(&data);
  MapView view = map.Fit(400, 300);
  view.theme = ThemeKind::kLight;
  view.scale = 30;
  SvgOptions options;
  options.width = view.width;
  options.height = view.height;
  const std::string svg = SvgOf(map.Draw(view, nullptr), options);
  EXPECT_EQ(CountOf(svg, "<pattern "), size_t{1});
  EXPECT_EQ(CountOf(svg, "url(#drasim-hatch-1)"), size_t{1});
  EXPECT_TRUE(absl::StrContains(svg, "a&lt;b"));
}

TEST(SvgTest, WritesTheDataOfAPlot) {
  Pyramid a;
  a.Append(At(0), 1);
  a.Append(At(10), 2.5);
  a.Append(At(10), 3);
  a.Append(At(30), 4);
  Pyramid b;
  b.Append(At(10), 7);
  b.Append(At(99), 8);
  PlotSpec spec;
  spec.series.resize(2);
  spec.series[0].name = "handed out, %";
  spec.series[0].data = &a;
  spec.series[1].name = "the \"rest\"";
  spec.series[1].data = &b;
  spec.series[1].visible = false;
  EXPECT_EQ(PlotCsv(spec, At(0), At(50)),
            "time_s,\"handed out, %\",\"the \"\"rest\"\"\"\n"
            "0,1,\n"
            "10,2.5,7\n"
            "10,3,7\n"
            "30,4,7\n");
  EXPECT_EQ(PlotCsv(spec, At(20), At(30)),
            "time_s,\"handed out, %\",\"the \"\"rest\"\"\"\n"
            "20,3,7\n"
            "30,4,7\n");
  spec.series.clear();
  spec.bands.emplace_back();
  spec.bands[0].name = "wait";
  spec.bands[0].low = &b;
  spec.bands[0].high = &b;
  EXPECT_EQ(PlotCsv(spec, At(0), At(5)), "time_s,wait low,wait high\n0,,\n");
}

}  // namespace svg_test
}  // namespace drasim::view
