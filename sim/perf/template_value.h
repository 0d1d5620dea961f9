// Values of the template language: parameters of a step, and results of expressions.
#ifndef DRASIM_SIM_PERF_TEMPLATE_VALUE_H_
#define DRASIM_SIM_PERF_TEMPLATE_VALUE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

struct YamlNode;

namespace perf {

struct TemplateValue {
  enum class Kind : uint8_t {
    kMissing,  // no parameter of that name: false, and an error when printed
    kNull,
    kBool,
    kInt,
    kReal,
    kText,
    kList,
    kMap,
  };

  Kind kind = Kind::kNull;
  bool truth = false;                                         // kBool
  int64_t number = 0;                                         // kInt
  double real = 0;                                            // kReal
  std::string text;                                           // kText
  std::vector<TemplateValue> items;                           // kList
  std::vector<std::pair<std::string, TemplateValue>> fields;  // kMap, in the order given

  static TemplateValue Missing();
  static TemplateValue Bool(bool truth);
  static TemplateValue Int(int64_t number);
  static TemplateValue Text(std::string text);

  // The member of a map; null if there is none.
  const TemplateValue* Find(absl::string_view name) const;
  // As in Go: false are missing values, null, false, zero, and whatever is empty.
  bool IsTrue() const;
  // "a number", "a text", ..., for messages.
  absl::string_view KindName() const;

  bool operator==(const TemplateValue&) const = default;
};

// A value of YAML 1.1's core types. Quotes are not known here, so "5" is a number.
TemplateValue ValueOfYaml(const YamlNode& node);

// As `{{.x}}` prints it. REQUIRES: not missing.
std::string PrintedValue(const TemplateValue& value);
// As one line of JSON; a missing value is null.
std::string JsonOfValue(const TemplateValue& value);

}  // namespace perf
}  // namespace drasim

#endif  // DRASIM_SIM_PERF_TEMPLATE_VALUE_H_
