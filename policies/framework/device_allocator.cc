#include "policies/framework/device_allocator.h"

namespace drasim {

uint32_t FirstFittingDevices(const PodShape& shape, absl::Span<const int16_t> device_milli_idle) {
  uint32_t devices = 0;
  int32_t missing = shape.gpu_count;
  for (size_t i = 0; i < device_milli_idle.size() && missing > 0; ++i) {
    if (device_milli_idle[i] < shape.gpu_milli) continue;
    devices |= uint32_t{1} << i;
    --missing;
  }
  return devices;
}

}  // namespace drasim
