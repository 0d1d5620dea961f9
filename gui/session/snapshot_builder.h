// Makes snapshots from the state of a run.
#ifndef DRASIM_GUI_SESSION_SNAPSHOT_BUILDER_H_
#define DRASIM_GUI_SESSION_SNAPSHOT_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "gui/session/block_columns.h"
#include "gui/session/fit_tally.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/pod_archive.h"
#include "gui/view/pod_table.h"
#include "model/cluster_state.h"
#include "model/fragmentation.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/live_claims.h"
#include "sim/record/live_state.h"

namespace drasim::gui {

// A state of a run. `live` has seen the records that `cluster` has.
struct SnapshotState {
  const ClusterState& cluster;
  const LiveState& live;
  const VerdictSummaryTable& summaries;
  // The archive holds the pods that have ended by then as its first rows, and the texts of all
  // others.
  const std::shared_ptr<const view::PodArchive>& archive;
  absl::FunctionRef<uint32_t(PodId)> number_of;  // in the order of arrivals; ascends with PodIds
  absl::FunctionRef<uint32_t(PodId)> tenant_of;  // of the archive's texts
  SimTime now;                                   // virtual time
};

// Optional parts of a snapshot, and its place in the run.
struct SnapshotExtras {
  uint64_t record = 0;
  SimTime time;                                               // on the run's clock
  const FragmentationModel* fragmentation = nullptr;          // null: the map shows none
  absl::Span<const NodeChange> node_changes;                  // of the run, by record
  const LiveClaims* claims = nullptr;                         // null: none
  std::optional<view::LayoutOfGpu> layout_of = std::nullopt;  // absent: unknown
  // A tally of the same run, kept by a caller that makes many snapshots; null: all GPUs are
  // counted.
  FitTally* fits = nullptr;
};

// The number of pods that have ended.
uint64_t EndedPods(const LiveState& live);

// O(pods of the cluster).
view::PodTable PodsOf(const SnapshotState& state);

// O(pods of the cluster + devices), with tenants O(pods log pods), with fragmentation O(nodes x
// typical pods) more.
RunSnapshot MakeSnapshot(const SnapshotRequest& request, const SnapshotState& state,
                         const SnapshotExtras& extras);
// The same in the memory of a snapshot of another moment of the run, from the same archive. Only
// the touched nodes are rebuilt; they must include those touched since extras.fits was used last.
// `touched.all` is right for any snapshot. O(live pods + devices of touched nodes + nodes), and as
// above with tenants and fragmentation.
void UpdateSnapshot(const SnapshotRequest& request, const SnapshotState& state,
                    const SnapshotExtras& extras, const TouchedNodes& touched,
                    RunSnapshot* snapshot);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_SNAPSHOT_BUILDER_H_
