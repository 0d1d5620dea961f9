// Port of policies beyond upstream: which of all solutions on a node is the best, and which node.
//
// Upstream's allocator takes the first solution that it comes to. With a policy, ChoiceSearch goes
// through the others, too, and takes the one of least cost; of equal ones, the first in upstream's
// order. A node fits under a policy exactly if it fits without one. Alternatives of prioritised
// lists come first: no policy takes a later one where an earlier one can be had.
//
// A policy is a pair of files in policies/choice, and a line in choice_policies.cc.
#ifndef DRASIM_POLICIES_ALLOCATOR_CHOICE_POLICY_H_
#define DRASIM_POLICIES_ALLOCATOR_CHOICE_POLICY_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "policies/allocator/node_pools.h"
#include "policies/allocator/use_index.h"

namespace drasim {

class AllocationSearch;
class ClaimPlan;
struct TakenDevice;

// Less is better; compared from the left.
using ChoiceCost = std::array<int64_t, 3>;

// A policy's view: a node and its devices while claims are served. Valid as long as the
// measure that was made with it.
class ChoiceView {
 public:
  explicit ChoiceView(AllocationSearch* search) : search_(*search) {}

  DeviceCatalog& catalog() const;
  const NodeView& node() const;
  const UseIndex& use() const;  // what other claims hold
  const ClaimPlan& plan() const;
  const PoolView& PoolOf(const DevicePlace& place) const {
    return *node().segments[place.segment].pool;
  }
  // The amounts left of the pool's counters after what has been taken so far.
  const std::vector<ExactAmount>& Left(const PoolView& pool) const;
  // Whether any claim, or this attempt, has the device.
  bool IsTaken(uint32_t device) const;

 private:
  AllocationSearch& search_;
};

// The cost of devices on one node. It depends on the set of the devices that are taken, never on
// their order or on names.
class ChoiceMeasure {
 public:
  virtual ~ChoiceMeasure() = default;

  // A device has just been taken, and charged to its counters; the latest one was given back.
  virtual void Take(const TakenDevice& device) = 0;
  virtual void Undo(const TakenDevice& device) = 0;

  // The cost of what is taken now. REQUIRES: never falls when a device is taken.
  virtual ChoiceCost Cost() const = 0;

  // Compares nodes, by the solution that is taken now: less is better. Not negative;
  // ranks beyond kWorstChoiceRank count as that.
  virtual int64_t NodeRank() const = 0;

  // Devices without counters that the claims cannot tell apart, and with equal keys, cost the
  // same, whatever is taken beside them. Likewise, devices of two counter sets may be exchanged all
  // at once if their keys are equal one by one.
  virtual uint64_t KeyOf(const DevicePlace& place) const = 0;
};

class ChoicePolicy {
 public:
  virtual ~ChoicePolicy() = default;
  // Nothing is taken yet. The view outlives the measure.
  virtual std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CHOICE_POLICY_H_
