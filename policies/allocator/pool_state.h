// PoolState: counters and compatibility groups of a pool while devices are tried.
#ifndef DRASIM_POLICIES_ALLOCATOR_POOL_STATE_H_
#define DRASIM_POLICIES_ALLOCATOR_POOL_STATE_H_

#include <cstdint>
#include <vector>

#include "policies/allocator/node_pools.h"
#include "policies/allocator/release_rules.h"
#include "policies/allocator/use_index.h"

namespace drasim {

// The groups that all devices on a counter set have in common.
struct CommonGroups {
  bool has_devices = false;
  bool none = false;           // no device has groups: others with groups must stay away
  std::vector<TextId> groups;  // sorted
};

class PoolState {
 public:
  // Counters less what held devices consume, according to the present slices.
  PoolState(const PoolView& view, const UseIndex& use, const ReleaseRules& rules = {});

  // Charges a device that is about to be taken, unless a counter of the pool would not suffice or
  // the groups do not allow it. False leaves everything as it was. O(counters of the device).
  bool Charge(uint32_t device);
  // False only if Charge would fail. O(counters of the device).
  bool MayCharge(uint32_t device) const;
  // Undoes the last Charge, which was this device's.
  void Discharge(uint32_t device);

  // The amounts left, by counter.
  const std::vector<ExactAmount>& left() const { return left_; }

 private:
  bool Suffices(const std::vector<CounterUse>& uses) const;
  // The same where counters belong to a slice: only those of the device's slice count.
  bool SliceSuffices(uint32_t slice) const;
  static bool Admits(const CommonGroups& common, const GroupUse& use);
  static void Narrow(const GroupUse& use, CommonGroups* common);

  const PoolView* view_;
  std::vector<ExactAmount> left_;
  bool overdrawn_ = false;             // a counter is negative before anything is charged
  std::vector<CommonGroups> groups_;   // by counter set; empty unless the view has groups
  std::vector<CommonGroups> history_;  // what Charge replaced
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_POOL_STATE_H_
