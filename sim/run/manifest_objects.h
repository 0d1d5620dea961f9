// What objects of manifests have in common, whatever they are. Only manifests*.cc use it.
#ifndef DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_
#define DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// REQUIRES for all: one kind of the object is set.

// "ResourceClaim"; what the object says, else the kind of the newest version that is read.
std::string ManifestKind(const proto::kube::Object& object);
// "resource.k8s.io" of its apiVersion; empty for the core group.
std::string ManifestGroup(const proto::kube::Object& object);
const proto::kube::ObjectMeta& ManifestMeta(const proto::kube::Object& object);
proto::kube::ObjectMeta* MutableManifestMeta(proto::kube::Object* object);
// "default" when none is given; empty for objects of the cluster, whatever is given.
std::string ManifestNamespace(const proto::kube::Object& object);

// Objects that drivers read: NVIDIA's, the example driver's, and ConfigMaps.
bool IsManifestParameters(const proto::kube::Object& object);
// Of those, the kinds that have no namespace.
bool IsClusterParametersKind(absl::string_view group, absl::string_view kind);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_MANIFEST_OBJECTS_H_
