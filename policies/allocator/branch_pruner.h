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
#include "policies/allocator/search_pruner.h"
#include "policies/allocator/search_pruning.h"

namespace drasim {

class BranchPruner : public SearchPruner {
 public:
  using Position = SearchPosition;

  // The search outlives it.
  explicit BranchPruner(AllocationSearch* search) : search_(*search) {}

  bool Prepare() override;
  bool IsSafe(uint32_t claim, uint32_t request) const override;
  bool IsSafeFrom(const Position& at) const override;
  bool CannotComplete(const Position& at, bool jointly) override;
  const std::vector<DevicePlace>& CandidatesNow(uint32_t claim, uint32_t request) const override;
  bool MayMatch(uint32_t claim, uint32_t request, uint32_t device) override;
  bool HasFree(uint32_t claim, uint32_t request, const std::vector<DevicePlace>& candidates,
               size_t next, int64_t wanted) const override;
  bool order_is_free() const override { return order_is_free_; }
  TriedClasses::Key ClassOf(const DevicePlace& place) override;
  uint32_t ClassBesideCounters(const DevicePlace& place) override;
  std::string StateAt(const Position& at) override;
  bool HasFailed(const std::string& state) const override { return failed_.contains(state); }
  void SetFailed(std::string state) override;

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
  void AppendCounters(const DevicePlace& place, std::string* text) const;
  uint32_t ClassId(const std::string& text);
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
