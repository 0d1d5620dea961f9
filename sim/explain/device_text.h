// The devices that a pod or a claim holds, in words.
#ifndef DRASIM_SIM_EXPLAIN_DEVICE_TEXT_H_
#define DRASIM_SIM_EXPLAIN_DEVICE_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/ids.h"

namespace drasim {

// The node's GPUs, or parts of them, that the pod holds: "GPU 0,1", "GPU 0:3g.40gb@4". Empty when
// it holds none.
std::string DevicesText(const ClusterState& cluster, PodId pod, NodeId node);

// The same for a list of grants. REQUIRES: none of them is a MIG instance unless the node has a MIG
// table.
std::string GrantsText(const ClusterState& cluster, NodeId node,
                       absl::Span<const DeviceGrant> grants);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_DEVICE_TEXT_H_
