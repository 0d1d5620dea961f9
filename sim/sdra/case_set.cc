#include "sim/sdra/case_set.h"

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/kube/reader_json.h"
#include "model/kube/sdra_case_reader.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "policies/allocator/dra_features.h"
#include "sim/sdra/json_message.h"

namespace drasim {
namespace {

absl::StatusOr<JsonTree> ParseCaseTree(absl::string_view text, std::deque<YamlNode>* nodes) {
  const JsonTree tree = ParseJsonTree(text, 0, nodes);
  if (tree.root != nullptr) return tree;
  return absl::InvalidArgumentError(
      absl::StrCat("not a case: at byte ", tree.problem_position, ": ", tree.problem));
}

absl::StatusOr<StoredCase> ReadSdraCase(absl::string_view line) {
  std::deque<YamlNode> nodes;
  ASSIGN_OR_RETURN(const JsonTree tree, ParseCaseTree(line, &nodes));
  const YamlNode* given = JsonMember(*tree.root, "case");
  if (given == nullptr) return absl::InvalidArgumentError("not a case: no key `case`");
  StoredCase read;
  if (JsonMember(*tree.root, "want") != nullptr) read.line = std::string(line);
  if (JsonMember(*given, "steps") == nullptr) {
    ASSIGN_OR_RETURN(read.given, ReadAllocatorCase(line, *given));
    return read;
  }
  ASSIGN_OR_RETURN(const SdraLine plugin, SdraLine::Parse(line, "line"));
  ASSIGN_OR_RETURN(read.given, plugin.Case());
  return read;
}

absl::StatusOr<CaseSet> ReadLines(absl::string_view name, absl::string_view text) {
  CaseSet set;
  size_t number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty()) continue;
    absl::StatusOr<StoredCase> read = ReadSdraCase(line);
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", number, ": ", read.status().message()));
    }
    set.push_back(*std::move(read));
  }
  return set;
}

absl::StatusOr<CaseSet> ReadCelArray(absl::string_view name, absl::string_view text) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(text, 0, &nodes);
  if (tree.root == nullptr || tree.root->kind != YamlNode::Kind::kSequence) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": expected an array of cases",
        tree.root == nullptr ? absl::StrCat(": at byte ", tree.problem_position, ": ", tree.problem)
                             : ""));
  }
  CaseSet set;
  for (size_t i = 0; i < tree.root->children.size(); ++i) {
    absl::StatusOr<CelCase> read = ReadCelCase(text, *tree.root->children[i]);
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": case ", i + 1, ": ", read.status().message()));
    }
    set.push_back({*std::move(read), ""});
  }
  return set;
}

template <typename Message>
void WriteObjects(absl::string_view key, const std::vector<Message>& objects, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const Message& object : objects) WriteJson(object, QuantityForm::kAsWritten, json);
  json->EndArray();
}

void WriteUse(const DeviceUse& use, JsonWriter* json) {
  json->Key("AllocatedDevices").BeginArray();
  for (const DeviceId& id : use.dedicated) json->String(id.Text());
  json->EndArray();
  json->Key("AllocatedSharedDeviceIDs").BeginArray();
  for (const DeviceId& id : use.shared)
    json->BeginObject().Key("Device").String(id.Text()).EndObject();
  json->EndArray();
  json->Key("AggregatedCapacity").BeginArray();
  for (const auto& [id, consumed] : use.consumed) {
    json->BeginObject().Key("Device").String(id.Text()).Key("Consumed").BeginObject();
    for (const auto& [name, amount] : consumed) json->Key(name).String(amount.ToString());
    json->EndObject().EndObject();
  }
  json->EndArray();
}

std::string TextOfCase(const AllocatorCase& given) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject().Key("case").BeginObject();
  json.Key("Name").String(given.name).Key("Features").Strings(NamesOf(given.features));
  if (given.several_nodes) {
    WriteObjects("Nodes", given.nodes, &json);
  } else {
    json.Key("Node");
    WriteJson(given.nodes[0], QuantityForm::kAsWritten, &json);
  }
  WriteObjects("Classes", given.classes, &json);
  WriteObjects("Slices", given.slices, &json);
  WriteObjects("Claims", given.claims, &json);
  WriteUse(given.use, &json);
  json.EndObject().EndObject();
  return json.text();
}

std::string TextOfCase(const proto::kube::SdraCase& given) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject().Key("case");
  WriteJson(given, QuantityForm::kAsWritten, &json);
  json.EndObject();
  return json.text();
}

std::string TextOfCase(const CelCase& given) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject().Key("Name").String(given.name);
  json.Key("Expression").String(given.expression).Key("Driver").String(given.driver);
  json.Key("NewExpressions").Bool(given.options.new_expression);
  json.Key("EnableConsumableCapacity").Bool(given.options.consumable_capacity);
  json.Key("EnableListTypeAttributes").Bool(given.options.list_attributes);
  json.Key("AllowMultipleAllocations").Bool(given.device.allow_multiple_allocations());
  // Members of maps in order: a device alone has them as its own members.
  std::map<std::string, const proto::kube::DeviceAttribute*> attributes;
  for (const auto& [name, value] : given.device.attributes()) attributes[name] = &value;
  json.Key("Attributes").BeginObject();
  for (const auto& [name, value] : attributes) {
    WriteJson(*value, QuantityForm::kAsWritten, &json.Key(name));
  }
  json.EndObject();
  std::map<std::string, const proto::kube::DeviceCapacity*> capacities;
  for (const auto& [name, value] : given.device.capacity()) capacities[name] = &value;
  json.Key("Capacity").BeginObject();
  for (const auto& [name, value] : capacities) {
    WriteJson(*value, QuantityForm::kAsWritten, &json.Key(name));
  }
  json.EndObject().EndObject();
  return json.text();
}

}  // namespace

absl::StatusOr<CaseSet> ReadCaseSet(CaseKind kind, absl::string_view name, absl::string_view text) {
  return kind == CaseKind::kCel ? ReadCelArray(name, text) : ReadLines(name, text);
}

absl::string_view NameOf(const AnyCase& given) {
  if (const auto* const allocator = std::get_if<AllocatorCase>(&given)) return allocator->name;
  if (const auto* const cel = std::get_if<CelCase>(&given)) return cel->name;
  return std::get<proto::kube::SdraCase>(given).name();
}

std::string CaseText(const AnyCase& given) {
  return std::visit([](const auto& one) { return TextOfCase(one); }, given);
}

}  // namespace drasim
