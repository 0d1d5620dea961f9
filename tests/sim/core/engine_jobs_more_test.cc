// Corners of the life of jobs: each is a scenario in which what a part of the engine remembers, or
// does not look at, could change what happens. Times are plain nanoseconds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/job_scenarios.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace engine_jobs_more_test {

using Action = NodeTransition::Action;

std::string Failed(int64_t at_ns, absl::string_view pod, int nodes) {
  return absl::StrCat(at_ns, " AttemptFailed ", pod, " 0/", nodes, " nodes are available: ", nodes,
                      " Insufficient cpu.");
}

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

// What is idle on n1 is of no use to anybody, so that nothing is left over beside the head.
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

// What was tried out on a smaller cluster says nothing about the cluster as it is.
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

// What evictions of a pass set in motion is part of the pass: the next one takes its own time.
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
    s.options.stop_after_events = events;
    EngineRig first(s);
    ASSERT_TRUE(first.engine().Run().ok());
    const std::string state = first.State();
    s.options.stop_after_events = 0;
    EngineRig second(s);
    StateReader in(state);
    ASSERT_TRUE(second.engine().Load(in).ok()) << in.status();
    RunToEnd(second);
    std::vector<Record> records = first.records();
    records.insert(records.end(), second.records().begin(), second.records().end());
    EXPECT_EQ(records, whole.records()) << "event " << events;
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
  s.options.stop_after_events = 2;
  EngineRig first(s);
  ASSERT_TRUE(first.engine().Run().ok());
  const std::string state = first.State();
  s.options.stop_after_events = 0;
  EngineRig second(s);
  StateReader in(state);
  ASSERT_TRUE(second.engine().Load(in).ok()) << in.status();
  EXPECT_EQ(second.State(), state);
  RunToEnd(second);
  std::vector<Record> records = first.records();
  records.insert(records.end(), second.records().begin(), second.records().end());
  EXPECT_EQ(records, whole.records());
}

}  // namespace engine_jobs_more_test
}  // namespace drasim
