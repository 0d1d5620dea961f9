#include "sim/scenario/node_event_spec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/key_error.h"
#include "model/kube/api_check.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/scenario/dra_spec.h"
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
    {"device-taint", Action::kDevices, Action::kDevices, true, DeviceAction::kTainted,
     DeviceAction::kUntainted},
};

const ActionName* FindAction(const std::string& name) {
  const auto* const it = std::find_if(std::begin(kActions), std::end(kActions),
                                      [&name](const ActionName& a) { return a.name == name; });
  return it == std::end(kActions) ? nullptr : it;
}

absl::Status CheckEventTaint(const proto::NodeEvent& event, const std::string& key, bool taints) {
  if (taints != event.has_taint()) {
    return KeyError(absl::StrCat(key, ".taint"),
                    absl::StrCat("expected ", taints ? "a taint" : "none with this action"));
  }
  if (!taints) return absl::OkStatus();
  const std::string& effect = event.taint().effect();
  if (effect != "None" && effect != "NoSchedule" && effect != "NoExecute") {
    return KeyError(absl::StrCat(key, ".taint.effect"),
                    absl::StrCat("found '", effect, "', expected None, NoSchedule or NoExecute"));
  }
  if (!event.taint().time_added().empty()) {
    return KeyError(absl::StrCat(key, ".taint.timeAdded"),
                    "expected none: a taint begins with its event");
  }
  std::vector<KubeProblem> problems;
  ApiCheck check(&problems);
  check.LabelKey("key", event.taint().key());
  check.LabelValue("value", event.taint().value());
  if (problems.empty()) return absl::OkStatus();
  return KeyError(absl::StrCat(key, ".taint.", problems[0].path), problems[0].what);
}

// Whether the keys about devices fit the event's action.
absl::Status CheckEventDevices(const proto::NodeEvent& event, const std::string& key,
                               const ActionName& action) {
  const bool taints = action.action == Action::kDevices && action.device == DeviceAction::kTainted;
  const bool health =
      action.action == Action::kDevices &&
      (action.device == DeviceAction::kUnhealthy || action.device == DeviceAction::kHealthy);
  if (!taints && health == (event.devices_size() == 0)) {
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
  RETURN_IF_ERROR(CheckEventTaint(event, key, taints));
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
                                 "', expected none: only fail, cordon, drain, device-unhealthy, "
                                 "plugin-restart and device-taint last"));
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
  spec.taint.set_key(event.taint().key());
  spec.taint.set_value(event.taint().value());
  spec.taint.set_effect(event.taint().effect());
  if (!event.duration().empty()) spec.duration = duration;
  spec.undo = action.undo;
  spec.device_undo = action.device_undo;
  return spec;
}

// The number of a driver is that of the first one of its name.
absl::Status ReadDriver(const proto::Scenario& s, const std::string& driver, const std::string& key,
                        NodeEventSpec* event) {
  if (driver.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const proto::SliceDriver& given : s.front_end().structured().drivers()) {
    names.push_back(given.name().empty() ? given.kind() : given.name());
  }
  const auto found = std::find(names.begin(), names.end(), driver);
  if (event->action != Action::kDevices || found == names.end()) {
    return KeyError(absl::StrCat(key, ".driver"),
                    absl::StrCat("found '", driver,
                                 "', expected the name of a driver of "
                                 "front_end.structured.drivers, for an event of devices",
                                 Suggest(driver, names)));
  }
  event->driver = static_cast<uint32_t>(found - names.begin());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<NodeEventSpec>> MakeNodeEvents(const proto::Scenario& s) {
  std::vector<NodeEventSpec> events;
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    const std::string key = absl::StrCat("cluster.events[", i, "]");
    ASSIGN_OR_RETURN(NodeEventSpec event, ReadNodeEvent(s.cluster().events(i), key));
    RETURN_IF_ERROR(ReadDriver(s, s.cluster().events(i).driver(), key, &event));
    event.any_devices = UsesStructuredDra(s);
    events.push_back(std::move(event));
  }
  return events;
}

absl::Status CheckDeviceEvents(const proto::Scenario& s) {
  const bool structured = UsesStructuredDra(s);
  const bool plugin = s.front_end().kind() == "device-plugin";
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    const std::string& name = s.cluster().events(i).action();
    const ActionName* const action = FindAction(name);
    if (action == nullptr || action->action != Action::kDevices || structured) continue;
    const bool taints = action->device == DeviceAction::kTainted;
    if (plugin && !taints) continue;
    return KeyError(absl::StrCat("cluster.events[", i, "].action"),
                    absl::StrCat("found '", name, "', which needs front_end.kind: ",
                                 taints ? "" : "device-plugin or ", "dra-structured"));
  }
  return absl::OkStatus();
}

std::vector<std::string> ConfigsOf(absl::Span<const NodeEventSpec> events) {
  std::vector<std::string> configs;
  for (const NodeEventSpec& event : events) {
    const bool known = std::find(configs.begin(), configs.end(), event.config) != configs.end();
    if (!event.config.empty() && !known) configs.push_back(event.config);
  }
  return configs;
}

}  // namespace drasim
