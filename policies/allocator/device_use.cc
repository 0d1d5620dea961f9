#include "policies/allocator/device_use.h"

#include "absl/strings/str_cat.h"

namespace drasim {

std::string DeviceId::Text() const { return absl::StrCat(driver, "/", pool, "/", device); }

DeviceUse UseOf(const DeviceInventory& inventory) {
  const DeviceTexts& texts = inventory.columns().texts();
  DeviceUse use;
  for (const InventoryRow row : inventory.held()) {
    const DevicePool& pool = inventory.pools()[inventory.pool_of(row).value()];
    const DeviceId id = {texts.Text(pool.driver), texts.Text(pool.name),
                         texts.Text(inventory.name_of(row))};
    if (inventory.use(row).is_dedicated()) use.dedicated.push_back(id);
    if (inventory.use(row).shares > 0) use.shared.push_back(id);
    const DeviceInventory::Amounts* const consumed = inventory.consumed(row);
    if (consumed == nullptr) continue;
    for (const auto& [name, amount] : *consumed) use.consumed[id][texts.Text(name)] = amount;
  }
  return use;
}

}  // namespace drasim
