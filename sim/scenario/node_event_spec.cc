#include "sim/scenario/node_event_spec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/key_error.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

using Action = NodeTransition::Action;
using DeviceAction = DeviceTransition::Action;

struct ActionName {
  absl::string_view name;
  Action action;
  Action undo;  // the action at the end of its duration
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

// Whether the keys about devices fit the event's action.
absl::Status CheckEventDevices(const proto::NodeEvent& event, const std::string& key,
                               const ActionName& action) {
  const bool health =
      action.action == Action::kDevices &&
      (action.device == DeviceAction::kUnhealthy || action.device == DeviceAction::kHealthy);
  if (health == (event.devices_size() == 0)) {
    return KeyError(
        absl::StrCat(key, ".devices"),
        absl::StrCat("expected ", health ? "indices of GPUs" : "none with this action"));
  }
  std::vector<int32_t> seen;
  for (int32_t device : event.devices()) {
    if (device < 0 || device >= kMaxDevicesPerNode) {
      return KeyError(absl::StrCat(key, ".devices"),
                      absl::StrCat("found ", device, ", expected 0 to ", kMaxDevicesPerNode - 1));
    }
    if (std::find(seen.begin(), seen.end(), device) != seen.end()) {
      return KeyError(absl::StrCat(key, ".devices"),
                      absl::StrCat("found ", device, " twice, expected it once"));
    }
    seen.push_back(device);
  }
  const bool config =
      action.action == Action::kDevices && action.device == DeviceAction::kMigConfig;
  if (config != event.config().empty()) return absl::OkStatus();
  return KeyError(absl::StrCat(key, ".config"),
                  absl::StrCat("expected ", config ? "the name of a MIG configuration"
                                                   : "none with this action"));
}

absl::Status CheckEvent(const proto::NodeEvent& event, const std::string& key) {
  const ActionName* const action = FindAction(event.action());
  if (action == nullptr) {
    std::vector<std::string> names;
    for (const ActionName& a : kActions) names.emplace_back(a.name);
    return KeyError(absl::StrCat(key, ".action"),
                    absl::StrCat("found '", event.action(), "', expected one of ",
                                 absl::StrJoin(names, ", "), Suggest(event.action(), names)));
  }
  if (event.nodes().empty()) {
    return KeyError(absl::StrCat(key, ".nodes"),
                    "found none, expected a node's name or a pattern with *");
  }
  if (!action->may_last && !event.duration().empty()) {
    return KeyError(absl::StrCat(key, ".duration"),
                    absl::StrCat("found '", event.duration(),
                                 "', expected none: only fail, cordon, drain, device-unhealthy and "
                                 "plugin-restart last"));
  }
  return CheckEventDevices(event, key, *action);
}

absl::StatusOr<NodeEventSpec> ReadNodeEvent(const proto::NodeEvent& event, const std::string& key) {
  NodeEventSpec spec;
  SimDuration duration;
  RETURN_IF_ERROR(ReadDuration(key + ".at", event.at(), &spec.at));
  RETURN_IF_ERROR(ReadDuration(key + ".duration", event.duration(), &duration));
  RETURN_IF_ERROR(CheckEvent(event, key));
  if (spec.at.ns() > kLongestNs || duration.ns() > kLongestNs) {
    return KeyError(key, "expected times below 100 years");
  }
  const ActionName& action = *FindAction(event.action());
  spec.nodes = event.nodes();
  spec.action = action.action;
  spec.device_action = action.device;
  spec.devices.assign(event.devices().begin(), event.devices().end());
  spec.config = event.config();
  if (!event.duration().empty()) spec.duration = duration;
  spec.undo = action.undo;
  spec.device_undo = action.device_undo;
  return spec;
}

}  // namespace

absl::StatusOr<std::vector<NodeEventSpec>> MakeNodeEvents(const proto::Scenario& s) {
  std::vector<NodeEventSpec> events;
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    ASSIGN_OR_RETURN(NodeEventSpec event,
                     ReadNodeEvent(s.cluster().events(i), absl::StrCat("cluster.events[", i, "]")));
    events.push_back(std::move(event));
  }
  return events;
}

absl::Status CheckNoDeviceEvents(const proto::Scenario& s) {
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    const std::string& name = s.cluster().events(i).action();
    const ActionName* const action = FindAction(name);
    if (action == nullptr || action->action != Action::kDevices) continue;
    return KeyError(absl::StrCat("cluster.events[", i, "].action"),
                    absl::StrCat("found '", name, "', which needs front_end.kind: device-plugin"));
  }
  return absl::OkStatus();
}

}  // namespace drasim
