// One plot as primitives: series, stacks and bands over time or arrived load, axes, legend, cursor.
//
// Every pixel column shows the smallest and the largest value inside it, so no spike is lost.
// Drawing reads O(columns x log samples) per series, and nothing at all when neither the frame nor
// the data changed.
//
//   PlotSpec spec;
//   spec.title = "Pods waiting";
//   spec.series.emplace_back();
//   spec.series[0].name = "no room";
//   spec.series[0].data = &pyramid;
//   PlotModel plot(spec);
//   const PlotPicture& picture = plot.Draw(frame);   // then paint picture.base and picture.overlay
//
// The pyramids must outlive the model. One thread at a time.
#ifndef DRASIM_GUI_VIEW_PLOT_MODEL_H_
#define DRASIM_GUI_VIEW_PLOT_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "gui/view/pyramid.h"
#include "gui/view/ticks.h"
#include "gui/view/unit_text.h"
#include "model/time.h"

namespace drasim::view {

enum class PlotStyle : uint8_t {
  kSteps,   // a value holds until the next sample
  kLinear,  // straight lines between samples
};

struct PlotSeries {
  std::string name;
  const Pyramid* data = nullptr;
  Ink ink = {};
  PlotStyle style = PlotStyle::kSteps;
  bool visible = true;
  bool filled = false;  // down to zero
};

// The area between two series of steps, such as the 5th and the 95th percentile.
struct PlotBand {
  std::string name;
  const Pyramid* low = nullptr;
  const Pyramid* high = nullptr;
  Ink ink = {};
  bool visible = true;
};

// Two series of the plot, by index, whose difference is shaded: run A and run B.
struct PlotDifference {
  size_t a = 0;
  size_t b = 1;
};

// A vertical line: a bookmark, a divergence, the failure of a node.
struct PlotMarker {
  SimTime time;
  std::string label;
  Rgb colour = {};
  bool operator==(const PlotMarker&) const = default;
};

struct PlotSpec {
  std::string title;
  std::string subtitle;
  Unit unit = Unit::kCount;
  bool log = false;
  // Series stand on each other in their order, as steps and filled; hidden ones leave no gap.
  bool stacked = false;
  std::optional<double> high = std::nullopt;  // top of the axis; absent: by the data in sight
  std::vector<PlotSeries> series = {};
  std::vector<PlotBand> bands = {};
  std::vector<PlotDifference> differences = {};
  std::vector<PlotMarker> markers = {};
  const Pyramid* load = nullptr;  // arrived load in per cent; never decreases
};

enum class PlotX : uint8_t { kTime, kLoad };

// Place and window of a plot.
struct PlotFrame {
  float width = 800;
  float height = 200;
  float char_width = 7;  // of the small text, for margins
  float line_height = 16;
  // At least this wide, so that plots above each other share one axis of time: labels of the values
  // at the left, and the legend beside the area.
  float left = 0;
  float legend = 0;
  SimTime begin;
  SimTime end;  // still inside the window
  PlotX x = PlotX::kTime;
  ThemeKind theme = ThemeKind::kDark;
  bool operator==(const PlotFrame&) const = default;
};

// The width of a legend beside the area whose longest name has `longest_name` bytes.
float LegendWidth(size_t longest_name, const PlotFrame& frame);
// The height of a legend below the area, where a narrow frame, such as that of a phone, has it; 0
// for one beside the area.
float LegendHeight(size_t rows, float legend_width, const PlotFrame& frame);

enum class LegendKind : uint8_t { kSeries, kBand, kDifference };

struct LegendRow {
  LegendKind kind = LegendKind::kSeries;
  size_t index = 0;  // into the series, bands or differences of the spec
  std::string name;
  std::string value;  // at the cursor; may be empty
  bool visible = true;
  Rect box;  // to be clicked on
};

struct PlotPicture {
  DrawList base;     // axes, title, data, markers
  DrawList overlay;  // legend, cursor
  Rect area;         // of the data
  double low = 0;    // of the axis of values
  double high = 1;
  std::vector<LegendRow> legend;
};

// Lowest and highest value in a pixel column, and the one at its end.
struct ColumnSpan {
  double low = 0;
  double high = 0;
  double last = 0;
  bool valid = false;
};

// The borders of a stack of series of steps, column by column: border p is the sum of parts 0 to p;
// a part counts from its first sample on. With at most `exact_samples` samples between the edges
// the extremes of the sums are exact: samples of one instant are taken together. With more of them
// they are bounds, the sums of the parts' extremes, in O(columns x parts x log samples).
// REQUIRES: edges as for Pyramid::QueryColumns.
std::vector<std::vector<ColumnSpan>> StackColumns(absl::Span<const Pyramid* const> parts,
                                                  absl::Span<const SimTime> edges,
                                                  size_t exact_samples);

class PlotModel {
 public:
  // REQUIRES: every pointer to data is set; differences name series.
  explicit PlotModel(PlotSpec spec);

  const PlotSpec& spec() const { return spec_; }
  // The picture drawn last; without a legend before the first Draw.
  const PlotPicture& picture() const { return picture_; }
  // Shows or hides a row of the legend. A difference hides and shows both its series.
  void Toggle(LegendKind kind, size_t index);
  void SetLog(bool log);
  void SetMarkers(std::vector<PlotMarker> markers);
  // To be called after data were replaced. Samples that were appended are noticed anyway.
  void Refresh() { stale_ = true; }

  // The picture for a frame and a cursor; valid until the next call.
  // REQUIRES: 0 <= frame.begin < frame.end; with PlotX::kLoad the spec has a load.
  const PlotPicture& Draw(const PlotFrame& frame, std::optional<SimTime> cursor);

  // Places in the frame drawn last. Outside of the area the nearest edge counts.
  float XOf(SimTime time) const;
  SimTime TimeAt(float x) const;
  // The row of the legend at a point of the picture drawn last.
  std::optional<size_t> LegendAt(Point point) const;

  // The value of a row of the legend at an instant; absent before the first sample.
  std::optional<double> ValueAt(LegendKind kind, size_t index, SimTime time) const;

 private:
  std::vector<size_t> DataSizes() const;
  void BuildBase();
  void BuildOverlay(std::optional<SimTime> cursor);
  void ListLegend();
  void PlaceLegend(float left, float top, float width);
  void SetEdges(size_t columns);
  TickScale ValueScale(int max_ticks) const;
  void DrawAxes(const TickScale& scale);
  std::vector<ColumnSpan> Columns(const Pyramid& data, PlotStyle style) const;
  // Fills from zero to what all samples of a column reach, and translucently on to its extremes.
  void FillLayer(const std::vector<ColumnSpan>& spans, const Ink& ink);
  void FillBetween(const std::vector<Rect>& columns, const Ink& ink);
  void DrawBand(const PlotBand& band);
  void DrawDifference(const PlotDifference& difference);
  void DrawLine(const PlotSeries& series);
  void DrawExactLine(const PlotSeries& series, size_t first, size_t end);
  void DrawMarkers();
  float YOf(double value) const;
  double LoadAt(SimTime time) const;

  PlotSpec spec_;

  PlotFrame frame_;
  std::optional<SimTime> cursor_;
  std::vector<size_t> sizes_;  // of the data drawn last
  bool stale_ = true;
  PlotPicture picture_;
  std::vector<SimTime> edges_;                  // of the pixel columns
  std::vector<std::vector<ColumnSpan>> stack_;  // borders of the visible series
  double load_low_ = 0;
  double load_high_ = 1;
  std::vector<Point> points_;
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_PLOT_MODEL_H_
