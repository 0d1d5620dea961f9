// DeviceSizes: how large the devices of a node are, as far as they are free.
#ifndef DRASIM_POLICIES_CHOICE_DEVICE_SIZES_H_
#define DRASIM_POLICIES_CHOICE_DEVICE_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

#include "policies/allocator/choice_policy.h"

namespace drasim {

struct DeviceSize {
  int64_t memory_mib = 0;  // capacity `memory`, in whichever domain; at most kMostMemoryMib
  // The other capacities, and its part of its GPU's counters: thousandths of the largest amount of
  // each name on the node, added up.
  int64_t rest = 0;

  static constexpr int64_t kMostMemoryMib = int64_t{1} << 36;
};

class DeviceSizes {
 public:
  // The view outlives it. O(devices of the node).
  explicit DeviceSizes(const ChoiceView& view);

  // The rest of the device beside claims other than those being served. O(capacities).
  DeviceSize FreeOf(const DevicePlace& place) const;
  // The largest of the node; at least 1.
  int64_t most_memory_mib() const { return most_memory_mib_; }

 private:
  const ChoiceView& view_;
  std::map<std::string, ExactAmount> largest_;  // by name of capacity
  int64_t most_memory_mib_ = 1;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_DEVICE_SIZES_H_
