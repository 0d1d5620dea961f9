// NVIDIA's classic driver: what its parameters mean, where claims go and why they cannot.
// nvidia_driver_random_test.cc has random calls.
#include "policies/devices/nvidia_driver.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "policies/devices/node_device_driver.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"

namespace drasim {
namespace nvidia_driver_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeId N(uint32_t id) { return NodeId(id); }

class Rig {
 public:
  explicit Rig(std::vector<std::string> profiles = A100Base())
      : cluster(std::move(profiles)), claims("nvidia") {}

  ClaimToAllocate Gpus(Uid uid, int count, TestFields more = {}, absl::string_view entry = "") {
    more.emplace_back("spec.count", absl::StrCat(count));
    return claims.Make(uid, claims.Parameters("GpuClaimParameters", std::move(more)), nullptr,
                       entry);
  }
  ClaimToAllocate Mig(Uid uid, absl::string_view profile, absl::string_view gpu_claim = "",
                      absl::string_view entry = "") {
    TestFields fields = {{"spec.profile", std::string(profile)}};
    if (!gpu_claim.empty()) fields.emplace_back("spec.gpuClaimName", std::string(gpu_claim));
    return claims.Make(uid, claims.Parameters("MigDeviceClaimParameters", std::move(fields)),
                       nullptr, entry);
  }
  ClaimToAllocate Compute(Uid uid, absl::string_view profile, absl::string_view mig_claim) {
    return claims.Make(uid,
                       claims.Parameters("ComputeInstanceClaimParameters",
                                         {{"spec.profile", std::string(profile)},
                                          {"spec.migDeviceClaimName", std::string(mig_claim)}}));
  }

  GpuCluster cluster;
  TestClaims claims;
};

TEST(NvidiaDriverTest, WithoutParametersAClaimIsOneGpu) {
  Rig rig;
  rig.cluster.Add("V100", 2);
  const auto driver = rig.cluster.Make("nvidia");
  EXPECT_EQ(driver->name(), "gpu.resource.nvidia.com");
  const auto results = driver->Allocate({rig.claims.Make(1, nullptr)}, N(0));
  EXPECT_THAT(ResultTexts(results), ElementsAre(HandleText(0, {"gpu-0"})));
  Allocation wanted;
  wanted.handles.push_back({rig.claims.driver(), HandleText(0, {"gpu-0"})});
  wanted.available_on = NodeSet::Of({N(0)});
  wanted.node = N(0);
  wanted.grants.push_back({0, kNoPlacement, 1000});
  EXPECT_TRUE(*results[0].allocation == wanted);
}

TEST(NvidiaDriverTest, RefusesImmediateClaims) {
  Rig rig;
  rig.cluster.Add("V100", 4);
  const auto driver = rig.cluster.Make("nvidia");
  const std::vector<ClaimToAllocate> claims = {rig.Gpus(1, 1), rig.Mig(2, "1g.10gb")};
  const std::string refusal = "immediate allocation is not supported";
  EXPECT_THAT(ResultTexts(driver->Allocate(claims, NodeId())), ElementsAre(refusal, refusal));
  EXPECT_EQ(driver->WhyUnsuitable(claims, NodeId()), refusal);
  EXPECT_EQ(driver->allocated_claims(), 0u);
}

TEST(NvidiaDriverTest, GivesTheFirstFreeGpus) {
  Rig rig;
  rig.cluster.Add("V100", 4);
  const auto driver = rig.cluster.Make("nvidia");
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 1), rig.Gpus(2, 2), rig.Gpus(3, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0"}), HandleText(0, {"gpu-1", "gpu-2"}),
                          "2 GPUs wanted, 1 free"));
  EXPECT_TRUE(driver->Deallocate(1).ok());
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(3, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0", "gpu-3"})));
}

TEST(NvidiaDriverTest, PackedKeepsFreeNeighboursTogether) {
  Rig rig;
  rig.cluster.Add("V100", 8);
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.packed = true;
  const auto driver = GpuCluster::Make(options);
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 1)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(2, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-2", "gpu-3"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(3, 1)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-1"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(4, 4)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-4", "gpu-5", "gpu-6", "gpu-7"})));
}

TEST(NvidiaDriverTest, ASelectorChoosesAmongGpus) {
  Rig rig;
  rig.cluster.Add("V100", 4);
  rig.cluster.Add("A100-80GB", 2);
  const auto driver = rig.cluster.Make("nvidia");
  const TestFields a100 = {{"spec.selector.andExpression.0.productName", "*a100*"},
                           {"spec.selector.andExpression.1.memory.value", "40Gi"},
                           {"spec.selector.andExpression.1.memory.operator", "GreaterThan"}};
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 1, a100)}, {N(0), N(1)}),
              ElementsAre(ElementsAre(N(0))));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 1, a100)}, N(0)), "no GPU matches the selector");
  const TestFields last = {{"selector.orExpression[0].index", "2"},
                           {"selector.orExpression[1].index", "3"}};
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(2, 1, last)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-2"})));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 2, last)}, N(0)),
            "2 GPUs wanted, 1 free of the 2 that the selector matches");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 2, last)}, N(1)), "no GPU matches the selector");
}

TEST(NvidiaDriverTest, ExchangesGpusBetweenTheClaimsOfAPod) {
  Rig rig;
  rig.cluster.Add("V100", 2);
  const auto driver = rig.cluster.Make("nvidia");
  const TestFields first = {{"selector.index", "0"}};
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 1), rig.Gpus(2, 1, first)}, {N(0)}),
              ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 1), rig.Gpus(2, 1, first)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-1"}), HandleText(0, {"gpu-0"})));
}

TEST(NvidiaDriverTest, PlacesInstancesByTheFirstDeviceName) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 12);
  const auto driver = rig.cluster.Make("nvidia");
  EXPECT_THAT(
      ResultTexts(
          driver->Allocate({rig.Mig(1, "1g.10gb"), rig.Mig(2, "1g.10gb"), rig.Mig(3, "3g.40gb"),
                            rig.Mig(4, "7g.80gb"), rig.Mig(5, "7g.80gb")},
                           N(0))),
      ElementsAre(HandleText(0, {"gpu-0-mig-0-1g.10gb"}), HandleText(0, {"gpu-0-mig-1-1g.10gb"}),
                  HandleText(0, {"gpu-0-mig-4-3g.40gb"}), HandleText(0, {"gpu-1-mig-0-7g.80gb"}),
                  // By text: "gpu-10" is before "gpu-2".
                  HandleText(0, {"gpu-10-mig-0-7g.80gb"})));
  // GPUs are first by index where they are whole.
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(6, 1)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-2"})));
}

TEST(NvidiaDriverTest, AnInstanceIsGrantedAsItsShareOfTheGpu) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("nvidia");
  const auto results = driver->Allocate({rig.Mig(1, "2g.20gb")}, N(0));
  ASSERT_TRUE(results[0].status.ok()) << results[0].status;
  const size_t profile = static_cast<size_t>(rig.cluster.a100().FindProfile("2g.20gb"));
  const auto placement = static_cast<uint8_t>(rig.cluster.a100().FindPlacement(profile, 0));
  EXPECT_THAT(results[0].allocation->grants, ElementsAre(DeviceGrant{0, placement, 250}));
}

TEST(NvidiaDriverTest, BacktracksOverTheInstancesOfAPod) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("nvidia");
  // The 3g would go to start 0, where the 4g has to be.
  EXPECT_THAT(
      ResultTexts(driver->Allocate({rig.Mig(1, "3g.40gb"), rig.Mig(2, "4g.40gb")}, N(0))),
      ElementsAre(HandleText(0, {"gpu-0-mig-4-3g.40gb"}), HandleText(0, {"gpu-0-mig-0-4g.40gb"})));
}

TEST(NvidiaDriverTest, OtherPlacementsByName) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 2);
  for (const auto& [placement, wanted] :
       std::vector<std::pair<std::string, std::string>>{{"driver", "gpu-0-mig-6-1g.10gb"},
                                                        {"best-fit", "gpu-0-mig-6-1g.10gb"},
                                                        {"first-fit", "gpu-0-mig-0-1g.10gb"},
                                                        {"mfi-any-weighted", ""}}) {
    ClaimDriverOptions options = rig.cluster.Options("nvidia");
    options.placement = placement;
    options.mix = {{"1g.10gb", 500}, {"3g.40gb", 500}};
    const auto driver = GpuCluster::Make(options);
    const auto results = driver->Allocate({rig.Mig(1, "1g.10gb")}, N(0));
    EXPECT_TRUE(results[0].status.ok());
    if (!wanted.empty()) {
      EXPECT_EQ(ResultText(results[0]), HandleText(0, {wanted})) << placement;
    }
  }
}

TEST(NvidiaDriverTest, RoundRobinGoesOnBehindTheLastInstance) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 3);
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.placement = "round-robin";
  const auto driver = GpuCluster::Make(options);
  std::vector<std::string> found;
  for (Uid uid = 1; uid <= 4; ++uid) {
    if (uid == 3) {
      // The turn is part of a checkpoint.
      StateWriter out;
      driver->Save(out);
      const auto other = GpuCluster::Make(options);
      StateReader in(out.bytes());
      ASSERT_TRUE(other->Load(in).ok());
      EXPECT_EQ(ResultText(other->Allocate({rig.Mig(9, "1g.10gb")}, N(0))[0]),
                HandleText(0, {"gpu-2-mig-0-1g.10gb"}));
    }
    found.push_back(ResultText(driver->Allocate({rig.Mig(uid, "1g.10gb")}, N(0))[0]));
  }
  EXPECT_THAT(
      found,
      ElementsAre(HandleText(0, {"gpu-0-mig-0-1g.10gb"}), HandleText(0, {"gpu-1-mig-0-1g.10gb"}),
                  HandleText(0, {"gpu-2-mig-0-1g.10gb"}), HandleText(0, {"gpu-0-mig-1-1g.10gb"})));
}

TEST(NvidiaDriverTest, WholeGpusAndInstancesExcludeEachOther) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 2);
  const auto driver = rig.cluster.Make("nvidia");
  driver->Allocate({rig.Mig(1, "1g.10gb"), rig.Gpus(2, 1)}, N(0));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 1)}, N(0)), "1 GPU wanted, 0 free");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(3, "7g.80gb")}, N(0)),
            "MIG 7g.80gb wanted, no free placement on 2 GPUs (largest: 3g.40gb)");
  ASSERT_TRUE(driver->Deallocate(2).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(3, "7g.80gb")}, N(0)), "");
  ASSERT_TRUE(driver->Deallocate(1).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 2)}, N(0)), "");
}

TEST(NvidiaDriverTest, SaysWhyANodeDoesNotSuit) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  rig.cluster.Add("V100", 1);
  rig.cluster.Add("", 0);
  rig.cluster.Add("A30", 1);
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.nodes.resize(3);
  const auto driver = GpuCluster::Make(options);
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(1, "1g.10gb")}, N(1)),
            "MIG 1g.10gb wanted, V100 has no MIG");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(1, "1g.6gb")}, N(0)),
            "MIG 1g.6gb wanted, A100-80GB has no such profile");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 1)}, N(2)), "1 GPU wanted, the node has no GPUs");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 1)}, N(3)),
            "gpu.resource.nvidia.com does not serve the node");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 1), rig.Mig(2, "1g.10gb")}, N(0)),
            "MIG 1g.10gb wanted, no free placement on 1 GPU (largest: none) beside the pod's other "
            "claims");
  EXPECT_EQ(driver->Allocate({rig.Gpus(1, 1)}, N(3))[0].status,
            absl::InvalidArgumentError("gpu.resource.nvidia.com does not serve the node"));
  EXPECT_THAT(driver->UnsuitableNodes({rig.Mig(1, "1g.10gb")}, {N(0), N(1), N(2), N(3)}),
              ElementsAre(ElementsAre(N(1), N(2), N(3))));
}

TEST(NvidiaDriverTest, AnInstanceMayBeTiedToTheGpuOfAnotherClaim) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 2);
  const auto driver = rig.cluster.Make("nvidia");
  const TestFields enabled = {{"selector.migEnabled", "true"}};
  const std::vector<ClaimToAllocate> pod = {
      rig.Mig(2, "3g.40gb", "card", "small"), rig.Gpus(1, 1, enabled, "card"),
      rig.Mig(3, "4g.40gb", "card", "large"), rig.Mig(4, "1g.10gb", "", "other")};
  EXPECT_THAT(driver->UnsuitableNodes(pod, {N(0)}),
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
  const auto results = driver->Allocate(pod, N(0));
  EXPECT_THAT(ResultTexts(results),
              ElementsAre(HandleText(0, {"gpu-0-mig-4-3g.40gb"}, ",\"inside\":true"),
                          HandleText(0, {"gpu-0"}),
                          HandleText(0, {"gpu-0-mig-0-4g.40gb"}, ",\"inside\":true"),
                          HandleText(0, {"gpu-1-mig-0-1g.10gb"})));
  // The claim of the GPU covers what is cut from it.
  EXPECT_THAT(results[0].allocation->grants, IsEmpty());
  EXPECT_THAT(results[1].allocation->grants, ElementsAre(DeviceGrant{0, kNoPlacement, 1000}));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(5, "1g.10gb", "claim-1")}, N(0)),
            "MIG 1g.10gb wanted, no free placement on 1 GPU of the claim \"claim-1\" (largest: "
            "none)");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(5, "1g.10gb", "nobody")}, N(0)),
            "MIG 1g.10gb wanted, the claim \"nobody\" has no GPU on the node");
}

TEST(NvidiaDriverTest, ATieHoldsAfterARestart) {
  Rig rig;
  rig.cluster.Add("V100", 1);
  rig.cluster.Add("A100-80GB", 1);
  auto driver = rig.cluster.Make("nvidia");
  const ClaimToAllocate card = rig.Gpus(1, 1, {{"selector.migEnabled", "true"}}, "card");
  EXPECT_EQ(ResultText(driver->Allocate({card}, N(1))[0]), HandleText(1, {"gpu-0"}));
  const auto restore = rig.claims.Allocated(card, driver->Allocate({card}, N(1))[0].allocation);
  driver = rig.cluster.Make("nvidia");
  driver->Restore({restore});
  const ClaimToAllocate inside = rig.Mig(2, "7g.80gb", "claim-1");
  EXPECT_THAT(driver->UnsuitableNodes({inside}, {N(0), N(1)}), ElementsAre(ElementsAre(N(0))));
  EXPECT_EQ(ResultText(driver->Allocate({inside}, N(1))[0]),
            HandleText(1, {"gpu-0-mig-0-7g.80gb"}, ",\"inside\":true"));
  // The GPU's own claim may go first; the instance keeps others away.
  ASSERT_TRUE(driver->Deallocate(1).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 1)}, N(1)), "1 GPU wanted, 0 free");
}

TEST(NvidiaDriverTest, ComputeInstancesShareAnInstance) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("nvidia");
  const std::vector<ClaimToAllocate> pod = {rig.Compute(2, "2c.3g.40gb", "gi"),
                                            rig.Mig(1, "3g.40gb", "", "gi"),
                                            rig.Compute(3, "1c", "gi")};
  EXPECT_THAT(ResultTexts(driver->Allocate(pod, N(0))),
              ElementsAre(HandleText(0, {"gpu-0-mig-0-3g.40gb-ci-2"}),
                          HandleText(0, {"gpu-0-mig-0-3g.40gb"}),
                          HandleText(0, {"gpu-0-mig-0-3g.40gb-ci-1"})));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Compute(4, "1c", "claim-1")}, N(0)),
            "compute instance 1c wanted, the claim \"claim-1\" has no instance with room for it on "
            "the node");
  ASSERT_TRUE(driver->Deallocate(3).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Compute(4, "1c", "claim-1")}, N(0)), "");
  EXPECT_NE(driver->WhyUnsuitable({rig.Compute(4, "1c.2g.20gb", "claim-1")}, N(0)), "");
  EXPECT_NE(driver->WhyUnsuitable({rig.Compute(4, "2c", "claim-1")}, N(0)), "");
}

TEST(NvidiaDriverTest, SharingIsPassedOn) {
  Rig rig;
  rig.cluster.Add("V100", 1);
  const auto driver = rig.cluster.Make("nvidia");
  const ClaimToAllocate claim = rig.Gpus(1, 1,
                                         {{"spec.sharing.strategy", "TimeSlicing"},
                                          {"spec.sharing.timeSlicingConfig.timeSlice", "Long"}});
  EXPECT_EQ(ResultText(driver->Allocate({claim}, N(0))[0]),
            HandleText(0, {"gpu-0"},
                       ",\"sharing\":{\"strategy\":\"TimeSlicing\","
                       "\"timeSlicingConfig.timeSlice\":\"Long\"}"));
}

TEST(NvidiaDriverTest, TheClassSaysWhetherAllocationsAreShareable) {
  Rig rig;
  rig.cluster.Add("V100", 2);
  const auto driver = rig.cluster.Make("nvidia");
  const ParametersObject* shared =
      rig.claims.Parameters("DeviceClassParameters", {{"spec.sharable", "true"}});
  EXPECT_EQ(ResultText(driver->Allocate({rig.claims.Make(1, nullptr, shared)}, N(0))[0]),
            HandleText(0, {"gpu-0"}) + " shareable");
  EXPECT_EQ(ResultText(driver->Allocate({rig.claims.Make(2, nullptr)}, N(0))[0]),
            HandleText(0, {"gpu-1"}));
}

TEST(NvidiaDriverTest, SaysWhatIsWrongWithParameters) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("nvidia");
  const auto check = [&rig, &driver](absl::string_view kind, TestFields fields,
                                     absl::string_view group = "") {
    const ClaimToAllocate claim =
        rig.claims.Make(1, rig.claims.Parameters(kind, std::move(fields), group));
    const absl::Status status = driver->CheckParameters(claim);
    EXPECT_EQ(driver->Allocate({claim}, N(0))[0].status, status);
    EXPECT_THAT(driver->UnsuitableNodes({claim}, {N(0)}), ElementsAre(ElementsAre(N(0))));
    EXPECT_EQ(driver->WhyUnsuitable({claim}, N(0)), status.message());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(check("GpuClaimParameters", {{"spec.count", "0"}}),
            "parameters \"mine\": count: expected 1 to 1000000, not \"0\"");
  EXPECT_EQ(check("MigDeviceClaimParameters", {}),
            "parameters \"mine\": profile: expected a MIG profile");
  EXPECT_EQ(
      check("ComputeInstanceClaimParameters", {{"profile", "9c"}, {"migDeviceClaimName", "a"}}),
      "parameters \"mine\": profile: expected a profile like \"1c.3g.20gb\", not \"9c\"");
  EXPECT_EQ(check("ComputeInstanceClaimParameters", {{"profile", "1c"}}),
            "parameters \"mine\": migDeviceClaimName: expected the name of a claim");
  EXPECT_EQ(check("ConfigMap", {}),
            "parameters \"mine\": expected kind GpuClaimParameters, MigDeviceClaimParameters or "
            "ComputeInstanceClaimParameters, not ConfigMap");
  EXPECT_EQ(check("GpuClaimParameters", {}, "gpu.resource.example.com"),
            "parameters \"mine\": expected API group gpu.resource.nvidia.com, not "
            "gpu.resource.example.com");
  EXPECT_EQ(check("GpuClaimParameters", {{"spec.sharing.strategy", "Magic"}}),
            "parameters \"mine\": sharing.strategy: expected TimeSlicing, MPS, not \"Magic\"");
  EXPECT_EQ(check("GpuClaimParameters", {{"spec.selector.colour", "red"}}),
            "parameters \"mine\": selector.colour: expected a property of a GPU, andExpression or "
            "orExpression, not \"red\"");
}

}  // namespace nvidia_driver_test
}  // namespace drasim
