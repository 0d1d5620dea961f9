// Node lists as Kubernetes writes them: the Node objects that `kubectl get nodes -o yaml` prints.
//
// Read are name, labels (but NVIDIA's own, which the front end makes), taints, spec.unschedulable
// and what is allocatable (or the capacity, where a node does not say): CPU, memory, pods, and
// extended resources. GPUs are those of "nvidia.com/gpu" with the model of the label
// "nvidia.com/gpu.product", or those of "alibabacloud.com/gpu-count" with
// "alibabacloud.com/gpu-card-model", as in openb's list of nodes.
#ifndef DRASIM_SIM_RUN_NODE_OBJECTS_H_
#define DRASIM_SIM_RUN_NODE_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/node_spec.h"

namespace drasim {

// Whether a node list of this name holds objects and no table: it ends in .yaml, .yml or .json,
// perhaps packed (.gz).
bool HoldsNodeObjects(absl::string_view path);

// The nodes of a file, in its order; other objects are passed over. InvalidArgument, with file and
// line: text that does not parse, a name that comes twice, more GPUs than a node may have, or no
// node at all.
absl::StatusOr<std::vector<NodeSpec>> ReadNodeObjects(const std::string& path);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_OBJECTS_H_
