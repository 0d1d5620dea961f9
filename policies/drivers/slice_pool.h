// Assembles the slices of one node's pool as the library of DRA drivers writes them
// (k8s.io/dynamic-resource-allocation/resourceslice, release 1.37).
//
//   SlicePool pool("gpu.nvidia.com", "node-1", /*generation=*/1);
//   *pool.Add()->add_devices() = device;
//   return pool.Finish(DeviceOrder::kAsPublished);
#ifndef DRASIM_POLICIES_DRIVERS_SLICE_POOL_H_
#define DRASIM_POLICIES_DRIVERS_SLICE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "policies/drivers/device_order.h"

namespace drasim {

// The name of a driver's slice: its index in the pool as five hexadecimal digits, the driver and
// the node, cut after 58 bytes as the API server cuts generated names, and five letters that the
// API server draws; here they follow from driver, node and index.
//
// Nodes whose names agree in so many bytes get equal names with a probability of 1 in 14 million.
std::string SliceName(absl::string_view driver, absl::string_view node, size_t index);

// An identifier such as "GPU-2fa81118-5a5f-aa66-7660-471eed407181", which follows from the texts.
std::string DeviceUuid(absl::string_view prefix, absl::string_view node, absl::string_view device);

// An amount in bytes or units as Go prints it with binary suffixes: "40Gi", "4864Mi", "14".
std::string BinaryAmount(int64_t units);

class SlicePool {
 public:
  // A pool that has the name of its node.
  SlicePool(absl::string_view driver, absl::string_view node, int64_t generation)
      : driver_(driver), node_(node), generation_(generation) {}

  // The next slice, with driver, node and pool. The pointer is valid until the next call.
  proto::kube::ResourceSliceSpec* Add();

  // Sorts devices, counts slices and returns them. InvalidArgument, beginning with the node's name:
  // more than 128 devices in a slice, 64 if one has counters or taints, or more than 8 counter
  // sets, which the API server refuses. The pool is empty then.
  absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Finish(DeviceOrder order);

 private:
  std::string driver_;
  std::string node_;
  int64_t generation_;
  std::vector<proto::kube::ResourceSlice> slices_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_SLICE_POOL_H_
