// DeviceGroups: the devices of a node by the GPU that they are part of, and how much of each GPU is
// in use.
//
// A group is a counter set (GPUs with partitions), the devices of one pool with the same
// `parentUUID` (static MIG), or a device for itself.
#ifndef DRASIM_POLICIES_CHOICE_DEVICE_GROUPS_H_
#define DRASIM_POLICIES_CHOICE_DEVICE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/allocator/choice_policy.h"

namespace drasim {

// Shares are in thousandths.
inline constexpr int64_t kWhole = 1000;

// The devices of a node as dense numbers: the position of each in the order of the search.
class DevicePositions {
 public:
  explicit DevicePositions(const NodeView& node);  // outlives it
  size_t size() const { return size_; }
  size_t Of(const DevicePlace& place) const {
    return first_[place.segment] + (place.device - node_.segments[place.segment].begin);
  }
  // Calls `visit` with each place, in order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t s = 0; s < node_.segments.size(); ++s) {
      const DeviceSegment& segment = node_.segments[s];
      for (uint32_t device = segment.begin; device < segment.end; ++device) {
        visit(DevicePlace{s, device});
      }
    }
  }

 private:
  const NodeView& node_;
  std::vector<size_t> first_;  // by segment
  size_t size_ = 0;
};

class DeviceGroups {
 public:
  // Groups of the view as it is now. O(devices of the node).
  explicit DeviceGroups(const ChoiceView& view);

  const DevicePositions& positions() const { return positions_; }
  size_t size() const { return groups_.size(); }
  uint32_t Of(const DevicePlace& place) const { return group_of_[positions_.Of(place)]; }
  // The part of the group in use when this was made, over its counters, capacities or devices.
  int64_t used(uint32_t group) const { return groups_[group].used; }
  int64_t free(uint32_t group) const { return kWhole - groups_[group].used; }
  // The mean over all groups; 0 without any.
  int64_t NodeUsed() const { return node_used_; }
  // Equal for groups that a policy need not tell apart; see ChoiceMeasure::KeyOf. Members of one
  // parent are told from those of others, since nothing else says that they belong together.
  uint64_t KeyOf(uint32_t group) const;

 private:
  struct Group {
    int64_t used = 0;
    bool has_parent = false;
  };
  std::vector<Group> groups_;
  std::vector<uint32_t> group_of_;  // by position
  DevicePositions positions_;
  int64_t node_used_ = 0;
};

// The part of its GPU that a device of a pool with counters takes: the mean over the counters of
// the sets that it uses, in thousandths. 0 for a device without counters.
int64_t ShareOfCounters(const PoolView& pool, uint32_t device);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_DEVICE_GROUPS_H_
