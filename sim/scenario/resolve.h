// Scenario defaults, and every check of a scenario that needs no input file.
#ifndef DRASIM_SIM_SCENARIO_RESOLVE_H_
#define DRASIM_SIM_SCENARIO_RESOLVE_H_

#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// Fills in every default, checks every choice that needs no input file, and reads all of it into
// values. Errors name the scenario key. A scenario that has been resolved (RunSpec::written) leads
// to the same spec again.
absl::StatusOr<RunSpec> ResolveScenario(const proto::Scenario& scenario);

// Whether the mode is replay, in a scenario that need not be resolved.
bool IsReplay(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_RESOLVE_H_
