#include "policies/choice/topology_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "policies/allocator/allocation_search.h"
#include "policies/allocator/shared_answers.h"
#include "policies/choice/device_attributes.h"
#include "policies/choice/device_groups.h"

namespace drasim {
namespace {

// Values of one attribute, sorted; empty: the device lacks it.
using Values = std::vector<int64_t>;

bool IsHit(const Values& values, const Values& chosen) {
  return std::any_of(values.begin(), values.end(), [&chosen](int64_t value) {
    return std::find(chosen.begin(), chosen.end(), value) != chosen.end();
  });
}

// The fewest further values with which every list has one of `chosen`, if less than `most`.
int64_t FewestMore(const std::vector<const Values*>& lists, size_t next, int64_t most,
                   Values* chosen) {
  while (next < lists.size() && IsHit(*lists[next], *chosen)) ++next;
  if (next == lists.size()) return 0;
  if (most <= 0) return 1;  // more than allowed
  for (const int64_t value : *lists[next]) {
    chosen->push_back(value);
    most = std::min(most, 1 + FewestMore(lists, next + 1, most - 1, chosen));
    chosen->pop_back();
  }
  return most;
}

// Number of values of one attribute that the taken devices need.
class DomainCount {
 public:
  DomainCount(const ChoiceView& view, const DevicePositions& positions, const char* attribute)
      : of_device_(positions.size()) {
    AttributeReader reader(view.catalog(), attribute);
    const DeviceColumns& columns = view.catalog().columns();
    std::map<Values, uint32_t> ids;
    positions.ForEach([&](const DevicePlace& place) {
      const DeviceValue value = reader.Of(place.device);
      Values values;
      if (DeviceColumns::ElementKind(value.kind) != DeviceValue::Kind::kNone) {
        const absl::Span<const int64_t> list = columns.list(value.bits);
        values.assign(list.begin(), list.end());
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
      } else if (value.kind != DeviceValue::Kind::kNone) {
        values.push_back(value.bits);
      }
      const auto [known, added] = ids.try_emplace(values, static_cast<uint32_t>(ids.size()));
      if (added) lists_.push_back({values, 0, 0});
      of_device_[positions.Of(place)] = known->second;
      if (!view.IsTaken(place.device)) ++lists_[known->second].free;
    });
  }

  uint32_t ListOf(size_t position) const { return of_device_[position]; }
  // Free devices with the same values, before anything was taken.
  int64_t FreeWith(size_t position) const { return lists_[of_device_[position]].free; }
  int64_t TakenWith(size_t position) const { return lists_[of_device_[position]].taken; }

  void Add(size_t position, int64_t sign) {
    List& list = lists_[of_device_[position]];
    const bool changes = sign > 0 ? list.taken == 0 : list.taken == 1;
    list.taken += sign;
    if (changes && !list.values.empty()) count_ = Count();
  }
  int64_t count() const { return count_; }

 private:
  struct List {
    Values values;
    int64_t free = 0;
    int64_t taken = 0;
  };

  int64_t Count() const {
    Values chosen;
    std::vector<const Values*> several;
    for (const List& list : lists_) {
      if (list.taken == 0 || list.values.empty()) continue;
      if (list.values.size() == 1) {
        chosen.push_back(list.values[0]);
      } else {
        several.push_back(&list.values);
      }
    }
    const auto single = static_cast<int64_t>(chosen.size());
    return single + FewestMore(several, 0, static_cast<int64_t>(several.size()), &chosen);
  }

  std::vector<uint32_t> of_device_;  // by position
  std::vector<List> lists_;
  int64_t count_ = 0;
};

class TopologyMeasure : public ChoiceMeasure {
 public:
  explicit TopologyMeasure(const ChoiceView& view)
      : positions_(view.node()),
        numa_nodes_(view, positions_, "resource.kubernetes.io/numaNode"),
        roots_(view, positions_, "resource.kubernetes.io/pcieRoot") {}

  void Take(const TakenDevice& device) override {
    const size_t position = positions_.Of({device.segment, device.device});
    if (numa_nodes_.TakenWith(position) == 0) free_ += numa_nodes_.FreeWith(position);
    numa_nodes_.Add(position, 1);
    roots_.Add(position, 1);
  }
  void Undo(const TakenDevice& device) override {
    const size_t position = positions_.Of({device.segment, device.device});
    roots_.Add(position, -1);
    numa_nodes_.Add(position, -1);
    if (numa_nodes_.TakenWith(position) == 0) free_ -= numa_nodes_.FreeWith(position);
  }
  ChoiceCost Cost() const override { return {numa_nodes_.count(), roots_.count(), free_}; }
  int64_t NodeRank() const override {
    constexpr int64_t kBelow = 100'000;
    return (numa_nodes_.count() * kBelow + roots_.count()) * kBelow + std::min(free_, kBelow - 1);
  }
  uint64_t KeyOf(const DevicePlace& place) const override {
    const size_t position = positions_.Of(place);
    return uint64_t{numa_nodes_.ListOf(position)} << 32 | roots_.ListOf(position);
  }

 private:
  DevicePositions positions_;
  DomainCount numa_nodes_;
  DomainCount roots_;
  int64_t free_ = 0;
};

class TopologyChoice : public ChoicePolicy {
 public:
  std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const override {
    return std::make_unique<TopologyMeasure>(view);
  }
};

}  // namespace

std::unique_ptr<ChoicePolicy> MakeTopologyChoice(const ChoicePolicyOptions&) {
  return std::make_unique<TopologyChoice>();
}

}  // namespace drasim
