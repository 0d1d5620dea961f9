#include "policies/cel/lexer.h"

#include "absl/strings/ascii.h"

namespace drasim::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

}  // namespace

void Lexer::SkipBlanks() {
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '/' && At(at_ + 1) == '/') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

size_t Lexer::EndOfNumber(TokenKind* kind) const {
  size_t end = at_;
  *kind = TokenKind::kInt;
  if (At(end) == '0' && At(end + 1) == 'x' && IsHexDigit(At(end + 2))) {
    end += 2;
    while (IsHexDigit(At(end))) ++end;
  } else {
    while (IsDigit(At(end))) ++end;
    if (At(end) == '.' && IsDigit(At(end + 1))) {
      *kind = TokenKind::kDouble;
      ++end;
      while (IsDigit(At(end))) ++end;
    }
    size_t exponent = end;
    if (At(exponent) == 'e' || At(exponent) == 'E') {
      ++exponent;
      if (At(exponent) == '+' || At(exponent) == '-') ++exponent;
      if (IsDigit(At(exponent))) {
        *kind = TokenKind::kDouble;
        while (IsDigit(At(exponent))) ++exponent;
        end = exponent;
      }
    }
  }
  if (*kind == TokenKind::kInt && (At(end) == 'u' || At(end) == 'U')) {
    *kind = TokenKind::kUint;
    ++end;
  }
  return end;
}

size_t Lexer::EndOfString(size_t quote, bool raw) const {
  const char mark = source_[quote];
  const bool triple = At(quote + 1) == mark && At(quote + 2) == mark;
  size_t at = quote + (triple ? 3 : 1);
  while (at < source_.size()) {
    const char c = source_[at];
    if (c == '\\' && !raw) {
      at += 2;
    } else if (c == mark && !triple) {
      return at + 1;
    } else if (c == mark && At(at + 1) == mark && At(at + 2) == mark) {
      return at + 3;
    } else if (!triple && (c == '\n' || c == '\r')) {
      break;
    } else {
      ++at;
    }
  }
  return absl::string_view::npos;
}

size_t Lexer::SignLength() const {
  const char c = source_[at_];
  const char next = At(at_ + 1);
  switch (c) {
    case '=':
      return next == '=' ? 2 : 0;
    case '!':
    case '<':
    case '>':
      return next == '=' ? 2 : 1;
    case '&':
    case '|':
      return next == c ? 2 : 0;
    case '[':
    case ']':
    case '{':
    case '}':
    case '(':
    case ')':
    case '.':
    case ',':
    case '-':
    case '+':
    case '*':
    case '/':
    case '%':
    case '?':
    case ':':
      return 1;
    default:
      return 0;
  }
}

Token Lexer::Next() {
  SkipBlanks();
  Token token;
  token.position = static_cast<uint32_t>(at_);
  if (at_ >= source_.size()) return token;
  const char c = source_[at_];
  size_t end = at_;
  if (IsNameStart(c)) {
    while (IsNamePart(At(end))) ++end;
    token.kind = TokenKind::kIdent;
    const absl::string_view name = source_.substr(at_, end - at_);
    const char quote = At(end);
    if ((quote == '"' || quote == '\'') && name.size() <= 2) {
      bool raw = false;
      bool bytes = false;
      bool prefix = true;
      for (const char letter : name) {
        const char lower = absl::ascii_tolower(static_cast<unsigned char>(letter));
        if (lower == 'r' && !raw) {
          raw = true;
        } else if (lower == 'b' && !bytes && !raw) {
          bytes = true;
        } else {
          prefix = false;
        }
      }
      if (prefix) {
        token.kind = bytes ? TokenKind::kBytes : TokenKind::kString;
        end = EndOfString(end, raw);
      }
    }
  } else if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) {
    end = EndOfNumber(&token.kind);
  } else if (c == '"' || c == '\'') {
    token.kind = TokenKind::kString;
    end = EndOfString(at_, /*raw=*/false);
  } else {
    const size_t length = SignLength();
    token.kind = length > 0 ? TokenKind::kSign : TokenKind::kBad;
    end = at_ + (length > 0 ? length : 1);
  }
  if (end == absl::string_view::npos || end > source_.size()) {
    token.kind = TokenKind::kBad;
    end = source_.size();
  }
  token.text = source_.substr(at_, end - at_);
  at_ = end;
  return token;
}

}  // namespace drasim::cel
