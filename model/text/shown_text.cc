#include "model/text/shown_text.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/text/utf8.h"

namespace drasim {

std::string ShownText(absl::string_view text, size_t max_bytes) {
  std::string shown;
  size_t at = 0;
  while (at < text.size() && at < max_bytes) {
    const size_t begin = at;
    char32_t code_point = 0;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      absl::StrAppend(&shown, absl::CHexEscape(text.substr(begin, 1)));
    } else if (DecodeUtf8(text, &at, &code_point)) {
      absl::StrAppend(&shown, text.substr(begin, at - begin));
    } else {
      // Not by CHexEscape alone: it would take a digit that follows into the escape.
      ++at;
      absl::StrAppend(&shown, "\\x",
                      absl::Hex(static_cast<unsigned char>(text[begin]), absl::kZeroPad2));
    }
  }
  if (at < text.size()) shown += "...";
  return shown;
}

std::string ListText(const std::vector<std::string>& names, size_t shown) {
  const size_t n = std::min(names.size(), shown);
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", ShownText(names[i]));
  }
  if (names.size() == n) return text;
  return absl::StrCat(text, n > 0 ? " and " : "",
                      GroupedDigits(static_cast<int64_t>(names.size() - n)), " more");
}

std::string GroupedDigits(int64_t number) {
  DRASIM_CHECK_GE(number, 0);
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace drasim
