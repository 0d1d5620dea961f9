// NodeResourcesBalancedAllocation (Score): prefers nodes on which equal shares of all resources
// would be in use. The balance is 100 x (1 - standard deviation of the shares). One term: the
// balance with the pod. Two terms: by how much the pod improves it, from 50 to 100.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/noderesources, one term up to
// release 1.35, two from 1.36 on. Doubles, in the original's order of operations. Requests count as
// written. Weights are ignored.
#ifndef DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_
#define DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/plugins/resource_scores.h"

namespace drasim {

class NodeResourcesBalancedAllocation : public ResourceScore {
 public:
  explicit NodeResourcesBalancedAllocation(const ScoredResources::List& resources,
                                           bool two_terms = false)
      : ResourceScore(resources, ScoredResources::Requests::kReal), two_terms_(two_terms) {}
  absl::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  // kSkip for pods that ask for none of the resources; Score would give them 0 everywhere.
  StepResult PreScore(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> feasible) override;
  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;

  bool two_terms_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_
