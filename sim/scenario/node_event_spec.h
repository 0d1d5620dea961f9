// `cluster.events`: scheduled changes of nodes and of their devices.
#ifndef DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/resource.pb.h"
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
  std::string config;                                // of kMigConfig: the layout's name
  proto::kube::DeviceTaint taint;                    // of kTainted
  uint32_t driver = DeviceTransition::kEveryDriver;  // of structured DRA, by number
  bool any_devices = false;  // structured DRA: devices are not those of the node list
  // An event with a duration is undone at the end of it.
  std::optional<SimDuration> duration;
  NodeTransition::Action undo = NodeTransition::Action::kRemove;
  DeviceTransition::Action device_undo = DeviceTransition::Action::kHealthy;
};

// The events in the order of the scenario. InvalidArgument, beginning with the scenario key, for an
// invalid event. MakeNodeTransitions (sim/run/node_events.h) checks that its nodes and devices
// exist.
absl::StatusOr<std::vector<NodeEventSpec>> MakeNodeEvents(const proto::Scenario& scenario);

// InvalidArgument for an event about devices that the front end does not support.
absl::Status CheckDeviceEvents(const proto::Scenario& scenario);

// The names of MIG configurations of the events, each once, in the order of
// DeviceTransition::config.
std::vector<std::string> ConfigsOf(absl::Span<const NodeEventSpec> events);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_EVENT_SPEC_H_
