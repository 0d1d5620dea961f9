#include "policies/dra/allocated_devices.h"

#include "model/status_macros.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

void AllocatedDevices::Take(const DeviceUse& use) {
  dedicated_.insert(use.dedicated.begin(), use.dedicated.end());
  for (const DeviceId& id : use.shared) ++shares_[id];
  for (const auto& [id, amounts] : use.consumed) {
    for (const auto& [name, amount] : amounts) {
      Quantity& sum = consumed_[id][name];
      sum = sum + amount;
    }
  }
}

void AllocatedDevices::GiveBack(const DeviceUse& use) {
  for (const DeviceId& id : use.dedicated) dedicated_.erase(id);
  for (const DeviceId& id : use.shared) {
    const auto share = shares_.find(id);
    if (share != shares_.end() && --share->second == 0) shares_.erase(share);
  }
  for (const auto& [id, amounts] : use.consumed) {
    const auto device = consumed_.find(id);
    if (device == consumed_.end()) continue;
    for (const auto& [name, amount] : amounts) {
      Quantity& sum = device->second[name];
      sum = sum - amount;
      if (sum.Compare(Quantity()) == 0) device->second.erase(name);
    }
    if (device->second.empty()) consumed_.erase(device);
  }
}

void AllocatedDevices::OnClaim(const kube::ResourceClaimV1* before,
                               const kube::ResourceClaimV1* after) {
  const bool was_allocated = before != nullptr && before->status().has_allocation();
  const bool is_allocated = after != nullptr && after->status().has_allocation();
  if (was_allocated == is_allocated) return;
  DeviceUse use;
  status_.Update(use.Add(is_allocated ? *after : *before));
  if (is_allocated) {
    Take(use);
  } else {
    GiveBack(use);
  }
}

absl::StatusOr<DeviceUse> AllocatedDevices::Use(const InFlightClaims& in_flight) const {
  RETURN_IF_ERROR(status_);
  DeviceUse use;
  use.dedicated.assign(dedicated_.begin(), dedicated_.end());
  for (const auto& [id, count] : shares_) use.shared.push_back(id);
  use.consumed = consumed_;
  absl::Status added;
  in_flight.ForEach([&](const ClaimRef& claim) { added.Update(use.Add(*claim)); });
  RETURN_IF_ERROR(added);
  return use;
}

}  // namespace drasim
