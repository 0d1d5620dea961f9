#include "sim/run/resolved_yaml.h"

#include "model/proto/scenario.pb.h"
#include "model/text/yaml_writer.h"
#include "sim/scenario/scenario_paths.h"

namespace drasim {

std::string ResolvedYaml(const proto::Scenario& scenario) {
  proto::Scenario copy = scenario;
  copy.mutable_output()->clear_dir();
  copy.mutable_output()->clear_max_ledger();
  // The output folder may be elsewhere than the inputs.
  MakePathsAbsolute(&copy);
  return ToYaml(copy);
}

}  // namespace drasim
