// `cluster.events`: what happens to nodes and their devices at times of the run.
#ifndef DRASIM_SIM_RUN_NODE_EVENTS_H_
#define DRASIM_SIM_RUN_NODE_EVENTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "sim/core/engine.h"

namespace drasim {

// The changes in order of time, events of one instant in the order of the scenario. Marks nodes
// that are added later as absent. DeviceTransition::config is the place of the configuration's name
// in `configs`, to which new names are added. InvalidArgument for a pattern that no node matches,
// and for a GPU that a node does not have.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(const proto::Scenario& scenario,
                                                                std::vector<NodeSpec>* nodes,
                                                                std::vector<std::string>* configs);

// Whether every event of `cluster.events` makes sense by itself.
absl::Status CheckNodeEvents(const proto::Scenario& scenario);
// InvalidArgument when one of them concerns devices, which only the device plugin has.
absl::Status CheckNoDeviceEvents(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_EVENTS_H_
