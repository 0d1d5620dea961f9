#include "sim/dra/structured/allocation_grants.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/device_inventory.h"
#include "model/quantity.h"

namespace drasim {
namespace {

// The device's whole capacity of that name.
std::optional<Quantity> CapacityOf(const DeviceColumns& columns, DeviceRow row,
                                   absl::string_view name) {
  const TextId id = columns.texts().Find(name);
  if (!id.valid()) return std::nullopt;
  const int slot = columns.CapacitySlot(columns.layout(row), columns.driver(row), id);
  if (slot < 0) return std::nullopt;
  const DeviceValue value = columns.values(row)[static_cast<size_t>(slot)];
  if (value.kind != DeviceValue::Kind::kQuantity) return std::nullopt;
  return columns.quantity(value.bits);
}

// Thousandths of the device that the result consumes.
int64_t ConsumedMilli(const proto::kube::DeviceRequestAllocationResult& result,
                      const DeviceColumns& columns, DeviceRow row) {
  for (const char* const name : {"shares", "memory"}) {
    const auto consumed = result.consumed_capacity().find(name);
    if (consumed == result.consumed_capacity().end()) continue;
    const std::optional<Quantity> whole = CapacityOf(columns, row, name);
    const absl::StatusOr<Quantity> part = Quantity::Parse(consumed->second);
    if (!whole.has_value() || !part.ok()) continue;
    const std::optional<absl::int128> total = whole->Nanos();
    const std::optional<absl::int128> amount = part->Nanos();
    if (!total.has_value() || !amount.has_value() || *total <= 0) continue;
    return std::min<int64_t>(static_cast<int64_t>(*amount * kDeviceMilli / *total), kDeviceMilli);
  }
  return 0;
}

}  // namespace

DeviceGrants GrantsOfAllocation(const proto::kube::AllocationResultV1& result,
                                const ClusterState& cluster) {
  const DeviceInventory& inventory = cluster.inventory();
  DeviceGrants grants;
  for (const auto& device : result.devices().results()) {
    if (device.admin_access()) continue;
    const InventoryRow row = inventory.Find(device.driver(), device.pool(), device.device());
    const SliceDevice* const published = row.valid() ? inventory.published(row) : nullptr;
    if (published == nullptr || !published->part.has_value()) continue;
    DeviceGrant grant = *published->part;
    if (device.has_share_id()) {
      const int64_t milli = ConsumedMilli(device, inventory.columns(), published->content);
      grant.milli = static_cast<int16_t>(grant.milli * milli / kDeviceMilli);
    }
    if (grant.milli > 0) grants.push_back(grant);
  }
  return grants;
}

}  // namespace drasim
