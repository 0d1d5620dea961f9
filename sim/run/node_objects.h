// Reads Kubernetes Node objects, as printed by `kubectl get nodes -o yaml`, as a node list.
//
// It reads the name, labels (except NVIDIA's, which the front end makes), taints,
// spec.unschedulable, and allocatable amounts (by default the capacity) of CPU, memory, pods and
// extended resources. GPUs are given by "nvidia.com/gpu" and the label "nvidia.com/gpu.product", or
// by "alibabacloud.com/gpu-count" and "alibabacloud.com/gpu-card-model", as in openb's node list.
#ifndef DRASIM_SIM_RUN_NODE_OBJECTS_H_
#define DRASIM_SIM_RUN_NODE_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/node_spec.h"

namespace drasim {

namespace proto::kube {
class Node;
}  // namespace proto::kube

// Whether a node list of this name holds objects rather than a table: it ends in .yaml, .yml or
// .json, optionally compressed (.gz).
bool HoldsNodeObjects(absl::string_view path);

// The nodes of a file, in its order; other objects are ignored. InvalidArgument, with file and
// line: syntax errors, a repeated name, more GPUs than a node may have, or no node.
absl::StatusOr<std::vector<NodeSpec>> ReadNodeObjects(const std::string& path);

// The node of one object. KeyError (model/key_error.h) with the path of a field: more GPUs than a
// node may have, or an amount beyond what can be counted. `other_resources`: those that are no
// devices, such as ephemeral-storage, count, too.
absl::StatusOr<NodeSpec> NodeOfObject(const proto::kube::Node& object, bool other_resources);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_OBJECTS_H_
