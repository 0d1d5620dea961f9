#include "policies/plugins/node_affinity.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

std::vector<absl::string_view> NodeAffinity::reasons() const {
  return {"node(s) didn't match Pod's node affinity/selector"};
}

void NodeAffinity::Filter(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const auto& wanted = pod.shape->node_selector;
  if (wanted.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const auto& labels = cluster.node_spec(nodes[i]).labels;
    const bool ok = std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& pair) {
      return std::find(labels.begin(), labels.end(), pair) != labels.end();
    });
    if (!ok) verdicts[i] = 1;
  }
}

void RegisterNodeAffinity(Registry& registry) {
  registry.AddPlugin("NodeAffinity",
                     [](const PolicyContext&) { return std::make_unique<NodeAffinity>(); });
}

}  // namespace drasim
