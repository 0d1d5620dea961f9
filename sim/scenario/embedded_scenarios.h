// Scenarios that are part of the program, to begin without a file: some of scenarios/, turned into
// code at build time. They need no other files.
//
// Both functions are pure: they return the same bytes at every call, which live as long as the
// program.
#ifndef DRASIM_SIM_SCENARIO_EMBEDDED_SCENARIOS_H_
#define DRASIM_SIM_SCENARIO_EMBEDDED_SCENARIOS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

// The YAML text of scenarios/NAME.yaml, with its comments. Empty when there is none.
absl::string_view EmbeddedScenario(absl::string_view name);

// The names that EmbeddedScenario knows, the one for beginners first.
std::vector<std::string> EmbeddedScenarioNames();

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_EMBEDDED_SCENARIOS_H_
