#include "sim/dra/api/device_writes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/kube/kube_time.h"
#include "model/proto/resource.pb.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Whether the server has to set or correct the time.
bool NeedsTime(const kube::DeviceTaint& taint, SimTime now) {
  return taint.time_added().empty() || RunTimeOf(taint.time_added()) > now;
}

const kube::Device* FindDevice(const kube::ResourceSlice& slice, const std::string& name) {
  for (const kube::Device& device : slice.spec().devices()) {
    if (device.name() == name) return &device;
  }
  return nullptr;
}

// The time of the same taint on the device as it was; empty if it is new.
std::string KnownTime(const kube::Device* device, const kube::DeviceTaint& taint) {
  if (device == nullptr) return "";
  for (const kube::DeviceTaint& known : device->taints()) {
    const bool same = known.key() == taint.key() && known.value() == taint.value() &&
                      known.effect() == taint.effect();
    if (same) return known.time_added();
  }
  return "";
}

bool MeansSameDevice(const kube::AllocatedDeviceStatus& a, const kube::AllocatedDeviceStatus& b) {
  return a.driver() == b.driver() && a.pool() == b.pool() && a.device() == b.device() &&
         a.share_id() == b.share_id();
}

bool IsAllocated(const kube::AllocatedDeviceStatus& device, const ResourceClaim& claim) {
  if (claim.status.allocation == nullptr || !claim.status.allocation->result) return false;
  const auto& results = claim.status.allocation->result->devices().results();
  return std::any_of(results.begin(), results.end(), [&device](const auto& result) {
    return result.driver() == device.driver() && result.pool() == device.pool() &&
           result.device() == device.device() && result.share_id() == device.share_id();
  });
}

}  // namespace

void StampTaints(const ResourceSliceObject* before, SimTime now, ResourceSliceObject& next) {
  const auto& devices = next.object->spec().devices();
  const bool stamps = std::any_of(devices.begin(), devices.end(), [now](const kube::Device& d) {
    return std::any_of(d.taints().begin(), d.taints().end(),
                       [now](const kube::DeviceTaint& taint) { return NeedsTime(taint, now); });
  });
  if (!stamps) return;
  kube::ResourceSlice slice = *next.object;
  for (kube::Device& device : *slice.mutable_spec()->mutable_devices()) {
    for (kube::DeviceTaint& taint : *device.mutable_taints()) {
      if (!NeedsTime(taint, now)) continue;
      std::string known;
      if (before != nullptr) known = KnownTime(FindDevice(*before->object, device.name()), taint);
      taint.set_time_added(known.empty() ? RunTimeText(now) : known);
    }
  }
  next.object = SharedMessage<kube::ResourceSlice>(std::move(slice));
}

void StampTaints(const DeviceTaintRuleObject* before, SimTime now, DeviceTaintRuleObject& next) {
  const kube::DeviceTaint& taint = next.object->spec().taint();
  std::string time = taint.time_added();
  if (before != nullptr) {
    const kube::DeviceTaint& old = before->object->spec().taint();
    if (time.empty()) time = old.time_added();
    if (time == old.time_added() && taint.effect() != old.effect()) time.clear();
  }
  if (time.empty() || RunTimeOf(time) > now) time = RunTimeText(now);
  if (time == taint.time_added()) return;
  kube::DeviceTaintRule rule = *next.object;
  rule.mutable_spec()->mutable_taint()->set_time_added(time);
  next.object = SharedMessage<kube::DeviceTaintRule>(std::move(rule));
}

bool PutDeviceStatuses(const ResourceClaim& asked, ResourceClaim& to) {
  if (!asked.status.devices) return true;
  kube::ResourceClaimStatusV1 status;
  if (to.status.devices) status = *to.status.devices;
  for (const kube::AllocatedDeviceStatus& device : asked.status.devices->devices()) {
    if (!IsAllocated(device, to)) return false;
    auto& known = *status.mutable_devices();
    const auto place = std::find_if(
        known.begin(), known.end(),
        [&device](const kube::AllocatedDeviceStatus& d) { return MeansSameDevice(d, device); });
    if (place == known.end()) {
      *status.add_devices() = device;
    } else {
      *place = device;
    }
  }
  to.status.devices = SharedMessage<kube::ResourceClaimStatusV1>(std::move(status));
  return true;
}

}  // namespace drasim
