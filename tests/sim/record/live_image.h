// The live part of a cluster as bytes, for comparing a state that was sought with one that was read
// from record 0: equal images mean equal nodes, slots, live pods and counters.
#ifndef DRASIM_TESTS_SIM_RECORD_LIVE_IMAGE_H_
#define DRASIM_TESTS_SIM_RECORD_LIVE_IMAGE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/mig_slices.h"
#include "model/random.h"
#include "model/record.h"
#include "model/state_io.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"

namespace drasim {

inline void WriteGrants(absl::Span<const DeviceGrant> grants, StateWriter* out) {
  out->U64(grants.size());
  for (const DeviceGrant& grant : grants) {
    out->U64(grant.device);
    out->U64(grant.placement);
    out->I64(grant.milli);
  }
}

inline void WriteNodeImage(const ClusterState& cluster, const LiveState& live, NodeId id,
                           const std::function<uint64_t(PodId)>& number_of, StateWriter* out) {
  const NodeRow& row = cluster.node(id);
  for (const int64_t value :
       {row.cpu_milli_idle, row.memory_bytes_idle, int64_t{row.pods_idle},
        int64_t{row.gpu_milli_idle}, int64_t{row.gpu_milli_idle_max}, int64_t{row.gpu_full_idle},
        int64_t{row.resident_tags}, int64_t{row.resident_gpu_pods}}) {
    out->I64(value);
  }
  out->Bool(row.schedulable);
  out->Bool(row.available);
  for (const int16_t idle : cluster.device_milli_idle(id)) out->I64(idle);
  if (cluster.any_mig() && cluster.has_mig(id)) {
    for (const MigState state : cluster.device_mig(id)) out->U64(state);
    out->U64(cluster.mig_usable(id).bits());
  }
  for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
    out->I64(cluster.extended_idle(id, e));
    out->I64(cluster.extended_capacity(id, e));
  }
  out->U64(cluster.pods_on(id).size());
  for (const PodId pod : cluster.pods_on(id)) out->U64(number_of(pod));
  const LiveNode& node = live.node(id);
  out->Bool(node.schedulable);
  out->Bool(node.available);
  out->Bool(node.plugin_gone);
  out->Bool(node.layout_changes);
  out->U64(node.unhealthy.bits());
  out->I64(node.cpu_milli);
  out->Ints(node.allocatable);
  out->Ints(node.held_milli);
  out->U64(node.pods.size());
  for (const PodId pod : node.pods) out->U64(number_of(pod));
}

inline void WriteHistory(const PodHistory& history, StateWriter* out) {
  for (const SimTime time : {history.waiting_since, history.running_since, history.first_start,
                             history.first_answer_at, history.first_bound}) {
    out->I64(time.ns());
  }
  out->I64(history.waited.ns());
  out->I64(history.held.ns());
  out->U64(history.node.value());
  out->U64(history.first_node.value());
  out->U64(history.last_failure.value());
  out->U64(static_cast<uint64_t>(history.rejected));
  out->U64(history.attempts_failed);
  out->U64(history.times_evicted);
  out->U64(history.starts);
  out->U64(static_cast<uint64_t>(history.first_answer));
  out->Bool(history.started);
  out->Bool(history.rejected_last);
}

inline void WritePodImage(const ClusterState& cluster, const LivePod& row, uint64_t number,
                          StateWriter* out) {
  out->U64(number);
  out->Str(cluster.pod_name(row.pod));
  out->U64(cluster.pod_shape_id(row.pod).value());
  out->I64(cluster.pod_priority(row.pod));
  out->I64(cluster.pod_arrival(row.pod).ns());
  out->U64(static_cast<uint64_t>(cluster.pod_phase(row.pod)));
  out->U64(cluster.pod_node(row.pod).value());
  out->U64(cluster.pod_devices(row.pod).bits());
  WriteGrants(cluster.pod_grants(row.pod), out);
  out->U64(static_cast<uint64_t>(row.phase));
  out->U64(row.node.value());
  out->U64(row.devices.bits());
  WriteGrants(row.grants, out);
  WriteHistory(row.history, out);
}

// The nodes and the live pods as the reader and the live state beside it have them.
inline std::string LiveImage(const LedgerReader& reader, const LiveState& live) {
  const ClusterState& cluster = reader.cluster();
  const auto number_of = [&reader](PodId pod) { return reader.NumberOf(pod); };
  StateWriter out;
  out.U64(cluster.node_count());
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    WriteNodeImage(cluster, live, NodeId(n), number_of, &out);
    for (size_t g = 0; g < cluster.node(NodeId(n)).gpu_count; ++g) {
      const std::optional<uint64_t> layout = reader.LayoutOf(NodeId(n), g);
      out.Bool(layout.has_value());
      out.U64(layout.value_or(0));
    }
  }
  std::vector<std::pair<uint64_t, const LivePod*>> pods;
  for (const LivePod& row : live.pods()) pods.emplace_back(number_of(row.pod), &row);
  std::sort(pods.begin(), pods.end());
  out.U64(pods.size());
  for (const auto& [number, row] : pods) {
    WritePodImage(cluster, *row, number, &out);
    out.U64(reader.JobOf(row->pod).value());
    out.Str(reader.TenantOf(row->pod));
  }
  const ClusterTotals& t = cluster.totals();
  for (const int64_t value :
       {t.cpu_milli_capacity, t.memory_bytes_capacity, t.gpu_milli_capacity, t.gpu_count,
        t.cpu_milli_allocated, t.memory_bytes_allocated, t.gpu_milli_allocated, t.gpus_in_use,
        t.nodes_in_use, t.gpus_on_used_nodes, t.pods_resident}) {
    out.I64(value);
  }
  for (const int64_t value : SeriesValuesOf(live, SliceCounts())) out.I64(value);
  return out.Release();
}

inline std::string LiveImage(const LedgerSeek& seek) {
  return LiveImage(seek.reader(), seek.live());
}

// The live state says of a cluster that has all pods what the cluster says itself.
inline void ExpectLiveStateOf(const ClusterState& cluster, const LiveState& live) {
  const ClusterTotals& t = cluster.totals();
  const LiveTotals& found = live.totals();
  EXPECT_EQ(found.pods_resident, t.pods_resident);
  EXPECT_EQ(found.gpu_milli_allocated, t.gpu_milli_allocated);
  EXPECT_EQ(found.gpu_milli_capacity, t.gpu_milli_capacity);
  EXPECT_EQ(found.gpus_in_use, t.gpus_in_use);
  EXPECT_EQ(found.cpu_milli_allocated, t.cpu_milli_allocated);
  EXPECT_EQ(found.memory_bytes_allocated, t.memory_bytes_allocated);
  EXPECT_EQ(found.nodes_in_use, t.nodes_in_use);
  EXPECT_EQ(found.nodes_available, static_cast<int64_t>(cluster.available_nodes()));
  size_t live_pods = 0;
  for (size_t i = 0; i < cluster.pod_count(); ++i) {
    const PodId pod(i);
    const bool is_live = cluster.pod_phase(pod) <= PodPhase::kBound;
    const LivePod* const row = live.Find(pod);
    ASSERT_EQ(row != nullptr, is_live) << i;
    if (!is_live) continue;
    ++live_pods;
    EXPECT_EQ(row->phase, cluster.pod_phase(pod)) << i;
    EXPECT_EQ(row->node, cluster.pod_node(pod)) << i;
    EXPECT_EQ(row->devices, cluster.pod_devices(pod)) << i;
    EXPECT_TRUE(absl::MakeConstSpan(row->grants) == cluster.pod_grants(pod)) << i;
  }
  EXPECT_EQ(live.pods().size(), live_pods);
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId id(n);
    EXPECT_TRUE(absl::MakeConstSpan(live.node(id).pods) == cluster.pods_on(id)) << n;
    EXPECT_EQ(live.node(id).schedulable, cluster.node(id).schedulable) << n;
    EXPECT_EQ(live.node(id).available, cluster.node(id).available) << n;
    for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
      EXPECT_EQ(live.node(id).allocatable[e], cluster.extended_capacity(id, e)) << n;
    }
  }
}

// The waiting pods by their last verdict, counted from the phases of all pods.
class WaitTally {
 public:
  void OnRecord(const Record& record, const VerdictSummaryTable& summaries) {
    if (record.kind == RecordKind::kPodArrived) last_.push_back(WaitKind::kUntried);
    if (record.kind == RecordKind::kPodRejected) last_[record.pod.value()] = WaitKind::kNoRoom;
    if (record.kind == RecordKind::kPodUnreserved) ++taken_back_;
    if (record.kind != RecordKind::kAttemptFailed) return;
    const auto& reasons = summaries.row(SummaryId(record.detail)).rejected;
    const bool any_verdict =
        std::any_of(reasons.begin(), reasons.end(), [&summaries](const auto& reason) {
          return summaries.kind(reason.first) < ReasonKind::kWaitsForDriver;
        });
    last_[record.pod.value()] =
        any_verdict || reasons.empty() ? WaitKind::kNoRoom : WaitKind::kDriver;
  }
  void ExpectIn(const ClusterState& cluster, const LiveState& live) const {
    std::array<int64_t, kWaitKinds> waiting{};
    for (size_t p = 0; p < last_.size(); ++p) {
      if (cluster.pod_phase(PodId(p)) == PodPhase::kPending)
        ++waiting[static_cast<size_t>(last_[p])];
    }
    for (size_t w = 0; w < kWaitKinds; ++w) {
      EXPECT_EQ(live.waiting(static_cast<WaitKind>(w)), waiting[w]) << w;
    }
    EXPECT_EQ(live.counter(RunCounter::kPlacesTakenBack), taken_back_);
  }

 private:
  std::vector<WaitKind> last_;  // by pod
  int64_t taken_back_ = 0;
};

// The slices of the whole cluster.
class SliceTally {
 public:
  explicit SliceTally(const LedgerReader* reader) : reader_(*reader) {
    for (size_t n = 0; n < reader->cluster().node_count(); ++n) {
      by_node_.push_back(Count(NodeId(n)));
      sum_.Add(by_node_.back(), +1);
    }
  }
  const SliceCounts& sum() const { return sum_; }
  void OnRecord(const Record& record) {
    if (!record.node.valid()) return;
    SliceCounts& node = by_node_[record.node.value()];
    sum_.Add(node, -1);
    node = Count(record.node);
    sum_.Add(node, +1);
  }

 private:
  SliceCounts Count(NodeId id) const {
    const auto layouts = [&](NodeId node, size_t gpu) { return reader_.LayoutOf(node, gpu); };
    return SlicesOf(reader_.cluster(), id, layouts);
  }

  const LedgerReader& reader_;
  std::vector<SliceCounts> by_node_;
  SliceCounts sum_;
};

// A reading of a whole ledger from record 0.
struct WholeReading {
  std::vector<Record> records;
  SeriesValues before{};             // the first record
  std::vector<SeriesValues> values;  // after each record
  std::vector<EndedPod> ended;
  std::vector<std::pair<uint64_t, std::string>> images;  // records before it, image
};

// Images after 0, after all, and after about `count` other numbers of records.
inline WholeReading ReadWhole(absl::string_view bytes, uint64_t total, uint64_t count) {
  WholeReading whole;
  auto reader = LedgerReader::FromMemory(bytes);
  DRASIM_CHECK(reader.ok());
  const ClusterState& cluster = (*reader)->cluster();
  LiveState live(cluster, &(*reader)->summaries());
  WaitTally waits;
  SliceTally slices(reader->get());
  whole.before = SeriesValuesOf(live, slices.sum());
  Random random(total, "live image");
  while (true) {
    const uint64_t at = whole.records.size();
    if (at == 0 || at == total || total <= count || random.Bernoulli(count, total)) {
      ExpectLiveStateOf(cluster, live);
      waits.ExpectIn(cluster, live);
      whole.images.emplace_back(at, LiveImage(**reader, live));
    }
    Record record;
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    EXPECT_EQ(more.status(), absl::OkStatus());
    if (!more.ok() || !*more) break;
    live.OnRecord(record, cluster);
    waits.OnRecord(record, (*reader)->summaries());
    slices.OnRecord(record);
    if (live.ended().has_value()) whole.ended.push_back(*live.ended());
    whole.records.push_back(record);
    whole.values.push_back(SeriesValuesOf(live, slices.sum()));
  }
  EXPECT_EQ(whole.records.size(), total);
  return whole;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_RECORD_LIVE_IMAGE_H_
