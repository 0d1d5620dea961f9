// Drivers of front_end.structured.drivers: the slices that each one publishes for the nodes of a
// cluster, and its DeviceClasses.
#ifndef DRASIM_SIM_RUN_SLICE_DRIVERS_H_
#define DRASIM_SIM_RUN_SLICE_DRIVERS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/slice_publisher.h"

namespace drasim {

namespace proto::kube {
class Object;
}

struct PublishingDriver {
  std::string name;            // empty: those of a file, under several names
  proto::SliceDriver options;  // without `nodes`
  std::vector<NodeId> nodes;   // that it serves, ascending
  std::unique_ptr<SlicePublisher> publisher;
};

// `plugin_nodes`: nodes of NVIDIA's device plugin (a name or a pattern; empty: none), whose GPUs no
// driver of kind gpu.nvidia.com publishes. Reads the files of drivers. KeyError with the whole key:
// a bad option, a pattern that matches no node, two drivers of one name on a node. O(drivers x
// nodes).
absl::StatusOr<std::vector<PublishingDriver>> MakeSliceDrivers(
    absl::Span<const proto::SliceDriver> drivers, const ClusterState& cluster,
    const std::string& plugin_nodes, std::vector<std::string>* warnings);

// What the drivers publish for all nodes at once: slices of generation 1 in the order of drivers
// and nodes, then classes, without those of `known` and of earlier drivers. KeyError of the driver:
// a node whose GPUs it cannot publish. O(devices).
absl::StatusOr<std::vector<std::shared_ptr<const proto::kube::Object>>> PublishAll(
    const std::vector<PublishingDriver>& drivers, const ClusterState& cluster,
    std::set<std::string> known);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_SLICE_DRIVERS_H_
