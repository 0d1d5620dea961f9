// Text form of an allocation's GPUs: writer and reader.
//
// The data of a handle is one JSON object:
//   {"node":"<name>","devices":["gpu-0","gpu-1-mig-4-3g.40gb"],"sharing":{...}}
// with "inside":true for instances on GPUs that another claim has whole. Device names:
// node_devices.h. The allocation's grants list the same devices, except pieces of another claim's
// devices, which that claim's grants cover.
#ifndef DRASIM_POLICIES_DEVICES_DEVICE_HANDLES_H_
#define DRASIM_POLICIES_DEVICES_DEVICE_HANDLES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "policies/devices/gpu_kinds.h"
#include "policies/devices/node_devices.h"

namespace drasim {

struct HandleContents {
  HeldDevices devices;
  std::string sharing;  // JSON object, or empty
  bool operator==(const HandleContents&) const = default;
};

std::string WriteHandle(const GpuKind& kind, absl::string_view node_name,
                        const HandleContents& contents);
DeviceGrants GrantsOf(const GpuKind& kind, absl::Span<const HeldDevice> devices);

// Nothing when the data is unreadable, names no device, or names one that the node lacks.
std::optional<HandleContents> ReadHandle(const NodeDevices& node, absl::string_view data);
// The same from the grants: whole GPUs, instances and parts.
std::optional<HandleContents> ReadGrants(const NodeDevices& node,
                                         absl::Span<const DeviceGrant> grants);

// True when the node has the device.
bool IsPossibleDevice(const NodeDevices& node, const HeldDevice& device);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_DEVICE_HANDLES_H_
