#include "sim/outputs/openmetrics_output.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"

namespace drasim {
namespace {

// Label names may have letters, digits and underscores.
std::string LabelName(absl::string_view text) {
  std::string name;
  for (const char c : text) {
    name += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  return name;
}

std::string LabelValue(absl::string_view text) {
  std::string value;
  for (const char c : text) {
    if (c == '\n') {
      value += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') value += '\\';
    value += c;
  }
  return value;
}

std::string LabelsOf(const ResultFigure& figure) {
  std::string labels = absl::StrCat("{name=\"", LabelValue(figure.name), "\"");
  for (const auto& [name, value] : figure.labels) {
    absl::StrAppend(&labels, ",", LabelName(name), "=\"", LabelValue(value), "\"");
  }
  if (figure.seed.has_value()) absl::StrAppend(&labels, ",seed=\"", *figure.seed, "\"");
  return labels + "}";
}

// Families in the order of their first samples.
class Families {
 public:
  void Add(const std::string& family, const std::string& help, const std::string& labels,
           double value) {
    std::string& samples = samples_[family];
    if (samples.empty()) {
      order_.push_back(family);
      samples = absl::StrCat("# HELP ", family, " ", help, "\n# TYPE ", family, " gauge\n");
    }
    absl::StrAppend(&samples, family, labels, " ", DoubleText(value), "\n");
  }
  std::string Text() {
    std::string text;
    for (const std::string& family : order_) text += samples_[family];
    return text + "# EOF\n";
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> samples_;
};

}  // namespace

std::string OpenMetricsText(const ResultSet& results) {
  Families families;
  for (const ResultFigure& figure : results.figures) {
    const std::string family = absl::StrCat("drasim_", LabelName(figure.metric));
    const std::string labels = LabelsOf(figure);
    const std::string help = absl::StrCat(figure.metric, " of drasim ", results.command);
    families.Add(family, help, labels, figure.value);
    if (!figure.low.has_value() || !figure.high.has_value()) continue;
    families.Add(family + "_low", "Lower end of the 95 % confidence interval", labels, *figure.low);
    families.Add(family + "_high", "Upper end of the 95 % confidence interval", labels,
                 *figure.high);
  }
  return families.Text();
}

}  // namespace drasim
