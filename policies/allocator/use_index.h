// UseIndex: a DeviceUse by rows of a catalog, which grows and shrinks with the claims.
#ifndef DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_
#define DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_use.h"

namespace drasim {

class UseIndex {
 public:
  // Nothing is held.
  explicit UseIndex(std::shared_ptr<const DeviceCatalog> catalog);

  // Devices that the catalog lacks are left out. OutOfRange for consumed capacities beyond 10^24;
  // the index is then unchanged. Gives the pools of the catalog in which something has changed.
  // O(use).
  absl::StatusOr<std::vector<uint32_t>> Add(const DeviceUse& use);
  // REQUIRES: was added before, be it together with others.
  std::vector<uint32_t> Remove(const DeviceUse& use);

  // Takes over what claims hold of a row of an inventory, which is that of the catalog. Appends the
  // pools in which something has changed, some perhaps several times. An index is kept by this
  // function or by the two above, never by both. O(devices of the row).
  void Sync(const DeviceInventory& inventory, InventoryRow row, std::vector<uint32_t>* pools);
  // OutOfRange while a row has more consumed than 10^24; it names the first one. Such a row counts
  // as one of which nothing is consumed.
  absl::Status status() const;

  bool IsDedicated(uint32_t device) const { return dedicated_[device]; }
  // Held alone or in shares.
  bool IsHeld(uint32_t device) const { return dedicated_[device] || IsShared(device); }
  bool IsShared(uint32_t device) const { return !shares_.empty() && shares_.contains(device); }
  // By capacity of the device; null when nothing is consumed.
  const std::vector<ExactAmount>* ConsumedOf(uint32_t device) const;
  // Holders of devices of a pool of the catalog, counted by device; 0: nothing is held.
  uint32_t HeldIn(uint32_t pool) const { return holders_[pool]; }

 private:
  struct Share {
    uint32_t holders = 0;
    uint32_t consumers = 0;            // entries of DeviceUse::consumed
    std::vector<ExactAmount> amounts;  // by capacity; empty without consumers
  };
  using Amounts = std::vector<std::pair<uint32_t, std::vector<ExactAmount>>>;  // by device

  absl::StatusOr<Amounts> Consumed(const DeviceUse& use) const;
  // By capacity of the device; none: `id`, whose device it is, consumes more than 10^24.
  absl::StatusOr<std::vector<ExactAmount>> AmountsOf(
      uint32_t device, const DeviceId& id, const std::map<std::string, Quantity>& consumed) const;
  uint32_t PoolOf(uint32_t device) const;
  void Hold(uint32_t device);
  void Release(uint32_t device);
  // Removes the share when nobody holds it.
  void Leave(uint32_t device, uint32_t consumers);

  std::shared_ptr<const DeviceCatalog> catalog_;
  std::vector<bool> dedicated_;
  absl::flat_hash_map<uint32_t, uint32_t> more_holders_;  // of dedicated devices, beyond the first
  absl::flat_hash_map<uint32_t, Share> shares_;
  std::vector<uint32_t> holders_;  // by pool
  std::map<DeviceId, absl::Status> too_large_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_USE_INDEX_H_
