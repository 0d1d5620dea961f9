// The pods of cluster.manifests on their way into a run: ahead of the workload, at time zero.
#ifndef DRASIM_SIM_RUN_STANDING_PODS_H_
#define DRASIM_SIM_RUN_STANDING_PODS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/shape_table.h"
#include "sim/run/cluster_manifests.h"

namespace drasim {

class StandingPods {
 public:
  StandingPods() = default;
  // Interns the shapes. InvalidArgument when a job of the workload has the name of one of the pods.
  static absl::StatusOr<StandingPods> Make(const ClusterSnapshot& snapshot,
                                           const std::vector<JobArrival>& workload,
                                           ShapeTable* shapes);

  // Both together let other code change the shapes.
  void AppendTo(std::vector<JobArrival>* jobs) const;
  void TakeFrom(std::vector<JobArrival>* jobs);

  // For front ends whose claims are negotiated in the run: every pod arrives at time zero, and may
  // run on its node alone, whatever taints that has.
  void PinToNodes(ShapeTable* shapes);

  // Looks the nodes up. The pods of a node that is absent at the start wait.
  void FindNodes(const ClusterState& cluster);

  size_t size() const { return jobs_.size(); }
  const std::vector<JobArrival>& jobs() const { return jobs_; }
  // Beside jobs(); invalid for pods that wait. REQUIRES: FindNodes.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  // Beside jobs(): GPUs that they held; empty: not known.
  const std::vector<DeviceSet>& devices() const { return devices_; }

  // The pods, then what `rest` has. Both must outlive the source.
  std::unique_ptr<EventSource> InFrontOf(EventSource* rest) const;

 private:
  std::vector<JobArrival> jobs_;
  std::vector<std::string> names_;  // of nodes
  std::vector<NodeId> nodes_;
  std::vector<DeviceSet> devices_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_STANDING_PODS_H_
