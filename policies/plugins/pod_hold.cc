#include "policies/plugins/pod_hold.h"

#include <memory>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {

// Verdict r is PodHold r, since kNone is 0.
std::vector<Reason> PodHoldFilter::reasons() const {
  std::vector<Reason> reasons;
  for (size_t i = 1; i < kPodHolds; ++i) {
    reasons.push_back({ReasonKind::kPodHold, PodHoldReason(static_cast<PodHold>(i))});
  }
  return reasons;
}

void PodHoldFilter::Filter(const PodContext& pod, const ClusterState&,
                           absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  if (pod.shape->constraints.hold == PodHold::kNone) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits) verdicts[i] = static_cast<ReasonIndex>(pod.shape->constraints.hold);
  }
}

void RegisterPodHold(Registry& registry) {
  registry.AddPlugin("PodHold",
                     [](const PolicyContext&) { return std::make_unique<PodHoldFilter>(); });
}

}  // namespace drasim
