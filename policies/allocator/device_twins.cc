#include "policies/allocator/device_twins.h"

#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "absl/numeric/int128.h"
#include "model/check.h"

namespace drasim {
namespace {

// The first word of a content, so that contents of different forms never equal one another.
enum TwinForm : uint64_t { kTwinClass, kTwinPart, kTwinTaken };

void AppendWords(const ExactAmount& amount, std::vector<uint64_t>* content) {
  content->push_back(static_cast<uint64_t>(absl::Int128High64(amount)));
  content->push_back(absl::Int128Low64(amount));
}

// Disjoint sets of numbers.
class Sets {
 public:
  explicit Sets(size_t size) : parents_(size) { std::iota(parents_.begin(), parents_.end(), 0U); }
  uint32_t Find(uint32_t number) {
    while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
    return number;
  }
  void Join(uint32_t left, uint32_t right) { parents_[Find(left)] = Find(right); }

 private:
  std::vector<uint32_t> parents_;
};

// Whether counters alone, each for itself, decide about devices of the pool.
bool HasPlainCounters(const PoolView& pool) {
  return !pool.counters.empty() && pool.counter_slices.empty() && pool.group_uses.empty();
}

uint64_t TakenWord(uint32_t place, const TakenDevice& device) {
  return uint64_t{place} << 32 | device.request;
}

}  // namespace

DeviceTwins::DeviceTwins(const ChoiceView& view, const ChoiceMeasure& measure, SearchPruner* pruner)
    : view_(view), measure_(measure), pruner_(*pruner) {
  FindParts();
}

uint32_t DeviceTwins::ClassOf(const DevicePlace& place, bool with_counters) {
  const uint32_t seen =
      with_counters ? pruner_.ClassOf(place).device_class : pruner_.ClassBesideCounters(place);
  return ids_.IdOf({kTwinClass, with_counters ? 1U : 0U, seen, measure_.KeyOf(place)});
}

void DeviceTwins::FindParts() {
  const NodeView& node = view_.node();
  std::map<const PoolView*, Sets> sets;
  for (const PoolView* pool : node.pools) {
    if (!HasPlainCounters(*pool)) continue;
    Sets& of = sets.try_emplace(pool, pool->counters.size()).first->second;
    for (uint32_t counter = 1; counter < pool->counters.size(); ++counter) {
      if (pool->set_of_counter[counter] == pool->set_of_counter[counter - 1]) {
        of.Join(counter, counter - 1);
      }
    }
    for (const auto& device : pool->consumers) {
      const std::vector<CounterUse>& uses = pool->uses.at(device);
      for (const CounterUse& use : uses) of.Join(uses[0].counter, use.counter);
    }
  }
  // Devices of a part in the order of the search.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<DevicePlace>> devices;  // by pool and root
  for (uint32_t s = 0; s < node.segments.size(); ++s) {
    const DeviceSegment& segment = node.segments[s];
    const auto known = sets.find(segment.pool);
    if (known == sets.end()) continue;
    for (uint32_t device = segment.begin; device < segment.end; ++device) {
      const auto uses = segment.pool->uses.find(device);
      if (uses == segment.pool->uses.end() || uses->second.empty()) continue;
      const uint32_t root = known->second.Find(uses->second[0].counter);
      devices[{segment.pool->id, root}].push_back({s, device});
    }
  }
  for (const auto& [key, places] : devices) {
    const PoolView& pool = view_.PoolOf(places[0]);
    std::map<uint32_t, uint64_t> numbers;  // of counters, within the part
    for (const DevicePlace& place : places) {
      for (const CounterUse& use : pool.uses.at(place.device)) numbers.try_emplace(use.counter, 0);
    }
    const std::vector<ExactAmount>& left = view_.Left(pool);
    std::vector<uint64_t> content = {kTwinPart, places.size(), numbers.size()};
    uint64_t number = 0;
    for (auto& [counter, its] : numbers) {
      its = number++;
      AppendWords(left[counter], &content);
    }
    const auto part = static_cast<uint32_t>(parts_.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const std::vector<CounterUse>& uses = pool.uses.at(places[i].device);
      content.push_back(ClassOf(places[i], /*with_counters=*/false));
      content.push_back(uses.size());
      for (const CounterUse& use : uses) {
        content.push_back(numbers[use.counter]);
        AppendWords(use.amount, &content);
      }
      members_[places[i].device] = {part, static_cast<uint32_t>(i)};
    }
    parts_.push_back({ids_.IdOf(std::move(content)), {kTwinTaken}});
  }
}

DeviceTwins::Key DeviceTwins::KeyOf(const DevicePlace& place) {
  const auto member = members_.find(place.device);
  if (member != members_.end()) {
    const Part& part = parts_[member->second.part];
    return {part.twin, ids_.IdOf(part.taken), member->second.place, 0};
  }
  const TriedClasses::Key seen = pruner_.ClassOf(place);
  return {ClassOf(place, /*with_counters=*/true), seen.shares, ~uint32_t{0}, seen.claims};
}

void DeviceTwins::Take(const TakenDevice& device) {
  const auto member = members_.find(device.device);
  if (member == members_.end()) return;
  parts_[member->second.part].taken.push_back(TakenWord(member->second.place, device));
}

void DeviceTwins::Undo(const TakenDevice& device) {
  const auto member = members_.find(device.device);
  if (member == members_.end()) return;
  std::vector<uint64_t>& taken = parts_[member->second.part].taken;
  DRASIM_CHECK_EQ(taken.back(), TakenWord(member->second.place, device));
  taken.pop_back();
}

}  // namespace drasim
