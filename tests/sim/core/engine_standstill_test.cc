// Runs that only repeat what has failed: they end, however long attempts take and whatever the
// backoff is. Times are nanoseconds; attempts take minutes here.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "sim/core/engine.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/job_scenarios.h"

namespace drasim {
namespace engine_standstill_test {

constexpr int64_t kMinuteNs = 60'000'000'000;

// Services of three cores, so many, on one node of four. An attempt takes a minute, a pod that
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

// Whether the run comes to its end within so many events.
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
    s.options.stop_after_events = events;
    EngineRig first(s);
    ASSERT_FALSE(Ends(first));
    s.options.stop_after_events = 10'000;
    EngineRig second(s);
    const std::string state = first.State();
    StateReader in(state);
    ASSERT_EQ(second.engine().Load(in), absl::OkStatus());
    ASSERT_TRUE(Ends(second));
    EXPECT_EQ(second.engine().now(), whole.engine().now()) << events;
    EXPECT_EQ(second.engine().records(), whole.engine().records()) << events;
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

}  // namespace engine_standstill_test
}  // namespace drasim
