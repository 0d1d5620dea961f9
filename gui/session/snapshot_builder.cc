#include "gui/session/snapshot_builder.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gui/session/fit_tally.h"
#include "gui/view/claim_table.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "gui/view/node_table.h"
#include "gui/view/tenant_table.h"

namespace drasim::gui {
namespace {

view::PodRow RowOf(const LivePod& pod, const SnapshotState& state) {
  view::PodRow row;
  static_cast<PodCourse&>(row) = pod.history;
  row.number = state.number_of(pod.pod);
  row.arrival = state.cluster.pod_arrival(pod.pod);
  row.shape = state.cluster.pod_shape_id(pod.pod).value();
  row.tenant = state.tenant_of(pod.pod);
  row.phase = pod.phase;
  return row;
}

// Fills `pods` for another moment of the same run.
void FillPods(const SnapshotState& state, view::PodTable* pods) {
  // Damaged counters may tell of more.
  const size_t ended =
      static_cast<size_t>(std::min<uint64_t>(EndedPods(state.live), state.archive->size()));
  pods->Restart(state.now, state.archive, ended);
  pods->ReserveLive(state.live.pods().size());
  for (size_t p = 0; p < state.cluster.pod_count(); ++p) {
    const LivePod* const live = state.live.Find(PodId(p));
    if (live == nullptr) continue;
    // Keyframes of a damaged ledger may define more shapes than its end has.
    if (state.cluster.pod_shape_id(PodId(p)).value() >= state.archive->texts().wants.size()) {
      continue;
    }
    pods->AddLive(RowOf(*live, state), state.cluster.pod_name(PodId(p)), state.summaries);
  }
}

}  // namespace

uint64_t EndedPods(const LiveState& live) {
  uint64_t ended = 0;  // counters of a damaged ledger may be anything
  for (const RunCounter counter : {RunCounter::kPodsFinished, RunCounter::kPodsFailed,
                                   RunCounter::kPodsDropped, RunCounter::kPodsDeleted}) {
    ended += static_cast<uint64_t>(live.counter(counter));
  }
  return ended;
}

view::PodTable PodsOf(const SnapshotState& state) {
  view::PodTable pods;
  FillPods(state, &pods);
  return pods;
}

RunSnapshot MakeSnapshot(const SnapshotRequest& request, const SnapshotState& state,
                         const SnapshotExtras& extras) {
  RunSnapshot snapshot;
  UpdateSnapshot(request, state, extras, TouchedNodes(), &snapshot);
  return snapshot;
}

void UpdateSnapshot(const SnapshotRequest& request, const SnapshotState& state,
                    const SnapshotExtras& extras, const TouchedNodes& touched,
                    RunSnapshot* snapshot) {
  const auto pod_of = [&](PodId pod) {
    view::MapPod shown;
    shown.number = state.number_of(pod);
    shown.tenant = state.tenant_of(pod);
    const LivePod* const live = state.live.Find(pod);
    if (live == nullptr) return shown;
    shown.since =
        live->phase == PodPhase::kBound ? live->history.running_since : live->history.waiting_since;
    return shown;
  };
  const view::MapSources sources = {state.archive->texts().tenants, pod_of, extras.fragmentation,
                                    extras.layout_of, request.label};
  if (snapshot->map.nodes.empty() || snapshot->request.label != request.label) {
    snapshot->map = view::MapDataOf(state.cluster, sources);
    snapshot->nodes = view::NodeTable(state.cluster, extras.layout_of);
  } else {
    // Names, pools and models stay even if everything else has changed.
    std::vector<NodeId> all;
    for (size_t n = 0; touched.all && n < state.cluster.node_count(); ++n) all.emplace_back(n);
    const absl::Span<const NodeId> nodes = touched.all ? all : touched.nodes;
    view::UpdateMapData(state.cluster, sources, nodes, &snapshot->map);
    for (const NodeId node : nodes) {
      snapshot->nodes.Update(state.cluster, node, extras.layout_of);
    }
  }
  snapshot->request = request;
  snapshot->record = extras.record;
  snapshot->time = extras.time;
  snapshot->totals = state.live.totals();
  FillPods(state, &snapshot->pods);
  snapshot->claims = extras.claims == nullptr
                         ? view::ClaimTable()
                         : view::ClaimTable(*extras.claims, state.cluster, state.now);
  for (size_t c = 0; c < kRunCounters; ++c) {
    snapshot->counters[c] = state.live.counter(static_cast<RunCounter>(c));
  }
  snapshot->slices = view::SliceCounts();
  for (size_t n = 0; n < snapshot->nodes.rows(); ++n) {
    snapshot->slices.Add(snapshot->nodes.row(n).slices, +1);
  }
  for (view::MapNode& node : snapshot->map.nodes) node.since = SimTime();
  for (const NodeChange& change : extras.node_changes) {
    if (change.number > extras.record) break;
    if (change.record.kind != RecordKind::kNodeChanged ||
        change.record.detail != static_cast<uint32_t>(NodeChangeKind::kAvailable)) {
      continue;
    }
    snapshot->map.nodes[change.record.node.value()].since = change.record.time;
  }
  FitTally own;
  FitTally& tally = extras.fits == nullptr ? own : *extras.fits;
  tally.Count(state.cluster, extras.layout_of, extras.fits == nullptr ? TouchedNodes() : touched);
  FitCounter fits(state.cluster, tally, snapshot->map.profiles);
  snapshot->waiting = 0;
  for (const LivePod& pod : state.live.pods()) {
    if (pod.phase != PodPhase::kPending) continue;
    ++snapshot->waiting;
    fits.CountWaiting(state.cluster.pod_shape_id(pod.pod));
  }
  snapshot->fits = fits.Take();
  snapshot->tenants.reset();
  if (request.tenants) snapshot->tenants.emplace(snapshot->pods);
}

}  // namespace drasim::gui
