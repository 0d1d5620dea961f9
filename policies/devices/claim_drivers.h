// The drivers of classic DRA by their kinds: what each serves, and how one is made.
//
// All of them hand out the GPUs of nodes; they differ in the parameters that they read, in what
// they can cut, and in where they put it. docs/fidelity.md says what each keeps of the real one.
#ifndef DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_
#define DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

struct ClaimDriverInfo {
  const char* kind;         // "nvidia"
  const char* driver;       // its usual name: "gpu.resource.nvidia.com"
  const char* class_name;   // of the class that is made for it: "gpu.nvidia.com"
  const char* api_group;    // of its parameters
  const char* description;  // one line for --help
  // The error with which the real controller answers Allocate without a node; null: it picks one.
  const char* immediate_refusal;
};
// Every kind that MakeClaimDriver knows, in the order of --help: nvidia, example, intel,
// constraints.
absl::Span<const ClaimDriverInfo> ClaimDriverInfos();
// Null for an unknown kind.
const ClaimDriverInfo* FindClaimDriver(absl::string_view kind);

struct ClaimDriverOptions {
  std::string kind;
  std::string name;  // empty: the usual one
  // Nodes, their GPUs, models and MIG tables; its pods are not looked at. Outlives the driver.
  const ClusterState* cluster = nullptr;
  std::vector<NodeId> nodes;  // that it serves, ascending
  // A MIG policy's name without "mig-" ("first-fit", "best-fit", "mfi-any", ...); empty: as the
  // real driver places instances.
  std::string placement;
  std::vector<std::pair<std::string, int64_t>> mix;  // of weighted placements: as MigMix has it
  // Whole GPUs: false: the first free ones by index; true: those first that leave the others most
  // useful (on the side that is busier already).
  bool packed = false;
  bool shareable = false;  // unless the class's parameters say otherwise
  // It allocates only where it has proposed to (ClaimDriver::Propose), as NVIDIA's does.
  bool keeps_node_objects = false;
  // Preparation on the node: of each MIG instance made and removed, and of each claim.
  SimDuration create_instance;
  SimDuration destroy_instance;
  SimDuration initialise;
  SimDuration clean_up;
};

// InvalidArgument for an unknown kind or placement; the message names the known ones.
absl::StatusOr<std::unique_ptr<ClaimDriver>> MakeClaimDriver(ClaimDriverOptions options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_
