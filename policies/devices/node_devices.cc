#include "policies/devices/node_devices.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace drasim {
namespace {

template <typename T>
T AddClamped(T a, T b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<T>(std::min<int64_t>(sum, std::numeric_limits<T>::max()));
}

// "250-4096".
bool ReadShare(absl::string_view text, HeldDevice* device) {
  const size_t dash = text.find('-');
  if (dash == absl::string_view::npos) return false;
  int32_t milli = 0;
  if (!absl::SimpleAtoi(text.substr(0, dash), &milli) || milli < 1 || milli > kDeviceMilli ||
      !absl::SimpleAtoi(text.substr(dash + 1), &device->memory_mib) || device->memory_mib < 0) {
    return false;
  }
  device->milli = static_cast<int16_t>(milli);
  return true;
}

// "4-3g.40gb" or "4-3g.40gb-ci-2".
bool ReadInstanceName(const GpuKind& kind, absl::string_view text, HeldDevice* device) {
  const size_t dash = text.find('-');
  int32_t start = 0;
  if (kind.table == nullptr || dash == absl::string_view::npos ||
      !absl::SimpleAtoi(text.substr(0, dash), &start)) {
    return false;
  }
  absl::string_view profile_name = text.substr(dash + 1);
  device->use = GpuUse::kInstance;
  const size_t compute = profile_name.rfind("-ci-");
  if (compute != absl::string_view::npos) {
    int32_t slices = 0;
    if (!absl::SimpleAtoi(profile_name.substr(compute + 4), &slices) || slices < 1 ||
        slices > std::numeric_limits<uint8_t>::max()) {
      return false;
    }
    device->use = GpuUse::kCompute;
    device->slices = static_cast<uint8_t>(slices);
    profile_name = profile_name.substr(0, compute);
  }
  const int profile = kind.table->FindProfile(profile_name);
  if (profile < 0) return false;
  const int placement = kind.table->FindPlacement(static_cast<size_t>(profile), start);
  if (placement < 0) return false;
  device->placement = static_cast<uint8_t>(placement);
  return true;
}

// Sizes of aligned blocks: 1, 2, 4, ..., kMaxDevicesPerNode.
constexpr size_t kBlockSizes = std::bit_width(unsigned{kMaxDevicesPerNode});

// GPUs [begin, begin + size) of the set.
DeviceSet BlockOf(DeviceSet gpus, size_t begin, size_t size) {
  return gpus & (DeviceSet::FirstN(begin + size) - DeviceSet::FirstN(begin));
}

// The smallest aligned block with `count` GPUs; among several the fullest, then the one in the
// fullest block of twice its size, and so on; then the first. REQUIRES: the set has `count` GPUs.
DeviceSet FullestBlock(DeviceSet gpus, int count, size_t* size) {
  // A block of this size has them all; larger ones add no information.
  const size_t largest = std::bit_ceil(gpus.Bound());
  for (*size = 1; *size < largest; *size *= 2) {
    DeviceSet best;
    std::array<int, kBlockSizes> best_free{};
    for (size_t begin = 0; begin < largest; begin += *size) {
      const DeviceSet block = BlockOf(gpus, begin, *size);
      if (block.size() < count) continue;
      std::array<int, kBlockSizes> free{};
      size_t level = 0;
      for (size_t around = *size; around <= largest; around *= 2) {
        free[level++] = BlockOf(gpus, begin / around * around, around).size();
      }
      if (best.empty() || free < best_free) {
        best = block;
        best_free = free;
      }
    }
    if (!best.empty()) return best;
  }
  return gpus;
}

DeviceSet PickPacked(DeviceSet gpus, int count) {
  if (count == 0) return DeviceSet();
  size_t size = 0;
  const DeviceSet block = FullestBlock(gpus, count, &size);
  if (block.size() == count) return block;
  // Neither half has enough: all of the half with more, and the rest from the other.
  const size_t begin = block.First() / size * size;
  const DeviceSet low = BlockOf(block, begin, size / 2);
  const DeviceSet high = block - low;
  const DeviceSet first = low.size() >= high.size() ? low : high;
  return first | PickPacked(block - first, count - first.size());
}

}  // namespace

absl::Span<const MigState> NodeDevices::gpu_states() const {
  return absl::MakeConstSpan(states.data(), all.Bound());
}

int NodeDevices::slices_used(size_t gpu, uint8_t placement) const {
  for (const Compute& each : compute) {
    if (each.gpu == gpu && each.placement == placement) return each.slices;
  }
  return 0;
}

void NodeDevices::Take(const HeldDevice& device) {
  switch (device.use) {
    case GpuUse::kWhole:
      whole.Add(device.gpu);
      return;
    case GpuUse::kInstance:
    case GpuUse::kInside: {
      MigState& state = states[device.gpu];
      const MigTable& table = *kind->of(device.gpu).table;
      if ((table.set(state) & PlacementBit(device.placement)) != 0) return;
      const MigState next = table.Place(state, device.placement);
      if (next == kNoMigState) {
        whole.Add(device.gpu);
        return;
      }
      state = next;
      cut.Add(device.gpu);
      return;
    }
    case GpuUse::kPart:
    case GpuUse::kFunction:
      (device.use == GpuUse::kPart ? parted : functions).Add(device.gpu);
      milli_used[device.gpu] = AddClamped(milli_used[device.gpu], device.milli);
      memory_used[device.gpu] = AddClamped(memory_used[device.gpu], device.memory_mib);
      return;
    case GpuUse::kCompute:
      for (Compute& each : compute) {
        if (each.gpu != device.gpu || each.placement != device.placement) continue;
        each.slices = static_cast<int16_t>(each.slices + device.slices);
        return;
      }
      compute.push_back({device.gpu, device.placement, device.slices});
      return;
  }
}

void NodeDevices::Clear() {
  whole = parted = functions = cut = DeviceSet();
  states.fill(0);
  milli_used.fill(0);
  memory_used.fill(0);
  compute.clear();
}

std::string DeviceName(const GpuKind& kind, const HeldDevice& device) {
  const std::string gpu = absl::StrCat("gpu-", static_cast<int>(device.gpu));
  if (device.use == GpuUse::kWhole) return gpu;
  if (device.use == GpuUse::kPart || device.use == GpuUse::kFunction) {
    return absl::StrCat(gpu, device.use == GpuUse::kPart ? "-part-" : "-vf-", device.milli, "-",
                        device.memory_mib);
  }
  const MigTable& table = *kind.of(device.gpu).table;
  const MigPlacement& placement = table.placements()[device.placement];
  std::string name = absl::StrCat(gpu, "-mig-", static_cast<int>(placement.start), "-",
                                  table.profiles()[placement.profile].name);
  if (device.use == GpuUse::kCompute) {
    absl::StrAppend(&name, "-ci-", static_cast<int>(device.slices));
  }
  return name;
}

bool ReadDeviceName(const GpuKind& kind, absl::string_view name, HeldDevice* device) {
  *device = HeldDevice();
  if (!absl::ConsumePrefix(&name, "gpu-")) return false;
  const absl::string_view number = name.substr(0, name.find('-'));
  int32_t gpu = 0;
  if (!absl::SimpleAtoi(number, &gpu) || gpu < 0 || gpu >= kMaxDevicesPerNode) return false;
  device->gpu = static_cast<uint8_t>(gpu);
  name.remove_prefix(number.size());
  if (name.empty()) return true;
  if (absl::ConsumePrefix(&name, "-mig-"))
    return ReadInstanceName(kind.of(device->gpu), name, device);
  if (absl::ConsumePrefix(&name, "-part-")) {
    device->use = GpuUse::kPart;
    return ReadShare(name, device);
  }
  device->use = GpuUse::kFunction;
  return absl::ConsumePrefix(&name, "-vf-") && ReadShare(name, device);
}

DeviceSet PickGpus(DeviceSet gpus, int count, bool packed) {
  if (gpus.size() <= count) return gpus;
  if (packed) return PickPacked(gpus, count);
  DeviceSet picked;
  for (; count > 0; --count) {
    picked.Add(gpus.First());
    gpus.RemoveFirst();
  }
  return picked;
}

}  // namespace drasim
