// LastLine: the part of a program's output that tells most about its failure.
#ifndef DRASIM_SIM_BENCH_LAST_LINE_H_
#define DRASIM_SIM_BENCH_LAST_LINE_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace drasim::bench {

// The last line that is not blank; empty if there is none.
inline std::string LastLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  const size_t end = text.rfind('\n');
  return std::string(end == absl::string_view::npos ? text : text.substr(end + 1));
}

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_LAST_LINE_H_
