// AttributeReader: one attribute of many devices.
#ifndef DRASIM_POLICIES_CHOICE_DEVICE_ATTRIBUTES_H_
#define DRASIM_POLICIES_CHOICE_DEVICE_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "policies/allocator/device_catalog.h"

namespace drasim {

class AttributeReader {
 public:
  // "domain/id", or "id" in the domain of each device's driver. The catalog outlives it.
  AttributeReader(const DeviceCatalog& catalog, absl::string_view name);

  // kNone: the device lacks it. O(1), but for the first device of a layout.
  DeviceValue Of(uint32_t device);

 private:
  static constexpr int kUnknown = -2;

  const DeviceCatalog& catalog_;
  bool exists_ = false;  // some device may have it
  TextId domain_;        // invalid: the driver's
  TextId id_;
  std::vector<int> slots_;  // by layout
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_DEVICE_ATTRIBUTES_H_
