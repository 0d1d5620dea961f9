// Syncs one after another and at the same time: retries, what takes time, own writes, restarts,
// releases that cross allocations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/devices/counting_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/driver_controller.h"
#include "tests/sim/dra/driver_controller_world.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace driver_controller_time_test {

using driver_controller_testing::kWorker;
using driver_controller_testing::kWorker2;
using driver_controller_testing::Nodes;
using driver_controller_testing::Objects;
using driver_controller_testing::ObjectsText;
using driver_controller_testing::Texts;
using driver_controller_testing::World;
using driver_controller_testing::WorldOptions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AllocationMode kImmediate = AllocationMode::kImmediate;
const absl::Status kNoRoom = absl::ResourceExhaustedError("no room");

WorldOptions DecidesAfter(double seconds) {
  WorldOptions options;
  options.controller.decision_latency = Distribution::Constant(seconds).value();
  return options;
}

Ref<ResourceClaim> AddImmediate(World& world, absl::string_view name) {
  return world.AddClaim(world.ClaimOf(name, "mock-class", kImmediate));
}
// A pod with the delayed claim "a" of its entry "A".
Ref<PodSchedulingContext> AddPodWithClaim(World& world, const Nodes& potential, NodeId selected) {
  world.AddClaim(world.ClaimOf("a"));
  return world.AddContext(*world.AddPod({{"A", "a"}}), potential, selected);
}
ResourceClaim Now(World& world, absl::string_view claim) {
  const Ref<ResourceClaim> now =
      world.network().server().objects().claim(world.N("default"), world.N(claim));
  return now == nullptr ? ResourceClaim() : *now;
}
size_t Count(const Texts& texts, absl::string_view text) {
  return static_cast<size_t>(std::count(texts.begin(), texts.end(), text));
}

// --- Retries. ---

TEST(DriverControllerTimeTest, FailuresAreRepeatedWithBackoffUntilTheyEnd) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  AddImmediate(world, "a");
  world.driver.verbose = true;
  world.driver.allocate_errors["a"] = kNoRoom;
  world.Start();
  world.RunTo(100);
  const auto allocates = [&world] {
    Texts calls = world.driver.TakeCalls();
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [](const auto& call) { return !absl::StrContains(call, "Alloc"); }),
                calls.end());
    return calls;
  };
  // The second try is the event of its finalizer.
  EXPECT_THAT(allocates(),
              ElementsAre("0 ms: Allocate a on -", "0 ms: Allocate a on -", "5 ms: Allocate a on -",
                          "25 ms: Allocate a on -", "65 ms: Allocate a on -"));
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 0, periodic 0, failed 5");
  EXPECT_EQ(world.controller().last_result().error, "allocate: no room");
  EXPECT_TRUE(world.controller().idle());
  world.driver.allocate_errors.clear();
  world.RunTo(200);
  EXPECT_THAT(allocates(), ElementsAre("145 ms: Allocate a on -"));
  // What has succeeded begins with 5 ms again.
  ResourceClaim stale = Now(world, "a");
  world.driver.deallocate_error = kNoRoom;
  world.ChangeStatus(stale, [](ClaimStatus* status) { status->deallocation_requested = true; });
  world.RunTo(206);
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre(absl::StrCat("200 ms: Deallocate ", stale.meta.uid),
                          absl::StrCat("205 ms: Deallocate ", stale.meta.uid)));
}

TEST(DriverControllerTimeTest, AClaimOfAnotherDriverIsLookedAtAgain) {
  World world;
  const Ref<ResourceClass> resource_class = world.AddClass("mock-class", "other-driver");
  AddImmediate(world, "a");
  world.Start();
  world.RunTo(4);
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 1, periodic 0, failed 0");
  world.Change<ResourceClass>(Verb::kUpdate, *resource_class, [&world](ResourceClass* next) {
    next->driver = world.N("mock-driver");
  });
  world.RunTo(4);  // the change of a class wakes nobody
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 1, periodic 0, failed 0");
  world.RunTo(5);
  EXPECT_NE(Now(world, "a").status.allocation, nullptr);
}

TEST(DriverControllerTimeTest, ContextsAreLookedAtEvery30Seconds) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, NodeId());
  world.driver.verbose = true;
  world.Start();
  world.RunTo(29'999);
  world.driver.TakeCalls();
  world.driver.unsuitable["A"] = {kWorker};
  world.RunTo(59'999);
  const Texts calls = world.driver.TakeCalls();
  EXPECT_EQ(Count(calls, "30000 ms: UnsuitableNodes a=A of 4"), 2u);  // and the event of its write
  EXPECT_EQ(calls.size(), 4u);                                        // with CheckParameters
  EXPECT_THAT(world.Snapshot().contexts[0].claims[0].unsuitable, ElementsAre(kWorker));

  // Events in between do not leave more chains behind.
  for (int i = 0; i < 5; ++i) {
    world.controller().Queue(DriverController::ContextKey(context->meta.uid));
  }
  world.TakeMessages();
  world.RunTo(149'999);
  EXPECT_EQ(Count(world.TakeMessages(), "GET pods pod 200"), 3u);
  // It ends with the context.
  world.Delete(*context);
  EXPECT_TRUE(world.network().RunToRest(SimTime(200 * kSecondNs)));
  EXPECT_THAT(world.TakeMessages(), IsEmpty());
}

// --- What takes time. ---

TEST(DriverControllerTimeTest, ADecisionIsTakenWhenItsTimeIsOver) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  AddPodWithClaim(world, {kWorker}, kWorker);
  AddImmediate(world, "b");
  world.driver.verbose = true;
  world.Start();
  EXPECT_FALSE(world.controller().idle());
  world.RunTo(5000);
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre("0 ms: CheckParameters b", "0 ms: CheckParameters a=A",
                          "2000 ms: Allocate b on -", "2000 ms: UnsuitableNodes a=A of 4",
                          "4000 ms: Allocate a=A on 4"));
  EXPECT_TRUE(world.controller().idle());
}

TEST(DriverControllerTimeTest, NoMoreSyncsAtATimeThanWorkers) {
  for (const int workers : {1, 2}) {
    WorldOptions options = DecidesAfter(1);
    options.controller.workers = workers;
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    for (const char* name : {"a", "b", "c"}) AddImmediate(world, name);
    world.Start();
    for (int64_t second = 1; second <= 3; ++second) {
      world.RunTo(1000 * second);
      EXPECT_EQ(world.driver.TakeCalls().size(), static_cast<size_t>(workers == 1  ? 1
                                                                     : second == 1 ? 2
                                                                     : second == 2 ? 1
                                                                                   : 0))
          << workers << " workers, second " << second;
    }
  }
}

// With latencies every call is a step of its own; all of it is as without.
TEST(DriverControllerTimeTest, CallsThatTakeTimeLeadToTheSame) {
  WorldOptions slow = DecidesAfter(0.1);
  slow.read = 0.01;
  slow.write = 0.02;
  slow.watch = 0.03;
  std::vector<std::string> left;
  for (const WorldOptions& options : {WorldOptions(), slow}) {
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    AddPodWithClaim(world, {kWorker, kWorker2}, kWorker);
    AddImmediate(world, "b");
    world.Start();
    world.RunTo(1000);
    Texts messages = world.TakeMessages();
    // What follows from own events depends on when they come.
    messages.erase(std::remove(messages.begin(), messages.end(), "GET pods pod 200"),
                   messages.end());
    std::sort(messages.begin(), messages.end());
    left.push_back(absl::StrCat(ObjectsText(world.Snapshot()), absl::StrJoin(messages, "\n")));
  }
  EXPECT_EQ(left[0], left[1]);
}

// --- Own writes, and others'. ---

TEST(DriverControllerTimeTest, ItKnowsItsOwnWritesOfClaimsBeforeTheyAreTold) {
  WorldOptions options;
  options.watch = 10;
  World world(options);
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, kWorker);
  world.Start();
  world.driver.TakeCalls();
  world.controller().Queue(DriverController::ContextKey(context->meta.uid));
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.Outcomes(), "done 1, requeue 0, periodic 2, failed 0");
}

// Those of contexts only without upstream's quirks.
TEST(DriverControllerTimeTest, UpstreamForgetsItsOwnWritesOfContexts) {
  for (const bool strict : {true, false}) {
    WorldOptions options;
    options.watch = 10;
    options.controller.behaviour.strict_upstream = strict;
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, NodeId());
    world.Start();
    world.driver.unsuitable["A"] = {kWorker};
    world.TakeMessages();
    world.controller().Queue(DriverController::ContextKey(context->meta.uid));
    EXPECT_THAT(
        world.TakeMessages(),
        ElementsAre("GET pods pod 200",
                    absl::StrCat("PUT podschedulingcontexts/status pod ", strict ? 409 : 200)));
    EXPECT_EQ(absl::StartsWith(world.controller().last_result().error, "unsuitable nodes: "),
              strict);
  }
}

TEST(DriverControllerTimeTest, AnAllocationThatCouldNotBeWrittenIsTriedAgain) {
  World world(DecidesAfter(1));
  world.AddClass("mock-class", "mock-driver");
  const Ref<ResourceClaim> claim = AddImmediate(world, "a");
  world.Start();
  world.Change<ResourceClaim>(Verb::kUpdate, *claim,
                              [](ResourceClaim* next) { next->labels.emplace_back("k", "v"); });
  world.RunTo(1000);
  EXPECT_TRUE(absl::StartsWith(world.controller().last_result().error,
                               "allocate: add allocation: resourceclaims \"default/a\": it is at"))
      << world.controller().last_result().error;
  world.RunTo(3000);
  EXPECT_NE(Now(world, "a").status.allocation, nullptr);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(2, "Allocate a on -"));
}

// The labels change on the server while the status is under way, and again while the finalizer is.
TEST(DriverControllerTimeTest, RefusedWritesOfARelease) {
  WorldOptions options;
  options.write = 1;
  World world(options);
  world.AddClass("mock-class", "mock-driver");
  ResourceClaim claim = world.ClaimOf("a");
  world.Allocated(kWorker, &claim);
  claim.status.deallocation_requested = true;
  const Ref<ResourceClaim> added = world.AddClaim(claim);
  world.Start();
  const auto label = [&](absl::string_view text) {
    world.Change<ResourceClaim>(Verb::kUpdate, *added, [text](ResourceClaim* next) {
      next->labels = {{"k", std::string(text)}};
    });
  };
  label("first");
  world.RunTo(1999);  // the event has led to the second try
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 0, periodic 0, failed 1");
  EXPECT_EQ(world.controller().last_result().error,
            absl::StrCat("remove allocation: resourceclaims \"default/a\": it is at version ",
                         Now(world, "a").meta.version, ", not ", added->meta.version));
  world.RunTo(2500);
  EXPECT_TRUE(Now(world, "a").status == ClaimStatus());
  label("second");
  // There is nothing to be released any more: the finalizer stays until the claim is deleted.
  world.RunTo(9000);
  EXPECT_EQ(world.Outcomes(), "done 2, requeue 0, periodic 0, failed 2");
  EXPECT_THAT(world.TakeMessages(),
              ElementsAre("PUT resourceclaims/status a 409", "PUT resourceclaims/status a 200",
                          "PUT resourceclaims a 409"));
  EXPECT_THAT(Now(world, "a").meta.finalizers, ElementsAre(world.Finalizer()));
  const std::string deallocate = absl::StrCat("Deallocate ", added->meta.uid);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(2, deallocate));
  world.Delete(*added);
  world.RunTo(10'000);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(1, deallocate));
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
}

// --- Releases. ---

TEST(DriverControllerTimeTest, AReservedClaimIsLeftAloneWhileItIsDeleted) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  const Ref<Pod> pod = world.AddPod({});
  ResourceClaim claim = world.ClaimOf("a");
  world.Allocated(kWorker, &claim);
  world.Reserved(*pod, &claim);
  const Ref<ResourceClaim> added = world.AddClaim(claim);
  world.Delete(*added);
  world.Start();
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_THAT(world.TakeMessages(), IsEmpty());
  world.ChangeStatus(*added, [](ClaimStatus* status) {
    status->reserved_for.clear();
    status->deallocation_requested = true;
  });
  world.RunTo(0);
  EXPECT_THAT(world.driver.TakeCalls(), ElementsAre(absl::StrCat("Deallocate ", added->meta.uid)));
  EXPECT_THAT(world.TakeMessages(),
              ElementsAre("PUT resourceclaims/status a 200", "PUT resourceclaims a 200"));
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
}

// Deallocate ends an allocation under way: its devices would never come back.
TEST(DriverControllerTimeTest, AReleaseStopsADecisionUnderWay) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {}, kWorker);
  world.Start();
  world.RunTo(1000);
  world.Delete(Now(world, "a"));
  world.RunTo(1000);
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
  EXPECT_EQ(world.driver.TakeCalls().size(), 1u);  // Deallocate
  world.RunTo(2000);
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.controller().last_result().error, "claim a: deallocated meanwhile");
}

TEST(DriverControllerTimeTest, AClaimThatIsGoneHoldsNothingUnlessUpstreamsQuirksAreKept) {
  for (const bool strict : {true, false}) {
    WorldOptions options;
    options.controller.behaviour.strict_upstream = strict;
    World world(options);
    world.Start();
    const Ref<ResourceClaim> claim = world.AddClaim(world.ClaimOf("a"));
    world.Delete(*claim);
    world.RunTo(0);
    EXPECT_EQ(world.driver.TakeCalls(),
              strict ? Texts() : Texts({absl::StrCat("Deallocate ", claim->meta.uid)}));
  }
}

// --- Restarts. ---

TEST(DriverControllerTimeTest, ARestartForgetsWhatWasUnderWayAndListsAnew) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  ResourceClaim allocated = world.ClaimOf("old");
  world.Allocated(kWorker, &allocated);
  world.AddClaim(allocated);
  allocated.meta.name = world.N("foreign");
  allocated.status.driver = world.N("other-driver");
  world.AddClaim(allocated);
  AddPodWithClaim(world, {}, kWorker);
  world.driver.verbose = true;
  world.Start();
  EXPECT_EQ(world.driver.restored(), "old");
  world.RunTo(1000);
  world.network().Restart(world.client().id(), SimDuration::Seconds(5));
  world.RunTo(5999);
  world.driver.TakeCalls();
  ResourceClaim late = world.ClaimOf("late");
  world.Allocated(kWorker, &late);
  world.AddClaim(late);
  world.RunTo(20'000);
  EXPECT_EQ(world.driver.restored(), "old late");
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre("6000 ms: CheckParameters a=A", "8000 ms: Allocate a=A on 4"));
  EXPECT_TRUE(world.controller().idle());
}

}  // namespace driver_controller_time_test
}  // namespace drasim
