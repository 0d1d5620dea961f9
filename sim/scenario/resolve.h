// Defaults of a scenario, and every check that needs no input file.
#ifndef DRASIM_SIM_SCENARIO_RESOLVE_H_
#define DRASIM_SIM_SCENARIO_RESOLVE_H_

#include "absl/status/statusor.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

namespace proto {
class Scenario;
}

// Fills in every default, checks every key that needs no input file, and converts the scenario into
// values. Errors begin with the scenario key. Idempotent: resolving RunSpec::written gives the same
// spec.
absl::StatusOr<RunSpec> ResolveScenario(const proto::Scenario& scenario);

// Whether the mode is replay. Accepts unresolved scenarios.
bool IsReplay(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_RESOLVE_H_
