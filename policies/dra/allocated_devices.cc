#include "policies/dra/allocated_devices.h"

#include <vector>

#include "model/kube/slice_facts_of.h"
#include "model/status_macros.h"
#include "policies/dra/claim_rules.h"

namespace drasim {

void AllocatedDevices::OnClaim(const ClaimRef& before, const ClaimRef& after) {
  const bool was_allocated = before != nullptr && before.allocation() != nullptr;
  const AllocationRef allocation = after == nullptr ? nullptr : after.allocation();
  const bool is_allocated = allocation != nullptr;
  if (was_allocated == is_allocated) return;
  if (!is_allocated) {
    cluster_->ReleaseDevices(HolderOf(before), /*pending=*/false);
    return;
  }
  const absl::StatusOr<std::vector<HoldFacts>> devices = HoldFactsOf(*allocation);
  status_.Update(devices.status());
  if (devices.ok()) cluster_->HoldDevices(HolderOf(after), /*pending=*/false, *devices);
}

absl::StatusOr<DeviceUse> AllocatedDevices::Use() const {
  RETURN_IF_ERROR(status_);
  return UseOf(cluster_->inventory());
}

}  // namespace drasim
