#include "gui/view/svg.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim::view {
namespace {

// A coordinate with at most two decimals.
void AppendCoordinate(float value, std::string* out) {
  // Pictures are far smaller; beyond, a float has no hundredths.
  const double bounded = std::clamp(static_cast<double>(value), -1e7, 1e7);
  const double shifted = bounded * 100 + (bounded < 0 ? -0.5 : 0.5);
  int64_t hundredths = static_cast<int64_t>(shifted);
  if (hundredths < 0) {
    out->push_back('-');
    hundredths = -hundredths;
  }
  absl::StrAppend(out, hundredths / 100);
  const int64_t rest = hundredths % 100;
  if (rest == 0) return;
  absl::StrAppend(out, rest < 10 ? ".0" : ".", rest % 10 == 0 && rest >= 10 ? rest / 10 : rest);
}

void AppendAttribute(absl::string_view name, float value, std::string* out) {
  absl::StrAppend(out, " ", name, "=\"");
  AppendCoordinate(value, out);
  out->push_back('"');
}

std::string HexColour(Rgb colour) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const unsigned channel : {colour.red, colour.green, colour.blue}) {
    text.push_back(kDigits[channel >> 4]);
    text.push_back(kDigits[channel & 15]);
  }
  return text;
}

// " fill-opacity=.." where the ink is translucent.
void AppendOpacity(absl::string_view name, uint8_t alpha, std::string* out) {
  if (alpha == 255) return;
  absl::StrAppend(out, " ", name, "=\"");
  AppendCoordinate(static_cast<float>(alpha) / 255, out);
  out->push_back('"');
}

// Lines of the patterns, in a square of six pixels.
const char* HatchPath(Hatch hatch) {
  switch (hatch) {
    case Hatch::kNone:
      return "";
    case Hatch::kRising:
      return "M0 6L6 0M-1 1L1 -1M5 7L7 5";
    case Hatch::kFalling:
      return "M0 0L6 6M-1 5L1 7M5 -1L7 1";
    case Hatch::kCrossed:
      return "M0 0L6 6M0 6L6 0";
    case Hatch::kHorizontal:
      return "M0 3L6 3";
    case Hatch::kVertical:
      return "M3 0L3 6";
    case Hatch::kDotted:
      return "M2.5 3L3.5 3";
  }
  return "";
}

std::string HatchId(const SvgOptions& options, Hatch hatch) {
  return absl::StrCat(options.id, "-hatch-", static_cast<int>(hatch));
}

void AppendRects(const DrawList& list, const DrawItem& item, std::string* out) {
  // One path for the run: a tenth of the bytes of as many <rect> elements.
  for (const Rect& rect : list.rects(item)) {
    const float inset = item.kind == DrawKind::kOutlines ? item.line_width / 2 : 0;
    out->push_back('M');
    AppendCoordinate(rect.x + inset, out);
    out->push_back(' ');
    AppendCoordinate(rect.y + inset, out);
    out->push_back('h');
    AppendCoordinate(std::max(rect.width - 2 * inset, 0.0F), out);
    out->push_back('v');
    AppendCoordinate(std::max(rect.height - 2 * inset, 0.0F), out);
    out->push_back('h');
    AppendCoordinate(-std::max(rect.width - 2 * inset, 0.0F), out);
    out->push_back('z');
  }
}

void AppendItem(const DrawList& list, const DrawItem& item, const SvgOptions& options,
                std::string* out) {
  const std::string colour = HexColour(item.ink.colour);
  switch (item.kind) {
    case DrawKind::kPolyline: {
      absl::StrAppend(out, "<polyline fill=\"none\" stroke=\"", colour, "\"");
      AppendAttribute("stroke-width", item.line_width, out);
      AppendOpacity("stroke-opacity", item.ink.alpha, out);
      absl::StrAppend(out, item.dashed ? " stroke-dasharray=\"4 3\"" : "", " points=\"");
      bool first = true;
      for (const Point& point : list.points(item)) {
        if (!first) out->push_back(' ');
        first = false;
        AppendCoordinate(point.x, out);
        out->push_back(',');
        AppendCoordinate(point.y, out);
      }
      absl::StrAppend(out, "\"/>\n");
      return;
    }
    case DrawKind::kFills: {
      std::string path;
      AppendRects(list, item, &path);
      absl::StrAppend(out, "<path shape-rendering=\"crispEdges\" fill=\"", colour, "\"");
      AppendOpacity("fill-opacity", item.ink.alpha, out);
      absl::StrAppend(out, " d=\"", path, "\"/>\n");
      if (item.ink.hatch != Hatch::kNone) {
        absl::StrAppend(out, "<path fill=\"url(#", HatchId(options, item.ink.hatch), ")\" d=\"",
                        path, "\"/>\n");
      }
      return;
    }
    case DrawKind::kOutlines:
      absl::StrAppend(out, "<path fill=\"none\" stroke=\"", colour, "\"");
      AppendAttribute("stroke-width", item.line_width, out);
      AppendOpacity("stroke-opacity", item.ink.alpha, out);
      absl::StrAppend(out, " d=\"");
      AppendRects(list, item, out);
      absl::StrAppend(out, "\"/>\n");
      return;
    case DrawKind::kTexts:
      for (const TextItem& text : list.texts(item)) {
        absl::StrAppend(out, "<text");
        AppendAttribute("x", text.at.x, out);
        AppendAttribute("y", text.at.y, out);
        out->append(" dy=\".35em\"");  // from the middle of the line to its base
        if (text.anchor != Anchor::kStart) {
          absl::StrAppend(out, " text-anchor=\"", text.anchor == Anchor::kMiddle ? "middle" : "end",
                          "\"");
        }
        AppendAttribute("font-size",
                        text.size == TextSize::kSmall ? options.small_text : options.normal_text,
                        out);
        if (text.size == TextSize::kStrong) absl::StrAppend(out, " font-weight=\"600\"");
        absl::StrAppend(out, " fill=\"", HexColour(text.colour), "\">", XmlEscaped(text.text),
                        "</text>\n");
      }
      return;
  }
}

// A field of a CSV row, quoted where RFC 4180 demands it.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace

std::string XmlEscaped(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // XML 1.0 has no control characters but these three.
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
          out.push_back('?');
        } else {
          out.push_back(c);
        }
    }
  }
  return out;
}

std::string SvgText(absl::Span<const DrawList* const> lists, const SvgOptions& options) {
  const Theme& theme = ThemeOf(options.theme);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
  AppendCoordinate(options.width, &out);
  out.push_back(' ');
  AppendCoordinate(options.height, &out);
  out += "\" width=\"100%\" style=\"max-width:";
  AppendCoordinate(options.width, &out);
  out += "px;height:auto;font-variant-numeric:tabular-nums\" role=\"img\"";
  out += " font-family=\"system-ui,sans-serif\">\n";
  if (!options.title.empty()) {
    absl::StrAppend(&out, "<title>", XmlEscaped(options.title), "</title>\n");
  }
  std::array<bool, kHatches> used{};
  for (const DrawList* list : lists) {
    for (const DrawItem& item : list->items()) {
      if (item.kind == DrawKind::kFills) used[static_cast<size_t>(item.ink.hatch)] = true;
    }
  }
  for (size_t i = 1; i < kHatches; ++i) {
    if (!used[i]) continue;
    const auto hatch = static_cast<Hatch>(i);
    absl::StrAppend(&out, "<pattern id=\"", HatchId(options, hatch),
                    "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"",
                    HatchPath(hatch), "\" stroke=\"", HexColour(theme.panel),
                    "\" stroke-width=\"1.5\"/></pattern>\n");
  }
  out += "<rect";
  AppendAttribute("width", options.width, &out);
  AppendAttribute("height", options.height, &out);
  absl::StrAppend(&out, " fill=\"", HexColour(theme.panel), "\"/>\n");
  for (const DrawList* list : lists) {
    for (const DrawItem& item : list->items()) AppendItem(*list, item, options, &out);
  }
  out += "</svg>\n";
  return out;
}

std::string PlotCsv(const PlotSpec& spec, SimTime begin, SimTime end) {
  std::string out = "time_s";
  std::vector<const Pyramid*> columns;
  const auto add = [&](const std::string& name, const Pyramid* data) {
    absl::StrAppend(&out, ",", CsvField(name));
    columns.push_back(data);
  };
  for (const PlotSeries& series : spec.series) add(series.name, series.data);
  for (const PlotBand& band : spec.bands) {
    add(absl::StrCat(band.name, " low"), band.low);
    add(absl::StrCat(band.name, " high"), band.high);
  }
  out.push_back('\n');
  std::vector<size_t> next;  // by column: the first sample that no row shows
  for (const Pyramid* data : columns) {
    size_t sample = data->LowerBound(begin);
    while (sample < data->size() && data->time(sample) == begin) ++sample;
    next.push_back(sample);
  }
  SimTime now = begin;
  while (true) {
    absl::StrAppend(&out, DoubleText(now.seconds()));
    for (size_t c = 0; c < columns.size(); ++c) {
      out.push_back(',');
      if (next[c] > 0) AppendDouble(&out, columns[c]->value(next[c] - 1));
    }
    out.push_back('\n');
    std::optional<SimTime> soonest;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (next[c] == columns[c]->size()) continue;
      const SimTime time = columns[c]->time(next[c]);
      if (!soonest.has_value() || time < *soonest) soonest = time;
    }
    if (!soonest.has_value() || *soonest > end) return out;
    now = *soonest;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (next[c] < columns[c]->size() && columns[c]->time(next[c]) == now) ++next[c];
    }
  }
}

}  // namespace drasim::view
