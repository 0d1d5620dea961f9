// DeviceUse: the devices that claims hold.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_USE_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_USE_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/device_inventory.h"
#include "model/quantity.h"

namespace drasim {

struct DeviceId {
  std::string driver;
  std::string pool;
  std::string device;

  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.driver, s.pool, s.device);
  }

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
  friend bool operator<(const DeviceId& left, const DeviceId& right) {
    return std::tie(left.driver, left.pool, left.device) <
           std::tie(right.driver, right.pool, right.device);
  }
  // "driver/pool/device"
  std::string Text() const;
};

// The devices and amounts that others hold.
struct DeviceUse {
  std::vector<DeviceId> dedicated;  // held alone
  std::vector<DeviceId> shared;     // held in shares, known by their share ids
  // Capacity that shares hold, summed up by device and name.
  std::map<DeviceId, std::map<std::string, Quantity>> consumed;
};

// Devices of the inventory that claims hold, those in flight included. O(held devices).
DeviceUse UseOf(const DeviceInventory& inventory);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_USE_H_
