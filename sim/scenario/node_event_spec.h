// `cluster.events`: changes of nodes and of their devices at given times of the run.
#ifndef DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "sim/core/engine.h"

namespace drasim {

struct NodeEventSpec {
  SimDuration at;     // after time zero
  std::string nodes;  // a node's name, or a pattern with *
  NodeTransition::Action action = NodeTransition::Action::kAdd;
  DeviceTransition::Action device_action = DeviceTransition::Action::kUnhealthy;  // of kDevices
  std::vector<int32_t> devices;                                                   // indices of GPUs
  std::string config;  // of kMigConfig: the layout's name
  // With a duration, the event is undone at its end.
  std::optional<SimDuration> duration;
  NodeTransition::Action undo = NodeTransition::Action::kRemove;
  DeviceTransition::Action device_undo = DeviceTransition::Action::kHealthy;
};

// The events in the order of the scenario. InvalidArgument, beginning with the scenario key, for
// an event that makes no sense by itself; whether its nodes and devices exist is known later.
absl::StatusOr<std::vector<NodeEventSpec>> MakeNodeEvents(const proto::Scenario& scenario);

// InvalidArgument if an event concerns devices: only the device plugin carries such events out.
absl::Status CheckNoDeviceEvents(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
