// Translates pods of manifests into jobs of the workload, for manifests.h.
#ifndef DRASIM_SIM_RUN_MANIFEST_PODS_H_
#define DRASIM_SIM_RUN_MANIFEST_PODS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/kube/admission.h"
#include "model/pod_constraints.h"
#include "sim/scenario/inline_jobs.h"

namespace drasim {

namespace proto::kube {
class ObjectMeta;
class PodSpec;
class PodStatus;
class RuntimeClass;
}  // namespace proto::kube

// Annotations of pods and of pod templates, as Go durations: the run time of a pod, and its time of
// creation after the run's time zero.
inline constexpr char kRunTimeAnnotation[] = "drasim.dev/run-time";
inline constexpr char kArrivalAnnotation[] = "drasim.dev/arrival";

// A finding about one field of an object.
struct ManifestNote {
  bool is_error = false;  // else a warning
  std::string path;       // "spec.template.spec.affinity"
  std::string what;
  PodHold hold = PodHold::kNone;  // if set, the reason why the pod stays pending; `what` is empty
  bool operator==(const ManifestNote&) const = default;
};

// Objects and options that pods are read with.
struct ManifestClasses {
  // The run's scheduler is kube-scheduler with its own plugins: pods keep their whole shape.
  bool full_shapes = false;
  PriorityClasses priorities;
  std::map<std::string, std::shared_ptr<const proto::kube::RuntimeClass>> runtimes;
};

// A job of one pod, without a name; an empty one after a note about an error. `path` is the path of
// the pod's specification ("spec", "spec.template.spec"), `meta` (at `meta_path`) its metadata.
//
//   * cpu, memory: by kube-scheduler's rule, the larger of the steady state (containers and
//     sidecars) and the peak during initialisation (each init container with the sidecars started
//     before it); plus overhead. A limit without a request counts as a request. Pod-level requests
//     replace the sum.
//   * extended: resources with a '/' in their names, if a single container, not an init container,
//     requests any; otherwise `containers`, init containers first.
//   * node_selector: also required node affinity that a node selector could express;
//     node_affinity: other required node affinity, and nodeName.
//   * tolerations: without those that every pod has.
//   * priority, never_preempts: the pod's own, or those of its PriorityClass or the default class.
//   * pending: the first rule that restricts placement and is not simulated. A RuntimeClass adds
//     its overhead and its scheduling.
//   * run_time and arrival: the annotations.
//   * claims: the entries of spec.resourceClaims.
//   * gpus, gpu_milli, gpu_model: the annotations of gpu_annotations.h. A container that requests
//     GPUs decides about their number.
//
// With full_shapes, the pod passes admission, and its shape has all that ShapeOfPod reads in place
// of node_selector, node_affinity, tolerations and pending; amounts are those of every resource.
// spec.activeDeadlineSeconds then ends the pod as failed.
//
// `status`, which may be null, has the amounts that containers have while they are resized.
//
// Adds notes about errors, and about fields that the simulation ignores although they change the
// behaviour of Kubernetes. REQUIRES: ValidateKubeObject has found no problem.
InlineJob ManifestPodJob(const proto::kube::ObjectMeta& meta, const std::string& meta_path,
                         const proto::kube::PodSpec& spec, const std::string& path,
                         const ManifestClasses& classes, std::vector<ManifestNote>* notes,
                         const proto::kube::PodStatus* status = nullptr);

// activeDeadlineSeconds: ends the job as failed after `seconds` of its run, unless it ends earlier.
void EndAtDeadline(int64_t seconds, JobArrival* arrival);

// Adds notes about drasim's annotations in places without effect. `meta` is the metadata of an
// owner of pods.
void CheckOwnerAnnotations(const proto::kube::ObjectMeta& meta, std::vector<ManifestNote>* notes);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFEST_PODS_H_
