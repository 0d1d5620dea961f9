#include "model/text/yaml_writer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/text/proto_scalar.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kIndent = 2;

// YAML 1.2 section 7.4.2: a key on one line with its ':' has at most 1024 characters. Longer ones
// need a '?'.
constexpr size_t kLongestShortKey = 1000;

// Code points that must not or should not stand in YAML as they are: controls, line and paragraph
// separators, byte order marks, non-characters.
bool NeedsEscape(char32_t c) {
  return c < U' ' || (c >= 0x7FU && c <= 0x9FU) || c == 0x2028U || c == 0x2029U || c == 0xFEFFU ||
         c == 0xFFFEU || c == 0xFFFFU;
}

// Words that YAML 1.1 or 1.2 readers take for null or a boolean.
bool IsReservedWord(absl::string_view text) {
  const std::string word = absl::AsciiStrToLower(text);
  for (const absl::string_view reserved :
       {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}) {
    if (word == reserved) return true;
  }
  return false;
}

// Whether some YAML reader could take the text for an integer (of any base), a float, a date, a
// time or a base-60 number. Errs on the side of quoting.
bool LooksLikeNumber(absl::string_view text) {
  if (absl::string_view("0123456789+-.").find(text[0]) == absl::string_view::npos) return false;
  if (text.find_first_not_of("0123456789abcdefABCDEFxXoO_.:+- tTzZ") == absl::string_view::npos)
    return true;
  const std::string word = absl::AsciiStrToLower(text);
  return word == ".inf" || word == "+.inf" || word == "-.inf" || word == ".nan";
}

// Whether `text` can stand in block YAML without quotes and is a string to every reader.
bool IsPlain(absl::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (absl::string_view("-?:,[]{}#&*!|>'\"%@`=<~").find(text[0]) != absl::string_view::npos)
    return false;
  if (absl::StrContains(text, ": ") || absl::StrContains(text, "#")) return false;
  if (IsReservedWord(text) || LooksLikeNumber(text)) return false;
  size_t position = 0;
  while (position < text.size()) {
    char32_t c = 0;
    DRASIM_CHECK(DecodeUtf8(text, &position, &c));
    if (NeedsEscape(c)) return false;
  }
  return true;
}

std::string Quote(absl::string_view text) {
  std::string out = "\"";
  size_t position = 0;
  while (position < text.size()) {
    const size_t start = position;
    char32_t c = 0;
    DRASIM_CHECK(DecodeUtf8(text, &position, &c));
    if (c == U'"' || c == U'\\') {
      out.push_back('\\');
      out.push_back(text[start]);
    } else if (c == U'\n') {
      out += "\\n";
    } else if (c == U'\r') {
      out += "\\r";
    } else if (c == U'\t') {
      out += "\\t";
    } else if (!NeedsEscape(c)) {
      out.append(text.data() + start, position - start);
    } else if (c <= 0xFFU) {
      absl::StrAppend(&out, "\\x", absl::Hex(static_cast<uint32_t>(c), absl::kZeroPad2));
    } else {
      absl::StrAppend(&out, "\\u", absl::Hex(static_cast<uint32_t>(c), absl::kZeroPad4));
    }
  }
  out.push_back('"');
  return out;
}

std::string ScalarYaml(const Message& message, const FieldDescriptor& field, int index) {
  const std::string text = ScalarText(message, field, index);
  const bool is_word = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                       field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  return is_word && !IsPlain(text) ? Quote(text) : text;
}

bool HoldsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsSet(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

class Writer {
 public:
  // Writes the set fields, each line indented by `indent` spaces. Returns whether there was any.
  bool WriteFields(const Message& message, int indent) {
    const Descriptor& type = *message.GetDescriptor();
    bool any = false;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (!IsSet(message, field)) continue;
      any = true;
      WriteKey(field.name(), indent);
      if (field.is_map()) {
        WriteMap(message, field, indent + kIndent);
      } else if (field.is_repeated()) {
        WriteList(message, field, indent + kIndent);
      } else {
        WriteValue(message, field, indent + kIndent);
      }
    }
    return any;
  }

  const std::string& text() const { return out_; }

 private:
  void Indent(int indent) { out_.append(static_cast<size_t>(indent), ' '); }

  // `key` is YAML already.
  void WriteKey(absl::string_view key, int indent) {
    Indent(indent);
    if (key.size() > kLongestShortKey) {
      absl::StrAppend(&out_, "? ", key, "\n");
      Indent(indent);
    } else {
      absl::StrAppend(&out_, key);
    }
    out_.push_back(':');
  }

  // The value of a singular field behind its key, with the line break.
  void WriteValue(const Message& message, const FieldDescriptor& field, int indent) {
    if (!HoldsMessage(field)) {
      absl::StrAppend(&out_, " ", ScalarYaml(message, field, kSingular), "\n");
      return;
    }
    const size_t start = out_.size();
    out_.push_back('\n');
    if (WriteFields(message.GetReflection()->GetMessage(message, &field), indent)) return;
    out_.resize(start);
    out_ += " {}\n";
  }

  void WriteList(const Message& message, const FieldDescriptor& field, int indent) {
    const Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, &field);
    out_.push_back('\n');
    for (int i = 0; i < size; ++i) {
      const size_t dash = out_.size() + static_cast<size_t>(indent);
      if (!HoldsMessage(field)) {
        Indent(indent);
        absl::StrAppend(&out_, "- ", ScalarYaml(message, field, i), "\n");
      } else if (WriteFields(reflection.GetRepeatedMessage(message, &field, i), indent + kIndent)) {
        out_[dash] = '-';  // in the indent of the item's first key
      } else {
        Indent(indent);
        out_ += "- {}\n";
      }
    }
  }

  void WriteMap(const Message& message, const FieldDescriptor& field, int indent) {
    const Reflection& reflection = *message.GetReflection();
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    // Protobuf's own order differs from run to run.
    std::map<std::string, const Message*> entries;
    const int size = reflection.FieldSize(message, &field);
    for (int i = 0; i < size; ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      entries[ScalarText(entry, key, kSingular)] = &entry;
    }
    out_.push_back('\n');
    for (const auto& named : entries) {
      const Message& entry = *named.second;
      WriteKey(ScalarYaml(entry, key, kSingular), indent);
      WriteValue(entry, value, indent + kIndent);
    }
  }

  std::string out_;
};

}  // namespace

std::string ToYaml(const Message& message) {
  Writer writer;
  writer.WriteFields(message, 0);
  return writer.text();
}

}  // namespace drasim
