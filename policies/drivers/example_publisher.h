// Kubernetes' example driver, gpu.example.com (kubernetes-sigs/dra-example-driver, profile gpu of
// August 2026): GPUs by count, whatever hardware the node has.
//
//   partitions: 0  one slice: gpu-0, gpu-1, ... with 80Gi of memory
//   partitions: n  a slice with a counter set per GPU (memory 80Gi, compute 100), and one with
//                  gpu-0-partition-0 to n-1, gpu-0-full, ... (before release 1.35 one slice)
//
// Identifiers are the driver's own: it draws them with a seed made from the node's name.
#ifndef DRASIM_POLICIES_DRIVERS_EXAMPLE_PUBLISHER_H_
#define DRASIM_POLICIES_DRIVERS_EXAMPLE_PUBLISHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/publisher_basics.h"
#include "policies/drivers/slice_publisher.h"

namespace drasim {

class ExamplePublisher : public SlicePublisher {
 public:
  // KeyError with the key of an option that is wrong.
  static absl::StatusOr<std::unique_ptr<SlicePublisher>> Make(const proto::SliceDriver& options);

  absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Publish(const NodeHardware& node,
                                                                  int64_t generation) override;
  size_t DeviceCount(const NodeHardware& node) const override;
  const UnhealthyDevices& unhealthy() const override { return basics_.unhealthy; }

 private:
  ExamplePublisher() = default;
  // A device with the attributes of GPU number `index`, and so much of it.
  proto::kube::Device* AddDevice(const std::string& name, size_t index, const std::string& uuid,
                                 int64_t parts, proto::kube::ResourceSliceSpec* spec) const;

  PublisherBasics basics_;
  size_t devices_ = 0;  // 0: as many as the node has
  int64_t partitions_ = 0;
  bool shared_ = false;
  bool binding_conditions_ = false;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_EXAMPLE_PUBLISHER_H_
