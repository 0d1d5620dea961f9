#include "policies/plugins/taint_toleration.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

bool Tolerated(const PodShape& shape, const Taint& taint) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                     [&taint](const Toleration& t) {
                       if (!t.effect.empty() && t.effect != taint.effect) return false;
                       if (t.exists) return t.key.empty() || t.key == taint.key;
                       return t.key == taint.key && t.value == taint.value;
                     });
}

}  // namespace

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
      return taint.effect == "PreferNoSchedule" || Tolerated(*pod.shape, taint);
    });
    if (!ok) verdicts[i] = 1;
  }
}

void RegisterTaintToleration(Registry& registry) {
  registry.AddPlugin("TaintToleration",
                     [](const PolicyContext&) { return std::make_unique<TaintToleration>(); });
}

}  // namespace drasim
