// The invariants of the control plane can fail: each is broken by writes that no component makes,
// straight into the server.
#include "sim/dra/classic/plane_checks.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_grant.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace plane_checks_test {

constexpr char kDriver[] = "test-driver.cdi.k8s.io";
constexpr NodeId kNode{uint32_t{0}};

const MigTable& A100() {
  static const MigTable* const table = new MigTable(TestTable(TestA100()));
  return *table;
}

// A control plane with a GPU that can be partitioned, and a class; nothing has happened yet.
class ChecksTest : public testing::Test {
 protected:
  ChecksTest() : rig_(Scenario()) {}

  static DraScenario Scenario() {
    DraScenario s;
    s.engine.options.mode = RunMode::kReplay;
    s.engine.models = [](GpuModelTable& models) {
      models.SetMig(*models.Intern("A100-80GB"), &A100());
    };
    s.engine.nodes = {TestNode("node-a", 8000, 2, "A100-80GB")};
    s.engine.shapes = {TestShape(1000, 0)};
    s.engine.pods = {{"pod", 0, 1'000'000'000, 1'000'000'000, 0}};
    CountingDriverOptions driver;
    driver.name = kDriver;
    driver.units = {{kNode, 4}};
    s.drivers = {driver};
    s.objects = [](ControlPlane& plane) {
      ASSERT_TRUE(plane.Create(TestClass(plane.names(), "class", kDriver)).ok());
    };
    s.claims = [](NamePool&, const std::string&) { return std::vector<PodClaim>(); };
    return s;
  }

  Name N(absl::string_view text) { return rig_.plane().names().Intern(text); }
  ApiReply Do(Verb verb, ObjectRef object) {
    ApiRequest request;
    request.verb = verb;
    request.kind = KindOf(object);
    request.object = std::move(object);
    ApiReply reply = rig_.plane().network().server().Handle(request);
    EXPECT_TRUE(reply.ok()) << reply.message;
    return reply;
  }
  void Delete(const ResourceClaim& claim) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = ObjectKind::kResourceClaim;
    request.ns = claim.meta.ns;
    request.name = claim.meta.name;
    EXPECT_TRUE(rig_.plane().network().server().Handle(request).ok());
  }
  // With the finalizer of its driver.
  ResourceClaim NewClaim(absl::string_view name) {
    ResourceClaim claim = *As<ResourceClaim>(TestClaim(rig_.plane().names(), name, "class"));
    claim.meta.finalizers.push_back(N(absl::StrCat(kDriver, "/deletion-protection")));
    return claim;
  }
  ResourceClaim Put(const ResourceClaim& claim) {
    ResourceClaim bare = claim;
    bare.status = ResourceClaimStatus();
    const ApiReply made =
        Do(Verb::kCreate, Ref<ResourceClaim>(std::make_shared<ResourceClaim>(bare)));
    ResourceClaim full = *As<ResourceClaim>(made.object);
    full.status = claim.status;
    return *As<ResourceClaim>(
        Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::make_shared<ResourceClaim>(full))).object);
  }
  void SetStatus(ResourceClaim claim, const std::function<void(ResourceClaimStatus*)>& change) {
    claim.meta.version = 0;
    change(&claim.status);
    Do(Verb::kUpdateStatus, Ref<ResourceClaim>(std::make_shared<ResourceClaim>(claim)));
  }
  ResourceClaim Allocated(absl::string_view name, const DeviceGrants& grants) {
    ResourceClaim claim = NewClaim(name);
    auto allocation = std::make_shared<Allocation>();
    allocation->handles.push_back({N(kDriver), "node=0,units=1"});
    allocation->available_on = NodeSet::Of({kNode});
    allocation->node = kNode;
    allocation->grants = grants;
    claim.status.allocation = std::move(allocation);
    claim.status.driver = N(kDriver);
    return claim;
  }
  // The first placement of the profile on the second GPU that begins at `start`.
  static DeviceGrant Slice(absl::string_view profile, int start) {
    DeviceGrant grant;
    grant.device = 1;
    const int index = A100().FindProfile(profile);
    for (size_t p = 0; p < A100().placements().size(); ++p) {
      const MigPlacement& placement = A100().placements()[p];
      if (placement.profile != index || placement.start != start) continue;
      grant.placement = static_cast<uint8_t>(p);
      grant.milli = 125;
    }
    return grant;
  }
  void ExpectBroken(bool at_rest, absl::string_view why) {
    const absl::Status status = CheckControlPlane(rig_.plane(), at_rest);
    EXPECT_TRUE(absl::StrContains(status.message(), why)) << status;
  }
  void ExpectGood() { EXPECT_EQ(CheckControlPlane(rig_.plane(), true), absl::OkStatus()); }

  DraRig rig_;
};

TEST_F(ChecksTest, NothingIsWrongAtFirst) { ExpectGood(); }

TEST_F(ChecksTest, AllocatedWithoutFinalizer) {
  ResourceClaim claim = Allocated("a", {});
  Put(claim);
  ExpectGood();
  claim = Allocated("b", {});
  claim.meta.finalizers.clear();
  Put(claim);
  ExpectBroken(false, "default/b' is allocated without the finalizer");
}

TEST_F(ChecksTest, WholeGpuTwice) {
  const DeviceGrant whole = {0, kNoPlacement, kDeviceMilli};
  Put(Allocated("a", {whole}));
  ExpectGood();
  const ResourceClaim second = Put(Allocated("b", {whole}));
  ExpectBroken(false, "default/b' has a device that another claim has too");
  // One that its driver is freeing is as good as gone.
  SetStatus(second, [](ResourceClaimStatus* status) { status->deallocation_requested = true; });
  EXPECT_EQ(CheckControlPlane(rig_.plane(), false), absl::OkStatus());
}

TEST_F(ChecksTest, PartsOfAGpu) {
  Put(Allocated("a", {{0, kNoPlacement, 600}}));
  Put(Allocated("b", {{0, kNoPlacement, 400}}));
  ExpectGood();
  Put(Allocated("c", {{0, kNoPlacement, 1}}));
  ExpectBroken(false, "default/c' has a device that another claim has too");
}

// Shares of the GPU say nothing of where they are.
TEST_F(ChecksTest, OverlappingInstances) {
  Put(Allocated("a", {Slice("3g.40gb", 4)}));
  Put(Allocated("b", {Slice("1g.10gb", 0), Slice("1g.10gb", 1)}));
  ExpectGood();
  Put(Allocated("c", {Slice("1g.10gb", 5)}));
  ExpectBroken(false, "default/c' has a device that another claim has too");
}

TEST_F(ChecksTest, InstanceOfAWholeGpu) {
  Put(Allocated("a", {{1, kNoPlacement, kDeviceMilli}}));
  Put(Allocated("b", {Slice("1g.10gb", 0)}));
  ExpectBroken(false, "default/b' has a device that another claim has too");
}

TEST_F(ChecksTest, WholeGpuUnderInstances) {
  Put(Allocated("a", {Slice("1g.10gb", 0)}));
  Put(Allocated("b", {{1, kNoPlacement, kDeviceMilli}}));
  ExpectBroken(false, "default/b' has a device that another claim has too");
}

TEST_F(ChecksTest, LeftAtTheEnd) {
  ResourceClaim owned = NewClaim("owned");
  owned.meta.owner = 4711;
  Put(owned);
  EXPECT_EQ(CheckControlPlane(rig_.plane(), false), absl::OkStatus());
  ExpectBroken(true, "default/owned' has outlived the pod that it was made for");
}

TEST_F(ChecksTest, NeverDeallocated) {
  ResourceClaim claim = Allocated("a", {});
  claim.spec.mode = AllocationMode::kImmediate;
  const ResourceClaim put = Put(claim);
  ExpectGood();
  SetStatus(put, [](ResourceClaimStatus* status) { status->deallocation_requested = true; });
  ExpectBroken(true, "default/a' was never deallocated");
}

TEST_F(ChecksTest, DeletedForEver) {
  const ResourceClaim claim = Put(NewClaim("a"));
  ExpectGood();
  Delete(claim);
  EXPECT_EQ(CheckControlPlane(rig_.plane(), false), absl::OkStatus());
  ExpectBroken(true, "default/a' is being deleted for ever");
}

TEST_F(ChecksTest, ReservedForAPodThatIsGone) {
  ResourceClaim claim = Allocated("a", {});
  claim.status.reserved_for.push_back({N("pods"), N("ghost"), 4711});
  Put(claim);
  EXPECT_EQ(CheckControlPlane(rig_.plane(), false), absl::OkStatus());
  ExpectBroken(true, "default/a' is reserved for a pod that is gone");
}

TEST_F(ChecksTest, ContextOfAPodThatIsGone) {
  auto context = std::make_shared<PodSchedulingContext>();
  context->meta.ns = N("default");
  context->meta.name = N("ghost");
  context->meta.owner = 4711;
  Do(Verb::kCreate, Ref<PodSchedulingContext>(std::move(context)));
  EXPECT_EQ(CheckControlPlane(rig_.plane(), false), absl::OkStatus());
  ExpectBroken(true, "the context 'ghost' has outlived its pod");
}

}  // namespace plane_checks_test
}  // namespace drasim
