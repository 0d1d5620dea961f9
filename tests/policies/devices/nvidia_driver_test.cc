// NVIDIA's classic driver: what its parameters mean, where claims go and why they cannot.
// Random calls are compared with an oracle.
#include "policies/devices/nvidia_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/devices/mig_rules.h"
#include "policies/devices/node_device_driver.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/soak.h"

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

TEST(NvidiaDriverTest, GpusOfANodeMayDiffer) {
  Rig rig;
  rig.cluster.AddMixed({"A100-80GB", "A30", "A30", "V100"});
  rig.cluster.Add("A30", 1);
  const auto driver = rig.cluster.Make("nvidia");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(1, "9g.90gb")}, N(0)),
            "MIG 9g.90gb wanted, A100-80GB has no such profile; MIG 9g.90gb wanted, A30 has no "
            "such profile; MIG 9g.90gb wanted, V100 has no MIG");
  EXPECT_THAT(
      ResultTexts(driver->Allocate({rig.Mig(1, "7g.80gb"), rig.Mig(2, "4g.24gb")}, N(0))),
      ElementsAre(HandleText(0, {"gpu-0-mig-0-7g.80gb"}), HandleText(0, {"gpu-1-mig-0-4g.24gb"})));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(3, "7g.80gb")}, N(0)),
            "MIG 7g.80gb wanted, no free placement on 1 GPU (largest: none)");
  // GPUs of different models may serve one claim, unless its selector says otherwise.
  const TestFields a30 = {{"spec.selector.productName", "*a30*"}};
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(3, 2, a30)}, N(0)),
            "2 GPUs wanted, 1 free of the 2 that the selector matches");
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(3, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-2", "gpu-3"})));
  ASSERT_TRUE(driver->Deallocate(2).ok());
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(4, 1, a30)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-1"})));
  EXPECT_THAT(driver->UnsuitableNodes({rig.Mig(5, "4g.24gb")}, {N(0), N(1)}),
              ElementsAre(ElementsAre(N(0))));
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

// ---- Random calls, with every placement rule, against an oracle that tries every way to serve the
// claims of a pod. ----

// One claim as the test wants it.
struct Wish {
  Uid uid = 0;
  int count = 0;       // whole GPUs; 0: an instance
  DeviceSet eligible;  // of whole GPUs
  std::string profile;
  Uid tie = 0;  // claim of which it takes GPUs
};

// A part of one claim's allocation, as the driver's handle describes it.
struct Piece {
  size_t gpu;
  bool whole;
  bool inside;
  uint16_t units;  // of an instance
  std::string profile;
};

// Tries everything. A GPU holds instances that do not overlap, and no more of a profile than its
// product allows.
class Oracle {
 public:
  Oracle(const MigTable& table, size_t gpus) : table_(table), gpus_(gpus) {}

  void Take(const Piece& piece, Uid by) {
    if (piece.whole) {
      gpus_[piece.gpu].whole = by;
    } else {
      gpus_[piece.gpu].units = static_cast<uint16_t>(gpus_[piece.gpu].units | piece.units);
      gpus_[piece.gpu].loose = gpus_[piece.gpu].loose || !piece.inside;
    }
  }
  bool Fits(const std::vector<Wish>& wishes) {
    std::vector<Wish> order;
    for (const bool tied : {false, true}) {
      for (const Wish& wish : wishes) {
        if ((wish.tie != 0) == tied) order.push_back(wish);
      }
    }
    return FitsFrom(order, 0, 0, 0);
  }

 private:
  struct Gpu {
    Uid whole = 0;
    bool loose = false;  // instances that are not inside anything
    uint16_t units = 0;
  };
  // `given`: GPUs of the wish so far; `from`: the next GPU to look at.
  bool FitsFrom(const std::vector<Wish>& wishes, size_t i, int given, size_t from) {
    if (i == wishes.size()) return true;
    const Wish& wish = wishes[i];
    if (wish.count > 0 && given == wish.count) return FitsFrom(wishes, i + 1, 0, 0);
    for (size_t g = from; g < gpus_.size(); ++g) {
      const Gpu before = gpus_[g];
      if (wish.count > 0) {
        if (before.whole != 0 || before.units != 0 || !wish.eligible.Contains(g)) continue;
        gpus_[g].whole = wish.uid;
        if (FitsFrom(wishes, i, given + 1, g + 1)) return true;
        gpus_[g] = before;
        continue;
      }
      if (before.whole != wish.tie) continue;
      const int profile = table_.FindProfile(wish.profile);
      for (const MigPlacement& placement : table_.placements()) {
        if (placement.profile != profile || (placement.units & before.units) != 0) continue;
        gpus_[g].units = static_cast<uint16_t>(before.units | placement.units);
        if (FitsFrom(wishes, i + 1, 0, 0)) return true;
        gpus_[g] = before;
      }
    }
    return false;
  }

  const MigTable& table_;
  std::vector<Gpu> gpus_;
};

class RandomCalls {
 public:
  RandomCalls(uint64_t seed, absl::string_view placement, bool packed)
      : random_(seed, "nvidia driver test"), exact_(IsExact(placement)) {
    for (uint32_t node = 0; node < 5; ++node) {
      const bool mig = random_.Below(4) > 0;
      cluster_.Add(mig ? "A100-80GB" : "V100", static_cast<int32_t>(random_.Below(4)));
    }
    options_ = cluster_.Options("nvidia");
    options_.placement = std::string(placement);
    options_.packed = packed;
    driver_ = GpuCluster::Make(options_);
  }

  void Run() {
    for (step_ = 0; step_ < 120 && !::testing::Test::HasFailure(); ++step_) {
      switch (random_.Below(6)) {
        case 0:
        case 1:
        case 2:
          ProbeAndAllocate();
          break;
        case 3:
        case 4:
          Deallocate();
          break;
        default:
          random_.Below(2) == 0 ? Restart() : Reload();
      }
      CheckExclusive();
    }
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  // Rules that do not place everything that geometry allows.
  static bool IsExact(absl::string_view placement) {
    return placement != "nos" && placement != "parted" && placement != "parvagpu";
  }
  template <typename... Parts>
  void Log(const Parts&... parts) {
    log_.push_back(absl::StrCat(step_, ": ", parts...));
  }

  Wish RandomWish(const std::vector<Wish>& pod) {
    Wish wish;
    wish.uid = ++last_uid_;
    if (random_.Below(3) == 0) {
      wish.count = 1 + static_cast<int>(random_.Below(2));
      wish.eligible =
          random_.Below(2) == 0 ? DeviceSet::FirstN(3) : DeviceSet::FromBits(1 + random_.Below(7));
      return wish;
    }
    wish.profile = A100Base()[random_.Below(A100Base().size())];
    for (const Wish& other : pod) {
      if (other.count > 0 && random_.Below(2) == 0) wish.tie = other.uid;
    }
    return wish;
  }
  ClaimToAllocate ClaimOf(const Wish& wish) {
    Log("  claim ", wish.uid, ": ", wish.count, " of ", wish.eligible.bits(), " ", wish.profile,
        " tied to ", wish.tie);
    TestFields fields;
    if (wish.count == 0) {
      fields.emplace_back("spec.profile", wish.profile);
      if (wish.tie != 0) {
        fields.emplace_back("spec.gpuClaimName", absl::StrCat("claim-", wish.tie));
      }
      return claims_.Make(wish.uid,
                          claims_.Parameters("MigDeviceClaimParameters", std::move(fields)));
    }
    if (wish.eligible != DeviceSet::FirstN(3)) {
      for (size_t g = 0; g < 3; ++g) {
        if (!wish.eligible.Contains(g)) continue;
        fields.emplace_back(absl::StrCat("spec.selector.orExpression.", fields.size(), ".index"),
                            absl::StrCat(g));
      }
    }
    fields.emplace_back("spec.count", absl::StrCat(wish.count));
    return claims_.Make(wish.uid, claims_.Parameters("GpuClaimParameters", std::move(fields)));
  }

  bool OracleFits(const std::vector<Wish>& wishes, NodeId node) {
    const ClusterState& cluster = cluster_.cluster();
    const bool mig = cluster.mig_table(node) != nullptr;
    for (const Wish& wish : wishes) {
      if (wish.count == 0 && !mig) return false;
    }
    Oracle oracle(cluster_.a100(), cluster.node(node).gpu_count);
    for (const auto& [uid, given] : given_) {
      if (given.allocation->node != node) continue;
      for (const Piece& piece : PiecesOf(uid)) oracle.Take(piece, uid);
    }
    return oracle.Fits(wishes);
  }
  std::vector<Piece> PiecesOf(Uid uid) const {
    std::vector<Piece> pieces;
    const HeldDevices* held = driver_->held(uid);
    if (held == nullptr) {
      ADD_FAILURE() << "claim " << uid << " has nothing";
      return pieces;
    }
    for (const HeldDevice& device : *held) {
      Piece piece = {device.gpu, device.use == GpuUse::kWhole, device.use == GpuUse::kInside, 0,
                     ""};
      if (!piece.whole) piece.units = cluster_.a100().placements()[device.placement].units;
      pieces.push_back(piece);
    }
    return pieces;
  }

  void ProbeAndAllocate() {
    std::vector<Wish> wishes;
    const uint64_t count = 1 + random_.Below(4);
    while (wishes.size() < count) wishes.push_back(RandomWish(wishes));
    std::vector<ClaimToAllocate> claims;
    for (const Wish& wish : wishes) claims.push_back(ClaimOf(wish));
    std::vector<NodeId> unsuitable;
    for (const NodeId node : cluster_.nodes()) {
      if (!OracleFits(wishes, node)) unsuitable.push_back(node);
    }
    const auto found = driver_->UnsuitableNodes(claims, cluster_.nodes());
    if (exact_) {
      EXPECT_EQ(found, std::vector<std::vector<NodeId>>(claims.size(), unsuitable));
    }
    for (const NodeId node : cluster_.nodes()) {
      const bool suits = std::find(found[0].begin(), found[0].end(), node) == found[0].end();
      EXPECT_EQ(driver_->WhyUnsuitable(claims, node).empty(), suits) << node.value();
    }
    const bool anywhere = wishes.size() == 1 && random_.Below(3) == 0;
    const NodeId node = anywhere ? NodeId() : OneNode();
    Log("Allocate for ", node.value());
    const auto results = driver_->Allocate(claims, node);
    if (anywhere) {
      // Immediate, which it refuses.
      EXPECT_EQ(ResultText(results[0]), "immediate allocation is not supported");
      return;
    }
    bool all = true;
    for (size_t i = 0; i < results.size(); ++i) {
      Log("  -> ", ResultText(results[i]));
      all = all && results[i].status.ok();
      if (!results[i].status.ok()) continue;
      given_[wishes[i].uid] = {claims[i], results[i].allocation};
      EXPECT_EQ(results[i].allocation->node, node);
    }
    const bool suits = std::find(found[0].begin(), found[0].end(), node) == found[0].end();
    EXPECT_EQ(all, suits);
  }
  NodeId OneNode() {
    const auto& nodes = cluster_.nodes();
    return nodes[random_.Below(nodes.size())];
  }
  void Deallocate() {
    if (given_.empty()) return;
    auto at = given_.begin();
    std::advance(at, static_cast<int64_t>(random_.Below(given_.size())));
    Log("Deallocate ", at->first);
    EXPECT_TRUE(driver_->Deallocate(at->first).ok());
    given_.erase(at);
  }
  // As it was, by what others have of it.
  void Restart() {
    Log("Restore");
    std::vector<Ref<ResourceClaim>> written;
    for (const auto& [uid, given] : given_) {
      auto allocation = std::make_shared<Allocation>(*given.allocation);
      // Without the handle, the grants say where it is.
      const bool inside = allocation->grants.empty();
      if (random_.Below(3) == 0 && !inside) allocation->handles[0].data = "{}";
      if (random_.Below(3) == 0) allocation->node = NodeId();
      written.push_back(claims_.Allocated(given.claim, allocation));
    }
    auto other = GpuCluster::Make(options_);
    other->Restore(written);
    ExpectSame(*other);
    driver_ = std::move(other);
  }
  void Reload() {
    Log("Save and Load");
    StateWriter out;
    driver_->Save(out);
    auto other = GpuCluster::Make(options_);
    StateReader in(out.bytes());
    ASSERT_TRUE(other->Load(in).ok()) << in.status();
    EXPECT_TRUE(in.AtEnd());
    StateWriter again;
    other->Save(again);
    EXPECT_EQ(again.bytes(), out.bytes());
    ExpectSame(*other);
    driver_ = std::move(other);
  }
  void ExpectSame(const NodeDeviceDriver& other) {
    EXPECT_EQ(other.allocated_claims(), given_.size());
    for (const auto& [uid, given] : given_) {
      ASSERT_NE(other.held(uid), nullptr);
      EXPECT_TRUE(*other.held(uid) == *driver_->held(uid)) << uid;
    }
    for (const NodeId node : cluster_.nodes()) {
      NodeDevices a = *driver_->devices(node);
      NodeDevices b = *other.devices(node);
      a.kind = b.kind = nullptr;
      EXPECT_TRUE(a == b) << "node " << node.value();
    }
  }
  // No device to two claims; what the driver says again is what it said first.
  void CheckExclusive() {
    EXPECT_EQ(driver_->allocated_claims(), given_.size());
    std::map<std::pair<NodeId, size_t>, Uid> whole;
    std::map<std::pair<NodeId, size_t>, uint16_t> units;
    std::map<std::pair<NodeId, size_t>, bool> loose;
    for (auto& [uid, given] : given_) {
      const auto again = driver_->Allocate({given.claim}, OneNode());
      ASSERT_TRUE(again[0].status.ok());
      if (!(*again[0].allocation == *given.allocation)) {
        // A lost handle is written again.
        EXPECT_TRUE(again[0].allocation->grants == given.allocation->grants) << uid;
        given.allocation = again[0].allocation;
      }
      for (const Piece& piece : PiecesOf(uid)) {
        const auto key = std::make_pair(given.allocation->node, piece.gpu);
        if (piece.whole) {
          EXPECT_TRUE(whole.emplace(key, uid).second) << "two have GPU " << piece.gpu;
          continue;
        }
        EXPECT_EQ(units[key] & piece.units, 0) << "claim " << uid << " overlaps another";
        units[key] = static_cast<uint16_t>(units[key] | piece.units);
        loose[key] = loose[key] || !piece.inside;
      }
    }
    for (const auto& [key, has] : loose) {
      EXPECT_FALSE(has && whole.count(key) > 0) << "GPU " << key.second << " is whole, and cut";
    }
  }

  struct Given {
    ClaimToAllocate claim;
    Ref<Allocation> allocation;
  };
  Random random_;
  bool exact_;
  GpuCluster cluster_;
  TestClaims claims_{"nvidia"};
  ClaimDriverOptions options_;
  std::unique_ptr<NodeDeviceDriver> driver_;
  std::map<Uid, Given> given_;
  Uid last_uid_ = 0;
  std::vector<std::string> log_;
  int step_ = 0;
};

TEST(NvidiaDriverRandomTest, RandomCallsAgainstTheOracle) {
  std::vector<std::string> placements = {""};
  for (const MigRuleInfo& info : MigRuleInfos()) {
    placements.push_back(std::string(absl::string_view(info.name).substr(4)));
  }
  for (uint64_t seed = 0; seed < SoakSeeds(32) && !HasFailure(); ++seed) {
    const std::string& placement = placements[seed % placements.size()];
    SCOPED_TRACE(absl::StrCat("seed ", seed, " placement ", placement));
    RandomCalls(seed, placement, seed % 3 == 0).Run();
  }
}

}  // namespace nvidia_driver_test
}  // namespace drasim
