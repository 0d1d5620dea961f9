// A cluster as kubectl prints it, as the start of a run: `kubectl get nodes,pods,... -A -o yaml`.
//
//   ASSIGN_OR_RETURN(const ClusterSnapshot snapshot, ReadClusterManifests({"dump.yaml"}, true));
#ifndef DRASIM_SIM_RUN_CLUSTER_MANIFESTS_H_
#define DRASIM_SIM_RUN_CLUSTER_MANIFESTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/cluster_objects.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "sim/run/given_objects.h"

namespace drasim {

namespace proto::kube {
class Object;
}  // namespace proto::kube

// A pod that is there when the run begins.
struct SnapshotPod {
  JobArrival job;     // without a shape; of one pod
  PodShape shape;     // as pods of manifests ask for it, before lowering
  std::string node;   // empty: it waits
  DeviceSet devices;  // GPUs of the node, of the annotation gpu-index; empty: not given
};

struct ClusterSnapshot {
  std::vector<NodeSpec> nodes;  // in the order of the files
  // First those on nodes, in the order of the files, then those of DaemonSets that nodes lack, then
  // waiting ones by creation.
  std::vector<SnapshotPod> pods;
  // Namespaces, services, budgets, volumes and other objects that plugins read, unchanged.
  std::vector<std::shared_ptr<const proto::kube::Object>> context;
  std::shared_ptr<const GivenObjects> given;  // null unless they were to be kept
  std::vector<std::string> warnings;          // with file and line
};

// Reads files (YAML, JSON, lists, several documents, perhaps .gz) and, of folders, the files in
// them that end in .yaml, .yml or .json, perhaps with .gz, in the order of their names.
//
//   * Nodes: as in node lists (node_objects.h).
//   * Pods that have not ended. One on a node stays there until it is preempted or evicted, or its
//     node is lost: it has no end but activeDeadlineSeconds of itself or its Job, or the annotation
//     drasim.dev/run-time, both from the start of the run. It comes back only if a controller owns
//     it. A waiting pod that is being deleted is left out. GPUs may be said by annotations
//     (model/kube/gpu_annotations.h).
//   * DaemonSets: a pod for each node that its template fits and that no pod of it is on or waits
//     for. It waits for that node.
//   * RuntimeClasses and PriorityClasses, for pods that did not pass admission.
//
// Objects are used as far as they are understood, so warnings, with file and line, tell of: odd
// fields; second objects of one name, pods on nodes that are not there, and pods with resource
// claims that wait (all of which are left out). Kinds without a meaning here are named once.
//
// InvalidArgument, with file and line: syntax, a torn file, an amount beyond what can be counted,
// more GPUs than a node may have, no node. NotFound: a path without a file.
//
// `full_shapes`: as in ManifestClasses (manifest_pods.h); without it, resources of nodes and pods
// are CPU, memory and devices. `keep_objects`: fills ClusterSnapshot::given, with what the run has
// of the files and with pods that have ended.
absl::StatusOr<ClusterSnapshot> ReadClusterManifests(const std::vector<std::string>& paths,
                                                     bool full_shapes, bool keep_objects = false);

// The objects in the form that plugins read.
ClusterObjects ContextObjects(absl::Span<const std::shared_ptr<const proto::kube::Object>> context);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_CLUSTER_MANIFESTS_H_
