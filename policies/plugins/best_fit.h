// BestFit (Score): prefers nodes with the least CPU and GPU left after placement, in units of a
// large node (128 cores, 8 GPUs). Source: the FGD artifact's baseline of that name, which ignores
// memory.
#ifndef DRASIM_POLICIES_PLUGINS_BEST_FIT_H_
#define DRASIM_POLICIES_PLUGINS_BEST_FIT_H_

#include "policies/framework/plugin.h"

namespace drasim {

class BestFit : public ScorePlugin {
 public:
  absl::string_view name() const override { return "BestFit"; }
  // Min-max over the feasible nodes. Raw scores that span at most 100 keep their order and their
  // ties.
  Normalize normalize(const ClusterState& cluster) const override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_BEST_FIT_H_
