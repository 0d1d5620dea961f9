#include "sim/dra/api/garbage_collector.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "tests/sim/dra/classic/component_rig.h"

namespace drasim {
namespace garbage_collector_test {

using claim_controller_testing::Lines;
using claim_controller_testing::Slow;
using claim_controller_testing::World;
using claim_controller_testing::WorldOptions;
using testing::ElementsAre;
using testing::IsEmpty;

void AddContext(World* world, Uid pod) {
  auto context = std::make_shared<PodSchedulingContext>();
  context->meta.ns = world->pod(pod)->meta.ns;
  context->meta.name = world->pod(pod)->meta.name;
  context->meta.owner = pod;
  world->Do(Verb::kCreate, Ref<PodSchedulingContext>(std::move(context)));
}

void AddFinalizer(World* world, Uid claim) {
  world->ChangeClaim(
      claim, [&](ResourceClaim* next) { next->meta.finalizers = {world->In("driver/protect")}; });
}

TEST(GarbageCollectorTest, DeletesWhatTheOwnerLeavesBehind) {
  World world;
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu", "nic"});
  const Uid b = world.AddPod("b", {"gpu"});
  world.AddOwnClaim("a-gpu", a);
  world.AddOwnClaim("a-nic", a);
  world.AddOwnClaim("b-gpu", b);
  world.AddClaim("free");
  AddContext(&world, a);
  AddContext(&world, b);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());

  world.RemovePod(a);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("DELETE resourceclaims a-gpu", "DELETE resourceclaims a-nic",
                          "DELETE podschedulingcontexts a"));
  EXPECT_THAT(world.State(),
              ElementsAre("claim b-gpu of b @gpu class", "claim free class", "context b of b"));
  EXPECT_TRUE(world.collector().idle());
}

TEST(GarbageCollectorTest, APodThatHasEndedOrIsBeingDeletedOwnsItsClaimsStill) {
  World world;
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  world.AddOwnClaim("a-gpu", a);
  world.Bind(a);
  world.SetPhase(a, KubePodPhase::kRunning);
  world.Delete(world.pod(a));
  ASSERT_TRUE(world.pod(a)->meta.deleting);
  world.SetPhase(a, KubePodPhase::kSucceeded);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
}

TEST(GarbageCollectorTest, FinalizersHoldADependentAndItIsDeletedOnce) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.030));
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  const Uid claim = world.AddOwnClaim("a-gpu", a);
  AddFinalizer(&world, claim);
  world.Rest();
  world.RemovePod(a);
  world.RunMillis(35);  // the call is on its way
  world.ChangeClaim(claim, [](ResourceClaim* next) { next->labels = {{"seen", "late"}}; });
  world.Rest();
  world.ChangeClaim(claim, [](ResourceClaim* next) { next->labels = {{"seen", "again"}}; });
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("DELETE resourceclaims a-gpu"));
  EXPECT_THAT(world.State(), ElementsAre("claim a-gpu of a +driver/protect deleting @gpu class"));
  world.FreeClaim(claim);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_THAT(world.State(), IsEmpty());
}

TEST(GarbageCollectorTest, WhatIsMadeForAPodThatIsGoneIsDeletedToo) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.005));
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  world.RemovePod(a);
  world.AddOwnClaim("late", a);
  world.Rest();
  // It might be new: the server knows (by its uid).
  EXPECT_THAT(world.TakeCalls(), ElementsAre("GET pods  = 404", "DELETE resourceclaims late"));
}

// Pods and claims are watched by themselves: a claim may be heard of before its pod.
TEST(GarbageCollectorTest, AClaimThatOvertakesItsPodIsKept) {
  int asked = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options = Slow(/*write=*/0.010, /*watch=*/0.030);
    options.watch_spread = 0.030;
    options.seed = seed;
    World world(options);
    world.StartCollector();
    const Uid a = world.AddPod("a", {"gpu"});
    const Uid claim = world.AddOwnClaim("a-gpu", a);
    world.Rest();
    EXPECT_NE(world.claim(claim), nullptr) << seed;
    const Lines calls = world.TakeCalls();
    asked += static_cast<int>(calls.size());
    for (const std::string& call : calls) EXPECT_EQ(call, "GET pods a") << seed;
    world.RemovePod(a);
    world.Rest();
    EXPECT_EQ(world.claim(claim), nullptr) << seed;
  }
  EXPECT_GT(asked, 0);
}

TEST(GarbageCollectorTest, ARaceThatSomebodyElseHasWonIsNoError) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.030));
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  const Uid claim = world.AddOwnClaim("a-gpu", a);
  AddContext(&world, a);
  world.Rest();
  world.RemovePod(a);
  world.Delete(world.claim(claim));
  world.Delete(world.objects().context(world.ns(), world.In("a")));
  // A successor has a context of the same name before the old one's deletion arrives.
  AddContext(&world, world.AddPod("a", {"gpu"}));
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("DELETE resourceclaims a-gpu = 404",
                                             "DELETE podschedulingcontexts a = 409"));
  EXPECT_THAT(world.State(), ElementsAre("context a of a(2)"));
  EXPECT_TRUE(world.collector().idle());
}

TEST(GarbageCollectorTest, AfterARestartFindsWhatItHasMissed) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.030));
  const Uid early = world.AddPod("early", {"gpu"});
  world.AddOwnClaim("early-gpu", early);
  world.RemovePod(early);
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  world.AddOwnClaim("a-gpu", a);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("GET pods  = 404", "DELETE resourceclaims early-gpu"));

  world.network().Restart(world.collector_client().id(), SimDuration::Seconds(2));
  world.RemovePod(a);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("GET pods  = 404", "DELETE resourceclaims a-gpu"));
  EXPECT_TRUE(world.collector().idle());
}

TEST(GarbageCollectorTest, ABrokenWatchOnlyDelaysIt) {
  World world;
  world.StartCollector();
  const Uid a = world.AddPod("a", {"gpu"});
  world.AddOwnClaim("a-gpu", a);
  world.Rest();
  world.network().BreakWatch(world.collector_client().id(), SimDuration::Seconds(5));
  world.AddClaim("new", [&](ResourceClaim* claim) { claim->meta.owner = a; });
  world.RemovePod(a);
  world.Run(SimDuration::Seconds(4));
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("DELETE resourceclaims a-gpu", "GET pods  = 404",
                                             "DELETE resourceclaims new"));
}

// After any events in any order, exactly the dependents of living pods are left, and each of the
// others was deleted once (more often only after restarts).
TEST(GarbageCollectorTest, RandomLives) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, "garbage");
    World world(Slow(0.001 * static_cast<double>(random.Below(30)),
                     0.001 * static_cast<double>(random.Below(60))));
    world.StartCollector();
    std::vector<Uid> pods;
    std::vector<std::pair<Uid, Uid>> claims;  // with their pods
    size_t contexts = 0;
    bool restarted = false;
    for (uint64_t step = 0; step < 80; ++step) {
      world.RunMillis(static_cast<int64_t>(random.Below(20)));
      const uint64_t what = random.Below(10);
      if (what < 3 || pods.empty()) {
        pods.push_back(world.AddPod(absl::StrCat("p", step), {"gpu"}));
        continue;
      }
      const Uid pod = pods[random.Below(pods.size())];
      const bool lives = world.pod(pod) != nullptr;
      if (what < 6) {  // also for pods that are gone
        claims.push_back({world.AddOwnClaim(absl::StrCat("c", step), pod), pod});
      } else if (what < 7 && lives) {
        claims.push_back({world.AddOwnClaim(absl::StrCat("c", step), pod), pod});
        AddFinalizer(&world, claims.back().first);
      } else if (what < 8 && lives &&
                 world.objects().context(world.ns(), world.pod(pod)->meta.name) == nullptr) {
        AddContext(&world, pod);
        ++contexts;
      } else if (what < 9 && lives) {
        world.RemovePod(pod);
      } else if (random.Below(16) == 0) {
        world.network().Restart(world.collector_client().id(), SimDuration::Millis(30));
        restarted = true;
      }
    }
    world.Rest();
    EXPECT_TRUE(world.collector().idle());
    size_t garbage = contexts;
    for (const auto& [claim, owner] : claims) {
      const bool owned = world.pod(owner) != nullptr;
      if (!owned) ++garbage;
      const Ref<ResourceClaim> left = world.claim(claim);
      if (left == nullptr) {
        EXPECT_FALSE(owned) << claim;
      } else {
        EXPECT_EQ(left->meta.deleting, !owned) << claim;
        EXPECT_TRUE(owned || !left->meta.finalizers.empty()) << claim;
      }
    }
    for (const auto& context : world.objects().of<PodSchedulingContext>().Sorted()) {
      EXPECT_NE(world.pod(context->meta.owner), nullptr) << context->meta.name.text();
      --garbage;
    }
    const Lines calls = world.TakeCalls();
    const auto deletes = std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
      return absl::StartsWith(call, "DELETE ");
    });
    if (!restarted) {
      EXPECT_EQ(static_cast<size_t>(deletes), garbage) << absl::StrJoin(calls, "\n");
    }
  }
}

}  // namespace garbage_collector_test
}  // namespace drasim
