// The history of a pod: its waits, its stays on nodes, and the answers that it got, as a fold over
// its records. Keyframes and rows of ended pods hold it, and tables of pods show it.
#ifndef DRASIM_SIM_RECORD_POD_HISTORY_H_
#define DRASIM_SIM_RECORD_POD_HISTORY_H_

#include <cstdint>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim {

// The first answer to a pod. Records of failed attempts do not tell whether a driver had yet to
// answer or no node had room, so either is kNoNode. Values are part of the ledger's format.
enum class FirstAnswer : uint8_t {
  kNone = 0,
  kBound = 1,
  kNoNode = 2,
  kTurnedAway = 3,  // bound, but its node did not admit it
};

struct PodCourse {
  SimTime waiting_since;    // of the present or last wait: arrival, eviction or rejection
  SimTime running_since;    // the last Bind; meaningful with one
  SimTime first_start;      // when `started`: its work began
  SimTime first_answer_at;  // meaningful unless kNone
  SimDuration waited;       // sum of all finished waits
  SimDuration held;         // sum of all finished stays on nodes, from Bind on
  NodeId node;              // the present or last one, if only reserved; invalid: none
  NodeId first_node;        // when `started`: of the first start
  SummaryId last_failure;   // invalid without a failed attempt
  AdmissionFailure rejected = AdmissionFailure::kNone;  // of the last rejection
  uint32_t attempts_failed = 0;
  uint32_t times_evicted = 0;
  FirstAnswer first_answer = FirstAnswer::kNone;
  bool started = false;        // by a node that did not turn it away
  bool rejected_last = false;  // `rejected` is later than `last_failure`

  bool operator==(const PodCourse&) const = default;

  // One of the pod's records, its arrival the first. `time` is the record's, which must not lie
  // before earlier ones. `before` is the phase before the record.
  void OnRecord(const Record& record, SimTime time, PodPhase before);
  // The scheduler refuses it.
  void SetFailure(SummaryId failure) {
    last_failure = failure;
    rejected_last = false;
  }

 private:
  // It leaves its node, or the queue if it is on none.
  void Leave(SimTime time, PodPhase before);
  void Answer(FirstAnswer answer, SimTime time);
};

// Tells why a pod is dropped: the pods of a gang are given up right after the failed attempt of one
// of them, for the same reason.
class DropReason {
 public:
  // Call for every record of the run in order. For a dropped pod, returns the reason, invalid
  // without one.
  SummaryId OnRecord(const Record& record) {
    const SummaryId before = failure_;
    if (record.kind == RecordKind::kAttemptFailed) {
      failure_ = SummaryId(record.detail);
    } else if (record.kind != RecordKind::kPodDropped) {
      failure_ = SummaryId();
    }
    return before;
  }

 private:
  SummaryId failure_;  // of the record before, drops left out
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_HISTORY_H_
