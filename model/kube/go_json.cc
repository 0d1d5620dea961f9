#include "model/kube/go_json.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/text/utf8.h"

namespace drasim {

void AppendGoQuoted(absl::string_view text, std::string* out) {
  out->push_back('"');
  size_t position = 0;
  while (position < text.size()) {
    const size_t start = position;
    char32_t c = 0;
    DRASIM_CHECK(DecodeUtf8(text, &position, &c));
    static constexpr char kShort[] = "\"\\\b\f\n\r\t";
    static constexpr char kLetters[] = "\"\\bfnrt";
    const size_t letter =
        c == 0 || c > 0x7FU ? absl::string_view::npos : absl::string_view(kShort).find(text[start]);
    if (letter != absl::string_view::npos) {
      out->push_back('\\');
      out->push_back(kLetters[letter]);
    } else if (c < 0x20U || c == U'<' || c == U'>' || c == U'&' || c == 0x2028U || c == 0x2029U) {
      absl::StrAppend(out, "\\u", absl::Hex(static_cast<uint32_t>(c), absl::kZeroPad4));
    } else {
      out->append(text.data() + start, position - start);
    }
  }
  out->push_back('"');
}

}  // namespace drasim
