#include "policies/plugins/group_limit.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> GroupLimit::reasons() const {
  return {{ReasonKind::kGroupLimit, "node(s) had the most pods of the group that are allowed"}};
}

void GroupLimit::Filter(const PodContext& pod, const ClusterState& cluster,
                        absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  if (pod.shape->constraints.max_per_node <= 0) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && !cluster.GroupHasRoom(pod.shape_id, nodes[i])) verdicts[i] = 1;
  }
}

void RegisterGroupLimit(Registry& registry) {
  registry.AddPlugin("GroupLimit",
                     [](const PolicyContext&) { return std::make_unique<GroupLimit>(); });
}

}  // namespace drasim
