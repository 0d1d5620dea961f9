// The example driver, which hands out numbers of GPUs, and many random calls against a count.
#include "policies/devices/example_driver.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace example_driver_test {

using ::testing::ElementsAre;

NodeId N(uint32_t id) { return NodeId(id); }

ClaimToAllocate Gpus(TestClaims& claims, Uid uid, int count) {
  return claims.Make(uid,
                     claims.Parameters("GpuClaimParameters", {{"spec.count", absl::StrCat(count)}},
                                       "gpu.resource.example.com/v1alpha1"));
}

TEST(ExampleDriverTest, GivesSoManyGpus) {
  GpuCluster cluster;
  TestClaims claims("example");
  cluster.Add("G2", 4);
  const auto driver = cluster.Make("example");
  EXPECT_EQ(driver->name(), "gpu.resource.example.com");
  EXPECT_THAT(ResultTexts(driver->Allocate(
                  {claims.Make(1, nullptr), Gpus(claims, 2, 2), Gpus(claims, 3, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0"}), HandleText(0, {"gpu-1", "gpu-2"}),
                          "2 GPUs wanted, 1 free"));
}

TEST(ExampleDriverTest, SaysWhatIsWrongWithParameters) {
  GpuCluster cluster;
  TestClaims claims("example");
  cluster.Add("G2", 1);
  const auto driver = cluster.Make("example");
  EXPECT_EQ(
      driver->CheckParameters(Gpus(claims, 1, 0)),
      absl::InvalidArgumentError("parameters \"mine\": count: expected 1 to 1000000, not \"0\""));
  EXPECT_EQ(driver->CheckParameters(
                claims.Make(1, claims.Parameters("GpuClaimParameters", {}, "gpu.nvidia.com"))),
            absl::InvalidArgumentError("parameters \"mine\": expected API group "
                                       "gpu.resource.example.com, not gpu.nvidia.com"));
}

TEST(ExampleDriverTest, RandomCallsAgainstACount) {
  for (uint64_t seed = 0; seed < SoakSeeds(20) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed, "example driver test");
    GpuCluster cluster;
    TestClaims claims("example");
    std::vector<int> free;
    for (int node = 0; node < 5; ++node) {
      free.push_back(static_cast<int>(random.Below(9)));
      cluster.Add("G2", free.back());
    }
    ClaimDriverOptions options = cluster.Options("example");
    options.packed = seed % 2 == 0;
    const auto driver = GpuCluster::Make(options);
    std::map<Uid, std::pair<size_t, int>> given;
    for (Uid uid = 1; uid < 120 && !HasFailure(); ++uid) {
      if (!given.empty() && random.Below(2) == 0) {
        auto at = given.begin();
        std::advance(at, static_cast<int64_t>(random.Below(given.size())));
        EXPECT_TRUE(driver->Deallocate(at->first).ok());
        free[at->second.first] += at->second.second;
        given.erase(at);
        continue;
      }
      const int count = 1 + static_cast<int>(random.Below(4));
      const ClaimToAllocate claim = Gpus(claims, uid, count);
      std::vector<NodeId> unsuitable;
      for (size_t node = 0; node < free.size(); ++node) {
        if (free[node] < count) unsuitable.push_back(NodeId(node));
      }
      EXPECT_THAT(driver->UnsuitableNodes({claim}, cluster.nodes()), ElementsAre(unsuitable));
      const auto node = static_cast<size_t>(random.Below(free.size()));
      const auto result = driver->Allocate({claim}, NodeId(node));
      EXPECT_EQ(result[0].status.ok(), free[node] >= count) << result[0].status;
      if (!result[0].status.ok()) continue;
      EXPECT_EQ(driver->held(uid)->size(), static_cast<size_t>(count));
      free[node] -= count;
      given[uid] = {node, count};
    }
    for (size_t node = 0; node < free.size(); ++node) {
      EXPECT_EQ(driver->devices(NodeId(node))->free().size(), free[node]);
    }
  }
}

}  // namespace example_driver_test
}  // namespace drasim
