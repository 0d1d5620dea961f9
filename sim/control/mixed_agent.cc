#include "sim/control/mixed_agent.h"

#include <algorithm>

#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr uint64_t kOfDevices = uint64_t{1} << 63;

}  // namespace

void MixedAgent::DeviceControl::ArmNodeTimer(SimTime at, uint64_t token) {
  DRASIM_CHECK_LT(token, kOfDevices);
  engine_->ArmNodeTimer(at, token | kOfDevices);
}

void MixedAgent::Attach(NodeControl* engine) {
  device_control_.set_engine(engine);
  devices_.Attach(&device_control_);
  claims_.Attach(engine);
}

void MixedAgent::OnTimer(uint64_t token, SimTime now) {
  if ((token & kOfDevices) != 0) return devices_.OnTimer(token & ~kOfDevices, now);
  claims_.OnTimer(token, now);
}

void MixedAgent::OnTransition(const DeviceTransition& change, SimTime now) {
  NodeAgent& agent = has_plugin_[change.node.value()] ? devices_ : claims_;
  agent.OnTransition(change, now);
}

void MixedAgent::NodeChanged(NodeId node, NodePresence presence, SimTime now) {
  devices_.NodeChanged(node, presence, now);
  claims_.NodeChanged(node, presence, now);
}

void MixedAgent::NodeLost(NodeId node, SimTime now) {
  devices_.NodeLost(node, now);
  claims_.NodeLost(node, now);
}

Admission MixedAgent::Admit(PodId pod, NodeId node, SimTime now) {
  const Admission of_plugins = devices_.Admit(pod, node, now);
  if (of_plugins.failure != AdmissionFailure::kNone) {
    claims_.PodDeleted(pod, now);
    return of_plugins;
  }
  Admission admission = claims_.Admit(pod, node, now);
  DRASIM_CHECK(admission.failure == AdmissionFailure::kNone);
  admission.start_delay = std::max(admission.start_delay, of_plugins.start_delay);
  for (const DeviceGrant& grant : of_plugins.grants) admission.grants.push_back(grant);
  for (const size_t device : of_plugins.devices) admission.devices.Add(device);
  return admission;
}

void MixedAgent::Removed(PodId pod, NodeId node, SimTime now) {
  devices_.Removed(pod, node, now);
  claims_.Removed(pod, node, now);
}

void MixedAgent::Save(StateWriter& out) const {
  devices_.Save(out);
  claims_.Save(out);
}

absl::Status MixedAgent::Load(StateReader& in) {
  RETURN_IF_ERROR(devices_.Load(in));
  return claims_.Load(in);
}

}  // namespace drasim
