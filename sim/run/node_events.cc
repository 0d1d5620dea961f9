#include "sim/run/node_events.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "sim/scenario/name_pattern.h"

namespace drasim {
namespace {

// `number`: of the event, and of its taint.
absl::Status AddNodeEvent(const NodeEventSpec& event, uint32_t number, const std::string& key,
                          std::vector<NodeSpec>* nodes, std::vector<std::string>* configs,
                          std::vector<NodeTransition>* out) {
  DeviceTransition devices;
  devices.action = event.device_action;
  devices.driver = event.driver;
  if (event.device_action == DeviceTransition::Action::kTainted) devices.config = number;
  for (int32_t device : event.devices) devices.devices.Add(static_cast<size_t>(device));
  if (!event.config.empty()) {
    const auto known = std::find(configs->begin(), configs->end(), event.config);
    devices.config = static_cast<uint32_t>(known - configs->begin());
    if (known == configs->end()) configs->push_back(event.config);
  }
  size_t matched = 0;
  for (size_t n = 0; n < nodes->size(); ++n) {
    NodeSpec& node = (*nodes)[n];
    if (!MatchesPattern(event.nodes, node.name)) continue;
    ++matched;
    for (int32_t device : event.devices) {
      if (device < node.gpu_count || event.any_devices) continue;
      return KeyError(absl::StrCat(key, ".devices"),
                      absl::StrCat("found ", device, ", expected below ", node.gpu_count,
                                   ", the GPUs of node '", node.name, "'"));
    }
    if (event.action == NodeTransition::Action::kAdd) node.absent = true;
    devices.node = NodeId(n);
    const SimTime at = SimTime() + event.at;
    out->push_back({at, NodeId(n), event.action, devices});
    if (!event.duration.has_value()) continue;
    DeviceTransition undo = devices;
    undo.action = event.device_undo;
    out->push_back({at + *event.duration, NodeId(n), event.undo, undo});
  }
  if (matched > 0) return absl::OkStatus();
  return KeyError(absl::StrCat(key, ".nodes"),
                  absl::StrCat("found '", event.nodes, "', which matches no node"));
}

}  // namespace

absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(
    absl::Span<const NodeEventSpec> events, std::vector<NodeSpec>* nodes,
    std::vector<std::string>* configs) {
  std::vector<NodeTransition> transitions;
  for (size_t i = 0; i < events.size(); ++i) {
    RETURN_IF_ERROR(AddNodeEvent(events[i], static_cast<uint32_t>(i),
                                 absl::StrCat("cluster.events[", i, "]"), nodes, configs,
                                 &transitions));
  }
  std::stable_sort(transitions.begin(), transitions.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
  return transitions;
}

}  // namespace drasim
