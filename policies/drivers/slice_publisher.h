// Port of drivers of structured DRA: the ResourceSlices that a driver publishes for a node.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<SlicePublisher> publisher, MakeSlicePublisher(options, {}));
//   ASSIGN_OR_RETURN(const std::vector<proto::kube::ResourceSlice> slices,
//                    publisher->Publish(MadeHardware("node-1", "A100-SXM4-40GB", 8), 1));
//
// A new driver is a pair of files and a line in slice_publishers.cc. Content only: times of
// publication, losses of devices and taints are the caller's.
#ifndef DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHER_H_
#define DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/publisher_basics.h"

namespace drasim {

class SlicePublisher {
 public:
  virtual ~SlicePublisher() = default;

  // The slices of the node's pools, of resource.k8s.io/v1, in the order of their creation; none for
  // a node on which the driver does not run. `generation` is that of the pools. Equal arguments
  // give equal slices, names and identifiers included.
  //
  // InvalidArgument, beginning with the node's name: a GPU of which too little is known, and slices
  // that the API server would refuse. Not thread-safe: remembers what it knows of GPU models.
  virtual absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Publish(const NodeHardware& node,
                                                                          int64_t generation) = 0;

  // Devices of the node whose state may change by itself (NodeHardware::conditions): GPUs, or for
  // slices of a file the devices in their order.
  virtual size_t DeviceCount(const NodeHardware& node) const { return node.gpus.size(); }
  // The driver's reaction to a device that breaks.
  virtual const UnhealthyDevices& unhealthy() const = 0;

  // Slices of devices that are no node's own.
  virtual std::vector<proto::kube::ResourceSlice> NetworkSlices() const { return {}; }

  // Whether the driver would accept `parameters`, JSON of an opaque configuration in a claim or
  // class. It does so when the claim's first pod starts; the scheduler never reads them.
  virtual absl::Status CheckConfig(absl::string_view) const { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHER_H_
