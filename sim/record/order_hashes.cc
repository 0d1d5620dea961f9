#include "sim/record/order_hashes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "model/hash.h"

namespace drasim {

OrderHashes ComputeOrderHashes(const ClusterState& cluster, absl::Span<const uint32_t> ranks) {
  OrderHashes hashes{kFnvOffset, kFnvOffset, kFnvOffset};
  std::vector<NodeId> by_rank(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) by_rank[ranks[i]] = NodeId(i);
  for (NodeId node : by_rank)
    hashes.rank = Fnv1a("\n", Fnv1a(cluster.node_spec(node).name, hashes.rank));
  std::string line;
  for (size_t i = 0; i < cluster.pod_count(); ++i) {
    const PodId pod(i);
    const absl::string_view name = cluster.pod_name(pod);
    hashes.order = Fnv1a("\n", Fnv1a(name, hashes.order));
    line.assign(name.data(), name.size());
    const NodeId node = cluster.pod_node(pod);
    if (!node.valid()) {
      line += " - \n";
    } else {
      const std::string rank = absl::StrCat(ranks[node.value()]);
      absl::StrAppend(&line, " ", std::string(rank.size() < 4 ? 4 - rank.size() : 0, '0'), rank,
                      "-", cluster.node_spec(node).name, " ");
      absl::string_view dash = "";
      for (const size_t device : cluster.pod_devices(pod)) {
        absl::StrAppend(&line, dash, device);
        dash = "-";
      }
      line += "\n";
    }
    hashes.placement = Fnv1a(line, hashes.placement);
  }
  return hashes;
}

}  // namespace drasim
