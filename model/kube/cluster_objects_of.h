// Objects beside nodes and pods as the model's ClusterObjects.
#ifndef DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_
#define DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_

#include "model/cluster_objects.h"
#include "model/proto/kube.pb.h"
#include "model/proto/kube_case.pb.h"

namespace drasim {

// Each adds one object. An empty namespace is `default`. Of two namespaces with one name the later
// counts. O(size of the object), namespaces O(namespaces).
void AddNamespace(const proto::kube::Namespace& given, ClusterObjects* objects);
void AddGroup(const proto::kube::Service& given, ClusterObjects* objects);
void AddGroup(const proto::kube::ReplicationController& given, ClusterObjects* objects);
void AddGroup(const proto::kube::ReplicaSet& given, ClusterObjects* objects);
void AddGroup(const proto::kube::StatefulSet& given, ClusterObjects* objects);
void AddBudget(const proto::kube::PodDisruptionBudget& given, ClusterObjects* objects);

// Whichever kind it is, volumes included; objects of kinds that ClusterObjects leaves out are
// ignored.
void AddClusterObject(const proto::kube::Object& object, ClusterObjects* objects);

// Those of a case, in its order.
ClusterObjects ClusterObjectsOf(const proto::kube::KubeCase& given);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_CLUSTER_OBJECTS_OF_H_
