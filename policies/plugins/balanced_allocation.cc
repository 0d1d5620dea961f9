#include "policies/plugins/balanced_allocation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "policies/framework/plugin_args.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

enum class When : uint8_t { kBefore, kAfter };  // the pod is placed

double ShareInUse(const ResourceUse& use, When when) {
  const int64_t amount = when == When::kAfter ? use.requested : use.requested - use.added;
  return std::min(1.0, static_cast<double>(amount) / static_cast<double>(use.capacity));
}

// Two resources have a formula of their own, whose last bit differs from the general one's.
double StandardDeviation(absl::Span<const ResourceUse> uses, When when) {
  if (uses.size() < 2) return 0;
  if (uses.size() == 2) {
    return std::fabs((ShareInUse(uses[0], when) - ShareInUse(uses[1], when)) / 2);
  }
  const auto count = static_cast<double>(uses.size());
  double total = 0;
  for (const ResourceUse& use : uses) total += ShareInUse(use, when);
  const double mean = total / count;
  double squares = 0;
  for (const ResourceUse& use : uses) {
    const double distance = ShareInUse(use, when) - mean;
    squares += distance * distance;
  }
  // IEEE 754 specifies the square root to the last bit.
  return std::sqrt(squares / count);
}

int64_t BalanceOf(absl::Span<const ResourceUse> uses, When when) {
  return static_cast<int64_t>((1 - StandardDeviation(uses, when)) *
                              static_cast<double>(kMaxNodeScore));
}

}  // namespace

StepResult NodeResourcesBalancedAllocation::PreScore(const PodContext& pod, const ClusterState&,
                                                     absl::Span<const NodeId>) {
  StepResult result;
  if (!resources().Asks(*pod.shape)) result.code = StepCode::kSkip;
  return result;
}

int64_t NodeResourcesBalancedAllocation::ScoreOf(absl::Span<const ResourceUse> uses) const {
  const int64_t after = BalanceOf(uses, When::kAfter);
  if (!two_terms_) return after;
  constexpr int64_t kHalf = kMaxNodeScore / 2;
  return kHalf + (kHalf + after - BalanceOf(uses, When::kBefore)) / 2;
}

void RegisterBalancedAllocation(Registry& registry) {
  registry.AddPlugin("NodeResourcesBalancedAllocation", [](const PolicyContext& c) {
    if (c.args != nullptr) {
      const auto args = ArgsOr<BalancedAllocationArgs>(*c.args);
      return std::make_unique<NodeResourcesBalancedAllocation>(args.resources, args.two_terms);
    }
    const ScoredResources::List& chosen = c.resource_scores.resources;
    return std::make_unique<NodeResourcesBalancedAllocation>(chosen.empty() ? CpuAndMemory()
                                                                            : chosen);
  });
}

}  // namespace drasim
