// The value of a string or bytes literal of CEL.
#ifndef DRASIM_POLICIES_CEL_LITERAL_TEXT_H_
#define DRASIM_POLICIES_CEL_LITERAL_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim::cel {

// A literal between its quotes, without prefix.
struct QuotedText {
  absl::string_view inner;
  bool raw = false;
  bool bytes = false;
};

// Splits a literal as the lexer gives it, such as r'a\b'.
QuotedText SplitQuotes(absl::string_view literal);

// The text that the escapes of a literal mean; in bytes, \x and octal escapes are bytes, elsewhere
// code points. InvalidArgument for escapes that CEL does not have.
absl::StatusOr<std::string> Unescape(const QuotedText& quoted);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_LITERAL_TEXT_H_
