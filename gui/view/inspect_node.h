// NodeInspector: the contents of a node's inspector: its slots over time, a row per GPU, its
// present figures, and the room for further pods. A fold over the records of a ledger.
#ifndef DRASIM_GUI_VIEW_INSPECT_NODE_H_
#define DRASIM_GUI_VIEW_INSPECT_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gui/view/held_devices.h"
#include "gui/view/node_slices.h"
#include "gui/view/node_table.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim::view {

// A part of a GPU in the hands of one pod.
struct NodeSlot {
  HeldPart part;
  // The height of its lower edge, in units of part.size: the first unit of a MIG instance; for a
  // share the lowest height at which no present share of the GPU was in the way (shares have no
  // place on a GPU; this one only keeps them apart).
  int32_t offset = 0;
  PodId pod;
  std::string pod_name;
  SimTime from;  // charged: Reserve or Bind, or the node's choice
  SimTime to;    // the moment of the inspection when `open`
  bool open = false;
};

struct NodeEvent {
  SimTime time;
  std::string text;  // "fails or leaves", "cordoned", "GPU 3 unhealthy", ...
};

// The text of a kNodeChanged or kDevicesChanged record.
std::string NodeEventText(const Record& record);
// Whether the node takes no pods from the record on.
bool TakesNoPods(const Record& record);

struct ResidentPod {
  PodId pod;
  std::string name;
  std::string wants;
  std::string devices;
  SimTime since;
};

struct NodeInspection {
  NodeId node;
  SimTime now;
  NodeTableRow figures;            // at `now`
  std::vector<NodeSlot> slots;     // by begin
  std::vector<NodeEvent> events;   // by time
  std::vector<ResidentPod> pods;   // at `now`, by begin of their stay
  std::vector<ProfileRoom> room;   // at `now`; empty without MIG
  int64_t gpus_idle = 0;           // at `now`
  int64_t largest_idle_milli = 0;  // of one GPU, at `now`
};

class NodeInspector {
 public:
  explicit NodeInspector(NodeId node) : node_(node) {}

  // For a reading that begins behind record 0: what pods hold of the node in `cluster` becomes
  // slots that are open since the time that `since` knows. REQUIRES: nothing was added yet.
  void Seed(const ClusterState& cluster, absl::FunctionRef<SimTime(PodId)> since);
  // After the record was applied to `cluster`. O(slots of the node at the time).
  void Add(const Record& record, const ClusterState& cluster);
  // `layouts`: absent if none is static.
  NodeInspection Inspect(SimTime now, const ClusterState& cluster,
                         std::optional<LayoutOfGpu> layouts = std::nullopt) const;

 private:
  struct Stay {
    PodId pod;
    SimTime since;
  };

  void Open(PodId pod, SimTime time, const ClusterState& cluster);
  void Close(PodId pod, SimTime time);
  int32_t FreeOffset(const HeldPart& part) const;

  NodeId node_;
  std::vector<NodeSlot> slots_;
  std::vector<size_t> open_;  // indices into slots_
  std::vector<Stay> stays_;
  std::vector<NodeEvent> events_;
};

// The node of that name; invalid if there is none. O(nodes).
NodeId FindNode(const ClusterState& cluster, absl::string_view name);

// The same, with NotFound and a suggestion for a node that does not exist in the ledger `path`.
absl::StatusOr<NodeId> RequireNode(const ClusterState& cluster, const std::string& name,
                                   absl::string_view path);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_INSPECT_NODE_H_
