// Record and RecordSink: the records of a run, and the port through which they leave the engine.
//
// A record is one decision or state change. Reports, metrics, ledgers and fingerprints are folds
// over the same records, and a reader rebuilds the cluster by applying them again.
#ifndef DRASIM_MODEL_RECORD_H_
#define DRASIM_MODEL_RECORD_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/reason_kind.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

struct ClaimChange;

// Values are part of the ledger's format: never renumber.
enum class RecordKind : uint8_t {
  kPodArrived = 1,     // pod: the new row; detail: its shape
  kPodReserved = 2,    // pod, node, devices: charged, Bind in progress (only where Bind takes time)
  kPodBound = 3,       // pod, node, devices: it runs
  kPodUnreserved = 4,  // pod, node, devices: a later step failed, the charge is cancelled
  kAttemptFailed = 5,  // pod; detail: SummaryId of the reasons by node
  kPodDropped = 6,     // pod: given up
  kPodFinished = 7,    // pod: ended, its resources are free
  kRunEnded = 8,
  kPodEvicted = 9,    // pod, node, devices; detail: EvictionCause. It waits again
  kPodFailed = 10,    // pod, node, devices: ended with an error, its resources are free
  kPodDeleted = 11,   // pod, and node and devices if it ran: its owner deleted it
  kNodeChanged = 12,  // node; detail: NodeChangeKind. After the records of its pods' ends
  // pod, node, devices: its kubelet gave it devices; ClusterState::pod_grants has the parts
  kPodAdmitted = 13,
  // pod, node; detail: AdmissionFailure, and kGivenUp when its owner does not recreate it
  kPodRejected = 14,
  // node, devices that changed; detail: DeviceChangeKind
  kDevicesChanged = 15,
  // pod, node: its work begins (only where that is after kPodBound)
  kPodStarted = 16,
};
inline constexpr int kRecordKinds = 17;
inline constexpr uint32_t kGivenUp = 256;
// True for kinds whose records may be the first to name a pod's devices.
constexpr bool MayGiveDevices(RecordKind kind) {
  return kind == RecordKind::kPodReserved || kind == RecordKind::kPodBound ||
         kind == RecordKind::kPodAdmitted;
}

// Values are part of the ledger's format: never renumber.
enum class EvictionCause : uint32_t {
  kPreempted = 1,      // for another job: Record::preemptor
  kNodeLost = 2,       // its node failed or was removed
  kDrained = 3,        // its node was drained
  kAttemptFailed = 4,  // its work failed, according to the trace; the job tries again
  kRepartitioned = 5,  // its node gets another MIG layout
  kTurnedAway = 6,     // another pod of its job was rejected at admission
  kDeleted = 7,        // a user deleted it, and its owner recreates it
  kTainted = 8,        // a device of it has a taint with the effect NoExecute
};
// The reason for which a kubelet rejects a bound pod. Values are part of the ledger's format.
enum class AdmissionFailure : uint32_t {
  kNone = 0,
  kDevicesUnavailable = 1,    // fewer free devices than requested
  kResourceUnregistered = 2,  // no plugin is registered for the resource
  kDeviceUnhealthy = 3,       // too few healthy devices
  kAllocateFailed = 4,        // the plugin refuses more than one replica
  kTopologyAffinity = 5,      // TopologyManager

  // Conflicts: another scheduler's pod took the room after this pod's scheduler had looked. Such a
  // pod is recorded as rejected without having been bound, because it never holds anything.
  kOutOfCpu = 6,
  kOutOfMemory = 7,
  kOutOfPods = 8,     // pod slots
  kOutOfDevices = 9,  // or another resource of the node
  kPortsInUse = 10,   // host ports
};
inline constexpr uint32_t kLastDeviceFailure = 5;
inline constexpr uint32_t kLastAdmissionFailure = 10;
constexpr bool IsConflict(AdmissionFailure failure) {
  return static_cast<uint32_t>(failure) > kLastDeviceFailure;
}
// As in the pod's status.reason: "UnexpectedAdmissionError", "TopologyAffinityError", "OutOfcpu".
absl::string_view AdmissionReason(AdmissionFailure failure);
// One sentence in the kubelet's terms.
absl::string_view AdmissionMessage(AdmissionFailure failure);

// Values are part of the ledger's format.
enum class DeviceChangeKind : uint32_t {
  kUnhealthy = 1,
  kHealthy = 2,
  kPluginGone = 3,     // devices: none
  kPluginBack = 4,     // devices: none
  kLayoutChanged = 5,  // the new MIG instances exist
  kAllocatable = 6,    // the node reports different amounts
  kLayoutBegun = 7,    // a change of layout is in progress
};
inline constexpr uint32_t kLastDeviceChange = 7;

enum class NodeChangeKind : uint32_t {
  kAvailable = 1,    // added, or healthy again
  kUnavailable = 2,  // removed, or failed
  kCordoned = 3,
  kUncordoned = 4,
};
inline constexpr uint32_t kLastNodeChange = 4;
absl::string_view RecordKindName(RecordKind kind);

struct Record {
  SimTime time;
  RecordKind kind = RecordKind::kRunEnded;
  PodId pod;
  NodeId node;
  DeviceSet devices;  // of the node
  uint32_t detail = 0;
  // For evictions with EvictionCause::kPreempted: a pod of the job for which the pod leaves.
  // Invalid when several jobs share the room, and when that pod is unknown to the reader. Not part
  // of the fingerprint.
  PodId preemptor = PodId();
  bool operator==(const Record&) const = default;
};
// True for a rejection by a conflict.
constexpr bool IsConflict(const Record& record) {
  return record.kind == RecordKind::kPodRejected &&
         IsConflict(static_cast<AdmissionFailure>(record.detail & ~kGivenUp));
}

// Summaries of failed attempts: the number of nodes rejected for each reason. Interned, because a
// waiting pod tends to fail repeatedly in the same way.
class VerdictSummaryTable {
 public:
  struct Row {
    uint32_t nodes = 0;                                  // nodes considered
    std::vector<std::pair<uint8_t, uint32_t>> rejected;  // reason index (1-based), nodes; by reason
    bool operator==(const Row&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Row& row) {
      return H::combine(std::move(h), row.nodes, row.rejected);
    }
  };
  // reasons[i] is the text of reason index i + 1, kinds[i] its kind. Without kinds all are kOther.
  // Call before the first Intern.
  void SetReasons(std::vector<std::string> reasons, std::vector<ReasonKind> kinds = {});
  const std::vector<std::string>& reasons() const { return reasons_; }
  const std::vector<ReasonKind>& kinds() const { return kinds_; }  // beside reasons()
  ReasonKind kind(uint8_t reason) const { return kinds_[reason - size_t{1}]; }
  SummaryId Intern(const Row& row);
  const Row& row(SummaryId id) const { return rows_[id.value()]; }
  // Whether nodes gave reasons, all of which are steps of the negotiation for claims: the attempt
  // did not find that there is no place. O(reasons).
  bool IsNegotiation(SummaryId id) const;
  size_t size() const { return rows_.size(); }
  // Equal in every run and on every machine.
  uint64_t content_hash(SummaryId id) const { return hashes_[id.value()]; }
  // kube-scheduler's message: "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."
  std::string Text(SummaryId id) const;
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  uint64_t HashOf(const Row& row) const;

  std::vector<std::string> reasons_;
  std::vector<ReasonKind> kinds_;  // beside reasons_
  std::vector<Row> rows_;
  std::vector<uint64_t> hashes_;  // beside rows_
  absl::flat_hash_map<Row, uint32_t> index_;
};

// Append-only consumer of records.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // `cluster` is the state right after the record.
  virtual void OnRecord(const Record& record, const ClusterState& cluster) = 0;
  // A change of a claim of classic DRA, between two records (model/claim_change.h). Only for sinks
  // that want them; nobody computes changes that no sink wants.
  virtual bool wants_claim_changes() const { return false; }
  virtual void OnClaimChange(const ClaimChange&) {}
  // The engine asks after every batch of events and stops the run at an error.
  virtual absl::Status status() const { return absl::OkStatus(); }
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_MODEL_RECORD_H_
