#include "sim/outputs/perf_dash_output.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"

namespace drasim {
namespace {

std::string UnitOf(absl::string_view metric) {
  if (absl::EndsWith(metric, "_seconds")) return "s";
  if (absl::StrContains(metric, "percent")) return "%";
  if (absl::EndsWith(metric, "_kib")) return "KiB";
  return "";
}

struct Item {
  std::string unit;
  std::vector<const ResultFigure*> figures;
};

bool BelongsTo(const ResultFigure& figure, const Item& item) {
  const ResultFigure& first = *item.figures[0];
  return figure.name == first.name && figure.seed == first.seed &&
         UnitOf(figure.metric) == item.unit;
}

}  // namespace

std::string PerfDashJson(const ResultSet& results) {
  std::vector<Item> items;
  size_t begin = 0;  // of the items of the current name and seed
  for (const ResultFigure& figure : results.figures) {
    if (begin < items.size()) {
      const ResultFigure& last = *items[begin].figures[0];
      if (figure.name != last.name || figure.seed != last.seed) begin = items.size();
    }
    const auto item = std::find_if(items.begin() + static_cast<std::ptrdiff_t>(begin), items.end(),
                                   [&](const Item& i) { return BelongsTo(figure, i); });
    if (item != items.end()) {
      item->figures.push_back(&figure);
    } else {
      items.push_back({UnitOf(figure.metric), {&figure}});
    }
  }
  JsonWriter json;
  json.BeginDocument("perf-dash");
  json.Key("version").String("v1");
  json.Key("dataItems").BeginArray();
  for (const Item& item : items) {
    const ResultFigure& first = *item.figures[0];
    json.BeginObject().Key("data").BeginObject();
    for (const ResultFigure* figure : item.figures) json.Key(figure->metric).Double(figure->value);
    json.EndObject().Key("unit").String(item.unit);
    json.Key("labels").BeginObject().Key("Name").String(first.name);
    for (const auto& [label, value] : first.labels) json.Key(label).String(value);
    if (first.seed.has_value()) json.Key("seed").String(absl::StrCat(*first.seed));
    json.EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace drasim
