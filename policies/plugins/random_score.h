// Random (Score): a baseline. One feasible node, drawn uniformly, scores 100, all others 0.
#ifndef DRASIM_POLICIES_PLUGINS_RANDOM_SCORE_H_
#define DRASIM_POLICIES_PLUGINS_RANDOM_SCORE_H_

#include "policies/framework/plugin.h"

namespace drasim {

class RandomScore : public ScorePlugin {
 public:
  // `streams` must outlive the plugin.
  explicit RandomScore(RunStreams* streams) : streams_(streams) {}
  absl::string_view name() const override { return "Random"; }
  Reach score_reach() const override { return Reach::kCluster; }
  bool score_draws() const override { return true; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;

 private:
  RunStreams* streams_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_RANDOM_SCORE_H_
