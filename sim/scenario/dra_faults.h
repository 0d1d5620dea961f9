// Faults of a control plane of DRA: front_end.dra.faults and front_end.structured.faults.
#ifndef DRASIM_SIM_SCENARIO_DRA_FAULTS_H_
#define DRASIM_SIM_SCENARIO_DRA_FAULTS_H_

#include <vector>

#include "absl/status/status.h"
#include "sim/dra/classic/control_plane_options.h"

namespace drasim {

namespace proto {
class Dra;
class StructuredDra;
}  // namespace proto

// Appends to `*faults`. InvalidArgument, beginning with the scenario key: an unknown action, keys
// that the action does not have, bad times and counts. Whether components and nodes exist is for
// the run to find out.
absl::Status ReadFaults(const proto::Dra& given, std::vector<PlaneFault>* faults);
absl::Status ReadFaults(const proto::StructuredDra& given, std::vector<PlaneFault>* faults);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DRA_FAULTS_H_
