// C++ source as text: what the tidy test must know about it, found without a compiler.
//
// CodeOnly() blanks comments and the contents of literals, Tokenize() cuts the rest into tokens,
// FindFunctions() matches braces. They are heuristics that suit this repository's style
// (clang-format, no macro that opens or closes a brace). Each takes O(size of the text).
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

struct FunctionSpan {
  std::string name;       // as written before the parameters; Suite.Name for the tests' macros
  size_t first_line = 0;  // of the opening brace
  size_t last_line = 0;   // of the closing brace
};

struct FunctionList {
  std::vector<FunctionSpan> functions;
  bool balanced = true;  // whether every brace had its partner; if not, the list is incomplete
};

// What stands before an opening brace outside functions, since the last ';', '{' or '}'.
class DeclarationHead {
 public:
  enum class Brace { kScope, kFunction, kValue };

  void Clear() { words_.clear(); }
  void Append(const std::string& word) { words_.push_back(word); }

  bool IsAccessLabel() const {
    return words_.size() == 1 &&
           (words_[0] == "public" || words_[0] == "protected" || words_[0] == "private");
  }

  // What a brace after this head opens.
  Brace Opens() const {
    const size_t first = First();
    const std::string kind = first < words_.size() ? words_[first] : std::string();
    const bool is_namespace = std::find(words_.begin(), words_.end(), "namespace") != words_.end();
    const bool is_linkage = words_.size() == 2 && words_[0] == "extern" && words_[1] == "\"\"";
    if (is_namespace || is_linkage || kind == "class" || kind == "struct" || kind == "union") {
      return Brace::kScope;
    }
    const Shape shape = ShapeFrom(first);
    if (kind == "enum" || shape.parameters == words_.size() || shape.has_value) {
      return Brace::kValue;
    }
    const std::string& last = words_.back();
    return shape.initialises_members && (IsName(last) || last == ">") ? Brace::kValue
                                                                      : Brace::kFunction;
  }

  // The name of the function that this head declares. Requires: Opens() == kFunction.
  std::string FunctionName() const {
    const size_t parameters = ShapeFrom(First()).parameters;
    if (parameters == 0) return "(unnamed)";
    size_t at = parameters - 1;
    if (absl::StrContains(words_[at], "TEST") && parameters + 3 < words_.size()) {
      return absl::StrCat(words_[parameters + 1], ".", words_[parameters + 3]);
    }
    std::string name = words_[at];
    while (at > 0) {
      const std::string& before = words_[at - 1];
      const bool belongs = before == "::" || before == "~" || before == "operator" ||
                           (words_[at] == "::" && IsName(before));
      if (!belongs) break;
      name = absl::StrCat(before, name);
      --at;
    }
    return name;
  }

 private:
  struct Shape {
    size_t parameters = 0;             // where the parameters begin; the size if there are none
    bool has_value = false;            // an initialiser with '='
    bool initialises_members = false;  // a constructor's ':' after the parameters
  };

  // Past template parameters and specifiers.
  size_t First() const {
    size_t at = 0;
    while (at < words_.size()) {
      const std::string& word = words_[at];
      if (word == "template") {
        int depth = 0;
        do {
          ++at;
          if (at < words_.size() && words_[at] == "<") ++depth;
          if (at < words_.size() && words_[at] == ">") --depth;
        } while (at < words_.size() && depth > 0);
        ++at;
      } else if (word == "inline" || word == "static" || word == "constexpr" || word == "const" ||
                 word == "typedef" || word == "friend" || word == "extern" || word == "\"\"") {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  Shape ShapeFrom(size_t first) const {
    Shape shape;
    shape.parameters = words_.size();
    int parens = 0;
    int angles = 0;
    bool closed = false;
    for (size_t at = first; at < words_.size(); ++at) {
      const std::string& word = words_[at];
      const std::string before = at > 0 ? words_[at - 1] : std::string();
      const bool outside = parens == 0 && before != "operator";
      if (word == "(") {
        if (parens == 0 && angles == 0) shape.parameters = std::min(shape.parameters, at);
        ++parens;
      } else if (word == ")") {
        --parens;
        closed = closed || (parens == 0 && angles == 0);
      } else if (word == "<" && outside && IsName(before)) {
        ++angles;
      } else if (word == ">" && outside && angles > 0) {
        --angles;
      } else if (word == "=" && outside && angles == 0) {
        shape.has_value = true;
      } else if (word == ":" && outside && closed) {
        shape.initialises_members = true;
      }
    }
    return shape;
  }

  std::vector<std::string> words_;
};

class FunctionFinder {
 public:
  explicit FunctionFinder(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      if (!token.directive) tokens_.push_back(&token);
    }
  }

  FunctionList Run() {
    while (at_ < tokens_.size()) {
      const std::string& text = tokens_[at_]->text;
      if (text == "{") {
        OpenBrace();
      } else {
        if (text == "}") {
          list_.balanced = list_.balanced && scopes_ > 0;
          if (scopes_ > 0) --scopes_;
          head_.Clear();
        } else {
          Extend(text);
        }
        ++at_;
      }
    }
    list_.balanced = list_.balanced && scopes_ == 0;
    return list_;
  }

 private:
  void Extend(const std::string& text) {
    if (text == "(" || text == "[") ++parens_;
    if (text == ")" || text == "]") --parens_;
    const bool ends = parens_ == 0 && (text == ";" || (text == ":" && head_.IsAccessLabel()));
    if (ends) {
      head_.Clear();
    } else {
      head_.Append(text);
    }
  }

  void OpenBrace() {
    const DeclarationHead::Brace opens =
        parens_ > 0 ? DeclarationHead::Brace::kValue : head_.Opens();
    if (opens == DeclarationHead::Brace::kScope) {
      ++scopes_;
      head_.Clear();
      ++at_;
      return;
    }
    const size_t close = Partner();
    if (close == tokens_.size()) {
      list_.balanced = false;
    } else if (opens == DeclarationHead::Brace::kFunction) {
      list_.functions.push_back({head_.FunctionName(), tokens_[at_]->line, tokens_[close]->line});
      head_.Clear();
    } else {
      head_.Append("}");
    }
    at_ = std::min(close + 1, tokens_.size());
  }

  // The closing brace of the opening one here, or the number of tokens.
  size_t Partner() const {
    size_t depth = 0;
    for (size_t at = at_; at < tokens_.size(); ++at) {
      if (tokens_[at]->text == "{") ++depth;
      if (tokens_[at]->text == "}" && --depth == 0) return at;
    }
    return tokens_.size();
  }

  std::vector<const Token*> tokens_;
  size_t at_ = 0;
  size_t scopes_ = 0;
  int parens_ = 0;
  DeclarationHead head_;
  FunctionList list_;
};

// The bodies of functions at namespace and class level, in order. Local functions and lambdas
// count as part of the function around them.
inline FunctionList FindFunctions(const std::vector<Token>& tokens) {
  return FunctionFinder(tokens).Run();
}

}  // namespace drasim::tidy

#endif  // DRASIM_TESTS_REPOSITORY_CPP_TEXT_H_
