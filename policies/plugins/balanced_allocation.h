// NodeResourcesBalancedAllocation (Score): prefers nodes on which equal shares of all resources
// would be in use: 100 x (1 - standard deviation of the shares).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/noderesources up to 1.35 (1.36
// compares with the node as it was before). Doubles, in the original's order of operations.
// Requests count as written; pods without any of the resources score 0 everywhere. Weights are
// ignored.
#ifndef DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_
#define DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/plugins/resource_scores.h"

namespace drasim {

class NodeResourcesBalancedAllocation : public ResourceScore {
 public:
  explicit NodeResourcesBalancedAllocation(const ScoredResources::List& resources)
      : ResourceScore(resources, ScoredResources::Requests::kReal) {}
  absl::string_view name() const override { return "NodeResourcesBalancedAllocation"; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_BALANCED_ALLOCATION_H_
