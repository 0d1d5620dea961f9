#include "policies/plugins/taint_toleration.h"

#include <algorithm>
#include <memory>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> TaintToleration::reasons() const {
  return {{ReasonKind::kUntoleratedTaint, "node(s) had untolerated taint(s)"}};
}

void TaintToleration::Filter(const PodContext& pod, const ClusterState& cluster,
                             absl::Span<const NodeId> nodes,
                             absl::Span<ReasonIndex> verdicts) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits || !cluster.node(nodes[i]).has_taints) continue;
    const std::vector<Taint>& taints = cluster.node_spec(nodes[i]).taints;
    const bool ok = std::all_of(taints.begin(), taints.end(), [&pod](const Taint& taint) {
      return taint.effect == "PreferNoSchedule" ||
             Tolerates(pod.shape->constraints.tolerations, taint);
    });
    if (!ok) verdicts[i] = 1;
  }
}

void RegisterTaintToleration(Registry& registry) {
  registry.AddPlugin("TaintToleration",
                     [](const PolicyContext&) { return std::make_unique<TaintToleration>(); });
}

}  // namespace drasim
