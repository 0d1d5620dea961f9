#include "policies/choice/best_fit_choice.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "policies/allocator/allocation_search.h"
#include "policies/allocator/shared_answers.h"
#include "policies/choice/device_groups.h"
#include "policies/choice/device_sizes.h"

namespace drasim {
namespace {

class BestFitMeasure : public ChoiceMeasure {
 public:
  explicit BestFitMeasure(const ChoiceView& view)
      : groups_(view),
        sizes_(view),
        known_(groups_.positions().size()),
        of_device_(groups_.positions().size()),
        of_group_(groups_.size()) {}

  void Take(const TakenDevice& device) override { Change({device.segment, device.device}, 1); }
  void Undo(const TakenDevice& device) override { Change({device.segment, device.device}, -1); }
  ChoiceCost Cost() const override { return {memory_mib_, rest_, free_}; }
  int64_t NodeRank() const override {
    // Where memory does not decide, the rest does: at most a thousandth of a MiB.
    return memory_mib_ * kWhole + std::min(free_, kWhole - 1);
  }
  uint64_t KeyOf(const DevicePlace& place) const override {
    const DeviceSize size = SizeOf(place);
    return keys_.IdOf({static_cast<uint64_t>(size.memory_mib), static_cast<uint64_t>(size.rest),
                       groups_.KeyOf(groups_.Of(place))});
  }

 private:
  const DeviceSize& SizeOf(const DevicePlace& place) const {
    std::optional<DeviceSize>& known = known_[groups_.positions().Of(place)];
    if (!known.has_value()) known = sizes_.FreeOf(place);
    return *known;
  }
  // Shares of one device count once, and so do devices of one GPU.
  void Change(const DevicePlace& place, int64_t sign) {
    int32_t& device = of_device_[groups_.positions().Of(place)];
    if (sign < 0) --device;
    if (device == 0) {
      const DeviceSize& size = SizeOf(place);
      memory_mib_ += sign * size.memory_mib;
      rest_ += sign * size.rest;
    }
    if (sign > 0) ++device;
    int32_t& group = of_group_[groups_.Of(place)];
    if (sign < 0) --group;
    if (group == 0) free_ += sign * groups_.free(groups_.Of(place));
    if (sign > 0) ++group;
  }

  DeviceGroups groups_;
  DeviceSizes sizes_;
  mutable std::vector<std::optional<DeviceSize>> known_;  // by position
  mutable ContentIds keys_;
  std::vector<int32_t> of_device_;  // taken, by position
  std::vector<int32_t> of_group_;
  int64_t memory_mib_ = 0;
  int64_t rest_ = 0;
  int64_t free_ = 0;
};

class BestFitChoice : public ChoicePolicy {
 public:
  std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const override {
    return std::make_unique<BestFitMeasure>(view);
  }
};

}  // namespace

std::unique_ptr<ChoicePolicy> MakeBestFitChoice(const ChoicePolicyOptions&) {
  return std::make_unique<BestFitChoice>();
}

}  // namespace drasim
