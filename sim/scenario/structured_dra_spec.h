// `front_end.structured`: structured Dynamic Resource Allocation.
#ifndef DRASIM_SIM_SCENARIO_STRUCTURED_DRA_SPEC_H_
#define DRASIM_SIM_SCENARIO_STRUCTURED_DRA_SPEC_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/distributions.h"
#include "model/proto/slice_driver.pb.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane_options.h"
#include "sim/dra/structured/device_binder.h"
#include "sim/dra/structured/structured_rules.h"
#include "sim/dra/structured/taint_admin.h"

namespace drasim {

namespace proto {
class Scenario;
class StructuredDra;
}  // namespace proto

struct StructuredDraSpec {
  StructuredRulesOptions rules;  // without `scores`
  // Policy of the allocator, by name (MakeChoicePolicy); a policy needs the mix of the run.
  std::string policy;
  SimDuration prepare;  // per claim
  SimDuration unprepare;
  std::vector<TaintRuleEvent> taint_rules;  // of the administrator
  std::string plugin_nodes;                 // as FrontEndSpec::plugin_nodes
  std::vector<proto::SliceDriver> drivers;  // options are valid, but for files not yet read
  std::vector<BindingBehaviour> bindings;   // by driver, without nodes
  ConnectionOptions driver_connection;      // of each kubelet plugin
  std::optional<Distribution> driver_start;
  SimDuration sync_delay = SimDuration::Seconds(30);
  SimDuration wiping_delay = SimDuration::Seconds(30);
};

// Writes the defaults of front_end.structured that affect decisions into the scenario.
void FillStructuredDraDefaults(proto::Scenario* scenario);

// InvalidArgument, beginning with the scenario key: an unknown release or gate, bad durations,
// bad options of drivers.
// REQUIRES: FillStructuredDraDefaults has run.
absl::StatusOr<StructuredDraSpec> MakeStructuredDraSpec(const proto::Scenario& scenario);
absl::StatusOr<ControlPlaneOptions> ReadStructuredPlane(const proto::StructuredDra& given);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_STRUCTURED_DRA_SPEC_H_
