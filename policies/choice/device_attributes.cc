#include "policies/choice/device_attributes.h"

#include <cstddef>

namespace drasim {

AttributeReader::AttributeReader(const DeviceCatalog& catalog, absl::string_view name)
    : catalog_(catalog) {
  const DeviceTexts& texts = catalog.columns().texts();
  const size_t slash = name.find('/');
  const bool full = slash != absl::string_view::npos;
  if (full) domain_ = texts.Find(name.substr(0, slash));
  id_ = texts.Find(full ? name.substr(slash + 1) : name);
  exists_ = id_.valid() && (!full || domain_.valid());
}

DeviceValue AttributeReader::Of(uint32_t device) {
  if (!exists_) return DeviceValue();
  const DeviceColumns& columns = catalog_.columns();
  const DeviceRow row = catalog_.kinds()[catalog_.devices()[device].kind].row;
  const LayoutId layout = columns.layout(row);
  if (slots_.size() <= layout.value()) slots_.resize(columns.layout_count(), kUnknown);
  int& slot = slots_[layout.value()];
  if (slot == kUnknown) {
    const TextId domain = domain_.valid() ? domain_ : columns.driver(row);
    slot = columns.AttributeSlot(layout, domain, id_);
  }
  return slot < 0 ? DeviceValue() : columns.values(row)[static_cast<size_t>(slot)];
}

}  // namespace drasim
