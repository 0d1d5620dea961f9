// The end of a run as Kubernetes objects, as `kubectl get -o yaml` would print them on that
// cluster.
//
//   spec.KeepObjects();                                  // before Simulation::Build
//   ...                                                  // the run, with a PodLog among its sinks
//   EndObjects end(sim.get(), &pod_log);
//   RETURN_IF_ERROR(end.WriteTo("objects"));             // a file for each kind
//   RETURN_IF_ERROR(WriteFileAtomically("metrics.txt", end.MetricsText()));
//
// Read back by cluster.manifests, the objects give the state of the run's end, and written again
// the same bytes, if no waiting pod can be placed by then. The objects are:
//
//   * Nodes that are part of the cluster, in its order, since the scheduler's ties depend on it.
//   * Pods: those on nodes in order of arrival, then waiting ones by creation, then ended ones.
//     Objects that were given keep all that is read of them (docs/kubernetes_fields.md); others are
//     made (made_objects.h). A pod that waits has the condition PodScheduled: False, with the
//     scheduler's message at the end. The last 12,500 ended pods are kept, as Kubernetes' garbage
//     collector does; deleted pods are gone.
//   * All other objects of manifests, unchanged; namespaces and PriorityClasses that pods need.
#ifndef DRASIM_SIM_RUN_END_OBJECTS_H_
#define DRASIM_SIM_RUN_END_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "sim/record/folder_lock.h"
#include "sim/record/pod_log.h"
#include "sim/run/simulation.h"

namespace drasim {

// PrepareOutputDir for a folder of objects.
absl::StatusOr<std::unique_ptr<FolderLock>> PrepareObjectsDir(const std::string& dir, bool force);

class EndObjects {
 public:
  // Both must outlive it. REQUIRES: the run has ended; `log` has seen all of its records.
  EndObjects(Simulation* sim, const PodLog* log);

  // Writes the files NUMBER-KIND.yaml, in an order in which kubectl can apply them. They replace
  // earlier ones when all are complete; other files of objects are removed. Errors as of
  // AtomicFile.
  absl::Status WriteTo(const std::string& dir);

  // KubeMetrics of the nodes and pods.
  std::string MetricsText();

 private:
  using Seen = absl::FunctionRef<void(const proto::kube::Object&)>;

  void SortPods();
  const proto::kube::Pod* GivenPod(PodId pod) const;      // null: made for the trace
  const proto::kube::Node* GivenNode(NodeId node) const;  // null: made for the table
  std::string NodeName(NodeId node) const;
  bool WasGiven(const proto::kube::Object& object) const;
  void ForEachNode(Seen see);
  void ForEachPod(Seen see);
  void ForEachOther(proto::kube::Object::ObjectCase kind, Seen see);
  void ForEachNamespace(Seen see);
  void ForEachPriorityClass(Seen see);
  void ForEach(proto::kube::Object::ObjectCase kind, Seen see);
  proto::kube::Node NodeObject(NodeId node) const;
  proto::kube::Pod PodObject(PodId pod);
  void SetStatus(PodId pod, const proto::kube::Pod* given, proto::kube::Pod* object);
  std::string NodeOf(PodId pod) const;
  std::string MessageOf(PodId pod);

  Simulation* sim_;
  const PodLog* log_;
  std::vector<const GivenObjects*> given_;
  std::vector<PodId> pods_;  // on nodes, then waiting
  std::vector<PodId> ended_;
  size_t given_ended_ = 0;       // of those given: how many of the last are kept
  std::set<std::string> known_;  // kinds and names of other objects given
  // By shape and priority: jobs of one pod that wait for the same reason.
  std::map<std::pair<uint32_t, int32_t>, std::string> messages_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_END_OBJECTS_H_
