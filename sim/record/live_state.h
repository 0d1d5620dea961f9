// The live state of a run as its records tell it: pods that wait or hold something, nodes, and
// counters. A fold over the records that forgets pods when they end.
//
// ClusterState cannot serve for this: while an event is handled, the engine's cluster is ahead of
// the records (the pods of a gang are placed before the first of their records), and a cluster
// keeps the pods that have ended.
#ifndef DRASIM_SIM_RECORD_LIVE_STATE_H_
#define DRASIM_SIM_RECORD_LIVE_STATE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/pod_history.h"

namespace drasim {

// Values are part of the ledger's format: never renumber.
enum class RunCounter : uint8_t {
  kPodsArrived = 0,
  kPodsScheduled = 1,  // bound at least once
  kPodsBound = 2,      // bindings
  kPodsFinished = 3,
  kPodsFailed = 4,  // pods given up are part of them
  kPodsDropped = 5,
  kPodsDeleted = 6,
  kPodsEvicted = 7,
  kPodsRejected = 8,  // times a node turned a bound pod away
  kPodsGivenUp = 9,   // rejected pods that their owner did not replace
  kAttemptsFailed = 10,
  kGpuArrivedMilli = 11,  // requested by every pod that arrived; saturates
  kPlacesTakenBack = 12,  // reservations that a later step cancelled
};
inline constexpr size_t kRunCounters = 13;

// The last verdict on a waiting pod, in kinds.
enum class WaitKind : uint8_t {
  kUntried = 0,  // none yet
  kNoRoom = 1,   // refused by the scheduler or a node, for lack of room or any other reason
  kDriver = 2,   // a step of the negotiation for its claims
};
inline constexpr size_t kWaitKinds = 3;

// The history of one pod.
struct PodHistory : PodCourse {
  uint32_t starts = 0;  // times bound
  SimTime first_bound;  // meaningful with starts
  bool operator==(const PodHistory&) const = default;
};

struct LivePod {
  PodId pod;  // a row of the cluster that OnRecord saw
  PodHistory history;
  PodPhase phase = PodPhase::kPending;  // kAssumed and kBound: resident
  WaitKind wait = WaitKind::kUntried;   // also while it is resident
  NodeId node;                          // invalid unless resident
  DeviceSet devices;
  DeviceGrants grants;
};

struct EndedPod {
  PodId pod;
  PodHistory history;
  RecordKind kind = RecordKind::kPodFinished;  // of the record that ended it
  SimTime end;
};

struct LiveNode {
  bool schedulable = true;
  bool available = true;
  bool plugin_gone = false;
  bool layout_changes = false;  // a change of its MIG layout is in progress
  DeviceSet unhealthy;
  std::vector<int64_t> allocatable;  // by extended resource
  std::vector<PodId> pods;           // residents, in the order of ClusterState::pods_on
  int64_t cpu_milli = 0;             // of residents
  std::vector<int32_t> held_milli;   // of residents, by device
};

// Sums over nodes, as in ClusterTotals.
struct LiveTotals {
  int64_t pods_resident = 0;
  int64_t gpu_milli_allocated = 0;
  int64_t gpu_milli_capacity = 0;
  int64_t gpus_in_use = 0;
  int64_t cpu_milli_allocated = 0;
  int64_t memory_bytes_allocated = 0;
  int64_t nodes_in_use = 0;
  int64_t nodes_available = 0;
  bool operator==(const LiveTotals&) const = default;
};

class LiveState {
 public:
  // Without nodes; for a variable that is assigned later.
  LiveState() = default;
  // The nodes as their specs describe them, and no pods. `summaries` are those of the records; they
  // outlive the state and its copies.
  LiveState(const ClusterState& cluster, const VerdictSummaryTable* summaries);
  // Another table with the same summaries.
  void set_summaries(const VerdictSummaryTable* summaries) { summaries_ = summaries; }

  // `cluster` has the record's pod with its grants; its other contents may be ahead of the record.
  // A failed attempt of a pod that has ended only counts; its record may lack the pod. O(devices
  // of the node) for pods that come or go, else O(1), amortised.
  void OnRecord(const Record& record, const ClusterState& cluster);

  // For a caller that keeps a pod's failed attempts itself while they change nothing else: sees all
  // of the record but the pod's history, which AddFailures completes. False, without effect, if the
  // verdict is of another kind than `last`, the pod's previous one. O(1).
  bool CountFailure(const Record& record, SummaryId last) {
    if (record.detail != last.value() && WaitKindOf(SummaryId(record.detail)) != WaitKindOf(last)) {
      return false;
    }
    ended_.reset();
    latest_ = std::max(latest_, record.time);
    drop_reason_.OnRecord(record);
    Count(RunCounter::kAttemptsFailed);
    return true;
  }
  // REQUIRES: the pod is live.
  void AddFailures(PodId pod, uint32_t attempts, SummaryId last);

  // In no particular order, which depends on the records before.
  absl::Span<const LivePod> pods() const { return pods_; }
  // The places in pods() by ascending pod. O(pods log pods), or O(pods that have arrived) if that
  // is not much more.
  std::vector<uint32_t> RowsByPod() const;
  // Brings a row of pods() into the processor's cache, for a caller that is about to read it.
  void PrefetchRow(size_t row) const {
    const char* const begin = reinterpret_cast<const char*>(&pods_[row]);
    for (size_t at = 0; at < sizeof(LivePod); at += 64) __builtin_prefetch(begin + at);
  }
  // Null if the pod is not live.
  const LivePod* Find(PodId pod) const;
  const LiveNode& node(NodeId id) const { return nodes_[id.value()]; }
  size_t node_count() const { return nodes_.size(); }
  const LiveTotals& totals() const { return totals_; }
  // Pods that hold nothing.
  int64_t waiting(WaitKind kind) const { return waiting_[static_cast<size_t>(kind)]; }
  int64_t counter(RunCounter counter) const { return counters_[static_cast<size_t>(counter)]; }
  // The pod that the last record ended.
  const std::optional<EndedPod>& ended() const { return ended_; }

  // --- for readers of keyframes ---
  void SetNode(NodeId id, bool schedulable, bool available);
  LiveNode* mutable_node(NodeId id) { return &nodes_[id.value()]; }
  // Adds a waiting pod. REQUIRES: it is not live yet.
  void AddPod(PodId pod, const PodHistory& history);
  // Makes residents of all pods that are so in `cluster`, in its order. REQUIRES: there are none
  // yet, and all of them have been added.
  void AddResidents(const ClusterState& cluster);
  void set_counter(RunCounter counter, int64_t value) {
    counters_[static_cast<size_t>(counter)] = value;
  }
  // The time of the last record.
  void set_latest(SimTime time) { latest_ = std::max(latest_, time); }

 private:
  static constexpr uint32_t kNotLive = ~uint32_t{0};

  void Count(RunCounter counter, int64_t amount = 1);
  uint32_t RowOf(PodId pod) const;  // kNotLive if it is not live
  LivePod* Row(PodId pod);          // null if it is not live
  LivePod* AddRow(PodId pod);
  WaitKind WaitKindOf(SummaryId failure);
  void SetWait(LivePod* row, WaitKind kind);
  int64_t& WaitingLike(const LivePod& row) { return waiting_[static_cast<size_t>(row.wait)]; }
  // A waiting pod becomes the last resident of the node.
  void Place(LivePod* row, NodeId id, DeviceSet devices, const ClusterState& cluster);
  // A resident without devices gets some.
  void Admit(LivePod* row, DeviceSet devices, const ClusterState& cluster);
  // A resident leaves its node; does nothing to a waiting pod.
  void Leave(LivePod* row, const ClusterState& cluster);
  // Adds (sign +1) or removes (-1) what a resident has to node and totals.
  void Charge(const LivePod& row, const ClusterState& cluster, int sign);
  void ChargeDevices(const LivePod& row, const ClusterState& cluster, int sign);
  bool InUse(const LiveNode& node) const;
  void SetAvailable(LiveNode* node, bool available);
  void End(LivePod* row, const Record& record, const ClusterState& cluster);
  void ChangeDevices(const Record& record, const ClusterState& cluster);
  void ChangeNode(const Record& record);

  std::vector<LivePod> pods_;
  std::vector<uint32_t> row_of_;  // by pod: index in pods_, or kNotLive
  std::vector<uint32_t> slot_;    // by pod: place in its node's list; meaningful for residents
  std::vector<LiveNode> nodes_;
  LiveTotals totals_;
  std::array<int64_t, kWaitKinds> waiting_{};
  const VerdictSummaryTable* summaries_ = nullptr;
  std::vector<WaitKind> wait_of_summary_;  // as far as records have named them; kUntried: unknown
  std::array<int64_t, kRunCounters> counters_{};
  std::optional<EndedPod> ended_;
  DropReason drop_reason_;
  SimTime latest_;  // of the records; times that go back, as in a damaged ledger, count as this one
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LIVE_STATE_H_
