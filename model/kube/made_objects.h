// Kubernetes objects for what a simulation made without any: nodes of tables and generators, pods
// of traces. The opposite of SpecOfNode and ShapeOfPod, as far as Kubernetes has words for it.
#ifndef DRASIM_MODEL_KUBE_MADE_OBJECTS_H_
#define DRASIM_MODEL_KUBE_MADE_OBJECTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The text as the name of a node or a pod (RFC 1123 subdomain): itself, if it is one; else a name
// from its valid characters and its hash, so that different texts keep different names.
// O(length).
std::string ObjectNameOf(absl::string_view text);

// Capacity equals allocatable. GPUs are nvidia.com/gpu, unless a device plugin already reports
// some resource for them; their model, if all have the same, is the label nvidia.com/gpu.product.
// Resources of which the node has none are left out.
proto::kube::Node NodeObjectOf(const NodeSpec& spec);

// A pod of one container. Its name is `name`, or NAMESPACE/NAME, which is the name of jobs outside
// the namespace "default". GPUs, shares of them and their models are those of the direct front end
// (gpu_annotations.h) or the resources of a device plugin; MIG instances are nvidia.com/mig-*. A
// priority other than 0, or a pod that never preempts, comes with the name of a class
// (MadePriorityClass).
//
// Without words in Kubernetes, and left out: limits on the pods of a group per node, functions of
// reprogrammable devices, holds.
proto::kube::Pod PodObjectOf(absl::string_view name, const PodShape& shape, int32_t priority);

// Whether the API server lets a user's PriorityClass have the value.
bool IsUserPriority(int32_t priority);
// The class of pods that PodObjectOf made. REQUIRES: IsUserPriority(priority).
proto::kube::PriorityClass MadePriorityClass(int32_t priority, bool never_preempts);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_MADE_OBJECTS_H_
