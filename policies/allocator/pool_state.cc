#include "policies/allocator/pool_state.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "model/check.h"

namespace drasim {

PoolState::PoolState(const PoolView& view, const UseIndex& use, const ReleaseRules& rules)
    : view_(&view), left_(view.counters) {
  if (!view.group_uses.empty()) groups_.resize(view.counter_sets);
  for (const uint32_t device : view.consumers) {
    if (!(rules.held_shares_are_charged ? use.IsHeld(device) : use.IsDedicated(device))) continue;
    for (const CounterUse& charged : view.uses.at(device)) left_[charged.counter] -= charged.amount;
    const auto groups = view.group_uses.find(device);
    if (groups == view.group_uses.end()) continue;
    for (const GroupUse& group : groups->second) Narrow(group, &groups_[group.set]);
  }
  overdrawn_ =
      std::any_of(left_.begin(), left_.end(), [](const ExactAmount& amount) { return amount < 0; });
}

bool PoolState::SliceSuffices(uint32_t slice) const {
  for (size_t i = 0; i < left_.size(); ++i) {
    if (view_->counter_slices[i] == slice && left_[i] < 0) return false;
  }
  return true;
}

bool PoolState::Suffices(const std::vector<CounterUse>& uses) const {
  if (!view_->counter_slices.empty() && !uses.empty()) {
    return SliceSuffices(view_->counter_slices[uses[0].counter]);
  }
  // Upstream looks at all counters of the pool. Those that the device does not touch were in order
  // when the one before it was charged, unless they never were.
  if (overdrawn_) {
    return std::none_of(left_.begin(), left_.end(),
                        [](const ExactAmount& amount) { return amount < 0; });
  }
  return std::all_of(uses.begin(), uses.end(),
                     [this](const CounterUse& use) { return left_[use.counter] >= 0; });
}

bool PoolState::Admits(const CommonGroups& common, const GroupUse& use) {
  if (!common.has_devices) return true;
  if (use.groups.empty() || common.none) return use.groups.empty() && common.none;
  return std::any_of(use.groups.begin(), use.groups.end(), [&common](const TextId group) {
    return std::binary_search(common.groups.begin(), common.groups.end(), group);
  });
}

void PoolState::Narrow(const GroupUse& use, CommonGroups* common) {
  if (!common->has_devices) {
    *common = {true, use.groups.empty(), use.groups};
    return;
  }
  if (common->none || use.groups.empty()) return;
  std::vector<TextId> both;
  std::set_intersection(common->groups.begin(), common->groups.end(), use.groups.begin(),
                        use.groups.end(), std::back_inserter(both));
  common->groups = std::move(both);
}

bool PoolState::Charge(uint32_t device) {
  const std::vector<CounterUse>& uses = view_->uses.at(device);
  const std::vector<GroupUse>* groups = nullptr;
  if (!groups_.empty()) {
    groups = &view_->group_uses.at(device);
    const bool admits = std::all_of(groups->begin(), groups->end(), [this](const GroupUse& use) {
      return Admits(groups_[use.set], use);
    });
    if (!admits) return false;
  }
  for (const CounterUse& use : uses) left_[use.counter] -= use.amount;
  if (!Suffices(uses)) {
    for (const CounterUse& use : uses) left_[use.counter] += use.amount;
    return false;
  }
  if (groups == nullptr) return true;
  for (const GroupUse& use : *groups) {
    history_.push_back(groups_[use.set]);
    Narrow(use, &groups_[use.set]);
  }
  return true;
}

bool PoolState::MayCharge(uint32_t device) const {
  // Where a counter is negative to begin with, only a charge tells what is left.
  if (overdrawn_) return true;
  const std::vector<CounterUse>& uses = view_->uses.at(device);
  const bool suffices = std::all_of(uses.begin(), uses.end(), [this](const CounterUse& use) {
    return left_[use.counter] >= use.amount;
  });
  if (!suffices || groups_.empty()) return suffices;
  const std::vector<GroupUse>& groups = view_->group_uses.at(device);
  return std::all_of(groups.begin(), groups.end(),
                     [this](const GroupUse& use) { return Admits(groups_[use.set], use); });
}

void PoolState::Discharge(uint32_t device) {
  for (const CounterUse& use : view_->uses.at(device)) left_[use.counter] += use.amount;
  if (groups_.empty()) return;
  const std::vector<GroupUse>& groups = view_->group_uses.at(device);
  for (size_t i = groups.size(); i-- > 0;) {
    DRASIM_CHECK(!history_.empty());
    groups_[groups[i].set] = std::move(history_.back());
    history_.pop_back();
  }
}

}  // namespace drasim
