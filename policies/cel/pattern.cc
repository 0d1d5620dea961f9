#include "policies/cel/pattern.h"

#include "absl/strings/str_cat.h"

namespace drasim::cel {

std::unique_ptr<const re2::RE2> CompilePattern(absl::string_view text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
}

std::string PatternError(const re2::RE2& pattern) {
  return absl::StrCat("error parsing regexp: ", pattern.error());
}

}  // namespace drasim::cel
