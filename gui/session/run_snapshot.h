// A run at one place: what the panels show. Immutable once published.
#ifndef DRASIM_GUI_SESSION_RUN_SNAPSHOT_H_
#define DRASIM_GUI_SESSION_RUN_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/view/claim_table.h"
#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "gui/view/node_table.h"
#include "gui/view/pod_table.h"
#include "gui/view/tenant_table.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "sim/record/live_state.h"

namespace drasim::gui {

struct SnapshotRequest {
  view::TimeTarget at;   // on the run's clock
  bool tenants = false;  // costs O(pods log pods)
  std::string label;     // the key of MapNode::label; empty: none
  bool operator==(const SnapshotRequest&) const = default;
};

struct RunSnapshot {
  SnapshotRequest request;
  uint64_t record = 0;  // records before this state
  SimTime time;         // on the run's clock
  LiveTotals totals;
  std::array<int64_t, kRunCounters> counters{};  // by RunCounter
  int64_t waiting = 0;                           // pods
  view::SliceCounts slices;
  view::ClusterMapData map;  // MapSlot::pod: the pod's place in the order of arrival
  // By profile, in the order of the map's; "GPU" and "share of a GPU" (GPUs with an idle part)
  // where some GPU has no MIG. Without colours, which depend on the theme.
  std::vector<view::FitRow> fits;
  view::NodeTable nodes;
  view::PodTable pods;      // all that have arrived by then; virtual times
  view::ClaimTable claims;  // empty without classic DRA
  std::optional<view::TenantTable> tenants;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_RUN_SNAPSHOT_H_
