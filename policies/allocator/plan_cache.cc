#include "policies/allocator/plan_cache.h"

#include <utility>

namespace drasim {
namespace {

// As many as SharedAnswers remembers.
constexpr size_t kMaxKeptPlans = 64;

}  // namespace

std::shared_ptr<ClaimPlan> PlanCache::Find(AskedClaims claims) {
  key_.clear();
  for (const AskedClaim& claim : claims) key_.push_back(claim.devices);
  const auto found = plans_.find(key_);
  return found == plans_.end() ? nullptr : found->second.plan;
}

void PlanCache::Keep(Specs specs, std::shared_ptr<ClaimPlan> plan) {
  if (plans_.size() >= kMaxKeptPlans) plans_.clear();
  Key key;
  for (const auto& spec : specs) key.push_back(spec.get());
  plans_.insert_or_assign(std::move(key), Entry{std::move(specs), std::move(plan)});
}

}  // namespace drasim
