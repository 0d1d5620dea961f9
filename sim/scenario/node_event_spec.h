// `cluster.events`: scheduled changes of nodes and of their devices.
#ifndef DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/core/engine.h"

namespace drasim {

namespace proto {
class Scenario;
}

struct NodeEventSpec {
  SimDuration at;     // after time zero
  std::string nodes;  // a name or a pattern with *
  NodeTransition::Action action = NodeTransition::Action::kAdd;
  DeviceTransition::Action device_action = DeviceTransition::Action::kUnhealthy;  // of kDevices
  std::vector<int32_t> devices;                                                   // indices of GPUs
  std::string config;  // of kMigConfig: the layout's name
  // An event with a duration is undone at the end of it.
  std::optional<SimDuration> duration;
  NodeTransition::Action undo = NodeTransition::Action::kRemove;
  DeviceTransition::Action device_undo = DeviceTransition::Action::kHealthy;
};

// The events in the order of the scenario. InvalidArgument, beginning with the scenario key, for an
// invalid event. MakeNodeTransitions (sim/run/node_events.h) checks that its nodes and devices
// exist.
absl::StatusOr<std::vector<NodeEventSpec>> MakeNodeEvents(const proto::Scenario& scenario);

// InvalidArgument for an event about devices: only the device plugin supports these.
absl::Status CheckNoDeviceEvents(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
