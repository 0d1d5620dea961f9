#include "policies/plugins/random_score.h"

#include <algorithm>

namespace drasim {

void RandomScore::Score(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
                        absl::Span<int64_t> scores) {
  std::fill(scores.begin(), scores.end(), 0);
  scores[streams_->DrawPolicy(nodes.size())] = kMaxNodeScore;
}

}  // namespace drasim
