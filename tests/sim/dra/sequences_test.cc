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
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "sim/dra/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/dra_rig.h"

namespace drasim {
namespace sequences_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr char kDriver[] = "test-driver.cdi.k8s.io";

using testing::ElementsAreArray;

// Two nodes, of which the driver has so many units each.
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
                   // Nobody uses it any more: it is freed, and stays.
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

}  // namespace sequences_test
}  // namespace drasim
