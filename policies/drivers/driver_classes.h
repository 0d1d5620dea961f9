// DeviceClasses that drivers are installed with.
#ifndef DRASIM_POLICIES_DRIVERS_DRIVER_CLASSES_H_
#define DRASIM_POLICIES_DRIVERS_DRIVER_CLASSES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"

namespace drasim {

// The classes of the driver's Helm chart, with its name in their selectors and, for a driver with a
// name of its own, as that of its main class. The kind `slices` has none.
//
//   gpu.nvidia.com   gpu.nvidia.com (whole GPUs; extended resource nvidia.com/gpu), mig.nvidia.com
//   gpu.example.com  gpu.example.com
//
// Source: deployments/helm of kubernetes-sigs/dra-driver-nvidia-gpu and dra-example-driver, August
// 2026; classes of devices that are not published (vfio, compute domains) are left out.
std::vector<proto::kube::DeviceClass> ClassesOfDriver(const proto::SliceDriver& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_DRIVER_CLASSES_H_
