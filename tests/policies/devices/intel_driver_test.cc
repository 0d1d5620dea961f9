// Intel's classic driver: parts of GPUs, whole ones and virtual functions; and many random calls
// against an oracle that tries every way to serve the claims of a pod.
#include "policies/devices/intel_driver.h"

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
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/devices/node_device_driver.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace intel_driver_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeId N(uint32_t id) { return NodeId(id); }

// Amounts of 0 are not given.
struct Amounts {
  int count = 1;
  int memory = 0;
  int millicores = 0;
  bool function = false;
};

class Rig {
 public:
  Rig() : claims("intel") {}
  ClaimToAllocate Make(Uid uid, const Amounts& amounts, bool shared = true) {
    TestFields fields = {{"spec.count", absl::StrCat(amounts.count)},
                         {"spec.type", amounts.function ? "vf" : "gpu"}};
    if (amounts.memory > 0) fields.emplace_back("spec.memory", absl::StrCat(amounts.memory));
    if (amounts.millicores > 0) {
      fields.emplace_back("spec.millicores", absl::StrCat(amounts.millicores));
    }
    return claims.Make(
        uid, claims.Parameters("GpuClaimParameters", std::move(fields)),
        shared ? nullptr : claims.Parameters("GpuClassParameters", {{"spec.shared", "false"}}));
  }
  GpuCluster cluster;
  TestClaims claims;
};

TEST(IntelDriverTest, ClaimsShareAGpuByMemoryAndMillicores) {
  Rig rig;
  rig.cluster.Add("Flex-170", 2);
  const auto driver = rig.cluster.Make("intel");
  const auto results = driver->Allocate({rig.Make(1, {1, 4096, 250}), rig.Make(2, {1, 8192}),
                                         rig.Make(3, {1, 4096, 500}), rig.Make(4, {1, 0, 250})},
                                        N(0));
  EXPECT_THAT(ResultTexts(results), ElementsAre(HandleText(0, {"gpu-0-part-250-4096"}),
                                                // Half the memory is charged as half the compute.
                                                HandleText(0, {"gpu-0-part-500-8192"}),
                                                HandleText(0, {"gpu-1-part-500-4096"}),
                                                HandleText(0, {"gpu-0-part-250-0"})));
  EXPECT_THAT(results[0].allocation->grants, ElementsAre(DeviceGrant{0, kNoPlacement, 250}));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(5, {1, 8192, 600})}, N(0)),
            "1 part of a GPU with 8192 MiB and 600 millicores wanted, most left on one of 2 GPUs: "
            "500 millicores, 12288 MiB");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(5, {1})}, N(0)), "1 GPU wanted, 0 free");
  ASSERT_TRUE(driver->Deallocate(3).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(5, {1})}, N(0)), "");
}

TEST(IntelDriverTest, PartsOfAClaimAreOnDifferentGpus) {
  Rig rig;
  rig.cluster.Add("Flex-170", 3);
  const auto driver = rig.cluster.Make("intel");
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(1, {2, 1024})}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0-part-62-1024", "gpu-1-part-62-1024"})));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(2, {4, 1024})}, N(0)),
            "parts of 4 GPUs with 1024 MiB wanted, most left on one of 3 GPUs: 1000 millicores, "
            "16384 MiB");
}

TEST(IntelDriverTest, PackedTakesTheFullestGpuThatHasRoom) {
  Rig rig;
  rig.cluster.Add("Flex-170", 3);
  ClaimDriverOptions options = rig.cluster.Options("intel");
  options.packed = true;
  const auto driver = GpuCluster::Make(options);
  driver->Allocate({rig.Make(1, {1, 0, 800}), rig.Make(2, {1, 0, 500})}, N(0));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(3, {1, 0, 300})}, N(0))),
              ElementsAre(HandleText(0, {"gpu-1-part-300-0"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(4, {1, 0, 200})}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0-part-200-0"})));
}

TEST(IntelDriverTest, AClassThatDoesNotShareGivesWholeGpus) {
  Rig rig;
  rig.cluster.Add("Flex-170", 2);
  const auto driver = rig.cluster.Make("intel");
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Make(1, {1, 1024}, false), rig.Make(2, {1, 1024}),
                                            rig.Make(3, {1, 1024}, false)},
                                           N(0))),
              ElementsAre(HandleText(0, {"gpu-0"}), HandleText(0, {"gpu-1-part-62-1024"}),
                          "1 GPU with 1024 MiB wanted, 0 free"));
}

TEST(IntelDriverTest, VirtualFunctionsHaveFixedSizesAndTheirGpuForThemselves) {
  Rig rig;
  rig.cluster.Add("Flex-170", 2);
  const auto driver = rig.cluster.Make("intel");
  Amounts three = {3, 3000};
  three.function = true;
  Amounts large = {1, 0, 300};
  large.function = true;
  const auto results = driver->Allocate({rig.Make(1, three), rig.Make(2, large)}, N(0));
  EXPECT_THAT(
      ResultTexts(results),
      ElementsAre(HandleText(0, {"gpu-0-vf-250-4096", "gpu-0-vf-250-4096", "gpu-0-vf-250-4096"}),
                  HandleText(0, {"gpu-1-vf-500-8192"})));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(3, {1, 1024})}, N(0)),
            "1 part of a GPU with 1024 MiB wanted, no GPU to share is left");
  // All of it is on one GPU: as three devices, so that they can be told apart.
  EXPECT_EQ(results[0].allocation->grants.size(), 3u);
}

TEST(IntelDriverTest, MemoryMustBeKnown) {
  Rig rig;
  rig.cluster.Add("Unheard-of", 1);
  rig.cluster.Add("Unheard-of", 1, {{"nvidia.com/gpu.memory", "8192"}});
  const auto driver = rig.cluster.Make("intel");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(1, {1, 1024})}, N(0)),
            "1 part of a GPU with 1024 MiB wanted, the memory of Unheard-of is not known");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(1, {1, 1024})}, N(1)), "");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(1, {1, 9000})}, N(1)),
            "1 part of a GPU with 9000 MiB wanted, a GPU has 8192 MiB");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Make(1, {1, 0, 100})}, N(0)), "");
}

TEST(IntelDriverTest, SaysWhatIsWrongWithParameters) {
  Rig rig;
  rig.cluster.Add("Flex-170", 1);
  const auto driver = rig.cluster.Make("intel");
  EXPECT_TRUE(driver->CheckParameters(rig.claims.Make(1, nullptr)).ok());
  for (const auto& [fields, wanted] : std::vector<std::pair<TestFields, std::string>>{
           {{{"count", "0"}}, "count: expected 1 to 640, not \"0\""},
           {{{"memory", "7"}}, "memory: expected 8 to 1048576, not \"7\""},
           {{{"millicores", "1001"}}, "millicores: expected 1 to 1000, not \"1001\""},
           {{{"type", "any"}}, "type: expected gpu, vf, not \"any\""},
           {{{"shareable", "yes"}}, "shareable: expected \"true\" or \"false\", not \"yes\""}}) {
    const ClaimToAllocate claim =
        rig.claims.Make(1, rig.claims.Parameters("GpuClaimParameters", fields));
    EXPECT_EQ(driver->CheckParameters(claim),
              absl::InvalidArgumentError(absl::StrCat("parameters \"mine\": ", wanted)));
  }
  const ParametersObject* mine =
      rig.claims.Parameters("GpuClaimParameters", {{"shareable", "true"}});
  EXPECT_EQ(ResultText(driver->Allocate({rig.claims.Make(1, mine)}, N(0))[0]),
            HandleText(0, {"gpu-0"}) + " shareable");
}

// --- Random calls. ---

struct GpuTotals {
  bool whole = false;
  bool parts = false;
  bool functions = false;
  int milli = 0;
  int memory = 0;
};

constexpr int kMemory = 16384;

// The part of a GPU that one unit of the claim takes.
GpuTotals UnitOf(const Amounts& amounts) {
  GpuTotals unit;
  if (amounts.function) {
    unit.functions = true;
    for (int per_gpu = 16; per_gpu >= 1; per_gpu /= 2) {
      unit.milli = 1000 / per_gpu;
      unit.memory = kMemory / per_gpu;
      if (unit.milli >= amounts.millicores && unit.memory >= amounts.memory) break;
    }
    return unit;
  }
  unit.whole = amounts.memory == 0 && amounts.millicores == 0;
  unit.parts = !unit.whole;
  unit.memory = amounts.memory;
  unit.milli = amounts.millicores > 0 ? amounts.millicores : 1000 * amounts.memory / kMemory;
  return unit;
}

bool Combines(const GpuTotals& gpu, const GpuTotals& unit) {
  if (gpu.whole) return false;
  if (unit.whole) return !gpu.parts && !gpu.functions;
  if (unit.parts ? gpu.functions : gpu.parts) return false;
  return gpu.milli + unit.milli <= 1000 && gpu.memory + unit.memory <= kMemory;
}

GpuTotals Together(GpuTotals gpu, const GpuTotals& unit) {
  gpu.whole = gpu.whole || unit.whole;
  gpu.parts = gpu.parts || unit.parts;
  gpu.functions = gpu.functions || unit.functions;
  gpu.milli += unit.milli;
  gpu.memory += unit.memory;
  return gpu;
}

// `given`: units of claim i that have a GPU, `used` which; `from`: the next GPU for its next unit.
bool FitsFrom(const std::vector<Amounts>& claims, size_t i, int given, size_t from,
              std::vector<GpuTotals>& gpus) {
  if (i == claims.size()) return true;
  if (given == claims[i].count) return FitsFrom(claims, i + 1, 0, 0, gpus);
  const GpuTotals unit = UnitOf(claims[i]);
  for (size_t g = from; g < gpus.size(); ++g) {
    if (!Combines(gpus[g], unit)) continue;
    const GpuTotals before = gpus[g];
    gpus[g] = Together(before, unit);
    // Functions of a claim may be on one GPU.
    if (FitsFrom(claims, i, given + 1, claims[i].function ? g : g + 1, gpus)) return true;
    gpus[g] = before;
  }
  return false;
}

class RandomCalls {
 public:
  explicit RandomCalls(uint64_t seed) : random_(seed, "intel driver test") {
    for (int node = 0; node < 3; ++node) {
      rig_.cluster.Add("Flex-170", static_cast<int32_t>(random_.Below(4)));
    }
    options_ = rig_.cluster.Options("intel");
    options_.packed = random_.Below(2) == 0;
    driver_ = GpuCluster::Make(options_);
  }
  void Run() {
    for (step_ = 0; step_ < 150 && !::testing::Test::HasFailure(); ++step_) {
      const uint64_t what = random_.Below(8);
      if (what < 5) {
        ProbeAndAllocate();
      } else if (what < 7) {
        Deallocate();
      } else {
        Restart();
      }
      CheckSums();
    }
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  Amounts RandomAmounts() {
    Amounts amounts;
    amounts.count = 1 + static_cast<int>(random_.Below(2));
    amounts.memory = static_cast<int>(random_.Below(4)) * 3072;
    amounts.millicores = random_.Below(2) == 0 ? 0 : 1 + static_cast<int>(random_.Below(700));
    amounts.function = random_.Below(4) == 0;
    return amounts;
  }
  std::vector<GpuTotals> UseOf(NodeId node) const {
    std::vector<GpuTotals> gpus(rig_.cluster.cluster().node(node).gpu_count);
    for (const auto& [uid, given] : given_) {
      if (given.second->node != node) continue;
      for (const HeldDevice& device : *driver_->held(uid)) {
        GpuTotals use;
        use.whole = device.use == GpuUse::kWhole;
        use.parts = device.use == GpuUse::kPart;
        use.functions = device.use == GpuUse::kFunction;
        use.milli = device.milli;
        use.memory = device.memory_mib;
        EXPECT_TRUE(Combines(gpus[device.gpu], use)) << "claim " << uid;
        gpus[device.gpu] = Together(gpus[device.gpu], use);
      }
    }
    return gpus;
  }
  void ProbeAndAllocate() {
    std::vector<Amounts> wishes;
    std::vector<ClaimToAllocate> claims;
    const uint64_t count = 1 + random_.Below(3);
    while (claims.size() < count) {
      wishes.push_back(RandomAmounts());
      const Amounts& wish = wishes.back();
      claims.push_back(rig_.Make(++last_uid_, wish));
      log_.push_back(absl::StrCat(step_, ": claim ", last_uid_, ": ", wish.count, " x ",
                                  wish.memory, " MiB, ", wish.millicores, " m",
                                  wish.function ? ", function" : ""));
    }
    std::vector<NodeId> unsuitable;
    for (const NodeId node : rig_.cluster.nodes()) {
      std::vector<GpuTotals> gpus = UseOf(node);
      if (!FitsFrom(wishes, 0, 0, 0, gpus)) unsuitable.push_back(node);
    }
    EXPECT_EQ(driver_->UnsuitableNodes(claims, rig_.cluster.nodes()),
              std::vector<std::vector<NodeId>>(claims.size(), unsuitable));
    const NodeId node = N(static_cast<uint32_t>(random_.Below(3)));
    const bool suits = std::find(unsuitable.begin(), unsuitable.end(), node) == unsuitable.end();
    EXPECT_EQ(driver_->WhyUnsuitable(claims, node).empty(), suits);
    const auto results = driver_->Allocate(claims, node);
    bool all = true;
    for (size_t i = 0; i < results.size(); ++i) {
      log_.push_back(absl::StrCat("  -> ", ResultText(results[i])));
      all = all && results[i].status.ok();
      if (!results[i].status.ok()) continue;
      given_[claims[i].claim->meta.uid] = {claims[i], results[i].allocation};
    }
    EXPECT_EQ(all, suits);
  }
  void Deallocate() {
    if (given_.empty()) return;
    auto at = given_.begin();
    std::advance(at, static_cast<int64_t>(random_.Below(given_.size())));
    EXPECT_TRUE(driver_->Deallocate(at->first).ok());
    log_.push_back(absl::StrCat(step_, ": Deallocate ", at->first));
    given_.erase(at);
  }
  void Restart() {
    log_.push_back(absl::StrCat(step_, ": restart"));
    auto other = GpuCluster::Make(options_);
    if (random_.Below(2) == 0) {
      std::vector<Ref<ResourceClaim>> written;
      for (const auto& [uid, given] : given_) {
        written.push_back(rig_.claims.Allocated(given.first, given.second));
      }
      other->Restore(written);
    } else {
      StateWriter out;
      driver_->Save(out);
      StateReader in(out.bytes());
      EXPECT_TRUE(other->Load(in).ok());
    }
    for (const NodeId node : rig_.cluster.nodes()) {
      NodeDevices a = *driver_->devices(node);
      NodeDevices b = *other->devices(node);
      a.kind = b.kind = nullptr;
      EXPECT_TRUE(a == b) << "node " << node.value();
    }
    driver_ = std::move(other);
  }
  void CheckSums() {
    EXPECT_EQ(driver_->allocated_claims(), given_.size());
    for (const NodeId node : rig_.cluster.nodes()) UseOf(node);
  }

  Random random_;
  Rig rig_;
  ClaimDriverOptions options_;
  std::unique_ptr<NodeDeviceDriver> driver_;
  std::map<Uid, std::pair<ClaimToAllocate, Ref<Allocation>>> given_;
  Uid last_uid_ = 0;
  std::vector<std::string> log_;
  int step_ = 0;
};

TEST(IntelDriverTest, RandomCallsAgainstTheOracle) {
  for (uint64_t seed = 0; seed < SoakSeeds(30) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomCalls(seed).Run();
  }
}

}  // namespace intel_driver_test
}  // namespace drasim
