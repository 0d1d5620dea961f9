// Driver for claims by need instead of by device: each unit gets the smallest MIG instance that
// satisfies it, or a whole GPU.
//
// Parameters, of API group constraints.drasim.dev and any kind; without any, the smallest device.
//   count         devices (1; at most 256), each with
//   memory        at least this quantity of bytes ("5Gi"). A MIG instance counts with the nominal
//                 memory of its profile ("1g.5gb" has 5 GiB, although slightly less is usable), a
//                 GPU that can be partitioned with its nominal memory.
//   computeShare  at least this part of a GPU's compute: "0.25", "250m" or "25%". A MIG instance
//                 has its compute slices divided by all slices.
// Class parameters: shareable.
//
// Profiles with a suffix (+me, ...) are never chosen. The smallest profile that meets the demand
// and has a free placement wins (fewest units, then fewest compute slices), by default on the GPU
// with the fewest free units. A whole GPU is the last resort.
#ifndef DRASIM_POLICIES_DEVICES_CONSTRAINTS_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_CONSTRAINTS_DRIVER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/devices/gpu_kinds.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

class ConstraintsDriver : public NodeDeviceDriver {
 public:
  ConstraintsDriver(const ClaimDriverInfo& info, ClaimDriverOptions options);

 protected:
  absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const override;

 private:
  struct Demand {
    int64_t memory_bytes = 0;
    int64_t compute_milli = 0;
  };
  static void AddInstances(const GpuKind& gpus, const Demand& demand, KindRequest* kind);
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_CONSTRAINTS_DRIVER_H_
