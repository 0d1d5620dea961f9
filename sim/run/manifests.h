// Kubernetes manifests as input of a run: pods and owners of pods become jobs of the workload;
// objects of classic DRA exist from the start of the run.
//
// Kubernetes says neither how long pods run nor when they are created; annotations do, of a pod or,
// for owners of pods, of the template:
//
//   drasim.dev/run-time: 10m    Default: one minute for pods of a Job; without end for a Pod and
//                               for pods of a Deployment, ReplicaSet or StatefulSet.
//   drasim.dev/arrival: 5s      After the run's time zero; default: time zero.
//
// All pods of an owner arrive together, regardless of a Job's parallelism and a StatefulSet's
// order; a warning says so. Objects whose controller owner is in the files are left out, because
// the owner makes them; so are objects that have ended.
#ifndef DRASIM_SIM_RUN_MANIFESTS_H_
#define DRASIM_SIM_RUN_MANIFESTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/run/given_objects.h"
#include "sim/scenario/inline_jobs.h"

namespace drasim {

namespace proto::kube {
class Object;
}

struct Manifests {
  // In the order of the files. A Pod is a job of one pod; a Job is `completions` jobs NAME-0,
  // NAME-1, ...; a Deployment, ReplicaSet or StatefulSet is `replicas` services. Names are
  // "NAMESPACE/NAME" outside the namespace "default".
  std::vector<InlineJob> jobs;
  // Objects of DRA, classic or structured, and parameter objects, unchanged.
  std::vector<std::shared_ptr<const proto::kube::Object>> objects;
  // Namespaces, services, volumes and other objects that kube-scheduler's plugins read, unchanged;
  // only with `full_shapes`.
  std::vector<std::shared_ptr<const proto::kube::Object>> context;
  std::shared_ptr<const GivenObjects> given;  // null unless they were to be kept
  std::vector<std::string> warnings;          // with file, line and path
};

// Reads YAML or JSON files (model/kube/reader.h). InvalidArgument with file:line:column and the
// path of the field: syntax; a container with a claim that its pod does not list; two entries or
// two objects with one name; an entry with no claim, or with a claim and a template; a template
// with an unknown mode. Features that are not simulated give warnings.
//
// `full_shapes`: as in ManifestClasses (manifest_pods.h). Other reasons to keep a pod pending are
// then left to the plugins; volume claims of a StatefulSet's own remain a reason. `keep_objects`:
// fills Manifests::given, with the objects that are not left out. `structured`: keeps objects of
// structured DRA among Manifests::objects; else they are left out with a warning.
absl::StatusOr<Manifests> ReadManifests(const std::vector<std::string>& paths,
                                        bool full_shapes = false, bool keep_objects = false,
                                        bool structured = false);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFESTS_H_
