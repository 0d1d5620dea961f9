// The objects of a simulation, as scheduler extenders get them.
#ifndef DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_
#define DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_

#include <utility>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "sim/extender/http_extender.h"
#include "sim/run/given_objects.h"

namespace drasim {

// RunObjects: the manifests of pods and nodes, as far as drasim reads them, with the run's changes
// since: the pod's node and priority, the node's amounts and cordon. Pods and nodes without a
// manifest are made (model/kube/made_objects.h), with whole GPUs of the direct front end as
// nvidia.com/gpu. A pod without a UID has one that tells its place among the run's pods.
class RunObjects : public ExtenderObjects {
 public:
  // The cluster and the objects must outlive it.
  RunObjects(const ClusterState* cluster, std::vector<const GivenObjects*> given)
      : cluster_(*cluster), given_(std::move(given)) {}
  const proto::kube::Pod& PodObject(PodId pod) const override;
  const proto::kube::Node& NodeObject(NodeId node) const override;

 private:
  const ClusterState& cluster_;
  const std::vector<const GivenObjects*> given_;
  // The last ones; a cluster has too many to keep them all.
  mutable proto::kube::Pod pod_;
  mutable proto::kube::Node node_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_EXTENDER_OBJECTS_H_
