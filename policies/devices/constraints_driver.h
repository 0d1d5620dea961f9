// A driver whose claims say what they need, and not which device: the smallest MIG instance that
// has it, or a whole GPU.
//
// Parameters, of API group constraints.drasim.dev and any kind; none at all: the smallest device.
//   count         devices (1; at most 256), each with
//   memory        at least so much: a quantity of bytes ("5Gi"). A MIG instance counts with the
//                 nominal memory of its profile ("1g.5gb" has 5 GiB, though a little less is
//                 usable), a GPU that can be partitioned with its nominal memory.
//   computeShare  at least this part of a GPU's compute: "0.25", "250m" or "25%". A MIG instance
//                 has its compute slices of all slices.
// Of the class: shareable.
//
// Profiles with a suffix (+me, ...) are never chosen. Of those that meet the demand, the smallest
// that finds a place is taken (fewest units, then fewest compute slices); by default on the GPU
// with the fewest free units. A whole GPU comes last.
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
