#include "sim/perf/template_lexer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"

namespace drasim::perf {
namespace {

constexpr absl::string_view kBegin = "{{";
constexpr absl::string_view kEnd = "}}";

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Takes the tokens of one action off the front of the text.
class ActionLexer {
 public:
  ActionLexer(absl::string_view text, absl::string_view file, size_t line)
      : text_(text), file_(file), line_(line) {}

  // Up to and including the closing braces. `*trims`: they were -}}.
  absl::StatusOr<std::vector<TemplateToken>> Take(bool* trims) {
    std::vector<TemplateToken> tokens;
    while (true) {
      SkipSpace();
      *trims = absl::StartsWith(text_, "-}}") && spaced_;
      if (*trims || absl::StartsWith(text_, kEnd)) {
        text_.remove_prefix(*trims ? 3 : 2);
        return tokens;
      }
      if (text_.empty()) return TemplateError(file_, begin_, "the action has no end: expected }}");
      ASSIGN_OR_RETURN(TemplateToken token, Next());
      tokens.push_back(std::move(token));
    }
  }

  absl::string_view rest() const { return text_; }
  size_t line() const { return line_; }

 private:
  void SkipSpace() {
    spaced_ = false;
    while (!text_.empty() && IsSpace(text_.front())) {
      if (text_.front() == '\n') ++line_;
      text_.remove_prefix(1);
      spaced_ = true;
    }
  }

  std::string TakeWord() {
    const auto* const end = std::find_if_not(text_.begin(), text_.end(), IsWordCharacter);
    std::string word(text_.begin(), end);
    text_.remove_prefix(word.size());
    return word;
  }

  absl::StatusOr<TemplateToken> Next() {
    using Kind = TemplateToken::Kind;
    const char c = text_.front();
    TemplateToken token;
    if (c == '"' || c == '`') return TakeText();
    if (IsDigit(c) || ((c == '-' || c == '+') && text_.size() > 1 && IsDigit(text_[1]))) {
      return TakeNumber();
    }
    if (c == '.') {
      text_.remove_prefix(1);
      token.text = TakeWord();
      token.kind = token.text.empty() ? Kind::kDot : Kind::kField;
      return token;
    }
    if (c == '$') {
      text_.remove_prefix(1);
      token.kind = Kind::kVariable;
      token.text = TakeWord();
      return token;
    }
    if (IsWordCharacter(c)) {
      token.text = TakeWord();
      return token;
    }
    if (absl::ConsumePrefix(&text_, ":=")) {
      token.kind = Kind::kDeclare;
      return token;
    }
    constexpr absl::string_view kSigns = "()|=,";
    constexpr Kind kKinds[] = {Kind::kOpen, Kind::kClose, Kind::kPipe, Kind::kAssign, Kind::kComma};
    const size_t sign = kSigns.find(c);
    if (sign == absl::string_view::npos) {
      return TemplateError(file_, line_,
                           absl::StrCat("unexpected '", ShownText(text_.substr(0, 1)), "'"));
    }
    token.kind = kKinds[sign];
    text_.remove_prefix(1);
    return token;
  }

  absl::StatusOr<TemplateToken> TakeNumber() {
    const auto* const end = std::find_if_not(text_.begin() + 1, text_.end(),
                                             [](char c) { return IsWordCharacter(c) || c == '.'; });
    const absl::string_view digits(text_.data(), static_cast<size_t>(end - text_.begin()));
    TemplateToken token;
    token.kind = TemplateToken::Kind::kInt;
    if (!absl::SimpleAtoi(digits, &token.number)) {
      token.kind = TemplateToken::Kind::kReal;
      const bool real = absl::SimpleAtod(digits, &token.real) && std::isfinite(token.real);
      const bool plain = digits.find_first_not_of("0123456789.eE+-") == absl::string_view::npos;
      if (!real || !plain || digits.find('.') == absl::string_view::npos) {
        return TemplateError(file_, line_,
                             absl::StrCat("found '", ShownText(digits), "', expected a number"));
      }
    }
    text_.remove_prefix(digits.size());
    return token;
  }

  // "..." with the escapes \n, \t, \", \\, or `...` as it stands.
  absl::StatusOr<TemplateToken> TakeText() {
    const char quote = text_.front();
    TemplateToken token;
    token.kind = TemplateToken::Kind::kText;
    for (size_t i = 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == quote) {
        text_.remove_prefix(i + 1);
        return token;
      }
      if (c == '\n') {
        if (quote == '"') break;
        ++line_;
      }
      if (c != '\\' || quote == '`') {
        token.text += c;
        continue;
      }
      const char escaped = i + 1 < text_.size() ? text_[++i] : '\0';
      constexpr absl::string_view kEscapes = "nt\"\\";
      constexpr absl::string_view kMeanings = "\n\t\"\\";
      const size_t escape = kEscapes.find(escaped);
      if (escape == absl::string_view::npos) {
        return TemplateError(file_, line_,
                             "unknown escape in a text, expected \\n, \\t, \\\" or \\\\");
      }
      token.text += kMeanings[escape];
    }
    return TemplateError(file_, line_, "the text has no closing quote");
  }

  absl::string_view text_;
  absl::string_view file_;
  size_t line_;
  size_t begin_ = line_;
  bool spaced_ = false;  // blanks came before the present place
};

}  // namespace

absl::Status TemplateError(absl::string_view file, size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", what));
}

absl::StatusOr<std::vector<TemplatePiece>> SplitTemplate(absl::string_view text,
                                                         absl::string_view file) {
  std::vector<TemplatePiece> pieces;
  size_t line = 1;
  bool trims_left = false;  // the next text loses the blanks that it begins with
  while (true) {
    const size_t open = std::min(text.find(kBegin), text.size());
    absl::string_view between = text.substr(0, open);
    text.remove_prefix(open);
    const size_t begin = line;
    line += static_cast<size_t>(std::count(between.begin(), between.end(), '\n'));
    if (trims_left) between = absl::StripLeadingAsciiWhitespace(between);
    const bool trims_right = text.size() > 3 && text[2] == '-' && IsSpace(text[3]);
    if (trims_right) between = absl::StripTrailingAsciiWhitespace(between);
    if (!between.empty()) pieces.push_back({begin, false, std::string(between), {}});
    if (text.empty()) return pieces;
    text.remove_prefix(trims_right ? 3 : 2);
    const absl::string_view trimmed = absl::StripLeadingAsciiWhitespace(text);
    if (absl::StartsWith(trimmed, "/*")) {
      const size_t close = text.find("*/");
      const absl::string_view comment = text.substr(0, std::min(close, text.size()));
      const auto lines = static_cast<size_t>(std::count(comment.begin(), comment.end(), '\n'));
      if (close == absl::string_view::npos) {
        return TemplateError(file, line, "the comment has no end: expected */");
      }
      text.remove_prefix(close + 2);
      const absl::string_view after = absl::StripLeadingAsciiWhitespace(text);
      trims_left = absl::StartsWith(after, "-}}");
      if (!trims_left && !absl::StartsWith(after, kEnd)) {
        return TemplateError(file, line + lines, "expected }} after the comment");
      }
      line += lines + static_cast<size_t>(std::count(text.begin(), after.begin(), '\n'));
      text = after.substr(trims_left ? 3 : 2);
      continue;
    }
    TemplatePiece piece;
    piece.line = line;
    piece.action = true;
    ActionLexer lexer(text, file, line);
    ASSIGN_OR_RETURN(piece.tokens, lexer.Take(&trims_left));
    text = lexer.rest();
    line = lexer.line();
    pieces.push_back(std::move(piece));
  }
}

}  // namespace drasim::perf
