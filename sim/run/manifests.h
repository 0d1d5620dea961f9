// Kubernetes manifests as input of a run: pods, and what makes pods, become jobs of the workload;
// the objects of classic DRA beside them are there from the beginning of the run.
#ifndef DRASIM_SIM_RUN_MANIFESTS_H_
#define DRASIM_SIM_RUN_MANIFESTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cluster_state.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/kube.pb.h"
#include "model/proto/scenario.pb.h"

namespace drasim {

struct Manifests {
  // In the order of the files: a Pod is a job of one pod that runs until it is told otherwise; a
  // Job is `completions` jobs like NAME-0, NAME-1, ...; a Deployment, ReplicaSet or StatefulSet is
  // `replicas` services; names are "NAMESPACE/NAME" outside the namespace "default".
  std::vector<proto::InlineJob> jobs;
  // ResourceClass, ResourceClaim, ResourceClaimTemplate and parameter objects, as they were read.
  std::vector<proto::kube::Object> objects;
  std::vector<std::string> warnings;  // with file, line and path
};

// Reads YAML or JSON files (model/kube/reader.h). InvalidArgument with file:line:column and the path of
// the field: what cannot be read; a container that claims what its pod does not list; two entries
// or two objects of one name; an entry with no claim, or with a claim and a template; a template
// with an unknown mode. What is not simulated is a warning.
absl::StatusOr<Manifests> ReadManifests(const std::vector<std::string>& paths);

// The object as the control plane has it. Name fields are interned. `parameters`: objects of kinds
// that drivers read become ParametersObjects, all their fields flattened. InvalidArgument with the
// path of the field. Selectors of nodes are resolved against the labels and names of the cluster's
// nodes.
absl::StatusOr<ObjectRef> ToControlPlane(const proto::kube::Object& object,
                                         const ClusterState& cluster, NamePool& names);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFESTS_H_
