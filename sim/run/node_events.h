// Turns `cluster.events` into transitions of nodes and devices.
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

// The transitions in order of time; events of one instant keep the order of the scenario. Marks
// nodes that events add as initially absent. DeviceTransition::config is an index into `configs`,
// to which new names of configurations are appended; of a taint the number of its event.
// InvalidArgument for a pattern without a matching node and for a GPU that a node lacks.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(
    absl::Span<const NodeEventSpec> events, std::vector<NodeSpec>* nodes,
    std::vector<std::string>* configs);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_EVENTS_H_
