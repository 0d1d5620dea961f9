// JSON text, key by key, in the order of the calls: two-space indents, byte-stable.
#ifndef DRASIM_MODEL_TEXT_JSON_WRITER_H_
#define DRASIM_MODEL_TEXT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

// Call Key before every value inside an object. Mismatched Begin and End are defects (CHECK at the
// end by text()).
class JsonWriter {
 public:
  JsonWriter& Key(absl::string_view key);
  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  JsonWriter& Double(double value);  // shortest form that reads back
  // A number as decimal text, for those that no double holds exactly.
  JsonWriter& Number(absl::string_view decimal) { return Raw(decimal); }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& String(absl::string_view value);

  // The document, with a final newline.
  std::string text() const;

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  JsonWriter& Raw(absl::string_view literal);
  void Separate();

  std::string text_;
  std::vector<bool> has_items_;  // per open bracket
  std::string open_;             // the open brackets
  bool after_key_ = false;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_JSON_WRITER_H_
