// The driver of abstract constraints: which device it chooses; and many random calls against an
// oracle that tries every way to serve the claims of a pod.
#include "policies/devices/constraints_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "policies/devices/node_device_driver.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace constraints_driver_test {

using ::testing::ElementsAre;

NodeId N(uint32_t id) { return NodeId(id); }

class Rig {
 public:
  explicit Rig(std::vector<std::string> profiles = A100Plain())
      : cluster(std::move(profiles)), claims("constraints") {}
  ClaimToAllocate Make(Uid uid, TestFields fields) {
    return claims.Make(uid, claims.Parameters("ConfigMap", std::move(fields)));
  }
  GpuCluster cluster;
  TestClaims claims;
};

TEST(ConstraintsDriverTest, TakesTheSmallestInstanceThatMeetsTheDemand) {
  Rig rig(std::vector<std::string>{});
  rig.cluster.Add("A100-80GB", 8);
  for (const auto& [fields, wanted] : std::vector<std::pair<TestFields, std::string>>{
           {{}, "gpu-0-mig-6-1g.10gb"},
           {{{"memory", "5Gi"}}, "gpu-0-mig-6-1g.10gb"},
           {{{"memory", "10Gi"}}, "gpu-0-mig-6-1g.10gb"},
           {{{"memory", "11Gi"}}, "gpu-0-mig-6-1g.20gb"},
           {{{"memory", "11G"}}, "gpu-0-mig-6-1g.20gb"},
           {{{"computeShare", "0.25"}}, "gpu-0-mig-4-2g.20gb"},
           {{{"computeShare", "25%"}}, "gpu-0-mig-4-2g.20gb"},
           {{{"memory", "5Gi"}, {"computeShare", "250m"}}, "gpu-0-mig-4-2g.20gb"},
           {{{"memory", "21Gi"}}, "gpu-0-mig-4-3g.40gb"},
           {{{"computeShare", "50%"}}, "gpu-0-mig-0-4g.40gb"},
           {{{"memory", "80Gi"}}, "gpu-0-mig-0-7g.80gb"},
           {{{"computeShare", "1"}}, "gpu-0-mig-0-7g.80gb"}}) {
    const auto driver = rig.cluster.Make("constraints");
    EXPECT_EQ(ResultText(driver->Allocate({rig.Make(1, fields)}, N(0))[0]),
              HandleText(0, {wanted}));
  }
}

TEST(ConstraintsDriverTest, FillsTheFullestGpuFirst) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 2);
  const auto driver = rig.cluster.Make("constraints");
  EXPECT_THAT(
      ResultTexts(driver->Allocate({rig.Make(1, {{"memory", "40Gi"}, {"count", "3"}})}, N(0))),
      ElementsAre(
          HandleText(0, {"gpu-0-mig-4-3g.40gb", "gpu-0-mig-0-3g.40gb", "gpu-1-mig-4-3g.40gb"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(2, {})}, N(0))),
              ElementsAre(HandleText(0, {"gpu-1-mig-3-1g.10gb"})));
}

TEST(ConstraintsDriverTest, AllDevicesOfAClaimAreOnOneNode) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("constraints");
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(1, {{"count", "8"}})}, N(0))),
              ElementsAre("8 devices wanted, room for 7 on 1 GPU"));
  EXPECT_TRUE(driver->Allocate({rig.Make(2, {{"count", "7"}})}, N(0))[0].status.ok());
  EXPECT_EQ(driver->held(2)->size(), 7u);
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(3, {})}, N(0)),
            "1 device wanted, no free placement on 1 GPU (largest: none)");
}

TEST(ConstraintsDriverTest, WithoutMigItTakesWholeGpus) {
  Rig rig;
  rig.cluster.Add("V100M32", 2);
  rig.cluster.Add("Unheard-of", 1);
  const auto driver = rig.cluster.Make("constraints");
  EXPECT_EQ(ResultText(driver->Allocate({rig.Make(1, {{"memory", "5Gi"}})}, N(0))[0]),
            HandleText(0, {"gpu-0"}));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(2, {{"count", "2"}})}, N(0)),
            "2 devices wanted, 1 free");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(2, {{"memory", "33Gi"}})}, N(0)),
            "1 device with 33Gi of memory wanted, a GPU has 32768 MiB");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(2, {{"memory", "1Gi"}})}, N(1)),
            "1 device with 1Gi of memory wanted, the memory of Unheard-of is not known");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(2, {{"computeShare", "50%"}})}, N(1)), "");
}

TEST(ConstraintsDriverTest, SaysWhatIsWrongWithParameters) {
  Rig rig;
  rig.cluster.Add("A100-80GB", 1);
  const auto driver = rig.cluster.Make("constraints");
  for (const auto& [fields, wanted] : std::vector<std::pair<TestFields, std::string>>{
           {{{"count", "257"}}, "count: expected 1 to 256, not \"257\""},
           {{{"memory", "much"}},
            "memory: expected a quantity of bytes like \"5Gi\", not \"much\""},
           {{{"memory", "-1"}}, "memory: expected a quantity of bytes like \"5Gi\", not \"-1\""},
           {{{"computeShare", "1.1"}},
            "computeShare: expected a part like \"0.25\", \"250m\" or \"25%\", not \"1.1\""},
           {{{"computeShare", "101%"}},
            "computeShare: expected a part like \"0.25\", \"250m\" or \"25%\", not \"101%\""}}) {
    EXPECT_EQ(driver->CheckParameters(rig.Make(1, fields)),
              absl::InvalidArgumentError(absl::StrCat("parameters \"mine\": ", wanted)));
  }
}

// --- Random calls. ---

struct Wish {
  Uid uid;
  int count;
  int gib;
  int milli;
};

// Whether the units can all be had, on GPUs with these units taken; 0xffff: whole.
bool FitsFrom(const MigTable* table, const std::vector<Wish>& wishes, size_t i, int given,
              std::vector<uint16_t>& gpus) {
  if (i == wishes.size()) return true;
  if (given == wishes[i].count) return FitsFrom(table, wishes, i + 1, 0, gpus);
  for (uint16_t& gpu : gpus) {
    const uint16_t before = gpu;
    if (gpu == 0 && wishes[i].gib <= (table == nullptr ? 32 : 80)) {
      gpu = 0xffff;
      if (FitsFrom(table, wishes, i, given + 1, gpus)) return true;
      gpu = before;
    }
    if (table == nullptr) continue;
    for (const MigPlacement& placement : table->placements()) {
      const MigProfile& profile = table->profiles()[placement.profile];
      if (profile.nominal_gb < wishes[i].gib ||
          profile.compute_slices * 1000 < wishes[i].milli * 7 || (placement.units & gpu) != 0) {
        continue;
      }
      gpu = static_cast<uint16_t>(gpu | placement.units);
      if (FitsFrom(table, wishes, i, given + 1, gpus)) return true;
      gpu = before;
    }
  }
  return false;
}

std::vector<Wish> RandomWishes(Random& random, Uid* last) {
  std::vector<Wish> wishes;
  const uint64_t count = 1 + random.Below(2);
  while (wishes.size() < count) {
    Wish wish = {++*last, 1, 0, 0};
    wish.count += static_cast<int>(random.Below(2));
    wish.gib = static_cast<int>(random.Below(5)) * 10;
    wish.milli = static_cast<int>(random.Below(6)) * 100;
    wishes.push_back(wish);
  }
  return wishes;
}

ClaimToAllocate ClaimOf(Rig& rig, const Wish& wish) {
  return rig.Make(wish.uid, {{"count", absl::StrCat(wish.count)},
                             {"memory", absl::StrCat(wish.gib, "Gi")},
                             {"computeShare", absl::StrCat(wish.milli, "m")}});
}

TEST(ConstraintsDriverTest, RandomCallsAgainstTheOracle) {
  for (uint64_t seed = 0; seed < SoakSeeds(20) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed, "constraints driver test");
    Rig rig;
    for (int node = 0; node < 3; ++node) {
      rig.cluster.Add(random.Below(4) == 0 ? "V100M32" : "A100-80GB",
                      1 + static_cast<int32_t>(random.Below(2)));
    }
    const auto driver = rig.cluster.Make("constraints");
    std::map<Uid, NodeId> given;
    const auto taken = [&](NodeId node) {
      std::vector<uint16_t> gpus(rig.cluster.cluster().node(node).gpu_count);
      for (const auto& [uid, where] : given) {
        if (where != node) continue;
        for (const HeldDevice& device : *driver->held(uid)) {
          const uint16_t units = device.use == GpuUse::kWhole
                                     ? uint16_t{0xffff}
                                     : rig.cluster.a100().placements()[device.placement].units;
          EXPECT_EQ(gpus[device.gpu] & units, 0);
          gpus[device.gpu] = static_cast<uint16_t>(gpus[device.gpu] | units);
        }
      }
      return gpus;
    };
    Uid last = 0;
    std::vector<std::string> log;
    for (int step = 0; step < 60 && !HasFailure(); ++step) {
      if (!given.empty() && random.Below(3) == 0) {
        auto at = given.begin();
        std::advance(at, static_cast<int64_t>(random.Below(given.size())));
        EXPECT_TRUE(driver->Deallocate(at->first).ok());
        given.erase(at);
        continue;
      }
      const std::vector<Wish> wishes = RandomWishes(random, &last);
      std::vector<ClaimToAllocate> claims;
      for (const Wish& wish : wishes) {
        claims.push_back(ClaimOf(rig, wish));
        log.push_back(absl::StrCat("claim ", wish.uid, ": ", wish.count, " x ", wish.gib, " GiB, ",
                                   wish.milli, "m"));
      }
      std::vector<NodeId> unsuitable;
      for (const NodeId node : rig.cluster.nodes()) {
        std::vector<uint16_t> gpus = taken(node);
        if (!FitsFrom(rig.cluster.cluster().mig_table(node), wishes, 0, 0, gpus)) {
          unsuitable.push_back(node);
        }
      }
      EXPECT_EQ(driver->UnsuitableNodes(claims, rig.cluster.nodes()),
                std::vector<std::vector<NodeId>>(claims.size(), unsuitable));
      const NodeId node = N(static_cast<uint32_t>(random.Below(3)));
      bool all = true;
      const auto results = driver->Allocate(claims, node);
      for (size_t i = 0; i < results.size(); ++i) {
        log.push_back(ResultText(results[i]));
        all = all && results[i].status.ok();
        if (results[i].status.ok()) given[wishes[i].uid] = node;
      }
      EXPECT_EQ(all, std::find(unsuitable.begin(), unsuitable.end(), node) == unsuitable.end());
      taken(node);
    }
    if (HasFailure()) ADD_FAILURE() << absl::StrJoin(log, "\n");
  }
}

}  // namespace constraints_driver_test
}  // namespace drasim
