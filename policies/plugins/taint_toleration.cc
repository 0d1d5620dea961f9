#include "policies/plugins/taint_toleration.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/pod_constraints.h"
#include "policies/framework/registry.h"
#include "policies/plugins/default_normalize.h"

namespace drasim {
namespace {

constexpr absl::string_view kPrefer = "PreferNoSchedule";

// The first taint that keeps the pod off the node; null when there is none.
const Taint* FirstUntolerated(absl::Span<const Taint> taints, const PodShape& shape) {
  const auto found = std::find_if(taints.begin(), taints.end(), [&shape](const Taint& taint) {
    return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
           !Tolerates(shape.constraints.tolerations, taint);
  });
  return found == taints.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Reason> TaintToleration::reasons() const {
  return {{ReasonKind::kUntoleratedTaint, "node(s) had untolerated taint(s)"}};
}

std::vector<std::string> TaintToleration::ReasonTexts(const PodContext& pod,
                                                      const ClusterState& cluster, NodeId node,
                                                      ReasonIndex) const {
  const Taint* const taint = FirstUntolerated(cluster.node_spec(node).taints, *pod.shape);
  DRASIM_CHECK(taint != nullptr);
  return {absl::StrCat("node(s) had untolerated taint {", taint->key, ": ", taint->value, "}")};
}

bool TaintToleration::MayHelp(const ClusterChange& change, const PodContext& pod,
                              const ClusterState& cluster) const {
  if (!change.detailed) return true;
  if (change.event == kPodTolerations) return change.is_waiting_pod;
  const bool kept_off = change.old_node == nullptr ||
                        FirstUntolerated(change.old_node->taints, *pod.shape) != nullptr;
  return kept_off && FirstUntolerated(cluster.node_spec(change.node).taints, *pod.shape) == nullptr;
}

void TaintToleration::Filter(const PodContext& pod, const ClusterState& cluster,
                             absl::Span<const NodeId> nodes,
                             absl::Span<ReasonIndex> verdicts) const {
  if (cluster.tainted_nodes() == 0) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits || !cluster.node(nodes[i]).has_taints) continue;
    if (FirstUntolerated(cluster.node_spec(nodes[i]).taints, *pod.shape) != nullptr) {
      verdicts[i] = 1;
    }
  }
}

void TaintToleration::Score(const PodContext& pod, const ClusterState& cluster,
                            absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const std::vector<Toleration>& tolerations = pod.shape->constraints.tolerations;
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = 0;
    if (!cluster.node(nodes[i]).has_taints) continue;
    for (const Taint& taint : cluster.node_spec(nodes[i]).taints) {
      if (taint.effect == kPrefer && !Tolerates(tolerations, taint)) ++scores[i];
    }
  }
}

void TaintToleration::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const {
  DefaultNormalizeScore(/*reverse=*/true, scores);
}

void RegisterTaintToleration(Registry& registry) {
  registry.AddPlugin("TaintToleration",
                     [](const PolicyContext&) { return std::make_unique<TaintToleration>(); });
}

}  // namespace drasim
