#include "policies/choice/mig_fragmentation_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/shared_answers.h"
#include "policies/choice/device_attributes.h"
#include "policies/choice/device_groups.h"
#include "policies/choice/device_sizes.h"

namespace drasim {
namespace {

using Shares = std::map<std::string, int64_t>;  // of profiles in lower case, in thousandths

class FragmentationMeasure : public ChoiceMeasure {
 public:
  FragmentationMeasure(const ChoiceView& view, const Shares& shares)
      : view_(view), groups_(view), of_group_(groups_.size()) {
    FindDevices();
    Weigh(shares);
  }

  void Take(const TakenDevice& device) override {
    const DevicePlace place = {device.segment, device.device};
    const size_t position = groups_.positions().Of(place);
    if (of_group_[groups_.Of(place)]++ == 0) free_ += groups_.free(groups_.Of(place));
    marks_.push_back(lost_.size());
    Lose(position);
    if (!device.charged) return;
    const PoolView& pool = view_.PoolOf(place);
    uint32_t last = ~uint32_t{0};
    for (const CounterUse& use : pool.uses.at(device.device)) {
      const uint32_t set = pool.set_of_counter[use.counter];
      if (set == last) continue;
      last = set;
      for (const DevicePlace& other : of_set_.at({pool.id, set})) {
        if (!CanBeTaken(pool, other.device)) Lose(groups_.positions().Of(other));
      }
    }
  }

  void Undo(const TakenDevice& device) override {
    const DevicePlace place = {device.segment, device.device};
    if (--of_group_[groups_.Of(place)] == 0) free_ -= groups_.free(groups_.Of(place));
    for (; lost_.size() > marks_.back(); lost_.pop_back()) {
      available_[lost_.back()] = true;
      loss_ -= weights_[lost_.back()];
    }
    marks_.pop_back();
  }

  ChoiceCost Cost() const override { return {loss_, free_, 0}; }
  int64_t NodeRank() const override { return loss_ * kWhole + std::min(free_, kWhole - 1); }
  uint64_t KeyOf(const DevicePlace& place) const override {
    const size_t position = groups_.positions().Of(place);
    return keys_.IdOf({static_cast<uint64_t>(weights_[position]), available_[position] ? 1U : 0U,
                       groups_.KeyOf(groups_.Of(place))});
  }

 private:
  void FindDevices() {
    available_.resize(groups_.positions().size());
    groups_.positions().ForEach([&](const DevicePlace& place) {
      const PoolView& pool = view_.PoolOf(place);
      available_[groups_.positions().Of(place)] =
          !view_.use().IsDedicated(place.device) && CanBeTaken(pool, place.device);
      const auto uses = pool.uses.find(place.device);
      if (uses == pool.uses.end()) return;
      uint32_t last = ~uint32_t{0};
      for (const CounterUse& use : uses->second) {
        const uint32_t set = pool.set_of_counter[use.counter];
        if (set != last) of_set_[{pool.id, set}].push_back(place);
        last = set;
      }
    });
  }

  void Weigh(const Shares& shares) {
    AttributeReader profiles(view_.catalog(), "profile");
    const DeviceSizes sizes(view_);
    const DeviceTexts& texts = view_.catalog().columns().texts();
    struct Seen {
      bool profiles = false;  // some device of the group has a profile
      bool mix = false;       // and one that is part of the mix
    };
    std::vector<Seen> seen(groups_.size());
    std::vector<std::string> names(groups_.positions().size());
    groups_.positions().ForEach([&](const DevicePlace& place) {
      const DeviceValue value = profiles.Of(place.device);
      if (value.kind != DeviceValue::Kind::kString) return;
      std::string& name = names[groups_.positions().Of(place)];
      name = absl::AsciiStrToLower(texts.Text(TextId(static_cast<uint32_t>(value.bits))));
      Seen& group = seen[groups_.Of(place)];
      group.profiles = true;
      group.mix = group.mix || shares.count(name) > 0;
    });
    weights_.resize(groups_.positions().size());
    groups_.positions().ForEach([&](const DevicePlace& place) {
      const size_t position = groups_.positions().Of(place);
      const Seen& group = seen[groups_.Of(place)];
      int64_t size = ShareOfCounters(view_.PoolOf(place), place.device);
      if (size == 0) {
        const int64_t memory = sizes.FreeOf(place).memory_mib;
        size = memory == 0 ? kWhole : memory * kWhole / sizes.most_memory_mib();
      }
      int64_t share = kWhole;
      const std::string& name = names[position];
      if (group.mix) {
        const auto known = shares.find(name);
        share = known == shares.end() ? 0 : known->second;
      } else if (group.profiles && (name.empty() || name.find('+') != std::string::npos)) {
        share = 0;
      }
      weights_[position] = size * share;
    });
  }

  // As far as counters go.
  bool CanBeTaken(const PoolView& pool, uint32_t device) const {
    const auto uses = pool.uses.find(device);
    if (uses == pool.uses.end()) return true;
    const std::vector<ExactAmount>& left = view_.Left(pool);
    return std::all_of(uses->second.begin(), uses->second.end(),
                       [&left](const CounterUse& use) { return left[use.counter] >= use.amount; });
  }

  void Lose(size_t position) {
    if (!available_[position]) return;
    available_[position] = false;
    lost_.push_back(position);
    loss_ += weights_[position];
  }

  const ChoiceView& view_;
  DeviceGroups groups_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<DevicePlace>> of_set_;  // by pool and set
  std::vector<bool> available_;                                               // by position
  std::vector<int64_t> weights_;                                              // likewise
  std::vector<int32_t> of_group_;                                             // taken
  std::vector<size_t> lost_;   // positions, in the order in which they were lost
  std::vector<size_t> marks_;  // size of lost_ before each device
  mutable ContentIds keys_;
  int64_t loss_ = 0;
  int64_t free_ = 0;
};

class FragmentationChoice : public ChoicePolicy {
 public:
  explicit FragmentationChoice(const ChoicePolicyOptions& options) {
    int64_t sum = 0;
    for (const auto& [profile, amount] : options.mix) sum += amount;
    for (const auto& [profile, amount] : options.mix) {
      shares_[absl::AsciiStrToLower(profile)] += amount * kWhole / std::max<int64_t>(sum, 1);
    }
  }
  std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const override {
    return std::make_unique<FragmentationMeasure>(view, shares_);
  }

 private:
  Shares shares_;
};

}  // namespace

std::unique_ptr<ChoicePolicy> MakeMigFragmentationChoice(const ChoicePolicyOptions& options) {
  return std::make_unique<FragmentationChoice>(options);
}

}  // namespace drasim
