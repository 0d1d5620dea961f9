#include "sim/dra/api/dra_manager.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/dra_release.h"
#include "tests/sim/dra/classic/component_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace dra_manager_test {

using dra_manager_testing::kNode;
using dra_manager_testing::kOther;
using dra_manager_testing::Lines;
using dra_manager_testing::Millis;
using dra_manager_testing::OfRelease;
using dra_manager_testing::Sharp;
using dra_manager_testing::World;
using dra_manager_testing::WorldOptions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A read takes 10 ms, a write 20, a watch 5.
WorldOptions SlowCalls(WorldOptions options = Sharp()) {
  options.read_ms = 10;
  options.write_ms = 20;
  options.watch_ms = 5;
  return options;
}
// In addition, a call to a plugin takes 100 ms.
WorldOptions Slow(DraRelease release = DraRelease::k29) {
  WorldOptions options = SlowCalls(OfRelease(release));
  options.kubelet.grpc_latency = Millis(100);
  return options;
}

// --- The way of a pod. ---

TEST(DraManagerTest, PodWithoutClaims) {
  World world(Slow());
  const Uid pod = world.AddPod("p", {});
  world.RunMillis(1000);
  world.kubelet().WorkDone(pod, /*failed=*/false);
  world.Rest();
  EXPECT_THAT(world.Take(), ElementsAre("25 PATCH pods/status p Running", "25 started p",
                                        "1020 PATCH pods/status p Succeeded", "1020 ended p"));
}

TEST(DraManagerTest, PodWithAClaim) {
  World world(Slow());
  world.prepare_ms["c"] = 3000;
  world.unprepare_ms["c"] = 500;
  world.AddClaim("c");
  const Uid pod = world.RunPod("p", {"c"});
  world.RunMillis(4000);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  EXPECT_EQ(world.kubelet().prepared_claims(kOther), size_t{0});
  EXPECT_TRUE(world.kubelet().idle());
  world.kubelet().WorkDone(pod, /*failed=*/true);
  EXPECT_FALSE(world.kubelet().idle());
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{0});
  EXPECT_THAT(world.Take(), ElementsAre("15 GET resourceclaims c", "15 prepare gpu c",
                                        "3135 PATCH pods/status p Running", "3135 started p",
                                        "4000 unprepare gpu c", "4620 PATCH pods/status p Failed",
                                        "4620 ended p"));
}

// The kubelet's view of the pod is a minute old; the claim controller's part of the status is its
// own.
TEST(DraManagerTest, ReportsThePhaseAloneWhateverElseHasChanged) {
  WorldOptions options = Sharp();
  options.read_ms = 10;
  options.write_ms = 20;
  options.watch_ms = 60'000;
  World world(options);
  world.AddClaim("c");
  const Uid pod = world.RunPod("p", {"c"});
  world.RunMillis(60'005);  // the claim is being read
  world.NameClaim("p", "e", "p-e-1");
  world.RunMillis(100);
  Pod want = *world.pod("p");
  want.phase = KubePodPhase::kRunning;
  want.claim_names = {{world.In("e"), world.In("p-e-1")}};
  EXPECT_TRUE(*world.pod("p") == want);
  world.NameClaim("p", "f", "p-f-1");
  world.kubelet().WorkDone(pod, /*failed=*/false);
  world.RunMillis(100);
  want = *world.pod("p");
  want.phase = KubePodPhase::kSucceeded;
  want.claim_names = {{world.In("e"), world.In("p-e-1")}, {world.In("f"), world.In("p-f-1")}};
  EXPECT_TRUE(*world.pod("p") == want);
  EXPECT_THAT(
      world.TakeBare(),
      ElementsAre("GET resourceclaims c", "prepare gpu c", "PATCH pods/status p Running",
                  "started p", "unprepare gpu c", "PATCH pods/status p Succeeded", "ended p"));
}

TEST(DraManagerTest, PodsThatAreNotBoundAreNotItsBusiness) {
  World world;
  world.AddPod("p", {}, NodeId());
  world.Rest();
  world.Delete("p");
  world.Rest();
  EXPECT_THAT(world.Take(), IsEmpty());
}

// They have to be reserved like the others, but no plugin prepares them.
TEST(DraManagerTest, ClaimsThatNoContainerUsesAreOnlyChecked) {
  for (const bool reserved : {true, false}) {
    World world;
    world.AddClaim("unused");
    world.AddClaim("used");
    PodClaim unused = world.Uses("unused");
    unused.used = false;
    world.AddPod("p", {unused, world.Uses("used")}, NodeId());
    if (reserved) world.Reserve("unused", "p");
    world.Reserve("used", "p");
    world.Bind("p");
    world.RunMillis(1000);
    if (!reserved) {
      EXPECT_THAT(world.TakeBare(), ElementsAre("GET resourceclaims unused"));
      EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{1});
      continue;
    }
    EXPECT_THAT(world.TakeBare(),
                ElementsAre("GET resourceclaims unused", "GET resourceclaims used",
                            "prepare gpu used", "PATCH pods/status p Running", "started p"));
    EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  }
}

// One call per driver from 1.28 on, as long as its slowest claim; before, one per claim.
TEST(DraManagerTest, CallsAreBatchedByDriverSince128) {
  for (const DraRelease release : {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                                   DraRelease::k29, DraRelease::k30, DraRelease::k31}) {
    World world(Slow(release));
    world.prepare_ms = {{"a", 1000}, {"b", 300}, {"c", 2000}};
    world.unprepare_ms = {{"a", 10}, {"b", 30}, {"c", 20}};
    world.AddClaim("a", {"gpu"});
    world.AddClaim("b", {"nic"});
    world.AddClaim("c", {"gpu"});
    const Uid pod = world.RunPod("p", {"a", "b", "c"});
    world.RunMillis(10'000);
    world.kubelet().WorkDone(pod, /*failed=*/false);
    world.Rest();
    if (release >= DraRelease::k28) {
      EXPECT_THAT(
          world.Take(),
          ElementsAre("15 GET resourceclaims a", "25 GET resourceclaims b",
                      "35 GET resourceclaims c", "35 prepare gpu a", "35 prepare gpu c",
                      "2135 prepare nic b", "2555 PATCH pods/status p Running", "2555 started p",
                      "10000 unprepare gpu a", "10000 unprepare gpu c", "10120 unprepare nic b",
                      "10270 PATCH pods/status p Succeeded", "10270 ended p"))
          << DraReleaseText(release);
    } else {
      EXPECT_THAT(
          world.Take(),
          ElementsAre("15 GET resourceclaims a", "25 GET resourceclaims b",
                      "35 GET resourceclaims c", "35 prepare gpu a", "1135 prepare nic b",
                      "1535 prepare gpu c", "3655 PATCH pods/status p Running", "3655 started p",
                      "10000 unprepare gpu a", "10110 unprepare nic b", "10240 unprepare gpu c",
                      "10380 PATCH pods/status p Succeeded", "10380 ended p"))
          << DraReleaseText(release);
    }
  }
}

TEST(DraManagerTest, PluginsOfAClaim) {
  World world;
  world.AddClaim("none", {});               // its driver's, "gpu"
  world.AddClaim("both", {"nic", "gpu"});   // each
  world.AddClaim("twice", {"nic", "nic"});  // once each
  const Uid pod = world.RunPod("p", {"none", "both", "twice"});
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{3});
  world.kubelet().WorkDone(pod, /*failed=*/false);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{3});
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(
      world.TakeBare(),
      ElementsAre("GET resourceclaims none", "GET resourceclaims both", "GET resourceclaims twice",
                  "prepare gpu none", "prepare gpu both", "prepare nic both", "prepare nic twice",
                  "PATCH pods/status p Running", "started p", "unprepare gpu none",
                  "unprepare gpu both", "unprepare nic both", "unprepare nic twice",
                  "PATCH pods/status p Succeeded", "ended p"));
}

TEST(DraManagerTest, ClaimsFromTemplates) {
  World world;
  const Uid pod = world.AddPod("p", {world.FromTemplate("e"), world.FromTemplate("none")});
  world.RunMillis(1);
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{1});  // its name is not known yet
  EXPECT_THAT(world.Take(), IsEmpty());
  world.AddClaim("p-e-x7", {"gpu"}, pod);
  world.NameClaim("p", "e", "p-e-x7");
  world.NameClaim("p", "none", "");  // known not to be needed
  world.Reserve("p-e-x7", "p");
  world.Rest();
  EXPECT_THAT(world.Take(),
              ElementsAre("10000 GET resourceclaims p-e-x7", "10000 prepare gpu p-e-x7",
                          "10000 PATCH pods/status p Running", "10000 started p"));
}

TEST(DraManagerTest, ClaimsFromTemplatesHaveFixedNamesBefore128) {
  World world(OfRelease(DraRelease::k27));
  const Uid pod = world.AddPod("p", {world.FromTemplate("e")}, NodeId());
  world.AddClaim("p-e", {"gpu"}, pod);
  world.Reserve("p-e", "p");
  world.Bind("p");
  world.Rest();
  EXPECT_THAT(world.TakeBare(), ElementsAre("GET resourceclaims p-e", "prepare gpu p-e",
                                            "PATCH pods/status p Running", "started p"));
}

TEST(DraManagerTest, AClaimFromATemplateOfAnotherPodIsRefused) {
  World world(OfRelease(DraRelease::k27));
  world.AddPod("p", {world.FromTemplate("e")}, NodeId());
  world.AddClaim("p-e", {"gpu"}, /*owner=*/0);
  world.Reserve("p-e", "p");
  world.Bind("p");
  world.RunMillis(9'999);
  EXPECT_THAT(world.TakeBare(), ElementsAre("GET resourceclaims p-e"));
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{1});
}

// --- Claims that are shared. ---

TEST(DraManagerTest, ASharedClaimIsPreparedOnceAndUnpreparedAfterTheLast) {
  World world(Slow());
  world.AddClaim("c");
  const Uid a = world.RunPod("a", {"c"});
  world.RunMillis(1000);
  const Uid b = world.RunPod("b", {"c"});
  world.RunMillis(1000);
  EXPECT_THAT(world.Take(), ElementsAre("15 GET resourceclaims c", "15 prepare gpu c",
                                        "135 PATCH pods/status a Running", "135 started a",
                                        "1015 GET resourceclaims c",
                                        "1035 PATCH pods/status b Running", "1035 started b"));
  world.kubelet().WorkDone(a, /*failed=*/false);
  world.RunMillis(1000);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  world.kubelet().WorkDone(b, /*failed=*/false);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(world.Take(), ElementsAre("2020 PATCH pods/status a Succeeded", "2020 ended a",
                                        "3000 unprepare gpu c",
                                        "3120 PATCH pods/status b Succeeded", "3120 ended b"));
}

TEST(DraManagerTest, TwoNodesPrepareAClaimEach) {
  World world;
  world.AddClaim("c");
  const Uid a = world.RunPod("a", {"c"}, kNode);
  const Uid b = world.RunPod("b", {"c"}, kOther);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  EXPECT_EQ(world.kubelet().prepared_claims(kOther), size_t{1});
  world.kubelet().WorkDone(a, /*failed=*/false);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_EQ(world.kubelet().prepared_claims(kOther), size_t{1});
  world.kubelet().WorkDone(b, /*failed=*/false);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kOther), size_t{0});
}

// Both ask the plugin, since neither knows how it ends; the first may end meanwhile.
TEST(DraManagerTest, TwoPodsPrepareASharedClaimAtOnce) {
  World world(Slow());
  world.prepare_ms["c"] = 1000;
  world.AddClaim("c");
  const Uid a = world.RunPod("a", {"c"});
  world.RunMillis(500);
  const Uid b = world.RunPod("b", {"c"});
  world.RunMillis(700);
  world.kubelet().WorkDone(a, /*failed=*/false);
  world.RunMillis(800);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  world.kubelet().WorkDone(b, /*failed=*/false);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(
      world.Take(),
      ElementsAre("15 GET resourceclaims c", "15 prepare gpu c", "515 GET resourceclaims c",
                  "515 prepare gpu c", "1135 PATCH pods/status a Running", "1135 started a",
                  "1220 PATCH pods/status a Succeeded", "1220 ended a",
                  "1635 PATCH pods/status b Running", "1635 started b", "2000 unprepare gpu c",
                  "2120 PATCH pods/status b Succeeded", "2120 ended b"));
}

// The plugin has the claim back at 1100 + 3000 ms; only then it prepares it again.
TEST(DraManagerTest, APodThatComesWhileAClaimIsUnpreparedWaitsForThat) {
  World world(Slow());
  world.unprepare_ms["c"] = 3000;
  world.prepare_ms["c"] = 200;
  world.AddClaim("c");
  const Uid a = world.RunPod("a", {"c"});
  world.RunMillis(1000);
  world.kubelet().WorkDone(a, /*failed=*/false);
  world.RunMillis(1000);
  const Uid b = world.RunPod("b", {"c"});
  world.RunMillis(2200);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  world.RunMillis(1000);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  EXPECT_THAT(
      world.Take(),
      ElementsAre("15 GET resourceclaims c", "15 prepare gpu c", "335 PATCH pods/status a Running",
                  "335 started a", "1000 unprepare gpu c", "2015 GET resourceclaims c",
                  "2015 prepare gpu c", "4120 PATCH pods/status a Succeeded", "4120 ended a",
                  "4420 PATCH pods/status b Running", "4420 started b"));
  world.kubelet().WorkDone(b, /*failed=*/false);
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
}

// --- Failures. ---

TEST(DraManagerTest, APodThatIsBoundByHandWaitsUntilItsClaimIsReserved) {
  World world(Slow());
  world.AddPod("p", {world.Uses("c")});
  world.RunMillis(9000);
  world.AddClaim("c");
  world.RunMillis(10'000);
  world.Reserve("c", "p");
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{2});
  EXPECT_FALSE(world.kubelet().idle());
  world.Rest();
  EXPECT_THAT(world.Take(), ElementsAre("15 GET resourceclaims c 404", "10025 GET resourceclaims c",
                                        "20035 GET resourceclaims c", "20035 prepare gpu c",
                                        "20155 PATCH pods/status p Running", "20155 started p"));
}

// A minute from 1.27 on, 10 s in 1.26, and up to a half more.
TEST(DraManagerTest, PreparesAgainAfterAMinuteAndUpToAHalfMore) {
  for (const DraRelease release : {DraRelease::k26, DraRelease::k27, DraRelease::k29}) {
    WorldOptions options;
    options.kubelet.behaviour.release = release;
    World world(options);
    const int64_t least = release == DraRelease::k26 ? 10'000 : 60'000;
    world.AddPod("p", {world.Uses("c")});
    world.RunMillis(100 * least);
    const Lines lines = world.Take();
    std::set<int64_t> delays;
    int64_t last = 0;
    for (const std::string& line : lines) {
      const int64_t at = std::atoll(line.c_str());
      if (at > 0) delays.insert(at - last);
      last = at;
    }
    EXPECT_GT(lines.size(), size_t{100 * 10 / 14});
    EXPECT_LT(lines.size(), size_t{100 * 10 / 11});
    EXPECT_GT(delays.size(), size_t{65});
    EXPECT_GE(*delays.begin(), least - 1);  // the moments are cut to milliseconds
    EXPECT_LT(*delays.begin(), least + least / 20);
    EXPECT_LE(*delays.rbegin(), least + least / 2);
    EXPECT_GT(*delays.rbegin(), least + least * 9 / 20);
  }
}

// 10 s and up to a half more in every release.
TEST(DraManagerTest, UnpreparesAgainAfterTenSeconds) {
  WorldOptions options;
  options.kubelet.retry_jitter = 0;
  World world(options);
  world.AddClaim("c", {"gpu", "unknown"});
  world.RunPod("p", {"c"});
  world.RunMillis(1000);
  world.Delete("p");
  world.RunMillis(12'000);
  EXPECT_THAT(world.Take(), ElementsAre("0 GET resourceclaims c", "0 prepare gpu c",
                                        "1000 unprepare gpu c", "11000 unprepare gpu c"));
}

// A prepared claim stays so, and the pod refers to it.
TEST(DraManagerTest, OnlyWhatFailedIsTriedAgain) {
  World world;
  world.AddClaim("good");
  world.AddClaim("bad", {"unknown"});
  world.RunPod("p", {"good", "bad"});
  world.RunMillis(10'500);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{2});
  world.Delete("p");
  world.Rest();
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_THAT(world.Take(), ElementsAre("0 GET resourceclaims good", "0 GET resourceclaims bad",
                                        "0 prepare gpu good", "10000 GET resourceclaims good",
                                        "10000 GET resourceclaims bad", "10500 unprepare gpu good",
                                        "10500 PATCH pods/status p Failed", "10500 ended p",
                                        "10500 DELETE pods p"));
}

TEST(DraManagerTest, AClaimIsPreparedWhenAllItsPluginsAreDone) {
  World world;
  world.AddClaim("c", {"gpu", "unknown"});
  world.RunPod("p", {"c"});
  world.RunMillis(1000);
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  // The first plugin's work is undone; the other one is asked in vain.
  world.Delete("p");
  world.RunMillis(15'000);
  EXPECT_THAT(world.Take(), ElementsAre("0 GET resourceclaims c", "0 prepare gpu c",
                                        "1000 unprepare gpu c", "11000 unprepare gpu c"));
}

TEST(DraManagerTest, FailingPreparesAndUnpreparesAreRetried) {
  size_t unprepares = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options = Slow();
    options.kubelet.failures_per_mille = 500;
    options.kubelet.seed = seed;
    World world(options);
    world.AddClaim("c");
    const Uid pod = world.RunPod("p", {"c"});
    world.Rest();
    EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{1});
    const uint64_t failures = world.kubelet().failed_prepares();
    Lines expected;
    int64_t now = 5;
    for (uint64_t i = 0; i <= failures; ++i) {
      now += i == 0 ? 10 : 10'110;
      expected.push_back(absl::StrCat(now, " GET resourceclaims c"));
      expected.push_back(absl::StrCat(now, " prepare gpu c"));
    }
    expected.push_back(absl::StrCat(now + 120, " PATCH pods/status p Running"));
    expected.push_back(absl::StrCat(now + 120, " started p"));
    EXPECT_EQ(world.Take(), expected);

    world.kubelet().WorkDone(pod, /*failed=*/false);
    world.Rest();
    EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
    const Lines end = world.TakeBare();
    ASSERT_GE(end.size(), size_t{3});
    Lines retried(end.size() - 2, "unprepare gpu c");
    unprepares += retried.size();
    retried.push_back("PATCH pods/status p Succeeded");
    retried.push_back("ended p");
    EXPECT_EQ(end, retried);
    EXPECT_EQ(world.kubelet().failed_prepares(), failures);  // of prepares only
  }
  EXPECT_GT(unprepares, size_t{30});  // about 40
  EXPECT_LT(unprepares, size_t{60});
}

TEST(DraManagerTest, APluginThatAlwaysFailsHoldsThePodForEver) {
  WorldOptions options = Sharp();
  options.kubelet.failures_per_mille = 1000;
  World world(options);
  world.AddClaim("c");
  world.RunPod("p", {"c"});
  world.RunMillis(1'000'000);
  EXPECT_EQ(world.kubelet().failed_prepares(), uint64_t{101});
  EXPECT_EQ(world.kubelet().prepared_claims(kNode), size_t{0});
  EXPECT_EQ(world.phase("p"), KubePodPhase::kPending);
  // Nothing was prepared, so nothing is in the way of its end.
  world.Take();
  world.Delete("p");
  world.Rest();
  EXPECT_THAT(world.TakeBare(),
              ElementsAre("PATCH pods/status p Failed", "ended p", "DELETE pods p"));
}

// --- Draws. ---

Lines DrawnRun(uint64_t seed) {
  WorldOptions options = Slow();
  options.kubelet.retry_jitter = 0.5;
  options.kubelet.failures_per_mille = 400;
  options.kubelet.grpc_latency = Distribution::Exponential(0.3).value();
  options.kubelet.seed = seed;
  World world(options);
  world.AddClaim("a");
  world.AddClaim("b", {"nic"});
  for (int i = 0; i < 6; ++i) {
    const std::string name = absl::StrCat("p", i);
    world.RunPod(name, {"a", "b"}, i % 2 == 0 ? kNode : kOther);
  }
  world.on_started = [&world](const Pod& pod) {
    if (pod.meta.uid % 2 == 0) world.kubelet().WorkDone(pod.meta.uid, /*failed=*/false);
  };
  world.RunMillis(200'000);
  return world.Take();
}

TEST(DraManagerTest, RunsRepeatAndDependOnTheSeed) {
  EXPECT_EQ(DrawnRun(1), DrawnRun(1));
  EXPECT_NE(DrawnRun(1), DrawnRun(2));
}

// ---- Early ends of pods, and faults of kubelets. ----

// With slow calls, a pod with claim "c" hears of itself at 5 ms, has its claim at 15, prepares it
// until 1015, and runs from 1035 on. Unpreparing takes 400 ms.
void TakeTime(World& world) {
  world.prepare_ms["c"] = 1000;
  world.unprepare_ms["c"] = 400;
}
class DraManagerEndTest : public ::testing::Test {
 protected:
  DraManagerEndTest() : world_(SlowCalls()) {
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
  world_.Delete("p");  // no kubelet carries it out
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
      World world(SlowCalls());
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
  // The first is committed, but the kubelet is down when the reply comes.
  EXPECT_THAT(Rest(), ElementsAre("1035 PATCH pods/status p Running",
                                  "2040 PATCH pods/status p Running", "2040 started p"));
}

TEST_F(DraManagerEndTest, RestartWhileAClaimIsUnprepared) {
  const Uid pod = world_.RunPod("p", {"c"});
  RunUntil(2000);
  world_.kubelet().WorkDone(pod, /*failed=*/false);
  RunUntil(2100);
  world_.Restart(100);
  // It is unprepared again, and does not wait for the call that was forgotten.
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

// ---- Random pods, deletions and faults. After every event the books of the kubelets are compared
// with a recount of pods that does not know how they are served. ----

constexpr uint32_t kNodes = 3;
constexpr uint32_t kClaimsPerNode = 3;

WorldOptions RandomOptions(Random& random) {
  WorldOptions options;
  options.seed = random.U64();
  options.read_ms = static_cast<int64_t>(random.Below(3) * 7);
  options.write_ms = static_cast<int64_t>(random.Below(3) * 30);
  options.watch_ms = static_cast<int64_t>(random.Below(4) * 200);
  options.kubelet.seed = random.U64();
  options.kubelet.retry = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)) + 1);
  options.kubelet.prepare_retry = options.kubelet.retry;
  options.kubelet.failures_per_mille = random.Below(2) == 0 ? 0 : 300;
  if (random.Below(2) == 0) {
    options.kubelet.grpc_latency = Distribution::Exponential(0.3).value();
  }
  options.kubelet.behaviour.release = random.Below(3) == 0 ? DraRelease::k27 : DraRelease::k29;
  return options;
}

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed)
      : random_(seed, "kubelet test"), world_(RandomOptions(random_)) {
    world_.on_started = [this](const Pod& pod) { Started(pod); };
    world_.on_ended = [this](const Pod& pod) { Ended(pod); };
    const std::vector<std::vector<std::string>> drivers = {{"gpu"}, {"nic"}, {"nic", "gpu"}, {}};
    for (uint32_t node = 0; node < kNodes; ++node) {
      for (uint32_t i = 0; i < kClaimsPerNode; ++i) {
        const std::string claim = ClaimOf(node, i);
        world_.AddClaim(claim, drivers[random_.Below(drivers.size())]);
        world_.prepare_ms[claim] = static_cast<int64_t>(random_.Below(2) * random_.Below(2000));
        world_.unprepare_ms[claim] = static_cast<int64_t>(random_.Below(2) * random_.Below(2000));
      }
    }
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      Act();
      Go(SimDuration::Millis(static_cast<int64_t>(random_.Below(3) * random_.Below(1500))));
    }
    for (auto& [uid, pod] : pods_) ReserveAll(pod);
    Go(SimDuration::Seconds(1000));
    if (!::testing::Test::HasFailure()) CheckRest();
  }
  std::string Text() { return absl::StrJoin(world_.Take(), "\n"); }

 private:
  struct KnownPod {
    Uid uid = 0;
    std::string name;
    uint32_t node = 0;
    std::set<std::string> claims;
    bool reserved = false;
    bool stopped = false;  // its end was requested, or it has ended by itself
    bool heard = false;    // the kubelet has seen it bound
    bool lost = false;
    bool started = false;
    bool ended = false;
  };

  static std::string ClaimOf(uint32_t node, uint32_t i) { return absl::StrCat("c", node, "-", i); }

  // --- Actions. ---

  void Act() {
    const uint64_t what = random_.Below(100);
    if (what < 40) {
      AddPod();
    } else if (what < 55) {
      if (KnownPod* pod = Any()) ReserveAll(*pod);
    } else if (what < 75) {
      if (KnownPod* pod = Any()) EndWork(*pod);
    } else if (what < 92) {
      if (KnownPod* pod = Any()) Delete(*pod, /*force=*/what >= 87);
    } else if (what < 94) {
      LoseNode(static_cast<uint32_t>(random_.Below(kNodes)));
    } else if (what < 97) {
      world_.Restart(static_cast<int64_t>(random_.Below(3000)));
    } else {
      world_.network().BreakWatch(0,
                                  SimDuration::Millis(static_cast<int64_t>(random_.Below(3000))));
    }
  }

  void AddPod() {
    KnownPod pod;
    pod.name = absl::StrCat("p", pods_.size());
    pod.node = static_cast<uint32_t>(random_.Below(kNodes));
    std::vector<PodClaim> entries;
    for (uint32_t i = 0; i < kClaimsPerNode; ++i) {
      if (random_.Below(2) == 0) continue;
      pod.claims.insert(ClaimOf(pod.node, i));
      entries.push_back(world_.Uses(ClaimOf(pod.node, i)));
    }
    const bool by_hand = random_.Below(4) == 0;
    pod.uid = world_.AddPod(pod.name, entries, by_hand ? NodeId(pod.node) : NodeId());
    KnownPod& known = pods_[pod.uid] = pod;
    if (by_hand) return;
    ReserveAll(known);
    world_.Bind(known.name, NodeId(known.node));
  }

  void ReserveAll(KnownPod& pod) {
    if (pod.reserved || world_.objects().pod(pod.uid) == nullptr) return;
    pod.reserved = true;
    for (const std::string& claim : pod.claims) world_.Reserve(claim, pod.name);
  }

  void EndWork(KnownPod& pod) {
    // Nothing may happen for a pod that does not run.
    pod.stopped = pod.stopped || (pod.started && !pod.ended && !pod.lost);
    world_.kubelet().WorkDone(pod.uid, random_.Below(2) == 0);
  }

  void Delete(KnownPod& pod, bool force) {
    if (world_.objects().pod(pod.uid) == nullptr) return;
    pod.stopped = true;
    world_.Delete(pod.name, force);
  }

  void LoseNode(uint32_t node) {
    NoteHeard();
    for (auto& [uid, pod] : pods_) {
      if (pod.node == node && pod.heard) pod.lost = true;
    }
    world_.kubelet().NodeLost(NodeId(node));
    EXPECT_EQ(world_.kubelet().prepared_claims(NodeId(node)), size_t{0});
  }

  KnownPod* Any() {
    if (pods_.empty()) return nullptr;
    // Rather a young one: the old have ended.
    auto it = pods_.end();
    std::advance(it, -1 - static_cast<int64_t>(random_.Below(std::min<size_t>(pods_.size(), 12))));
    return &it->second;
  }

  // --- The host. ---

  void Started(const Pod& pod) {
    KnownPod& known = pods_.at(pod.meta.uid);
    EXPECT_FALSE(known.started || known.ended || known.lost) << known.name;
    EXPECT_TRUE(known.reserved || known.claims.empty()) << known.name;
    known.started = true;
    CheckPrepared();
    if (random_.Below(5) == 0) EndWork(known);
  }
  void Ended(const Pod& pod) {
    KnownPod& known = pods_.at(pod.meta.uid);
    EXPECT_FALSE(known.ended || known.lost) << known.name;
    EXPECT_TRUE(known.stopped) << known.name;
    known.ended = true;
  }

  // --- Invariants. ---

  void Go(SimDuration length) {
    const SimTime until = world_.network().now() + length;
    Check();
    while (world_.network().Step(until) && !::testing::Test::HasFailure()) Check();
    world_.network().RunUntil(until);
    for (auto& [uid, pod] : pods_) ReleaseIfDone(pod);
  }

  void ReleaseIfDone(KnownPod& pod) {
    if (!pod.reserved || !pod.ended) return;
    for (const std::string& claim : pod.claims) world_.Release(claim, pod.uid);
    pod.claims.clear();
  }

  void NoteHeard() {
    const ObjectCache& cache = world_.network().client(0).cache();
    for (auto& [uid, pod] : pods_) {
      const Ref<Pod> cached = cache.pod(uid);
      pod.heard = pod.heard || (cached != nullptr && cached->node.valid());
    }
  }

  void Check() {
    NoteHeard();
    CheckPrepared();
  }

  // Claims of pods that run are prepared; claims without a pod are not.
  void CheckPrepared() {
    for (uint32_t node = 0; node < kNodes; ++node) {
      const size_t prepared = world_.kubelet().prepared_claims(NodeId(node));
      EXPECT_GE(prepared, Count(node, /*running_only=*/true)) << "node " << node;
      EXPECT_LE(prepared, Count(node, /*running_only=*/false)) << "node " << node;
    }
  }
  size_t Count(uint32_t node, bool running_only) const {
    std::set<std::string> claims;
    for (const auto& [uid, pod] : pods_) {
      if (pod.node != node || pod.ended || pod.lost) continue;
      if (running_only && (!pod.started || pod.stopped)) continue;
      claims.insert(pod.claims.begin(), pod.claims.end());
    }
    return claims.size();
  }

  void CheckRest() {
    EXPECT_FALSE(world_.network().NextTime().has_value());
    EXPECT_TRUE(world_.kubelet().idle());
    for (uint32_t node = 0; node < kNodes; ++node) {
      EXPECT_EQ(world_.kubelet().prepared_claims(NodeId(node)), Count(node, true)) << node;
    }
    for (const auto& [uid, pod] : pods_) {
      if (pod.lost) continue;
      const Ref<Pod> object = world_.objects().pod(uid);
      if (object == nullptr) {
        EXPECT_EQ(pod.ended, pod.heard) << pod.name;
      } else if (pod.stopped) {
        EXPECT_TRUE(pod.ended && !object->meta.deleting) << pod.name;
        EXPECT_TRUE(IsDone(*object)) << pod.name;
      } else {
        EXPECT_TRUE(pod.started && !pod.ended) << pod.name;
        EXPECT_EQ(object->phase, KubePodPhase::kRunning) << pod.name;
      }
    }
  }

  Random random_;
  World world_;
  std::map<Uid, KnownPod> pods_;
};

TEST(DraManagerRandomTest, KeepsClaimsPreparedWhileTheyAreUsed) {
  for (uint64_t seed = 1; seed <= SoakSeeds(30); ++seed) {
    RandomRun run(seed);
    run.Run(/*steps=*/60);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << run.Text();
  }
}

TEST(DraManagerRandomTest, RunsRepeat) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RandomRun first(seed);
    RandomRun second(seed);
    first.Run(60);
    second.Run(60);
    EXPECT_EQ(first.Text(), second.Text());
  }
}

}  // namespace dra_manager_test
}  // namespace drasim
