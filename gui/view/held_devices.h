// The devices, or parts of them, that a pod holds on its node, and the held parts of a node's
// devices.
#ifndef DRASIM_GUI_VIEW_HELD_DEVICES_H_
#define DRASIM_GUI_VIEW_HELD_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"

namespace drasim::view {

struct HeldPart {
  uint8_t device = 0;
  // A MIG instance: its first unit, its units, and the units of the device. Else -1, thousandths
  // and 1000.
  int32_t start = -1;
  int32_t size = 0;
  int32_t whole = 0;
  // "3g.40gb", "GPU", "0.46 GPU", "3g.40gb, 0.25 GPU" for a share of an instance.
  std::string label;
  bool operator==(const HeldPart&) const = default;
};

// In the order of the pod's grants, else by device. Empty for a pod that holds none.
std::vector<HeldPart> HeldPartsOf(const ClusterState& cluster, PodId pod);

// "0:3g.40gb@4", "0;1", "1 (250m)": as pods.csv writes it (AppendGrants).
std::string HeldDevicesText(const ClusterState& cluster, PodId pod);

// Thousandths in use of each device of a node; for a MIG GPU, the units of its instances.
std::vector<int32_t> AllocatedOnDevices(const ClusterState& cluster, NodeId node);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_HELD_DEVICES_H_
