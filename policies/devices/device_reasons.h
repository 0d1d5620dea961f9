// Messages that explain why a node cannot serve a claim.
#ifndef DRASIM_POLICIES_DEVICES_DEVICE_REASONS_H_
#define DRASIM_POLICIES_DEVICES_DEVICE_REASONS_H_

#include <cstddef>
#include <string>

#include "policies/devices/device_planner.h"
#include "policies/devices/node_devices.h"

namespace drasim {

// Explains why the node in its present state cannot serve the request. `kind`: index of the node's
// GPU kind in the request. `target`: the devices on this node of the claim that the request depends
// on, or null. Without a full stop at the end:
//   "2 GPUs wanted, 1 free"
//   "no GPU matches the selector"
//   "MIG 3g.20gb wanted, no free placement on 4 GPUs (largest: 2g.10gb)"
//   "8 devices wanted, room for 7 on 1 GPU"
//   "1 part of a GPU with 4096 MiB wanted, most left on one of 2 GPUs: 500 millicores, 1024 MiB"
// With several ways to serve a device, the text is about the first.
std::string WhyNotServed(const DeviceRequest& request, size_t kind, const NodeDevices& node,
                         const HeldDevices* target);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_DEVICE_REASONS_H_
