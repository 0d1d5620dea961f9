#include "model/text/proto_scalar.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/text/did_you_mean.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kShownBytes = 60;

// "QUEUE_KIND_" for QueueKind, "GPU_MODE_" for GPUMode.
std::string EnumPrefix(absl::string_view type_name) {
  std::string prefix;
  for (size_t i = 0; i < type_name.size(); ++i) {
    const bool upper = absl::ascii_isupper(static_cast<unsigned char>(type_name[i]));
    const bool after_upper =
        i > 0 && absl::ascii_isupper(static_cast<unsigned char>(type_name[i - 1]));
    const bool before_lower = i + 1 < type_name.size() &&
                              absl::ascii_islower(static_cast<unsigned char>(type_name[i + 1]));
    if (upper && i > 0 && (!after_upper || before_lower)) prefix.push_back('_');
    prefix.push_back(absl::ascii_toupper(static_cast<unsigned char>(type_name[i])));
  }
  prefix.push_back('_');
  return prefix;
}

std::string EnumText(const EnumValueDescriptor& value) {
  absl::string_view name = value.name();
  const std::string prefix = EnumPrefix(value.type()->name());
  if (name.size() > prefix.size()) absl::ConsumePrefix(&name, prefix);
  return absl::AsciiStrToLower(name);
}

std::vector<std::string> EnumTexts(const EnumDescriptor& type) {
  std::vector<std::string> texts;
  for (int i = 0; i < type.value_count(); ++i) texts.push_back(EnumText(*type.value(i)));
  return texts;
}

size_t ConsumeDigits(absl::string_view* text) {
  size_t count = 0;
  while (count < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[count])))
    ++count;
  text->remove_prefix(count);
  return count;
}

void ConsumeSign(absl::string_view* text) {
  if (!absl::ConsumePrefix(text, "-")) absl::ConsumePrefix(text, "+");
}

// YAML 1.1 reads 010 as eight, YAML 1.2 as ten.
bool HasLeadingZero(absl::string_view text) {
  ConsumeSign(&text);
  return text.size() > 1 && text[0] == '0' && ConsumeDigits(&text) > 1 && text.empty();
}

template <typename Int>
bool Parse(absl::string_view text, Int* value) {
  absl::string_view rest = text;
  ConsumeSign(&rest);
  if (ConsumeDigits(&rest) == 0 || !rest.empty() || HasLeadingZero(text)) return false;
  return absl::SimpleAtoi(text, value);
}

bool IsDecimal(absl::string_view text) {
  ConsumeSign(&text);
  size_t digits = ConsumeDigits(&text);
  if (absl::ConsumePrefix(&text, ".")) digits += ConsumeDigits(&text);
  if (digits == 0) return false;
  if (absl::ConsumePrefix(&text, "e") || absl::ConsumePrefix(&text, "E")) {
    ConsumeSign(&text);
    if (ConsumeDigits(&text) == 0) return false;
  }
  return text.empty();
}

bool Parse(absl::string_view text, double* value) {
  return IsDecimal(text) && absl::SimpleAtod(text, value) && std::isfinite(*value);
}

bool Parse(absl::string_view text, float* value) {
  return IsDecimal(text) && absl::SimpleAtof(text, value) && std::isfinite(*value);
}

bool Parse(absl::string_view text, bool* value) {
  *value = text == "true";
  return *value || text == "false";
}

const EnumValueDescriptor* FindEnumValue(absl::string_view text, const EnumDescriptor& type) {
  for (int i = 0; i < type.value_count(); ++i) {
    if (EnumText(*type.value(i)) == text) return type.value(i);
  }
  return nullptr;
}

template <typename Int>
std::string WholeNumberRange() {
  return absl::StrCat("a whole number from ", std::numeric_limits<Int>::min(), " to ",
                      std::numeric_limits<Int>::max());
}

template <typename Float>
std::string ShortestText(Float value) {
  DRASIM_CHECK(std::isfinite(value));
  char buffer[64];
  const std::to_chars_result result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  DRASIM_CHECK(result.ec == std::errc());
  return std::string(buffer, result.ptr);
}

absl::Status Mismatch(absl::string_view text, const FieldDescriptor& field) {
  std::string expected = ExpectedScalar(field);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      if (HasLeadingZero(text)) expected += " without leading zeros";
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      expected += Suggest(text, EnumTexts(*field.enum_type()));
      break;
    default:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found '", Shorten(text), "', expected ", expected));
}

template <typename Value>
using StoreFunction = void (Reflection::*)(Message*, const FieldDescriptor*, Value) const;

template <typename Value>
absl::Status StoreParsed(absl::string_view text, const FieldDescriptor& field, Message* message,
                         StoreFunction<Value> set, StoreFunction<Value> add) {
  Value value{};
  if (!Parse(text, &value)) return Mismatch(text, field);
  const StoreFunction<Value> store = field.is_repeated() ? add : set;
  (message->GetReflection()->*store)(message, &field, value);
  return absl::OkStatus();
}

}  // namespace

std::string Shorten(absl::string_view text) {
  if (text.size() <= kShownBytes) return absl::Utf8SafeCEscape(text);
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // never half a character
  return absl::StrCat(absl::Utf8SafeCEscape(text.substr(0, end)), "...");
}

std::string ExpectedScalar(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return WholeNumberRange<int32_t>();
    case FieldDescriptor::CPPTYPE_INT64:
      return WholeNumberRange<int64_t>();
    case FieldDescriptor::CPPTYPE_UINT32:
      return WholeNumberRange<uint32_t>();
    case FieldDescriptor::CPPTYPE_UINT64:
      return WholeNumberRange<uint64_t>();
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a finite number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("one of ", absl::StrJoin(EnumTexts(*field.enum_type()), ", "));
    case FieldDescriptor::CPPTYPE_STRING:
      return "a text";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  DRASIM_CHECK(field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE);
  return std::string();
}

absl::Status StoreScalar(absl::string_view text, const FieldDescriptor& field, Message* message) {
  DRASIM_CHECK(field.type() != FieldDescriptor::TYPE_BYTES);
  DRASIM_CHECK(field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE);
  const Reflection& to = *message->GetReflection();
  const bool append = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return StoreParsed<int32_t>(text, field, message, &Reflection::SetInt32,
                                  &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return StoreParsed<int64_t>(text, field, message, &Reflection::SetInt64,
                                  &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return StoreParsed<uint32_t>(text, field, message, &Reflection::SetUInt32,
                                   &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return StoreParsed<uint64_t>(text, field, message, &Reflection::SetUInt64,
                                   &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return StoreParsed<double>(text, field, message, &Reflection::SetDouble,
                                 &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return StoreParsed<float>(text, field, message, &Reflection::SetFloat, &Reflection::AddFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return StoreParsed<bool>(text, field, message, &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor* value = FindEnumValue(text, *field.enum_type());
      if (value == nullptr) return Mismatch(text, field);
      append ? to.AddEnum(message, &field, value) : to.SetEnum(message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      if (!IsUtf8(text))
        return absl::InvalidArgumentError("found bytes that are not UTF-8, expected a text");
      append ? to.AddString(message, &field, std::string(text))
             : to.SetString(message, &field, std::string(text));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return absl::OkStatus();
}

std::string ScalarText(const Message& message, const FieldDescriptor& field, int index) {
  DRASIM_CHECK(field.type() != FieldDescriptor::TYPE_BYTES);
  DRASIM_CHECK_EQ(index != kSingular, field.is_repeated());
  const Reflection& from = *message.GetReflection();
  const bool item = index != kSingular;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(item ? from.GetRepeatedInt32(message, &field, index)
                               : from.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(item ? from.GetRepeatedInt64(message, &field, index)
                               : from.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(item ? from.GetRepeatedUInt32(message, &field, index)
                               : from.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(item ? from.GetRepeatedUInt64(message, &field, index)
                               : from.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ShortestText(item ? from.GetRepeatedDouble(message, &field, index)
                               : from.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ShortestText(item ? from.GetRepeatedFloat(message, &field, index)
                               : from.GetFloat(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool value =
          item ? from.GetRepeatedBool(message, &field, index) : from.GetBool(message, &field);
      return value ? "true" : "false";
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = item ? from.GetRepeatedEnumValue(message, &field, index)
                              : from.GetEnumValue(message, &field);
      const EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
      DRASIM_CHECK(value != nullptr);
      return EnumText(*value);
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return item ? from.GetRepeatedString(message, &field, index)
                  : from.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  DRASIM_CHECK(field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE);
  return std::string();
}

}  // namespace drasim
