// The inventory of a cluster with its changes within what-ifs: a part of ClusterState, private to
// its sources.
#ifndef DRASIM_MODEL_CLAIM_DEVICES_LOG_H_
#define DRASIM_MODEL_CLAIM_DEVICES_LOG_H_

#include <vector>

#include "model/device_inventory.h"
#include "model/ids.h"

namespace drasim {

// A change of the inventory.
struct ClaimDevicesChange {
  DeviceUndo undo;
  std::vector<InventoryRow> rows;     // whose parts of GPUs it concerned
  std::vector<InventoryRow> charged;  // those of them that were charged before
  std::vector<NodeId> nodes;
};

struct ClaimDevicesLog {
  DeviceInventory inventory;
  bool parts_are_pods = false;           // claims take nothing from the columns of GPUs
  std::vector<ClaimDevicesChange> undo;  // of the open what-ifs
  std::vector<InventoryRow> charged;     // loaded, to be charged when the slices are there
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLAIM_DEVICES_LOG_H_
