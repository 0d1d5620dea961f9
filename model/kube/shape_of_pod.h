// Pod objects as the model's shapes.
#ifndef DRASIM_MODEL_KUBE_SHAPE_OF_POD_H_
#define DRASIM_MODEL_KUBE_SHAPE_OF_POD_H_

#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// Everything that kube-scheduler reads of a pod, new or on a node. Every resource but CPU and
// memory is an extended one, GPUs included. Amounts beyond int64 are cut to it, negative ones are
// 0.
//
// REQUIRES: the pod has passed admission (admission.h), or comes from a cluster: what the API
// server fills in is there. O(size of the object).
PodShape ShapeOfPod(const proto::kube::Pod& pod);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SHAPE_OF_POD_H_
