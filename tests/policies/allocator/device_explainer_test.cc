// Explanations of allocations against the allocator itself, on random clusters.
#include "policies/allocator/device_explainer.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/policies/allocator/random_world.h"
#include "tests/policies/allocator/world_search.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::DeviceRequest;
using proto::kube::ResourceClaimV1;

DeviceStory Explained(const RandomWorld& world, const std::vector<ResourceClaimV1>& claims) {
  DeviceExplainer explainer(world.options, *DeviceCatalog::Make(PointersTo(world.slices)),
                            PointersTo(world.classes));
  DeviceQuestion question;
  question.claims = AskFor(PointersTo(claims));
  question.use = world.use;
  question.nodes = {&world.node};
  question.list_devices = true;
  absl::StatusOr<DeviceStory> story = explainer.Explain(question);
  EXPECT_TRUE(story.ok()) << story.status();
  return *std::move(story);
}

AllocationAnswer Allocated(const RandomWorld& world, const std::vector<ResourceClaimV1>& claims) {
  auto catalog = *DeviceCatalog::Make(PointersTo(world.slices));
  auto allocator =
      *StructuredAllocator::Make(std::make_shared<NodePools>(world.options, catalog),
                                 MakeCelVerdicts(&catalog->columns(), world.options.features),
                                 PointersTo(world.classes), world.use);
  return allocator->Allocate(world.node, AskFor(PointersTo(claims)));
}

// The claims' requests and alternatives one by one, for one device each, without constraints.
std::vector<ResourceClaimV1> SingleRequests(const RandomWorld& world) {
  std::vector<ResourceClaimV1> claims;
  const auto add = [&](const ResourceClaimV1& of, const DeviceRequest& request) {
    ResourceClaimV1& claim = claims.emplace_back(of);
    auto* devices = claim.mutable_spec()->mutable_devices();
    devices->clear_constraints();
    devices->clear_requests();
    *devices->add_requests() = request;
  };
  for (const ResourceClaimV1& claim : world.claims) {
    for (const DeviceRequest& request : claim.spec().devices().requests()) {
      DeviceRequest one = request;
      if (request.first_available().empty()) {
        one.mutable_exactly()->set_allocation_mode("ExactCount");
        one.mutable_exactly()->set_count(1);
        add(claim, one);
        continue;
      }
      for (const auto& option : request.first_available()) {
        one.clear_first_available();
        *one.add_first_available() = option;
        one.mutable_first_available(0)->set_allocation_mode("ExactCount");
        one.mutable_first_available(0)->set_count(1);
        add(claim, one);
      }
    }
  }
  return claims;
}

// The answer that follows from verdicts on single devices in the order of the search.
AllocationOutcome Predicted(const GroupStory& group) {
  const RequestStory& request = group.options[0];
  if (!group.error.empty() || !request.error.empty()) return AllocationOutcome::kError;
  for (const DeviceVerdict& device : request.devices) {
    if (device.lost_at == DeviceStage::kLeft) return AllocationOutcome::kAllocated;
    if (device.error && !device.held) return AllocationOutcome::kError;
  }
  return AllocationOutcome::kDoesNotFit;
}

void ExpectSums(const RequestStory& request) {
  size_t before = request.published;
  for (const StageStory& stage : request.stages) {
    size_t lost = 0;
    for (const DeviceLoss& loss : stage.losses) {
      EXPECT_FALSE(loss.why.empty());
      lost += loss.devices;
    }
    EXPECT_EQ(before - lost, stage.left) << DeviceStageName(stage.stage);
    before = stage.left;
  }
  size_t left = 0;
  for (const DeviceVerdict& device : request.devices) {
    left += device.lost_at == DeviceStage::kLeft ? 1 : 0;
  }
  EXPECT_EQ(request.left(), left);
}

TEST(DeviceExplainerTest, AgreesWithTheAllocator) {
  uint64_t single = 0;
  uint64_t single_fits = 0;
  std::set<NodeStory::Cause> causes;
  const uint64_t seeds = SoakSeeds(1000, 40000);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomWorld world = RandomWorldMaker(seed).Make();
    // Earlier releases let a device that is refused leave traces.
    if (world.options.release < StructuredRelease::k1_36) {
      world.options.release = StructuredRelease::k1_37;
    }
    const AllocationAnswer answer = Allocated(world, world.claims);
    const DeviceStory story = Explained(world, world.claims);
    EXPECT_EQ(story.fitting, answer.outcome == AllocationOutcome::kAllocated ? 1u : 0u);
    EXPECT_EQ(story.nodes.size(), 1 - story.fitting);
    EXPECT_EQ(story.error.has_value(), answer.outcome == AllocationOutcome::kError);
    if (story.error.has_value()) EXPECT_EQ(story.error->message, answer.error);
    for (const NodeStory& node : story.nodes) {
      EXPECT_FALSE(node.text.empty());
      causes.insert(node.cause);
    }
    for (const ClaimStory& claim : story.claims) {
      for (const GroupStory& group : claim.requests) {
        for (const RequestStory& request : group.options) {
          if (!request.stages.empty()) ExpectSums(request);
        }
      }
    }
    for (const ResourceClaimV1& claim : SingleRequests(world)) {
      const AllocationAnswer alone = Allocated(world, {claim});
      const DeviceStory of = Explained(world, {claim});
      AllocationOutcome expected = Predicted(of.claims[0].requests[0]);
      // An invalid pool is told only if nothing else decides.
      if (alone.outcome == AllocationOutcome::kNodeError &&
          expected == AllocationOutcome::kDoesNotFit) {
        expected = alone.outcome;
      }
      ASSERT_EQ(alone.outcome, expected) << alone.error << "\n" << claim.DebugString();
      ++single;
      single_fits += alone.outcome == AllocationOutcome::kAllocated ? 1 : 0;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(single_fits, single / 10);
  EXPECT_LT(single_fits, single * 9 / 10);
  EXPECT_EQ(causes.size(), 7u);
}

}  // namespace
}  // namespace drasim
