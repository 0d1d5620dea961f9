#include "sim/sdra/json_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/proto/kube_parts.pb.h"
#include "model/quantity.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status WrongType(absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", expected));
}

proto::kube::Format FormatOf(const FieldDescriptor& field) {
  return field.options().GetExtension(proto::kube::format);
}

// The position behind the value that begins at `begin`.
size_t EndOfJson(absl::string_view text, size_t begin) {
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

class Merger {
 public:
  explicit Merger(absl::string_view text) : text_(text) {}

  absl::Status Merge(const YamlNode& node, Message* message) const {
    if (node.kind == YamlNode::Kind::kNull) return absl::OkStatus();
    if (node.kind != YamlNode::Kind::kMapping) return WrongType("an object");
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const std::string& name = node.children[i]->text;
      const FieldDescriptor* field = FieldOf(*message->GetDescriptor(), name);
      const YamlNode& value = *node.children[i + 1];
      if (field == nullptr || value.kind == YamlNode::Kind::kNull) continue;
      RETURN_IF_ERROR(AtJsonPlace(name, MergeField(value, *field, message)));
      MarkGiven(name, message);
    }
    return absl::OkStatus();
  }

 private:
  static const FieldDescriptor* FieldOf(const Descriptor& type, const std::string& name) {
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor* field = type.field(i);
      if (field->options().GetExtension(proto::kube::derived)) continue;
      if (field->json_name() == name) return field;
    }
    return nullptr;
  }

  // Sets the derived field of a list that is written, be it empty.
  static void MarkGiven(const std::string& name, Message* message) {
    const Descriptor& type = *message->GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor* field = type.field(i);
      if (!field->options().GetExtension(proto::kube::derived)) continue;
      const std::string given = absl::StrCat(
          "given", std::string(1, absl::ascii_toupper(static_cast<unsigned char>(name[0]))),
          name.substr(1));
      if (field->json_name() == given) message->GetReflection()->SetBool(message, field, true);
    }
  }

  absl::Status MergeField(const YamlNode& value, const FieldDescriptor& field,
                          Message* message) const {
    const Reflection& reflection = *message->GetReflection();
    if (field.is_map()) return MergeMap(value, field, message);
    if (!field.is_repeated()) {
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        return Merge(value, reflection.MutableMessage(message, &field));
      }
      return SetScalar(value, field, /*add=*/false, message);
    }
    if (value.kind != YamlNode::Kind::kSequence) return WrongType("a list");
    for (size_t i = 0; i < value.children.size(); ++i) {
      const YamlNode& item = *value.children[i];
      const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      const absl::Status added = is_message ? Merge(item, reflection.AddMessage(message, &field))
                                            : SetScalar(item, field, /*add=*/true, message);
      RETURN_IF_ERROR(AtJsonPlace(absl::StrCat("[", i, "]"), added));
    }
    return absl::OkStatus();
  }

  absl::Status MergeMap(const YamlNode& value, const FieldDescriptor& field,
                        Message* message) const {
    if (value.kind != YamlNode::Kind::kMapping) return WrongType("an object");
    const Descriptor& entry_type = *field.message_type();
    const FieldDescriptor& item = *entry_type.FindFieldByNumber(2);
    for (size_t i = 0; i + 1 < value.children.size(); i += 2) {
      Message* entry = message->GetReflection()->AddMessage(message, &field);
      entry->GetReflection()->SetString(entry, entry_type.FindFieldByNumber(1),
                                        value.children[i]->text);
      RETURN_IF_ERROR(AtJsonPlace(absl::StrCat("[", value.children[i]->text, "]"),
                                  MergeField(*value.children[i + 1], item, entry)));
    }
    return absl::OkStatus();
  }

  absl::Status SetScalar(const YamlNode& value, const FieldDescriptor& field, bool add,
                         Message* message) const {
    const Reflection& reflection = *message->GetReflection();
    std::string text = value.text;
    if (FormatOf(field) == proto::kube::FORMAT_JSON) {
      text = std::string(
          text_.substr(value.position, EndOfJson(text_, value.position) - value.position));
    } else if (value.kind != YamlNode::Kind::kScalar) {
      return WrongType("a single value");
    }
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        add ? reflection.AddString(message, &field, text)
            : reflection.SetString(message, &field, text);
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_BOOL: {
        if (text != "true" && text != "false") return WrongType("true or false");
        add ? reflection.AddBool(message, &field, text == "true")
            : reflection.SetBool(message, &field, text == "true");
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        int64_t number = 0;
        if (!absl::SimpleAtoi(text, &number)) return WrongType("a whole number of 64 bits");
        add ? reflection.AddInt64(message, &field, number)
            : reflection.SetInt64(message, &field, number);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_INT32: {
        int32_t number = 0;
        if (!absl::SimpleAtoi(text, &number)) return WrongType("a whole number of 32 bits");
        add ? reflection.AddInt32(message, &field, number)
            : reflection.SetInt32(message, &field, number);
        return absl::OkStatus();
      }
      default:
        return WrongType("a value of another type");
    }
  }

  absl::string_view text_;
};

std::string NumberOf(const std::string& text) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok()) return text;
  const std::optional<absl::int128> nanos = quantity->Nanos();
  return nanos.has_value()
             ? absl::StrCat(absl::Int128High64(*nanos), ":", absl::Int128Low64(*nanos))
             : quantity->Canonical();
}

void WriteScalar(const Message& message, const FieldDescriptor& field, int index,
                 QuantityForm quantities, JsonWriter* json) {
  const Reflection& reflection = *message.GetReflection();
  const bool item = index >= 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      json->Bool(item ? reflection.GetRepeatedBool(message, &field, index)
                      : reflection.GetBool(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      json->Int(item ? reflection.GetRepeatedInt64(message, &field, index)
                     : reflection.GetInt64(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_INT32:
      json->Int(item ? reflection.GetRepeatedInt32(message, &field, index)
                     : reflection.GetInt32(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      WriteJson(item ? reflection.GetRepeatedMessage(message, &field, index)
                     : reflection.GetMessage(message, &field),
                quantities, json);
      return;
    default:
      break;
  }
  const std::string text = item ? reflection.GetRepeatedString(message, &field, index)
                                : reflection.GetString(message, &field);
  const proto::kube::Format format = FormatOf(field);
  if (format == proto::kube::FORMAT_JSON) {
    json->Json(text);
  } else if (format == proto::kube::FORMAT_QUANTITY && quantities == QuantityForm::kNumber) {
    json->String(NumberOf(text));
  } else {
    json->String(text);
  }
}

void WriteMap(const Message& message, const FieldDescriptor& field, QuantityForm quantities,
              JsonWriter* json) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& value = *field.message_type()->FindFieldByNumber(2);
  const bool is_quantity = FormatOf(field) == proto::kube::FORMAT_QUANTITY;
  std::map<std::string, const Message*> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    sorted[entry.GetReflection()->GetString(entry, field.message_type()->FindFieldByNumber(1))] =
        &entry;
  }
  json->BeginObject();
  for (const auto& [key, entry] : sorted) {
    json->Key(key);
    if (is_quantity && quantities == QuantityForm::kNumber) {
      json->String(NumberOf(entry->GetReflection()->GetString(*entry, &value)));
    } else {
      WriteScalar(*entry, value, /*index=*/-1, quantities, json);
    }
  }
  json->EndObject();
}

// Whether Kubernetes writes the field even if it is empty: those of conditions, but for the times
// that only nodes and pods have.
bool IsAlwaysWritten(const FieldDescriptor& field) {
  using proto::kube::Condition;
  return field.containing_type() == Condition::descriptor() &&
         field.number() != Condition::kLastHeartbeatTimeFieldNumber &&
         field.number() != Condition::kLastProbeTimeFieldNumber;
}

}  // namespace

const YamlNode* JsonMember(const YamlNode& object, absl::string_view name) {
  if (object.kind != YamlNode::Kind::kMapping) return nullptr;
  for (size_t i = 0; i + 1 < object.children.size(); i += 2) {
    if (object.children[i]->text == name) return object.children[i + 1];
  }
  return nullptr;
}

absl::Status WrongJsonMember(absl::string_view name, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": expected ", expected));
}

absl::Status AtJsonPlace(absl::string_view place, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  const absl::string_view separator = absl::StartsWith(message, "expected ") ? ": "
                                      : absl::StartsWith(message, "[")       ? ""
                                                                             : ".";
  return absl::InvalidArgumentError(absl::StrCat(place, separator, message));
}

absl::Status MergeJson(absl::string_view text, const YamlNode& node, Message* message) {
  return Merger(text).Merge(node, message);
}

void WriteJson(const Message& message, QuantityForm quantities, JsonWriter* json) {
  const Reflection& reflection = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  json->BeginObject();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.options().GetExtension(proto::kube::derived)) continue;
    const int size = field.is_repeated() ? reflection.FieldSize(message, &field) : 0;
    const bool is_empty = field.is_repeated() ? size == 0 : !reflection.HasField(message, &field);
    if (is_empty && !IsAlwaysWritten(field)) continue;
    json->Key(field.json_name());
    if (field.is_map()) {
      WriteMap(message, field, quantities, json);
    } else if (field.is_repeated()) {
      json->BeginArray();
      for (int item = 0; item < size; ++item) WriteScalar(message, field, item, quantities, json);
      json->EndArray();
    } else {
      WriteScalar(message, field, /*index=*/-1, quantities, json);
    }
  }
  json->EndObject();
}

}  // namespace drasim
