// goyaml.v2's choices of quotes are kept, since people compare the output with kubectl's; comments
// name each choice.
#include "model/kube/writer_yaml.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/kube/scalar.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

constexpr size_t kFoldColumn = 80;
// A longer key stands on a line of its own, after a '?'.
constexpr size_t kLongestPlainKey = 128;

// Whether goyaml.v2 writes the character as it is.
bool IsYamlPrintable(char32_t c) {
  if (c == U'\n' || (c >= U' ' && c <= U'~')) return true;
  if (c == 0x2028U || c == 0x2029U) return false;
  return (c >= 0xA0U && c <= 0xD7FFU) || (c >= 0xE000U && c <= 0xFFFDU && c != 0xFEFFU);
}

// Traits of a text that decide its style.
struct TextTraits {
  bool unprintable = false;
  bool breaks = false;   // has line breaks
  bool leading = false;  // begins with a space or line break
  bool trailing_space = false;
  bool trailing_break = false;
  bool space_then_break = false;
  bool break_then_space = false;
  bool indicators = false;  // would be taken for something else without quotes, in a block
};

bool HasIndicators(absl::string_view text) {
  if (absl::StartsWith(text, "---") || absl::StartsWith(text, "...")) return true;
  const auto blank_at = [text](size_t i) {
    return i >= text.size() || text[i] == ' ' || text[i] == '\t' || text[i] == '\n';
  };
  if (absl::StrContains("#,[]{}&*!|>'\"%@`", text.substr(0, 1))) return true;
  if (absl::StrContains("?-", text.substr(0, 1)) && blank_at(1)) return true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && blank_at(i + 1)) return true;
    if (text[i] == '#' && i > 0 && blank_at(i - 1)) return true;
  }
  return false;
}

TextTraits TraitsOf(absl::string_view text) {
  TextTraits traits;
  traits.indicators = HasIndicators(text);
  traits.leading = absl::StartsWith(text, " ") || absl::StartsWith(text, "\n");
  traits.trailing_space = absl::EndsWith(text, " ");
  traits.trailing_break = absl::EndsWith(text, "\n");
  traits.breaks = absl::StrContains(text, "\n");
  traits.space_then_break = absl::StrContains(text, " \n");
  traits.break_then_space = absl::StrContains(text, "\n ");
  size_t position = 0;
  while (position < text.size()) {
    char32_t c = 0;
    DRASIM_CHECK(DecodeUtf8(text, &position, &c));
    traits.unprintable = traits.unprintable || !IsYamlPrintable(c);
  }
  return traits;
}

enum class TextStyle : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted, kBlock };

TextStyle StyleOf(absl::string_view text, bool is_key) {
  if (text.empty()) return TextStyle::kDoubleQuoted;
  const TextTraits traits = TraitsOf(text);
  if (traits.unprintable || traits.space_then_break) return TextStyle::kDoubleQuoted;
  if (traits.breaks) {
    const bool block = !is_key && !traits.trailing_space;
    return block ? TextStyle::kBlock : TextStyle::kDoubleQuoted;
  }
  if (!IsKubeText(text) || (is_key && text == "<<")) return TextStyle::kDoubleQuoted;
  const bool plain = !traits.leading && !traits.trailing_space && !traits.indicators;
  return plain ? TextStyle::kPlain : TextStyle::kSingleQuoted;
}

std::string EscapeYaml(char32_t c) {
  static constexpr char kControls[] = "\a\b\t\n\v\f\r\x1b\"\\";
  static constexpr char kLetters[] = "abtnvfre\"\\";
  if (c == 0) return "\\0";
  const size_t letter =
      c < 0x80U ? absl::string_view(kControls).find(static_cast<char>(c)) : absl::string_view::npos;
  if (letter != absl::string_view::npos) return std::string("\\") + kLetters[letter];
  const auto code = static_cast<uint32_t>(c);
  std::string digits = c <= 0xFFU     ? absl::StrCat(absl::Hex(code, absl::kZeroPad2))
                       : c <= 0xFFFFU ? absl::StrCat(absl::Hex(code, absl::kZeroPad4))
                                      : absl::StrCat(absl::Hex(code, absl::kZeroPad8));
  absl::AsciiStrToUpper(&digits);
  return absl::StrCat("\\", c <= 0xFFU ? "x" : c <= 0xFFFFU ? "u" : "U", digits);
}

// KubeKeyLess is no order for some sets of keys: "2" < "10" < "1a" < "2". So the keys are put in
// place one by one, in the order of their bytes, which gives the same result everywhere.
std::vector<const KubeMember*> InKubeOrder(const KubeValue& map) {
  std::vector<const KubeMember*> members;
  for (const KubeMember& member : map.members) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const KubeMember* a, const KubeMember* b) { return a->key < b->key; });
  for (size_t i = 1; i < members.size(); ++i) {
    for (size_t j = i; j > 0 && KubeKeyLess(members[j]->key, members[j - 1]->key); --j) {
      std::swap(members[j], members[j - 1]);
    }
  }
  return members;
}

class KubeYamlWriter {
 public:
  void WriteMap(const KubeValue& map, size_t indent, bool after_dash) {
    for (const KubeMember* member : InKubeOrder(map)) {
      if (!after_dash) Put(std::string(indent, ' '));
      after_dash = false;
      WriteKey(member->key, indent);
      WriteMember(member->value, indent);
    }
  }

  const std::string& text() const { return out_; }

 private:
  void Put(absl::string_view text) {
    out_.append(text.data(), text.size());
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++column_;
    }
  }

  void Break() {
    out_.push_back('\n');
    column_ = 0;
  }

  void WriteKey(const std::string& key, size_t indent) {
    const bool long_key = key.size() > kLongestPlainKey || absl::StrContains(key, "\n") ||
                          absl::StrContains(key, "\r");
    if (long_key) Put("? ");
    WriteQuoted(key, StyleOf(key, /*is_key=*/true), indent + 2, /*fold=*/long_key);
    if (long_key) {
      Break();
      Put(std::string(indent, ' '));
    }
    Put(":");
  }

  // The value behind a key of a map that is indented by `indent`.
  void WriteMember(const KubeValue& value, size_t indent) {
    if (value.kind == KubeValue::Kind::kMap && !value.members.empty()) {
      Break();
      return WriteMap(value, indent + 2, /*after_dash=*/false);
    }
    if (value.kind == KubeValue::Kind::kList && !value.items.empty()) {
      Break();
      return WriteItems(value, indent, /*after_dash=*/false);
    }
    Put(" ");
    WriteScalar(value, indent + 2);
  }

  void WriteItems(const KubeValue& list, size_t indent, bool after_dash) {
    for (const KubeValue& item : list.items) {
      if (!after_dash) Put(std::string(indent, ' '));
      after_dash = false;
      Put("- ");
      if (item.kind == KubeValue::Kind::kList && !item.items.empty()) {
        WriteItems(item, indent + 2, /*after_dash=*/true);
      } else if (item.kind == KubeValue::Kind::kMap && !item.members.empty()) {
        WriteMap(item, indent + 2, /*after_dash=*/true);
      } else {
        WriteScalar(item, indent + 2);
      }
    }
  }

  // Writes empty values, too. Further lines are indented by `indent`.
  void WriteScalar(const KubeValue& value, size_t indent) {
    if (value.kind == KubeValue::Kind::kText) {
      const TextStyle style = StyleOf(value.text, /*is_key=*/false);
      if (style == TextStyle::kBlock) return WriteBlock(value.text, indent);
      WriteQuoted(value.text, style, indent, /*fold=*/true);
    } else if (value.kind == KubeValue::Kind::kLiteral) {
      Put(value.text);
    } else {
      Put(value.kind == KubeValue::Kind::kMap ? "{}" : "[]");
    }
    Break();
  }

  // '|', how far it is indented where the text itself begins with a blank, and whether line breaks
  // at its end are dropped, as one, or kept.
  void WriteBlock(absl::string_view text, size_t indent) {
    Put("|");
    if (text[0] == ' ' || text[0] == '\n') Put("2");
    const bool open = absl::EndsWith(text, "\n");
    if (!open) Put("-");
    if (open && (text.size() == 1 || absl::EndsWith(text, "\n\n"))) Put("+");
    Break();
    absl::ConsumeSuffix(&text, "\n");
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!line.empty()) Put(std::string(indent, ' '));
      Put(line);
      Break();
    }
  }

  void WriteQuoted(absl::string_view text, TextStyle style, size_t indent, bool fold) {
    const bool single = style == TextStyle::kSingleQuoted;
    const bool quoted = style == TextStyle::kDoubleQuoted;
    if (style != TextStyle::kPlain) Put(single ? "'" : "\"");
    bool after_space = false;
    size_t position = 0;
    while (position < text.size()) {
      const size_t start = position;
      char32_t c = 0;
      DRASIM_CHECK(DecodeUtf8(text, &position, &c));
      const bool before_space = absl::StartsWith(text.substr(position), " ");
      // A line ends in place of a space: of one that stands alone, or in double quotes of the
      // first.
      const bool inside = start > 0 && position < text.size();
      if (c == U' ' && fold && !after_space && inside && column_ > kFoldColumn &&
          (quoted || !before_space)) {
        Break();
        Put(std::string(indent, ' '));
        if (before_space) Put("\\");
      } else if (single && c == U'\'') {
        Put("''");
      } else if (quoted && (!IsYamlPrintable(c) || c == U'"' || c == U'\\' || c == U'\n')) {
        Put(EscapeYaml(c));
      } else {
        Put(text.substr(start, position - start));
      }
      after_space = c == U' ';
    }
    if (style != TextStyle::kPlain) Put(single ? "'" : "\"");
  }

  std::string out_;
  size_t column_ = 0;  // in characters
};

bool IsAsciiDigit(char32_t c) { return c >= U'0' && c <= U'9'; }

// The letters of Unicode that a key of Kubernetes may have.
bool IsKeyLetter(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || c >= 0xAAU;
}

std::u32string CodePoints(absl::string_view text) {
  std::u32string points;
  size_t position = 0;
  char32_t c = 0;
  while (DecodeUtf8(text, &position, &c)) points.push_back(c);
  DRASIM_CHECK_EQ(position, text.size());
  return points;
}

struct DigitRun {
  uint64_t value = 0;
  size_t end = 0;
};

DigitRun DigitsFrom(const std::u32string& text, size_t begin, uint64_t before) {
  DigitRun run;
  run.value = before;
  run.end = begin;
  while (run.end < text.size() && IsAsciiDigit(text[run.end])) {
    run.value = run.value * 10 + (text[run.end] - U'0');
    ++run.end;
  }
  return run;
}

}  // namespace

bool KubeKeyLess(absl::string_view left, absl::string_view right) {
  const std::u32string a = CodePoints(left);
  const std::u32string b = CodePoints(right);
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() || i == b.size()) return a.size() < b.size();
  const bool a_letter = IsKeyLetter(a[i]);
  const bool b_letter = IsKeyLetter(b[i]);
  if (a_letter && b_letter) return a[i] < b[i];
  if (a_letter || b_letter) return b_letter;
  // A zero within a number is not one in front of it: 100 comes after 11, and 1.0 before 1.1.
  uint64_t before = 0;
  if (a[i] == U'0' || b[i] == U'0') {
    for (size_t j = i; j > 0 && IsAsciiDigit(a[j - 1]); --j) {
      if (a[j - 1] != U'0') before = 1;
    }
  }
  const DigitRun a_run = DigitsFrom(a, i, before);
  const DigitRun b_run = DigitsFrom(b, i, before);
  if (a_run.value != b_run.value) return a_run.value < b_run.value;
  if (a_run.end != b_run.end) return a_run.end < b_run.end;
  return a[i] < b[i];
}

std::string KubeYamlText(const KubeValue& value) {
  DRASIM_CHECK(value.kind == KubeValue::Kind::kMap && !value.members.empty());
  KubeYamlWriter writer;
  writer.WriteMap(value, 0, /*after_dash=*/false);
  return writer.text();
}

}  // namespace drasim
