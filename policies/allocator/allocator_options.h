// Options of the structured allocator.
#ifndef DRASIM_POLICIES_ALLOCATOR_ALLOCATOR_OPTIONS_H_
#define DRASIM_POLICIES_ALLOCATOR_ALLOCATOR_OPTIONS_H_

#include <cstdint>
#include <memory>

#include "policies/allocator/dra_features.h"

namespace drasim {

class ChoicePolicy;
struct SearchCounts;

struct AllocatorOptions {
  StructuredRelease release = StructuredRelease::k1_37;
  // Features that the variant does not know are off.
  DraFeatures features = DefaultDraFeatures(StructuredRelease::k1_37);
  AllocatorVariant variant = AllocatorVariant::kIncubating;
  // Keeps bugs that are open upstream: devices given with admin access are charged to counters
  // (kubernetes/kubernetes#140729), and what held devices took is read from the slices as they are
  // now (#140802).
  bool strict_upstream = true;
  // Searches as upstream does, without pruning, and counts its steps.
  bool count_steps = false;
  // Without count_steps: how many steps a search takes before it is begun again with pruning, which
  // finds the same answer, but has to look at all devices first.
  int64_t steps_before_pruning = 256;
  // Nodes in the same state share one search. The answers are the same.
  bool share_answers = true;
  // Order of the pools where upstream's is random: releases 1.34 and 1.35.
  uint64_t pool_order_seed = 0;
  // Counts searches, if it is set; must outlive the allocators and verdicts.
  SearchCounts* counts = nullptr;
  // Chooses among all solutions on a node; null: the first one counts, as upstream.
  std::shared_ptr<const ChoicePolicy> policy;
  // Devices that the choice may try on a node, once there is a solution.
  int64_t policy_budget = kUsualPolicyBudget;

  static constexpr int64_t kUsualPolicyBudget = 4096;
};

// Upstream's allocators of 1.36 and later, stable apart, take pools and slices in order of their
// names, and try each set of devices for a request once. The others take slices as they are listed,
// and try every order of a set.
inline bool SearchIsSorted(const AllocatorOptions& options) {
  return options.release >= StructuredRelease::k1_36 &&
         options.variant != AllocatorVariant::kStable;
}

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ALLOCATOR_OPTIONS_H_
