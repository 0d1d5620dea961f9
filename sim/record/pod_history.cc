#include "sim/record/pod_history.h"

namespace drasim {

void PodCourse::Leave(SimTime time, PodPhase before) {
  if (before == PodPhase::kBound) {
    held = held + (time - running_since);
  } else {
    waited = waited + (time - waiting_since);
  }
}

void PodCourse::Answer(FirstAnswer answer, SimTime time) {
  if (first_answer != FirstAnswer::kNone) return;
  first_answer = answer;
  first_answer_at = time;
}

void PodCourse::OnRecord(const Record& record, SimTime time, PodPhase before) {
  switch (record.kind) {
    case RecordKind::kPodArrived:
      waiting_since = time;
      return;
    case RecordKind::kPodReserved:
      node = record.node;
      return;
    case RecordKind::kPodBound:
      Leave(time, before);
      node = record.node;
      running_since = time;
      Answer(FirstAnswer::kBound, time);
      if (!started) {
        started = true;
        first_start = time;
        first_node = record.node;
      }
      return;
    case RecordKind::kPodStarted:
      // Only after the first Bind: its work begins later than that.
      if (first_start == running_since) first_start = time;
      return;
    case RecordKind::kPodRejected:
      // A pod that its node turns away has not started there.
      if (IsConflict(record)) {
        Answer(FirstAnswer::kTurnedAway, time);
      } else if (started && first_start == running_since) {
        started = false;
        first_start = SimTime();
        first_node = NodeId();
      }
      if (!IsConflict(record) && first_answer == FirstAnswer::kBound &&
          first_answer_at == running_since) {
        first_answer = FirstAnswer::kTurnedAway;
      }
      rejected = static_cast<AdmissionFailure>(record.detail & ~kGivenUp);
      rejected_last = true;
      Leave(time, before);
      if ((record.detail & kGivenUp) == 0) waiting_since = time;
      return;
    case RecordKind::kPodEvicted:
      ++times_evicted;
      Leave(time, before);
      waiting_since = time;
      return;
    case RecordKind::kAttemptFailed:
      ++attempts_failed;
      SetFailure(SummaryId(record.detail));
      Answer(FirstAnswer::kNoNode, time);
      return;
    case RecordKind::kPodDropped:
    case RecordKind::kPodFinished:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
      Leave(time, before);
      return;
    case RecordKind::kPodUnreserved:  // the wait goes on
    case RecordKind::kPodAdmitted:
    case RecordKind::kRunEnded:
    case RecordKind::kNodeChanged:
    case RecordKind::kDevicesChanged:
      return;
  }
}

}  // namespace drasim
