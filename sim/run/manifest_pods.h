// What pods of manifests ask for, as jobs of the workload. Only manifests.cc and its tests use it.
#ifndef DRASIM_SIM_RUN_MANIFEST_PODS_H_
#define DRASIM_SIM_RUN_MANIFEST_PODS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "model/pod_constraints.h"
#include "model/proto/kube.pb.h"
#include "model/proto/scenario.pb.h"

namespace drasim {

// Annotations of pods and of pod templates; Go durations. "drasim.dev/run-time": how long a pod
// runs; "drasim.dev/arrival": when it is created, after the run's time zero.
inline constexpr char kRunTimeAnnotation[] = "drasim.dev/run-time";
inline constexpr char kArrivalAnnotation[] = "drasim.dev/arrival";

// Something to say about one field of one object.
struct ManifestNote {
  bool is_error = false;  // else a warning
  std::string path;       // "spec.template.spec.affinity"
  std::string what;
  PodHold hold = PodHold::kNone;  // else the pod is kept pending for it, and `what` is empty
  bool operator==(const ManifestNote&) const = default;
};

// The classes that pods name. Kubernetes' own two priorities are always there.
struct ManifestClasses {
  std::map<std::string, int32_t> values = {{"system-cluster-critical", 2'000'000'000},
                                           {"system-node-critical", 2'000'001'000}};
  absl::optional<int32_t> global_default;  // the lowest, if several say that they are
  bool default_never_preempts = false;     // its preemptionPolicy
  std::set<std::string> never_preempt;     // PriorityClasses with preemptionPolicy: Never
  std::map<std::string, proto::kube::RuntimeClass> runtimes;
};

// A job of one pod, without a name. `path` is where the pod's specification stands ("spec",
// "spec.template.spec"), and `meta` (at `meta_path`) the metadata beside it.
//
//   * cpu, memory: kube-scheduler's rule: the greater of what runs for good (containers and
//     sidecars) and the peak while init containers run, each beside the sidecars started before it;
//     plus overhead. A limit without a request is a request, too. Requests of the pod as a whole
//     take the place of the sum.
//   * extended: of resources with a '/' in their names, when one container alone asks for any and
//   it
//     is no init container; else `containers`, the init containers first.
//   * node_selector: with it, required node affinity that says no more than a node selector could;
//     node_affinity: other required node affinity, and nodeName.
//   * tolerations, but not those that every pod has.
//   * priority, never_preempts: what the pod says, or its PriorityClass or the default class.
//   * pending: the first of the rules that are not simulated and that would decide where the pod
//     goes. A RuntimeClass adds its overhead and its scheduling.
//   * run_time and arrival: the annotations.
//   * claims: the entries of spec.resourceClaims.
//
// Notes are added for what is wrong, and for what no part of a simulation looks at though
// Kubernetes would do otherwise because of it. ValidateKubeObject's findings are taken for granted.
proto::InlineJob ManifestPodJob(const proto::kube::ObjectMeta& meta, const std::string& meta_path,
                                const proto::kube::PodSpec& spec, const std::string& path,
                                const ManifestClasses& classes, std::vector<ManifestNote>* notes);

// Notes annotations of drasim that do not stand where they have an effect. `meta` is the metadata
// of something that makes pods.
void CheckOwnerAnnotations(const proto::kube::ObjectMeta& meta, std::vector<ManifestNote>* notes);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFEST_PODS_H_
