// C++ source as text: what the tidy test must know about it, found without a compiler.
//
// CodeOnly() blanks comments and the contents of literals, Tokenize() cuts the rest into tokens.
// They are heuristics that suit this repository's style. Each takes O(size of the text).
#ifndef DRASIM_TESTS_REPOSITORY_CPP_TEXT_H_
#define DRASIM_TESTS_REPOSITORY_CPP_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim::tidy {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

inline bool IsNameChar(char c) {
  return IsDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

inline bool IsName(absl::string_view token) {
  return !token.empty() && IsNameChar(token[0]) && !IsDigit(token[0]);
}

class Blanker {
 public:
  explicit Blanker(absl::string_view text) : text_(text), out_(text.data(), text.size()) {}

  std::string Run() {
    while (at_ < text_.size()) {
      const absl::string_view rest = text_.substr(at_);
      if (absl::StartsWith(rest, "//")) {
        BlankTo(text_.find('\n', at_));
      } else if (absl::StartsWith(rest, "/*")) {
        const size_t close = text_.find("*/", at_ + 2);
        BlankTo(close == absl::string_view::npos ? close : close + 2);
      } else if (rest[0] == '"' && IsRaw()) {
        BlankRawString();
      } else if (rest[0] == '"' || (rest[0] == '\'' && !IsDigitSeparator())) {
        BlankQuoted(rest[0]);
      } else {
        ++at_;
      }
    }
    return out_;
  }

 private:
  // Blanks everything but line ends from here to `end` (npos: the end of the text) and goes there.
  void BlankTo(size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] != '\n') out_[at_] = ' ';
    }
  }

  bool IsRaw() const {
    size_t begin = at_;
    while (begin > 0 && IsNameChar(text_[begin - 1])) --begin;
    const absl::string_view prefix = text_.substr(begin, at_ - begin);
    return prefix == "R" || prefix == "u8R" || prefix == "uR" || prefix == "UR" || prefix == "LR";
  }

  // 1'000 is a number, not the beginning of a character.
  bool IsDigitSeparator() const {
    size_t begin = at_;
    while (begin > 0 && (IsNameChar(text_[begin - 1]) || text_[begin - 1] == '\'')) --begin;
    return begin < at_ && IsDigit(text_[begin]);
  }

  void BlankRawString() {
    const size_t open = text_.find('(', at_);
    if (open == absl::string_view::npos) {
      BlankTo(open);
      return;
    }
    const std::string close = absl::StrCat(")", text_.substr(at_ + 1, open - at_ - 1), "\"");
    ++at_;
    const size_t end = text_.find(close, open);
    BlankTo(end == absl::string_view::npos ? end : end + close.size() - 1);
    if (at_ < text_.size()) ++at_;
  }

  void BlankQuoted(char quote) {
    const size_t open = at_;
    size_t end = open + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      if (text_[end] == '\\') ++end;
      ++end;
    }
    ++at_;
    BlankTo(end);
    if (at_ < text_.size() && text_[at_] == quote) {
      ++at_;
    } else {
      out_[open] = ' ';  // an apostrophe in the text of an #error, say
    }
  }

  absl::string_view text_;
  std::string out_;
  size_t at_ = 0;
};

// The text with comments and the contents of literals replaced by spaces. Every other character,
// each line end and the quotes themselves stay where they were.
inline std::string CodeOnly(absl::string_view text) { return Blanker(text).Run(); }

struct Token {
  std::string text;        // a name, a number, an operator; "" in quotes stands for any literal
  size_t line = 0;         // from 1
  bool directive = false;  // part of a preprocessor directive
};

// The size of the token at the beginning of `rest`, which is not empty.
inline size_t TokenSize(absl::string_view rest) {
  static constexpr const char* kOperators[] = {
      "::", "->", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "&&", "||"};
  if (rest[0] == '"' || rest[0] == '\'') {
    const size_t close = rest.find(rest[0], 1);
    return close == absl::string_view::npos ? rest.size() : close + 1;
  }
  if (IsNameChar(rest[0])) {
    const bool number = IsDigit(rest[0]);
    size_t size = 1;
    while (size < rest.size() &&
           (IsNameChar(rest[size]) || (number && (rest[size] == '\'' || rest[size] == '.')))) {
      ++size;
    }
    return size;
  }
  for (const char* text : kOperators) {
    if (absl::StartsWith(rest, text)) return 2;
  }
  return 1;
}

// Cuts what CodeOnly() returned into tokens.
inline std::vector<Token> Tokenize(absl::string_view code) {
  std::vector<Token> tokens;
  size_t line = 1;
  bool directive = false;
  bool first_of_line = true;
  size_t at = 0;
  while (at < code.size()) {
    const char c = code[at];
    if (c == '\n') {
      ++line;
      directive = directive && code[at - 1] == '\\';  // a directive has begun, so at > 0
      first_of_line = true;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\') {
      ++at;
    } else {
      directive = directive || (first_of_line && c == '#');
      first_of_line = false;
      const absl::string_view text = code.substr(at, TokenSize(code.substr(at)));
      const bool literal = c == '"' || c == '\'';
      tokens.push_back({literal ? std::string("\"\"") : std::string(text), line, directive});
      line += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
      at += text.size();
    }
  }
  return tokens;
}

// The text of tokens[at], empty past the end.
inline absl::string_view TextAt(const std::vector<Token>& tokens, size_t at) {
  return at < tokens.size() ? absl::string_view(tokens[at].text) : absl::string_view();
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_CPP_TEXT_H_
