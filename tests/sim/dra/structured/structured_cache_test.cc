#include "sim/dra/structured/structured_cache.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/kube/name.h"
#include "model/shape_table.h"
#include "sim/dra/structured/structured_objects.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;

class StructuredCacheTest : public ::testing::Test {
 protected:
  Ref<ResourceClaim> Claim(const char* name, Uid uid, ResourceVersion version) {
    ResourceClaim claim;
    claim.meta.ns = names_.Intern("default");
    claim.meta.name = names_.Intern(name);
    claim.meta.uid = uid;
    claim.meta.version = version;
    claim.spec.devices = SharedMessage<kube::DeviceClaim>(kube::DeviceClaim());
    return std::make_shared<ResourceClaim>(std::move(claim));
  }
  // "default/claim" in its cached version; empty: it is not there.
  std::string Version() const {
    const ClaimRef claim = cache_.FindClaim("default", "claim");
    return claim == nullptr ? "" : claim->metadata().resource_version();
  }

  NamePool names_;
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  StructuredCache cache_{&cluster_};
};

TEST_F(StructuredCacheTest, AnOlderVersionDoesNotReplaceAnAssumedOne) {
  cache_.OnClaim(Claim("claim", 1, 10), false);
  cache_.Assume(ClaimToV1(Claim("claim", 1, 12)));
  EXPECT_EQ(Version(), "12");
  cache_.OnClaim(Claim("claim", 1, 11), false);
  EXPECT_EQ(Version(), "12");
  cache_.OnClaim(Claim("claim", 1, 13), false);
  EXPECT_EQ(Version(), "13");
  cache_.Assume(ClaimToV1(Claim("claim", 1, 12)));
  EXPECT_EQ(Version(), "13");
}

TEST_F(StructuredCacheTest, ADeletedClaimCannotBeAssumed) {
  cache_.OnClaim(Claim("claim", 1, 10), false);
  cache_.OnClaim(Claim("claim", 1, 11), true);
  cache_.Assume(ClaimToV1(Claim("claim", 1, 12)));
  EXPECT_EQ(Version(), "");
  // The successor of that name is another claim.
  cache_.OnClaim(Claim("claim", 2, 20), false);
  cache_.Assume(ClaimToV1(Claim("claim", 1, 21)));
  cache_.OnClaim(Claim("claim", 1, 22), true);
  EXPECT_EQ(Version(), "20");
}

TEST_F(StructuredCacheTest, ClaimsComeInTheOrderOfTheirNames) {
  cache_.OnClaim(Claim("b", 1, 1), false);
  cache_.OnClaim(Claim("a", 2, 2), false);
  auto classic = std::make_shared<ResourceClaim>(*Claim("c", 3, 3));
  classic->spec.devices = {};
  cache_.OnClaim(classic, false);
  std::vector<std::string> seen;
  cache_.ForEachClaim([&](const ClaimRef& claim) { seen.push_back(claim->metadata().name()); });
  EXPECT_THAT(seen, ElementsAre("a", "b"));
  cache_.Clear();
  EXPECT_EQ(cache_.FindClaim("default", "a"), nullptr);
}

TEST_F(StructuredCacheTest, Classes) {
  DeviceClassObject gpu;
  gpu.meta.name = names_.Intern("gpu");
  gpu.object = SharedMessage<kube::DeviceClass>(kube::DeviceClass());
  EXPECT_EQ(cache_.FindClass("gpu"), nullptr);
  cache_.OnClass(gpu, false);
  EXPECT_NE(cache_.FindClass("gpu"), nullptr);
  cache_.OnClass(gpu, true);
  EXPECT_EQ(cache_.FindClass("gpu"), nullptr);
}

}  // namespace
}  // namespace drasim
