#include "sim/outputs/bencher_output.h"

#include <cstddef>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/text/json_writer.h"

namespace drasim {

std::string BencherMetricJson(const ResultSet& results) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<const ResultFigure*>> figures;
  for (const ResultFigure& figure : results.figures) {
    std::string name = figure.name;
    if (figure.seed.has_value()) absl::StrAppend(&name, "/", *figure.seed);
    std::vector<const ResultFigure*>& of_name = figures[name];
    if (of_name.empty()) names.push_back(name);
    of_name.push_back(&figure);
  }
  JsonWriter json;
  json.BeginObject();
  for (const std::string& name : names) {
    json.Key(name).BeginObject();
    for (const ResultFigure* figure : figures[name]) {
      json.Key(figure->metric).BeginObject().Key("value").Double(figure->value);
      if (figure->low.has_value()) json.Key("lower_value").Double(*figure->low);
      if (figure->high.has_value()) json.Key("upper_value").Double(*figure->high);
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndObject();
  return json.text();
}

}  // namespace drasim
