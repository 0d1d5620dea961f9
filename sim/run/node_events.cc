#include "sim/run/node_events.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/device_set.h"
#include "model/text/did_you_mean.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/name_pattern.h"

namespace drasim {
namespace {

using Action = NodeTransition::Action;
using DeviceAction = DeviceTransition::Action;

struct ActionName {
  absl::string_view name;
  Action action;
  Action undo;  // what ends it after its duration
  bool may_last;
  DeviceAction device = DeviceAction::kUnhealthy;  // of kDevices
  DeviceAction device_undo = DeviceAction::kHealthy;
};
constexpr ActionName kActions[] = {
    {"add", Action::kAdd, Action::kRemove, false},
    {"remove", Action::kRemove, Action::kAdd, false},
    {"fail", Action::kFail, Action::kRecover, true},
    {"recover", Action::kRecover, Action::kFail, false},
    {"cordon", Action::kCordon, Action::kUncordon, true},
    {"uncordon", Action::kUncordon, Action::kCordon, false},
    {"drain", Action::kDrain, Action::kUncordon, true},
    {"device-unhealthy", Action::kDevices, Action::kDevices, true, DeviceAction::kUnhealthy,
     DeviceAction::kHealthy},
    {"device-healthy", Action::kDevices, Action::kDevices, false, DeviceAction::kHealthy,
     DeviceAction::kUnhealthy},
    {"plugin-restart", Action::kDevices, Action::kDevices, true, DeviceAction::kPluginGone,
     DeviceAction::kPluginBack},
    {"mig-config", Action::kDevices, Action::kDevices, false, DeviceAction::kMigConfig,
     DeviceAction::kMigConfig},
};

const ActionName* FindAction(const std::string& name) {
  const auto* const it = std::find_if(std::begin(kActions), std::end(kActions),
                                      [&name](const ActionName& a) { return a.name == name; });
  return it == std::end(kActions) ? nullptr : it;
}

// What the event says about devices fits its action.
absl::Status CheckEventDevices(const proto::NodeEvent& event, const std::string& key,
                               const ActionName& action) {
  const bool health =
      action.action == Action::kDevices &&
      (action.device == DeviceAction::kUnhealthy || action.device == DeviceAction::kHealthy);
  if (health == (event.devices_size() == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        key, ".devices: expected ", health ? "indices of GPUs" : "none with this action"));
  }
  std::vector<int32_t> seen;
  for (int32_t device : event.devices()) {
    if (device < 0 || device >= kMaxDevicesPerNode) {
      return absl::InvalidArgumentError(absl::StrCat(key, ".devices: found ", device,
                                                     ", expected 0 to ", kMaxDevicesPerNode - 1));
    }
    if (std::find(seen.begin(), seen.end(), device) != seen.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ".devices: found ", device, " twice, expected it once"));
    }
    seen.push_back(device);
  }
  const bool config =
      action.action == Action::kDevices && action.device == DeviceAction::kMigConfig;
  if (config != event.config().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(key, ".config: expected ",
                   config ? "the name of a MIG configuration" : "none with this action"));
}

absl::Status CheckEvent(const proto::NodeEvent& event, const std::string& key) {
  const ActionName* const action = FindAction(event.action());
  if (action == nullptr) {
    std::vector<std::string> names;
    for (const ActionName& a : kActions) names.emplace_back(a.name);
    return absl::InvalidArgumentError(
        absl::StrCat(key, ".action: found '", event.action(), "', expected one of ",
                     absl::StrJoin(names, ", "), Suggest(event.action(), names)));
  }
  if (event.nodes().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, ".nodes: found none, expected a node's name or a pattern with *"));
  }
  if (!action->may_last && !event.duration().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        key, ".duration: found '", event.duration(),
        "', expected none: only fail, cordon, drain, device-unhealthy and plugin-restart last"));
  }
  return CheckEventDevices(event, key, *action);
}

// Without `nodes` the event is only checked.
absl::Status AddNodeEvent(const proto::NodeEvent& event, const std::string& key,
                          std::vector<NodeSpec>* nodes, std::vector<std::string>* configs,
                          std::vector<NodeTransition>* out) {
  SimDuration at;
  SimDuration duration;
  if (absl::Status e = ReadDuration(key + ".at", event.at(), &at); !e.ok()) return e;
  if (absl::Status e = ReadDuration(key + ".duration", event.duration(), &duration); !e.ok()) {
    return e;
  }
  if (absl::Status e = CheckEvent(event, key); !e.ok()) return e;
  if (at.ns() > kLongestNs || duration.ns() > kLongestNs) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": expected times below 100 years"));
  }
  if (nodes == nullptr) return absl::OkStatus();
  const ActionName& action = *FindAction(event.action());
  DeviceTransition devices;
  devices.action = action.device;
  for (int32_t device : event.devices()) devices.devices.Add(static_cast<size_t>(device));
  if (!event.config().empty()) {
    const auto known = std::find(configs->begin(), configs->end(), event.config());
    devices.config = static_cast<uint32_t>(known - configs->begin());
    if (known == configs->end()) configs->push_back(event.config());
  }
  size_t matched = 0;
  for (size_t n = 0; n < nodes->size(); ++n) {
    NodeSpec& node = (*nodes)[n];
    if (!MatchesPattern(event.nodes(), node.name)) continue;
    ++matched;
    for (int32_t device : event.devices()) {
      if (device < node.gpu_count) continue;
      return absl::InvalidArgumentError(absl::StrCat(key, ".devices: found ", device,
                                                     ", expected below ", node.gpu_count,
                                                     ", the GPUs of node '", node.name, "'"));
    }
    if (event.action() == "add") node.absent = true;
    devices.node = NodeId(n);
    out->push_back({SimTime() + at, NodeId(n), action.action, devices});
    if (event.duration().empty()) continue;
    DeviceTransition undo = devices;
    undo.action = action.device_undo;
    out->push_back({SimTime() + at + duration, NodeId(n), action.undo, undo});
  }
  if (matched > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(key, ".nodes: found '", event.nodes(), "', which matches no node"));
}

}  // namespace

absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(const proto::Scenario& s,
                                                                std::vector<NodeSpec>* nodes,
                                                                std::vector<std::string>* configs) {
  std::vector<NodeTransition> transitions;
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    absl::Status e = AddNodeEvent(s.cluster().events(i), absl::StrCat("cluster.events[", i, "]"),
                                  nodes, configs, &transitions);
    if (!e.ok()) return e;
  }
  std::stable_sort(transitions.begin(), transitions.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
  return transitions;
}

absl::Status CheckNodeEvents(const proto::Scenario& s) {
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    absl::Status e = AddNodeEvent(s.cluster().events(i), absl::StrCat("cluster.events[", i, "]"),
                                  nullptr, nullptr, nullptr);
    if (!e.ok()) return e;
  }
  return absl::OkStatus();
}

absl::Status CheckNoDeviceEvents(const proto::Scenario& s) {
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    const std::string& name = s.cluster().events(i).action();
    const ActionName* const action = FindAction(name);
    if (action == nullptr || action->action != Action::kDevices) continue;
    return absl::InvalidArgumentError(absl::StrCat("cluster.events[", i, "].action: found '", name,
                                                   "', which needs front_end.kind: device-plugin"));
  }
  return absl::OkStatus();
}

}  // namespace drasim
