#include "policies/devices/device_reasons.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/resource_request.h"
#include "policies/devices/mig_rules.h"

namespace drasim {
namespace {

std::string GpusText(int count) { return absl::StrCat(count, count == 1 ? " GPU" : " GPUs"); }

// The name of the largest instance with room on the GPUs.
std::string LargestInstance(const NodeDevices& node, DeviceSet usable) {
  const MigProfile* largest = nullptr;
  while (!usable.empty()) {
    const GpuKind& kind = node.kind->of(usable.First());
    DeviceSet alike;
    for (const size_t gpu : usable) {
      if (&node.kind->of(gpu) == &kind) alike.Add(gpu);
    }
    usable -= alike;
    for (size_t p = 0; kind.table != nullptr && p < kind.table->profiles().size(); ++p) {
      const MigProfile& profile = kind.table->profiles()[p];
      if (kind.rules->OnNode(node.gpu_states(), alike, p).gpu < 0) continue;
      if (largest == nullptr || std::make_pair(profile.size, profile.compute_slices) >
                                    std::make_pair(largest->size, largest->compute_slices)) {
        largest = &profile;
      }
    }
  }
  return largest == nullptr ? "none" : largest->name;
}

// The number of the claim's units that still fit.
int32_t RoomForUnits(const DeviceRequest& request, const KindRequest& kind, NodeDevices node) {
  for (int32_t served = 0; served < request.count; ++served) {
    HeldDevice device;
    for (const DeviceOption& option : kind.options) {
      if (option.use != GpuUse::kInstance) continue;
      const MigRuleTable::NodeChoice choice =
          node.kind->of(option.gpus.First())
              .rules->OnNode(node.gpu_states(), node.cuttable() & kind.eligible & option.gpus,
                             option.profile);
      if (choice.gpu < 0) continue;
      device.use = GpuUse::kInstance;
      device.gpu = static_cast<uint8_t>(choice.gpu);
      device.placement = choice.placement;
      break;
    }
    if (device.use != GpuUse::kInstance) return served;
    node.Take(device);
  }
  return request.count;
}

std::string WhyNoInside(const DeviceRequest& request, const NodeDevices& node,
                        const HeldDevices* target) {
  DeviceSet gpus;
  if (target != nullptr) {
    for (const HeldDevice& device : *target) {
      if (device.use == GpuUse::kWhole) gpus.Add(device.gpu);
    }
  }
  if (gpus.empty()) {
    return absl::StrCat(request.wanted, " wanted, the claim \"", request.tie,
                        "\" has no GPU on the node");
  }
  return absl::StrCat(request.wanted, " wanted, no free placement on ", GpusText(gpus.size()),
                      " of the claim \"", request.tie, "\" (largest: ", LargestInstance(node, gpus),
                      ")");
}

std::string WhyNoShare(const DeviceRequest& request, const KindRequest& kind,
                       const NodeDevices& node) {
  const bool part = kind.options[0].use == GpuUse::kPart;
  const DeviceSet same = part ? node.parted : node.functions;
  const DeviceSet others = part ? node.functions : node.parted;
  const DeviceSet gpus = ((node.free() | same) & kind.eligible) - (others | node.whole | node.cut);
  if (gpus.empty()) return absl::StrCat(request.wanted, " wanted, no GPU to share is left");
  size_t best = gpus.First();
  const auto used = [&node](size_t gpu) {
    return std::make_pair(node.milli_used[gpu], node.memory_used[gpu]);
  };
  for (const size_t gpu : gpus) {
    if (used(gpu) < used(best)) best = gpu;
  }
  return absl::StrCat(request.wanted, " wanted, most left on one of ", GpusText(gpus.size()), ": ",
                      std::max(0, kDeviceMilli - node.milli_used[best]), " millicores, ",
                      std::max<int64_t>(0, node.kind->of(best).memory_mib - node.memory_used[best]),
                      " MiB");
}

}  // namespace

std::string WhyNotServed(const DeviceRequest& request, size_t kind_index, const NodeDevices& node,
                         const HeldDevices* target) {
  const std::string wanted = absl::StrCat(request.wanted, " wanted, ");
  if (node.kind == nullptr) return absl::StrCat(wanted, "the node has no GPUs");
  const KindRequest& kind = request.kinds[kind_index];
  if (kind.options.empty()) return kind.lacking;
  const DeviceSet eligible = kind.eligible & node.all;
  switch (kind.options[0].use) {
    case GpuUse::kWhole: {
      if (eligible.empty()) return "no GPU matches the selector";
      const int free = (node.free() & eligible).size();
      if (request.any_gpu) return absl::StrCat(wanted, free, " free");
      return absl::StrCat(wanted, free, " free of the ", eligible.size(),
                          " that the selector matches");
    }
    case GpuUse::kInstance:
      if (request.count > 1) {
        return absl::StrCat(wanted, "room for ", RoomForUnits(request, kind, node), " on ",
                            GpusText(eligible.size()));
      }
      return absl::StrCat(wanted, "no free placement on ", GpusText(eligible.size()),
                          " (largest: ", LargestInstance(node, node.cuttable() & eligible), ")");
    case GpuUse::kInside:
      return WhyNoInside(request, node, target);
    case GpuUse::kPart:
    case GpuUse::kFunction:
      return WhyNoShare(request, kind, node);
    case GpuUse::kCompute:
      return absl::StrCat(wanted, "the claim \"", request.tie,
                          "\" has no instance with room for it on the node");
  }
  DRASIM_UNREACHABLE("a use of a device");
}

}  // namespace drasim
