// The example driver of Kubernetes (kubernetes-sigs/dra-example-driver, with a control-plane
// controller): so many GPUs of a node, all alike.
//
// Parameters, of API group gpu.resource.example.com: GpuClaimParameters {count} (1). Those of the
// class (DeviceClassParameters {deviceSelector}) are read by nobody, as in the driver. GPUs are in
// the order of their index, where the driver goes by the order of a Go map; claims without a node
// go to the first with room, as in those versions of the driver that allocate them. It makes no MIG
// instances.
#ifndef DRASIM_POLICIES_DEVICES_EXAMPLE_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_EXAMPLE_DRIVER_H_

#include "absl/status/status.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

class ExampleDriver : public NodeDeviceDriver {
 public:
  ExampleDriver(const ClaimDriverInfo& info, ClaimDriverOptions options);

 protected:
  absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_EXAMPLE_DRIVER_H_
