#include "policies/devices/device_handles.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/device_set.h"
#include "model/resource_request.h"
#include "policies/devices/claim_parameters.h"
#include "policies/framework/device_allocator.h"

namespace drasim {
namespace {

constexpr absl::string_view kDevicesKey = ",\"devices\":[";
constexpr absl::string_view kInsideKey = ",\"inside\":true";
constexpr absl::string_view kSharingKey = ",\"sharing\":";

}  // namespace

std::string WriteHandle(const GpuKind& kind, absl::string_view node_name,
                        const HandleContents& contents) {
  std::string data = absl::StrCat("{\"node\":", JsonQuoted(node_name), kDevicesKey);
  bool inside = false;
  for (const HeldDevice& device : contents.devices) {
    const bool first = &device == contents.devices.data();
    absl::StrAppend(&data, first ? "\"" : ",\"", DeviceName(kind, device), "\"");
    inside = inside || device.use == GpuUse::kInside;
  }
  absl::StrAppend(&data, "]", inside ? kInsideKey : "");
  if (!contents.sharing.empty()) absl::StrAppend(&data, kSharingKey, contents.sharing);
  data.push_back('}');
  return data;
}

DeviceGrants GrantsOf(const GpuKind& kind, absl::Span<const HeldDevice> devices) {
  DeviceGrants grants;
  for (const HeldDevice& device : devices) {
    switch (device.use) {
      case GpuUse::kWhole:
        grants.push_back({device.gpu, kNoPlacement, int16_t{kDeviceMilli}});
        break;
      case GpuUse::kInstance:
        grants.push_back(InstanceGrant(*kind.of(device.gpu).table, device.gpu, device.placement));
        break;
      case GpuUse::kPart:
      case GpuUse::kFunction:
        grants.push_back({device.gpu, kNoPlacement, device.milli});
        break;
      case GpuUse::kInside:
      case GpuUse::kCompute:
        break;
    }
  }
  return grants;
}

std::optional<HandleContents> ReadHandle(const NodeDevices& node, absl::string_view data) {
  HandleContents contents;
  // A search for the key is safe: the node's name is quoted, device names contain neither quotes
  // nor brackets, and settings come last.
  const size_t begin = data.find(kDevicesKey);
  if (node.kind == nullptr || begin == absl::string_view::npos) return std::nullopt;
  absl::string_view list = data.substr(begin + kDevicesKey.size());
  const size_t end = list.find(']');
  if (end == absl::string_view::npos) return std::nullopt;
  absl::string_view rest = list.substr(end + 1);
  list = list.substr(0, end);
  const bool inside = absl::ConsumePrefix(&rest, kInsideKey);
  while (absl::ConsumePrefix(&list, "\"")) {
    const size_t quote = list.find('"');
    HeldDevice device;
    if (quote == absl::string_view::npos ||
        !ReadDeviceName(*node.kind, list.substr(0, quote), &device)) {
      return std::nullopt;
    }
    if (inside && device.use == GpuUse::kInstance) device.use = GpuUse::kInside;
    if (!IsPossibleDevice(node, device)) return std::nullopt;
    contents.devices.push_back(device);
    list.remove_prefix(quote + 1);
    absl::ConsumePrefix(&list, ",");
  }
  if (!list.empty() || contents.devices.empty() || !absl::ConsumeSuffix(&rest, "}")) {
    return std::nullopt;
  }
  if (absl::ConsumePrefix(&rest, kSharingKey)) contents.sharing = std::string(rest);
  return contents;
}

std::optional<HandleContents> ReadGrants(const NodeDevices& node,
                                         absl::Span<const DeviceGrant> grants) {
  HandleContents contents;
  if (node.kind == nullptr) return std::nullopt;
  for (const DeviceGrant& grant : grants) {
    HeldDevice device;
    device.gpu = grant.device;
    if (grant.placement != kNoPlacement) {
      device.use = GpuUse::kInstance;
      device.placement = grant.placement;
    } else if (grant.milli != kDeviceMilli) {
      device.use = GpuUse::kPart;
      device.milli = grant.milli;
    }
    if (!IsPossibleDevice(node, device)) return std::nullopt;
    contents.devices.push_back(device);
  }
  if (contents.devices.empty()) return std::nullopt;
  return contents;
}

bool IsPossibleDevice(const NodeDevices& node, const HeldDevice& device) {
  if (device.gpu >= kMaxDevicesPerNode || !node.all.Contains(device.gpu)) return false;
  switch (device.use) {
    case GpuUse::kWhole:
      return true;
    case GpuUse::kPart:
    case GpuUse::kFunction:
      return device.milli > 0 && device.milli <= kDeviceMilli && device.memory_mib >= 0;
    case GpuUse::kInstance:
    case GpuUse::kInside:
    case GpuUse::kCompute:
      return node.kind->of(device.gpu).table != nullptr &&
             device.placement < node.kind->of(device.gpu).table->placements().size();
  }
  return false;  // not the value of a GpuUse
}

}  // namespace drasim
