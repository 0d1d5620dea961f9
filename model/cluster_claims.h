// ClusterState's part about devices that drivers publish and claims hold: private to its sources.
#ifndef DRASIM_MODEL_CLUSTER_CLAIMS_H_
#define DRASIM_MODEL_CLUSTER_CLAIMS_H_

#include <vector>

#include "model/cluster_state.h"
#include "model/device_inventory.h"

namespace drasim {

// A change of the inventory within a what-if.
struct ClusterState::DevicesChange {
  DeviceUndo undo;
  InventoryRows rows;     // whose parts it concerned
  InventoryRows charged;  // those of them that were charged before
  std::vector<NodeId> nodes;
};

struct ClusterState::Claims {
  DeviceInventory inventory;
  std::vector<DevicesChange> undo;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLUSTER_CLAIMS_H_
