// Regular expressions of CEL: RE2, as in Go.
#ifndef DRASIM_POLICIES_CEL_PATTERN_H_
#define DRASIM_POLICIES_CEL_PATTERN_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "re2/re2.h"

namespace drasim::cel {

// Never null; ok() of the result says whether the text is a pattern. Time and memory are linear in
// the text and bounded, and so is matching in the searched text.
std::unique_ptr<const re2::RE2> CompilePattern(absl::string_view text);

// Why a pattern is none.
std::string PatternError(const re2::RE2& pattern);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_PATTERN_H_
