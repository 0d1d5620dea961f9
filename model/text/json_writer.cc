#include "model/text/json_writer.h"

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

void AppendQuoted(std::string* out, absl::string_view value) {
  static constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (u < 0x20) {
      out->append("\\u00");
      out->push_back(kHex[u >> 4]);
      out->push_back(kHex[u & 15]);
    } else if (u < 0x80) {
      out->push_back(c);
    } else {
      size_t end = i;
      char32_t code_point = 0;
      if (DecodeUtf8(value, &end, &code_point)) {
        out->append(value.data() + i, end - i);
        i = end - 1;
      } else {
        out->append("\\ufffd");
      }
    }
  }
  out->push_back('"');
}

}  // namespace

std::string SchemaName(absl::string_view kind) { return absl::StrCat("drasim.", kind, "/v1"); }

JsonWriter& JsonWriter::BeginDocument(absl::string_view kind) {
  DRASIM_CHECK(text_.empty());
  return BeginObject().Key("schema").String(SchemaName(kind));
}

void JsonWriter::BreakLine() {
  text_.push_back('\n');
  text_.append(2 * has_items_.size(), ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  const bool first = !has_items_.back();
  has_items_.back() = true;
  if (!first) text_.push_back(',');
  if (layout_ == Layout::kIndented) {
    BreakLine();
  } else if (!first) {
    text_.push_back(' ');
  }
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Separate();
  AppendQuoted(&text_, key);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Raw(absl::string_view literal) {
  Separate();
  text_.append(literal.data(), literal.size());
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) { return Raw(absl::StrCat(value)); }
JsonWriter& JsonWriter::Uint(uint64_t value) { return Raw(absl::StrCat(value)); }
JsonWriter& JsonWriter::Double(double value) { return Raw(DoubleText(value)); }

JsonWriter& JsonWriter::String(absl::string_view value) {
  Separate();
  AppendQuoted(&text_, value);
  return *this;
}

JsonWriter& JsonWriter::Strings(absl::Span<const std::string> values) {
  BeginArray();
  for (const std::string& value : values) String(value);
  return EndArray();
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  text_.push_back(bracket);
  has_items_.push_back(false);
  open_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  DRASIM_CHECK(!has_items_.empty());
  DRASIM_CHECK_EQ(open_.back(), bracket == '}' ? '{' : '[');
  open_.pop_back();
  const bool any = has_items_.back();
  has_items_.pop_back();
  if (any && layout_ == Layout::kIndented) BreakLine();
  text_.push_back(bracket);
  return *this;
}

std::string JsonWriter::text() const {
  DRASIM_CHECK(has_items_.empty());
  return text_ + "\n";
}

}  // namespace drasim
