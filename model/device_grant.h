// What part of which device of a node a pod holds, where "these whole devices" does not say it.
#ifndef DRASIM_MODEL_DEVICE_GRANT_H_
#define DRASIM_MODEL_DEVICE_GRANT_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "model/mig_table.h"

namespace drasim {

struct DeviceGrant {
  uint8_t device = 0;                // index of the GPU on its node
  uint8_t placement = kNoPlacement;  // of the GPU's MigTable; kNoPlacement: no MIG instance
  // Of the GPU: a MIG instance's share of its units, a replica's 1000 / replicas, a whole GPU's
  // 1000.
  int16_t milli = 0;

  bool operator==(const DeviceGrant&) const = default;
};
using DeviceGrants = absl::InlinedVector<DeviceGrant, 2>;

// The share of a GPU that an instance of that many units is. Exact for every product: units are 2,
// 4, 8 or 12 and sizes on 12 are multiples of 3.
constexpr int16_t MilliOfUnits(int size, int units) {
  return static_cast<int16_t>(1000 * size / units);
}

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_GRANT_H_
