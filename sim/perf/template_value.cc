#include "sim/perf/template_value.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/text/json_writer.h"
#include "model/text/yaml_node.h"

namespace drasim::perf {
namespace {

void WriteJson(const TemplateValue& value, JsonWriter* json) {
  switch (value.kind) {
    case TemplateValue::Kind::kMissing:
    case TemplateValue::Kind::kNull:
      json->Null();
      return;
    case TemplateValue::Kind::kBool:
      json->Bool(value.truth);
      return;
    case TemplateValue::Kind::kInt:
      json->Int(value.number);
      return;
    case TemplateValue::Kind::kReal:
      json->Number(DoubleText(value.real));
      return;
    case TemplateValue::Kind::kText:
      json->String(value.text);
      return;
    case TemplateValue::Kind::kList:
      json->BeginArray();
      for (const TemplateValue& item : value.items) WriteJson(item, json);
      json->EndArray();
      return;
    case TemplateValue::Kind::kMap:
      json->BeginObject();
      for (const auto& [name, field] : value.fields) {
        json->Key(name);
        WriteJson(field, json);
      }
      json->EndObject();
      return;
  }
}

}  // namespace

TemplateValue TemplateValue::Missing() {
  TemplateValue value;
  value.kind = Kind::kMissing;
  return value;
}

TemplateValue TemplateValue::Bool(bool truth) {
  TemplateValue value;
  value.kind = Kind::kBool;
  value.truth = truth;
  return value;
}

TemplateValue TemplateValue::Int(int64_t number) {
  TemplateValue value;
  value.kind = Kind::kInt;
  value.number = number;
  return value;
}

TemplateValue TemplateValue::Text(std::string text) {
  TemplateValue value;
  value.kind = Kind::kText;
  value.text = std::move(text);
  return value;
}

const TemplateValue* TemplateValue::Find(absl::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool TemplateValue::IsTrue() const {
  switch (kind) {
    case Kind::kMissing:
    case Kind::kNull:
      return false;
    case Kind::kBool:
      return truth;
    case Kind::kInt:
      return number != 0;
    case Kind::kReal:
      return real != 0;
    case Kind::kText:
      return !text.empty();
    case Kind::kList:
      return !items.empty();
    case Kind::kMap:
      return !fields.empty();
  }
  return false;
}

absl::string_view TemplateValue::KindName() const {
  switch (kind) {
    case Kind::kMissing:
      return "nothing";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
      return "a whole number";
    case Kind::kReal:
      return "a fraction";
    case Kind::kText:
      return "a text";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a mapping";
  }
  return "";
}

TemplateValue ValueOfYaml(const YamlNode& node) {
  TemplateValue value;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return value;
    case YamlNode::Kind::kSequence:
      value.kind = TemplateValue::Kind::kList;
      for (const YamlNode* item : node.children) value.items.push_back(ValueOfYaml(*item));
      return value;
    case YamlNode::Kind::kMapping:
      value.kind = TemplateValue::Kind::kMap;
      for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
        value.fields.emplace_back(node.children[i]->text, ValueOfYaml(*node.children[i + 1]));
      }
      return value;
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.text == "true" || node.text == "false") {
    return TemplateValue::Bool(node.text == "true");
  }
  int64_t number = 0;
  if (absl::SimpleAtoi(node.text, &number)) return TemplateValue::Int(number);
  double real = 0;
  const bool looks_real = node.text.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (looks_real && absl::SimpleAtod(node.text, &real) && std::isfinite(real)) {
    value.kind = TemplateValue::Kind::kReal;
    value.real = real;
    return value;
  }
  return TemplateValue::Text(node.text);
}

std::string PrintedValue(const TemplateValue& value) {
  switch (value.kind) {
    case TemplateValue::Kind::kBool:
      return value.truth ? "true" : "false";
    case TemplateValue::Kind::kInt:
      return absl::StrCat(value.number);
    case TemplateValue::Kind::kReal:
      return DoubleText(value.real);
    case TemplateValue::Kind::kText:
      return value.text;
    default:
      return JsonOfValue(value);
  }
}

std::string JsonOfValue(const TemplateValue& value) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  WriteJson(value, &json);
  std::string text = json.text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace drasim::perf
