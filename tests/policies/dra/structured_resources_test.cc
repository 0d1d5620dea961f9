#include "policies/dra/structured_resources.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/time.h"
#include "policies/dra/claim_rules.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::FromText;
using dra_rig::NodeOf;
using dra_rig::PodOf;
using dra_rig::TestCache;
using dra_rig::TestSearch;

constexpr char kGpuRequest[] =
    "spec { devices { requests { name: \"r\" exactly { device_class_name: \"gpu\" } } } }";

ClaimStatus UnresolvableStatus(const std::string& reason) {
  return {StepCode::kUnresolvable, reason};
}

class StructuredResourcesTest : public testing::Test {
 protected:
  StructuredResourcesTest() {
    cache_.AddClass("gpu");
    classes_.Add(FromText<proto::kube::DeviceClass>(
        "metadata { name: \"gpu\" } spec { extended_resource_name: \"example.com/gpu\" }"));
  }

  StructuredResources Plugin(const StructuredOptions& options = {}) {
    return StructuredResources(
        &cache_, &classes_, &in_flight_,
        [this]() -> absl::StatusOr<std::unique_ptr<DeviceSearch>> {
          use_ = UseOf(cache_.cluster().inventory());
          return std::make_unique<TestSearch>(&results_);
        },
        options);
  }
  ClaimStatus PreFilter(const ClaimingPod& pod) { return Plugin().PreFilter(pod, 0, &cycle_); }
  ClaimStatus FilterNode(const std::string& node, const StructuredOptions& options = {}) {
    return Plugin(options).Filter(&cycle_, NodeOf(node));
  }
  void SetResult(const std::string& node, SearchOutcome outcome, const std::string& message = "",
                 int64_t steps = 0) {
    results_[node] = {outcome, message, {}, steps};
  }
  // The search found that on node n.
  void SetFound(const std::string& allocation) {
    cycle_.finds["n"].allocations[0] = std::make_shared<proto::kube::AllocationResultV1>(
        FromText<proto::kube::AllocationResultV1>(allocation));
  }

  TestCache cache_;
  ResourceClasses classes_;
  InFlightClaims in_flight_{&cache_.cluster()};
  std::map<std::string, SearchResult> results_;
  DeviceUse use_;  // that the search was made with
  StructuredCycle cycle_;
};

TEST_F(StructuredResourcesTest, PreEnqueueAndPreFilterWantAllClaims) {
  const auto pod = PodOf("pod", {"c"});
  const std::string missing = "could not find ResourceClaim \"default/c\"";
  EXPECT_EQ(Plugin().PreEnqueue(pod), UnresolvableStatus(missing));
  EXPECT_EQ(PreFilter(pod), UnresolvableStatus(missing));
  cache_.Add(ClaimOf("c", "metadata { deletion_timestamp: \"2026-01-01T00:00:00Z\" }"));
  EXPECT_EQ(Plugin().PreEnqueue(pod), UnresolvableStatus("resourceclaim \"c\" is being deleted"));
  cache_.Add(ClaimOf("c", kGpuRequest));
  EXPECT_EQ(Plugin().PreEnqueue(pod), ClaimStatus());
  EXPECT_EQ(PreFilter(pod), ClaimStatus());
}

TEST_F(StructuredResourcesTest, GeneratedClaimMustBelongToThePod) {
  ClaimingPod pod = PodOf("pod", {});
  pod.claims.push_back({"r", "", "t"});
  EXPECT_EQ(Plugin().PreEnqueue(pod),
            UnresolvableStatus("pod \"default/pod\": ResourceClaim not created yet"));
  pod.generated.push_back({"r", ""});
  EXPECT_EQ(Plugin().PreEnqueue(pod), ClaimStatus());  // no claim was needed
  pod.generated[0].claim = "c";
  cache_.Add(ClaimOf("c"));
  EXPECT_EQ(Plugin().PreEnqueue(pod),
            UnresolvableStatus("ResourceClaim default/c was not created for pod default/pod (pod "
                               "is not owner)"));
  cache_.Add(ClaimOf("c", "metadata { owner_references { uid: \"uid-pod\" controller: true } }"));
  EXPECT_EQ(Plugin().PreEnqueue(pod), ClaimStatus());
}

TEST_F(StructuredResourcesTest, PodWithoutClaimsIsSkipped) {
  EXPECT_EQ(PreFilter(PodOf("pod", {})), (ClaimStatus{StepCode::kSkip, ""}));
}

TEST_F(StructuredResourcesTest, PreFilterNamesMissingClasses) {
  cache_.Add(ClaimOf("c", R"(spec { devices { requests { name: "r" first_available {
      name: "s0" device_class_name: "gpu" } first_available {
      name: "s1" device_class_name: "nope" } } } })"));
  EXPECT_EQ(PreFilter(PodOf("pod", {"c"})),
            UnresolvableStatus("request r/s1: device class nope does not exist"));
  EXPECT_TRUE(cycle_.claims.empty());  // nothing for PostFilter
}

TEST_F(StructuredResourcesTest, ClaimInFlightKeepsOthersWaiting) {
  cache_.Add(ClaimOf("c", kGpuRequest));
  SetResult("n", SearchOutcome::kFound);
  ASSERT_TRUE(PreFilter(PodOf("first", {"c"})).ok());
  ASSERT_TRUE(FilterNode("n").ok());
  SetFound("devices { results { driver: \"d\" pool: \"p\" device: \"x\" } }");
  ASSERT_TRUE(Plugin().Reserve(&cycle_, "n").ok());
  StructuredCycle second;
  EXPECT_EQ(Plugin().PreFilter(PodOf("second", {"c"}), 0, &second),
            UnresolvableStatus("resource claim default/c is in the process of being allocated"));
  // Its devices count as allocated.
  cache_.Add(ClaimOf("d", kGpuRequest));
  StructuredCycle third;
  ASSERT_TRUE(Plugin().PreFilter(PodOf("third", {"d"}), 0, &third).ok());
  ASSERT_EQ(use_.dedicated.size(), 1U);
  EXPECT_EQ(use_.dedicated[0].Text(), "d/p/x");
}

TEST_F(StructuredResourcesTest, ScoreCountsClaimsThatWereAllocatedBefore) {
  const std::string lists = R"(spec { devices { requests { name: "r"
      first_available { name: "s0" device_class_name: "gpu" }
      first_available { name: "s1" device_class_name: "gpu" } } } } )";
  const std::string found = "devices { results { request: \"r/s1\" share_id: \"x\" } }";
  cache_.Add(ClaimOf("old", lists + "status { allocation { devices { results { request: \"r/s0\" "
                                    "} } } }"));
  cache_.Add(ClaimOf("new", lists));
  SetResult("n", SearchOutcome::kFound);
  ASSERT_TRUE(PreFilter(PodOf("pod", {"old", "new"})).ok());
  ASSERT_TRUE(FilterNode("n").ok());
  SetFound(found);
  EXPECT_EQ(Plugin().Score(cycle_, "n"), 8 + 7);
  EXPECT_EQ(Plugin().Score(cycle_, "other"), 0);
  StructuredOptions options;
  options.release = StructuredRelease::k1_34;
  EXPECT_EQ(Plugin(options).Score(cycle_, "n"), 0);
  options.release = StructuredRelease::k1_35;
  EXPECT_EQ(Plugin(options).Score(cycle_, "n"), 8 + 7);
  options.prioritized_list = false;
  EXPECT_EQ(Plugin(options).Score(cycle_, "n"), 0);
}

TEST_F(StructuredResourcesTest, SharesGetDrawnIdentities) {
  cache_.Add(ClaimOf("c", kGpuRequest));
  SetResult("n", SearchOutcome::kFound);
  std::set<std::string> seen;
  for (const int seed : {-1, 1, 2}) {
    StructuredOptions options;
    if (seed >= 0) options.seed = static_cast<uint64_t>(seed);
    cycle_ = StructuredCycle();
    ASSERT_TRUE(Plugin(options).PreFilter(PodOf("pod", {"c"}), 0, &cycle_).ok());
    ASSERT_TRUE(FilterNode("n", options).ok());
    SetFound("devices { results { share_id: \"x\" } }");
    ASSERT_TRUE(Plugin(options).Reserve(&cycle_, "n").ok());
    const std::string& id = cycle_.claims[0].allocation->devices().results(0).share_id();
    EXPECT_EQ(id == "x", seed < 0);
    seen.insert(id);
    in_flight_.Remove("uid-c");
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(StructuredResourcesTest, PodsOfOneGroupShareAClaimInFlight) {
  StructuredOptions options;
  options.pod_groups = true;
  cache_.Add(ClaimOf("c", kGpuRequest));
  SetResult("n", SearchOutcome::kFound);
  cycle_.pod_group = "group";
  ASSERT_TRUE(Plugin(options).PreFilter(PodOf("first", {"c"}), 0, &cycle_).ok());
  ASSERT_TRUE(FilterNode("n", options).ok());
  ASSERT_TRUE(Plugin(options).Reserve(&cycle_, "n").ok());
  StructuredCycle stranger;
  stranger.pod_group = "other";
  EXPECT_FALSE(Plugin(options).PreFilter(PodOf("stranger", {"c"}), 0, &stranger).ok());
  StructuredCycle second;
  second.pod_group = "group";
  ASSERT_TRUE(Plugin(options).PreFilter(PodOf("second", {"c"}), 0, &second).ok());
  EXPECT_EQ(second.search, nullptr);
  EXPECT_TRUE(Plugin(options).Filter(&second, NodeOf("n")).ok());
  ASSERT_TRUE(Plugin(options).Reserve(&second, "n").ok());
  in_flight_.Leave("uid-c", "uid-first");
  EXPECT_TRUE(in_flight_.Has("uid-c"));
  in_flight_.Leave("uid-c", "uid-second");
  EXPECT_FALSE(in_flight_.Has("uid-c"));
  // Without the gate they wait for each other.
  in_flight_.Add(ClaimOf("c", "status { allocation { } }"), "uid-first", "group");
  StructuredCycle third;
  third.pod_group = "group";
  EXPECT_FALSE(Plugin().PreFilter(PodOf("third", {"c"}), 0, &third).ok());
}

TEST_F(StructuredResourcesTest, ClaimWithTooManyConsumersIsInUse) {
  std::string status = "status { allocation { } ";
  for (int i = 0; i < 256; ++i) status += "reserved_for { uid: \"x\" } ";
  cache_.Add(ClaimOf("c", status + "}"));
  EXPECT_EQ(PreFilter(PodOf("pod", {"c"})), UnresolvableStatus("resourceclaim in use"));
  cache_.Add(ClaimOf("c", status + "reserved_for { uid: \"uid-pod\" } }"));
  EXPECT_TRUE(PreFilter(PodOf("pod", {"c"})).ok());
}

TEST_F(StructuredResourcesTest, FilterTranslatesTheSearch) {
  cache_.Add(ClaimOf("c", kGpuRequest));
  ASSERT_TRUE(PreFilter(PodOf("pod", {"c"})).ok());
  SetResult("n", SearchOutcome::kFound, "", 101);
  EXPECT_EQ(FilterNode("n"), ClaimStatus());
  StructuredOptions slow;
  slow.search_step_ns = kSecondNs / 10;
  EXPECT_EQ(FilterNode("n", slow),
            (ClaimStatus{StepCode::kError, "node n: timed out trying to allocate devices"}));
  slow.release = StructuredRelease::k1_35;
  EXPECT_EQ(FilterNode("n", slow), UnresolvableStatus("timed out trying to allocate devices"));
  SetResult("n", SearchOutcome::kFound, "", 100);
  EXPECT_EQ(FilterNode("n", slow), ClaimStatus());
  SetResult("n", SearchOutcome::kDoesNotFit);
  EXPECT_EQ(FilterNode("n"), UnresolvableStatus("cannot allocate all claims"));
  SetResult("n", SearchOutcome::kNodeRejected, "bad pool");
  EXPECT_EQ(FilterNode("n"), UnresolvableStatus("bad pool"));
  SetResult("n", SearchOutcome::kError, "CEL");
  EXPECT_EQ(FilterNode("n"), (ClaimStatus{StepCode::kError, "CEL"}));
}

TEST_F(StructuredResourcesTest, AllocatedClaimKeepsToItsNodes) {
  cache_.Add(ClaimOf("c", R"(status { allocation { node_selector { node_selector_terms {
      match_fields { key: "metadata.name" operator: "In" values: "n" } } } } })"));
  ASSERT_TRUE(PreFilter(PodOf("pod", {"c"})).ok());
  EXPECT_TRUE(FilterNode("n").ok());
  EXPECT_TRUE(cycle_.unavailable.empty());
  EXPECT_EQ(FilterNode("m"), UnresolvableStatus("resourceclaim not available on the node"));
  EXPECT_EQ(cycle_.unavailable, std::set<size_t>{0});
}

TEST_F(StructuredResourcesTest, LackOfDevicesHidesAnUnavailableClaim) {
  cache_.Add(ClaimOf("c", R"(status { allocation { node_selector { node_selector_terms {
      match_fields { key: "metadata.name" operator: "In" values: "n" } } } } })"));
  cache_.Add(ClaimOf("d", kGpuRequest));
  ASSERT_TRUE(PreFilter(PodOf("pod", {"c", "d"})).ok());
  SetResult("m", SearchOutcome::kDoesNotFit);
  EXPECT_EQ(FilterNode("m"), UnresolvableStatus("cannot allocate all claims"));
  EXPECT_TRUE(cycle_.unavailable.empty());
}

// --- Extended resources ---

ClaimingPod PodWithResources(const std::string& requests) {
  ClaimingPod pod = PodOf("pod", {});
  pod.containers = std::make_shared<const proto::kube::PodSpec>(
      FromText<proto::kube::PodSpec>("containers { name: \"c0\" resources { " + requests + " } }"));
  return pod;
}

constexpr char kTwoGpus[] = "requests { key: \"example.com/gpu\" value: \"2\" }";

proto::kube::Node NodeWithGpus(const std::string& amount) {
  proto::kube::Node node = NodeOf("n");
  (*node.mutable_status()->mutable_allocatable())["example.com/gpu"] = amount;
  return node;
}

TEST_F(StructuredResourcesTest, DevicePluginComesBeforeTheClass) {
  ASSERT_TRUE(PreFilter(PodWithResources(kTwoGpus)).ok());
  // Without a search: the device plugin has them.
  EXPECT_TRUE(Plugin().Filter(&cycle_, NodeWithGpus("1")).ok());
  EXPECT_TRUE(cycle_.finds.empty());
  EXPECT_TRUE(Plugin().Reserve(&cycle_, "n").ok());
  SetResult("n", SearchOutcome::kFound);
  EXPECT_TRUE(Plugin().Filter(&cycle_, NodeWithGpus("0")).ok());
  ASSERT_EQ(cycle_.finds.count("n"), 1U);
  EXPECT_EQ(cycle_.finds.at("n").synthetic->spec().devices().requests(0).exactly().count(), 2);
  EXPECT_EQ(cycle_.finds.at("n").mappings.size(), 1U);
}

TEST_F(StructuredResourcesTest, ResourceOfNobodyDoesNotFit) {
  const std::string unknown = "requests { key: \"example.com/unknown\" value: \"1\" }";
  EXPECT_EQ(PreFilter(PodWithResources(unknown)).code, StepCode::kSkip);
  StructuredCycle cycle;
  ASSERT_TRUE(Plugin().PreFilter(PodWithResources(kTwoGpus + unknown), 0, &cycle).ok());
  EXPECT_EQ(Plugin().Filter(&cycle, NodeOf("n")), UnresolvableStatus("cannot fit resource"));
}

TEST_F(StructuredResourcesTest, ClaimLeftFromAnEarlierAttemptBlocksAllNodes) {
  cache_.Add(ClaimOf("left", std::string(kGpuRequest) + R"(metadata {
      annotations { key: "resource.kubernetes.io/extended-resource-claim" value: "true" }
      owner_references { name: "pod" uid: "uid-pod" controller: true } })"));
  ASSERT_TRUE(PreFilter(PodWithResources(kTwoGpus)).ok());
  EXPECT_EQ(FilterNode("n"), UnresolvableStatus("cannot schedule extended resource claim"));
}

}  // namespace
}  // namespace drasim
