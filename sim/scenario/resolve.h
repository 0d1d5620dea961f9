// Scenario defaults, and every check of a scenario that needs no input file.
#ifndef DRASIM_SIM_SCENARIO_RESOLVE_H_
#define DRASIM_SIM_SCENARIO_RESOLVE_H_

#include "absl/status/status.h"
#include "model/proto/scenario.pb.h"
#include "policies/framework/registry.h"

namespace drasim {

// The built-in policies; built once.
const Registry& BuiltinRegistry();

// Fills in every default and checks every choice that needs no input file. Errors name the scenario
// key.
absl::Status ResolveScenario(proto::Scenario* scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_RESOLVE_H_
