// KubeJsonText: JSON as Go's encoder indents it for kubectl. json_writer.h has an indent and
// escapes of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/kube/writer_value.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

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

}  // namespace

std::string KubeJsonText(const KubeValue& value) {
  std::string out;
  AppendGoJson(value, 0, &out);
  out.push_back('\n');
  return out;
}

}  // namespace drasim
