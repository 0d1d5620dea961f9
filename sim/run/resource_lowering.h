// Requests of a workload as extended resources that DeviceClasses serve (KEP 5004), named as
// NVIDIA's device plugin names them, so that pods need no change.
//
//   2 GPUs                  nvidia.com/gpu: 2, by the class gpu.nvidia.com of NVIDIA's chart
//   3 instances of 1g.5gb   nvidia.com/mig-1g.5gb: 3, by a class for each profile, which an
//                           administrator adds: the chart has none with such a name
//   2 GPUs of dra-example-driver   deviceclass.resource.kubernetes.io/gpu.example.com: 2
//
// Models select nodes, as the label nvidia.com/gpu.product does. An extended resource is a number:
// it cannot ask for a share of a device or for its memory.
#ifndef DRASIM_SIM_RUN_RESOURCE_LOWERING_H_
#define DRASIM_SIM_RUN_RESOURCE_LOWERING_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/pod_shape.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "sim/scenario/structured_dra_spec.h"

namespace drasim {

class ResourceLowering {
 public:
  // Whole GPUs are asked for by the resource nvidia.com/gpu if a class serves it, else by the
  // implicit name of the first driver's class.
  explicit ResourceLowering(const StructuredDraSpec& spec);

  // A class for each of the MIG profiles; none if the first driver does not publish instances.
  std::vector<proto::kube::DeviceClass> ClassesOf(const std::vector<std::string>& profiles) const;

  // Turns whole GPUs and MIG instances into the resources `served`. A request without devices is
  // returned unchanged. InvalidArgument for a request that no number of devices expresses, and for
  // one that no class serves. O(containers).
  absl::StatusOr<PodShape> ToResources(const PodShape& lowered,
                                       const std::set<std::string>& served) const;

 private:
  absl::Status CheckGpus(const PodShape& shape) const;

  proto::SliceDriver driver_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RESOURCE_LOWERING_H_
