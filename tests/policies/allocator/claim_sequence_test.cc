// Claims that come and go: allocations never exceed the devices, and releases restore the state.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "policies/allocator/structured_allocator.h"
#include "policies/dra/allocated_devices.h"
#include "tests/policies/allocator/naive_rules.h"
#include "tests/policies/allocator/naive_search.h"
#include "tests/policies/allocator/random_world.h"
#include "tests/policies/allocator/world_search.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::ResourceClaimV1;

ClaimRef RefOf(const ResourceClaimV1& claim) {
  return std::make_shared<const ResourceClaimV1>(claim);
}

DeviceUse UseOf(const AllocatedDevices& devices) {
  absl::StatusOr<DeviceUse> use = devices.Use();
  EXPECT_TRUE(use.ok()) << use.status();
  return *std::move(use);
}

std::string UseText(const DeviceUse& use) {
  std::string text;
  for (const DeviceId& id : use.dedicated) absl::StrAppend(&text, id.Text(), "\n");
  for (const DeviceId& id : use.shared) absl::StrAppend(&text, "share of ", id.Text(), "\n");
  for (const auto& [id, amounts] : use.consumed) {
    for (const auto& [name, amount] : amounts) {
      absl::StrAppend(&text, id.Text(), " ", name, "=", amount.ToString(), "\n");
    }
  }
  return text;
}

class ClaimSequence {
 public:
  explicit ClaimSequence(uint64_t seed) : random_(seed, "sequence"), maker_(seed) {
    world_ = maker_.Make();
    world_.use = DeviceUse();
    world_.options.release = StructuredRelease::k1_37;
    world_.options.features =
        SupportedDraFeatures(world_.options.variant, StructuredRelease::k1_37);
    probe_ = std::exchange(world_.claims, {});
  }

  // Allocates a claim, or fails to.
  void Add(uint64_t index) {
    world_.claims = {maker_.MakeClaim(index, world_)};
    world_.use = UseOf(devices_);
    WorldSearch search(world_, WorldSearch::Mode::kUsual);
    const AllocationAnswer answer = search.Allocate(world_);
    if (answer.outcome != AllocationOutcome::kAllocated) return;
    const NaiveRules rules(world_);
    const auto taken = TakenByResults(rules, answer.results);
    ASSERT_TRUE(taken.has_value());
    ASSERT_EQ(WrongWith(world_, rules, *taken), "");
    ResourceClaimV1 claim = world_.claims[0];
    *claim.mutable_status()->mutable_allocation() = answer.results[0];
    devices_.OnClaim(RefOf(world_.claims[0]), RefOf(claim));
    held_.push_back(std::move(claim));
    ExpectNoDeviceTwice();
  }

  void ReleaseAny() {
    std::swap(held_[random_.Below(held_.size())], held_.back());
    const ResourceClaimV1 claim = std::move(held_.back());
    held_.pop_back();
    ResourceClaimV1 after = claim;
    after.mutable_status()->clear_allocation();
    devices_.OnClaim(RefOf(claim), random_.Below(2) == 0 ? nullptr : RefOf(after));
  }

  // The answer to the same claims, given the present state.
  std::string Probe() {
    world_.claims = probe_;
    world_.use = UseOf(devices_);
    WorldSearch search(world_, WorldSearch::Mode::kExhaustive);
    const AllocationAnswer answer = search.Allocate(world_);
    EXPECT_EQ(cluster_.CheckInvariants(), absl::OkStatus());
    return absl::StrCat(answer.steps, " ", AnswerText(answer), UseText(world_.use));
  }

  size_t held() const { return held_.size(); }

 private:
  void ExpectNoDeviceTwice() {
    std::set<DeviceId> dedicated;
    for (const ResourceClaimV1& claim : held_) {
      for (const auto& result : claim.status().allocation().devices().results()) {
        if (result.admin_access() || result.has_share_id()) continue;
        const DeviceId id = {result.driver(), result.pool(), result.device()};
        EXPECT_TRUE(dedicated.insert(id).second) << id.Text();
      }
    }
    EXPECT_EQ(UseOf(devices_).dedicated.size(), dedicated.size());
  }

  Random random_;
  RandomWorldMaker maker_;
  RandomWorld world_;
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  AllocatedDevices devices_{&cluster_};
  std::vector<ResourceClaimV1> held_;
  std::vector<ResourceClaimV1> probe_;
};

TEST(ClaimSequenceTest, ReleasesRestoreTheState) {
  const uint64_t cases = SoakSeeds(400, /*most=*/8000);
  size_t most = 0;
  size_t sum = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    ClaimSequence sequence(seed);
    const std::string before = sequence.Probe();
    for (uint64_t index = 0; index < 8; ++index) {
      ASSERT_NO_FATAL_FAILURE(sequence.Add(index));
      if (index == 5 && sequence.held() > 1) sequence.ReleaseAny();
    }
    most = std::max(most, sequence.held());
    sum += sequence.held();
    while (sequence.held() > 0) sequence.ReleaseAny();
    ASSERT_EQ(sequence.Probe(), before);
    if (HasFailure()) return;
  }
  EXPECT_GE(most, size_t{6});
  EXPECT_GE(sum, cases);
}

}  // namespace
}  // namespace drasim
