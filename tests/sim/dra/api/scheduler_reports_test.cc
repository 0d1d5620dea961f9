// kube-scheduler's reports of its attempts: conditions through its own client, events through a
// client beside it.
#include "sim/dra/api/scheduler_reports.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim {
namespace scheduler_reports_test {

constexpr char kEvents[] = "scheduler-events";

// A pod with a claim, which is placed in its second attempt: the first asks the driver.
DraScenario OnePod(bool reports) {
  DraScenario s = StoryScenario({1, 1});
  s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
  s.plane.scheduler_reports = reports;
  return s;
}

Lines WithoutReports(const Lines& calls) {
  Lines rest;
  for (const std::string& call : calls) {
    if (!absl::StartsWith(call, kEvents) && call != "scheduler PATCH pods/status") {
      rest.push_back(call);
    }
  }
  return rest;
}

TEST(SchedulerReportsTest, OneConditionAndTwoEventsForAPodWithAClaim) {
  DraRig rig(OnePod(true));
  DraStory story(&rig);
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_EQ(rig.plane().scheduler().attempts(), 2u);
  EXPECT_EQ(story.Messages("scheduler", "PATCH pods/status"), 1) << story.Text();
  // FailedScheduling and Scheduled.
  EXPECT_EQ(story.Messages(kEvents, "POST events"), 2) << story.Text();
  EXPECT_EQ(story.Messages(kEvents, "PATCH events"), 0) << story.Text();
}

TEST(SchedulerReportsTest, NobodyElseCallsMoreOrLess) {
  DraRig with(OnePod(true));
  ASSERT_EQ(with.Run(), absl::OkStatus());
  DraRig without(OnePod(false));
  ASSERT_EQ(without.Run(), absl::OkStatus());
  EXPECT_EQ(WithoutReports(with.Calls()), without.Calls());
  EXPECT_EQ(with.Calls().size(), without.Calls().size() + 3);
}

// Calls are counted by component: the client of the events is a row of its own.
TEST(SchedulerReportsTest, WritesAreCountedByClient) {
  DraRig rig(OnePod(true));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  uint64_t writes_of_scheduler = 0;
  uint64_t writes_of_events = 0;
  for (size_t c = 0; c < rig.plane().network().clients(); ++c) {
    const auto id = static_cast<ClientId>(c);
    const std::string& name = rig.plane().network().client(id).options().name;
    if (name == "scheduler") writes_of_scheduler = rig.plane().counts(id).writes;
    if (name == kEvents) writes_of_events = rig.plane().counts(id).writes;
  }
  // The context, the condition, the binding, the context's deletion.
  EXPECT_EQ(writes_of_scheduler, 4u);
  EXPECT_EQ(writes_of_events, 2u);
}

// One call a second, of each client. The condition takes a second of the scheduler's, for which
// the next attempt waits; the events take of their own, and hold up nothing.
TEST(SchedulerReportsTest, ConditionsUseTheSchedulersRateLimitAndEventsTheirOwn) {
  for (const bool reports : {false, true}) {
    DraScenario s = OnePod(reports);
    s.plane.scheduler.qps = 1;
    s.plane.scheduler.burst = 1;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.TimeOf("pod (context): selects node-0"), 0) << story.Text();
    EXPECT_EQ(story.BoundAt("pod"), reports ? 2 : 1) << story.Text();
  }
}

// "plain-big" finds no room at 10 s; the condition of that delays the context of a pod that comes
// after it.
TEST(SchedulerReportsTest, AConditionDelaysTheContextOfAnotherPod) {
  for (const bool reports : {false, true}) {
    DraScenario s = StoryScenario({1});
    s.engine.pods = {{"plain-small", 0, 0, 100 * kStorySecond, 0},
                     {"plain-big", 1, 10 * kStorySecond, 1 * kStorySecond, 0},
                     {"pod", 0, 10 * kStorySecond, 20 * kStorySecond, 0}};
    s.plane.scheduler_reports = reports;
    s.plane.scheduler.qps = 1;
    s.plane.scheduler.burst = 1;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.TimeOf("pod (context): selects node-0"), reports ? 11 : 10) << story.Text();
    EXPECT_EQ(story.BoundAt("pod"), reports ? 13 : 11) << story.Text();
  }
}

// The message is the same after every attempt, so one PATCH says it all; each new state of the pod
// has an event of its own.
TEST(SchedulerReportsTest, AConditionThatIsThereAlreadyIsNotWrittenAgain) {
  DraScenario s = StoryScenario({1});
  s.engine.pods = {{"plain-1", 0, 0, 20 * kStorySecond, 0},
                   {"plain-2", 0, 0, 40 * kStorySecond, 0},
                   {"plain-3", 0, 0, 60 * kStorySecond, 0},
                   {"plain-big", 1, 1 * kStorySecond, 1 * kStorySecond, 0}};
  s.plane.scheduler_reports = true;
  DraRig rig(std::move(s));
  DraStory story(&rig);
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_EQ(story.Messages("scheduler", "PATCH pods/status"), 1) << story.Text();
}

// The call that the scheduling thread waits for is lost with the process; the next one goes on.
TEST(SchedulerReportsTest, ARestartEndsTheWaitForACondition) {
  DraScenario s = OnePod(true);
  s.plane.scheduler.qps = 0.1;
  s.plane.scheduler.burst = 1;
  DraRig rig(std::move(s));
  DraStory story(&rig);
  story.At(1, [&] { rig.plane().faults().Restart("scheduler", SimDuration::Seconds(1)); });
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_GE(story.BoundAt("pod"), 2) << story.Text();
  EXPECT_LT(story.BoundAt("pod"), 10) << story.Text();
}

}  // namespace scheduler_reports_test
}  // namespace drasim
