// Behaviour common to all drivers that hand out the GPUs of nodes: repeated allocations, giving
// back, restarts, checkpoints, times on the node.
#include "policies/devices/node_device_driver.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"

namespace drasim {
namespace node_device_driver_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeId N(uint32_t id) { return NodeId(id); }

class Rig {
 public:
  Rig() : claims("nvidia") {
    cluster.Add("V100", 2);
    cluster.Add("A100-80GB", 1);
    cluster.Add("V100", 4);
  }
  ClaimToAllocate Gpus(Uid uid, int count) {
    return claims.Make(
        uid, claims.Parameters("GpuClaimParameters", {{"spec.count", absl::StrCat(count)}}));
  }
  ClaimToAllocate Mig(Uid uid, const std::string& profile) {
    return claims.Make(uid,
                       claims.Parameters("MigDeviceClaimParameters", {{"spec.profile", profile}}));
  }
  GpuCluster cluster;
  TestClaims claims;
};

TEST(NodeDeviceDriverTest, WithoutANodeTakesTheFirstWithRoom) {
  Rig rig;
  rig.cluster.cluster().SetAvailable(N(0), false);
  const auto driver = rig.cluster.Make("example");
  // The nodes that are not there are passed over.
  EXPECT_THAT(
      ResultTexts(driver->Allocate({rig.Gpus(1, 2), rig.Gpus(2, 1), rig.Gpus(3, 5)}, NodeId())),
      ElementsAre(HandleText(2, {"gpu-0", "gpu-1"}), HandleText(1, {"gpu-0"}),
                  "5 GPUs wanted, no node has room"));
  rig.cluster.cluster().SetAvailable(N(0), true);
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(4, 2)}, NodeId())),
              ElementsAre(HandleText(0, {"gpu-0", "gpu-1"})));
}

TEST(NodeDeviceDriverTest, ServesOnlyItsNodes) {
  Rig rig;
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.nodes = {N(0), N(2)};
  options.name = "other.example.com";
  const auto driver = GpuCluster::Make(options);
  EXPECT_EQ(driver->name(), "other.example.com");
  EXPECT_EQ(driver->devices(N(1)), nullptr);
  EXPECT_EQ(driver->devices(N(9)), nullptr);
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 1)}, {N(0), N(1), N(2), N(9)}),
              ElementsAre(ElementsAre(N(1), N(9))));
  EXPECT_EQ(driver->Allocate({rig.Gpus(1, 1)}, N(1))[0].status,
            absl::InvalidArgumentError("other.example.com does not serve the node"));
  EXPECT_EQ(driver->Allocate({rig.Gpus(1, 1)}, N(9))[0].status,
            absl::InvalidArgumentError("other.example.com does not serve the node"));
}

TEST(NodeDeviceDriverTest, ANodeMustHoldAllClaimsOfThePod) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 2), rig.Gpus(2, 1)}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(0), N(1)), ElementsAre(N(0), N(1))));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 2), rig.Gpus(2, 1)}, N(0)),
            "1 GPU wanted, 0 free beside the pod's other claims");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 2), rig.Gpus(2, 1)}, N(1)), "2 GPUs wanted, 1 free");
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 2), rig.Gpus(2, 1)}, N(2)), "");
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 1)}, {}), ElementsAre(IsEmpty()));
  EXPECT_THAT(driver->UnsuitableNodes({}, rig.cluster.nodes()), IsEmpty());
}

TEST(NodeDeviceDriverTest, AnAllocationWhoseStatusWasNeverWrittenIsGivenAgain) {
  Rig rig;
  const auto driver = rig.cluster.Make("example");
  const std::string first = HandleText(0, {"gpu-0", "gpu-1"});
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 2)}, N(0))), ElementsAre(first));
  // Its node is no worse for it; others have to have room.
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(1, 2)}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(1))));
  EXPECT_THAT(driver->UnsuitableNodes({rig.Gpus(2, 1)}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(0))));
  // The same devices, even with another node or other parameters; its pod's other claims go where
  // they are sent.
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 1), rig.Gpus(3, 4)}, N(2))),
              ElementsAre(first, HandleText(2, {"gpu-0", "gpu-1", "gpu-2", "gpu-3"})));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 0)}, NodeId())), ElementsAre(first));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 0)}, N(9))), ElementsAre(first));
  EXPECT_EQ(driver->allocated_claims(), 2u);
}

TEST(NodeDeviceDriverTest, AllocatesOnlyWhatItHasProposed) {
  Rig rig;
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.keeps_node_objects = true;
  const auto driver = GpuCluster::Make(options);
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 1)}, N(0))),
              ElementsAre("unable to allocate devices on node 'node-0': no allocations generated "
                          "for claim '1' on node 'node-0' yet"));
  EXPECT_TRUE(driver->Propose({rig.Gpus(1, 2)}, N(0)));
  EXPECT_TRUE(driver->Propose({rig.Gpus(1, 2)}, N(2)));
  // A place kept for one claim is closed to others; the claim itself may ask again.
  EXPECT_FALSE(driver->Propose({rig.Gpus(2, 1)}, N(0)));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(2, 1)}, N(0)), "1 GPU wanted, 0 free");
  EXPECT_TRUE(driver->Propose({rig.Gpus(1, 2)}, N(0)));
  EXPECT_EQ(driver->WhyUnsuitable({rig.Gpus(1, 2)}, N(0)), "");
  EXPECT_EQ(driver->proposed_claims(), 1u);
  // Allocated on one node, it leaves the others.
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(1, 2)}, N(2))),
              ElementsAre(HandleText(2, {"gpu-0", "gpu-1"})));
  EXPECT_EQ(driver->proposed_claims(), 0u);
  EXPECT_TRUE(driver->Propose({rig.Gpus(2, 2)}, N(0)));
  // Without an allocation there is nothing to free, as upstream sees it.
  EXPECT_TRUE(driver->Deallocate(2).ok());
  EXPECT_FALSE(driver->Propose({rig.Gpus(3, 1)}, N(0)));
  StateWriter out;
  driver->Save(out);
  const auto other = GpuCluster::Make(options);
  StateReader in(out.bytes());
  ASSERT_TRUE(other->Load(in).ok());
  EXPECT_FALSE(other->Propose({rig.Gpus(3, 1)}, N(0)));
  EXPECT_THAT(ResultTexts(other->Allocate({rig.Gpus(2, 2)}, N(0))),
              ElementsAre(HandleText(0, {"gpu-0", "gpu-1"})));
  driver->Forget(2);
  EXPECT_TRUE(driver->Propose({rig.Gpus(3, 1)}, N(0)));
  // Its memory does not outlive it.
  driver->Restore({});
  EXPECT_EQ(driver->proposed_claims(), 0u);
}

TEST(NodeDeviceDriverTest, AClaimThatAPodNamesTwiceIsOne) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  const ClaimToAllocate claim = rig.Gpus(1, 2);
  EXPECT_THAT(driver->UnsuitableNodes({claim, claim}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(1)), ElementsAre(N(1))));
  EXPECT_THAT(ResultTexts(driver->Allocate({claim, claim}, N(1))),
              ElementsAre("2 GPUs wanted, 1 free", "2 GPUs wanted, 1 free"));
  const std::string given = HandleText(0, {"gpu-0", "gpu-1"});
  EXPECT_THAT(ResultTexts(driver->Allocate({claim, claim}, N(0))), ElementsAre(given, given));
}

TEST(NodeDeviceDriverTest, DeallocateGivesBackOnce) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  const NodeDevices before = *driver->devices(N(0));
  driver->Allocate({rig.Gpus(1, 2)}, N(0));
  EXPECT_FALSE(*driver->devices(N(0)) == before);
  EXPECT_TRUE(driver->Deallocate(1).ok());
  EXPECT_TRUE(*driver->devices(N(0)) == before);
  EXPECT_TRUE(driver->Deallocate(1).ok());
  EXPECT_TRUE(driver->Deallocate(99).ok());
  EXPECT_EQ(driver->allocated_claims(), 0u);
}

TEST(NodeDeviceDriverTest, ParametersAreReadAgainWhenTheyChange) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  ParametersObject object;
  object.meta.uid = 7;
  object.meta.version = 1;
  object.fields = {{"count", "2"}};
  const ClaimToAllocate claim = rig.claims.Make(1, &object);
  EXPECT_THAT(driver->UnsuitableNodes({claim}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(1))));
  object.fields = {{"count", "3"}};
  object.meta.version = 2;
  EXPECT_THAT(driver->UnsuitableNodes({claim}, rig.cluster.nodes()),
              ElementsAre(ElementsAre(N(0), N(1))));
  // Objects of no server are read each time.
  object.meta.version = 0;
  object.fields = {{"count", "4"}};
  EXPECT_THAT(driver->UnsuitableNodes({claim}, {N(2)}), ElementsAre(IsEmpty()));
  object.fields = {{"count", "5"}};
  EXPECT_THAT(driver->UnsuitableNodes({claim}, {N(2)}), ElementsAre(ElementsAre(N(2))));
}

TEST(NodeDeviceDriverTest, RestoreForgetsAllElse) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  const auto given = driver->Allocate({rig.Gpus(1, 1), rig.Gpus(2, 1)}, N(0));
  const auto copy = [&given](size_t i) {
    return std::make_shared<Allocation>(*given[i].allocation);
  };
  auto by_grants = copy(1);
  by_grants->handles[0].data = "?";
  by_grants->node = NodeId();
  auto unreadable = copy(0);
  unreadable->handles[0].data = HandleText(0, {"gpu-7"});
  unreadable->grants.clear();
  auto elsewhere = copy(0);
  elsewhere->node = N(9);
  auto foreign = copy(0);
  foreign->handles[0].driver = rig.claims.Intern("other");
  const auto claim = [&rig](Uid uid, Ref<Allocation> allocation) {
    return rig.claims.Allocated(rig.Gpus(uid, 1), std::move(allocation));
  };
  driver->Allocate({rig.Gpus(8, 4)}, N(2));
  driver->Restore({claim(1, given[0].allocation), claim(2, by_grants), claim(3, unreadable),
                   claim(4, elsewhere), claim(5, foreign), claim(6, nullptr)});
  EXPECT_EQ(driver->allocated_claims(), 2u);
  EXPECT_EQ(driver->devices(N(0))->whole, DeviceSet::FirstN(2));
  EXPECT_EQ(driver->devices(N(2))->free(), DeviceSet::FirstN(4));
  EXPECT_THAT(ResultTexts(driver->Allocate({rig.Gpus(2, 1)}, N(2))),
              ElementsAre(HandleText(0, {"gpu-1"})));
  driver->Restore({});
  EXPECT_EQ(driver->allocated_claims(), 0u);
  EXPECT_EQ(driver->devices(N(0))->whole, DeviceSet());
}

TEST(NodeDeviceDriverTest, RestoredClaimsMayOverlap) {
  Rig rig;
  const auto driver = rig.cluster.Make("nvidia");
  const auto one = driver->Allocate({rig.Mig(1, "3g.40gb")}, N(1))[0].allocation;
  EXPECT_TRUE(driver->Deallocate(1).ok());
  const auto other = driver->Allocate({rig.Mig(2, "4g.40gb")}, N(1))[0].allocation;
  driver->Restore({rig.claims.Allocated(rig.Mig(1, "3g.40gb"), one),
                   rig.claims.Allocated(rig.Mig(2, "4g.40gb"), other)});
  EXPECT_EQ(driver->allocated_claims(), 2u);
  EXPECT_NE(driver->WhyUnsuitable({rig.Mig(3, "1g.10gb")}, N(1)), "");
  // Either way the rest is found again.
  EXPECT_TRUE(driver->Deallocate(1).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(3, "3g.40gb")}, N(1)), "");
  EXPECT_NE(driver->WhyUnsuitable({rig.Mig(3, "7g.80gb")}, N(1)), "");
  EXPECT_TRUE(driver->Deallocate(2).ok());
  EXPECT_EQ(driver->WhyUnsuitable({rig.Mig(3, "7g.80gb")}, N(1)), "");
}

TEST(NodeDeviceDriverTest, PreparationTakesTimePerInstance) {
  Rig rig;
  ClaimDriverOptions options = rig.cluster.Options("nvidia");
  options.create_instance = SimDuration::Millis(300);
  options.destroy_instance = SimDuration::Millis(100);
  options.initialise = SimDuration::Seconds(2);
  options.clean_up = SimDuration::Seconds(1);
  const auto driver = GpuCluster::Make(options);
  const ClaimToAllocate gpus = rig.Gpus(1, 2);
  const ClaimToAllocate mig = rig.Mig(2, "1g.10gb");
  const auto whole = rig.claims.Allocated(gpus, driver->Allocate({gpus}, N(0))[0].allocation);
  const auto cut = rig.claims.Allocated(mig, driver->Allocate({mig}, N(1))[0].allocation);
  EXPECT_EQ(driver->PrepareTime(*whole), SimDuration::Seconds(2));
  EXPECT_EQ(driver->PrepareTime(*cut), SimDuration::Millis(2300));
  EXPECT_EQ(driver->UnprepareTime(*whole), SimDuration::Seconds(1));
  EXPECT_EQ(driver->UnprepareTime(*cut), SimDuration::Millis(1100));
  EXPECT_EQ(driver->PrepareTime(*mig.claim), SimDuration::Seconds(2));
}

TEST(NodeDeviceDriverTest, LoadRefusesWhatItCannotHaveGiven) {
  // Claim, node, use, GPU, placement, slices, milli, MiB.
  using Row = std::vector<uint64_t>;
  const std::vector<Row> good = {{4, 1, 1, 0, 0, 0, 0, 0}};
  const std::vector<std::vector<Row>> bad = {
      {{4, 9, 0, 0, 255, 0, 0, 0}},                            // of a node that it does not serve
      {{4, uint64_t{1} << 32, 0, 0, 255, 0, 0, 0}},            // of no node
      {{4, 1, 0, 1, 255, 0, 0, 0}},                            // a GPU that is not there
      {{4, 1, 0, 256, 255, 0, 0, 0}},                          //
      {{4, 1, 6, 0, 255, 0, 0, 0}},                            // no use
      {{4, 1, 1, 0, 200, 0, 0, 0}},                            // no placement
      {{4, 0, 1, 0, 0, 0, 0, 0}},                              // an instance without MIG
      {{4, 0, 2, 0, 255, 0, 0, 0}},                            // an empty part
      {{4, 0, 2, 0, 255, 0, 1001, 0}},                         // more than a GPU
      {{4, 1, 1, 0, 0, 0, 0, 0}, {4, 0, 0, 0, 255, 0, 0, 0}},  // twice
  };
  Rig rig;
  const auto load = [](const std::vector<Row>& rows, NodeDeviceDriver& driver) {
    StateWriter out;
    out.Section("node device driver");
    out.U64(rows.size());
    for (const Row& row : rows) {
      out.U64(row[0]);
      out.U64(row[1]);
      out.Bool(false);
      out.Str("");
      out.U64(0);
      out.Str("");
      out.Str("");
      out.U64(1);
      for (size_t i = 2; i < 6; ++i) out.U64(row[i]);
      for (size_t i = 6; i < 8; ++i) out.I64(static_cast<int64_t>(row[i]));
    }
    out.U64(0);  // nothing is proposed
    out.U64(0);
    out.I64(-1);
    StateReader in(out.bytes());
    return driver.Load(in);
  };
  const auto driver = rig.cluster.Make("nvidia");
  ASSERT_TRUE(load(good, *driver).ok());
  EXPECT_EQ(driver->devices(N(1))->cut, DeviceSet::Of(0));
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_FALSE(load(bad[i], *driver).ok()) << "case " << i;
    EXPECT_EQ(driver->devices(N(1))->cut, DeviceSet::Of(0)) << "case " << i;
    EXPECT_EQ(driver->allocated_claims(), 1u) << "case " << i;
  }
}

}  // namespace node_device_driver_test
}  // namespace drasim
