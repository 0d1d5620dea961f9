// MatchIndex: the candidates of a claim's requests by the value that a matchAttribute constraint
// compares, so that a search neither begins with a value that too few devices have, nor looks at
// devices with another value than the one it began with.
#ifndef DRASIM_POLICIES_ALLOCATOR_MATCH_INDEX_H_
#define DRASIM_POLICIES_ALLOCATOR_MATCH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/device_columns.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/constraint_state.h"
#include "policies/allocator/node_pools.h"

namespace drasim {

class MatchIndex {
 public:
  // Candidates of one request come in the order of the search. `shared`: the device may serve
  // several requests.
  void Add(uint32_t request, const DevicePlace& place, bool shared, const ConstraintValue& value);
  // After the last Add. O(entries log entries).
  void Finish(const PlannedClaim& claim, const ConstraintPlan& constraint, const ClaimPlan& plan);

  // Whether devices suffice for a solution that has an element of `value` in common. Never false
  // when there is a solution.
  bool MayBegin(const ConstraintValue& value) const;
  // The candidates of the request that have the element. O(1).
  const std::vector<DevicePlace>& Having(uint32_t request, const DeviceValue& element) const;

 private:
  using Key = std::pair<int, int64_t>;  // kind and bits
  struct Holders {
    absl::flat_hash_map<uint32_t, std::vector<DevicePlace>> by_request;
    std::vector<uint32_t> devices;  // all of them
    bool any_shared = false;
    bool suffice = false;
  };
  static bool Suffice(const Holders& holders, const PlannedClaim& claim,
                      const ConstraintPlan& constraint, const ClaimPlan& plan);

  std::map<Key, Holders> holders_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_MATCH_INDEX_H_
