#include "policies/cel/literal_text.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"

namespace drasim::cel {
namespace {

absl::Status BadEscape(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("invalid escape: ", what));
}

void AppendUtf8(uint32_t point, std::string* out) {
  const auto add = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | (point >> 6));
    add(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    add(0xe0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3f));
    add(0x80 | (point & 0x3f));
  } else {
    add(0xf0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3f));
    add(0x80 | ((point >> 6) & 0x3f));
    add(0x80 | (point & 0x3f));
  }
}

// The `length` digits at `at`, in base 8 or 16.
absl::StatusOr<uint32_t> Digits(absl::string_view text, size_t at, size_t length, int base) {
  if (at + length > text.size()) return BadEscape("unable to unescape string, too few digits");
  uint32_t value = 0;
  for (size_t i = at; i < at + length; ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool good = base == 16 ? absl::ascii_isxdigit(c) : (c >= '0' && c <= '7');
    if (!good) return BadEscape("unable to unescape string, not a digit");
    const uint32_t digit = absl::ascii_isdigit(c)
                               ? static_cast<uint32_t>(c - '0')
                               : static_cast<uint32_t>(absl::ascii_tolower(c) - 'a' + 10);
    value = value * static_cast<uint32_t>(base) + digit;
  }
  return value;
}

// The character that a one-letter escape means; '\0' if it is none.
char SimpleEscape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
    case '`':
    case '?':
      return c;
    default:
      return '\0';
  }
}

}  // namespace

QuotedText SplitQuotes(absl::string_view literal) {
  QuotedText quoted;
  size_t at = 0;
  for (; literal[at] != '"' && literal[at] != '\''; ++at) {
    if (literal[at] == 'r' || literal[at] == 'R') quoted.raw = true;
    if (literal[at] == 'b' || literal[at] == 'B') quoted.bytes = true;
  }
  const absl::string_view rest = literal.substr(at);
  const bool triple = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0];
  const size_t marks = triple ? 3 : 1;
  quoted.inner = rest.substr(marks, rest.size() - 2 * marks);
  return quoted;
}

absl::StatusOr<std::string> Unescape(const QuotedText& quoted) {
  if (quoted.raw) return std::string(quoted.inner);
  const absl::string_view text = quoted.inner;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      out.push_back(text[i++]);
      continue;
    }
    if (i + 1 >= text.size()) return BadEscape("unable to unescape string, found '\\' at end");
    const char c = text[i + 1];
    const char simple = SimpleEscape(c);
    if (simple != '\0') {
      out.push_back(simple);
      i += 2;
      continue;
    }
    const bool octal = c >= '0' && c <= '3';
    size_t begin = i + 2;
    size_t length = 0;
    if (c == 'x' || c == 'X') {
      length = 2;
    } else if (c == 'u' && !quoted.bytes) {
      length = 4;
    } else if (c == 'U' && !quoted.bytes) {
      length = 8;
    } else if (octal) {
      begin = i + 1;
      length = 3;
    } else {
      return BadEscape("unable to unescape string");
    }
    ASSIGN_OR_RETURN(const uint32_t value, Digits(text, begin, length, octal ? 8 : 16));
    if (quoted.bytes) {
      out.push_back(static_cast<char>(value));
    } else {
      const bool surrogate = value >= 0xd800 && value <= 0xdfff;
      if (value > 0x10ffff || surrogate) return BadEscape("invalid unicode code point");
      AppendUtf8(value, &out);
    }
    i = begin + length;
  }
  return out;
}

}  // namespace drasim::cel
