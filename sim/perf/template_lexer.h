// Go's text/template as a list of pieces: text between actions, and the tokens of each action.
#ifndef DRASIM_SIM_PERF_TEMPLATE_LEXER_H_
#define DRASIM_SIM_PERF_TEMPLATE_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim::perf {

struct TemplateToken {
  enum class Kind : uint8_t {
    kWord,      // a function or a keyword
    kField,     // ".Index"; `text` is the name
    kDot,       // "."
    kVariable,  // "$x"; `text` is the name, empty for "$"
    kInt,
    kReal,
    kText,
    kOpen,     // (
    kClose,    // )
    kPipe,     // |
    kDeclare,  // :=
    kAssign,   // =
    kComma,
  };
  Kind kind = Kind::kWord;
  std::string text;
  int64_t number = 0;
  double real = 0;
};

struct TemplatePiece {
  size_t line = 0;  // where it begins, from 1
  bool action = false;
  std::string text;  // between actions, after trimming
  std::vector<TemplateToken> tokens;
};

// "FILE:LINE: WHAT".
absl::Status TemplateError(absl::string_view file, size_t line, absl::string_view what);

// Comments are left out; {{- and -}} have trimmed the text beside them. InvalidArgument
// ("FILE:LINE: ...") for an action that does not end and for characters that no token begins with.
// Linear in the text.
absl::StatusOr<std::vector<TemplatePiece>> SplitTemplate(absl::string_view text,
                                                         absl::string_view file);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_TEMPLATE_LEXER_H_
