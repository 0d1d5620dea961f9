// Jobs, exactly: gangs, deletion, failed attempts, preemption, node events, quotas and backfilling
// in small scenarios. Times are plain nanoseconds.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/record.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/interruption.h"
#include "sim/core/quotas.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/job_scenarios.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace engine_jobs_test {

using Action = NodeTransition::Action;

constexpr const char* kBothQueues[] = {"fifo", "kubernetes"};

// A failed attempt in which every node had too few cores.
std::string Failed(int64_t at_ns, absl::string_view pod, int nodes) {
  return absl::StrCat(at_ns, " AttemptFailed ", pod, " 0/", nodes, " nodes are available: ", nodes,
                      " Insufficient cpu.");
}

std::string RowText(const EngineRig& rig, size_t job) {
  const JobRow& row = rig.jobs().row(JobId(job));
  return absl::StrCat(JobStateName(row.state), " waited ", row.waited.ns(), " held ", row.held.ns(),
                      " lost ", row.work_lost.ns(), " overhead ", row.overhead.ns(), " failed ",
                      row.failed_work.ns(), " preempted ", row.preemptions, " evicted ",
                      row.evictions);
}

// Runs the scenario to its end, with an event for each attempt; without it must be the same run.
class Ran {
 public:
  explicit Ran(EngineScenario scenario) : rig_(scenario) {
    const absl::Status status = rig_.engine().Run();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(rig_.engine().finished());
    scenario.options.check_invariants = false;
    EngineRig fast(scenario);
    EXPECT_TRUE(fast.engine().Run().ok());
    EXPECT_EQ(fast.RecordLines(), rig_.RecordLines());
  }
  Lines Records() const { return rig_.RecordLines(); }
  std::string Row(size_t job) const { return RowText(rig_, job); }
  int64_t StartOf(size_t job) const {
    const JobRow& row = rig_.jobs().row(JobId(job));
    return row.started_once ? row.first_start.ns() : kForever;
  }
  EngineRig& rig() { return rig_; }
  const EngineRig& rig() const { return rig_; }

 private:
  EngineRig rig_;
};

// ---- Gangs ----

TEST(EngineGangTest, AGangIsPlacedAtOnceOrNotAtAll) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4, 4}, queue);
    s.jobs = {MakeJob("a", 2, 0, 10), MakeGang("g", 3, 2, 1, 5), MakeGang("h", 4, 2, 2, 3)};
    const Ran ran(s);
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived a",        "0 PodBound a n0",       "1 PodArrived g-0",
                     "1 PodArrived g-1",      "1 PodArrived g-2",      "1 PodBound g-0 n0",
                     "1 PodBound g-1 n1",     "1 PodBound g-2 n1",     "2 PodArrived h-0",
                     "2 PodArrived h-1",      "2 PodArrived h-2",      "2 PodArrived h-3",
                     Failed(2, "h-0", 2),     "6 PodFinished g-0 n0",  "6 PodFinished g-1 n1",
                     "6 PodFinished g-2 n1",  Failed(6, "h-3", 2),     "10 PodFinished a n0",
                     "10 PodBound h-0 n0",    "10 PodBound h-1 n0",    "10 PodBound h-2 n1",
                     "10 PodBound h-3 n1",    "13 PodFinished h-0 n0", "13 PodFinished h-1 n0",
                     "13 PodFinished h-2 n1", "13 PodFinished h-3 n1", "13 RunEnded"}));
    EXPECT_EQ(ran.Row(2),
              "Succeeded waited 8 held 3 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
  }
}

TEST(EngineGangTest, TheRemainderOfAGangGoesWhereMostIsIdle) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({}, queue);
    s.nodes = {TestNode("n0", 16000, 4), TestNode("n1", 16000, 4), TestNode("n2", 16000, 2),
               TestNode("n3", 16000, 4)};
    s.shapes = {TestShape(1000, 4), TestShape(1000, 2), TestShape(1000, 2)};
    s.shapes[1].gang_remainder = true;
    s.jobs = {MakeGang("g", 2, 0, 0, 10), MakeJob("p", 2, 1, 5)};
    s.jobs[0].more_pods.push_back({ShapeId(size_t{1}), 1});
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived g-0", "0 PodArrived g-1", "0 PodArrived g-2",
                     "0 PodBound g-0 n0 0-1-2-3", "0 PodBound g-1 n1 0-1-2-3",
                     "0 PodBound g-2 n3 0-1", "1 PodArrived p", "1 PodBound p n2 0-1",
                     "6 PodFinished p n2 0-1", "10 PodFinished g-0 n0 0-1-2-3",
                     "10 PodFinished g-1 n1 0-1-2-3", "10 PodFinished g-2 n3 0-1", "10 RunEnded"}));
  }
}

TEST(EngineGangTest, AGangLargerThanTheClusterIsDroppedOnce) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4, 4}, queue);
    s.jobs = {MakeGang("g", 3, 3, 0, 5), MakeJob("a", 4, 0, 5)};
    Ran ran(s);
    EXPECT_EQ(ran.Records(), (Lines{"0 PodArrived g-0", "0 PodArrived g-1", "0 PodArrived g-2",
                                    Failed(0, "g-2", 2), "0 PodDropped g-0", "0 PodDropped g-1",
                                    "0 PodDropped g-2", "0 PodArrived a", "0 PodBound a n0",
                                    "5 PodFinished a n0", "5 RunEnded"}));
    EXPECT_EQ(ran.rig().engine().never_fitting(), 1u);
    EXPECT_EQ(ran.rig().engine().first_never_fitting(), JobId(size_t{0}));
    EXPECT_EQ(ran.rig().engine().pods_waiting(), 0u);
    // Six cores of six are enough, but not in portions of three.
    s = Cores({3, 3}, queue);
    s.jobs = {MakeGang("g", 3, 2, 0, 5)};
    EXPECT_EQ(Ran(s).Row(0),
              "Dropped waited 0 held 0 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
  }
}

// ---- Ends ----

TEST(EngineEndTest, JobsAreDeletedWhileTheyRunWaitOrStart) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4}, queue);
    s.bind_latency = SimDuration(5);
    s.jobs = {MakeJob("a", 4, 0, 100), MakeJob("b", 4, 1, 10), MakeJob("c", 4, 2, 10)};
    const int64_t deletions_ns[] = {20, 3, 23};
    for (size_t j = 0; j < 3; ++j) {
      s.jobs[j].has_deletion = true;
      s.jobs[j].deletion = SimTime(deletions_ns[j]);
    }
    const Ran ran(s);
    Lines wanted = {"0 PodArrived a",      "0 PodReserved a n0",    "1 PodArrived b",
                    Failed(1, "b", 1),     "2 PodArrived c",        Failed(2, "c", 1),
                    "3 PodDeleted b",      "5 PodBound a n0",       "20 PodDeleted a n0",
                    "20 PodReserved c n0", "23 PodUnreserved c n0", "23 PodDeleted c",
                    "23 RunEnded"};
    // A batch scheduler knows that c fares no better than b.
    if (s.queue == "fifo") wanted.erase(wanted.begin() + 5);
    EXPECT_EQ(ran.Records(), wanted);
    const std::string rest = " lost 0 overhead 0 failed 0 preempted 0 evicted 0";
    EXPECT_EQ(ran.Row(0), "Deleted waited 5 held 15" + rest);
    EXPECT_EQ(ran.Row(1), "Deleted waited 2 held 0" + rest);
    EXPECT_EQ(ran.Row(2), "Deleted waited 21 held 0" + rest);
  }
}

TEST(EngineEndTest, APodThatAUserDeletesIsMadeAnew) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4}, queue);
    s.jobs = {MakeJob("a", 4, 0, 100)};
    // The second one comes too late.
    s.deletions["a"] = {JobDeletion{SimTime(20), false}, JobDeletion{SimTime(200), false}};
    const Ran ran(s);
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "20 PodEvicted a n0 deleted",
                     "20 PodBound a n0", "100 PodFinished a n0", "100 RunEnded"}));
    EXPECT_EQ(ran.Row(0),
              "Succeeded waited 0 held 100 lost 0 overhead 0 failed 0 preempted 0 evicted 1");
    s.options.interruption.grace_period = SimDuration(4);
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "24 PodEvicted a n0 deleted",
                     "24 PodBound a n0", "100 PodFinished a n0", "100 RunEnded"}));
    // While it is being bound.
    s.options.interruption.grace_period = SimDuration();
    s.bind_latency = SimDuration(5);
    s.deletions["a"] = {JobDeletion{SimTime(2), false}};
    EXPECT_EQ(Ran(s).Records(), (Lines{"0 PodArrived a", "0 PodReserved a n0",
                                       "2 PodUnreserved a n0", "2 PodReserved a n0",
                                       "7 PodBound a n0", "107 PodFinished a n0", "107 RunEnded"}));
  }
}

// It is another pod, which knows of no earlier attempt.
TEST(EngineEndTest, AWaitingPodThatAUserDeletesQueuesAnew) {
  EngineScenario s = Cores({4}, "kubernetes");
  s.jobs = {MakeJob("a", 4, 0, 10), MakeJob("b", 4, 1, 10)};
  s.deletions["b"] = {JobDeletion{SimTime(5), false}};
  const Ran ran(s);
  EXPECT_EQ(ran.Records(), (Lines{"0 PodArrived a", "0 PodBound a n0", "1 PodArrived b",
                                  Failed(1, "b", 1), Failed(5, "b", 1), "10 PodFinished a n0",
                                  "10 PodBound b n0", "20 PodFinished b n0", "20 RunEnded"}));
  EXPECT_EQ(ran.Row(1),
            "Succeeded waited 9 held 10 lost 0 overhead 0 failed 0 preempted 0 evicted 1");
}

TEST(EngineEndTest, AnOwnerThatAUserDeletesTakesItsPodsAlong) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4}, queue);
    s.options.interruption.grace_period = SimDuration(4);
    s.jobs = {MakeGang("a", 2, 2, 0, 100), MakeJob("b", 4, 1, 10)};
    s.deletions["a"] = {JobDeletion{SimTime(20), true}};
    s.deletions["b"] = {JobDeletion{SimTime(3), true}};
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived a-0", "0 PodArrived a-1", "0 PodBound a-0 n0",
                     "0 PodBound a-1 n0", "1 PodArrived b", Failed(1, "b", 1), "3 PodDeleted b",
                     "24 PodDeleted a-0 n0", "24 PodDeleted a-1 n0", "24 RunEnded"}));
  }
}

TEST(EngineEndTest, ServicesRunUntilTheyAreDeleted) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4}, queue);
    s.jobs = {MakeJob("x", 4, 0, kForever), MakeJob("y", 4, 1, 5)};
    const Lines begin = {"0 PodArrived x", "0 PodBound x n0", "1 PodArrived y", Failed(1, "y", 1)};
    Lines wanted = begin;
    wanted.push_back("1 RunEnded");
    EXPECT_EQ(Ran(s).Records(), wanted);
    s.jobs[0].has_deletion = true;
    s.jobs[0].deletion = SimTime(30);
    wanted = begin;
    for (const char* const line :
         {"30 PodDeleted x n0", "30 PodBound y n0", "35 PodFinished y n0", "35 RunEnded"}) {
      wanted.push_back(line);
    }
    EXPECT_EQ(Ran(s).Records(), wanted);
  }
}

EngineScenario FailingJobs(absl::string_view queue) {
  EngineScenario s = Cores({4}, queue);
  s.jobs = {MakeJob("a", 4, 0, 10), MakeJob("b", 4, 1, 4)};
  s.jobs[0].failed_attempts = {SimDuration(3), SimDuration(5)};
  s.jobs[1].fails = true;
  return s;
}

// Its submission is what counts first in, first out.
TEST(EngineEndTest, AFailedAttemptKeepsItsPlaceInABatchQueue) {
  const Ran ran(FailingJobs("fifo"));
  EXPECT_EQ(ran.Records(),
            (Lines{"0 PodArrived a", "0 PodBound a n0", "1 PodArrived b", Failed(1, "b", 1),
                   "3 PodEvicted a n0 failed", "3 PodBound a n0", Failed(3, "b", 1),
                   "8 PodEvicted a n0 failed", "8 PodBound a n0", Failed(8, "b", 1),
                   "18 PodFinished a n0", "18 PodBound b n0", "22 PodFailed b n0", "22 RunEnded"}));
  EXPECT_EQ(ran.Row(0),
            "Succeeded waited 0 held 18 lost 0 overhead 0 failed 8 preempted 0 evicted 0");
  EXPECT_EQ(ran.Row(1), "Failed waited 17 held 4 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
}

// Its next attempt is a new pod.
TEST(EngineEndTest, AFailedAttemptGoesBehindInKubernetes) {
  const Ran ran(FailingJobs("kubernetes"));
  EXPECT_EQ(ran.Records(),
            (Lines{"0 PodArrived a", "0 PodBound a n0", "1 PodArrived b", Failed(1, "b", 1),
                   "3 PodEvicted a n0 failed", "3 PodBound b n0", Failed(3, "a", 1),
                   "7 PodFailed b n0", "7 PodBound a n0", "12 PodEvicted a n0 failed",
                   "12 PodBound a n0", "22 PodFinished a n0", "22 RunEnded"}));
  EXPECT_EQ(ran.Row(0),
            "Succeeded waited 4 held 18 lost 0 overhead 0 failed 8 preempted 0 evicted 0");
}

// ---- Preemption ----

EngineScenario SrtfScenario() {
  EngineScenario s = Cores({4}, "srtf");
  s.batch.preempt = true;
  InterruptionCosts::Restart restart;
  restart.delay = SimDuration(3);
  s.options.interruption.restart = {restart};
  s.options.interruption.checkpoint_interval = SimDuration(10);
  s.jobs = {MakeJob("a", 4, 0, 50), MakeJob("b", 4, 17, 5), MakeJob("c", 4, 24, 4)};
  return s;
}

TEST(EnginePreemptionTest, LessWorkDisplacesMoreAndInterruptionsCost) {
  const Ran ran(SrtfScenario());
  // At 17 a has worked up to the checkpoint at 10 and 7 beyond; at 24 it is still restarting.
  EXPECT_EQ(
      ran.Records(),
      (Lines{"0 PodArrived a", "0 PodBound a n0", "17 PodArrived b", Failed(17, "b", 1),
             "17 PodEvicted a n0 preempted", "17 PodBound b n0", Failed(17, "a", 1),
             "22 PodFinished b n0", "22 PodBound a n0", "24 PodArrived c", Failed(24, "c", 1),
             "24 PodEvicted a n0 preempted", "24 PodBound c n0", Failed(24, "a", 1),
             "28 PodFinished c n0", "28 PodBound a n0", "71 PodFinished a n0", "71 RunEnded"}));
  EXPECT_EQ(ran.Row(0),
            "Succeeded waited 9 held 62 lost 7 overhead 5 failed 0 preempted 2 evicted 0");
  EXPECT_EQ(ran.rig().jobs().row(JobId(size_t{0})).runs, 3u);
  EXPECT_EQ(ran.Row(1),
            "Succeeded waited 0 held 5 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
}

TEST(EnginePreemptionTest, EveryCostCanBeSet) {
  EngineScenario s = SrtfScenario();
  s.options.interruption.restarts_add_up = true;
  EXPECT_EQ(Ran(s).Row(0),
            "Succeeded waited 9 held 63 lost 7 overhead 6 failed 0 preempted 2 evicted 0");
  s = SrtfScenario();
  s.options.interruption.keeps_work = false;
  EXPECT_EQ(Ran(s).Row(0),
            "Succeeded waited 9 held 72 lost 17 overhead 5 failed 0 preempted 2 evicted 0");
  s = SrtfScenario();
  s.options.interruption.checkpoint_interval = SimDuration();
  EXPECT_EQ(Ran(s).Row(0),
            "Succeeded waited 9 held 55 lost 0 overhead 5 failed 0 preempted 2 evicted 0");
  s = SrtfScenario();
  s.jobs[0].preemptible = false;
  EXPECT_EQ(Ran(s).StartOf(1), 54);
  EXPECT_EQ(Ran(s).StartOf(2), 50);
}

// Two pods of low priority fill the node; one of them has to go.
EngineScenario PriorityScenario(absl::string_view queue) {
  EngineScenario s = Cores({4}, queue);
  s.jobs = {MakeJob("low1", 2, 0, 100), MakeJob("low2", 2, 1, 100), MakeJob("high", 2, 3, 10)};
  s.jobs[0].priority = 1;
  s.jobs[1].priority = 1;
  s.jobs[2].priority = 5;
  if (s.queue == "kubernetes") {
    s.plugins = {"DefaultPreemption"};
  } else {
    s.batch.preempt_by_priority = true;
  }
  return s;
}

TEST(EnginePreemptionTest, HigherPriorityDisplacesLower) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    const Ran ran(PriorityScenario(queue));
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived low1", "0 PodBound low1 n0", "1 PodArrived low2",
                     "1 PodBound low2 n0", "3 PodArrived high", Failed(3, "high", 1),
                     "3 PodEvicted low2 n0 preempted", "3 PodBound high n0", Failed(3, "low2", 1),
                     "13 PodFinished high n0", "13 PodBound low2 n0", "100 PodFinished low1 n0",
                     "111 PodFinished low2 n0", "111 RunEnded"}));
    EXPECT_EQ(ran.Row(1),
              "Succeeded waited 10 held 100 lost 0 overhead 0 failed 0 preempted 1 evicted 0");
  }
}

TEST(EnginePreemptionTest, VictimsWorkOnUntilTheirGracePeriodIsOver) {
  for (const char* const queue : {"priority", "kubernetes"}) {
    SCOPED_TRACE(queue);
    EngineScenario s = PriorityScenario(queue);
    s.options.interruption.grace_period = SimDuration(4);
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived low1", "0 PodBound low1 n0", "1 PodArrived low2",
                     "1 PodBound low2 n0", "3 PodArrived high", Failed(3, "high", 1),
                     "7 PodEvicted low2 n0 preempted", "7 PodBound high n0", Failed(7, "low2", 1),
                     "17 PodFinished high n0", "17 PodBound low2 n0", "100 PodFinished low1 n0",
                     "111 PodFinished low2 n0", "111 RunEnded"}));
    // One that ends by itself meanwhile was never evicted.
    s.jobs[1].run_time = SimDuration(4);
    const Ran ran(s);
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived low1", "0 PodBound low1 n0", "1 PodArrived low2",
                     "1 PodBound low2 n0", "3 PodArrived high", Failed(3, "high", 1),
                     "5 PodFinished low2 n0", "5 PodBound high n0", "15 PodFinished high n0",
                     "100 PodFinished low1 n0", "100 RunEnded"}));
    EXPECT_EQ(ran.Row(1),
              "Succeeded waited 0 held 4 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
  }
}

// y started last and is the first to go, but x alone is in the way.
TEST(EnginePreemptionTest, WhoIsInNobodysWayIsSpared) {
  EngineScenario s = Cores({4, 2}, "fifo");
  s.batch.preempt_by_priority = true;
  s.jobs = {MakeJob("x", 4, 0, 20), MakeJob("y", 2, 1, 50), MakeJob("high", 3, 3, 10)};
  s.jobs[2].priority = 5;
  EXPECT_EQ(
      Ran(s).Records(),
      (Lines{"0 PodArrived x", "0 PodBound x n0", "1 PodArrived y", "1 PodBound y n1",
             "3 PodArrived high", Failed(3, "high", 2), "3 PodEvicted x n0 preempted",
             "3 PodBound high n0", Failed(3, "x", 2), "13 PodFinished high n0", "13 PodBound x n0",
             "30 PodFinished x n0", "51 PodFinished y n1", "51 RunEnded"}));
}

// ---- Nodes ----

TEST(EngineNodeTest, NodesFailRecoverAreDrainedCordonedAddedAndRemoved) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4, 4, 4}, queue);
    s.nodes[2].absent = true;
    s.options.recreation_delay = SimDuration(3);
    s.jobs = {MakeGang("g", 2, 3, 0, 20), MakeJob("s", 1, 1, 30), MakeJob("w", 4, 2, 6),
              MakeJob("x", 4, 19, 3)};
    s.jobs[1].recreated = false;
    s.node_changes = {MakeChange(5, 0, Action::kFail),     MakeChange(10, 2, Action::kAdd),
                      MakeChange(14, 0, Action::kRecover), MakeChange(16, 1, Action::kDrain),
                      MakeChange(18, 0, Action::kCordon),  MakeChange(22, 1, Action::kUncordon),
                      MakeChange(26, 1, Action::kRemove)};
    const Ran ran(s);
    EXPECT_EQ(
        ran.Records(),
        (Lines{"0 PodArrived g-0", "0 PodArrived g-1", "0 PodBound g-0 n0", "0 PodBound g-1 n1",
               "1 PodArrived s", "1 PodBound s n0", "2 PodArrived w", Failed(2, "w", 2),
               // The gang is recreated at 8; s is not.
               "5 PodEvicted g-0 n0 node-lost", "5 PodEvicted g-1 n1 node-lost", "5 PodFailed s n0",
               "5 NodeChanged n0 unavailable", "5 PodBound w n1", Failed(8, "g-0", 1),
               "10 NodeChanged n2 available", Failed(10, "g-1", 2), "11 PodFinished w n1",
               "11 PodBound g-0 n1", "11 PodBound g-1 n2", "14 NodeChanged n0 available",
               "16 NodeChanged n1 cordoned", "16 PodEvicted g-0 n1 drained",
               "16 PodEvicted g-1 n2 drained", "16 PodBound g-0 n0", "16 PodBound g-1 n2",
               "18 NodeChanged n0 cordoned", "19 PodArrived x",
               "19 AttemptFailed x 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were "
               "unschedulable.",
               "22 NodeChanged n1 uncordoned", "22 PodBound x n1", "25 PodFinished x n1",
               "26 NodeChanged n1 unavailable", "26 PodFinished g-0 n0", "26 PodFinished g-1 n2",
               "26 RunEnded"}));
    EXPECT_EQ(ran.Row(0),
              "Succeeded waited 6 held 20 lost 0 overhead 0 failed 0 preempted 0 evicted 2");
    EXPECT_EQ(ran.Row(1),
              "Failed waited 0 held 4 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
  }
}

TEST(EngineNodeTest, AStartIsTakenBackWhenTheNodeIsLost) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4, 4}, queue);
    s.bind_latency = SimDuration(5);
    s.jobs = {MakeJob("a", 4, 0, 10)};
    s.node_changes = {MakeChange(3, 0, Action::kFail)};
    const Ran ran(s);
    EXPECT_EQ(ran.Records(), (Lines{"0 PodArrived a", "0 PodReserved a n0", "3 PodUnreserved a n0",
                                    "3 NodeChanged n0 unavailable", "3 PodReserved a n1",
                                    "8 PodBound a n1", "18 PodFinished a n1", "18 RunEnded"}));
    EXPECT_EQ(ran.Row(0),
              "Succeeded waited 8 held 10 lost 0 overhead 0 failed 0 preempted 0 evicted 0");
  }
}

TEST(EngineNodeTest, ADrainedPodWorksOnUnlessItsNodeIsLost) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({4, 4}, queue);
    s.options.interruption.grace_period = SimDuration(4);
    s.jobs = {MakeJob("a", 4, 0, 20)};
    s.node_changes = {MakeChange(5, 0, Action::kDrain)};
    EXPECT_EQ(Ran(s).Records(), (Lines{"0 PodArrived a", "0 PodBound a n0",
                                       "5 NodeChanged n0 cordoned", "9 PodEvicted a n0 drained",
                                       "9 PodBound a n1", "20 PodFinished a n1", "20 RunEnded"}));
    s.node_changes.push_back(MakeChange(7, 0, Action::kFail));
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "5 NodeChanged n0 cordoned",
                     "7 PodEvicted a n0 node-lost", "7 NodeChanged n0 unavailable",
                     "7 PodBound a n1", "20 PodFinished a n1", "20 RunEnded"}));
  }
}

// ---- Quotas ----

ResourceAmounts CpuLimit(int64_t cpu_milli) {
  return {cpu_milli, Quotas::kUnlimited, Quotas::kUnlimited};
}

TEST(EngineQuotaTest, JobsOverTheirQuotaWaitAndHoldUpNobody) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Cores({8}, queue);
    s.quotas.Add("t", SimTime(), CpuLimit(4000));
    s.quotas.Add("t", SimTime(12), CpuLimit(6000));
    s.jobs = {MakeJob("a", 3, 0, 10), MakeJob("b", 2, 1, 5), MakeJob("c", 2, 2, 5),
              MakeJob("d", 3, 11, 10)};
    for (JobArrival& job : s.jobs) job.tenant = job.name == "c" ? "u" : "t";
    EXPECT_EQ(Ran(s).Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "1 PodArrived b", "2 PodArrived c",
                     "2 PodBound c n0", "7 PodFinished c n0", "10 PodFinished a n0",
                     "10 PodBound b n0", "11 PodArrived d", "12 PodBound d n0",
                     "15 PodFinished b n0", "22 PodFinished d n0", "22 RunEnded"}));
  }
}

// ---- Backfilling and fairness ----

TEST(EngineBackfillTest, EasyLetsAheadWhatDoesNotDelayTheHead) {
  EXPECT_EQ(Ran(EasyExample()).Records(), (Lines{"0 PodArrived r",         "0 PodBound r n0",
                                                 "1 PodArrived head",      Failed(1, "head", 1),
                                                 "2 PodArrived long",      "3 PodArrived short",
                                                 "3 PodBound short n0",    "4 PodArrived thin",
                                                 Failed(4, "head", 1),     "4 PodBound thin n0",
                                                 "9 PodFinished short n0", Failed(9, "head", 1),
                                                 "10 PodFinished r n0",    "10 PodBound head n0",
                                                 Failed(10, "long", 1),    "15 PodFinished head n0",
                                                 "15 PodBound long n0",    "24 PodFinished thin n0",
                                                 "35 PodFinished long n0", "35 RunEnded"}));
}

TEST(EngineBackfillTest, ConservativeProtectsAllInLine) {
  const Ran easy(ConservativeExample(Backfill::kEasy));
  EXPECT_EQ(easy.StartOf(2), 21);
  EXPECT_EQ(easy.StartOf(3), 3);
  EXPECT_EQ(
      Ran(ConservativeExample(Backfill::kConservative)).Records(),
      (Lines{"0 PodArrived r", "0 PodBound r n0", "1 PodArrived a", "2 PodArrived b",
             "3 PodArrived c", "4 PodArrived d", "4 PodBound d n0", "10 PodFinished r n0",
             "10 PodBound a n0", "19 PodFinished d n0", "20 PodFinished a n0", "20 PodBound b n0",
             "25 PodFinished b n0", "25 PodBound c n0", "43 PodFinished c n0", "43 RunEnded"}));
}

TEST(EngineFairnessTest, DominantSharesAreEqualised) {
  EngineScenario s = DrfExample();
  Lines wanted;
  for (const JobArrival& job : s.jobs) wanted.push_back("0 PodArrived " + job.name);
  for (const char* const job : {"a0", "b0", "a1", "b1", "a2"}) {
    wanted.push_back(absl::StrCat("0 PodBound ", job, " n0"));
  }
  wanted.push_back(Failed(0, "a3", 1));
  wanted.push_back("0 RunEnded");
  EXPECT_EQ(Ran(s).Records(), wanted);
  s.batch.head_of_line = false;
  wanted.insert(wanted.end() - 1, Failed(0, "b2", 1));
  EXPECT_EQ(Ran(s).Records(), wanted);
}

// ---- Checkpoints ----

constexpr int64_t kHalfNs = 500'000'000;

// Gangs, preemption, quotas, node events, failed attempts, deletion and a grace period.
EngineScenario MixedScenario(absl::string_view queue) {
  EngineScenario s = Cores({4, 4, 4}, queue);
  s.nodes[2].absent = true;
  s.use_cache = false;  // even the counters of work are the same after a resumption
  s.options.check_invariants = false;
  s.bind_latency = SimDuration(kHalfNs);
  s.options.recreation_delay = SimDuration(3 * kHalfNs);
  s.options.interruption.checkpoint_interval = SimDuration(4 * kHalfNs);
  InterruptionCosts::Restart restart;
  restart.delay = SimDuration(2 * kHalfNs);
  s.options.interruption.restart = {restart};
  s.jobs = {MakeGang("low", 3, 2, 0, 40),   MakeJob("fail", 2, 1, 10),
            MakeJob("big", 4, 2, 12),       MakeJob("high", 3, 4, 5),
            MakeJob("svc", 1, 6, kForever), MakeJob("small1", 1, 7, 3),
            MakeJob("small2", 2, 8, 6),     MakeJob("late", 4, 40, 4)};
  const char* const tenants[] = {"x", "y", "y", "z", "x", "", "z", "y"};
  const int32_t priorities[] = {1, 1, 1, 9, 2, 0, 3, 1};
  for (size_t j = 0; j < s.jobs.size(); ++j) {
    JobArrival& job = s.jobs[j];
    job.time = SimTime(job.time.ns() * kHalfNs);
    job.run_time = SimDuration(job.run_time.ns() * kHalfNs);
    job.tenant = tenants[j];
    job.priority = priorities[j];
  }
  s.jobs[1].failed_attempts = {SimDuration(3 * kHalfNs)};
  s.jobs[2].more_pods.push_back({ShapeId(size_t{2}), 2});
  s.jobs[4].has_deletion = true;
  s.jobs[4].deletion = SimTime(50 * kHalfNs);
  s.quotas.Add("x", SimTime(), CpuLimit(7000));
  s.quotas.Add("y", SimTime(), CpuLimit(6000));
  s.quotas.Add("y", SimTime(30 * kHalfNs), CpuLimit(12000));
  s.node_changes = {
      MakeChange(14 * kHalfNs, 1, Action::kDrain), MakeChange(20 * kHalfNs, 1, Action::kUncordon),
      MakeChange(24 * kHalfNs, 2, Action::kAdd), MakeChange(28 * kHalfNs, 0, Action::kFail),
      MakeChange(36 * kHalfNs, 0, Action::kRecover)};
  return s;
}

void CheckResumption(EngineScenario scenario) {
  scenario.options.stop_after_events = 10'000;
  EngineRig whole(scenario);
  ASSERT_TRUE(whole.engine().Run().ok());
  ASSERT_TRUE(whole.engine().finished());
  std::map<RecordKind, int> kinds;
  for (const Record& record : whole.records()) ++kinds[record.kind];
  EXPECT_GT(kinds[RecordKind::kPodReserved], 8);
  EXPECT_GT(kinds[RecordKind::kAttemptFailed], 0);
  EXPECT_EQ(kinds[RecordKind::kNodeChanged], 5);
  EXPECT_EQ(kinds[RecordKind::kPodDeleted], 1);
  EXPECT_GT(whole.jobs().row(JobId(size_t{0})).preemptions, 0u);
  uint64_t events = 0;
  while (true) {
    // The second part has one event per attempt, as the whole run.
    const ResumedRun run(scenario, ++events, 10'000);
    if (run.was_over) break;
    ASSERT_EQ(run.loaded, run.saved) << "event " << events;
    ASSERT_EQ(run.records, whole.records()) << "event " << events;
    ASSERT_EQ(run.rig->State(), whole.State()) << "event " << events;
  }
  EXPECT_GT(events, 40u);
}

TEST(EngineJobsCheckpointTest, ARunInKubernetesResumedAfterAnyEventIsTheSameRun) {
  EngineScenario s = MixedScenario("kubernetes");
  s.plugins = {"DefaultPreemption"};
  s.kubernetes.initial_backoff = SimDuration::Seconds(1);
  s.kubernetes.max_backoff = SimDuration::Seconds(10);
  s.options.interruption.grace_period = SimDuration(2 * kHalfNs);
  for (const bool pop_from_backoff : {false, true}) {
    SCOPED_TRACE(pop_from_backoff);
    s.kubernetes.pop_from_backoff = pop_from_backoff;
    CheckResumption(s);
  }
}

TEST(EngineJobsCheckpointTest, ARunWithBackfillingResumedAfterAnyEventIsTheSameRun) {
  EngineScenario s = MixedScenario("fifo");
  s.batch.backfill = Backfill::kEasy;
  s.batch.preempt_by_priority = true;
  CheckResumption(s);
}

TEST(EngineJobsCheckpointTest, ARunOfShortestRemainingTimeResumedAfterAnyEventIsTheSameRun) {
  EngineScenario s = MixedScenario("srtf");
  s.batch.preempt = true;
  CheckResumption(s);
}

TEST(EngineJobsCheckpointTest, AFairRunResumedAfterAnyEventIsTheSameRun) {
  EngineScenario s = MixedScenario("drf");
  s.batch.preempt_by_priority = true;
  s.batch.head_of_line = false;
  CheckResumption(s);
}

// ---- Corners: what a part of the engine remembers, or skips, must not change the run. ----

// Runs the rig to its end, within reason.
void RunToEnd(EngineRig& rig) {
  const absl::Status status = rig.engine().Run();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(rig.engine().finished());
}

Lines RecordsOf(EngineScenario scenario) {
  scenario.options.stop_after_events = 10'000;
  EngineRig rig(scenario);
  RunToEnd(rig);
  return rig.RecordLines();
}

// When each job first began to run; kForever: never.
std::vector<int64_t> StartsOf(EngineScenario scenario) {
  scenario.options.stop_after_events = 10'000;
  EngineRig rig(scenario);
  RunToEnd(rig);
  std::vector<int64_t> starts_ns;
  for (size_t j = 0; j < rig.jobs().size(); ++j) {
    const JobRow& row = rig.jobs().row(JobId(j));
    starts_ns.push_back(row.started_once ? row.first_start.ns() : kForever);
  }
  return starts_ns;
}

// ---- Work ----

// A service has no end, but attempts of it that fail do: they keep their work like others.
TEST(EngineWorkTest, AFailingAttemptOfAServiceKeepsItsWork) {
  EngineScenario s = Cores({4}, "fifo");
  s.options.interruption.checkpoint_interval = SimDuration(10);
  s.jobs = {MakeJob("s", 4, 0, kForever)};
  s.jobs[0].failed_attempts = {SimDuration(20)};
  s.jobs[0].has_deletion = true;
  s.jobs[0].deletion = SimTime(40);
  s.node_changes = {MakeChange(15, 0, Action::kFail), MakeChange(15, 0, Action::kRecover)};
  EngineRig rig(s);
  RunToEnd(rig);
  EXPECT_EQ(rig.RecordLines(),
            (Lines{"0 PodArrived s", "0 PodBound s n0", "15 PodEvicted s n0 node-lost",
                   "15 NodeChanged n0 unavailable", "15 NodeChanged n0 available",
                   "15 PodBound s n0", "25 PodEvicted s n0 failed", "25 PodBound s n0",
                   "40 PodDeleted s n0", "40 RunEnded"}));
  const JobRow& row = rig.jobs().row(JobId(size_t{0}));
  EXPECT_EQ(row.work_lost, SimDuration(5));
  EXPECT_EQ(row.failed_work, SimDuration(20));
  EXPECT_EQ(row.held, SimDuration(40));
}

// ---- Backfilling ----

// r is still being bound when the head asks when r will end.
TEST(EngineReservationTest, JobsThatAreBeingBoundCountAsRunning) {
  EngineScenario s = Cores({10}, "fifo");
  s.batch.backfill = Backfill::kEasy;
  s.bind_latency = SimDuration(2);
  s.jobs = {MakeJob("r", 6, 0, 10), MakeJob("head", 8, 1, 5), MakeJob("long", 3, 1, 20)};
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{2, 14, 21}));
}

// n1 is cordoned, so its idle cores do not count as left over beside the head's reservation.
TEST(EngineReservationTest, CordonedNodesAreNotLeftOver) {
  EngineScenario s = Cores({4, 4}, "fifo");
  s.batch.backfill = Backfill::kEasy;
  s.nodes[1].unschedulable = true;
  s.jobs = {MakeJob("r", 2, 0, 10), MakeJob("head", 4, 1, 5), MakeJob("long", 2, 2, 30)};
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{0, 10, 15}));
}

// While n1 is away the gang cannot run, however long others wait for it.
TEST(EngineReservationTest, WhatCannotBePlacedReservesNothing) {
  EngineScenario s = Cores({4, 4}, "fifo");
  s.batch.backfill = Backfill::kConservative;
  s.jobs = {MakeGang("g", 2, 4, 2, 10), MakeJob("b", 1, 3, 5)};
  s.node_changes = {MakeChange(1, 1, Action::kFail)};
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{kForever, 3}));
  s.node_changes.push_back(MakeChange(20, 1, Action::kRecover));
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{20, 3}));
  // Eight cores of eight, but not three, three and two: each group alone would fit.
  s.node_changes.clear();
  s.jobs[0] = MakeGang("g", 2, 3, 0, 10);
  s.jobs[0].more_pods.push_back({ShapeId(size_t{2}), 1});
  s.jobs[1] = MakeJob("b", 1, 1, 5);
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{kForever, 1}));
}

// The head waited for the node that fails: from then on nothing is in anybody's way.
TEST(EngineReservationTest, TheLossOfAnEmptyNodeIsNews) {
  EngineScenario s = Cores({4, 2, 8}, "fifo");
  s.batch.backfill = Backfill::kEasy;
  s.nodes[2].absent = true;
  s.jobs = {MakeJob("r", 2, 0, 10), MakeGang("head", 3, 2, 1, 5), MakeJob("long", 2, 2, 30)};
  // Without n1 the head's three pods never find room on n0, so that `long` may have it.
  s.node_changes = {MakeChange(5, 1, Action::kFail)};
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{0, kForever, 5}));
}

// ---- Preemption ----

// A failure in a trial on a smaller cluster says nothing about the cluster as it is.
TEST(EngineMemoryTest, AFailureIsRecordedOnceUntilTheClusterChanges) {
  EngineScenario s = Cores({4, 4}, "fifo");
  s.batch.preempt_by_priority = true;
  s.jobs = {MakeJob("a", 2, 0, 20), MakeJob("x", 2, 0, 20), MakeJob("y", 2, 0, 20),
            MakeJob("b", 4, 1, 5), MakeJob("c", 4, 2, 5)};
  const int32_t priorities[] = {5, 0, 5, 1, 0};
  for (size_t j = 0; j < s.jobs.size(); ++j) s.jobs[j].priority = priorities[j];
  EXPECT_EQ(RecordsOf(s),
            (Lines{"0 PodArrived a", "0 PodArrived x", "0 PodArrived y", "0 PodBound a n0",
                   "0 PodBound x n0", "0 PodBound y n1", "1 PodArrived b", Failed(1, "b", 2),
                   "2 PodArrived c", "20 PodFinished a n0", "20 PodFinished x n0",
                   "20 PodFinished y n1", "20 PodBound b n0", "20 PodBound c n1",
                   "25 PodFinished b n0", "25 PodFinished c n1", "25 RunEnded"}));
}

// p asks for the same as q, but may not displace anybody.
TEST(EngineMemoryTest, OfEqualRequestsTheMoreImportantMayStillDisplace) {
  EngineScenario s = Cores({4}, "fifo");
  s.batch.head_of_line = false;
  s.batch.preempt_by_priority = true;
  s.jobs = {MakeJob("v", 4, 0, 50), MakeJob("p", 4, 1, 5), MakeJob("q", 4, 2, 5)};
  const int32_t priorities[] = {3, 1, 9};
  for (size_t j = 0; j < s.jobs.size(); ++j) s.jobs[j].priority = priorities[j];
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{0, 55, 2}));
}

EngineScenario LowAndHigh(absl::string_view queue) {
  EngineScenario s = Cores({4}, queue);
  s.batch.preempt_by_priority = true;
  s.bind_latency = SimDuration(5);
  s.jobs = {MakeJob("low", 4, 0, 100), MakeJob("high", 4, 1, 5)};
  s.jobs[1].priority = 9;
  return s;
}

TEST(EngineMemoryTest, AStartUnderWayIsTakenBackForTheMoreImportant) {
  EXPECT_EQ(
      RecordsOf(LowAndHigh("fifo")),
      (Lines{"0 PodArrived low", "0 PodReserved low n0", "1 PodArrived high", Failed(1, "high", 1),
             "1 PodUnreserved low n0", "1 PodReserved high n0", Failed(1, "low", 1),
             "6 PodBound high n0", "11 PodFinished high n0", "11 PodReserved low n0",
             "16 PodBound low n0", "116 PodFinished low n0", "116 RunEnded"}));
}

// A start has no grace period, so that its room is there at once.
TEST(EnginePassTest, RoomThatIsThereAtOnceIsUsedAtOnce) {
  EngineScenario s = LowAndHigh("priority");
  s.options.interruption.grace_period = SimDuration(4);
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{16, 6}));
}

// The effects of a pass's evictions are part of the pass: the next one takes its own time.
TEST(EnginePassTest, EveryPassTakesItsTime) {
  EngineScenario s = Cores({4}, "fifo");
  s.batch.preempt_by_priority = true;
  s.options.attempt_latency = SimDuration(4);
  s.jobs = {MakeJob("low", 4, 0, 100), MakeJob("high", 3, 10, 20), MakeJob("small", 1, 16, 5)};
  s.jobs[1].priority = 9;
  s.jobs[2].priority = 5;
  s.batch.head_of_line = false;
  EXPECT_EQ(StartsOf(s), (std::vector<int64_t>{4, 14, 20}));
}

// c fails as b did, from memory, and is then looked at for preemption. After a resumption the
// memory is there, but nothing that the cycle kept beside it.
TEST(EngineMemoryTest, PreemptionAfterARememberedFailureIsTheSameAfterAResumption) {
  EngineScenario s = Cores({4}, "kubernetes");
  s.plugins = {"DefaultPreemption"};
  s.jobs = {MakeJob("a", 4, 0, 50), MakeJob("b", 4, 1, 5), MakeJob("c", 4, 3, 5),
            MakeJob("d", 4, 4, 5)};
  const int32_t priorities[] = {5, 1, 1, 9};
  for (size_t j = 0; j < s.jobs.size(); ++j) s.jobs[j].priority = priorities[j];
  EngineRig whole(s);
  RunToEnd(whole);
  for (uint64_t events = 1; events <= 12; ++events) {
    const ResumedRun run(s, events);
    EXPECT_TRUE(run.rig->engine().finished());
    EXPECT_EQ(run.records, whole.records()) << "event " << events;
  }
}

// ---- Waking up ----

// The pod that found no room would not fit n0, which is added; but its fellow would, and leave n1.
TEST(EngineWakeTest, AGangIsTriedAgainForTheSakeOfAnyOfItsPods) {
  EngineScenario s = Cores({4, 8}, "kubernetes");
  s.nodes[0].absent = true;
  s.jobs = {MakeJob("g", 4, 0, 3)};
  s.jobs[0].more_pods.push_back({ShapeId(size_t{8}), 1});
  s.node_changes = {MakeChange(5, 0, Action::kAdd)};
  EXPECT_EQ(RecordsOf(s),
            (Lines{"0 PodArrived g-0", "0 PodArrived g-1", Failed(0, "g-1", 1),
                   "5 NodeChanged n0 available", "5 PodBound g-0 n0", "5 PodBound g-1 n1",
                   "8 PodFinished g-0 n0", "8 PodFinished g-1 n1", "8 RunEnded"}));
}

// A start that is refused at once is tried again when something happens, not over and over.
TEST(EngineWakeTest, ARefusedStartWaitsForNews) {
  HookScript script;
  int refusals = 0;
  script.react = [&refusals](const std::string& step, const PodContext& pod) {
    const bool refused = step == "HookA.Permit" && pod.pod.value() == 0 && pod.now < SimTime(5);
    // Not for ever, lest the test hang.
    return refused && ++refusals < 100 ? Fails(StepCode::kReject) : StepResult();
  };
  const Registry registry = HookRegistry(&script);
  EngineScenario s = Cores({4}, "fifo");
  s.registry = &registry;
  s.score = {{"HookA", 1}};
  s.jobs = {MakeJob("a", 1, 0, 10), MakeJob("b", 1, 5, 10)};
  EXPECT_EQ(RecordsOf(s), (Lines{"0 PodArrived a", "0 AttemptFailed a 0/1 nodes are available.",
                                 "5 PodArrived b", "5 PodBound a n0", "5 PodBound b n0",
                                 "15 PodFinished a n0", "15 PodFinished b n0", "15 RunEnded"}));
  EXPECT_EQ(refusals, 1);
}

// ---- Checkpoints ----

TEST(EngineFillCheckpointTest, AFillWithoutCachesCanBeResumed) {
  EngineScenario s = Cores({2}, "kubernetes");
  s.options.mode = RunMode::kFill;
  s.use_cache = false;
  s.jobs = {MakeJob("a", 1, 0, kForever), MakeJob("b", 2, 0, kForever),
            MakeJob("c", 1, 0, kForever)};
  EngineRig whole(s);
  RunToEnd(whole);
  const ResumedRun run(s, 2);
  ASSERT_FALSE(run.was_over);
  EXPECT_EQ(run.loaded, run.saved);
  EXPECT_TRUE(run.rig->engine().finished());
  EXPECT_EQ(run.records, whole.records());
}

// ---- Standstill: runs that only repeat failed attempts end, however long attempts take and
// whatever the backoff is. Attempts take minutes here. ----

// `services` services of three cores on one node of four. An attempt takes a minute, and a pod that
// failed is tried again after five, so from six services on a round never ends.
EngineScenario Services(size_t services) {
  EngineScenario s = Cores({4}, "kubernetes");
  s.kubernetes = KubernetesQueueOptions();
  s.options.attempt_latency = SimDuration(kMinuteNs);
  for (size_t i = 0; i < services; ++i) {
    s.jobs.push_back(MakeJob(absl::StrCat("s", i), 3, 0, kForever));
  }
  return s;
}

// Whether the run ends within its limit of events.
bool Ends(EngineRig& rig) {
  EXPECT_EQ(rig.engine().Run(), absl::OkStatus());
  return rig.engine().finished();
}

TEST(EngineStandstillTest, RoundsThatOutlastTheFlushOfTheQueueEnd) {
  EngineScenario s = Services(10);
  s.options.stop_after_events = 10'000;
  EngineRig rig(s);
  ASSERT_TRUE(Ends(rig));
  for (size_t j = 1; j < 10; ++j) {
    EXPECT_GE(rig.jobs().row(JobId(j)).attempts_failed, 3u) << j;
    EXPECT_LE(rig.jobs().row(JobId(j)).attempts_failed, 5u) << j;
  }
}

// The last in line fits, but its turn comes after half an hour without any progress.
TEST(EngineStandstillTest, EveryJobHasHadItsTurns) {
  EngineScenario s = Services(30);
  s.jobs.push_back(MakeJob("last", 1, 0, kForever));
  s.options.stop_after_events = 100'000;
  EngineRig rig(s);
  ASSERT_TRUE(Ends(rig));
  EXPECT_EQ(rig.jobs().row(JobId(size_t{30})).state, JobState::kRunning);
  EXPECT_EQ(rig.jobs().row(JobId(size_t{30})).started, SimTime(31 * kMinuteNs));
}

// An event that is due may help: a node joins after an hour.
TEST(EngineStandstillTest, NothingEndsBeforeWhatIsDue) {
  EngineScenario s = Services(10);
  s.nodes.push_back(s.nodes[0]);
  s.nodes[1].name = "n1";
  s.nodes[1].absent = true;
  s.node_changes = {MakeChange(60 * kMinuteNs, 1, NodeTransition::Action::kAdd)};
  s.options.stop_after_events = 10'000;
  EngineRig rig(s);
  ASSERT_TRUE(Ends(rig));
  EXPECT_EQ(rig.jobs().running_jobs(), 2u);
}

// The count of rounds is part of the state that a checkpoint holds.
TEST(EngineStandstillTest, AResumedRunEndsWhereAnotherDoes) {
  EngineScenario s = Services(10);
  s.options.stop_after_events = 10'000;
  EngineRig whole(s);
  ASSERT_TRUE(Ends(whole));
  for (const uint64_t events : {15u, 25u, 35u}) {
    const ResumedRun run(s, events, 10'000);
    ASSERT_FALSE(run.was_over);
    EXPECT_TRUE(run.rig->engine().finished());
    EXPECT_EQ(run.rig->engine().now(), whole.engine().now()) << events;
    EXPECT_EQ(run.rig->engine().records(), whole.engine().records()) << events;
  }
}

TEST(EngineStandstillTest, TimeThatStandsStillIsAnError) {
  EngineScenario s = Cores({4}, "kubernetes");
  s.options.check_invariants = false;
  s.jobs = {MakeJob("a", 1, 0, 100)};
  for (int i = 0; i < 1000; ++i) {
    s.node_changes.push_back(MakeChange(5, 0, NodeTransition::Action::kCordon));
    s.node_changes.push_back(MakeChange(5, 0, NodeTransition::Action::kUncordon));
  }
  s.options.max_records_per_instant = 1000;
  EngineRig enough(s);
  EXPECT_EQ(enough.engine().Run(), absl::OkStatus());  // the job allows for a thousand more
  s.options.max_records_per_instant = 999;
  EngineRig rig(s);
  const absl::Status status = rig.engine().Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(absl::StartsWith(status.message(), "time stands still: 2000 records at 5 ns"))
      << status;
}

}  // namespace engine_jobs_test
}  // namespace drasim
