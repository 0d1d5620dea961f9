// The devices of a node in numbers: slices held and stranded, and room for further pods.
#ifndef DRASIM_GUI_VIEW_NODE_SLICES_H_
#define DRASIM_GUI_VIEW_NODE_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_slices.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"

namespace drasim::view {

using drasim::LayoutOfGpu;
using drasim::SliceCounts;
using drasim::SlicesOf;

// The layout of a GPU; none if `layouts` is absent.
std::optional<uint64_t> LayoutIn(const std::optional<LayoutOfGpu>& layouts, NodeId node,
                                 size_t gpu);

// Bit per placement that a further instance could take on a GPU in that state: under a static
// layout, an instance of it that no pod holds. None while a pod holds an instance outside of the
// present layout.
uint64_t OpenPlacements(const MigTable& table, MigState state, std::optional<uint64_t> layout);

struct ProfileRoom {
  std::string profile;
  int64_t more = 0;  // instances of this profile alone that would still fit
  int64_t gpus = 0;  // GPUs on which at least one would fit
  bool operator==(const ProfileRoom&) const = default;
};
// By profile of the node's model without media and graphics variants, in the catalogue's order;
// empty without MIG. 0 of each on a node that takes no pods. Devices only: CPU, memory and the
// number of pods do not count. `layouts`: absent if none is static. O(devices x profiles).
std::vector<ProfileRoom> RoomByProfile(const ClusterState& cluster, NodeId node,
                                       std::optional<LayoutOfGpu> layouts = std::nullopt);

struct PodRoom {
  int64_t gpus = 0;   // GPUs with room for the largest part of the request
  bool fits = false;  // the whole request would fit
  bool operator==(const PodRoom&) const = default;
};
// Room for one pod of that shape on the node as it is: devices, CPU, memory, pod slots and counted
// resources, on a node that takes pods. Other rules of the scheduler (selectors, taints, the
// policy's own filters, drivers) are not asked. Several instances are placed largest first without
// backtracking, so a mixture that fits only in another arrangement is missed. A GPU with a static
// layout takes instances only. REQUIRES: the shape of a pod that was added. O(devices x
// placements).
PodRoom RoomFor(const ClusterState& cluster, ShapeId shape, NodeId node,
                std::optional<LayoutOfGpu> layouts = std::nullopt);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_NODE_SLICES_H_
