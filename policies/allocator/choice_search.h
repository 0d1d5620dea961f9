// ChoiceSearch: the best of all solutions on a node, by a policy's measure (ChoicePolicy).
//
// It begins where AllocationSearch has found the first solution, and replaces it. Branch and bound
// over the same decisions in the same order, with the same rules. A branch is left out when
//
// - its cost is not less than that of the best solution so far, or exceeds that of a solution found
//   by taking the cheapest device each time;
// - it has no solution (SearchPruner), once the search has become long;
// - an exchangeable device has been tried at the same place. Devices that use different counters,
//   but in the same way (two GPUs with the same partitions left), can be exchanged, too.
//
// A device whose sight is an error is no candidate: there is a solution without it.
#ifndef DRASIM_POLICIES_ALLOCATOR_CHOICE_SEARCH_H_
#define DRASIM_POLICIES_ALLOCATOR_CHOICE_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/choice.h"
#include "policies/allocator/choice_policy.h"
#include "policies/allocator/device_twins.h"
#include "policies/allocator/search_pruner.h"

namespace drasim {

// The order of solutions, first of all by the chosen alternatives of prioritised lists.
struct SolutionCost {
  int64_t alternatives = 0;  // places of the chosen ones, added up
  ChoiceCost cost = {};
  friend auto operator<=>(const SolutionCost&, const SolutionCost&) = default;
};

struct ChoiceSolution {
  SolutionCost cost;
  int64_t rank = kWorstChoiceRank;  // unless a measure knows the solution
  std::vector<TakenDevice> taken;
  std::vector<std::vector<uint32_t>> chosen;
};

class ChoiceSearch {
 public:
  // All arguments outlive it. `budget`: how many devices may be tried on a node.
  ChoiceSearch(AllocationSearch* search, const ChoicePolicy* policy, int64_t budget)
      : search_(*search), policy_(*policy), budget_(budget), view_(search) {}

  // REQUIRES: `found` has just found a solution on this node for the same claims. It may be the
  // search itself, whose taken() and chosen() afterwards tell about the best solution.
  Choice Run(const NodeView& node, const AllocationSearch& found);

 private:
  using Position = SearchPosition;

  void Begin();
  const std::vector<DevicePlace>& CandidatesOf(uint32_t request);
  // Takes the device and measures it. False: it cannot be taken, or the budget is exhausted.
  bool Take(const Position& at, uint32_t request, const DevicePlace& place, bool must);
  void Undo();
  SolutionCost Cost() const { return {alternatives_, measure_->Cost()}; }
  void Keep(std::optional<ChoiceSolution>* solution) const;

  // Takes a solution again, to learn its cost. False: the rules of this search forbid it.
  bool Replay(ChoiceSolution* solution);
  // Takes the cheapest device each time. False: that leads nowhere.
  bool Descend(const Position& at);
  bool DescendAny(const Position& at, uint32_t request);
  // All solutions from here on that may be better than the best one.
  void Step(const Position& at);
  void TakeListed(const Position& at, uint32_t request);
  void TakeAny(const Position& at, uint32_t request);
  bool MayBeBetter() const;
  Position NextGroup(const Position& at) const;
  Position NextDevice(const Position& at, const DevicePlace& place) const;
  int64_t CountOf(uint32_t request) const;
  uint32_t RequestAt(const Position& at) const;
  // Whether any solution has more than one device.
  bool HasSeveralDevices() const;

  AllocationSearch& search_;
  const ChoicePolicy& policy_;
  int64_t budget_;
  ChoiceView view_;

  // State of one run.
  std::unique_ptr<ChoiceMeasure> measure_;
  std::unique_ptr<SearchPruner> pruner_;  // null: nothing is known to be exchangeable
  std::unique_ptr<DeviceTwins> twins_;    // null: no two devices are taken
  bool in_order_ = true;                  // each set of a request is tried in one order
  std::vector<std::optional<std::vector<DevicePlace>>> candidates_;  // by request plan
  int64_t alternatives_ = 0;
  std::vector<std::vector<uint32_t>> chosen_;
  std::optional<ChoiceSolution> best_;
  std::optional<ChoiceSolution> descended_;  // found by Descend: a bound
  Choice choice_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CHOICE_SEARCH_H_
