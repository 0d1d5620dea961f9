// Order of devices in a slice. Kubernetes' allocator takes the first devices that fit, so the order
// in which a driver lists them is a policy.
#ifndef DRASIM_POLICIES_DRIVERS_DEVICE_ORDER_H_
#define DRASIM_POLICIES_DRIVERS_DEVICE_ORDER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"

namespace drasim {

enum class DeviceOrder : uint8_t {
  kAsPublished,
  kName,      // byte by byte: gpu-10 precedes gpu-2
  kSize,      // capacity `memory`, then `multiprocessors`, then the name; smallest first
  kSizeDesc,  // the same amounts, largest first, then the name
};

// "" is kAsPublished. KeyError of the key `order` for an unknown name.
absl::StatusOr<DeviceOrder> ParseDeviceOrder(absl::string_view name);

// Sorts the devices of the slice; capacities that are missing or cannot be read count as 0.
// O(devices x log).
void SortDevices(DeviceOrder order, proto::kube::ResourceSliceSpec* spec);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_DEVICE_ORDER_H_
