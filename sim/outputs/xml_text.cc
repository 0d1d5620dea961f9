#include "sim/outputs/xml_text.h"

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string XmlText(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\t' || c == '\r') {
      absl::StrAppend(&out, "&#", static_cast<int>(byte), ";");
    } else if (byte < 0x20 || byte == 0x7F) {
      absl::StrAppend(&out, kReplacement);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace drasim
