// What goes wrong with classic DRA, part 2: how writers of one object get in each other's way, and
// components that are slow or down. See pathologies_test.cc.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/core/engine.h"
#include "sim/dra/control_plane.h"
#include "sim/dra/dra_release.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/dra_rig.h"
#include "tests/sim/dra/dra_story.h"

namespace drasim {
namespace pathologies_more_test {

constexpr double kTiny = 1e-6;  // of seconds

// So many pods at 1 s, a second apart, with one claim "shared" among them.
DraScenario Sharing(size_t pods, bool shareable, int64_t run_seconds, double apart) {
  DraScenario s = StoryScenario({1, 1});
  for (NodeSpec& node : s.engine.nodes) node.cpu_milli = 100'000;
  s.drivers[0].shareable = shareable;
  for (size_t p = 0; p < pods; ++p) {
    const double at = 1 + static_cast<double>(p) * apart;
    s.engine.pods.push_back({absl::StrCat("pod-", p), 0, static_cast<int64_t>(at * 1e9),
                             run_seconds * kStorySecond, 0});
  }
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    DRASIM_CHECK(plane.Create(TestClaim(plane.names(), "shared", "class")).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromClaim(names, "gpu", "shared")};
  };
  return s;
}

// ---- 8. ----

// Decisions of the driver take 1 s; both pods have selected a node when it takes the first one.
TEST(PathologiesTest, RaceOnOneUnallocatedClaim) {
  for (const bool shareable : {false, true}) {
    DraScenario s = Sharing(2, shareable, 10, 0);
    s.plane.driver_controller.decision_latency = Constant(1);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.Count("selects node-0"), 2) << story.Text();
    EXPECT_NEAR(story.BoundAt("pod-0"), 3, kTiny) << story.Text();
    // One of the driver's two writes of an allocation is refused.
    EXPECT_EQ(story.Messages(kStoryDriver, "PUT resourceclaims/status", ApiCode::kConflict), 1)
        << story.Text();
    if (shareable) {
      EXPECT_NEAR(story.BoundAt("pod-1"), 3, kTiny) << story.Text();
      EXPECT_EQ(story.Count("shared: allocated"), 1) << story.Text();
      continue;
    }
    // The claim is free at 13 s, but its driver looks again only 30 s after its last look: the node
    // that the second pod selects is the one that it had selected before.
    EXPECT_NEAR(story.TimeOf("shared: freed"), 13, kTiny) << story.Text();
    EXPECT_GT(story.BoundAt("pod-1"), 30) << story.Text();
    EXPECT_LT(story.BoundAt("pod-1"), 43) << story.Text();
    EXPECT_EQ(story.Count("shared: allocated"), 2) << story.Text();
  }
}

// ---- 9. ----

// Two pods join one claim in two cycles at one moment. Watches of the scheduler take half a second.
TEST(PathologiesTest, StaleCache) {
  for (const auto& [release, lag] : std::vector<std::pair<DraRelease, bool>>{
           {DraRelease::k29, true}, {DraRelease::k29, false}, {DraRelease::k30, true}}) {
    DraScenario s = Sharing(3, true, 100, 0);
    s.engine.pods[1].at_ns = s.engine.pods[2].at_ns = 20 * kStorySecond;
    if (lag) s.plane.scheduler.watch_latency = Constant(0.5);
    s.plane.behaviour.release = release;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    if (release == DraRelease::k29) {
      EXPECT_EQ(story.Messages("scheduler", "PUT resourceclaims/status", ApiCode::kConflict),
                lag ? 1 : 0)
          << story.Text();
    }
    EXPECT_NEAR(story.BoundAt("pod-1"), lag ? 20.5 : 20, kTiny) << story.Text();
    // 1.29 gives up and waits for its backoff; since 1.30 the scheduler patches.
    const bool backs_off = lag && release == DraRelease::k29;
    EXPECT_NEAR(story.BoundAt("pod-2"), backs_off ? 22 : story.BoundAt("pod-1"), kTiny)
        << story.Text();
  }
}

// ---- 10. ----

size_t Contexts(DraRig& rig) {
  return rig.plane().network().server().objects().of<PodSchedulingContext>().size();
}

// The second pod asks for a claim that is just being allocated for the first. The scheduler hears
// of the allocation before it hears of the context that it has written itself, and binds the pod in
// a cycle that knows of none. It deletes the context all the same; where there never was one, for
// nothing.
TEST(PathologiesTest, ContextLeftOver) {
  for (const bool writes_one : {true, false}) {
    DraScenario s = Sharing(2, true, 10, 0);
    s.engine.pods[1].at_ns = writes_one ? 2100 * kStoryMs : 3000 * kStoryMs;
    s.plane.scheduler.watch_latency = Constant(0.2);
    s.plane.driver_controller.decision_latency = Constant(0.5);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_NEAR(story.TimeOf("pod-1 (context): selects node-0"), writes_one ? 2.3 : -1, kTiny)
        << story.Text();
    // An event from 2.3 s arrives at 2.5 s.
    EXPECT_NEAR(story.BoundAt("pod-1"), writes_one ? 2.4 : 3.2, kTiny) << story.Text();
    EXPECT_EQ(story.Messages("scheduler", "DELETE podschedulingcontexts"), writes_one ? 2 : 1)
        << story.Text();
    EXPECT_EQ(story.Messages("scheduler", "DELETE podschedulingcontexts", ApiCode::kNotFound),
              writes_one ? 0 : 1)
        << story.Text();
    EXPECT_EQ(Contexts(rig), 0u) << story.Text();
  }
}

// A delete that is never made: the scheduler stops in between. The context is there as long as the
// pod is, long after the pod has ended, and the driver looks at it every 30 s.
TEST(PathologiesTest, ContextLeftOverGoesWithItsPod) {
  for (const bool stops : {true, false}) {
    DraScenario s = StoryScenario({1});
    s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    s.plane.scheduler.qps = 0.5;  // the DELETE waits, after the POSTs of context and binding
    s.plane.scheduler.burst = 2;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    if (stops) {
      story.At(1.5, [&] { rig.plane().faults().Restart("scheduler", SimDuration::Seconds(1)); });
    }
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_NEAR(story.TimeOf("pod: bound to node-0"), 1, kTiny) << story.Text();
    EXPECT_NEAR(story.TimeOf("pod (context): gone"), stops ? 71 : 3, kTiny) << story.Text();
    EXPECT_NEAR(story.TimeOf("pod: deleted"), 71, kTiny) << story.Text();
    EXPECT_EQ(story.Messages("garbage-collector", "DELETE podschedulingcontexts"), stops ? 1 : 0)
        << story.Text();
    EXPECT_EQ(story.Messages(kStoryDriver, "GET pods"), stops ? 4 : 2) << story.Text();
  }
}

// ---- 11. ----

TEST(PathologiesTest, ThirtyThirdConsumer) {
  for (const size_t pods : {kMaxReservedFor, kMaxReservedFor + 1}) {
    DraRig rig(Sharing(pods, true, 100, 0.1));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_NEAR(story.BoundAt("pod-31"), 4.1, kTiny) << story.Text();
    const int refused = story.Messages("scheduler", "PUT resourceclaims/status", ApiCode::kInvalid);
    if (pods <= kMaxReservedFor) {
      EXPECT_EQ(refused, 0) << story.Text();
      continue;
    }
    // Backoffs of 1, 2, 4, 8, 10, 10, ... s until the first of the others has ended at 101 s, and
    // the rest of the last backoff.
    EXPECT_GT(refused, 10) << story.Text();
    EXPECT_LT(refused, 15) << story.Text();
    EXPECT_GT(story.BoundAt("pod-32"), 101) << story.Text();
    EXPECT_LT(story.BoundAt("pod-32"), 112) << story.Text();
  }
}

// An attempt that ends in an error takes no time here, and neither does its backoff: the pod is
// tried again when something else has happened, not without end at one instant.
TEST(PathologiesTest, ThirtyThirdConsumerWithoutBackoff) {
  DraScenario s = Sharing(kMaxReservedFor + 1, true, 100, 0.1);
  s.engine.kubernetes = KubernetesQueueOptions();
  s.engine.kubernetes.max_backoff = SimDuration();
  s.engine.options.stop_after_events = 1'000'000;
  DraRig rig(std::move(s));
  DraStory story(&rig);
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_NEAR(story.BoundAt("pod-32"), 101, kTiny) << story.Text();
}

// ---- 13. ----

// The node of a running pod is lost at 10 s, its next pod needs the same device, which is attached
// by network. The driver is down from 5 s on for so long.
struct NodeLoss {
  double down;        // seconds; 0: never
  double freed;       // when the claim of the lost pod is
  double bound;       // when the next pod is
  std::string check;  // what is wrong in the end
};

TEST(PathologiesTest, NodeLossAndForcedDeletion) {
  for (const NodeLoss& loss :
       std::vector<NodeLoss>{{0, 10, 10, ""},
                             {300, 305, 305, ""},
                             {100'000, -1, -1, "has outlived the pod that it was made for"}}) {
    DraScenario s = StoryScenario({1, 1});
    s.drivers[0].node_local = false;
    s.drivers[0].network_units = 1;
    s.engine.pods = {{"pod", 0, 0, 400 * kStorySecond, 0}};
    NodeTransition fail;
    fail.at = SimTime(10 * kStorySecond);
    fail.node = NodeId(size_t{0});
    fail.action = NodeTransition::Action::kFail;
    s.engine.node_changes = {fail};
    DraRig rig(std::move(s));
    DraStory story(&rig);
    if (loss.down > 0) {
      story.At(5, [&] {
        rig.plane().faults().Restart(kStoryDriver,
                                     SimDuration(static_cast<int64_t>(loss.down * 1e9)));
      });
    }
    const absl::Status end = rig.Run();
    EXPECT_THAT(std::string(end.message()), testing::HasSubstr(loss.check)) << story.Text();
    EXPECT_EQ(end.ok(), loss.check.empty()) << end << story.Text();
    EXPECT_NEAR(story.TimeOf("pod/gpu: is to be deleted"), 10, kTiny) << story.Text();
    EXPECT_NEAR(story.TimeOf("pod/gpu: gone"), loss.freed, kTiny) << story.Text();
    EXPECT_NEAR(story.BoundAt("pod-r1"), loss.bound, kTiny) << story.Text();
  }
}

// A claim that a user deletes while a pod uses it stays until the pod has ended.
TEST(PathologiesTest, ForcedDeletionOfAClaimInUse) {
  DraRig rig(Sharing(1, false, 50, 0));
  DraStory story(&rig);
  story.At(20, [&] { rig.plane().faults().DeleteClaim(story.Claim("shared")->meta.uid); });
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_NEAR(story.TimeOf("shared: is to be deleted"), 20, kTiny) << story.Text();
  EXPECT_NEAR(story.TimeOf("pod-0: ended"), 51, kTiny) << story.Text();
  EXPECT_NEAR(story.TimeOf("shared: gone"), 51, kTiny) << story.Text();
}

// ---- 14. ----

// A driver that takes a minute for each decision, and one that does not answer for so long.
TEST(PathologiesTest, SlowDriverBlocksOnlyItsPods) {
  for (const bool down : {false, true}) {
    DraScenario s = StoryScenario({1});
    s.drivers.push_back(StoryDriver("nic.example.com", {1}));
    const auto objects = s.objects;
    s.objects = [objects](ControlPlane& plane) {
      objects(plane);
      NamePool& names = plane.names();
      DRASIM_CHECK(plane.Create(TestClass(names, "nic-class", "nic.example.com")).ok());
      DRASIM_CHECK(plane.Create(TestTemplate(names, "nic-template", "nic-class")).ok());
    };
    s.claims = [](NamePool& names, const std::string& pod) {
      std::vector<PodClaim> claims;
      if (pod == "gpu-pod") claims.push_back(FromTemplate(names, "gpu", "template"));
      if (pod == "nic-pod") claims.push_back(FromTemplate(names, "nic", "nic-template"));
      return claims;
    };
    s.engine.pods = {{"gpu-pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0},
                     {"nic-pod", 0, 2 * kStorySecond, 10 * kStorySecond, 0},
                     {"plain", 0, 3 * kStorySecond, 10 * kStorySecond, 0}};
    if (!down) s.plane.driver_controller.decision_latency = Constant(60);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    if (down) {
      story.At(0.5, [&] { rig.plane().faults().Restart(kStoryDriver, SimDuration::Seconds(120)); });
    }
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_NEAR(story.BoundAt("gpu-pod"), down ? 120.5 : 121, kTiny) << story.Text();
    // All drivers of a run take the same time for decisions.
    EXPECT_NEAR(story.BoundAt("nic-pod"), down ? 2 : 122, kTiny) << story.Text();
    EXPECT_NEAR(story.BoundAt("plain"), 3, kTiny) << story.Text();
  }
}

// Twenty pods with claims, and a plain one 0.1 s later; a write takes half a second. Until 1.29 the
// one scheduling thread writes each pod's context itself.
TEST(PathologiesTest, ApiCallsBlockTheScheduler) {
  for (const DraRelease release : {DraRelease::k26, DraRelease::k29, DraRelease::k30}) {
    DraScenario s = StoryScenario({100});
    s.engine.nodes[0].cpu_milli = 100'000;
    for (int p = 0; p < 20; ++p) {
      s.engine.pods.push_back({absl::StrCat("pod-", p), 0, 0, 10 * kStorySecond, 0});
    }
    s.engine.pods.push_back({"plain", 0, 100 * kStoryMs, 10 * kStorySecond, 0});
    s.plane.scheduler.write_latency = Constant(0.5);
    s.plane.behaviour.release = release;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    // 20 contexts, then the binding; or the binding alone.
    EXPECT_NEAR(story.BoundAt("plain"), release == DraRelease::k30 ? 0.6 : 10.5, kTiny)
        << story.Text();
  }
}

// ---- 15. ----

// The controller's client may make 20 calls a second, and 30 at once. Pods are deleted 8 s after
// their end: the loops fill that time. Counted at 19.5 s; "pod-0" ends at 11 s.
void LimitController(DraScenario* s, bool strict) {
  s->plane.behaviour.strict_upstream = strict;
  s->plane.controller_manager.qps = 20;
  s->plane.controller_manager.burst = 30;
  s->plane.finished_ttl = SimDuration::Seconds(8);
}

int CallsUntil(DraScenario s, double seconds, const std::string& call) {
  DraRig rig(std::move(s));
  DraStory story(&rig);
  int calls = 0;
  story.At(seconds, [&] { calls = story.Messages("claim-controller", call); });
  EXPECT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  return calls;
}

// One of two pods that share a claim ends; or the one pod that has an Immediate claim.
TEST(PathologiesTest, EndedPodsKeepTheClaimControllerBusy) {
  for (const AllocationMode mode :
       {AllocationMode::kWaitForFirstConsumer, AllocationMode::kImmediate}) {
    for (const bool strict : {true, false}) {
      const bool immediate = mode == AllocationMode::kImmediate;
      DraScenario s = Sharing(immediate ? 1 : 2, true, 10, 0);
      if (!immediate) s.engine.pods[1] = {"pod-1", 0, 1 * kStorySecond, 100 * kStorySecond, 0};
      s.objects = [mode](ControlPlane& plane) {
        DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
        DRASIM_CHECK(plane.Create(TestClaim(plane.names(), "shared", "class", mode)).ok());
      };
      LimitController(&s, strict);
      const int puts = CallsUntil(std::move(s), 19.5, "PUT resourceclaims/status");
      if (!strict) {
        EXPECT_EQ(puts, 1);
        continue;
      }
      EXPECT_GT(puts, 150);
      EXPECT_LE(puts, 30 + 20 * 8 + 2);
    }
  }
}

// Its claims are made again and deleted again. One claim is remembered for the next hundred.
TEST(PathologiesTest, ClaimsOfAnEndedPodAreMadeAgain) {
  for (const bool strict : {true, false}) {
    for (const size_t claims : {size_t{1}, size_t{2}}) {
      DraScenario s = StoryScenario({2});
      s.engine.pods = {{"pod-0", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
      s.claims = [claims](NamePool& names, const std::string&) {
        std::vector<PodClaim> all = {FromTemplate(names, "a", "template")};
        if (claims == 2) all.push_back(FromTemplate(names, "b", "template"));
        return all;
      };
      LimitController(&s, strict);
      const int posts = CallsUntil(std::move(s), 19.5, "POST resourceclaims");
      if (strict && claims == 2) {
        EXPECT_GT(posts, 40);
        EXPECT_LT(posts, 120);
      } else {
        EXPECT_EQ(posts, static_cast<int>(claims));
      }
    }
  }
}

// ---- 16. ----

// The pod's first claim is allocated, the driver of the second takes 6 s from 10 s on. A write and
// a watch of the scheduler take a millisecond each; its client may make 50 calls a second, and 100
// at once.
TEST(PathologiesTest, AReservationWakesItsPod) {
  for (const bool strict : {true, false}) {
    DraScenario s = StoryScenario({1});
    s.drivers.push_back(StoryDriver("nic.example.com", {1}));
    s.engine.pods = {{"pod", 0, 10 * kStorySecond, 10 * kStorySecond, 0}};
    s.objects = [](ControlPlane& plane) {
      NamePool& names = plane.names();
      DRASIM_CHECK(plane.Create(TestClass(names, "class", kStoryDriver)).ok());
      DRASIM_CHECK(
          plane.Create(TestClaim(names, "mine", "class", AllocationMode::kImmediate)).ok());
      DRASIM_CHECK(plane.Create(TestClass(names, "nic-class", "nic.example.com")).ok());
      DRASIM_CHECK(plane.Create(TestTemplate(names, "nic-template", "nic-class")).ok());
    };
    s.claims = [](NamePool& names, const std::string&) {
      return std::vector<PodClaim>{FromClaim(names, "gpu", "mine"),
                                   FromTemplate(names, "nic", "nic-template")};
    };
    s.plane.behaviour.strict_upstream = strict;
    s.plane.driver_controller.decision_latency = Constant(3);
    s.plane.scheduler.qps = 50;
    s.plane.scheduler.burst = 100;
    s.plane.scheduler.write_latency = Constant(0.001);
    s.plane.scheduler.watch_latency = Constant(0.001);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 16) << story.Text();
    EXPECT_LT(story.BoundAt("pod"), 16.2) << story.Text();
    const int puts = story.Messages("scheduler", "PUT resourceclaims/status");
    if (!strict) {
      EXPECT_EQ(puts, 1) << story.Text();
      continue;
    }
    // The loop begins at 12 s: its burst of 100, then 50 a second until the other claim is
    // allocated.
    EXPECT_GT(puts, 100 + 50 * 4 - 5) << story.Text();
    EXPECT_LE(puts, 100 + 50 * 4 + 5) << story.Text();
  }
}

}  // namespace pathologies_more_test
}  // namespace drasim
