// NVIDIA's classic DRA driver (k8s-dra-driver before structured parameters): whole GPUs by
// selector, MIG instances by profile, compute instances.
//
// Parameters, of API group gpu.resource.nvidia.com; none at all: one GPU.
//   GpuClaimParameters              count (1), selector (gpu_selector.h), sharing
//   MigDeviceClaimParameters        profile, gpuClaimName, sharing
//   ComputeInstanceClaimParameters  profile ("1c.3g.20gb", or "1c"), migDeviceClaimName
//   DeviceClassParameters           sharable: whether several pods may use an allocation
// gpuClaimName and migDeviceClaimName name another claim: by its entry of the pod, or by its name.
//
// Kept: what is whole and what is an instance exclude each other; an instance with a gpuClaimName
// goes onto GPUs of that claim, others onto GPUs that no claim has whole; all claims of a pod
// together; the first combination of placements that do not overlap; a claim without a node
// (Immediate) is refused. `sharing` (TimeSlicing, MPS) changes no decision and is passed on to the
// node.
//
// Different: GPUs are in the order of their names, where the driver goes by the order of a Go map;
// they are put into MIG mode and out of it as claims come, so one is free for either use while
// nothing is on it; compute instances can be allocated, which the driver declares and never does.
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
