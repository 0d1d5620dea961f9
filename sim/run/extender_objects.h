// The objects of a simulation, as scheduler extenders get them.
#ifndef DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_
#define DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "sim/extender/http_extender.h"

namespace drasim {

// Made from the cluster's state, with what the simulation knows: names, labels, amounts, taints,
// selectors, tolerations, priorities, the node of a placed pod. Whole GPUs of the direct front end
// are nvidia.com/gpu. A pod has one container, and a UID that tells its place among the run's pods.
class RunObjects : public ExtenderObjects {
 public:
  // The cluster must outlive it.
  explicit RunObjects(const ClusterState* cluster) : cluster_(*cluster) {}
  const proto::kube::Pod& PodObject(PodId pod) const override;
  const proto::kube::Node& NodeObject(NodeId node) const override;

 private:
  const ClusterState& cluster_;
  // The last ones; a cluster has too many to keep them all.
  mutable proto::kube::Pod pod_;
  mutable proto::kube::Node node_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_
