#include "gui/session/snapshot_builder.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gui/view/claim_table.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "gui/view/node_table.h"
#include "gui/view/tenant_table.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"

namespace drasim::gui {
namespace {

// Counts GPUs by what they hold, so that the cost of a look-up per profile does not depend on the
// number of GPUs.
class FitCounter {
 public:
  FitCounter(const ClusterState& cluster, const std::vector<std::string>& profiles,
             const std::optional<view::LayoutOfGpu>& layouts)
      : cluster_(cluster), by_state_(cluster.models().size()) {
    CountDevices(layouts);
    for (size_t p = 0; p < profiles.size(); ++p) {
      bool is_plain = false;
      int64_t fits = 0;
      for (size_t m = 0; m < by_state_.size(); ++m) {
        const MigTable* const table = cluster.models().mig(ModelId(m));
        if (table == nullptr || !present_[m]) continue;
        for (size_t i = 0; i < table->profiles().size(); ++i) {
          const MigProfile& profile = table->profiles()[i];
          if (profile.name != profiles[p] || !profile.is_plain()) continue;
          is_plain = true;
          if (i < laid_out_[m].size()) fits += laid_out_[m][i];
          for (size_t s = 0; s < by_state_[m].size(); ++s) {
            fits += by_state_[m][s] * table->more(static_cast<MigState>(s), i);
          }
        }
      }
      if (!is_plain) continue;
      view::FitRow row;
      row.profile = profiles[p];
      row.fits = fits;
      rows_.push_back(std::move(row));
    }
    profile_rows_ = rows_.size();
    if (other_gpus_ || rows_.empty()) {
      view::FitRow gpu;
      gpu.profile = "GPU";
      gpu.fits = idle_gpus_;
      rows_.push_back(std::move(gpu));
      view::FitRow share;
      share.profile = "share of a GPU";
      share.fits = open_gpus_;
      rows_.push_back(std::move(share));
    }
  }

  void CountWaiting(ShapeId shape) {
    if (wanted_.size() <= shape.value()) wanted_.resize(shape.value() + size_t{1});
    Wanted& wanted = wanted_[shape.value()];
    if (!wanted.known) {
      wanted.known = true;
      wanted.rows = RowsOf(cluster_.shapes().row(shape));
    }
    for (const size_t row : wanted.rows) ++rows_[row].waits;
  }

  std::vector<view::FitRow> Take() { return std::move(rows_); }

 private:
  struct Wanted {
    bool known = false;
    std::vector<size_t> rows;
  };

  void CountDevices(const std::optional<view::LayoutOfGpu>& layouts) {
    present_.assign(by_state_.size(), false);
    laid_out_.resize(by_state_.size());
    for (size_t n = 0; n < cluster_.node_count(); ++n) {
      const NodeId id(n);
      const NodeRow& node = cluster_.node(id);
      const bool takes = node.available && node.schedulable;
      const DeviceSet usable = cluster_.any_mig() ? cluster_.mig_usable(id) : DeviceSet();
      for (size_t d = 0; d < node.gpu_count; ++d) {
        const uint8_t model = cluster_.gpu_model(id, d);
        const MigTable* const table = cluster_.any_mig() ? cluster_.mig_table(id, d) : nullptr;
        if (table == nullptr) {
          other_gpus_ = true;
        } else {
          present_[model] = true;
        }
        if (!takes) continue;
        const std::optional<uint64_t> layout = view::LayoutIn(layouts, id, d);
        const bool laid_out = layout.value_or(0) != 0;
        const int16_t idle = cluster_.device_milli_idle(id)[d];
        if (idle == kDeviceMilli && !laid_out) ++idle_gpus_;
        if (idle > 0 && !laid_out) ++open_gpus_;
        if (table == nullptr || !usable.Contains(d)) continue;
        if (laid_out) {
          uint64_t open = view::OpenPlacements(*table, cluster_.device_mig(id)[d], layout);
          laid_out_[model].resize(table->profiles().size());
          for (; open != 0; open &= open - 1) {
            const auto placement = static_cast<size_t>(std::countr_zero(open));
            ++laid_out_[model][table->placements()[placement].profile];
          }
          continue;
        }
        std::vector<int64_t>& states = by_state_[model];
        states.resize(table->states());
        ++states[cluster_.device_mig(id)[d]];
      }
    }
  }

  // The rows of what pods of the shape want, each once.
  std::vector<size_t> RowsOf(const PodShape& shape) const {
    std::vector<size_t> rows;
    const auto want = [&](size_t row) {
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    };
    const auto want_profile = [&](const std::string& name) {
      for (size_t m = 0; m < present_.size(); ++m) {
        const MigTable* const table = cluster_.models().mig(ModelId(m));
        if (table == nullptr || !present_[m]) continue;
        const int found = table->FindProfile(name);
        if (found < 0) continue;
        for (size_t r = 0; r < profile_rows_; ++r) {
          if (rows_[r].profile == table->profiles()[static_cast<size_t>(found)].name) want(r);
        }
      }
    };
    for (const auto& [profile, count] : shape.request.mig) want_profile(profile);
    bool whole = shape.request.gpu_count > 0 && !shape.request.is_share();
    for (const ClaimEntry& claim : shape.claims) {
      if (!claim.mig_profile.empty()) want_profile(claim.mig_profile);
      whole |= claim.gpus > 0;
    }
    if (profile_rows_ == rows_.size()) return rows;
    if (whole) want(profile_rows_);
    if (shape.request.is_share()) want(profile_rows_ + 1);
    return rows;
  }

  const ClusterState& cluster_;
  std::vector<std::vector<int64_t>> by_state_;  // by model: GPUs without a layout, by MigState
  std::vector<std::vector<int64_t>> laid_out_;  // by model: idle instances of layouts, by profile
  std::vector<bool> present_;                   // by model: on some node
  bool other_gpus_ = false;                     // some GPU has no MIG
  int64_t idle_gpus_ = 0;
  int64_t open_gpus_ = 0;  // with an idle part
  std::vector<view::FitRow> rows_;
  size_t profile_rows_ = 0;
  std::vector<Wanted> wanted_;  // by shape
};

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
  // Damaged counters may tell of more.
  const size_t ended =
      static_cast<size_t>(std::min<uint64_t>(EndedPods(state.live), state.archive->size()));
  view::PodTable pods(state.now, state.archive, ended);
  pods.ReserveLive(state.live.pods().size());
  for (size_t p = 0; p < state.cluster.pod_count(); ++p) {
    const LivePod* const live = state.live.Find(PodId(p));
    if (live == nullptr) continue;
    // Keyframes of a damaged ledger may define more shapes than its end has.
    if (state.cluster.pod_shape_id(PodId(p)).value() >= state.archive->texts().wants.size()) {
      continue;
    }
    pods.AddLive(RowOf(*live, state), state.cluster.pod_name(PodId(p)), state.summaries);
  }
  return pods;
}

RunSnapshot MakeSnapshot(const SnapshotRequest& request, const SnapshotState& state,
                         const SnapshotExtras& extras) {
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
  RunSnapshot snapshot;
  snapshot.request = request;
  snapshot.record = extras.record;
  snapshot.time = extras.time;
  snapshot.totals = state.live.totals();
  snapshot.map =
      view::MapDataOf(state.cluster, {state.archive->texts().tenants, pod_of, extras.fragmentation,
                                      extras.layout_of, request.label});
  snapshot.nodes = view::NodeTable(state.cluster, extras.layout_of);
  snapshot.pods = PodsOf(state);
  if (extras.claims != nullptr) {
    snapshot.claims = view::ClaimTable(*extras.claims, state.cluster, state.now);
  }
  for (size_t c = 0; c < kRunCounters; ++c) {
    snapshot.counters[c] = state.live.counter(static_cast<RunCounter>(c));
  }
  for (size_t n = 0; n < snapshot.nodes.rows(); ++n) {
    snapshot.slices.Add(snapshot.nodes.row(n).slices, +1);
  }
  for (const NodeChange& change : extras.node_changes) {
    if (change.number > extras.record) break;
    if (change.record.kind != RecordKind::kNodeChanged ||
        change.record.detail != static_cast<uint32_t>(NodeChangeKind::kAvailable)) {
      continue;
    }
    snapshot.map.nodes[change.record.node.value()].since = change.record.time;
  }
  FitCounter fits(state.cluster, snapshot.map.profiles, extras.layout_of);
  for (const LivePod& pod : state.live.pods()) {
    if (pod.phase != PodPhase::kPending) continue;
    ++snapshot.waiting;
    fits.CountWaiting(state.cluster.pod_shape_id(pod.pod));
  }
  snapshot.fits = fits.Take();
  if (request.tenants) snapshot.tenants.emplace(snapshot.pods);
  return snapshot;
}

}  // namespace drasim::gui
