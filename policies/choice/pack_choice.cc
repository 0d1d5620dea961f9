#include "policies/choice/pack_choice.h"

#include <cstdint>
#include <vector>

#include "policies/allocator/allocation_search.h"
#include "policies/choice/device_groups.h"

namespace drasim {
namespace {

// Devices by their GPUs, and how many this attempt takes of each.
class GroupMeasure : public ChoiceMeasure {
 public:
  explicit GroupMeasure(const ChoiceView& view) : groups_(view), taken_(groups_.size()) {}

  void Take(const TakenDevice& device) override {
    const uint32_t group = groups_.Of({device.segment, device.device});
    Change(group, taken_[group]++, 1);
  }
  void Undo(const TakenDevice& device) override {
    const uint32_t group = groups_.Of({device.segment, device.device});
    Change(group, --taken_[group], -1);
  }
  uint64_t KeyOf(const DevicePlace& place) const override {
    return groups_.KeyOf(groups_.Of(place));
  }

 protected:
  // Adds `sign` times what one more device of the group costs when `before` have been taken.
  virtual void Change(uint32_t group, int64_t before, int64_t sign) = 0;
  const DeviceGroups& groups() const { return groups_; }

 private:
  DeviceGroups groups_;
  std::vector<int64_t> taken_;  // by group
};

class PackMeasure : public GroupMeasure {
 public:
  using GroupMeasure::GroupMeasure;
  ChoiceCost Cost() const override { return {opened_, free_, 0}; }
  int64_t NodeRank() const override {
    return opened_ * (kWhole + 1) + kWhole - groups().NodeUsed();
  }

 protected:
  void Change(uint32_t group, int64_t before, int64_t sign) override {
    if (before > 0) return;
    if (groups().used(group) == 0) opened_ += sign;
    free_ += sign * groups().free(group);
  }

 private:
  int64_t opened_ = 0;
  int64_t free_ = 0;
};

class SpreadMeasure : public GroupMeasure {
 public:
  using GroupMeasure::GroupMeasure;
  ChoiceCost Cost() const override { return {load_, 0, 0}; }
  int64_t NodeRank() const override { return load_ * (kWhole + 1) + groups().NodeUsed(); }

 protected:
  void Change(uint32_t group, int64_t before, int64_t sign) override {
    load_ += sign * (groups().used(group) + kWhole * before);
  }

 private:
  int64_t load_ = 0;
};

template <typename Measured>
class GroupPolicy : public ChoicePolicy {
 public:
  std::unique_ptr<ChoiceMeasure> Measure(const ChoiceView& view) const override {
    return std::make_unique<Measured>(view);
  }
};

}  // namespace

std::unique_ptr<ChoicePolicy> MakePackChoice(const ChoicePolicyOptions&) {
  return std::make_unique<GroupPolicy<PackMeasure>>();
}

std::unique_ptr<ChoicePolicy> MakeSpreadChoice(const ChoicePolicyOptions&) {
  return std::make_unique<GroupPolicy<SpreadMeasure>>();
}

}  // namespace drasim
