#include "policies/choice/device_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "policies/choice/device_attributes.h"

namespace drasim {
namespace {

// The used part of `total`, from 0 to kWhole.
int64_t UsedPart(const ExactAmount& total, const ExactAmount& left) {
  if (left <= 0) return kWhole;
  if (left >= total) return 0;
  return static_cast<int64_t>((total - left) * kWhole / total);
}

int64_t UsedOfDevice(const ChoiceView& view, uint32_t device) {
  if (view.use().IsDedicated(device)) return kWhole;
  const std::vector<ExactAmount>* const consumed = view.use().ConsumedOf(device);
  if (consumed == nullptr) return 0;
  const DeviceCatalog& catalog = view.catalog();
  const DeviceKind& kind = catalog.kinds()[catalog.devices()[device].kind];
  const DeviceCapacities& capacities = catalog.capacities(kind.capacities);
  int64_t sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i].nanos <= 0) continue;
    sum += UsedPart(capacities[i].nanos, capacities[i].nanos - (*consumed)[i]);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

DevicePositions::DevicePositions(const NodeView& node) : node_(node) {
  for (const DeviceSegment& segment : node.segments) {
    first_.push_back(size_);
    size_ += segment.end - segment.begin;
  }
}

DeviceGroups::DeviceGroups(const ChoiceView& view) : positions_(view.node()) {
  AttributeReader parents(view.catalog(), "parentUUID");
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> of_set;    // by pool and counter set
  std::map<std::pair<uint32_t, int64_t>, uint32_t> of_parent;  // by pool and value
  std::vector<int64_t> counts;                                 // what Group::used is a sum of
  group_of_.reserve(positions_.size());
  const auto number = [this] { return static_cast<uint32_t>(groups_.size()); };
  positions_.ForEach([&](const DevicePlace& place) {
    const PoolView& pool = view.PoolOf(place);
    const auto uses = pool.uses.find(place.device);
    if (uses != pool.uses.end() && !uses->second.empty()) {
      const uint32_t set = pool.set_of_counter[uses->second[0].counter];
      const auto [known, added] = of_set.try_emplace({pool.id, set}, number());
      group_of_.push_back(known->second);
      if (!added) return;
      groups_.emplace_back();
      counts.push_back(0);
      const std::vector<ExactAmount>& left = view.Left(pool);
      for (size_t c = 0; c < left.size(); ++c) {
        if (pool.set_of_counter[c] != set || pool.counters[c] <= 0) continue;
        groups_.back().used += UsedPart(pool.counters[c], left[c]);
        ++counts.back();
      }
      return;
    }
    const DeviceValue parent = parents.Of(place.device);
    uint32_t group = number();
    if (parent.kind != DeviceValue::Kind::kNone) {
      group = of_parent.try_emplace({pool.id, parent.bits}, group).first->second;
    }
    if (group == number()) {
      groups_.push_back({0, parent.kind != DeviceValue::Kind::kNone});
      counts.push_back(0);
    }
    group_of_.push_back(group);
    groups_[group].used += UsedOfDevice(view, place.device);
    ++counts[group];
  });
  int64_t sum = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].used /= std::max<int64_t>(counts[g], 1);
    sum += groups_[g].used;
  }
  if (!groups_.empty()) node_used_ = sum / static_cast<int64_t>(groups_.size());
}

uint64_t DeviceGroups::KeyOf(uint32_t group) const {
  const uint64_t own = groups_[group].has_parent ? group + 1 : 0;
  return own << 32 | static_cast<uint64_t>(groups_[group].used);
}

int64_t ShareOfCounters(const PoolView& pool, uint32_t device) {
  const auto uses = pool.uses.find(device);
  if (uses == pool.uses.end() || uses->second.empty()) return 0;
  int64_t sum = 0;
  std::vector<uint32_t> sets;
  for (const CounterUse& use : uses->second) {
    const ExactAmount total = pool.counters[use.counter];
    if (total > 0) sum += UsedPart(total, total - use.amount);
    const uint32_t set = pool.set_of_counter[use.counter];
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }
  int64_t counters = 0;
  for (size_t c = 0; c < pool.counters.size(); ++c) {
    const bool counts = std::find(sets.begin(), sets.end(), pool.set_of_counter[c]) != sets.end();
    if (counts && pool.counters[c] > 0) ++counters;
  }
  return sum / std::max<int64_t>(counters, 1);
}

}  // namespace drasim
