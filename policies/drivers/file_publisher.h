// Slices of a file, such as what `kubectl get resourceslices -o yaml` prints: for the nodes that it
// names, and for nodes like them.
//
// A node that slices of the file name gets these, unchanged. Any other node gets those of the first
// template that matches its labels, under its own name: in nodeName, in the pool's name, in the
// slice's name, and with identifiers of its own (attributes `uuid` and `parentUUID`). Slices of no
// single node are NetworkSlices. Pools whose name does not hold the node's get it at the end.
#ifndef DRASIM_POLICIES_DRIVERS_FILE_PUBLISHER_H_
#define DRASIM_POLICIES_DRIVERS_FILE_PUBLISHER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/publisher_basics.h"
#include "policies/drivers/slice_publisher.h"

namespace drasim {

class FilePublisher : public SlicePublisher {
 public:
  // `slices` are those of the file. KeyError with the key of an option that is wrong: no file, a
  // template of a node that the file does not name, a name of which the file has no slices.
  static absl::StatusOr<std::unique_ptr<SlicePublisher>> Make(
      const proto::SliceDriver& options, std::vector<proto::kube::ResourceSlice> slices);

  absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Publish(const NodeHardware& node,
                                                                  int64_t generation) override;
  size_t DeviceCount(const NodeHardware& node) const override;
  const UnhealthyDevices& unhealthy() const override { return basics_.unhealthy; }
  std::vector<proto::kube::ResourceSlice> NetworkSlices() const override { return network_; }

 private:
  FilePublisher() = default;
  // The node's slices as the file has them.
  std::vector<proto::kube::ResourceSlice> SlicesOf(const NodeHardware& node) const;

  PublisherBasics basics_;
  std::map<std::string, std::vector<proto::kube::ResourceSlice>> of_node_;
  std::vector<proto::kube::ResourceSlice> network_;
  std::vector<proto::SliceTemplate> templates_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_FILE_PUBLISHER_H_
