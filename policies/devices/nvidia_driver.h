// NVIDIA's classic DRA driver (k8s-dra-driver before structured parameters): whole GPUs by
// selector, MIG instances by profile, compute instances.
//
// Parameters, of API group gpu.resource.nvidia.com; without any, one GPU.
//   GpuClaimParameters              count (1), selector (gpu_selector.h), sharing
//   MigDeviceClaimParameters        profile, gpuClaimName, sharing
//   ComputeInstanceClaimParameters  profile ("1c.3g.20gb", or "1c"), migDeviceClaimName
//   DeviceClassParameters           sharable: several pods may use an allocation
// gpuClaimName and migDeviceClaimName refer to another claim, by its entry in the pod or by its
// name.
//
// As in the driver: whole use and instances of a GPU exclude each other; an instance with a
// gpuClaimName goes onto GPUs of that claim, other instances onto GPUs that no claim has whole; all
// claims of a pod are placed together; the first combination of non-overlapping placements wins; a
// claim without a node (Immediate) is refused. `sharing` (TimeSlicing, MPS) affects no decision and
// is passed on to the node.
//
// Different: GPUs are in the order of their names, in the driver in that of a Go map; claims switch
// the MIG mode of GPUs as needed, so an unused GPU is open to either use; compute instances can be
// allocated, although the driver only declares them.
#ifndef DRASIM_POLICIES_DEVICES_NVIDIA_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_NVIDIA_DRIVER_H_

#include "absl/status/status.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/devices/claim_parameters.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

class NvidiaDriver : public NodeDeviceDriver {
 public:
  NvidiaDriver(const ClaimDriverInfo& info, ClaimDriverOptions options);

 protected:
  absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const override;

 private:
  absl::Status ReadGpuClaim(const ParameterFields& fields, DeviceRequest* request) const;
  absl::Status ReadMigClaim(const ParameterFields& fields, DeviceRequest* request) const;
  absl::Status ReadComputeClaim(const ParameterFields& fields, DeviceRequest* request) const;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_NVIDIA_DRIVER_H_
