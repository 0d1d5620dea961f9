// The messages of classic DRA, one by one: what each component says to the API server for one pod,
// by variant (KEP-3063 as of release 1.29). The engine's scheduler, all controllers and the kubelet
// take part; nothing takes time.
#include <algorithm>
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
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/classic/plane_checks.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim {
namespace sequences_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr char kDriver[] = "test-driver.cdi.k8s.io";

using testing::ElementsAreArray;

// Two nodes, on each of which the driver has `units` units.
DraScenario Base(int64_t units = 2) {
  DraScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.options.check_invariants = true;
  s.engine.identity_ranks = true;
  s.engine.nodes = {TestNode("node-a", 8000, 0), TestNode("node-b", 8000, 0)};
  s.engine.shapes = {TestShape(1000, 0)};
  s.engine.pods = {{"pod", 0, 0, 10 * kSecond, 0}};
  s.plane.behaviour.queueing_hints = true;
  CountingDriverOptions driver;
  driver.name = kDriver;
  driver.units = {{NodeId(size_t{0}), units}, {NodeId(size_t{1}), units}};
  s.drivers = {driver};
  s.objects = [](ControlPlane& plane) {
    ASSERT_TRUE(plane.Create(TestClass(plane.names(), "class", kDriver)).ok());
    ASSERT_TRUE(plane.Create(TestTemplate(plane.names(), "template", "class")).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromTemplate(names, "gpu", "template")};
  };
  return s;
}

const Lines kMadeFromTemplate = {
    "claim-controller POST resourceclaims",
    "claim-controller PATCH pods/status",
};
// A driver allocates one claim for the selected node.
const Lines kAllocates = {
    "test-driver.cdi.k8s.io GET pods",
    "test-driver.cdi.k8s.io PUT resourceclaims",
    "test-driver.cdi.k8s.io PUT resourceclaims/status",
    "test-driver.cdi.k8s.io PUT podschedulingcontexts/status",
};
const Lines kBindsAndRuns = {
    "scheduler POST pods/binding",
    "scheduler DELETE podschedulingcontexts",
    "kubelet GET resourceclaims",
    "kubelet PATCH pods/status",
};
const Lines kFreesTemplateClaim = {
    "claim-controller PUT resourceclaims/status",
    "claim-controller DELETE resourceclaims",
    "test-driver.cdi.k8s.io PUT resourceclaims/status",
    "test-driver.cdi.k8s.io PUT resourceclaims",
};

Lines Joined(const std::vector<Lines>& parts) {
  Lines all;
  for (const Lines& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// 13 writes, 2 reads, 2 cycles, without the user's own and the kubelet's report of the start.
TEST(SequencesTest, TemplateWaitForFirstConsumer) {
  DraScenario s = Base();
  s.plane.behaviour.strict_upstream = false;
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  EXPECT_THAT(rig.Calls(), ElementsAreArray(Joined({kMadeFromTemplate,
                                                    {"scheduler POST podschedulingcontexts"},
                                                    kAllocates,
                                                    kBindsAndRuns,
                                                    kFreesTemplateClaim})));
  EXPECT_EQ(rig.ReadsAndWrites(), std::make_pair(size_t{2}, size_t{13}));
  EXPECT_EQ(rig.plane().scheduler().attempts(), 2u);
  EXPECT_EQ(rig.driver(0).allocated_claims(), 0u);
}

// The library hears of the status that it has written itself, and looks at the pod once more.
TEST(SequencesTest, UpstreamsDriverReadsThePodAgainAfterItsOwnWrite) {
  DraRig rig(Base());
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  EXPECT_THAT(rig.Calls(), ElementsAreArray(Joined({kMadeFromTemplate,
                                                    {"scheduler POST podschedulingcontexts"},
                                                    kAllocates,
                                                    {"test-driver.cdi.k8s.io GET pods"},
                                                    kBindsAndRuns,
                                                    kFreesTemplateClaim})));
  EXPECT_EQ(rig.ReadsAndWrites(), std::make_pair(size_t{3}, size_t{13}));
  EXPECT_EQ(rig.plane().scheduler().attempts(), 2u);
}

// Allocated at its creation: one cycle, and no context but for the delete that makes sure.
TEST(SequencesTest, Immediate) {
  DraScenario s = Base();
  s.plane.behaviour.strict_upstream = false;
  s.objects = [](ControlPlane& plane) {
    ASSERT_TRUE(plane.Create(TestClass(plane.names(), "class", kDriver)).ok());
    ASSERT_TRUE(
        plane.Create(TestTemplate(plane.names(), "template", "class", AllocationMode::kImmediate))
            .ok());
  };
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  EXPECT_THAT(rig.Calls(),
              ElementsAreArray(
                  Joined({kMadeFromTemplate,
                          {"test-driver.cdi.k8s.io PUT resourceclaims",
                           "test-driver.cdi.k8s.io PUT resourceclaims/status",
                           "scheduler PUT resourceclaims/status", "scheduler POST pods/binding",
                           "scheduler DELETE podschedulingcontexts 404",
                           "kubelet GET resourceclaims", "kubelet PATCH pods/status"},
                          kFreesTemplateClaim})));
  EXPECT_EQ(rig.plane().scheduler().attempts(), 1u);
}

// A claim that another pod uses already, and may be shared: one cycle, one write to join.
TEST(SequencesTest, SharedAndAllocated) {
  DraScenario s = Base();
  s.plane.behaviour.strict_upstream = false;
  s.drivers[0].shareable = true;
  s.engine.pods = {{"first", 0, 0, 10 * kSecond, 0}, {"second", 0, 2 * kSecond, kSecond, 0}};
  s.objects = [](ControlPlane& plane) {
    ASSERT_TRUE(plane.Create(TestClass(plane.names(), "class", kDriver)).ok());
    ASSERT_TRUE(plane.Create(TestClaim(plane.names(), "shared", "class")).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromClaim(names, "gpu", "shared")};
  };
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  const Lines joins = {"scheduler PUT resourceclaims/status", "scheduler POST pods/binding",
                       "scheduler DELETE podschedulingcontexts 404", "kubelet GET resourceclaims",
                       "kubelet PATCH pods/status",
                       // The second has ended; the first still uses the claim.
                       "claim-controller PUT resourceclaims/status"};
  EXPECT_THAT(rig.Calls(),
              ElementsAreArray(Joined(
                  {{"scheduler POST podschedulingcontexts"},
                   kAllocates,
                   {"scheduler POST pods/binding", "scheduler DELETE podschedulingcontexts",
                    "kubelet GET resourceclaims"},
                   joins,
                   // It has no users any more: it is freed, and stays.
                   {"kubelet PATCH pods/status", "claim-controller PUT resourceclaims/status",
                    "test-driver.cdi.k8s.io PUT resourceclaims/status",
                    "test-driver.cdi.k8s.io PUT resourceclaims"}})));
  EXPECT_EQ(rig.plane().scheduler().attempts(), 3u);
}

// Two claims of two drivers: the scheduler asks before it selects.
TEST(SequencesTest, TwoDrivers) {
  DraScenario s = Base();
  s.plane.behaviour.strict_upstream = false;
  s.drivers.push_back(s.drivers[0]);
  s.drivers[1].name = "other.example.com";
  s.objects = [](ControlPlane& plane) {
    NamePool& names = plane.names();
    ASSERT_TRUE(plane.Create(TestClass(names, "class", kDriver)).ok());
    ASSERT_TRUE(plane.Create(TestClass(names, "other", "other.example.com")).ok());
    ASSERT_TRUE(plane.Create(TestTemplate(names, "template", "class")).ok());
    ASSERT_TRUE(plane.Create(TestTemplate(names, "template-2", "other")).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromTemplate(names, "gpu", "template"),
                                 FromTemplate(names, "nic", "template-2")};
  };
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  const Lines calls = rig.Calls();
  const auto count = [&calls](const std::string& line) {
    return std::count(calls.begin(), calls.end(), line);
  };
  EXPECT_EQ(count("claim-controller POST resourceclaims"), 2);
  EXPECT_EQ(count("claim-controller PATCH pods/status"), 1);
  EXPECT_EQ(count("scheduler POST podschedulingcontexts"), 1);
  EXPECT_EQ(count("scheduler PUT podschedulingcontexts"), 1);
  for (const char* driver : {"test-driver.cdi.k8s.io", "other.example.com"}) {
    // Asked once, then told to allocate.
    EXPECT_EQ(count(absl::StrCat(driver, " GET pods")), 2) << testing::PrintToString(calls);
    EXPECT_EQ(count(absl::StrCat(driver, " PUT podschedulingcontexts/status")), 1)
        << testing::PrintToString(calls);
    // The finalizer and the allocation, and back.
    EXPECT_EQ(count(absl::StrCat(driver, " PUT resourceclaims")), 2);
    EXPECT_EQ(count(absl::StrCat(driver, " PUT resourceclaims/status")), 2);
  }
  EXPECT_EQ(rig.plane().scheduler().attempts(), 3u) << testing::PrintToString(calls);
}

// The node that the scheduler selects has no unit left, which only the driver knows.
TEST(SequencesTest, SelectedNodeIsUnsuitable) {
  DraScenario s = Base();
  s.plane.behaviour.strict_upstream = false;
  s.drivers[0].units[0].second = 0;
  s.engine.policy = "consolidate";
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  const Lines unsuitable = {"scheduler POST podschedulingcontexts",
                            "test-driver.cdi.k8s.io GET pods",
                            "test-driver.cdi.k8s.io PUT podschedulingcontexts/status",
                            "scheduler PUT podschedulingcontexts"};
  EXPECT_THAT(rig.Calls(),
              ElementsAreArray(Joined(
                  {kMadeFromTemplate,
                   unsuitable,
                   {"test-driver.cdi.k8s.io GET pods", "test-driver.cdi.k8s.io PUT resourceclaims",
                    "test-driver.cdi.k8s.io PUT resourceclaims/status"},
                   kBindsAndRuns,
                   kFreesTemplateClaim})))
      << testing::PrintToString(rig.rig().RecordLines());
  EXPECT_EQ(rig.plane().scheduler().attempts(), 3u);
}

// ---- A node that becomes unfit after its devices were allocated, and a pod that its user binds.
// ----

// The calls about the pod and its objects, except the user's.
Lines CallsAbout(DraRig& rig, const Pod& pod) {
  Lines lines;
  for (const ApiMessage& m : rig.messages()) {
    const std::string& client = rig.plane().network().client(m.client).options().name;
    if (m.pod != pod.row || client == "user") continue;
    lines.push_back(absl::StrCat(client, " ", CallText(m.verb, m.kind)));
    if (m.code != ApiCode::kOk) absl::StrAppend(&lines.back(), " ", static_cast<int>(m.code));
  }
  return lines;
}

// Decisions of the driver take 2 s. The pod selects the first node, of which another pod takes all
// CPUs a second later.
TEST(SequencesTest, NodeBecameUnfitAfterAllocation) {
  for (const DraRelease release : {DraRelease::k28, DraRelease::k29}) {
    DraScenario s = StoryScenario({1, 1});
    s.engine.nodes[1].cpu_milli = 4000;
    s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0},
                     {"plain", 1, 1 * kStorySecond, 100 * kStorySecond, 0}};
    s.plane.behaviour.release = release;
    s.plane.behaviour.strict_upstream = false;
    s.plane.driver_controller.decision_latency = Constant(2);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    Ref<Pod> pod;
    story.At(5, [&] { pod = story.PodNamed("pod"); });
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    Lines expected = {
        "claim-controller POST resourceclaims",
        "claim-controller PATCH pods/status",
        "scheduler POST podschedulingcontexts",
        "gpu.example.com GET pods",
        "gpu.example.com PUT resourceclaims",
        "gpu.example.com PUT resourceclaims/status",
        "gpu.example.com PUT podschedulingcontexts/status",
        // No node fits any more: PostFilter.
        "scheduler PUT podschedulingcontexts",
        "scheduler PUT resourceclaims/status",
        "gpu.example.com PUT resourceclaims/status",
        "gpu.example.com PUT resourceclaims",
        // As at first, but that the context is there; and its status is as it was.
        "scheduler PUT podschedulingcontexts",
        "gpu.example.com GET pods",
        "gpu.example.com PUT resourceclaims",
        "gpu.example.com PUT resourceclaims/status",
        "scheduler POST pods/binding",
        "scheduler DELETE podschedulingcontexts",
        "kubelet GET resourceclaims",
        "kubelet PATCH pods/status",
        "kubelet PATCH pods/status",
        "claim-controller PUT resourceclaims/status",
        "claim-controller DELETE resourceclaims",
        "gpu.example.com PUT resourceclaims/status",
        "gpu.example.com PUT resourceclaims",
    };
    // The driver looks at the context that it has with no node selected, too.
    if (release == DraRelease::k29)
      expected.insert(expected.begin() + 9, "gpu.example.com GET pods");
    // 1.28 leaves the node selected.
    if (release == DraRelease::k28) expected.erase(expected.begin() + 7);
    EXPECT_THAT(CallsAbout(rig, *pod), ElementsAreArray(expected)) << story.Text();
    EXPECT_EQ(story.Deallocations(), 1) << story.Text();
    EXPECT_EQ(story.Count("pod: bound to node-1"), 1) << story.Text();
    EXPECT_EQ(rig.plane().scheduler().attempts(), 5u) << story.Text();  // one is that of "plain"
  }
}

// Without hints any event of a claim or context wakes the pod: since 1.29, when it is Pending,
// straight away, before only after its backoff, the second of which is over with the third.
TEST(SequencesTest, WithoutHintsPendingPodsSkipTheBackoff) {
  for (const DraRelease release : {DraRelease::k28, DraRelease::k29, DraRelease::k30}) {
    DraScenario s = StoryScenario({1});
    s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    s.plane.behaviour.release = release;
    s.plane.behaviour.queueing_hints = false;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_NEAR(story.BoundAt("pod"), release == DraRelease::k28 ? 3 : 1, 1e-6) << story.Text();
    EXPECT_EQ(rig.plane().scheduler().attempts(), 2u) << story.Text();
  }
}

// A node that joins is such an event, too, with hints and without.
TEST(SequencesTest, ANodeThatJoinsWakesPendingPodsAtOnce) {
  for (const bool hints : {true, false}) {
    DraScenario s = StoryScenario({1, 1});
    s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    NodeTransition change;
    change.node = NodeId(size_t{1});
    change.action = NodeTransition::Action::kRemove;
    s.engine.node_changes = {change};
    change.at = SimTime(1500 * kStoryMs);
    change.action = NodeTransition::Action::kAdd;
    s.engine.node_changes.push_back(change);
    s.plane.behaviour.queueing_hints = hints;
    s.plane.driver_controller.decision_latency = Constant(10);
    DraRig rig(std::move(s));
    DraStory story(&rig);
    uint64_t attempts = 0;
    story.At(1.6, [&] { attempts = rig.plane().scheduler().attempts(); });
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    // At 1 s and at 1.5 s; without hints each once more for the context that the pod has written.
    EXPECT_EQ(attempts, hints ? 2u : 4u) << story.Text();
  }
}

// The scheduler watches claims and contexts one by one. The driver's finalizer may arrive before
// the context that the scheduler has created itself; without hints it wakes the pod, which has no
// context in the cache, and creates it once more.
TEST(SequencesTest, AContextIsCreatedTwice) {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    DraScenario s = StoryScenario({1});
    s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    s.plane.behaviour.queueing_hints = false;
    s.plane.scheduler.watch_latency = *Distribution::Parse("uniform(low=0.005,high=0.05)");
    s.plane.seed = seed;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 1) << story.Text();
    refused += story.Messages("scheduler", "POST podschedulingcontexts", ApiCode::kAlreadyExists);
  }
  EXPECT_GT(refused, 0);
}

// The driver may hear of the request to deallocate before it hears that no node is selected any
// more: it allocates for the node that was just cleared. Decisions take 2 s; at 1 s another pod
// takes all CPUs of the node.
TEST(SequencesTest, ANodeThatWasJustClearedIsAllocatedFor) {
  int times = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    DraScenario s = StoryScenario({1, 0});
    s.engine.nodes[1].cpu_milli = 4000;
    s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0},
                     {"plain", 1, 1 * kStorySecond, 100 * kStorySecond, 0}};
    s.plane.driver_controller.decision_latency = Constant(2);
    s.plane.drivers.watch_latency = *Distribution::Parse("uniform(low=0.005,high=0.05)");
    s.plane.seed = seed;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 100) << story.Text();
    bool selected = false;
    for (const std::string& line : story.lines()) {
      if (absl::StrContains(line, "(context): selects ")) {
        selected = !absl::StrContains(line, "selects no node");
      }
      times += absl::StrContains(line, ": allocated on ") && !selected ? 1 : 0;
    }
  }
  EXPECT_GT(times, 0);
}

// The claim of a waiting pod is deleted at 10 s, and is there again at 31 s. The pod is not tried
// when the node has room, at 20 s, since PreEnqueue keeps it out; 1.27 has none.
TEST(SequencesTest, APodWhoseClaimIsDeletedIsNotTriedAgain) {
  for (const DraRelease release : {DraRelease::k27, DraRelease::k28, DraRelease::k29}) {
    DraScenario s = StoryScenario({1});
    s.engine.pods = {{"plain", 1, 0, 20 * kStorySecond, 0},
                     {"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    s.plane.behaviour.release = release;
    s.objects = [](ControlPlane& plane) {
      DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
      DRASIM_CHECK(plane.Create(TestClaim(plane.names(), "mine", "class")).ok());
    };
    s.claims = [](NamePool& names, const std::string& pod) {
      std::vector<PodClaim> claims;
      if (pod == "pod") claims.push_back(FromClaim(names, "gpu", "mine"));
      return claims;
    };
    DraRig rig(std::move(s));
    DraStory story(&rig);
    uint64_t attempts = 0;
    story.At(10, [&] { rig.plane().faults().DeleteClaim(story.Claim("mine")->meta.uid); });
    story.At(30, [&] { attempts = rig.plane().scheduler().attempts(); });
    story.At(31, [&] {
      ApiRequest create;
      create.verb = Verb::kCreate;
      create.kind = ObjectKind::kResourceClaim;
      create.object = TestClaim(rig.plane().names(), "mine", "class");
      story.Call(std::move(create));
    });
    ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
    // One is that of "plain".
    EXPECT_EQ(attempts, release == DraRelease::k27 ? 3u : 2u) << story.Text();
    EXPECT_GT(story.BoundAt("pod"), 30) << story.Text();
  }
}

// The pod waits for CPUs when another client binds it. (The engine's own scheduler goes on waiting
// for it, and would try to bind it too: the run is not followed to its end.) Decisions of the
// driver take 2 s.
TEST(SequencesTest, PodBoundByHand) {
  for (const bool driver_reserves : {true, false}) {
    DraScenario s = StoryScenario({1, 1});
    s.engine.options.stop_after_events = 1;
    s.engine.pods = {{"plain-0", 1, 0, 500 * kStorySecond, 0},
                     {"plain-1", 1, 0, 500 * kStorySecond, 0},
                     {"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
    s.plane.behaviour.strict_upstream = false;
    s.plane.driver_controller.decision_latency = Constant(2);
    s.plane.driver_controller.set_reserved_for = driver_reserves;
    DraRig rig(std::move(s));
    DraStory story(&rig);
    Ref<Pod> pod;
    story.At(5, [&] {
      pod = story.PodNamed("pod");
      ApiRequest bind;
      bind.verb = Verb::kBind;
      bind.kind = ObjectKind::kPod;
      bind.ns = pod->meta.ns;
      bind.name = pod->meta.name;
      bind.node = NodeId(size_t{1});
      story.Call(std::move(bind));
    });
    bool over = false;
    story.At(100, [&] { over = true; });
    while (!over) {
      ASSERT_EQ(rig.rig().engine().Run(), absl::OkStatus()) << story.Text();
      ASSERT_EQ(CheckControlPlane(rig.plane(), false), absl::OkStatus()) << story.Text();
    }
    Lines expected = {
        "claim-controller POST resourceclaims",
        "claim-controller PATCH pods/status",
        "story POST pods/binding",
        // The context has a selected node alone.
        "claim-controller POST podschedulingcontexts",
        // Neither allocated nor reserved yet: again 60 to 90 s later.
        "kubelet GET resourceclaims",
        "gpu.example.com GET pods",
        "gpu.example.com PUT resourceclaims",
        "gpu.example.com PUT resourceclaims/status",
        "gpu.example.com PUT podschedulingcontexts/status",
        "kubelet GET resourceclaims",
        "kubelet PATCH pods/status",
    };
    if (!driver_reserves) {
      expected.insert(expected.begin() + 9, "claim-controller PUT resourceclaims/status");
    }
    // The driver looks at the context every 30 s, for as long as it is there.
    Lines calls = CallsAbout(rig, *pod);
    const auto first_look = std::find(calls.begin(), calls.end(), "gpu.example.com GET pods");
    ASSERT_NE(first_look, calls.end()) << story.Text();
    calls.erase(std::remove(first_look + 1, calls.end(), "gpu.example.com GET pods"), calls.end());
    EXPECT_THAT(calls, ElementsAreArray(expected)) << story.Text();
    EXPECT_GT(story.TimeOf("pod: runs"), 65) << story.Text();
    EXPECT_LT(story.TimeOf("pod: runs"), 95) << story.Text();
    // The context is left to the garbage collector.
    EXPECT_EQ(story.objects().of<PodSchedulingContext>().size(), 1u) << story.Text();
    EXPECT_EQ(story.Count("(context): 1 potential"), 0) << story.Text();
  }
}

// Calls to a kubelet's plugins take 5 s: one before the work begins, and one after its end.
TEST(SequencesTest, WorkTakesAsLongAsItShould) {
  DraScenario s = StoryScenario({1, 1});
  s.engine.pods = {{"pod", 0, 0, 60 * kStorySecond, 0}};
  s.plane.kubelet.grpc_latency = Constant(5);
  DraRig rig(std::move(s));
  DraStory story(&rig);
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_EQ(story.TimeOf("pod: runs"), 5) << story.Text();
  EXPECT_EQ(story.TimeOf("pod: ended"), 70) << story.Text();
}

// The same. Claims that a failed node has prepared are gone at once, and the pod's claim is
// allocated again elsewhere.
TEST(SequencesTest, NodeLost) {
  DraScenario s = StoryScenario({1, 1});
  s.engine.pods = {{"pod", 0, 0, 60 * kStorySecond, 0}};
  s.plane.kubelet.grpc_latency = Constant(5);
  const NodeId first{size_t{0}};
  const NodeId second{size_t{1}};
  for (const auto& [at, action] : {std::pair(20, NodeTransition::Action::kFail),
                                   std::pair(200, NodeTransition::Action::kRecover)}) {
    NodeTransition change;
    change.at = SimTime(at * kStorySecond);
    change.node = first;
    change.action = action;
    s.engine.node_changes.push_back(change);
  }
  DraRig rig(std::move(s));
  DraStory story(&rig);
  const auto prepared = [&] {
    return std::pair(rig.plane().dra_manager().prepared_claims(first),
                     rig.plane().dra_manager().prepared_claims(second));
  };
  using Counts = std::pair<size_t, size_t>;
  int looks = 0;
  const auto expect = [&](double seconds, Counts counts) {
    story.At(seconds, [&, counts] { looks += prepared() == counts ? 1 : 0; });
  };
  expect(19, {1, 0});
  expect(22, {0, 0});
  expect(40, {0, 1});
  ASSERT_EQ(rig.Run(), absl::OkStatus()) << story.Text();
  EXPECT_EQ(looks, 3) << story.Text();
  // It worked for 15 s there and for 45 s here; then the claim was unprepared.
  EXPECT_EQ(story.TimeOf("pod-r1: ended"), 75) << story.Text();
  EXPECT_EQ(prepared(), Counts(0, 0));
}

}  // namespace sequences_test
}  // namespace drasim
