// Objects beside nodes and pods as the model's ClusterObjects.
#ifndef DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_
#define DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_

#include "absl/types/span.h"
#include "model/cluster_objects.h"
#include "model/proto/kube.pb.h"
#include "model/proto/kube_case.pb.h"

namespace drasim {

// The objects that ClusterObjects has; those of other kinds are left out. An empty namespace is
// `default`. If two namespaces have one name, the later counts. O(size log objects).
ClusterObjects ClusterObjectsOf(absl::Span<const proto::kube::Object* const> given);

// The same of a case. A namespace that no object describes is not there.
ClusterObjects ClusterObjectsOf(const proto::kube::KubeCase& given);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_
