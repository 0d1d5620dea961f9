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
#include "sim/dra/api/plane_part.h"
#include "sim/scenario/node_event_spec.h"
#include "sim/scenario/structured_dra_spec.h"

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

using SharedSlice = std::shared_ptr<const proto::kube::ResourceSlice>;

// Slices that the drivers have published before the run: slices of generation 1 in the order of
// drivers and nodes, without those of drivers that start with the run and of absent nodes. KeyError
// of the driver: a node whose GPUs it cannot publish. O(devices).
absl::StatusOr<std::vector<SharedSlice>> PublishSlices(const std::vector<PublishingDriver>& drivers,
                                                       const ClusterState& cluster);

// The DeviceClasses of the drivers, without those of `known` and of earlier drivers.
std::vector<std::shared_ptr<const proto::kube::Object>> ClassesOfDrivers(
    const std::vector<PublishingDriver>& drivers, std::set<std::string> known);

// A component's connection, with its name and without watches.
ClientOptions ClientOf(const std::string& name, const ConnectionOptions& connection);

// The components of the drivers in a run: what deletes slices for the garbage collector and for
// kubelets, and the kubelet plugins of each driver. None without drivers. The drivers must outlive
// them. `events` are those of the cluster. KeyError of an event that a driver cannot follow: an
// index that no driver of the node has, a layout that does not fit, more taints than the API server
// takes. O(drivers x nodes + devices of the nodes of events).
absl::StatusOr<std::vector<std::unique_ptr<PlanePart>>> MakePublishingParts(
    const std::vector<PublishingDriver>& drivers, absl::Span<const NodeEventSpec> events,
    const StructuredDraSpec& spec, const ControlPlaneOptions& plane, const ClusterState& cluster);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_SLICE_DRIVERS_H_
