// The flags that run, compare and sweep share: shorthand for scenario keys, and lists of
// contenders.
#ifndef DRASIM_SIM_APP_SCENARIO_FLAGS_H_
#define DRASIM_SIM_APP_SCENARIO_FLAGS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/app/flags.h"
#include "sim/compare/contenders.h"
#include "sim/scenario/given_scenario.h"

namespace drasim {

// The flags themselves. They live as long as the program.
const std::vector<FlagSpec>& ScenarioFlags();

// The scenario that the command line describes: the file (--scenario or the one positional
// argument), then the flags with a key in order, then --set. Not resolved.
absl::StatusOr<GivenScenario> ScenarioFromFlags(const ParsedFlags& flags);

// The values of --policies, --queues, --seeds, --worlds and --queue.
ContenderFlags ContenderFlagsOf(const ParsedFlags& flags);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_SCENARIO_FLAGS_H_
