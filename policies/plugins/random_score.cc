#include "policies/plugins/random_score.h"

#include <algorithm>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

void RandomScore::Score(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
                        absl::Span<int64_t> scores) {
  std::fill(scores.begin(), scores.end(), 0);
  scores[streams_->DrawPolicy(nodes.size())] = kMaxNodeScore;
}

void RegisterRandomScore(Registry& registry) {
  registry.AddPlugin(
      "Random", [](const PolicyContext& c) { return std::make_unique<RandomScore>(c.streams); });
  registry.AddPolicy({"random", "a feasible node at random (baseline)", {{"Random", 1}}, "random"});
}

}  // namespace drasim
