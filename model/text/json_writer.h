// JSON text, key by key, in the order of the calls: two-space indents, byte-stable.
//
//   JsonWriter json;
//   json.BeginDocument("diff");  // {"schema": "drasim.diff/v1"
//   json.Key("same").Bool(true);
//   json.EndObject();
#ifndef DRASIM_MODEL_TEXT_JSON_WRITER_H_
#define DRASIM_MODEL_TEXT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

// The value of the key `schema`, which every JSON document of the program begins with:
// "drasim.KIND/v1". The version grows when a key goes away or changes its meaning, not when one is
// added.
std::string SchemaName(absl::string_view kind);

// Call Key before every value inside an object. Mismatched Begin and End are defects (CHECK at the
// end by text()).
class JsonWriter {
 public:
  enum class Layout : uint8_t { kIndented, kOneLine };
  explicit JsonWriter(Layout layout = Layout::kIndented) : layout_(layout) {}

  // Opens the object of a whole document and writes its schema.
  JsonWriter& BeginDocument(absl::string_view kind);
  JsonWriter& Key(absl::string_view key);
  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  JsonWriter& Double(double value);  // shortest form that reads back
  // A number whose digits are there already, such as an exact decimal.
  JsonWriter& Number(absl::string_view digits) { return Raw(digits); }
  // A value that is JSON already, in its own layout.
  JsonWriter& Json(absl::string_view value) { return Raw(value); }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  // Bytes that are no UTF-8 become U+FFFD, since JSON has no way to hold them.
  JsonWriter& String(absl::string_view value);
  // A whole array of strings.
  JsonWriter& Strings(absl::Span<const std::string> values);

  // The document, with a final newline.
  std::string text() const;

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  JsonWriter& Raw(absl::string_view literal);
  void Separate();
  void BreakLine();

  Layout layout_;
  std::string text_;
  std::vector<bool> has_items_;  // per open bracket
  std::string open_;             // the open brackets
  bool after_key_ = false;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_JSON_WRITER_H_
