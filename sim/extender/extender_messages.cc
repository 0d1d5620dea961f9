#include "sim/extender/extender_messages.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/kube/writer.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"

namespace drasim {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// Without the blanks and line breaks between words.
std::string Compact(absl::string_view json) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\n')) continue;
    out.push_back(c);
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') out.push_back(json[++i]);
  }
  return out;
}

JsonWriter NewRequest() { return JsonWriter(JsonWriter::Layout::kOneLine); }

std::string TextOf(const JsonWriter& json) {
  std::string text = json.text();
  text.pop_back();
  return text;
}

// --- Reading ---

absl::Status Mismatch(absl::string_view field, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("the extender's answer: ", field, " must be ", wanted));
}

absl::StatusOr<Value> Parse(absl::string_view json) {
  Value value;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &value);
  if (!status.ok()) return absl::InvalidArgumentError("the extender's answer is no JSON");
  return value;
}

// An object, or null for an empty one.
absl::StatusOr<Struct> ObjectOf(const Value& value, absl::string_view field) {
  if (value.kind_case() == Value::kNullValue) return Struct();
  if (value.kind_case() != Value::kStructValue) return Mismatch(field, "an object");
  return value.struct_value();
}

// The member of that name, else the first in the order of bytes that differs by case alone; null
// if it is not given.
const Value* Member(const Struct& object, absl::string_view name) {
  const Value* found = nullptr;
  const std::string* found_name = nullptr;
  for (const auto& [key, value] : object.fields()) {
    if (!absl::EqualsIgnoreCase(key, name)) continue;
    if (found != nullptr && key != name && (*found_name == name || *found_name < key)) continue;
    found = &value;
    found_name = &key;
  }
  return found == nullptr || found->kind_case() == Value::kNullValue ? nullptr : found;
}

absl::Status ReadText(const Struct& object, absl::string_view name, std::string* text) {
  const Value* value = Member(object, name);
  if (value == nullptr) return absl::OkStatus();
  if (value->kind_case() != Value::kStringValue) return Mismatch(name, "a string");
  *text = value->string_value();
  return absl::OkStatus();
}

absl::Status ReadInt(const Struct& object, absl::string_view name, int64_t* number) {
  constexpr double kLargest = 9007199254740992.0;  // 2^53: whole numbers are exact up to there
  const Value* value = Member(object, name);
  if (value == nullptr) return absl::OkStatus();
  const double read = value->number_value();
  if (value->kind_case() != Value::kNumberValue || std::floor(read) != read || read > kLargest ||
      read < -kLargest) {
    return Mismatch(name, "a whole number");
  }
  *number = static_cast<int64_t>(read);
  return absl::OkStatus();
}

absl::Status ReadTexts(const Struct& object, absl::string_view name,
                       std::map<std::string, std::string>* texts) {
  const Value* value = Member(object, name);
  if (value == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Struct map, ObjectOf(*value, name));
  for (const auto& [key, text] : map.fields()) {
    if (text.kind_case() != Value::kStringValue) return Mismatch(name, "an object of strings");
    (*texts)[key] = text.string_value();
  }
  return absl::OkStatus();
}

// The elements; null if there is no list.
absl::StatusOr<const ListValue*> ListOf(const Struct& object, absl::string_view name) {
  const Value* value = Member(object, name);
  if (value == nullptr) return nullptr;
  if (value->kind_case() != Value::kListValue) return Mismatch(name, "a list");
  return &value->list_value();
}

absl::Status ReadNodes(const Struct& answer, ExtenderFilterAnswer* out) {
  const Value* list = Member(answer, "Nodes");
  if (list == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Struct nodes, ObjectOf(*list, "Nodes"));
  out->nodes.emplace();
  ASSIGN_OR_RETURN(const ListValue* items, ListOf(nodes, "items"));
  if (items == nullptr) return absl::OkStatus();
  for (const Value& item : items->values()) {
    ASSIGN_OR_RETURN(const Struct node, ObjectOf(item, "items"));
    std::string& name = out->nodes->emplace_back();
    const Value* metadata = Member(node, "metadata");
    if (metadata == nullptr) continue;
    ASSIGN_OR_RETURN(const Struct meta, ObjectOf(*metadata, "metadata"));
    RETURN_IF_ERROR(ReadText(meta, "name", &name));
  }
  return absl::OkStatus();
}

}  // namespace

// --- Requests ---

std::string PodJson(const proto::kube::Pod& pod) {
  proto::kube::Object object;
  *object.mutable_pod() = pod;
  return Compact(PrintKubeObject(object, KubeTextFormat::kJson));
}

std::string NodeJson(const proto::kube::Node& node) {
  proto::kube::Object object;
  *object.mutable_node() = node;
  return Compact(PrintKubeObject(object, KubeTextFormat::kJson));
}

std::string ExtenderArgsWithNames(absl::string_view pod, absl::Span<const std::string> nodes) {
  JsonWriter json = NewRequest();
  json.BeginObject();
  json.Key("Pod").Json(pod);
  json.Key("Nodes").Null();
  json.Key("NodeNames").Strings(nodes);
  json.EndObject();
  return TextOf(json);
}

std::string ExtenderArgsWithNodes(absl::string_view pod, absl::Span<const std::string> nodes) {
  JsonWriter json = NewRequest();
  json.BeginObject();
  json.Key("Pod").Json(pod);
  json.Key("Nodes").BeginObject();
  json.Key("metadata").BeginObject().EndObject();
  json.Key("items").BeginArray();
  for (const std::string& node : nodes) json.Json(node);
  json.EndArray();
  json.EndObject();
  json.Key("NodeNames").Null();
  json.EndObject();
  return TextOf(json);
}

std::string ExtenderPreemptionArgs(absl::string_view pod,
                                   const std::map<std::string, ExtenderVictims>& by_node,
                                   bool meta) {
  JsonWriter json = NewRequest();
  json.BeginObject();
  json.Key("Pod").Json(pod);
  const auto write = [&] {
    json.BeginObject();
    for (const auto& [node, victims] : by_node) {
      json.Key(node).BeginObject();
      json.Key("Pods").BeginArray();
      for (const std::string& victim : victims.pods) {
        if (meta) {
          json.BeginObject().Key("UID").String(victim).EndObject();
        } else {
          json.Json(victim);
        }
      }
      json.EndArray();
      json.Key("NumPDBViolations").Int(victims.budget_violations);
      json.EndObject();
    }
    json.EndObject();
  };
  json.Key("NodeNameToVictims");
  if (meta) {
    json.Null();
  } else {
    write();
  }
  json.Key("NodeNameToMetaVictims");
  if (meta) {
    write();
  } else {
    json.Null();
  }
  json.EndObject();
  return TextOf(json);
}

std::string ExtenderBindingArgs(absl::string_view name, absl::string_view ns, absl::string_view uid,
                                absl::string_view node) {
  JsonWriter json = NewRequest();
  json.BeginObject();
  json.Key("PodName").String(name);
  json.Key("PodNamespace").String(ns);
  json.Key("PodUID").String(uid);
  json.Key("Node").String(node);
  json.EndObject();
  return TextOf(json);
}

// --- Answers ---

absl::StatusOr<ExtenderFilterAnswer> ReadExtenderFilterResult(absl::string_view json) {
  ASSIGN_OR_RETURN(const Value value, Parse(json));
  ASSIGN_OR_RETURN(const Struct answer, ObjectOf(value, "all"));
  ExtenderFilterAnswer out;
  RETURN_IF_ERROR(ReadText(answer, "Error", &out.error));
  RETURN_IF_ERROR(ReadTexts(answer, "FailedNodes", &out.failed));
  RETURN_IF_ERROR(ReadTexts(answer, "FailedAndUnresolvableNodes", &out.unresolvable));
  RETURN_IF_ERROR(ReadNodes(answer, &out));
  ASSIGN_OR_RETURN(const ListValue* names, ListOf(answer, "NodeNames"));
  if (names == nullptr) return out;
  out.node_names.emplace();
  for (const Value& name : names->values()) {
    if (name.kind_case() != Value::kStringValue) return Mismatch("NodeNames", "a list of strings");
    out.node_names->push_back(name.string_value());
  }
  return out;
}

absl::StatusOr<std::vector<HostPriority>> ReadHostPriorityList(absl::string_view json) {
  ASSIGN_OR_RETURN(const Value value, Parse(json));
  std::vector<HostPriority> out;
  if (value.kind_case() == Value::kNullValue) return out;
  if (value.kind_case() != Value::kListValue) return Mismatch("all", "a list");
  for (const Value& item : value.list_value().values()) {
    ASSIGN_OR_RETURN(const Struct entry, ObjectOf(item, "a score"));
    HostPriority& priority = out.emplace_back();
    RETURN_IF_ERROR(ReadText(entry, "Host", &priority.host));
    RETURN_IF_ERROR(ReadInt(entry, "Score", &priority.score));
  }
  return out;
}

absl::StatusOr<std::map<std::string, ExtenderVictims>> ReadExtenderPreemptionResult(
    absl::string_view json) {
  ASSIGN_OR_RETURN(const Value value, Parse(json));
  ASSIGN_OR_RETURN(const Struct answer, ObjectOf(value, "all"));
  std::map<std::string, ExtenderVictims> out;
  const Value* map = Member(answer, "NodeNameToMetaVictims");
  if (map == nullptr) return out;
  ASSIGN_OR_RETURN(const Struct by_node, ObjectOf(*map, "NodeNameToMetaVictims"));
  for (const auto& [node, given] : by_node.fields()) {
    ExtenderVictims& victims = out[node];
    ASSIGN_OR_RETURN(const Struct meta, ObjectOf(given, "the victims of a node"));
    RETURN_IF_ERROR(ReadInt(meta, "NumPDBViolations", &victims.budget_violations));
    ASSIGN_OR_RETURN(const ListValue* pods, ListOf(meta, "Pods"));
    if (pods == nullptr) continue;
    for (const Value& item : pods->values()) {
      ASSIGN_OR_RETURN(const Struct pod, ObjectOf(item, "a victim"));
      RETURN_IF_ERROR(ReadText(pod, "UID", &victims.pods.emplace_back()));
    }
  }
  return out;
}

absl::StatusOr<std::string> ReadExtenderBindingResult(absl::string_view json) {
  ASSIGN_OR_RETURN(const Value value, Parse(json));
  ASSIGN_OR_RETURN(const Struct answer, ObjectOf(value, "all"));
  std::string error;
  RETURN_IF_ERROR(ReadText(answer, "Error", &error));
  return error;
}

}  // namespace drasim
