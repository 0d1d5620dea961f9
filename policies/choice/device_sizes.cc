#include "policies/choice/device_sizes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "policies/choice/device_groups.h"

namespace drasim {
namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int64_t kMib = 1 << 20;

bool IsMemory(const std::string& name) {
  const size_t slash = name.rfind('/');
  return name.compare(slash == std::string::npos ? 0 : slash + 1, std::string::npos, "memory") == 0;
}

int64_t MibOf(const ExactAmount& nanos) {
  const ExactAmount mib = nanos / kNanos / kMib;
  return static_cast<int64_t>(
      std::clamp(mib, ExactAmount(0), ExactAmount(DeviceSize::kMostMemoryMib)));
}

}  // namespace

DeviceSizes::DeviceSizes(const ChoiceView& view) : view_(view) {
  const DeviceCatalog& catalog = view.catalog();
  std::set<uint32_t> seen;
  DevicePositions(view.node()).ForEach([&](const DevicePlace& place) {
    const uint32_t index = catalog.kinds()[catalog.devices()[place.device].kind].capacities;
    if (!seen.insert(index).second) return;
    for (const DeviceCapacityLimit& capacity : catalog.capacities(index)) {
      ExactAmount& largest = largest_[capacity.name];
      largest = std::max(largest, capacity.nanos);
      if (IsMemory(capacity.name)) {
        most_memory_mib_ = std::max(most_memory_mib_, MibOf(capacity.nanos));
      }
    }
  });
}

DeviceSize DeviceSizes::FreeOf(const DevicePlace& place) const {
  const DeviceCatalog& catalog = view_.catalog();
  const uint32_t index = catalog.kinds()[catalog.devices()[place.device].kind].capacities;
  const DeviceCapacities& capacities = catalog.capacities(index);
  const std::vector<ExactAmount>* const consumed = view_.use().ConsumedOf(place.device);
  DeviceSize size;
  size.rest = ShareOfCounters(view_.PoolOf(place), place.device);
  for (size_t i = 0; i < capacities.size(); ++i) {
    ExactAmount free = capacities[i].nanos;
    if (consumed != nullptr) free -= (*consumed)[i];
    if (free <= 0) continue;
    if (IsMemory(capacities[i].name)) {
      size.memory_mib += MibOf(free);
    } else {
      size.rest += static_cast<int64_t>(free * kWhole / largest_.at(capacities[i].name));
    }
  }
  return size;
}

}  // namespace drasim
