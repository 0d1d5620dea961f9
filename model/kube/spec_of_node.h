// Node objects as the model's nodes.
#ifndef DRASIM_MODEL_KUBE_SPEC_OF_NODE_H_
#define DRASIM_MODEL_KUBE_SPEC_OF_NODE_H_

#include "model/node_spec.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The node as kube-scheduler sees it: allocatable amounts, or the capacity without any; labels,
// taints, images, spec.unschedulable. Every resource but CPU, memory and pods is an extended one,
// GPUs included. As upstream, a node that does not say how many pods it takes takes none. Amounts
// beyond int64 are cut to it. O(size of the object).
NodeSpec SpecOfNode(const proto::kube::Node& node);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SPEC_OF_NODE_H_
