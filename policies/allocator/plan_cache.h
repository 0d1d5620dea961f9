// PlanCache: plans of claims from one pod to the next. Pods of one template ask for the same, and
// all claims made from a template share its specification.
#ifndef DRASIM_POLICIES_ALLOCATOR_PLAN_CACHE_H_
#define DRASIM_POLICIES_ALLOCATOR_PLAN_CACHE_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/asked_claim.h"
#include "policies/allocator/claim_plan.h"

namespace drasim {

class PlanCache {
 public:
  using Specs = std::vector<std::shared_ptr<const proto::kube::DeviceClaim>>;

  // The plan of claims that have the same specification objects as these; null if there is none.
  // Call ClaimPlan::Rename before use. O(claims).
  std::shared_ptr<ClaimPlan> Find(AskedClaims claims);
  // Keeps a plan without errors. `specs` are those of its claims.
  void Keep(Specs specs, std::shared_ptr<ClaimPlan> plan);
  // Must be called when a class changes: plans refer to them.
  void Clear() { plans_.clear(); }

 private:
  using Key = std::vector<const proto::kube::DeviceClaim*>;
  struct Entry {
    Specs specs;  // so that their addresses stay theirs
    std::shared_ptr<ClaimPlan> plan;
  };
  Key key_;  // scratch
  absl::flat_hash_map<Key, Entry> plans_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_PLAN_CACHE_H_
