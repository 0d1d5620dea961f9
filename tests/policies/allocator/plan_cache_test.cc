#include "policies/allocator/plan_cache.h"

#include <google/protobuf/text_format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "policies/dra/claim_version.h"

namespace drasim {
namespace plan_cache_test {

namespace kube = ::drasim::proto::kube;
using SpecRef = std::shared_ptr<const kube::DeviceClaim>;

SpecRef SpecOf(const std::string& text) {
  auto spec = std::make_shared<kube::DeviceClaim>();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, spec.get())) << text;
  return spec;
}

ClaimRef Named(const std::string& name, const SpecRef& spec) {
  ClaimDraft claim;
  claim.metadata()->set_name(name);
  claim.parts().devices = spec;
  return std::move(claim).Finish();
}

// Three devices for one node; an allocator for each decision, as each pod has one.
class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(spec { driver: "d" pool { name: "p" resource_slice_count: 1 } all_nodes: true
                  devices { name: "x" } devices { name: "y" } devices { name: "z" } })",
        &slice_));
    auto catalog = DeviceCatalog::Make({&slice_});
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *catalog;
    pools_ = std::make_shared<NodePools>(options_, catalog_);
    verdicts_ = MakeCelVerdicts(&catalog_->columns(), options_.features);
    class_.mutable_metadata()->set_name("class");
    node_.mutable_metadata()->set_name("node");
  }

  // "x y", or the error.
  std::string Answer(const std::vector<ClaimRef>& claims, bool shares = true) {
    auto allocator = StructuredAllocator::Make(pools_, verdicts_, {&class_}, DeviceUse());
    EXPECT_TRUE(allocator.ok());
    if (shares) {
      (*allocator)->SharePlans(&plans_, [&](size_t claim) {
        return PartsOf(claims[claim]).devices;
      });
    }
    std::vector<AskedClaim> asked;
    for (const ClaimRef& claim : claims) asked.emplace_back(claim.get());
    const AllocationAnswer answer = (*allocator)->Allocate(node_, asked);
    std::string text = answer.error;
    for (const auto& result : answer.results) {
      for (const auto& device : result.devices().results()) text += device.device();
    }
    return text;
  }
  const ClaimPlan* Plan(const ClaimRef& claim) { return plans_.Find({claim.get()}).get(); }

  AllocatorOptions options_;
  kube::ResourceSlice slice_;
  kube::DeviceClass class_;
  kube::Node node_;
  std::shared_ptr<DeviceCatalog> catalog_;
  std::shared_ptr<NodePools> pools_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  PlanCache plans_;
};

constexpr char kTwo[] = R"(requests { name: "r" exactly { device_class_name: "class"
                                      allocation_mode: "ExactCount" count: 2 } })";

TEST_F(PlanCacheTest, ClaimsOfOneSpecificationShareAPlan) {
  const SpecRef spec = SpecOf(kTwo);
  const ClaimRef first = Named("first", spec);
  const ClaimRef second = Named("second", spec);
  EXPECT_EQ(Plan(first), nullptr);
  EXPECT_EQ(Answer({first}), "xy");
  const ClaimPlan* const plan = Plan(first);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(Answer({second}), "xy");
  EXPECT_EQ(Plan(second), plan);
  EXPECT_EQ(plan->claims()[0].claim, second.get());
  // Equal content is not enough, nor is a part of the claims.
  EXPECT_EQ(Plan(Named("third", SpecOf(kTwo))), nullptr);
  EXPECT_EQ(plans_.Find({first.get(), second.get()}), nullptr);
}

TEST_F(PlanCacheTest, ErrorsNameTheClaimThatIsDecided) {
  const SpecRef spec = SpecOf(R"(requests { name: "r" exactly { device_class_name: "class"
                                            allocation_mode: "ExactCount" count: 40 } })");
  // All are there throughout, so that none has the address of another.
  const std::vector<ClaimRef> claims = {Named("first", spec), Named("second", spec)};
  for (const ClaimRef& claim : {claims[0], claims[1], claims[0]}) {
    const std::string& name = claim->metadata().name();
    const std::string alone = Answer({claim}, /*shares=*/false);
    EXPECT_NE(alone.find("claim " + name), std::string::npos) << alone;
    EXPECT_EQ(Answer({claim}), alone);
  }
}

TEST_F(PlanCacheTest, PlansWithErrorsAreMadeAnew) {
  const SpecRef spec = SpecOf(R"(requests { name: "r" exactly { device_class_name: "other"
                                            allocation_mode: "ExactCount" count: 1 } })");
  for (const char* name : {"first", "second"}) {
    const ClaimRef claim = Named(name, spec);
    const std::string alone = Answer({claim}, /*shares=*/false);
    EXPECT_NE(alone.find(std::string("claim ") + name), std::string::npos) << alone;
    EXPECT_EQ(Answer({claim}), alone);
    EXPECT_EQ(Plan(claim), nullptr);
  }
}

// Addresses stay those of the specifications that the cache knows.
TEST_F(PlanCacheTest, SpecificationsLiveAsLongAsTheirPlans) {
  SpecRef spec = SpecOf(kTwo);
  const std::weak_ptr<const kube::DeviceClaim> watch = spec;
  EXPECT_EQ(Answer({Named("first", spec)}), "xy");
  spec = nullptr;
  EXPECT_FALSE(watch.expired());
  plans_.Clear();
  EXPECT_TRUE(watch.expired());
}

TEST_F(PlanCacheTest, OldPlansMakeRoom) {
  std::vector<SpecRef> specs;
  for (int i = 0; i < 200; ++i) {
    specs.push_back(SpecOf(kTwo));
    EXPECT_EQ(Answer({Named("claim", specs.back())}), "xy");
  }
  EXPECT_EQ(Plan(Named("claim", specs.front())), nullptr);
  EXPECT_NE(Plan(Named("claim", specs.back())), nullptr);
}

}  // namespace plan_cache_test
}  // namespace drasim
