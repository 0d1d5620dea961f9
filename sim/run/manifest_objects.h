// Objects of manifests: names and kinds, and their form in the control plane of classic DRA.
#ifndef DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_
#define DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"

namespace drasim {

namespace proto::kube {
class Object;
class ObjectMeta;
}  // namespace proto::kube

// All functions REQUIRE an object with one of its kinds set.

// "ResourceClaim": the object's own kind, by default that of the newest supported version.
std::string ManifestKind(const proto::kube::Object& object);
// The group in apiVersion, such as "resource.k8s.io"; empty for the core group.
std::string ManifestGroup(const proto::kube::Object& object);
const proto::kube::ObjectMeta& ManifestMeta(const proto::kube::Object& object);
proto::kube::ObjectMeta* MutableManifestMeta(proto::kube::Object* object);
// "default" when none is given; always empty for cluster-scoped objects.
std::string ManifestNamespace(const proto::kube::Object& object);

// The name of the job of a pod or an owner of pods: without the namespace "default".
std::string ManifestJobName(absl::string_view ns, absl::string_view name);

// Whether drivers read the object as parameters: kinds of NVIDIA's and the example driver,
// ConfigMaps.
bool IsManifestParameters(const proto::kube::Object& object);
// Whether the kind of parameters is cluster-scoped.
bool IsClusterParametersKind(absl::string_view group, absl::string_view kind);

// The object in the form of the control plane, with names interned. Parameters become
// ParametersObjects with all fields flattened. Node selectors are resolved against names and labels
// of the cluster's nodes. InvalidArgument with the path of the field.
absl::StatusOr<ObjectRef> ToControlPlane(const proto::kube::Object& object,
                                         const ClusterState& cluster, NamePool& names);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_
