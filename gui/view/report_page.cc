#include "gui/view/report_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/view/compare_model.h"
#include "gui/view/draw_list.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/palette.h"
#include "gui/view/plot_model.h"
#include "gui/view/svg.h"
#include "gui/view/tenant_table.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/text/shown_text.h"

namespace drasim::view {
namespace {

constexpr size_t kLongestShown = 20;
constexpr size_t kNodesShown = 16;
constexpr size_t kEventsShown = 20;
constexpr size_t kMostMarkers = 6;
constexpr size_t kDivergencesShown = 20;
constexpr size_t kKeysShown = 30;
constexpr size_t kTenantsShown = 30;
constexpr float kPlotWidth = 520;
constexpr float kPlotHeight = 210;
constexpr float kMapWidth = 1040;
constexpr float kHighestMap = 2000;
// Text of pictures: a proportional font of 11 pixels.
constexpr float kCharWidth = 6.2F;
constexpr float kLineHeight = 15;

// Everything but the colours of pictures, which follow.
constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--page:#ffffff;--text:#1c2126;--dim:#5a636d;--line:#d5dae0;
--card:#f4f6f8;--good:#0b5cad;--bad:#9a3d00}
@media screen and (prefers-color-scheme:dark){:root{--page:#15181c;--text:#e4e7ea;--dim:#9aa3ad;
--line:#343a41;--card:#1e2328;--good:#7db8f2;--bad:#f0a060}}
*{box-sizing:border-box}
body{margin:0 auto;padding:16px;max-width:1100px;background:var(--page);color:var(--text);
font:15px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1{font-size:1.6em;margin:.2em 0}h2{font-size:1.2em;margin:1.8em 0 .5em;
border-bottom:1px solid var(--line)}h3{font-size:1em;margin:1em 0 .4em}
p{margin:.4em 0}.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
.note{border-left:4px solid var(--bad);padding-left:8px}
dl.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:8px;margin:0}
dl.figures div{background:var(--card);padding:8px 10px}
dt{color:var(--dim);font-size:.85em}dd{margin:0;font-size:1.2em}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:12px}
figure{margin:0;break-inside:avoid}figcaption{color:var(--dim);font-size:.85em}
svg,canvas{display:block;width:100%;height:auto}
ul.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:.4em 0}
ul.legend svg{display:inline-block;width:14px;height:14px;vertical-align:-2px;margin-right:5px}
table{border-collapse:collapse;width:100%;font-size:.9em}
th,td{text-align:left;padding:3px 8px 3px 0;border-bottom:1px solid var(--line);vertical-align:top}
th.n,td.n{text-align:right}tr{break-inside:avoid}
pre{background:var(--card);padding:8px;white-space:pre-wrap;font-size:.85em}
@media screen and (max-width:700px){thead{position:absolute;left:-9999px}
table,tbody{display:block}tr{display:block;padding:6px 0;border-bottom:1px solid var(--line)}
td,td.n{display:flex;justify-content:space-between;gap:12px;border:0;padding:1px 0;text-align:right}
td::before{content:attr(data-label);color:var(--dim);text-align:left;flex:none;max-width:45%}}
@media print{body{max-width:none;font-size:11px}a{color:inherit}}
)css";

// --- Tables ---

struct HtmlColumn {
  std::string name;
  bool number = false;
};

class HtmlTable {
 public:
  explicit HtmlTable(std::vector<HtmlColumn> columns) : columns_(std::move(columns)) {
    rows_ = "<table><thead><tr>";
    for (const HtmlColumn& column : columns_) {
      absl::StrAppend(&rows_, "<th scope=\"col\"", column.number ? " class=\"n\"" : "", ">",
                      XmlEscaped(column.name), "</th>");
    }
    rows_ += "</tr></thead><tbody>\n";
  }

  // A cell per column.
  void AddRow(const std::vector<std::string>& cells, absl::string_view last_class = "") {
    rows_ += "<tr>";
    for (size_t c = 0; c < cells.size(); ++c) {
      std::string classes = columns_[c].number ? "n" : "";
      if (c + 1 == cells.size() && !last_class.empty()) {
        absl::StrAppend(&classes, classes.empty() ? "" : " ", last_class);
      }
      absl::StrAppend(
          &rows_, "<td", classes.empty() ? "" : absl::StrCat(" class=\"", classes, "\""),
          " data-label=\"", XmlEscaped(columns_[c].name), "\">", XmlEscaped(cells[c]), "</td>");
    }
    rows_ += "</tr>\n";
  }

  std::string Html() const { return absl::StrCat(rows_, "</tbody></table>\n"); }

 private:
  std::vector<HtmlColumn> columns_;
  std::string rows_;
};

// Some columns of the first `limit` rows of a source, in the model's order.
std::string SourceTable(const TableSource& source, TableModel* order,
                        const std::vector<size_t>& columns, size_t limit) {
  std::vector<HtmlColumn> heads;
  for (const size_t c : columns) {
    heads.push_back(
        {source.columns()[c].name, source.columns()[c].kind == TableColumn::Kind::kNumber});
  }
  HtmlTable table(std::move(heads));
  for (size_t i = 0; i < std::min(limit, order->size()); ++i) {
    std::vector<std::string> cells;
    for (const size_t c : columns) cells.push_back(source.Shown(order->row(i), c));
    table.AddRow(cells);
  }
  std::string html = table.Html();
  if (order->size() > limit) {
    absl::StrAppend(&html, "<p class=\"dim\">",
                    GroupedDigits(static_cast<int64_t>(order->size() - limit)),
                    " more are not shown.</p>\n");
  }
  return html;
}

// --- Pictures ---

// Colours of pictures as CSS variables, with a value for each scheme.
class SchemeColours {
 public:
  // "var(--v3)" for a pair of colours such as "#aabbcc".
  std::string Variable(absl::string_view light, absl::string_view dark) {
    const auto [entry, is_new] = numbers_.try_emplace(
        std::make_pair(std::string(light), std::string(dark)), numbers_.size());
    return absl::StrCat("var(--v", entry->second, ")");
  }

  std::string Css() const {
    std::string light = ":root{";
    std::string dark = "@media screen and (prefers-color-scheme:dark){:root{";
    for (const auto& [colours, number] : numbers_) {
      absl::StrAppend(&light, "--v", number, ":", colours.first, ";");
      absl::StrAppend(&dark, "--v", number, ":", colours.second, ";");
    }
    return absl::StrCat(light, "}\n", dark, "}}\n");
  }

 private:
  std::map<std::pair<std::string, std::string>, size_t> numbers_;
};

std::string CssColour(Rgb colour) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const unsigned channel : {colour.red, colour.green, colour.blue}) {
    text += kDigits[channel >> 4];
    text += kDigits[channel & 15U];
  }
  return text;
}

// The picture in both themes as one: the two texts differ in colours only.
std::string MergeSchemes(absl::string_view light, absl::string_view dark, SchemeColours* colours) {
  constexpr absl::string_view kBefore = "=\"#";
  constexpr size_t kColourLength = 7;
  if (light.size() != dark.size()) return std::string(light);
  std::string merged;
  size_t at = 0;
  while (true) {
    const size_t found = light.find(kBefore, at);
    if (found == absl::string_view::npos) break;
    const size_t colour = found + kBefore.size() - 1;
    absl::StrAppend(
        &merged, light.substr(at, colour - at),
        colours->Variable(light.substr(colour, kColourLength), dark.substr(colour, kColourLength)));
    at = colour + kColourLength;
  }
  absl::StrAppend(&merged, light.substr(at));
  return merged;
}

std::string PlotFigure(const PlotSpec& light, const PlotSpec& dark, PlotFrame frame,
                       const std::string& id, absl::string_view caption, SchemeColours* colours) {
  const auto draw = [&](const PlotSpec& spec, ThemeKind theme) {
    frame.theme = theme;
    PlotModel plot(spec);
    const PlotPicture& picture = plot.Draw(frame, std::nullopt);
    SvgOptions options;
    options.width = frame.width;
    options.height = frame.height;
    options.theme = theme;
    options.title = absl::StrCat(spec.title, " ", spec.subtitle);
    options.id = id;
    const DrawList* const lists[] = {&picture.base, &picture.overlay};
    return SvgText(lists, options);
  };
  return absl::StrCat(
      "<figure>",
      MergeSchemes(draw(light, ThemeKind::kLight), draw(dark, ThemeKind::kDark), colours),
      "<figcaption>", XmlEscaped(caption), "</figcaption></figure>\n");
}

// A plot of one series of A and, if there is one, of B. `name`: of the series in the legend.
std::string SeriesFigure(const RunReport& a, const RunReport* b, const Pyramid RunReport::*series,
                         PlotSpec spec, absl::string_view name, const std::string& id,
                         absl::string_view caption, SchemeColours* colours) {
  if ((a.*series).empty() || (b != nullptr && (b->*series).empty())) return "";
  if (b != nullptr && a.by_load != b->by_load) return "";
  const auto with_inks = [&](ThemeKind kind) {
    PlotSpec themed = spec;
    const Theme& theme = ThemeOf(kind);
    PlotSeries first;
    first.name = b == nullptr ? std::string(name) : "A";
    first.data = &(a.*series);
    first.ink = CategoryInk(theme, 0);
    first.filled = b == nullptr;
    themed.series.push_back(first);
    if (b != nullptr) {
      PlotSeries second;
      second.name = "B";
      second.data = &(b->*series);
      second.ink = CategoryInk(theme, 1);
      themed.series.push_back(second);
      themed.differences.push_back({0, 1});
    }
    if (b == nullptr && a.events.size() <= kMostMarkers && !a.by_load) {
      for (const ReportEvent& event : a.events) {
        PlotMarker marker;
        marker.time = event.time;
        marker.colour = theme.dim_text;
        themed.markers.push_back(marker);
      }
    }
    if (a.by_load) themed.load = &a.load;
    return themed;
  };
  PlotFrame frame;
  frame.width = kPlotWidth;
  frame.height = kPlotHeight;
  frame.char_width = kCharWidth;
  frame.line_height = kLineHeight;
  frame.end = b == nullptr ? a.series_end : std::max(a.series_end, b->series_end);
  frame.end = std::max(frame.end, SimTime(1));
  frame.x = a.by_load ? PlotX::kLoad : PlotX::kTime;
  return PlotFigure(with_inks(ThemeKind::kLight), with_inks(ThemeKind::kDark), frame, id, caption,
                    colours);
}

// A plot of several series of one run on top of each other, the first one at the bottom.
std::string StackFigure(const RunReport& run, const std::vector<ReportSeries>& series,
                        PlotSpec spec, const std::string& id, absl::string_view caption,
                        SchemeColours* colours) {
  if (series.empty()) return "";
  spec.stacked = true;
  const auto with_inks = [&](ThemeKind kind) {
    PlotSpec themed = spec;
    for (size_t i = 0; i < series.size(); ++i) {
      PlotSeries layer;
      layer.name = series[i].name;
      layer.data = &series[i].data;
      layer.ink = CategoryInk(ThemeOf(kind), i);
      themed.series.push_back(std::move(layer));
    }
    return themed;
  };
  PlotFrame frame;
  frame.width = kPlotWidth;
  frame.height = kPlotHeight;
  frame.char_width = kCharWidth;
  frame.line_height = kLineHeight;
  frame.end = std::max(run.series_end, SimTime(1));
  return PlotFigure(with_inks(ThemeKind::kLight), with_inks(ThemeKind::kDark), frame, id, caption,
                    colours);
}

// --- The map as a canvas ---

// A JavaScript string. Names of nodes are ASCII; other signs become '?'.
std::string ScriptText(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      quoted += '?';
    } else if (c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      absl::StrAppend(&quoted, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

void AppendTenths(float value, std::string* out) {
  absl::StrAppend(out, static_cast<int64_t>(value * 10), ",");
}

// Items as [kind, light, dark, alpha, hatched, line width, [numbers]] or, for texts, [3, light,
// dark, x, y, anchor, text]. Numbers are tenths of pixels.
std::string CanvasItems(const DrawList& light, const DrawList& dark) {
  std::string items;
  for (size_t i = 0; i < std::min(light.items().size(), dark.items().size()); ++i) {
    const DrawItem& item = light.items()[i];
    if (item.kind == DrawKind::kTexts) {
      for (size_t t = 0; t < item.count; ++t) {
        const TextItem& text = light.texts(item)[t];
        absl::StrAppend(&items, "[3,\"", CssColour(text.colour), "\",\"",
                        CssColour(dark.texts(dark.items()[i])[t].colour), "\",");
        AppendTenths(text.at.x, &items);
        AppendTenths(text.at.y, &items);
        absl::StrAppend(&items, static_cast<int>(text.anchor), ",", ScriptText(text.text), "],\n");
      }
      continue;
    }
    const int kind = item.kind == DrawKind::kFills ? 0 : item.kind == DrawKind::kOutlines ? 1 : 2;
    absl::StrAppend(&items, "[", kind, ",\"", CssColour(item.ink.colour), "\",\"",
                    CssColour(dark.items()[i].ink.colour), "\",", int{item.ink.alpha}, ",",
                    item.ink.hatch == Hatch::kNone ? 0 : 1, ",");
    AppendTenths(item.line_width, &items);
    items += "[";
    if (item.kind == DrawKind::kPolyline) {
      for (const Point& point : light.points(item)) {
        AppendTenths(point.x, &items);
        AppendTenths(point.y, &items);
      }
    } else {
      for (const Rect& rect : light.rects(item)) {
        AppendTenths(rect.x, &items);
        AppendTenths(rect.y, &items);
        AppendTenths(rect.width, &items);
        AppendTenths(rect.height, &items);
      }
    }
    items += "]],\n";
  }
  return items;
}

constexpr char kCanvasScript[] = R"js((function(id,back,mark,items){
var c=document.getElementById(id),g=c.getContext("2d");
var m=window.matchMedia("(prefers-color-scheme: dark)");
function hatch(colour){var k=document.createElement("canvas"),h=k.getContext("2d");
k.width=k.height=6;h.strokeStyle=colour;h.beginPath();h.moveTo(0,6);h.lineTo(6,0);h.stroke();
return g.createPattern(k,"repeat");}
function draw(){var s=m.matches?1:0,lines=hatch(mark[s]);g.globalAlpha=1;g.fillStyle=back[s];
g.fillRect(0,0,c.width,c.height);items.forEach(function(e){var n,i;g.globalAlpha=1;
if(e[0]===3){g.fillStyle=e[1+s];g.font="11px sans-serif";g.textBaseline="middle";
g.textAlign=["left","center","right"][e[5]];g.fillText(e[6],e[3]/10,e[4]/10);return;}
g.globalAlpha=e[3]/255;g.lineWidth=e[5]/10;n=e[6];g.strokeStyle=e[1+s];
if(e[0]===2){g.beginPath();for(i=0;i<n.length;i+=2)g.lineTo(n[i]/10,n[i+1]/10);g.stroke();return;}
for(i=0;i<n.length;i+=4){var x=n[i]/10,y=n[i+1]/10,w=n[i+2]/10,h=n[i+3]/10;
if(e[0]===1){g.strokeRect(x,y,w,h);continue;}g.fillStyle=e[1+s];g.fillRect(x,y,w,h);
if(e[4]){g.fillStyle=lines;g.fillRect(x,y,w,h);}}});}
draw();if(m.addEventListener)m.addEventListener("change",draw);}))js";

std::string CanvasOf(const DrawList& light, const DrawList& dark, float width, float height,
                     const std::string& id, size_t gpus) {
  const Theme& light_theme = ThemeOf(ThemeKind::kLight);
  const Theme& dark_theme = ThemeOf(ThemeKind::kDark);
  const auto pair = [](Rgb a, Rgb b) {
    return absl::StrCat("[\"", CssColour(a), "\",\"", CssColour(b), "\"]");
  };
  return absl::StrCat(
      "<canvas id=\"", id, "\" width=\"", static_cast<int>(width), "\" height=\"",
      static_cast<int>(height), "\" role=\"img\" aria-label=\"Map of the cluster\"></canvas>\n",
      "<noscript><p>The map of ", GroupedDigits(static_cast<int64_t>(gpus)),
      " GPUs is drawn by a script; the table of nodes needs none.</p></noscript>\n<script>",
      kCanvasScript, "(\"", id, "\",", pair(light_theme.panel, dark_theme.panel), ",",
      pair(light_theme.panel, dark_theme.panel), ",[", CanvasItems(light, dark), "]);</script>\n");
}

// --- The map ---

std::string Swatch(const MapLegendRow& light, const MapLegendRow& dark, const std::string& id,
                   SchemeColours* colours) {
  const auto draw = [&](const MapLegendRow& row, ThemeKind theme) {
    DrawList list;
    list.AddRect({0, 0, 14, 14}, row.ink);
    SvgOptions options;
    options.width = 14;
    options.height = 14;
    options.theme = theme;
    options.id = id;
    const DrawList* const lists[] = {&list};
    return SvgText(lists, options);
  };
  return MergeSchemes(draw(light, ThemeKind::kLight), draw(dark, ThemeKind::kDark), colours);
}

std::string MapFigure(const ReportMap& map, const std::string& id, SchemeColours* colours) {
  if (map.data.gpus.empty()) return "<p>This cluster has no GPUs.</p>\n";
  ClusterMap light_map(&map.data);
  light_map.Arrange(MapGrouping::kModel, MapOrder::kName, 2);
  ClusterMap dark_map(&map.data);
  dark_map.Arrange(MapGrouping::kModel, MapOrder::kName, 2);
  MapView view = light_map.Fit(kMapWidth, kHighestMap);
  const float height = std::clamp(view.scale * light_map.height(), 60.0F, kHighestMap);
  view.height = height;
  view.now = map.time;
  view.char_width = kCharWidth;
  view.line_height = kLineHeight;
  view.theme = ThemeKind::kLight;
  const DrawList& light = light_map.Draw(view, nullptr);
  view.theme = ThemeKind::kDark;
  const DrawList& dark = dark_map.Draw(view, nullptr);
  std::string html = "<figure>";
  if (map.data.gpus.size() > kReportSvgGpus) {
    html += CanvasOf(light, dark, kMapWidth, height, id, map.data.gpus.size());
  } else {
    SvgOptions options;
    options.width = kMapWidth;
    options.height = height;
    options.title = absl::StrCat("Map of the cluster. ", map.title);
    options.id = id;
    const DrawList* const light_lists[] = {&light};
    const DrawList* const dark_lists[] = {&dark};
    options.theme = ThemeKind::kLight;
    const std::string light_svg = SvgText(light_lists, options);
    options.theme = ThemeKind::kDark;
    html += MergeSchemes(light_svg, SvgText(dark_lists, options), colours);
  }
  html += "<ul class=\"legend\">\n";
  const std::vector<MapLegendRow> rows = light_map.Legend(view.colour, ThemeKind::kLight);
  const std::vector<MapLegendRow> dark_rows = light_map.Legend(view.colour, ThemeKind::kDark);
  for (size_t r = 0; r < std::min(rows.size(), dark_rows.size()); ++r) {
    absl::StrAppend(&html, "<li>",
                    Swatch(rows[r], dark_rows[r], absl::StrCat(id, "-key-", r), colours),
                    XmlEscaped(rows[r].text), "</li>\n");
  }
  absl::StrAppend(&html, "</ul><figcaption>One column per GPU, slice 0 at the top.</figcaption>",
                  "</figure>\n");
  return html;
}

std::string NodesTable(const ReportMap& map) {
  TableModel order(&map.nodes);
  const bool slices = std::any_of(map.data.gpus.begin(), map.data.gpus.end(),
                                  [](const MapGpu& gpu) { return gpu.units != kShareUnits; });
  order.Filter([&](size_t row) { return map.nodes.row(row).gpus > 0; });
  order.SortBy(slices ? NodeTable::kStranded : NodeTable::kAllocated, true);
  std::vector<size_t> columns = {NodeTable::kName, NodeTable::kModel, NodeTable::kState,
                                 NodeTable::kPods, NodeTable::kAllocated};
  if (slices) columns.insert(columns.end(), {NodeTable::kHeld, NodeTable::kStranded});
  columns.push_back(NodeTable::kCpu);
  return absl::StrCat("<h3>Nodes with the most ", slices ? "stranded slices" : "allocated GPUs",
                      "</h3>\n", SourceTable(map.nodes, &order, columns, kNodesShown));
}

// --- Sections ---

std::string RunLine(const RunReport& run) {
  const auto part = [](absl::string_view label, absl::string_view value) {
    return value.empty() ? std::string() : absl::StrCat(label, " ", value, " · ");
  };
  const std::string& yaml = run.scenario_yaml;
  return XmlEscaped(absl::StrCat(
      part("seed", ScenarioValue(yaml, "seed")), part("mode", ScenarioValue(yaml, "mode")),
      part("policy", ScenarioValue(yaml, "scheduler.policy")),
      part("queue", ScenarioValue(yaml, "scheduler.queue")), "drasim ", run.drasim_version, " · ",
      GroupedDigits(static_cast<int64_t>(run.records)), " records · ",
      run.partial ? "partial" : absl::StrCat("fingerprint ", HexHash(run.fingerprint)), " · ",
      run.path));
}

std::string HeaderOf(const RunReport& a, const RunReport* b) {
  std::string html = absl::StrCat("<header><h1>", XmlEscaped(a.name));
  if (b != nullptr) absl::StrAppend(&html, " and ", XmlEscaped(b->name));
  html += "</h1>\n";
  const std::string description = ScenarioValue(a.scenario_yaml, "description");
  if (!description.empty()) absl::StrAppend(&html, "<p>", XmlEscaped(description), "</p>\n");
  absl::StrAppend(&html, "<p class=\"dim\">", b == nullptr ? "" : "A: ", RunLine(a), "</p>\n");
  if (b != nullptr) absl::StrAppend(&html, "<p class=\"dim\">B: ", RunLine(*b), "</p>\n");
  const RunReport* const runs[] = {&a, b};
  for (const RunReport* run : runs) {
    if (run == nullptr || !run->partial) continue;
    absl::StrAppend(&html, "<p class=\"note\">", XmlEscaped(run->path),
                    " is partial: the run was interrupted, or still goes on. The report ends with "
                    "its last record.</p>\n");
  }
  return html + "</header>\n";
}

std::string FiguresSection(const RunFigures& figures) {
  std::string html = "<section><h2>Key figures</h2>\n<dl class=\"figures\">\n";
  const auto add = [&](absl::string_view name, const std::string& value) {
    absl::StrAppend(&html, "<div><dt>", name, "</dt><dd>", XmlEscaped(value), "</dd></div>\n");
  };
  const auto percent = [](double value) { return absl::StrCat(FixedText(value, 2), " %"); };
  if (figures.has_gpus && figures.end > SimTime()) {
    add("GPUs allocated, mean", percent(figures.allocated_percent_mean));
  }
  if (figures.has_gpus) {
    add("GPUs allocated, peak", percent(figures.allocated_percent_peak));
    add("GPUs allocated, at the end", percent(figures.allocated_percent_end));
  }
  if (figures.has_slices && figures.end > SimTime()) {
    add("slices stranded, mean", percent(figures.stranded_percent_mean));
  }
  add("pods", GroupedDigits(figures.pods));
  add("started", GroupedDigits(figures.started));
  add("finished", GroupedDigits(figures.finished));
  add("waiting at the end", GroupedDigits(figures.waiting));
  if (figures.dropped > 0) add("given up", GroupedDigits(figures.dropped));
  if (figures.evictions > 0) add("evictions", GroupedDigits(figures.evictions));
  add("failed attempts", GroupedDigits(figures.attempts_failed));
  if (figures.end > SimTime() && figures.waits.pods > 0) {
    const auto wait = [](SimDuration length) { return WaitText(length); };
    add("wait, mean", wait(figures.waits.mean));
    add("wait, p50", wait(figures.waits.p50));
    add("wait, p95", wait(figures.waits.p95));
    add("longest wait", wait(figures.waits.longest));
    add("most pods waiting", GroupedDigits(figures.most_waiting));
  }
  add("end of the run", TimeText(figures.end));
  return html + "</dl></section>\n";
}

std::string PlotsSection(const RunReport& a, const RunReport* b, SchemeColours* colours) {
  PlotSpec allocated;
  allocated.title = "GPUs allocated";
  allocated.unit = Unit::kPercent;
  allocated.high = 100;
  PlotSpec waiting;
  waiting.title = "Pods waiting";
  PlotSpec fragmentation;
  fragmentation.title = a.slices ? "Stranded slices" : "Fragmentation";
  fragmentation.unit = Unit::kPercent;
  const absl::string_view axis = a.by_load ? "over requested GPUs, % of the cluster" : "over time";
  std::string plots =
      SeriesFigure(a, b, &RunReport::allocated, allocated, "allocated", "plot-allocated",
                   absl::StrCat("% of the GPUs of available nodes, ", axis), colours);
  // A fill decides on each pod as it arrives.
  if (!a.by_load && b == nullptr && !a.verdicts.empty()) {
    plots += StackFigure(a, a.verdicts, waiting, "plot-waiting",
                         "pods that hold nothing and have not ended, by last verdict, over time",
                         colours);
  } else if (!a.by_load) {
    plots += SeriesFigure(a, b, &RunReport::waiting, waiting, "waiting", "plot-waiting",
                          "pods that hold nothing and have not ended, over time", colours);
  }
  if (b == nullptr || a.slices == b->slices) {
    plots += SeriesFigure(
        a, b, &RunReport::fragmentation, fragmentation, a.slices ? "stranded" : "fragmented",
        "plot-fragmentation",
        absl::StrCat(a.slices ? "free memory slices in excess of what further instances can cover, "
                                "% of all slices, "
                              : "idle GPUs that typical pods could not use (FGD), % of idle GPUs, ",
                     axis),
        colours);
  }
  PlotSpec calls;
  calls.title = "Calls";
  calls.unit = Unit::kPerSecond;
  if (b == nullptr) {
    plots += StackFigure(a, a.calls, calls, "plot-calls",
                         "calls of the API server per second, by client, over time", colours);
  }
  if (plots.empty()) return "";
  return absl::StrCat("<section><h2>", a.by_load ? "Over load" : "Over time",
                      "</h2>\n<div class=\"plots\">\n", plots, "</div></section>\n");
}

std::string EventsSection(const RunReport& a) {
  if (a.events.empty()) return "";
  HtmlTable table({{"time", true}, {"change", false}});
  for (size_t i = 0; i < std::min(kEventsShown, a.events.size()); ++i) {
    table.AddRow({TimeText(a.events[i].time), a.events[i].text});
  }
  std::string html = absl::StrCat("<section><h2>Changes of nodes</h2>\n", table.Html());
  const int64_t more = a.node_changes - static_cast<int64_t>(kEventsShown);
  if (more > 0) {
    absl::StrAppend(&html, "<p class=\"dim\">", GroupedDigits(more), " more are not shown.</p>\n");
  }
  return html + "</section>\n";
}

std::string MapsSection(const RunReport& run, absl::string_view label, absl::string_view id,
                        SchemeColours* colours) {
  std::string html = absl::StrCat("<section><h2>Cluster", label, "</h2>\n");
  for (size_t m = 0; m < run.maps.size(); ++m) {
    absl::StrAppend(&html, "<h3>", XmlEscaped(run.maps[m].title), "</h3>\n",
                    MapFigure(run.maps[m], absl::StrCat(id, "-", m), colours));
    if (!run.maps[m].data.gpus.empty()) html += NodesTable(run.maps[m]);
  }
  return html + "</section>\n";
}

// Claims that are not allocated yet, the longest in their state first.
std::vector<size_t> WaitingClaims(const ClaimTable& claims, size_t most) {
  std::vector<size_t> waiting;
  for (size_t c = 0; c < claims.rows(); ++c) {
    if (claims.row(c).state < ClaimState::kAllocated) waiting.push_back(c);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [&](size_t a, size_t b) {
    return claims.row(a).in_state > claims.row(b).in_state;
  });
  waiting.resize(std::min(waiting.size(), most));
  return waiting;
}

std::string ClaimsSection(const RunReport& run, absl::string_view label) {
  std::string parts;
  for (const ReportMap& map : run.maps) {
    if (map.claims.rows() == 0) continue;
    absl::StrAppend(&parts, "<h3>", XmlEscaped(map.title), "</h3>\n<dl class=\"figures\">\n");
    const absl::Span<const int64_t> by_state = map.claims.by_state();
    for (size_t s = 0; s < by_state.size(); ++s) {
      if (by_state[s] == 0) continue;
      absl::StrAppend(&parts, "<div><dt>", XmlEscaped(ClaimStateName(static_cast<ClaimState>(s))),
                      "</dt><dd>", GroupedDigits(by_state[s]), "</dd></div>\n");
    }
    parts += "</dl>\n";
    const std::vector<size_t> waiting = WaitingClaims(map.claims, kLongestShown);
    if (waiting.empty()) continue;
    HtmlTable table({{"claim", false},
                     {"pod", false},
                     {"class", false},
                     {"state", false},
                     {"for", true},
                     {"driver asked", true},
                     {"last message", false}});
    for (const size_t c : waiting) {
      const ClaimTableRow& claim = map.claims.row(c);
      table.AddRow({claim.name, claim.pod, claim.class_name,
                    std::string(ClaimStateName(claim.state)), WaitText(claim.in_state),
                    absl::StrCat(claim.asked), claim.message});
    }
    absl::StrAppend(&parts, "<p>Without devices yet, the longest in their state first:</p>\n",
                    table.Html());
  }
  if (parts.empty()) return "";
  return absl::StrCat("<section><h2>Claims", label, "</h2>\n", parts, "</section>\n");
}

std::string WaitsSection(const RunReport& run, absl::string_view label) {
  std::vector<size_t> all(run.pods.rows());
  for (size_t p = 0; p < all.size(); ++p) all[p] = p;
  std::string html = absl::StrCat("<section><h2>Waits", label, "</h2>\n");
  HtmlTable groups({{"wants", false},
                    {"pods", true},
                    {"waiting", true},
                    {"running", true},
                    {"wait, mean", true},
                    {"p95", true},
                    {"longest", true}});
  const std::vector<WantsGroup> by_wants = GroupByWants(run.pods, all);
  for (size_t g = 0; g < std::min(kTenantsShown, by_wants.size()); ++g) {
    const WantsGroup& group = by_wants[g];
    groups.AddRow({group.wants, GroupedDigits(group.pods), GroupedDigits(group.waiting),
                   GroupedDigits(group.running), WaitText(group.waits.mean),
                   WaitText(group.waits.p95), WaitText(group.waits.longest)});
  }
  absl::StrAppend(&html, "<h3>From arrival to start, by what pods want</h3>\n", groups.Html());
  const std::vector<size_t> longest = LongestWaits(run.pods, all, kLongestShown);
  if (longest.empty()) return html + "<p>No pod has waited.</p></section>\n";
  HtmlTable pods({{"pod", false},
                  {"wants", false},
                  {"waits", true},
                  {"tries", true},
                  {"state", false},
                  {"last reason", false}});
  for (const size_t p : longest) {
    pods.AddRow({std::string(run.pods.name(p)), run.pods.wants(p), WaitText(run.pods.WaitOf(p)),
                 absl::StrCat(run.pods.row(p).attempts_failed),
                 std::string(PodStateName(run.pods.row(p).phase)),
                 std::string(run.pods.verdict(p))});
  }
  absl::StrAppend(&html, "<h3>Longest waits</h3>\n", pods.Html(), "</section>\n");
  return html;
}

std::string TenantsSection(const RunReport& run, absl::string_view label) {
  const TenantTable tenants(run.pods);
  if (tenants.rows() == 0 || (tenants.rows() == 1 && tenants.tenant(0) == 0)) return "";
  TableModel order(&tenants);
  order.SortBy(TenantTable::kGpuHours, true);
  return absl::StrCat(
      "<section><h2>Tenants", label, "</h2>\n",
      SourceTable(tenants, &order,
                  {TenantTable::kName, TenantTable::kPods, TenantTable::kWaiting,
                   TenantTable::kRunning, TenantTable::kGpuHours, TenantTable::kWaitP50,
                   TenantTable::kWaitP95, TenantTable::kLongestWait},
                  kTenantsShown),
      "</section>\n");
}

std::string ScenarioKeys(const RunReport& a, const RunReport& b) {
  const absl::StatusOr<std::vector<KeyDifference>> keys =
      CompareScenarios(a.scenario_yaml, b.scenario_yaml);
  if (!keys.ok()) return "";
  if (keys->empty()) return "<p>The scenarios are the same.</p>\n";
  HtmlTable table({{"key", false}, {"A", false}, {"B", false}});
  for (size_t k = 0; k < std::min(kKeysShown, keys->size()); ++k) {
    const KeyDifference& key = (*keys)[k];
    table.AddRow({key.key, key.a.empty() ? "-" : key.a, key.b.empty() ? "-" : key.b});
  }
  std::string html = table.Html();
  if (keys->size() > kKeysShown) {
    absl::StrAppend(&html, "<p class=\"dim\">", keys->size() - kKeysShown,
                    " more are not shown.</p>\n");
  }
  return html;
}

std::string CompareSection(const RunReport& a, const RunReport& b) {
  const CompareModel compare(&a.pods, a.figures, &b.pods, b.figures, CompareOptions());
  std::string html = "<section><h2>A against B</h2>\n";
  HtmlTable deltas({{"figure", false}, {"A", true}, {"B", true}, {"B - A", true}, {"B is", false}});
  for (const FigureDelta& delta : compare.deltas()) {
    deltas.AddRow({delta.metric, delta.a, delta.b, delta.difference,
                   std::string(DeltaVerdictName(delta.verdict))},
                  delta.verdict == FigureDelta::Verdict::kBetter  ? "good"
                  : delta.verdict == FigureDelta::Verdict::kWorse ? "bad"
                                                                  : "");
  }
  absl::StrAppend(&html, deltas.Html(), "<h3>Scenario</h3>\n", ScenarioKeys(a, b));
  const auto& divergences = compare.divergences();
  const StartCounts& starts = compare.starts();
  absl::StrAppend(&html, "<h3>Divergences</h3>\n<p>", GroupedDigits(starts.later),
                  " pods start in B over 60 s later than in A, or not at all; ",
                  GroupedDigits(starts.earlier), " earlier; ", GroupedDigits(starts.alike),
                  " alike.");
  if (compare.only_in_a() + compare.only_in_b() > 0) {
    absl::StrAppend(&html, " Only in A: ", GroupedDigits(compare.only_in_a()),
                    " pods; only in B: ", GroupedDigits(compare.only_in_b()), ".");
  }
  html += "</p>\n";
  if (divergences.empty()) return html + "<p>No pod diverges.</p></section>\n";
  HtmlTable table({{"time", true}, {"pod", false}, {"differs in", false}, {"what", false}});
  for (size_t d = 0; d < std::min(kDivergencesShown, divergences.size()); ++d) {
    table.AddRow({TimeText(divergences[d].time), std::string(a.pods.name(divergences[d].a)),
                  std::string(DivergenceKindName(divergences[d].kind)), divergences[d].text});
  }
  absl::StrAppend(&html, "<p>The first of ",
                  GroupedDigits(static_cast<int64_t>(divergences.size())),
                  " pods with different decisions:</p>\n", table.Html(), "</section>\n");
  return html;
}

std::string ScenarioSection(const RunReport& run, absl::string_view label) {
  return absl::StrCat("<section><details><summary>Scenario", label, "</summary>\n<pre>",
                      XmlEscaped(run.scenario_yaml), "</pre></details></section>\n");
}

}  // namespace

std::string ReportPage(const RunReport& a, const RunReport* b) {
  SchemeColours colours;
  const absl::string_view of_a = b == nullptr ? "" : " in A";
  std::string body = HeaderOf(a, b);
  body += b == nullptr ? FiguresSection(a.figures) : CompareSection(a, *b);
  body += PlotsSection(a, b, &colours);
  body += MapsSection(a, of_a, "map-a", &colours);
  if (b != nullptr) body += MapsSection(*b, " in B", "map-b", &colours);
  body += EventsSection(a);
  body += ClaimsSection(a, of_a);
  if (b != nullptr) body += ClaimsSection(*b, " in B");
  body += WaitsSection(a, of_a);
  if (b != nullptr) body += WaitsSection(*b, " in B");
  body += TenantsSection(a, of_a);
  if (b != nullptr) body += TenantsSection(*b, " in B");
  body += ScenarioSection(a, of_a);
  if (b != nullptr) body += ScenarioSection(*b, " in B");
  return absl::StrCat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
                      "<title>", XmlEscaped(a.name), " - drasim report</title>\n<style>", kStyle,
                      colours.Css(), "</style></head>\n<body>\n", body, "</body></html>\n");
}

}  // namespace drasim::view
