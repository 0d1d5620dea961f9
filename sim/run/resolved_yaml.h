// The resolved scenario as YAML, as it stands in scenario.yaml and in the ledger.
#ifndef DRASIM_SIM_RUN_RESOLVED_YAML_H_
#define DRASIM_SIM_RUN_RESOLVED_YAML_H_

#include <string>

namespace drasim {

namespace proto {
class Scenario;
}

// Omits the keys that belong to the machine rather than to the run: the output folder and its size
// limit. Paths become absolute, so the run can be repeated from anywhere.
std::string ResolvedYaml(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RESOLVED_YAML_H_
