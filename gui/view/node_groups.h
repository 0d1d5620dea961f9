// Groups of nodes for maps: pools and labels.
#ifndef DRASIM_GUI_VIEW_NODE_GROUPS_H_
#define DRASIM_GUI_VIEW_NODE_GROUPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/node_spec.h"

namespace drasim::view {

// The node's pool: the value of the first of these labels that it has,
//   cloud.google.com/gke-nodepool, eks.amazonaws.com/nodegroup, alpha.eksctl.io/nodegroup-name,
//   kubernetes.azure.com/agentpool, agentpool, karpenter.sh/nodepool,
//   doks.digitalocean.com/node-pool, node-pool, nodepool, pool
// else its name without the domain and the numbers at its end: "gpu-a100" of "gpu-a100-17",
// "ip" of "ip-10-0-3-4.ec2.internal". Never empty unless the name is.
std::string PoolOf(const NodeSpec& node);

// The value of a label; empty if the node lacks it.
absl::string_view LabelOf(const NodeSpec& node, absl::string_view key);

// The keys of all labels of all nodes, sorted. O(labels).
std::vector<std::string> LabelKeysOf(const ClusterState& cluster);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_NODE_GROUPS_H_
