// BranchPruner: which branches of the allocator's search need not be searched.
//
// A branch is left out only if it has no solution and upstream would meet no error in it. Devices
// whose mere sight is an error are harmless while they are in use, because the search passes over
// them; a branch that cannot get beyond some request never looks at devices for later ones.
#ifndef DRASIM_POLICIES_ALLOCATOR_BRANCH_PRUNER_H_
#define DRASIM_POLICIES_ALLOCATOR_BRANCH_PRUNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/match_index.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/search_pruning.h"

namespace drasim {

class BranchPruner {
 public:
  using Position = AllocationSearch::Position;

  // The search outlives it.
  explicit BranchPruner(AllocationSearch* search) : search_(*search) {}

  // Looks at the devices of the node. False: nothing can be pruned.
  bool Prepare();

  // Whether no device in reach of the request is an error to look at.
  bool IsSafe(uint32_t claim, uint32_t request) const;
  // The same for all requests from this position on.
  bool IsSafeFrom(const Position& at) const;

  // Whether the branch at this position has neither a solution nor an error. `jointly`: also looks
  // at all requests together, which costs more.
  bool CannotComplete(const Position& at, bool jointly);
  // The candidates that have the value, if there is but one, that constraints ask for by now.
  const std::vector<DevicePlace>& CandidatesNow(uint32_t claim, uint32_t request) const;
  // False if no solution begins a matchAttribute constraint of the claim with this device.
  bool MayMatch(uint32_t claim, uint32_t request, uint32_t device);
  // Whether `wanted` of these candidates, from `next` on, are not in use.
  bool HasFree(uint32_t claim, uint32_t request, const std::vector<DevicePlace>& candidates,
               size_t next, int64_t wanted) const;

  // Whether each set of devices of a request need be tried in one order only.
  bool order_is_free() const { return order_is_free_; }

  // Devices of one class can be exchanged in any solution: when one of them has led to none, the
  // others need not be tried in its place. The class includes what has been taken of it.
  TriedClasses::Key ClassOf(const DevicePlace& place);

  // What the rest of the search depends on at the begin of a group, but for exchangeable devices.
  std::string StateAt(const Position& at);
  bool HasFailed(const std::string& state) const { return failed_.contains(state); }
  void SetFailed(std::string state);

 private:
  struct Reach {
    std::vector<DevicePlace> candidates;
    std::vector<uint32_t> errors;    // devices
    bool may_fail = false;           // taking devices may be an error
    std::vector<ExactAmount> least;  // of any candidate, by name of counter
  };
  // The requests that a group may still take devices for, and how many of them.
  struct Need {
    uint32_t claim = 0;
    const std::vector<uint32_t>* options = nullptr;
    int32_t option = -1;  // chosen
    int64_t number = 0;   // that it has
    DevicePlace start;
  };

  bool FillReach(uint32_t request);
  void FillLeast(uint32_t request);
  void IndexMatches(uint32_t claim);
  std::vector<Need> NeedsFrom(const Position& at) const;
  template <typename Predicate>
  static bool AnyOption(const Need& need, Predicate predicate);

  bool IsAvailable(const Need& need, uint32_t request, const DevicePlace& place, bool constrained);
  bool MayComplete(const Need& need, uint32_t request, bool constrained);
  bool HasEnough(const Need& need, uint32_t request, bool constrained, int64_t wanted);
  int64_t WantedOf(const Need& need, uint32_t request) const;
  // Counters of one name, over all pools, suffice for the least that all needs take.
  bool CountersSuffice(const std::vector<Need>& needs);
  // The needs can be met at once, as far as only their devices' being taken goes.
  bool CanAssign(const Position& at, const std::vector<Need>& needs);
  int64_t SlotsOf(uint32_t device, int64_t most);

  std::string ClassText(const DevicePlace& place);
  uint32_t ShareOf(uint32_t device);

  AllocationSearch& search_;
  std::vector<Reach> reach_;  // by request plan
  // By claim and constraint; null for those of distinctAttribute.
  std::vector<std::vector<std::unique_ptr<MatchIndex>>> matches_;
  bool order_is_free_ = true;
  std::vector<TextId> counter_names_;                // of all pools
  absl::flat_hash_map<uint32_t, uint32_t> classes_;  // by device
  absl::flat_hash_map<std::string, uint32_t> class_ids_;
  absl::flat_hash_map<std::string, uint32_t> share_ids_;
  absl::flat_hash_set<std::string> failed_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_BRANCH_PRUNER_H_
