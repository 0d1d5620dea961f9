// Intel's classic DRA driver for GPUs (intel-resource-drivers-for-kubernetes, v1alpha2): GPUs that
// several claims share by memory and millicores, whole GPUs, and virtual functions.
//
// Parameters, of API group gpu.resource.intel.com; none at all: one GPU.
//   GpuClaimParameters  count (1; at most 640), type ("gpu" or "vf"), memory (MiB, 8 to 1048576)
//                       and millicores (1 to 1000) of each, shareable
//   GpuClassParameters  shared (true): whether claims of the class share GPUs
//
// Kept: each part of a claim is on another GPU; a GPU with virtual functions has nothing else on
// it; with `shared: false` claims have their GPUs alone; `packed` takes the fullest GPU that has
// room, else the first by index (the driver: in the order of a Go map).
//
// Other than in the driver (docs/fidelity.md):
//   * A part without millicores is charged the share of compute that its memory is of the GPU's
//     (at least 1), so that the parts of a GPU never add up to more than the GPU. The driver counts
//     no compute for it. A claim without memory and millicores has its GPUs alone.
//   * A virtual function is 1/16, 1/8, 1/4, 1/2 or all of a GPU: the smallest that has the memory
//     and millicores. The driver has a list of profiles per model. Functions are made and removed
//     freely, and pods need not wait for each other with it. A function of a claim may be on the
//     same GPU as another one.
//   * Monitoring classes and the type "any" are not supported; every combination of type, `shared`
//     and millicores is allowed.
#ifndef DRASIM_POLICIES_DEVICES_INTEL_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_INTEL_DRIVER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/devices/gpu_kinds.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

class IntelDriver : public NodeDeviceDriver {
 public:
  IntelDriver(const ClaimDriverInfo& info, ClaimDriverOptions options);

 protected:
  absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const override;

 private:
  struct Amounts {
    int64_t memory_mib = 0;  // 0: any
    int64_t millicores = 0;  // 0: any
  };
  // Fill `kind` for GPUs of that kind.
  static void WantPart(const GpuKind& gpus, const Amounts& amounts, KindRequest* kind);
  static void WantFunction(const GpuKind& gpus, const Amounts& amounts, KindRequest* kind);
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_INTEL_DRIVER_H_
