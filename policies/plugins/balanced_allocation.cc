#include "policies/plugins/balanced_allocation.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

double ShareInUse(const ResourceUse& use) {
  return std::min(1.0, static_cast<double>(use.requested) / static_cast<double>(use.capacity));
}

// Two resources have a formula of their own, whose last bit differs from the general one's.
double StandardDeviation(absl::Span<const ResourceUse> uses) {
  if (uses.size() < 2) return 0;
  if (uses.size() == 2) return std::fabs((ShareInUse(uses[0]) - ShareInUse(uses[1])) / 2);
  const auto count = static_cast<double>(uses.size());
  double total = 0;
  for (const ResourceUse& use : uses) total += ShareInUse(use);
  const double mean = total / count;
  double squares = 0;
  for (const ResourceUse& use : uses) {
    const double distance = ShareInUse(use) - mean;
    squares += distance * distance;
  }
  // IEEE 754 specifies the square root to the last bit.
  return std::sqrt(squares / count);
}

}  // namespace

int64_t NodeResourcesBalancedAllocation::ScoreOf(absl::Span<const ResourceUse> uses) const {
  return static_cast<int64_t>((1 - StandardDeviation(uses)) * static_cast<double>(kMaxNodeScore));
}

void RegisterBalancedAllocation(Registry& registry) {
  registry.AddPlugin("NodeResourcesBalancedAllocation", [](const PolicyContext& c) {
    const ScoredResources::List& chosen = c.resource_scores.resources;
    return std::make_unique<NodeResourcesBalancedAllocation>(chosen.empty() ? CpuAndMemory()
                                                                            : chosen);
  });
}

}  // namespace drasim
