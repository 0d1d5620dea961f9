// Patterns for names of nodes.
#ifndef DRASIM_SIM_SCENARIO_NAME_PATTERN_H_
#define DRASIM_SIM_SCENARIO_NAME_PATTERN_H_

#include "absl/strings/string_view.h"

namespace drasim {

// `pattern` is a name, or has '*' for any text, including the empty one.
inline bool MatchesPattern(absl::string_view pattern, absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const absl::string_view rest = pattern.substr(star + 1);
  for (size_t begin = star; begin <= name.size(); ++begin) {
    if (MatchesPattern(rest, name.substr(begin))) return true;
  }
  return false;
}

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NAME_PATTERN_H_
