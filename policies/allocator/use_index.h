// UseIndex: a DeviceUse by rows of a catalog.
#ifndef DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_
#define DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_use.h"

namespace drasim {

class UseIndex {
 public:
  // Devices that the catalog lacks are left out. OutOfRange for consumed capacities beyond 10^24.
  static absl::StatusOr<UseIndex> Make(const DeviceCatalog& catalog, const DeviceUse& use);

  bool IsDedicated(uint32_t device) const { return dedicated_[device]; }
  // Held alone or in shares.
  bool IsHeld(uint32_t device) const { return dedicated_[device] || IsShared(device); }
  bool IsShared(uint32_t device) const { return !shares_.empty() && shares_.contains(device); }
  // By capacity of the device; null when nothing is consumed.
  const std::vector<ExactAmount>* ConsumedOf(uint32_t device) const;

 private:
  std::vector<bool> dedicated_;
  absl::flat_hash_map<uint32_t, std::vector<ExactAmount>> shares_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_
