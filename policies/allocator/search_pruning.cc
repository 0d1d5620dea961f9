#include "policies/allocator/search_pruning.h"

#include <algorithm>

namespace drasim {

void CounterBound::Add(const PoolView& pool, const PoolState* state, uint32_t device) {
  if (state == nullptr || pool.uses.at(device).empty()) {
    ++uncharged_;
    return;
  }
  const std::vector<CounterUse>& uses = pool.uses.at(device);
  Group& group = groups_[{pool.id, uses[0].counter}];
  group.state = state;
  if (++group.devices == 1) {
    group.least = uses;
    return;
  }
  std::vector<CounterUse> common;
  for (const CounterUse& known : group.least) {
    for (const CounterUse& use : uses) {
      if (use.counter != known.counter) continue;
      common.push_back({known.counter, std::min(known.amount, use.amount)});
    }
  }
  group.least = std::move(common);
}

int64_t CounterBound::most() const {
  int64_t sum = uncharged_;
  for (const auto& [key, group] : groups_) {
    ExactAmount most = group.devices;
    for (const CounterUse& use : group.least) {
      if (use.amount <= 0) continue;
      const ExactAmount left = group.state->left()[use.counter];
      most = std::min(most, left < 0 ? ExactAmount(0) : left / use.amount);
    }
    sum += static_cast<int64_t>(most);
  }
  return sum;
}

}  // namespace drasim
