#include "model/fragmentation_memo.h"

#include <bit>
#include <cstring>

namespace drasim {

double FragmentationMemo::Amount(const GpuNodeView& node) {
  const size_t devices = node.device_milli_idle.size();
  if (devices > kMostDevices || !node.device_models.empty()) return model_->Amount(node);
  if (entries_.empty()) entries_.resize(size_t{1} << kEntryBits);
  // Devices that are not there count as those without idle parts do.
  std::array<uint64_t, 2> idle{};
  static_assert(sizeof(idle) == kMostDevices * sizeof(int16_t));
  if (devices == kMostDevices) {
    std::memcpy(idle.data(), node.device_milli_idle.data(), sizeof(idle));
  } else if (devices > 0) {
    std::memcpy(idle.data(), node.device_milli_idle.data(), devices * sizeof(int16_t));
  }
  const uint64_t rest = uint64_t{model_->CpuRank(node.cpu_milli_idle)} << 8 |
                        static_cast<uint64_t>(std::countr_zero(node.model_bit));
  // Odd multipliers spread the low bits, where most of the differences are, over the high ones.
  uint64_t hash = idle[0] * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 32) ^ idle[1]) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 32) ^ rest) * 0x94d049bb133111ebu;
  Entry& entry = entries_[hash >> (64 - kEntryBits)];
  if (entry.devices != idle || entry.rest != rest) {
    entry.devices = idle;
    entry.rest = rest;
    entry.amount = model_->Amount(node);
  }
  return entry.amount;
}

}  // namespace drasim
