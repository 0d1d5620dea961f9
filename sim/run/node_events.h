// `cluster.events`, carried out: the transitions of a cluster's nodes.
#ifndef DRASIM_SIM_RUN_NODE_EVENTS_H_
#define DRASIM_SIM_RUN_NODE_EVENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/node_spec.h"
#include "sim/core/engine.h"
#include "sim/scenario/node_event_spec.h"

namespace drasim {

// The changes in order of time, events of one instant in the order of the scenario. Marks nodes
// that are added later as absent. DeviceTransition::config is the place of the configuration's name
// in `configs`, to which new names are added. InvalidArgument for a pattern that no node matches,
// and for a GPU that a node does not have.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(
    absl::Span<const NodeEventSpec> events, std::vector<NodeSpec>* nodes,
    std::vector<std::string>* configs);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_EVENTS_H_
