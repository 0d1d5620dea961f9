// Tokens of CEL.
#ifndef DRASIM_POLICIES_CEL_LEXER_H_
#define DRASIM_POLICIES_CEL_LEXER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace drasim::cel {

enum class TokenKind : uint8_t {
  kEnd,
  kIdent,
  kInt,     // 12, 0x1f
  kUint,    // 12u
  kDouble,  // 1.5, 1e3, .5
  kString,  // with quotes and prefix
  kBytes,
  kSign,  // an operator or bracket; `in` is an identifier
  kBad,   // no token begins here
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  uint32_t position = 0;
};

// Splits `source`, which must outlive the lexer. Never fails: a character that begins no token
// becomes kBad.
class Lexer {
 public:
  explicit Lexer(absl::string_view source) : source_(source) {}
  Token Next();

 private:
  void SkipBlanks();
  char At(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }
  size_t EndOfNumber(TokenKind* kind) const;
  size_t EndOfString(size_t quote, bool raw) const;  // npos: not closed
  size_t SignLength() const;

  absl::string_view source_;
  size_t at_ = 0;
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_LEXER_H_
