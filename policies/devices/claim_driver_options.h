// Description and options of a driver of classic DRA, by its kind (claim_drivers.h).
#ifndef DRASIM_POLICIES_DEVICES_CLAIM_DRIVER_OPTIONS_H_
#define DRASIM_POLICIES_DEVICES_CLAIM_DRIVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim {

struct ClaimDriverInfo {
  const char* kind;         // "nvidia"
  const char* driver;       // default name: "gpu.resource.nvidia.com"
  const char* class_name;   // of the class made for it: "gpu.nvidia.com"
  const char* api_group;    // of its parameters
  const char* description;  // one line for --help
  // Error of the real controller for Allocate without a node; null: it chooses a node.
  const char* immediate_refusal;
};

struct ClaimDriverOptions {
  std::string kind;
  std::string name;  // empty: the default
  // Nodes, their GPUs, models and MIG tables; pods are ignored. Must outlive the driver.
  const ClusterState* cluster = nullptr;
  std::vector<NodeId> nodes;  // that it serves, ascending
  // Name of a MIG policy without "mig-" ("first-fit", "best-fit", "mfi-any", ...); empty: the
  // placement of the real driver.
  std::string placement;
  std::vector<std::pair<std::string, int64_t>> mix;  // shares of profiles, for weighted placements
  // Order of whole GPUs. False: by index. True: first those whose use keeps the others most useful
  // (on the busier side).
  bool packed = false;
  bool shareable = false;  // default; parameters of the class override it
  // Allocates only at proposed places (ClaimDriver::Propose), like NVIDIA's driver.
  bool keeps_node_objects = false;
  // Times on the node: for each MIG instance made and removed, and for each claim.
  SimDuration create_instance;
  SimDuration destroy_instance;
  SimDuration initialise;
  SimDuration clean_up;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_CLAIM_DRIVER_OPTIONS_H_
