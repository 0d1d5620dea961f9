// DeviceTwins: devices of a node that can be exchanged in the choice among solutions.
//
// Devices without counters can be exchanged if neither the claims (SearchPruner::ClassOf) nor the
// policy (ChoiceMeasure::KeyOf) tell them apart. Devices that share counter sets, such as the
// partitions of a GPU, form a *part*. Two parts are twins if their devices, counters and amounts
// left are equal one by one; then their devices can be exchanged, all at once, as long as the same
// has been taken of both.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_TWINS_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_TWINS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/choice_policy.h"
#include "policies/allocator/search_pruner.h"
#include "policies/allocator/shared_answers.h"

namespace drasim {

class DeviceTwins {
 public:
  // All arguments outlive it. REQUIRES: the pruner is prepared; nothing is taken. O(devices of the
  // node).
  DeviceTwins(const ChoiceView& view, const ChoiceMeasure& measure, SearchPruner* pruner);

  // Devices with equal keys can be exchanged now.
  struct Key {
    uint32_t device_class = 0;
    uint32_t state = 0;
    uint32_t place = 0;
    uint64_t claims = 0;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Key& key) {
      return H::combine(std::move(hash), key.device_class, key.state, key.place, key.claims);
    }
  };
  Key KeyOf(const DevicePlace& place);

  void Take(const TakenDevice& device);
  void Undo(const TakenDevice& device);

 private:
  static constexpr uint32_t kNoPart = ~uint32_t{0};

  struct Part {
    uint32_t twin = 0;            // equal: the parts are twins
    std::vector<uint64_t> taken;  // of it, in order
  };
  void FindParts();
  uint32_t ClassOf(const DevicePlace& place, bool with_counters);

  const ChoiceView& view_;
  const ChoiceMeasure& measure_;
  SearchPruner& pruner_;
  ContentIds ids_;
  std::vector<Part> parts_;
  struct Member {
    uint32_t part = kNoPart;
    uint32_t place = 0;  // within the part
  };
  absl::flat_hash_map<uint32_t, Member> members_;  // by device; those without a part are left out
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_TWINS_H_
