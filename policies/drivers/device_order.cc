#include "policies/drivers/device_order.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/quantity.h"

namespace drasim {
namespace {

using proto::kube::Device;

absl::int128 CapacityNanos(const Device& device, const char* name) {
  const auto found = device.capacity().find(name);
  if (found == device.capacity().end()) return 0;
  const absl::StatusOr<Quantity> amount = Quantity::Parse(found->second.value());
  return amount.ok() ? amount->Nanos().value_or(0) : 0;
}

struct SizedDevice {
  absl::int128 memory;
  absl::int128 multiprocessors;
  Device device;
};

}  // namespace

absl::StatusOr<DeviceOrder> ParseDeviceOrder(absl::string_view name) {
  if (name.empty()) return DeviceOrder::kAsPublished;
  if (name == "name") return DeviceOrder::kName;
  if (name == "size") return DeviceOrder::kSize;
  if (name == "size-desc") return DeviceOrder::kSizeDesc;
  return KeyError("order",
                  absl::StrCat("found '", name, "', expected one of name, size, size-desc"));
}

void SortDevices(DeviceOrder order, proto::kube::ResourceSliceSpec* spec) {
  if (order == DeviceOrder::kAsPublished) return;
  auto* devices = spec->mutable_devices();
  if (order == DeviceOrder::kName) {
    std::stable_sort(devices->begin(), devices->end(),
                     [](const Device& a, const Device& b) { return a.name() < b.name(); });
    return;
  }
  std::vector<SizedDevice> sized;
  sized.reserve(static_cast<size_t>(devices->size()));
  for (Device& device : *devices) {
    const absl::int128 memory = CapacityNanos(device, "memory");
    const absl::int128 multiprocessors = CapacityNanos(device, "multiprocessors");
    sized.push_back({memory, multiprocessors, std::move(device)});
  }
  const bool descending = order == DeviceOrder::kSizeDesc;
  std::stable_sort(sized.begin(), sized.end(), [&](const SizedDevice& a, const SizedDevice& b) {
    const auto size_of = [](const SizedDevice& s) {
      return std::make_pair(s.memory, s.multiprocessors);
    };
    if (size_of(a) != size_of(b)) return (size_of(a) < size_of(b)) != descending;
    return a.device.name() < b.device.name();
  });
  for (size_t i = 0; i < sized.size(); ++i) {
    (*devices)[static_cast<int>(i)] = std::move(sized[i].device);
  }
}

}  // namespace drasim
