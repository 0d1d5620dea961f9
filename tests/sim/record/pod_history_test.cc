#include "sim/record/pod_history.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim {
namespace pod_history_test {

// A pod whose records a test writes down; the phase follows.
class Pod {
 public:
  Pod() { Tell(0, RecordKind::kPodArrived, PodPhase::kPending); }

  void Tell(int64_t ns, RecordKind kind, PodPhase after, uint32_t node = NodeId::kInvalid,
            uint32_t detail = 0) {
    Record record;
    record.time = SimTime(ns);
    record.kind = kind;
    record.node = NodeId(node);
    record.detail = detail;
    course_.OnRecord(record, record.time, phase_);
    phase_ = after;
  }
  void Fail(int64_t ns, uint32_t summary) {
    Tell(ns, RecordKind::kAttemptFailed, phase_, NodeId::kInvalid, summary);
  }
  void Reserve(int64_t ns, uint32_t node) {
    Tell(ns, RecordKind::kPodReserved, PodPhase::kAssumed, node);
  }
  void Bind(int64_t ns, uint32_t node) { Tell(ns, RecordKind::kPodBound, PodPhase::kBound, node); }
  void Reject(int64_t ns, AdmissionFailure failure, bool given_up = false) {
    Tell(ns, RecordKind::kPodRejected, given_up ? PodPhase::kFailed : PodPhase::kPending, 0,
         static_cast<uint32_t>(failure) | (given_up ? kGivenUp : 0));
  }

  const PodCourse& course() const { return course_; }

 private:
  PodCourse course_;
  PodPhase phase_ = PodPhase::kPending;
};

TEST(PodHistoryTest, WaitsAndStaysAddUp) {
  Pod pod;
  pod.Fail(5, 3);
  pod.Bind(10, 1);
  EXPECT_EQ(pod.course().waited, SimDuration(10));
  EXPECT_EQ(pod.course().held, SimDuration(0));
  EXPECT_EQ(pod.course().running_since, SimTime(10));
  pod.Tell(25, RecordKind::kPodEvicted, PodPhase::kPending, 1);
  EXPECT_EQ(pod.course().held, SimDuration(15));
  EXPECT_EQ(pod.course().waiting_since, SimTime(25));
  EXPECT_EQ(pod.course().times_evicted, 1u);
  pod.Reserve(30, 2);
  pod.Tell(31, RecordKind::kPodUnreserved, PodPhase::kPending, 2);
  EXPECT_EQ(pod.course().waiting_since, SimTime(25));  // the wait goes on
  EXPECT_EQ(pod.course().waited, SimDuration(10));
  EXPECT_EQ(pod.course().node, NodeId(2u));
  pod.Reserve(40, 0);
  pod.Bind(45, 0);
  EXPECT_EQ(pod.course().waited, SimDuration(10 + 20));
  pod.Tell(100, RecordKind::kPodFinished, PodPhase::kSucceeded, 0);
  EXPECT_EQ(pod.course().waited, SimDuration(30));
  EXPECT_EQ(pod.course().held, SimDuration(15 + 55));
  EXPECT_EQ(pod.course().node, NodeId(0u));
  EXPECT_EQ(pod.course().first_node, NodeId(1u));
  EXPECT_EQ(pod.course().first_start, SimTime(10));
  EXPECT_EQ(pod.course().first_answer, FirstAnswer::kNoNode);
  EXPECT_EQ(pod.course().first_answer_at, SimTime(5));
  EXPECT_EQ(pod.course().attempts_failed, 1u);
  EXPECT_EQ(pod.course().last_failure, SummaryId(3u));
}

TEST(PodHistoryTest, AWaitEndsWithThePod) {
  Pod pod;
  pod.Reserve(10, 1);
  pod.Tell(30, RecordKind::kPodDeleted, PodPhase::kDeleted, 1);
  EXPECT_EQ(pod.course().waited, SimDuration(30));
  EXPECT_EQ(pod.course().held, SimDuration(0));
  EXPECT_EQ(pod.course().first_answer, FirstAnswer::kNone);
  EXPECT_FALSE(pod.course().started);
}

TEST(PodHistoryTest, WorkBeginsAfterTheFirstBind) {
  Pod pod;
  pod.Bind(10, 1);
  EXPECT_TRUE(pod.course().started);
  EXPECT_EQ(pod.course().first_start, SimTime(10));
  pod.Tell(13, RecordKind::kPodStarted, PodPhase::kBound, 1);
  EXPECT_EQ(pod.course().first_start, SimTime(13));
  EXPECT_EQ(pod.course().running_since, SimTime(10));
  pod.Tell(20, RecordKind::kPodEvicted, PodPhase::kPending, 1);
  pod.Bind(30, 2);
  pod.Tell(35, RecordKind::kPodStarted, PodPhase::kBound, 2);
  EXPECT_EQ(pod.course().first_start, SimTime(13));
  EXPECT_EQ(pod.course().first_node, NodeId(1u));
  EXPECT_EQ(pod.course().held, SimDuration(10));
  // A rejection takes back only a start that has just been made.
  pod.Reject(40, AdmissionFailure::kTopologyAffinity);
  EXPECT_TRUE(pod.course().started);
  EXPECT_EQ(pod.course().first_start, SimTime(13));
  EXPECT_EQ(pod.course().first_answer, FirstAnswer::kBound);
}

TEST(PodHistoryTest, APodThatItsNodeTurnsAwayHasNotStarted) {
  Pod pod;
  pod.Bind(10, 1);
  pod.Reject(12, AdmissionFailure::kDeviceUnhealthy);
  EXPECT_FALSE(pod.course().started);
  EXPECT_EQ(pod.course().first_start, SimTime());
  EXPECT_FALSE(pod.course().first_node.valid());
  EXPECT_EQ(pod.course().first_answer, FirstAnswer::kTurnedAway);
  EXPECT_EQ(pod.course().first_answer_at, SimTime(10));
  EXPECT_EQ(pod.course().rejected, AdmissionFailure::kDeviceUnhealthy);
  EXPECT_TRUE(pod.course().rejected_last);
  EXPECT_EQ(pod.course().held, SimDuration(2));
  EXPECT_EQ(pod.course().waiting_since, SimTime(12));
  pod.Fail(15, 7);
  EXPECT_FALSE(pod.course().rejected_last);
  EXPECT_EQ(pod.course().rejected, AdmissionFailure::kDeviceUnhealthy);
  pod.Bind(20, 2);
  EXPECT_TRUE(pod.course().started);
  EXPECT_EQ(pod.course().first_start, SimTime(20));
  EXPECT_EQ(pod.course().first_node, NodeId(2u));
  EXPECT_EQ(pod.course().first_answer, FirstAnswer::kTurnedAway);
  pod.Reject(25, AdmissionFailure::kAllocateFailed, /*given_up=*/true);
  EXPECT_EQ(pod.course().waiting_since, SimTime(12));
  EXPECT_EQ(pod.course().held, SimDuration(2 + 5));
  EXPECT_EQ(pod.course().waited, SimDuration(10 + 8));
  EXPECT_EQ(pod.course().rejected, AdmissionFailure::kAllocateFailed);
}

// It was not bound as far as records say, so no start is taken back.
TEST(PodHistoryTest, AConflictTakesNoStartBack) {
  Pod fresh;
  fresh.Tell(10, RecordKind::kPodRejected, PodPhase::kPending, 1,
             static_cast<uint32_t>(AdmissionFailure::kOutOfCpu));
  EXPECT_EQ(fresh.course().first_answer, FirstAnswer::kTurnedAway);
  EXPECT_EQ(fresh.course().first_answer_at, SimTime(10));
  EXPECT_EQ(fresh.course().rejected, AdmissionFailure::kOutOfCpu);
  EXPECT_EQ(fresh.course().waiting_since, SimTime(10));
  Pod again;
  again.Bind(10, 1);
  again.Tell(20, RecordKind::kPodEvicted, PodPhase::kPending, 1);
  again.Tell(25, RecordKind::kPodRejected, PodPhase::kPending, 2,
             static_cast<uint32_t>(AdmissionFailure::kOutOfMemory));
  EXPECT_TRUE(again.course().started);
  EXPECT_EQ(again.course().first_start, SimTime(10));
  EXPECT_EQ(again.course().first_answer, FirstAnswer::kBound);
  EXPECT_EQ(again.course().held, SimDuration(10));
}

TEST(PodHistoryTest, AGangIsDroppedForTheReasonOfOne) {
  DropReason reason;
  const auto tell = [&reason](RecordKind kind, uint32_t detail) {
    Record record;
    record.kind = kind;
    record.detail = detail;
    return reason.OnRecord(record);
  };
  EXPECT_FALSE(tell(RecordKind::kPodDropped, 0).valid());
  tell(RecordKind::kAttemptFailed, 4);
  EXPECT_EQ(tell(RecordKind::kPodDropped, 0), SummaryId(4u));
  EXPECT_EQ(tell(RecordKind::kPodDropped, 0), SummaryId(4u));
  tell(RecordKind::kPodArrived, 0);
  EXPECT_FALSE(tell(RecordKind::kPodDropped, 0).valid());
}

}  // namespace pod_history_test
}  // namespace drasim
