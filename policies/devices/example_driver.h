// The example driver of Kubernetes (kubernetes-sigs/dra-example-driver, with a control-plane
// controller): a number of identical GPUs of a node.
//
// Parameters, of API group gpu.resource.example.com: GpuClaimParameters {count} (1). Class
// parameters (DeviceClassParameters {deviceSelector}) are ignored, as in the driver. GPUs are
// ordered by index; the driver's order is that of a Go map. Claims without a node go to the first
// node with room, as in the driver's versions that allocate them. It creates no MIG instances.
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
