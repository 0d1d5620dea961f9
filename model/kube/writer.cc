#include "model/kube/writer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/kube/go_json.h"
#include "model/kube/reader_json.h"
#include "model/kube/reader_schema.h"
#include "model/kube/writer_yaml.h"
#include "model/text/proto_scalar.h"
#include "model/text/yaml_node.h"

namespace drasim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

KubeValue TextValue(const std::string& text) {
  KubeValue value;
  value.kind = KubeValue::Kind::kText;
  value.text = text;
  return value;
}

void AddMember(const std::string& key, KubeValue member, KubeValue* map) {
  map->members.push_back({key, std::move(member)});
}

// Empty when there is none.
std::string MemberText(const KubeValue& map, absl::string_view key) {
  for (const KubeMember& member : map.members) {
    if (member.key == key) return member.value.text;
  }
  return "";
}

KubeValue MessageValue(const Message& message);

KubeValue NodeValue(absl::string_view json, const YamlNode& node) {
  KubeValue value;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      value.kind = KubeValue::Kind::kLiteral;
      value.text = "null";
      break;
    case YamlNode::Kind::kScalar:
      value = TextValue(node.text);
      if (json[node.position] != '"') value.kind = KubeValue::Kind::kLiteral;
      break;
    case YamlNode::Kind::kSequence:
      value.kind = KubeValue::Kind::kList;
      for (const YamlNode* item : node.children) value.items.push_back(NodeValue(json, *item));
      break;
    case YamlNode::Kind::kMapping:
      for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
        AddMember(node.children[i]->text, NodeValue(json, *node.children[i + 1]), &value);
      }
      break;
  }
  return value;
}

// The value of a field of the format FORMAT_JSON.
KubeValue JsonValue(const std::string& json) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(json, 0, &nodes);
  DRASIM_CHECK(tree.root != nullptr);
  return NodeValue(json, *tree.root);
}

// Whether a derived field notes that the repeated `field` is written, though it is empty.
bool IsGivenEmpty(const Message& message, const FieldDescriptor& field) {
  const FieldDescriptor* given = GivenFieldOf(field);
  return given != nullptr && message.GetReflection()->GetBool(message, given);
}

// Item `index` of a repeated field, or the value of a singular one (kSingular).
KubeValue SingleValue(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return MessageValue(index == kSingular ? reflection.GetMessage(message, &field)
                                           : reflection.GetRepeatedMessage(message, &field, index));
  }
  KubeValue value = TextValue(ScalarText(message, field, index));
  const auto format = field.options().GetExtension(proto::kube::format);
  if (format == proto::kube::FORMAT_JSON) return JsonValue(value.text);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) value.kind = KubeValue::Kind::kLiteral;
  return value;
}

KubeValue RepeatedValue(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  KubeValue value;
  value.kind = field.is_map() ? KubeValue::Kind::kMap : KubeValue::Kind::kList;
  for (int i = 0; i < size; ++i) {
    if (!field.is_map()) {
      value.items.push_back(SingleValue(message, field, i));
      continue;
    }
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const std::string key = ScalarText(entry, *field.message_type()->map_key(), kSingular);
    AddMember(key, SingleValue(entry, *field.message_type()->map_value(), kSingular), &value);
  }
  return value;
}

KubeValue MessageValue(const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  KubeValue value;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.options().GetExtension(proto::kube::derived)) continue;
    if (field.is_repeated()) {
      if (reflection.FieldSize(message, &field) == 0 && !IsGivenEmpty(message, field)) continue;
      AddMember(field.json_name(), RepeatedValue(message, field), &value);
    } else if (reflection.HasField(message, &field)) {
      AddMember(field.json_name(), SingleValue(message, field, kSingular), &value);
    }
  }
  return value;
}

KubeValue ObjectValue(const proto::kube::Object& object) {
  const Reflection& reflection = *object.GetReflection();
  const FieldDescriptor* member = reflection.GetOneofFieldDescriptor(
      object, proto::kube::Object::descriptor()->FindOneofByName("object"));
  DRASIM_CHECK(member != nullptr);
  KubeValue value = MessageValue(reflection.GetMessage(object, member));
  const std::string version = MemberText(value, "apiVersion");
  const std::string kind = MemberText(value, "kind");
  if (!version.empty() && !kind.empty()) return value;
  for (const KubeApi& api : KubeApisOf(*member)) {
    const bool fits =
        (version.empty() || version == api.version) && (kind.empty() || kind == api.kind);
    if (!fits) continue;
    if (version.empty()) AddMember("apiVersion", TextValue(api.version), &value);
    if (kind.empty()) AddMember("kind", TextValue(api.kind), &value);
    break;
  }
  return value;
}

// --- JSON as Go's encoder indents it for kubectl; json_writer.h has other escapes and indents ---

void AppendGoJson(const KubeValue& value, size_t level, std::string* out) {
  const auto new_line = [out](size_t depth) {
    out->push_back('\n');
    out->append(4 * depth, ' ');
  };
  switch (value.kind) {
    case KubeValue::Kind::kText:
      return AppendGoQuoted(value.text, out);
    case KubeValue::Kind::kLiteral:
      return absl::StrAppend(out, value.text);
    case KubeValue::Kind::kList:
      out->push_back('[');
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out->push_back(',');
        new_line(level + 1);
        AppendGoJson(value.items[i], level + 1, out);
      }
      if (!value.items.empty()) new_line(level);
      out->push_back(']');
      return;
    case KubeValue::Kind::kMap:
      break;
  }
  std::vector<const KubeMember*> members;
  for (const KubeMember& member : value.members) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const KubeMember* a, const KubeMember* b) { return a->key < b->key; });
  out->push_back('{');
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out->push_back(',');
    new_line(level + 1);
    AppendGoQuoted(members[i]->key, out);
    *out += ": ";
    AppendGoJson(members[i]->value, level + 1, out);
  }
  if (!members.empty()) new_line(level);
  out->push_back('}');
}

std::string ValueText(const KubeValue& value, KubeTextFormat format) {
  if (format == KubeTextFormat::kYaml) return KubeYamlText(value);
  std::string out;
  AppendGoJson(value, 0, &out);
  out.push_back('\n');
  return out;
}

}  // namespace

std::string PrintKubeObject(const proto::kube::Object& object, KubeTextFormat format) {
  return ValueText(ObjectValue(object), format);
}

std::string PrintKubeList(absl::Span<const proto::kube::Object* const> objects,
                          KubeTextFormat format) {
  KubeValue items;
  items.kind = KubeValue::Kind::kList;
  for (const proto::kube::Object* object : objects) items.items.push_back(ObjectValue(*object));
  KubeValue metadata;
  AddMember("resourceVersion", TextValue(""), &metadata);
  KubeValue list;
  AddMember("apiVersion", TextValue("v1"), &list);
  AddMember("items", std::move(items), &list);
  AddMember("kind", TextValue("List"), &list);
  AddMember("metadata", std::move(metadata), &list);
  return ValueText(list, format);
}

std::string KubeListItem(const proto::kube::Object& object) {
  const std::string list = PrintKubeList({&object}, KubeTextFormat::kYaml);
  absl::string_view item = list;
  DRASIM_CHECK(absl::ConsumePrefix(&item, kKubeListHead));
  DRASIM_CHECK(absl::ConsumeSuffix(&item, kKubeListTail));
  return std::string(item);
}

}  // namespace drasim
