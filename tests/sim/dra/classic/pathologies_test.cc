// Pathologies of classic DRA: how pods, nodes and drivers find each other, and how components get
// in each other's way. Each test shows that one happens, and a setting or release in which it does
// not. docs/pathologies.md describes the mechanisms.
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
#include "sim/dra/api/dra_release.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim {
namespace pathologies_test {

constexpr double kTiny = 1e-6;  // of seconds
constexpr char kNic[] = "nic.example.com";

NodeTransition Change(double seconds, size_t node, NodeTransition::Action action) {
  NodeTransition change;
  change.at = SimTime(static_cast<int64_t>(seconds * 1e9));
  change.node = NodeId(node);
  change.action = action;
  return change;
}

// A second driver, with `units[i]` units on node i; pods with claims have one of each driver.
void AddNic(DraScenario* s, const std::vector<int64_t>& units) {
  s->drivers.push_back(StoryDriver(kNic, units));
  const auto objects = s->objects;
  s->objects = [objects](ControlPlane& plane) {
    objects(plane);
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "nic-class", kNic)).ok());
    DRASIM_CHECK(plane.Create(TestTemplate(plane.names(), "nic-template", "nic-class")).ok());
  };
  s->claims = [](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    if (absl::StartsWith(pod, "plain")) return claims;
    if (!absl::StartsWith(pod, "nic")) claims.push_back(FromTemplate(names, "gpu", "template"));
    claims.push_back(FromTemplate(names, "nic", "nic-template"));
    return claims;
  };
}

// ---- 1. ----

DraScenario Drift(uint64_t seed, bool joins) {
  DraScenario s = StoryScenario({1, 1});
  AddNic(&s, {1, 1});
  s.engine.nodes[0].cpu_milli = 4000;
  s.engine.policy = "least-allocated";
  s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
  s.engine.node_changes = {Change(0, 1, NodeTransition::Action::kRemove)};
  if (joins) s.engine.node_changes.push_back(Change(8, 1, NodeTransition::Action::kAdd));
  s.plane.driver_controller.decision_latency = *Distribution::Parse("uniform(low=0.1,high=5)");
  s.plane.seed = seed;
  return s;
}

TEST(PathologiesTest, NodeDriftsBetweenCycles) {
  int drifted = 0;
  int gave_up_gpu = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    DraRig rig(Drift(seed, true));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 0) << story.Text();
    if (story.Deallocations() == 0) continue;
    ++drifted;
    EXPECT_GT(story.Count("selects node-0"), 0) << story.Text();
    EXPECT_GT(story.Count("selects node-1"), 0) << story.Text();
    EXPECT_GT(story.Count("allocated on node-0"), 0) << story.Text();
    EXPECT_GT(story.Count("allocated on node-1"), 0) << story.Text();
    gave_up_gpu += story.Count("pod/gpu: deallocation requested for a pod that waits");
  }
  EXPECT_GT(drifted, 5);
  // One of the two, at random.
  EXPECT_GT(gave_up_gpu, 0);
  EXPECT_LT(gave_up_gpu, drifted);
  // Nothing changes while drivers work: the node stays.
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    DraRig rig(Drift(seed, false));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.Deallocations(), 0) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 0) << story.Text();
  }
}

// ---- 2. ----

// Decisions take 1 s. "pod" wants a GPU and a NIC, "nic-pod" a NIC only. Each node has one NIC.
DraScenario Partial(bool rival) {
  DraScenario s = StoryScenario({2, 2});
  AddNic(&s, {1, 1});
  s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
  if (rival) s.engine.pods.push_back({"nic-pod", 0, 1500 * kStoryMs, 100 * kStorySecond, 0});
  s.plane.driver_controller.decision_latency = Constant(1);
  return s;
}

TEST(PathologiesTest, PartialMultiClaimAllocation) {
  for (const bool rival : {true, false}) {
    DraRig rig(Partial(rival));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    // The GPU of a node without a NIC is given back by the scheduler alone.
    EXPECT_EQ(story.Deallocations(), rival ? 1 : 0) << story.Text();
    EXPECT_EQ(story.Count("pod/gpu: allocated on node-0"), 1) << story.Text();
    EXPECT_EQ(story.Count("pod/gpu: allocated on node-1"), rival ? 1 : 0) << story.Text();
    EXPECT_EQ(story.Count("pod: bound to node-1"), rival ? 1 : 0) << story.Text();
  }
}

// A third claim, allocated at its creation and reachable from everywhere, comes first. Until 1.29
// the scheduler mistakes it for the claim that is in the way, and leaves that alone: the pod waits
// until the other pod has ended.
TEST(PathologiesTest, PartialMultiClaimAllocationIsNotFoundBehindAnImmediateClaim) {
  for (const auto& [release, strict] : std::vector<std::pair<DraRelease, bool>>{
           {DraRelease::k29, true}, {DraRelease::k29, false}, {DraRelease::k30, true}}) {
    DraScenario s = Partial(true);
    s.engine.pods[1].at_ns = 3500 * kStoryMs;  // the first claim has taken 2 s more
    s.plane.behaviour.release = release;
    s.plane.behaviour.strict_upstream = strict;
    CountingDriverOptions fabric = StoryDriver("fabric.example.com", {0, 0});
    fabric.node_local = false;
    fabric.network_units = 5;
    s.drivers.push_back(fabric);
    const auto objects = s.objects;
    s.objects = [objects](ControlPlane& plane) {
      objects(plane);
      NamePool& names = plane.names();
      DRASIM_CHECK(plane.Create(TestClass(names, "fabric", "fabric.example.com")).ok());
      DRASIM_CHECK(
          plane.Create(TestTemplate(names, "fabric", "fabric", AllocationMode::kImmediate)).ok());
    };
    const auto claims = s.claims;
    s.claims = [claims](NamePool& names, const std::string& pod) {
      std::vector<PodClaim> all = claims(names, pod);
      if (pod == "pod") all.insert(all.begin(), FromTemplate(names, "fabric", "fabric"));
      return all;
    };
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    const bool found = !strict || release == DraRelease::k30;
    EXPECT_EQ(story.Deallocations(), found ? 1 : 0) << story.Text();
    // Else one of its claims stays on either node, for ever.
    EXPECT_EQ(story.BoundAt("pod") > 0, found) << story.Text();
    EXPECT_EQ(rig.rig().engine().pods_waiting(), found ? 0u : 1u) << story.Text();
  }
}

// ---- 3. ----

// Two pods want the same two claims, in opposite order.
DraScenario TwoClaims(DraRelease release, AllocationMode mode) {
  DraScenario s = StoryScenario({4, 4});
  s.engine.pods = {{"one", 0, 1 * kStorySecond, 10 * kStorySecond, 0},
                   {"two", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
  s.plane.behaviour.release = release;
  s.objects = [mode](ControlPlane& plane) {
    NamePool& names = plane.names();
    DRASIM_CHECK(plane.Create(TestClass(names, "class", kStoryDriver)).ok());
    for (const char* claim : {"left", "right"}) {
      DRASIM_CHECK(plane.Create(TestClaim(names, claim, "class", mode)).ok());
    }
  };
  s.claims = [](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims = {FromClaim(names, "a", "left"), FromClaim(names, "b", "right")};
    if (pod == "two") std::swap(claims[0], claims[1]);
    return claims;
  };
  return s;
}

// Drivers allocate at the first consumer. The API server takes 10 ms for a driver's write, so that
// its work for the two pods interleaves. Drivers reserve what they allocate, in every release: each
// pod gets one of the claims, and the pods wait for each other. A pod that PreFilter rejects comes
// neither to Unreserve nor to a deallocation.
TEST(PathologiesTest, TwoPodsTwoExclusiveClaims) {
  for (const DraRelease release :
       {DraRelease::k26, DraRelease::k27, DraRelease::k28, DraRelease::k29, DraRelease::k30}) {
    DraScenario s = TwoClaims(release, AllocationMode::kWaitForFirstConsumer);
    s.plane.drivers.write_latency = Constant(0.01);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(rig.rig().engine().pods_waiting(), 2u) << story.Text();
    EXPECT_EQ(story.Deallocations(), 0) << story.Text();
    EXPECT_EQ(story.Count("left: reserved for one"), 1) << story.Text();
    EXPECT_EQ(story.Count("right: reserved for two"), 1) << story.Text();
    EXPECT_EQ(story.Count("released"), 0) << story.Text();
  }
}

// Claims that are allocated at their creation. Since 1.30 reserving is done beside the scheduling
// thread: each pod gets one claim, fails with the other, gives the first back, and is tried again
// when its backoff is over, at the same moment as the other. Random differences end that.
TEST(PathologiesTest, TwoPodsTwoExclusiveClaimsTakeTurnsInFailing) {
  for (const auto& [release, latency] : std::vector<std::pair<DraRelease, std::string>>{
           {DraRelease::k29, "constant(0.01)"},
           {DraRelease::k30, "constant(0.01)"},
           {DraRelease::k30, "uniform(low=0.001,high=0.02)"}}) {
    DraScenario s = TwoClaims(release, AllocationMode::kImmediate);
    s.plane.scheduler.write_latency = *Distribution::Parse(latency);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    const bool live_lock = release == DraRelease::k30 && latency == "constant(0.01)";
    EXPECT_EQ(rig.rig().engine().pods_waiting(), live_lock ? 2u : 0u) << story.Text();
    int failures = 0;
    for (const char* call : {"PUT resourceclaims/status", "PATCH resourceclaims/status"}) {
      failures += story.Messages("scheduler", call, ApiCode::kInvalid);
    }
    if (live_lock) {
      EXPECT_GT(failures, 100) << story.Text();
      EXPECT_EQ(story.Count("left: reserved for one"), story.Count("left: released by one"))
          << story.Text();
    } else if (release == DraRelease::k29) {
      EXPECT_EQ(failures, 0) << story.Text();
      EXPECT_LT(story.BoundAt("one"), story.BoundAt("two")) << story.Text();
    } else {
      EXPECT_GT(failures, 0) << story.Text();
      EXPECT_LT(failures, 20) << story.Text();
    }
  }
}

// ---- 4. ----

// The claim is allocated at its creation, on the first node. Then that node fills up for 2,000 s.
DraScenario Pinned(AllocationMode mode) {
  DraScenario s = StoryScenario({1, 1});
  s.engine.pods = {{"plain", 1, 0, 2000 * kStorySecond, 0},
                   {"pod", 0, 5 * kStorySecond, 10 * kStorySecond, 0}};
  s.objects = [mode](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    DRASIM_CHECK(plane.Create(TestClaim(plane.names(), "mine", "class", mode)).ok());
  };
  s.claims = [](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    if (pod == "pod") claims.push_back(FromClaim(names, "gpu", "mine"));
    return claims;
  };
  return s;
}

TEST(PathologiesTest, ImmediatePin) {
  for (const AllocationMode mode :
       {AllocationMode::kImmediate, AllocationMode::kWaitForFirstConsumer}) {
    DraRig rig(Pinned(mode));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    const bool pinned = mode == AllocationMode::kImmediate;
    EXPECT_NEAR(story.BoundAt("pod"), pinned ? 2000 : 5, kTiny) << story.Text();
    EXPECT_EQ(story.Count("pod: bound to node-1"), pinned ? 0 : 1) << story.Text();
    EXPECT_EQ(story.Count("mine: deallocation requested"), pinned ? 0 : 1) << story.Text();
  }
}

TEST(PathologiesTest, ImmediatePinEndsByPreemption) {
  DraScenario s = Pinned(AllocationMode::kImmediate);
  s.engine.plugins = {"DefaultPreemption"};
  s.engine.pods[1].priority = 100;
  DraRig rig(std::move(s));
  DraStory story(&rig);
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_NEAR(story.BoundAt("pod"), 5, kTiny) << story.Text();
  EXPECT_EQ(story.Count("pod: bound to node-0"), 1) << story.Text();
}

// A recreated claim also ends it; the driver does not know of CPUs, so the claim must not be
// Immediate again.
TEST(PathologiesTest, ImmediatePinEndsWithTheClaim) {
  for (const AllocationMode mode :
       {AllocationMode::kImmediate, AllocationMode::kWaitForFirstConsumer}) {
    DraRig rig(Pinned(AllocationMode::kImmediate));
    DraStory story(&rig);
    story.At(100, [&] { rig.plane().faults().DeleteClaim(story.Claim("mine")->meta.uid); });
    story.At(101, [&] {
      ApiRequest create;
      create.verb = Verb::kCreate;
      create.kind = ObjectKind::kResourceClaim;
      create.object = TestClaim(rig.plane().names(), "mine", "class", mode);
      story.Call(std::move(create));
    });
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.Count("mine: gone"), 1) << story.Text();
    const bool pinned = mode == AllocationMode::kImmediate;
    EXPECT_NEAR(story.BoundAt("pod"), pinned ? 2000 : 101, kTiny) << story.Text();
  }
}

// ---- 5. ----

// Decisions take 2 s, and only the first node has devices. While one is allocated for "pod" a pod
// takes that node, for 200 s.
DraScenario Thrash(DraRelease release, const std::vector<double>& arrivals, double run) {
  DraScenario s = StoryScenario({1, 0});
  s.engine.nodes[1].cpu_milli = 4000;
  s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
  for (size_t i = 0; i < arrivals.size(); ++i) {
    s.engine.pods.push_back({absl::StrCat("plain-", i), 1, static_cast<int64_t>(arrivals[i] * 1e9),
                             static_cast<int64_t>(run * 1e9), 0});
  }
  s.plane.behaviour.release = release;
  s.plane.driver_controller.decision_latency = Constant(2);
  return s;
}

// Until 1.28 the selected node stays selected: with its next periodic look, after 30 s, the driver
// allocates for it again.
TEST(PathologiesTest, DeallocationThrash) {
  for (const DraRelease release :
       {DraRelease::k26, DraRelease::k27, DraRelease::k28, DraRelease::k29, DraRelease::k30}) {
    DraRig rig(Thrash(release, {1}, 200));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    const bool thrashes = release <= DraRelease::k28;
    EXPECT_EQ(story.Deallocations(), thrashes ? 6 : 1) << story.Text();
    EXPECT_EQ(story.Count("pod/gpu: allocated on node-0"), thrashes ? 7 : 2) << story.Text();
    EXPECT_EQ(story.Count("selects no node"), thrashes ? 0 : 1) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 200) << story.Text();
  }
}

// Later, too, if the node fills up each time that devices are allocated on it.
TEST(PathologiesTest, DeallocationThrashByPodsThatComeAndGo) {
  for (const bool others : {true, false}) {
    DraRig rig(Thrash(DraRelease::k29,
                      others ? std::vector<double>{1, 8, 15, 22, 29} : std::vector<double>(), 5));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    // Each time the whole way again, which takes 4 s. (Two of the pods come at other times.)
    EXPECT_EQ(story.Deallocations(), others ? 3 : 0) << story.Text();
    EXPECT_EQ(story.Count("selects node-0"), others ? 4 : 1) << story.Text();
    EXPECT_NEAR(story.BoundAt("pod"), others ? 40 : 4, kTiny) << story.Text();
  }
}

// ---- 6. ----

// Only the last of `nodes` nodes has a device. All have the same score; ties are broken at random
// in each attempt.
DraScenario LastNode(size_t nodes, uint64_t seed) {
  DraScenario s = StoryScenario(std::vector<int64_t>(nodes, 0));
  s.drivers[0].units.back().second = 1;
  s.engine.options.check_invariants = false;
  s.engine.policy = "random";
  s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
  for (ConnectionOptions* connection : {&s.plane.scheduler, &s.plane.drivers}) {
    connection->write_latency = Constant(0.005);
    connection->watch_latency = Constant(0.005);
  }
  s.plane.seed = seed;
  return s;
}

uint64_t AttemptsForLastNode(size_t nodes, uint64_t seed) {
  DraRig rig(LastNode(nodes, seed));
  DraStory story(&rig);
  EXPECT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_GT(story.BoundAt("pod"), 0) << story.Text();
  return rig.plane().scheduler().attempts();
}

// The driver is asked about 128 nodes at a time, and its answer replaces the one before: with more
// nodes than that, those that it has ruled out come back, and the right one is only found by luck.
TEST(PathologiesTest, MoreThan128FeasibleNodes) {
  uint64_t attempts = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    // Selected without knowing anything, then the one that is left, then bound.
    EXPECT_EQ(AttemptsForLastNode(kMaxNodesInContext, seed), 3u);
    attempts += AttemptsForLastNode(2 * kMaxNodesInContext, seed);
  }
  EXPECT_GT(attempts, 5 * 40u);
}

// ---- 7. ----

// Two nodes: the first has no device, the second is full for 5 s. The pod is never asked to choose.
DraScenario OnlyNode(DraRelease release) {
  DraScenario s = StoryScenario({0, 1});
  s.engine.nodes[0].cpu_milli = 4000;
  s.engine.pods = {{"plain", 1, 0, 5 * kStorySecond, 0},
                   {"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
  s.plane.behaviour.release = release;
  return s;
}

// The driver is asked about the only node in every release: there is no older list.
TEST(PathologiesTest, OnlyOneFeasibleNode) {
  for (const DraRelease release :
       {DraRelease::k26, DraRelease::k27, DraRelease::k28, DraRelease::k29, DraRelease::k30}) {
    DraRig rig(OnlyNode(release));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.Count("pod (context): unsuitable for gpu: node-0"), 1) << story.Text();
    // Before 1.28 there is no way around the backoff: attempts fail at 1, 3 and 6 s.
    EXPECT_NEAR(story.BoundAt("pod"), release < DraRelease::k28 ? 11 : 5, kTiny) << story.Text();
  }
}

TEST(PathologiesTest, OnlyOneFeasibleNodeForTwoClaims) {
  for (const DraRelease release : {DraRelease::k28, DraRelease::k29}) {
    DraScenario s = StoryScenario({1});
    AddNic(&s, {1});
    s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
    s.plane.behaviour.release = release;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(rig.rig().engine().pods_waiting(), 0u) << story.Text();
    EXPECT_EQ(story.Messages("scheduler", "POST podschedulingcontexts"), 1) << story.Text();
  }
}

// When "pod" comes, the device of the first node is in use and the second has none: its drivers are
// asked about these two. Then other pods fill both, and a third node joins, without a device: the
// only one that fits. The first node has room again from 20 s on.
DraScenario LeftOverNodes(DraRelease release) {
  DraScenario s = StoryScenario({1, 0, 0});
  s.engine.shapes = {TestShape(1000, 0), TestShape(8000, 0), TestShape(7000, 0),
                     TestShape(2000, 0)};
  s.engine.pods = {{"user", 0, 0, 2500 * kStoryMs, 0},
                   {"pod", 3, 2 * kStorySecond, 10 * kStorySecond, 0},
                   {"plain-a", 2, 3 * kStorySecond, 17 * kStorySecond, 0},
                   {"plain-b", 1, 3100 * kStoryMs, 200 * kStorySecond, 0}};
  s.engine.node_changes = {Change(0, 2, NodeTransition::Action::kRemove),
                           Change(5, 2, NodeTransition::Action::kAdd)};
  s.plane.behaviour.release = release;
  return s;
}

// Until 1.28 the old list stays, so that the driver is told the third node, but not asked about it.
// It fails to allocate there again and again, and never says that the first node suits by now.
TEST(PathologiesTest, OnlyOneFeasibleNodeAndAnOlderList) {
  for (const DraRelease release :
       {DraRelease::k26, DraRelease::k27, DraRelease::k28, DraRelease::k29, DraRelease::k30}) {
    DraRig rig(LeftOverNodes(release));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_EQ(story.Count("pod (context): selects node-2"), 1) << story.Text();
    if (release >= DraRelease::k29) {
      EXPECT_EQ(story.Count("pod (context): unsuitable for gpu: node-2"), 1) << story.Text();
      EXPECT_NEAR(story.BoundAt("pod"), 20, kTiny) << story.Text();
      continue;
    }
    EXPECT_EQ(story.Count("pod (context): unsuitable for gpu: node-2"), 0) << story.Text();
    EXPECT_EQ(rig.rig().engine().pods_waiting(), 1u) << story.Text();
    // Retries of the driver, 5 ms, 10 ms, ... apart.
    EXPECT_GT(story.Messages(kStoryDriver, "GET pods"), 15) << story.Text();
  }
}

// ---- Writers of one object get in each other's way, and components are slow or down. ----

// `pods` pods from 1 s on, `apart` seconds apart, with one claim "shared" among them.
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
  std::string check;  // the problem at the end
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

}  // namespace pathologies_test
}  // namespace drasim
