// AllocationSearch: devices of one node for planned claims, in upstream's order.
//
// Depth first over claims, requests, alternatives and devices; the first full solution counts.
// Source: allocateOne of k8s.io/dynamic-resource-allocation/structured/internal, release 0.37.2.
#ifndef DRASIM_POLICIES_ALLOCATOR_ALLOCATION_SEARCH_H_
#define DRASIM_POLICIES_ALLOCATOR_ALLOCATION_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/constraint_state.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/pool_state.h"
#include "policies/allocator/search_pruner.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/allocator/use_index.h"

namespace drasim {

struct TakenDevice {
  uint32_t claim = 0;
  uint32_t request = 0;  // request plan
  uint32_t device = 0;   // of the catalog
  uint32_t segment = 0;  // of the node
  uint32_t pool = 0;     // PoolView::id
  bool charged = false;  // to counters
  bool shared = false;
};

class BranchPruner;

class AllocationSearch {
 public:
  // All arguments outlive the search. `rules`: null for those of the pools.
  AllocationSearch(NodePools* pools, SelectorVerdicts* verdicts, const UseIndex* use,
                   ClaimPlan* plan, SearchPrunerMaker make_pruner,
                   const ReleaseRules* rules = nullptr);
  ~AllocationSearch();
  AllocationSearch(const AllocationSearch&) = delete;
  AllocationSearch& operator=(const AllocationSearch&) = delete;

  enum class Outcome : uint8_t { kFound, kNone, kError, kTooMany, kGaveUp };

  // Searches the node. kNone: no solution. kError: see error(). Never others. The state is as
  // before; taken() and chosen() tell about the solution until the next call.
  Outcome Run(const NodeView& node);

  const std::string& error() const { return error_; }
  int64_t steps() const { return steps_; }  // of the last Run
  // The solution, in the order in which devices were taken.
  const std::vector<TakenDevice>& taken() const { return solution_; }
  // The chosen alternative of a group: 0 unless it is prioritised.
  uint32_t chosen(uint32_t claim, uint32_t group) const { return chosen_[claim][group]; }

 private:
  Outcome Search(const NodeView& node);
  friend class BranchPruner;  // reads the state of the search
  friend class ChoiceSearch;  // goes on where the search has found a solution
  friend class ChoiceView;
  using Place = DevicePlace;
  using Position = SearchPosition;

  bool Prepare();
  // Whether the bugs of an older release let the answer depend on what was tried before.
  bool DependsOnTheWay() const;
  bool PrepareAll(uint32_t request);
  Outcome Step(const Position& at);
  // The same where branches are pruned.
  Outcome StepPruned(const Position& at);
  Outcome TakeGroup(const Position& at);
  Outcome TryOptions(const Position& at);
  Outcome TakeListed(const Position& at, uint32_t request);
  Outcome TakeAny(const Position& at, uint32_t request);
  Outcome TakePruned(const Position& at, uint32_t request);
  // Whether taking the device is charged to counters.
  bool Charges(const RequestPlan& request, uint32_t device) const;
  Outcome NextDevice(const Position& at, Place start, bool in_order);

  // An invalid pool that ends the attempt, if the search comes to it before this segment.
  bool MeetsInvalidPool(size_t segment);

  // kFound: taken. kNone: cannot be taken. `must`: a constraint that is not met is an error.
  Outcome Take(uint32_t claim, uint32_t request, Place place, bool must);
  bool IsInUse(uint32_t claim, const RequestPlan& request, uint32_t device) const;
  Outcome AddToConstraints(uint32_t claim, uint32_t request, uint32_t device, bool must);
  void RemoveFromConstraints(uint32_t claim, uint32_t request, size_t count);
  bool HasRoom(uint32_t request, uint32_t device) const;
  void Undo();
  // Gives a device back after the constraints, or its lack of room, ruled it out.
  void GiveUp(uint32_t claim, uint32_t request, const TakenDevice& device, bool lacks_room);
  // Forgets what devices that were given up have kept.
  void ForgetLeftovers();

  const ConstraintValue* ValueFor(uint32_t claim, size_t constraint, uint32_t request,
                                  uint32_t device);
  absl::StatusOr<ConstraintValue> FindValue(const std::string& attribute, uint32_t request,
                                            uint32_t device);
  PoolState& StateOf(const PoolView& pool);
  std::string DeviceText(uint32_t device) const;
  Outcome Fail(std::string error);

  NodePools* pools_;
  const DeviceCatalog& catalog_;
  const AllocatorOptions& options_;
  const ReleaseRules& rules_;
  SelectorVerdicts* verdicts_;
  const UseIndex* use_;
  ClaimPlan* plan_;

  const NodeView* node_ = nullptr;
  SearchPrunerMaker make_pruner_;
  std::unique_ptr<SearchPruner> pruner_;  // null: the search is exhaustive
  bool has_failed_ = false;               // a device was tried in vain, with pruning
  int64_t budget_ = 0;                    // of steps
  bool has_leftovers_ = false;
  std::string error_;
  int64_t steps_ = 0;
  uint64_t tried_ = 0;                      // devices, of the last Run
  std::vector<std::vector<Place>> listed_;  // by request plan, of mode All
  std::vector<TakenDevice> taken_;
  std::vector<TakenDevice> solution_;
  std::vector<int64_t> taken_of_claim_;
  std::vector<std::vector<uint32_t>> chosen_;
  std::vector<uint64_t> claims_of_device_;  // bits of claims that took the device alone
  // Shares taken in this attempt, by device.
  struct Shares {
    int64_t count = 0;
    int64_t paid = 0;  // of them, those that were charged to counters
    std::vector<ExactAmount> amounts;
  };
  absl::flat_hash_map<uint32_t, Shares> shares_;
  std::vector<std::unique_ptr<PoolState>> pool_states_;    // by PoolView::id
  std::vector<std::vector<ConstraintState>> constraints_;  // by claim
  // By claim and constraint: values by request (if it derives attributes) and kind.
  using Values = absl::flat_hash_map<uint64_t, std::unique_ptr<ConstraintValue>>;
  std::vector<std::vector<Values>> values_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ALLOCATION_SEARCH_H_
