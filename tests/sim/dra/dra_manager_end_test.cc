// How pods end before their time, and what the kubelets make of faults.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/dra_manager.h"
#include "tests/sim/dra/dra_manager_world.h"

namespace drasim {
namespace dra_manager_end_test {

using dra_manager_testing::kNode;
using dra_manager_testing::kOther;
using dra_manager_testing::Lines;
using dra_manager_testing::Millis;
using dra_manager_testing::Sharp;
using dra_manager_testing::World;
using dra_manager_testing::WorldOptions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A pod with claim "c" hears of itself at 5 ms, has its claim at 15, prepares it until 1015, and
// runs from 1035 on. To unprepare it takes 400 ms.
WorldOptions Slow() {
  WorldOptions options = Sharp();
  options.read_ms = 10;
  options.write_ms = 20;
  options.watch_ms = 5;
  return options;
}
void TakeTime(World& world) {
  world.prepare_ms["c"] = 1000;
  world.unprepare_ms["c"] = 400;
}
class DraManagerEndTest : public ::testing::Test {
 protected:
  DraManagerEndTest() : world_(Slow()) {
    TakeTime(world_);
    world_.AddClaim("c");
  }
  // Runs to the moment and forgets what was logged.
  void RunUntil(int64_t ms) {
    world_.RunMillis(ms - world_.network().now().ns() / 1'000'000);
    world_.Take();
  }
  Lines Rest() {
    world_.Rest();
    return world_.Take();
  }
  World world_;
};

// --- Deletion. ---

TEST_F(DraManagerEndTest, DeletedWhileItRuns) {
  world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.Delete("p");
  EXPECT_THAT(Rest(), ElementsAre("2005 unprepare gpu c", "2425 PATCH pods/status p Failed",
                                  "2425 ended p", "2445 DELETE pods p"));
  EXPECT_EQ(world_.pod("p"), nullptr);
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
}

// The GET is not broken off, so that the pod refers to the claim; nothing has been prepared.
TEST_F(DraManagerEndTest, DeletedWhileItsClaimIsFetched) {
  world_.RunPod("p", {"c"});
  RunUntil(6);
  world_.Delete("p");
  EXPECT_THAT(Rest(), ElementsAre("15 GET resourceclaims c", "35 PATCH pods/status p Failed",
                                  "35 ended p", "55 DELETE pods p"));
}

TEST_F(DraManagerEndTest, DeletedWhileItsClaimIsPrepared) {
  world_.RunPod("p", {"c"});
  RunUntil(500);
  world_.Delete("p");
  RunUntil(1014);
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(Rest(), ElementsAre("1015 unprepare gpu c", "1435 PATCH pods/status p Failed",
                                  "1435 ended p", "1455 DELETE pods p"));
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
}

TEST_F(DraManagerEndTest, DeletedBetweenTwoPlugins) {
  world_.AddClaim("d", {"nic"});
  world_.RunPod("p", {"c", "d"});
  RunUntil(500);
  world_.Delete("p");
  EXPECT_THAT(Rest(), ElementsAre("1025 unprepare gpu c", "1445 PATCH pods/status p Failed",
                                  "1445 ended p", "1465 DELETE pods p"));
}

TEST_F(DraManagerEndTest, DeletedWhileItsStartIsReported) {
  world_.RunPod("p", {"c"});
  RunUntil(1020);
  world_.Delete("p");
  EXPECT_THAT(Rest(),
              ElementsAre("1035 PATCH pods/status p Running", "1035 unprepare gpu c",
                          "1455 PATCH pods/status p Failed", "1455 ended p", "1475 DELETE pods p"));
}

TEST_F(DraManagerEndTest, DeletedWhileItWaitsForItsClaim) {
  world_.AddPod("p", {world_.Uses("c")});
  RunUntil(3000);
  world_.Delete("p");
  EXPECT_THAT(Rest(),
              ElementsAre("3025 PATCH pods/status p Failed", "3025 ended p", "3045 DELETE pods p"));
  EXPECT_EQ(world_.kubelet().failed_prepares(), uint64_t{1});
}

TEST_F(DraManagerEndTest, DeletedBeforeTheKubeletHeardOfIt) {
  world_.network().BreakWatch(0, SimDuration::Seconds(1));
  world_.RunPod("p", {"c"});
  world_.Delete("p");
  EXPECT_THAT(Rest(),
              ElementsAre("1020 PATCH pods/status p Failed", "1020 ended p", "1040 DELETE pods p"));
}

TEST_F(DraManagerEndTest, ReplacedWhileItIsDeleted) {
  world_.RunPod("p", {});
  RunUntil(2000);
  world_.Delete("p");
  RunUntil(2030);
  world_.Delete("p", /*force=*/true);
  world_.AddPod("p", {});
  EXPECT_THAT(Rest(), ElementsAre("2045 DELETE pods p 409", "2055 PATCH pods/status p Running",
                                  "2055 started p"));
}

TEST_F(DraManagerEndTest, DeletedWhileItEnds) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(2100);
  world_.Delete("p");
  EXPECT_THAT(Rest(), ElementsAre("2420 PATCH pods/status p Succeeded", "2420 ended p",
                                  "2440 DELETE pods p"));
}

TEST_F(DraManagerEndTest, DeletedAfterItsEndItIsTheServersBusiness) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(3000);
  world_.Delete("p");
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(DraManagerEndTest, DeletionWaitsForAnotherPodsClaim) {
  world_.RunPod("p", {"c"});
  const Uid other = world_.RunPod("q", {"c"});
  RunUntil(2000);
  world_.Delete("p");
  EXPECT_THAT(Rest(),
              ElementsAre("2025 PATCH pods/status p Failed", "2025 ended p", "2045 DELETE pods p"));
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{1});
  world_.kubelet().WorkDone(other, /*failed=*/false);
  EXPECT_THAT(Rest(), ElementsAre("2050 unprepare gpu c", "2470 PATCH pods/status q Succeeded",
                                  "2470 ended q"));
}

// The claim of the second plugin has another user by the time of its call.
TEST_F(DraManagerEndTest, AnotherPodComesBetweenTwoPlugins) {
  world_.AddClaim("d", {"nic"});
  const Uid pod = world_.RunPod("p", {"c", "d"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  world_.RunPod("q", {"d"});
  EXPECT_THAT(Rest(), ElementsAre("2000 unprepare gpu c", "2015 GET resourceclaims d",
                                  "2035 PATCH pods/status q Running", "2035 started q",
                                  "2420 PATCH pods/status p Succeeded", "2420 ended p"));
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{1});
}

TEST_F(DraManagerEndTest, DeletedByForceWhileItRuns) {
  world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(), ElementsAre("2005 unprepare gpu c", "2405 ended p"));
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
}

TEST_F(DraManagerEndTest, DeletedByForceWhileItsClaimIsPrepared) {
  world_.RunPod("p", {"c"});
  RunUntil(500);
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(), ElementsAre("1015 unprepare gpu c", "1415 ended p"));
}

TEST_F(DraManagerEndTest, DeletedByForceWhileItsStartIsReported) {
  world_.RunPod("p", {"c"});
  RunUntil(1018);
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(),
              ElementsAre("1035 PATCH pods/status p 404", "1035 unprepare gpu c", "1435 ended p"));
}

// The start is refused before the watch has told why.
TEST_F(DraManagerEndTest, ReplacedWhileItsStartIsReported) {
  world_.RunPod("p", {"c"});
  RunUntil(1033);
  world_.Delete("p", /*force=*/true);
  world_.AddPod("p", {});
  EXPECT_THAT(Rest(),
              ElementsAre("1035 PATCH pods/status p 409", "1035 unprepare gpu c",
                          "1058 PATCH pods/status p Running", "1058 started p", "1435 ended p"));
}

TEST_F(DraManagerEndTest, DeletedByForceWhileItsEndIsReported) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(2410);
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(), ElementsAre("2420 PATCH pods/status p 404", "2420 ended p"));
}

TEST_F(DraManagerEndTest, DeletedByForceWhileItWaitsForItsClaim) {
  world_.AddPod("p", {world_.Uses("c")});
  RunUntil(3000);
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(), ElementsAre("3005 ended p"));
}

TEST_F(DraManagerEndTest, EndedByItsStatus) {
  world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.SetPhase("p", KubePodPhase::kSucceeded);
  EXPECT_THAT(Rest(), ElementsAre("2005 unprepare gpu c", "2425 PATCH pods/status p Succeeded",
                                  "2425 ended p"));
}

// --- The host. ---

TEST_F(DraManagerEndTest, WorkThatIsDoneAtOnce) {
  world_.on_started = [this](const Pod& pod) {
    world_.kubelet().WorkDone(pod.meta.uid, /*failed=*/false);
  };
  world_.RunPod("p", {"c"});
  // The watch tells of Running when the pod has ended long since: it does not start again.
  EXPECT_THAT(Rest(), ElementsAre("15 GET resourceclaims c", "15 prepare gpu c",
                                  "1035 PATCH pods/status p Running", "1035 started p",
                                  "1035 unprepare gpu c", "1455 PATCH pods/status p Succeeded",
                                  "1455 ended p"));
}

TEST(DraManagerHostTest, AnEndThatTheWatchIsLateToTell) {
  WorldOptions options = Sharp();
  options.watch_ms = 500;
  World world(options);
  world.on_started = [&world](const Pod& pod) {
    world.kubelet().WorkDone(pod.meta.uid, /*failed=*/false);
  };
  world.AddPod("p", {});
  world.Rest();
  EXPECT_THAT(world.Take(), ElementsAre("500 PATCH pods/status p Running", "500 started p",
                                        "500 PATCH pods/status p Succeeded", "500 ended p"));
}

TEST_F(DraManagerEndTest, WorkDoneOfPodsThatDoNotRun) {
  const Uid pod = world_.RunPod("p", {"c"});
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(500);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  world_.kubelet().WorkDone(pod + 1, /*failed=*/false);
  EXPECT_THAT(Rest(), ElementsAre("1035 PATCH pods/status p Running", "1035 started p"));
  world_.Delete("p");
  RunUntil(1100);
  world_.kubelet().WorkDone(pod, /*failed=*/false);  // too late
  EXPECT_THAT(Rest(),
              ElementsAre("1465 PATCH pods/status p Failed", "1465 ended p", "1485 DELETE pods p"));
}

// --- Nodes that are lost. ---

TEST_F(DraManagerEndTest, NodeLostWhilePodsRun) {
  world_.RunPod("p", {"c"});
  world_.RunPod("q", {"c"}, kOther);
  RunUntil(2000);
  world_.kubelet().NodeLost(kNode);
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_EQ(world_.kubelet().prepared_claims(kOther), size_t{1});
  world_.kubelet().WorkDone(world_.pod_uid("p"), /*failed=*/false);
  world_.Delete("p");  // nobody is there to do it
  EXPECT_THAT(Rest(), IsEmpty());
  world_.Delete("p", /*force=*/true);
  EXPECT_THAT(Rest(), IsEmpty());
  // The node is back.
  world_.RunPod("r", {"c"});
  EXPECT_THAT(Rest(), ElementsAre("2025 GET resourceclaims c", "2025 prepare gpu c",
                                  "3045 PATCH pods/status r Running", "3045 started r"));
}

TEST(DraManagerHostTest, LosesANodeOverAStartOrAnEnd) {
  World world;
  world.AddClaim("c");
  world.on_started = [&world](const Pod& pod) {
    if (pod.meta.name.text() != "end") world.kubelet().NodeLost(pod.node);
  };
  world.on_ended = [&world](const Pod& pod) { world.kubelet().NodeLost(pod.node); };
  world.RunPod("start", {"c"});
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(world.TakeBare(), ElementsAre("GET resourceclaims c", "prepare gpu c",
                                            "PATCH pods/status start Running", "started start"));
  world.RunPod("end", {"c"});
  world.RunPod("other", {}, kOther);
  world.Rest();
  world.Take();
  world.Delete("end");
  world.Rest();
  EXPECT_THAT(world.TakeBare(),
              ElementsAre("unprepare gpu c", "PATCH pods/status end Failed", "ended end"));
}

TEST_F(DraManagerEndTest, NodeLostAtEveryMoment) {
  for (const int64_t at : {0, 3, 5, 8, 15, 500, 1015, 1025, 1035, 1040, 2000}) {
    for (const bool ends : {false, true}) {
      World world(Slow());
      TakeTime(world);
      world.AddClaim("c");
      const Uid pod = world.RunPod("p", {"c"});
      if (ends) {
        world.RunMillis(1500);
        world.kubelet().WorkDone(pod, /*failed=*/false);
      }
      world.RunMillis(ends ? at / 4 : at);
      world.kubelet().NodeLost(kNode);
      // A change that the kubelet makes may be under way, but nothing that it makes from now on.
      world.RunMillis(20);
      world.Take();
      world.Rest();
      const bool heard = ends || at >= 5;
      if (heard) {
        EXPECT_THAT(world.Take(), IsEmpty()) << at;
      }
      EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{heard ? 0u : 1u}) << at;
    }
  }
}

// --- Restarts. ---

TEST_F(DraManagerEndTest, RestartWhileAPodRuns) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.Restart(1000);
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{1});
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  EXPECT_THAT(Rest(), ElementsAre("3000 unprepare gpu c", "3420 PATCH pods/status p Succeeded",
                                  "3420 ended p"));
}

TEST_F(DraManagerEndTest, RestartWhileAClaimIsPrepared) {
  world_.RunPod("p", {"c"});
  RunUntil(500);
  world_.Restart(1000);
  EXPECT_THAT(Rest(), ElementsAre("1510 GET resourceclaims c", "1510 prepare gpu c",
                                  "2530 PATCH pods/status p Running", "2530 started p"));
}

TEST_F(DraManagerEndTest, RestartWhileAStartIsReported) {
  world_.RunPod("p", {"c"});
  RunUntil(1020);
  world_.Restart(1000);
  // The first is committed, but nobody is there to hear of it.
  EXPECT_THAT(Rest(), ElementsAre("1035 PATCH pods/status p Running",
                                  "2040 PATCH pods/status p Running", "2040 started p"));
}

TEST_F(DraManagerEndTest, RestartWhileAClaimIsUnprepared) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(2100);
  world_.Restart(100);
  // Anew, and not after the one that is forgotten.
  EXPECT_THAT(Rest(), ElementsAre("2200 unprepare gpu c", "2620 PATCH pods/status p Succeeded",
                                  "2620 ended p"));
}

TEST_F(DraManagerEndTest, RestartWhileAnEndIsReported) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(2410);
  world_.Restart(1000);
  EXPECT_THAT(Rest(), ElementsAre("2420 PATCH pods/status p Succeeded",
                                  "3430 PATCH pods/status p Succeeded", "3430 ended p"));
}

TEST_F(DraManagerEndTest, WhatHappenedDuringARestart) {
  const Uid work = world_.RunPod("work", {"c"});
  world_.RunPod("deleted", {"c"});
  world_.RunPod("forced", {"c"});
  RunUntil(2000);
  world_.Restart(1000);
  RunUntil(2500);
  world_.kubelet().WorkDone(work, /*failed=*/false);
  world_.Delete("deleted");
  world_.Delete("forced", /*force=*/true);
  world_.AddPod("new", {});
  EXPECT_THAT(Rest(),
              ElementsAre("3000 unprepare gpu c", "3020 PATCH pods/status work Succeeded",
                          "3020 ended work", "3020 PATCH pods/status deleted Failed",
                          "3020 ended deleted", "3020 PATCH pods/status new Running",
                          "3020 started new", "3040 DELETE pods deleted", "3400 ended forced"));
  EXPECT_EQ(world_.kubelet().prepared_claims(kNode), size_t{0});
}

TEST_F(DraManagerEndTest, WorkIsDoneOverTheEndOfAnotherPodDuringARestart) {
  world_.RunPod("first", {});
  const Uid second = world_.RunPod("second", {"c"});
  world_.on_ended = [this, second](const Pod&) {
    world_.kubelet().WorkDone(second, /*failed=*/false);
  };
  RunUntil(2000);
  world_.Restart(1000);
  world_.Delete("first", /*force=*/true);
  EXPECT_THAT(Rest(), ElementsAre("3000 ended first", "3000 unprepare gpu c",
                                  "3420 PATCH pods/status second Succeeded", "3420 ended second"));
}

TEST_F(DraManagerEndTest, AWatchThatBreaks) {
  world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.network().BreakWatch(0, SimDuration::Seconds(1));
  world_.Delete("p", /*force=*/true);
  world_.AddPod("p", {});
  EXPECT_THAT(Rest(), ElementsAre("3000 unprepare gpu c", "3020 PATCH pods/status p Running",
                                  "3020 started p", "3400 ended p"));
}

}  // namespace dra_manager_end_test
}  // namespace drasim
