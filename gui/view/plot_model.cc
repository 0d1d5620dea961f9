#include "gui/view/plot_model.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim::view {
namespace {

constexpr uint8_t kRangeAlpha = 110;  // of what only a part of a column's samples reaches
constexpr uint8_t kBandAlpha = 80;
constexpr uint8_t kDifferenceAlpha = 70;
constexpr float kPadding = 6;

Ink WithAlpha(Ink ink, uint8_t alpha) {
  ink.alpha = alpha;
  return ink;
}

float LegendRowHeight(const PlotFrame& frame) { return frame.line_height * 1.25F; }

size_t ColumnsIn(float width) { return static_cast<size_t>(std::max(width, 1.0F)); }

// `time` plus one nanosecond, as far as that exists.
SimTime JustAfter(SimTime time) {
  return time.ns() == std::numeric_limits<int64_t>::max() ? time : SimTime(time.ns() + 1);
}

// On the line between the samples around `time`; `next` is the first sample at or after it. The
// ends of the data go on level.
double Interpolated(const Pyramid& data, size_t next, SimTime time) {
  if (next == data.size()) return data.value(next - 1);
  if (next == 0 || data.time(next) == time) return data.value(next);
  const auto span = static_cast<double>((data.time(next) - data.time(next - 1)).ns());
  const auto way = static_cast<double>((time - data.time(next - 1)).ns());
  return data.value(next - 1) + (data.value(next) - data.value(next - 1)) * (way / span);
}

}  // namespace

// --- The stack ---

namespace {

// For each column the samples and, from before, the value that holds at its begin.
std::vector<ColumnSpan> StepColumns(const Pyramid& data, absl::Span<const SimTime> edges) {
  std::vector<ColumnSpan> spans(edges.size() - 1);
  if (data.empty()) return spans;
  size_t next = data.LowerBound(edges[0]);
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t end = data.LowerBoundFrom(next, edges[i + 1]);
    ColumnSpan& span = spans[i];
    const bool holds = next > 0 && (next == end || data.time(next) > edges[i]);
    if (next < end) {
      const SampleSummary inside = data.QuerySamples(next, end);
      span = ColumnSpan{inside.min, inside.max, inside.last, true};
    }
    if (holds) {
      const double before = data.value(next - 1);
      if (span.valid) {
        span.low = std::min(span.low, before);
        span.high = std::max(span.high, before);
      } else {
        span = ColumnSpan{before, before, before, true};
      }
    }
    next = end;
  }
  return spans;
}

}  // namespace

std::vector<std::vector<ColumnSpan>> StackColumns(absl::Span<const Pyramid* const> parts,
                                                  absl::Span<const SimTime> edges,
                                                  size_t exact_samples) {
  const size_t columns = edges.size() - 1;
  std::vector<std::vector<ColumnSpan>> borders(parts.size());
  std::vector<size_t> next;  // by part: the first sample that is not summed
  std::vector<size_t> end;
  size_t samples = 0;
  for (const Pyramid* part : parts) {
    next.push_back(part->LowerBound(edges.front()));
    end.push_back(part->LowerBoundFrom(next.back(), edges.back()));
    samples += end.back() - next.back();
  }
  if (samples > exact_samples) {
    for (size_t p = 0; p < parts.size(); ++p) {
      borders[p] = StepColumns(*parts[p], edges);
      for (size_t i = 0; p > 0 && i < columns; ++i) {
        const ColumnSpan& below = borders[p - 1][i];
        ColumnSpan& span = borders[p][i];
        // The column in which the part begins: before that it counts as zero.
        if (span.valid && parts[p]->time(0) > edges[i]) {
          span.low = std::min(span.low, 0.0);
          span.high = std::max(span.high, 0.0);
        }
        span = ColumnSpan{span.low + below.low, span.high + below.high, span.last + below.last,
                          span.valid || below.valid};
      }
    }
    return borders;
  }

  for (std::vector<ColumnSpan>& border : borders) border.resize(columns);
  const auto take_sums = [&](size_t column) {
    double sum = 0;
    bool begun = false;
    for (size_t p = 0; p < parts.size(); ++p) {
      if (next[p] > 0) {
        sum += parts[p]->value(next[p] - 1);
        begun = true;
      }
      if (!begun) continue;
      ColumnSpan& span = borders[p][column];
      span.low = span.valid ? std::min(span.low, sum) : sum;
      span.high = span.valid ? std::max(span.high, sum) : sum;
      span.last = sum;
      span.valid = true;
    }
  };
  for (size_t i = 0; i < columns; ++i) {
    bool at_edge = true;
    while (true) {
      SimTime now = edges[i + 1];
      for (size_t p = 0; p < parts.size(); ++p) {
        if (next[p] < end[p]) now = std::min(now, parts[p]->time(next[p]));
      }
      // The sums from before hold until the first instant inside.
      if (at_edge && now > edges[i] && edges[i] < edges[i + 1]) take_sums(i);
      at_edge = false;
      if (now >= edges[i + 1]) break;
      // All parts take their step of the instant together: between them the sums mean nothing.
      for (size_t p = 0; p < parts.size(); ++p) {
        while (next[p] < end[p] && parts[p]->time(next[p]) <= now) ++next[p];
      }
      take_sums(i);
    }
  }
  return borders;
}

// --- The model ---

float LegendWidth(size_t longest_name, const PlotFrame& frame) {
  constexpr float kValueChars = 11;  // "-1,234,567 "
  return (static_cast<float>(longest_name) + kValueChars) * frame.char_width + 3 * kPadding +
         frame.line_height;
}

PlotModel::PlotModel(PlotSpec spec) : spec_(std::move(spec)) {
  for (const PlotSeries& series : spec_.series) DRASIM_CHECK(series.data != nullptr);
  for (const PlotBand& band : spec_.bands) {
    DRASIM_CHECK(band.low != nullptr && band.high != nullptr);
  }
  for (const PlotDifference& difference : spec_.differences) {
    DRASIM_CHECK(difference.a < spec_.series.size() && difference.b < spec_.series.size());
  }
}

float LegendHeight(size_t rows, float legend_width, const PlotFrame& frame) {
  if (frame.width >= 2.5F * legend_width) return 0;
  return LegendRowHeight(frame) * static_cast<float>(rows);
}

void PlotModel::Toggle(LegendKind kind, size_t index) {
  switch (kind) {
    case LegendKind::kSeries:
      spec_.series[index].visible = !spec_.series[index].visible;
      break;
    case LegendKind::kBand:
      spec_.bands[index].visible = !spec_.bands[index].visible;
      break;
    case LegendKind::kDifference: {
      const PlotDifference& difference = spec_.differences[index];
      PlotSeries& a = spec_.series[difference.a];
      PlotSeries& b = spec_.series[difference.b];
      a.visible = b.visible = !(a.visible && b.visible);
      break;
    }
  }
  stale_ = true;
}

void PlotModel::SetLog(bool log) {
  stale_ = stale_ || spec_.log != log;
  spec_.log = log;
}

void PlotModel::SetMarkers(std::vector<PlotMarker> markers) {
  if (markers == spec_.markers) return;
  spec_.markers = std::move(markers);
  stale_ = true;
}

std::vector<size_t> PlotModel::DataSizes() const {
  std::vector<size_t> sizes;
  for (const PlotSeries& series : spec_.series) sizes.push_back(series.data->size());
  for (const PlotBand& band : spec_.bands) {
    sizes.push_back(band.low->size());
    sizes.push_back(band.high->size());
  }
  if (spec_.load != nullptr) sizes.push_back(spec_.load->size());
  return sizes;
}

const PlotPicture& PlotModel::Draw(const PlotFrame& frame, std::optional<SimTime> cursor) {
  DRASIM_CHECK(frame.begin >= SimTime() && frame.begin < frame.end);
  DRASIM_CHECK(frame.x == PlotX::kTime || spec_.load != nullptr);
  std::vector<size_t> sizes = DataSizes();
  const bool same = !stale_ && frame == frame_ && sizes == sizes_;
  if (!same) {
    frame_ = frame;
    sizes_ = std::move(sizes);
    stale_ = false;
    BuildBase();
  }
  if (!same || cursor != cursor_) {
    cursor_ = cursor;
    BuildOverlay(cursor);
  }
  return picture_;
}

void PlotModel::BuildBase() {
  picture_.base.Clear();
  // From the outside inwards: title, legend, ticks, and the area with the rest.
  ListLegend();
  const float line = frame_.line_height;
  const bool has_title =
      !spec_.title.empty() || !spec_.subtitle.empty() || frame_.x == PlotX::kLoad;
  const float top = has_title ? line * 1.4F : kPadding;
  size_t widest_row = 0;
  for (const LegendRow& row : picture_.legend) widest_row = std::max(widest_row, row.name.size());
  const float legend_width = std::max(frame_.legend, LegendWidth(widest_row, frame_));
  const float legend_height = LegendHeight(picture_.legend.size(), legend_width, frame_);
  const bool beside = !picture_.legend.empty() && legend_height == 0;
  float bottom = frame_.height - line * 1.3F - legend_height;
  bottom = std::max(bottom, top + line);
  const float right = frame_.width - (beside ? legend_width : kPadding);

  if (spec_.stacked) {
    // The width of the area depends on the labels of the values, and they on the sums. So columns
    // of a stack are only about a pixel wide.
    constexpr float kUsualLabels = 6;
    SetEdges(ColumnsIn(right - kUsualLabels * frame_.char_width));
    std::vector<const Pyramid*> parts;
    for (const PlotSeries& series : spec_.series) {
      if (series.visible) parts.push_back(series.data);
    }
    constexpr size_t kExactSamplesPerColumn = 32;
    stack_ = StackColumns(parts, edges_, kExactSamplesPerColumn * (edges_.size() - 1));
  }
  const int value_ticks = std::max(3, static_cast<int>((bottom - top) / (line * 1.4F)));
  const TickScale scale = ValueScale(value_ticks);
  size_t widest_tick = 1;
  for (const Tick& tick : scale.ticks) widest_tick = std::max(widest_tick, tick.label.size());
  const float left =
      std::max(frame_.left, static_cast<float>(widest_tick) * frame_.char_width + 2 * kPadding);
  picture_.area.x = left;
  picture_.area.y = top;
  picture_.area.width = std::max(right - left, 1.0F);
  picture_.area.height = bottom - top;
  picture_.low = scale.low;
  picture_.high = scale.high;
  if (beside) {
    PlaceLegend(right + kPadding, top, legend_width - 2 * kPadding);
  } else {
    PlaceLegend(kPadding, frame_.height - legend_height, frame_.width - 2 * kPadding);
  }

  if (!spec_.stacked) SetEdges(ColumnsIn(picture_.area.width));
  DrawAxes(scale);
  if (spec_.stacked) {
    // From the top layer down: each covers the lower part of the one above.
    size_t layer = stack_.size();
    for (size_t i = spec_.series.size(); i-- > 0;) {
      const PlotSeries& series = spec_.series[i];
      if (!series.visible) continue;
      --layer;
      FillLayer(stack_[layer], series.ink);
    }
  } else {
    for (const PlotBand& band : spec_.bands) {
      if (band.visible) DrawBand(band);
    }
    for (const PlotSeries& series : spec_.series) {
      if (series.visible && series.filled)
        FillLayer(Columns(*series.data, series.style), series.ink);
    }
    for (const PlotDifference& difference : spec_.differences) DrawDifference(difference);
    for (const PlotSeries& series : spec_.series) {
      if (series.visible && !series.filled) DrawLine(series);
    }
  }
  DrawMarkers();
}

// --- Axes ---

double PlotModel::LoadAt(SimTime time) const { return spec_.load->ValueAt(time).value_or(0); }

void PlotModel::SetEdges(size_t columns) {
  edges_.resize(columns + 1);
  const SimTime after = JustAfter(frame_.end);
  if (frame_.x == PlotX::kTime) {
    const auto span = static_cast<double>((frame_.end - frame_.begin).ns());
    for (size_t i = 0; i < columns; ++i) {
      const double way = span * static_cast<double>(i) / static_cast<double>(columns);
      edges_[i] = frame_.begin + SimDuration(static_cast<int64_t>(way));
    }
  } else {
    load_low_ = LoadAt(frame_.begin);
    load_high_ = LoadAt(frame_.end);
    // Nothing arrives in the window: the axis still needs a length.
    if (load_high_ <= load_low_) load_high_ = load_low_ + 1;
    const double span = load_high_ - load_low_;
    edges_[0] = frame_.begin;
    for (size_t i = 1; i < columns; ++i) {
      const double load = load_low_ + span * static_cast<double>(i) / static_cast<double>(columns);
      const SimTime reached = spec_.load->FirstReaching(load).value_or(after);
      edges_[i] = std::clamp(reached, edges_[i - 1], after);
    }
  }
  edges_[columns] = after;
}

TickScale PlotModel::ValueScale(int max_ticks) const {
  bool any = false;
  double low = 0;
  double high = 0;
  const auto take = [&](double smallest, double largest) {
    low = any ? std::min(low, smallest) : smallest;
    high = any ? std::max(high, largest) : largest;
    any = true;
  };
  const auto see = [&](const Pyramid& data) {
    if (data.empty()) return;
    const std::optional<double> before = data.ValueAt(frame_.begin);
    if (before.has_value()) take(*before, *before);
    const SampleSummary inside = data.Query(frame_.begin, JustAfter(frame_.end));
    if (!inside.empty()) take(inside.min, inside.max);
  };
  if (spec_.stacked) {
    for (const std::vector<ColumnSpan>& border : stack_) {
      for (const ColumnSpan& span : border) {
        if (span.valid) take(span.low, span.high);
      }
    }
  } else {
    for (const PlotSeries& series : spec_.series) {
      if (!series.visible) continue;
      see(*series.data);
      // A line also passes through the window between samples outside of it.
      if (series.style == PlotStyle::kLinear && !series.data->empty()) {
        for (const SimTime time : {frame_.begin, frame_.end}) {
          const double value = Interpolated(*series.data, series.data->LowerBound(time), time);
          take(value, value);
        }
      }
    }
    for (const PlotBand& band : spec_.bands) {
      if (!band.visible) continue;
      see(*band.low);
      see(*band.high);
    }
  }
  const bool time = spec_.unit == Unit::kSeconds;
  const double most = time ? 8e7 : 1e15;
  if (spec_.high.has_value()) high = *spec_.high;
  if (spec_.log) {
    const double least = time ? 1e-6 : 1e-12;
    high = std::clamp(high, 10 * least, most);
    // The smallest positive value is not known where zeros occur: one, or three decades.
    if (!(low > 0)) low = std::min(1.0, high / 1000);
    return LogScale(std::clamp(low, least, high), high, max_ticks, spec_.unit);
  }
  low = std::clamp(std::min(low, 0.0), -most, 0.0);
  high = std::clamp(high, 0.0, most);
  TickScale scale = LinearScale(low, high, max_ticks, spec_.unit);
  if (spec_.high.has_value() && *spec_.high > scale.low) {
    scale.high = *spec_.high;
    while (!scale.ticks.empty() && scale.ticks.back().value > scale.high) scale.ticks.pop_back();
  }
  return scale;
}

float PlotModel::YOf(double value) const {
  const Rect& area = picture_.area;
  double way = 0;
  if (spec_.log) {
    if (value > picture_.low) {
      const double low = Log10(picture_.low);
      way = (Log10(value) - low) / (Log10(picture_.high) - low);
    }
  } else {
    way = (value - picture_.low) / (picture_.high - picture_.low);
  }
  return area.bottom() - static_cast<float>(std::clamp(way, 0.0, 1.0)) * area.height;
}

float PlotModel::XOf(SimTime time) const {
  const Rect& area = picture_.area;
  double way = 0;
  if (frame_.x == PlotX::kTime) {
    way = static_cast<double>((time - frame_.begin).ns()) /
          static_cast<double>((frame_.end - frame_.begin).ns());
  } else {
    way = (LoadAt(time) - load_low_) / (load_high_ - load_low_);
  }
  return area.x + static_cast<float>(std::clamp(way, 0.0, 1.0)) * area.width;
}

SimTime PlotModel::TimeAt(float x) const {
  const Rect& area = picture_.area;
  const double width = std::max(static_cast<double>(area.width), 1.0);  // none in a narrow frame
  const double way = std::clamp(static_cast<double>(x - area.x) / width, 0.0, 1.0);
  if (frame_.x == PlotX::kTime) {
    const double span = static_cast<double>((frame_.end - frame_.begin).ns());
    const SimTime time = frame_.begin + SimDuration(static_cast<int64_t>(span * way));
    return std::min(time, frame_.end);
  }
  const double load = load_low_ + (load_high_ - load_low_) * way;
  return std::clamp(spec_.load->FirstReaching(load).value_or(frame_.end), frame_.begin, frame_.end);
}

void PlotModel::DrawAxes(const TickScale& scale) {
  const Theme& theme = ThemeOf(frame_.theme);
  DrawList& list = picture_.base;
  const Rect& area = picture_.area;
  Ink grid;
  grid.colour = theme.grid;
  for (const Tick& tick : scale.ticks) {
    const float y = YOf(tick.value);
    list.AddLine({area.x, y}, {area.right(), y}, grid);
  }
  // Labels keep a distance of two characters.
  size_t widest = 6;
  std::vector<Tick> ticks;
  for (int pass = 0; pass < 2; ++pass) {
    const float per_tick = static_cast<float>(widest + 2) * frame_.char_width;
    const int room = std::max(2, static_cast<int>(area.width / per_tick));
    if (frame_.x == PlotX::kTime) {
      ticks = TimeTicks(frame_.begin, frame_.end, room);
    } else {
      ticks = LinearScale(load_low_, load_high_, std::max(room, 3), Unit::kPercent).ticks;
    }
    for (const Tick& tick : ticks) widest = std::max(widest, tick.label.size());
  }
  const float label_y = area.bottom() + frame_.line_height * 0.65F;
  std::vector<std::pair<float, std::string>> labels;
  for (const Tick& tick : ticks) {
    double way = 0;
    if (frame_.x == PlotX::kTime) {
      way = (tick.value - static_cast<double>(frame_.begin.ns())) /
            static_cast<double>((frame_.end - frame_.begin).ns());
    } else {
      way = (tick.value - load_low_) / (load_high_ - load_low_);
    }
    if (way < 0 || way > 1) continue;
    const float x = area.x + static_cast<float>(way) * area.width;
    list.AddLine({x, area.y}, {x, area.bottom()}, grid);
    labels.emplace_back(x, tick.label);
  }
  for (const Tick& tick : scale.ticks) {
    list.AddText({area.x - kPadding, YOf(tick.value)}, Anchor::kEnd, TextSize::kSmall,
                 theme.dim_text, tick.label);
  }
  for (const auto& [x, label] : labels) {
    // The outermost labels stay inside the picture.
    const float half = static_cast<float>(label.size()) * frame_.char_width / 2;
    const float kept = std::clamp(x, std::min(half, frame_.width / 2),
                                  std::max(frame_.width - half, frame_.width / 2));
    list.AddText({kept, label_y}, Anchor::kMiddle, TextSize::kSmall, theme.dim_text, label);
  }
  const float title_y = frame_.line_height * 0.7F;
  list.AddText({kPadding, title_y}, Anchor::kStart, TextSize::kStrong, theme.text, spec_.title);
  std::string remark = spec_.subtitle;
  if (frame_.x == PlotX::kLoad) {
    absl::StrAppend(&remark, remark.empty() ? "" : " · ", "by arrived load, %");
  }
  const float title_width = static_cast<float>(spec_.title.size()) * frame_.char_width * 1.25F;
  list.AddText({kPadding + title_width + 2 * kPadding, title_y}, Anchor::kStart, TextSize::kSmall,
               theme.dim_text, std::move(remark));
}

// --- Data ---

std::vector<ColumnSpan> PlotModel::Columns(const Pyramid& data, PlotStyle style) const {
  if (style == PlotStyle::kSteps) return StepColumns(data, edges_);
  std::vector<ColumnSpan> spans(edges_.size() - 1);
  if (data.empty()) return spans;
  size_t next = data.LowerBound(edges_[0]);
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t end = data.LowerBoundFrom(next, edges_[i + 1]);
    ColumnSpan& span = spans[i];
    const auto take = [&span](double low, double high) {
      span.low = span.valid ? std::min(span.low, low) : low;
      span.high = span.valid ? std::max(span.high, high) : high;
      span.valid = true;
    };
    if (next < end) {
      const SampleSummary inside = data.QuerySamples(next, end);
      take(inside.min, inside.max);
      span.last = inside.last;
    }
    // Between the first and the last sample; a line has no value outside.
    const bool begun = next > 0 || data.time(0) == edges_[i];
    if (end > 0 && next < data.size() && begun) {
      const double at_begin = Interpolated(data, next, edges_[i]);
      take(at_begin, at_begin);
    }
    if (end > 0 && end < data.size()) {
      span.last = Interpolated(data, end, edges_[i + 1]);
      take(span.last, span.last);
    }
    next = end;
  }
  return spans;
}

void PlotModel::FillBetween(const std::vector<Rect>& columns, const Ink& ink) {
  // Columns of one height become one rectangle.
  Rect run;
  for (const Rect& column : columns) {
    if (column.y == run.y && column.height == run.height && column.x <= run.right() + 0.01F) {
      run.width = column.right() - run.x;
      continue;
    }
    picture_.base.AddRect(run, ink);
    run = column;
  }
  picture_.base.AddRect(run, ink);
}

void PlotModel::FillLayer(const std::vector<ColumnSpan>& spans, const Ink& ink) {
  const Rect& area = picture_.area;
  const float width = area.width / static_cast<float>(spans.size());
  const float zero = YOf(0);
  std::vector<Rect> solid;
  std::vector<Rect> range;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].valid) continue;
    const float left = area.x + static_cast<float>(i) * width;
    const float low = YOf(spans[i].low);
    const float high = YOf(spans[i].high);
    if (spans[i].low >= 0) {
      solid.push_back(Rect{left, low, width, zero - low});
    } else if (spans[i].high <= 0) {
      solid.push_back(Rect{left, zero, width, high - zero});
    }
    range.push_back(Rect{left, high, width, low - high});
  }
  FillBetween(range, WithAlpha(ink, kRangeAlpha));
  FillBetween(solid, ink);
}

void PlotModel::DrawBand(const PlotBand& band) {
  const std::vector<ColumnSpan> low = Columns(*band.low, PlotStyle::kSteps);
  const std::vector<ColumnSpan> high = Columns(*band.high, PlotStyle::kSteps);
  const Rect& area = picture_.area;
  const float width = area.width / static_cast<float>(low.size());
  std::vector<Rect> columns;
  for (size_t i = 0; i < low.size(); ++i) {
    if (!low[i].valid || !high[i].valid) continue;
    const float top = YOf(high[i].high);
    columns.push_back(
        Rect{area.x + static_cast<float>(i) * width, top, width, YOf(low[i].low) - top});
  }
  FillBetween(columns, WithAlpha(band.ink, kBandAlpha));
}

void PlotModel::DrawDifference(const PlotDifference& difference) {
  const PlotSeries& a = spec_.series[difference.a];
  const PlotSeries& b = spec_.series[difference.b];
  if (!a.visible || !b.visible) return;
  const std::vector<ColumnSpan> in_a = Columns(*a.data, a.style);
  const std::vector<ColumnSpan> in_b = Columns(*b.data, b.style);
  const Rect& area = picture_.area;
  const float width = area.width / static_cast<float>(in_a.size());
  // In the ink of the run that is higher.
  std::array<std::vector<Rect>, 2> columns;
  for (size_t i = 0; i < in_a.size(); ++i) {
    if (!in_a[i].valid || !in_b[i].valid || in_a[i].last == in_b[i].last) continue;
    const bool b_above = in_b[i].last > in_a[i].last;
    const float top = YOf(std::max(in_a[i].last, in_b[i].last));
    const float bottom = YOf(std::min(in_a[i].last, in_b[i].last));
    columns[b_above ? 1 : 0].push_back(
        Rect{area.x + static_cast<float>(i) * width, top, width, bottom - top});
  }
  FillBetween(columns[0], WithAlpha(a.ink, kDifferenceAlpha));
  FillBetween(columns[1], WithAlpha(b.ink, kDifferenceAlpha));
}

void PlotModel::DrawLine(const PlotSeries& series) {
  const Pyramid& data = *series.data;
  if (data.empty()) return;
  const size_t first = data.LowerBound(edges_.front());
  const size_t end = data.LowerBoundFrom(first, edges_.back());
  const size_t count = edges_.size() - 1;
  if (frame_.x == PlotX::kTime && end - first <= 2 * count) {
    DrawExactLine(series, first, end);
    return;
  }
  std::vector<SampleSummary> columns(count);
  data.QueryColumns(edges_, absl::MakeSpan(columns));
  const Rect& area = picture_.area;
  const float width = area.width / static_cast<float>(count);
  points_.clear();
  const auto add = [this](float x, double value) {
    const Point point = {x, YOf(value)};
    if (points_.empty() || !(points_.back() == point)) points_.push_back(point);
  };
  bool begun = first > 0;
  double before = begun ? data.value(first - 1) : 0;
  if (begun) add(area.x, before);
  for (size_t i = 0; i < count; ++i) {
    const SampleSummary& column = columns[i];
    if (column.empty()) continue;
    const float x = area.x + (static_cast<float>(i) + 0.5F) * width;
    if (begun && series.style == PlotStyle::kSteps) add(x, before);
    add(x, column.first);
    add(x, column.min);
    add(x, column.max);
    add(x, column.last);
    before = column.last;
    begun = true;
  }
  if (begun && series.style == PlotStyle::kSteps) add(area.right(), before);
  picture_.base.AddPolyline(points_, series.ink, 1.5F);
}

void PlotModel::DrawExactLine(const PlotSeries& series, size_t first, size_t end) {
  const Pyramid& data = *series.data;
  const Rect& area = picture_.area;
  points_.clear();
  if (series.style == PlotStyle::kSteps) {
    if (first > 0) points_.push_back({area.x, YOf(data.value(first - 1))});
    for (size_t i = first; i < end; ++i) {
      const float x = XOf(data.time(i));
      if (!points_.empty()) points_.push_back({x, points_.back().y});
      points_.push_back({x, YOf(data.value(i))});
    }
    if (!points_.empty()) points_.push_back({area.right(), points_.back().y});
  } else {
    if (first > 0 && first < data.size()) {
      points_.push_back({area.x, YOf(Interpolated(data, first, frame_.begin))});
    }
    for (size_t i = first; i < end; ++i) {
      points_.push_back({XOf(data.time(i)), YOf(data.value(i))});
    }
    if (end > 0 && end < data.size()) {
      points_.push_back({area.right(), YOf(Interpolated(data, end, frame_.end))});
    }
  }
  picture_.base.AddPolyline(points_, series.ink, 1.5F);
}

void PlotModel::DrawMarkers() {
  const Rect& area = picture_.area;
  for (const PlotMarker& marker : spec_.markers) {
    if (marker.time < frame_.begin || marker.time > frame_.end) continue;
    const float x = XOf(marker.time);
    Ink ink;
    ink.colour = marker.colour;
    picture_.base.AddLine({x, area.y}, {x, area.bottom()}, ink, 1, /*dashed=*/true);
    // To the side where there is more room.
    const bool left = x > area.x + area.width / 2;
    picture_.base.AddText({left ? x - kPadding : x + kPadding, area.y + frame_.line_height * 0.6F},
                          left ? Anchor::kEnd : Anchor::kStart, TextSize::kSmall, marker.colour,
                          marker.label);
  }
}

// --- Legend and cursor ---

void PlotModel::ListLegend() {
  picture_.legend.clear();
  const auto add = [this](LegendKind kind, size_t index, std::string name, bool visible) {
    LegendRow row;
    row.kind = kind;
    row.index = index;
    row.name = std::move(name);
    row.visible = visible;
    picture_.legend.push_back(std::move(row));
  };
  const size_t count = spec_.series.size();
  // The top layer of a stack comes first, as it stands in the picture.
  for (size_t i = 0; i < count; ++i) {
    const size_t index = spec_.stacked ? count - 1 - i : i;
    add(LegendKind::kSeries, index, spec_.series[index].name, spec_.series[index].visible);
  }
  for (size_t i = 0; i < spec_.bands.size(); ++i) {
    add(LegendKind::kBand, i, spec_.bands[i].name, spec_.bands[i].visible);
  }
  for (size_t i = 0; i < spec_.differences.size(); ++i) {
    const PlotSeries& a = spec_.series[spec_.differences[i].a];
    const PlotSeries& b = spec_.series[spec_.differences[i].b];
    add(LegendKind::kDifference, i, absl::StrCat(b.name, " − ", a.name), a.visible && b.visible);
  }
}

void PlotModel::PlaceLegend(float left, float top, float width) {
  const float row_height = LegendRowHeight(frame_);
  for (size_t i = 0; i < picture_.legend.size(); ++i) {
    picture_.legend[i].box =
        Rect{left, top + static_cast<float>(i) * row_height, width, row_height};
  }
}

std::optional<double> PlotModel::ValueAt(LegendKind kind, size_t index, SimTime time) const {
  switch (kind) {
    case LegendKind::kSeries: {
      const PlotSeries& series = spec_.series[index];
      const std::optional<double> value = series.data->ValueAt(time);
      if (!value.has_value() || series.style == PlotStyle::kSteps) return value;
      return Interpolated(*series.data, series.data->LowerBound(time), time);
    }
    case LegendKind::kBand: {
      const std::optional<double> low = spec_.bands[index].low->ValueAt(time);
      const std::optional<double> high = spec_.bands[index].high->ValueAt(time);
      if (!low.has_value() || !high.has_value()) return std::nullopt;
      return *high - *low;
    }
    case LegendKind::kDifference: {
      const PlotDifference& difference = spec_.differences[index];
      const std::optional<double> a = ValueAt(LegendKind::kSeries, difference.a, time);
      const std::optional<double> b = ValueAt(LegendKind::kSeries, difference.b, time);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      return *b - *a;
    }
  }
  return std::nullopt;
}

void PlotModel::BuildOverlay(std::optional<SimTime> cursor) {
  const Theme& theme = ThemeOf(frame_.theme);
  DrawList& list = picture_.overlay;
  list.Clear();
  const float swatch = frame_.line_height * 0.6F;
  for (LegendRow& row : picture_.legend) {
    row.value.clear();
    const std::optional<double> value =
        cursor.has_value() ? ValueAt(row.kind, row.index, *cursor) : std::nullopt;
    if (value.has_value() && row.kind == LegendKind::kSeries) {
      row.value = ValueText(*value, spec_.unit);
    } else if (value.has_value() && row.kind == LegendKind::kBand) {
      const PlotBand& band = spec_.bands[row.index];
      row.value = absl::StrCat(ValueText(band.low->ValueAt(*cursor).value_or(0), spec_.unit), "–",
                               ValueText(band.high->ValueAt(*cursor).value_or(0), spec_.unit));
    } else if (value.has_value()) {
      row.value = DifferenceText(*value, spec_.unit);
    }
    const float middle = row.box.y + row.box.height / 2;
    if (row.kind != LegendKind::kDifference) {
      const Ink& ink = row.kind == LegendKind::kSeries ? spec_.series[row.index].ink
                                                       : spec_.bands[row.index].ink;
      const Rect box = {row.box.x, middle - swatch / 2, swatch, swatch};
      if (row.visible) {
        list.AddRect(box, ink);
      } else {
        list.AddOutline(box, ink);
      }
    }
    list.AddText({row.box.x + swatch + kPadding, middle}, Anchor::kStart, TextSize::kSmall,
                 row.visible ? theme.text : theme.dim_text, row.name);
    list.AddText({row.box.right(), middle}, Anchor::kEnd, TextSize::kSmall,
                 row.visible ? theme.text : theme.dim_text, row.value);
  }
  if (!cursor.has_value() || *cursor < frame_.begin || *cursor > frame_.end) return;
  Ink ink;
  ink.colour = theme.cursor;
  const float x = XOf(*cursor);
  list.AddLine({x, picture_.area.y}, {x, picture_.area.bottom()}, ink);
}

std::optional<size_t> PlotModel::LegendAt(Point point) const {
  for (size_t i = 0; i < picture_.legend.size(); ++i) {
    if (picture_.legend[i].box.Contains(point)) return i;
  }
  return std::nullopt;
}

}  // namespace drasim::view
