// DeviceGrant: the part of a device that a pod holds, for pods whose DeviceSet does not say it all.
//
// A list of grants describes everything that a pod holds of its node's devices: one entry per whole
// GPU, MIG instance, replica or share. A device may appear several times (two instances of a GPU,
// replicas, parts that two claims of the pod chose), and entries that are equal add up. The order
// is that of the pod's claims, and within a claim its driver's; kubelets sort by device, placement
// and amount. All entries are of one node.
//
// A list is valid on a node when its entries fit one after the other (ClusterState::CanGrant):
// every device exists, no device gives more than 1000 milli, and none mixes MIG instances with
// anything else. A piece that a claim cuts from the device of another claim has no entry, since
// that claim's entry covers it. Memory limits and compute slices stay in the handle of the
// allocation (policies/devices/device_handles.h).
//
// Usage:
//
//   DeviceGrants grants;
//   grants.push_back({/*device=*/0, kNoPlacement, /*milli=*/1000});  // all of GPU 0
//   grants.push_back({/*device=*/1, kNoPlacement, /*milli=*/250});   // a quarter of GPU 1
//   cluster.Grant(pod, DevicesOf(grants), grants);
#ifndef DRASIM_MODEL_DEVICE_GRANT_H_
#define DRASIM_MODEL_DEVICE_GRANT_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "model/device_set.h"
#include "model/mig_table.h"

namespace drasim {

struct DeviceGrant {
  uint8_t device = 0;                // index on the node
  uint8_t placement = kNoPlacement;  // in the device's MigTable; kNoPlacement: not an instance
  // Thousandths of the device: 1000 for all of it, 1000 / replicas for a replica, the share of its
  // units for a MIG instance.
  int16_t milli = 0;

  bool operator==(const DeviceGrant&) const = default;
};
static_assert(kMaxDevicesPerNode <= 256, "DeviceGrant::device is one byte");
// Four entries take the place of the pointer and capacity of a longer list.
using DeviceGrants = absl::InlinedVector<DeviceGrant, 4>;

// The share of a GPU, in thousandths, of an instance with `size` of its `units`. Exact for every
// product: units are 2, 4, 8 or 12, and sizes on 12 are multiples of 3.
constexpr int16_t MilliOfUnits(int size, int units) {
  return static_cast<int16_t>(1000 * size / units);
}

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_GRANT_H_
