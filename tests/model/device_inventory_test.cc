#include "model/device_inventory.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/state_io.h"
#include "tests/model/inventory_rig.h"

namespace drasim {
namespace {

using inventory_rig::Alone;
using inventory_rig::InventoryText;
using inventory_rig::InventoryWorld;
using inventory_rig::kOne;
using inventory_rig::Share;
using inventory_rig::TestSlice;

class DeviceInventoryTest : public testing::Test {
 protected:
  ~DeviceInventoryTest() override { EXPECT_EQ(world_.cluster.CheckInvariants(), absl::OkStatus()); }
  const DeviceInventory& inventory() const { return world_.cluster.inventory(); }
  InventoryRow Row(const std::string& pool, const std::string& device) const {
    return inventory().Find("driver", pool, device);
  }
  int64_t Used(size_t counter) const {
    return static_cast<int64_t>(inventory().pools()[0].counters[counter].used / kOne);
  }

  InventoryWorld world_{2};
  ClusterState& c_ = world_.cluster;
};

TEST_F(DeviceInventoryTest, LatestGenerationIsThePool) {
  const SliceId first = world_.Publish({"p", 1, "node-0", {{"a"}, {"b"}}});
  EXPECT_EQ(inventory().totals()[0].published, 2);
  const InventoryRow a = Row("p", "a");
  EXPECT_EQ(inventory().node_of(a), NodeId(size_t{0}));
  world_.Publish({"p", 2, "node-1", {{"a"}, {"c"}}});
  EXPECT_EQ(Row("p", "a"), a) << "a row is a device, whatever slice has it";
  EXPECT_EQ(inventory().node_of(a), NodeId(size_t{1}));
  EXPECT_EQ(inventory().published(Row("p", "b")), nullptr);
  EXPECT_EQ(inventory().pools()[0].generation, 2);
  EXPECT_EQ(inventory().totals()[0].published, 2);
  c_.WithdrawSlice(first);
  EXPECT_EQ(inventory().totals()[0].published, 2);
  EXPECT_FALSE(Row("p", "unheard of").valid());
}

TEST_F(DeviceInventoryTest, EqualContentIsOneRowOfColumns) {
  world_.Publish({"p", 1, "node-0", {{"a"}, {"b"}}});
  const DeviceRow content = inventory().published(Row("p", "a"))->content;
  EXPECT_EQ(inventory().published(Row("p", "b"))->content, content);
  world_.Publish({"p", 2, "node-0", {{"a"}}});
  EXPECT_EQ(inventory().published(Row("p", "a"))->content, content) << "in all generations";
}

TEST_F(DeviceInventoryTest, HundredsOfDevicesOfANode) {
  TestSlice slice = {"p", 1, "node-0", {}};
  for (int i = 0; i < 600; ++i) slice.devices.push_back({absl::StrCat("nic-", i)});
  world_.Publish(slice);
  EXPECT_TRUE(world_.Hold("c", {Alone("p", "nic-599"), Alone("p", "nic-64")}));
  EXPECT_EQ(inventory().totals()[0], (DriverTotals{inventory().pools()[0].driver, 600, 2}));
  EXPECT_TRUE(world_.UseOf("p", "nic-599").is_dedicated());
  EXPECT_FALSE(world_.UseOf("p", "nic-598").is_held());
}

TEST_F(DeviceInventoryTest, HeldDevicesChargeTheCountersOfThePresentSlices) {
  const SliceId counters = world_.Publish({"p", 1, "node-0", {}, {{"memory", 8}}});
  world_.Publish({"p", 1, "node-0", {{"a", {{"memory", 5}}}, {"b", {{"memory", 4}}}}});
  EXPECT_TRUE(world_.Hold("c", {Alone("p", "a")}));
  EXPECT_EQ(Used(0), 5);
  EXPECT_FALSE(world_.Hold("d", {Alone("p", "b")})) << "the counter does not suffice";
  EXPECT_EQ(Used(0), 9) << "but who decided so, is right";
  c_.ReleaseDevices("d", false);
  EXPECT_EQ(Used(0), 5);
  c_.ReplaceSlice(counters, inventory_rig::FactsOf({"p", 1, "node-0", {}, {{"memory", 4}}}));
  EXPECT_EQ(Used(0), 5);
  EXPECT_TRUE(inventory().pools()[0].shrunk);
  c_.ReleaseDevices("c", false);
  EXPECT_EQ(Used(0), 0);
}

TEST_F(DeviceInventoryTest, FirstOfTwoClaimsFreesADevice) {
  world_.Publish({"p", 1, "node-0", {{"a"}}});
  EXPECT_TRUE(world_.Hold("first", {Alone("p", "a")}));
  EXPECT_FALSE(world_.Hold("second", {Alone("p", "a")}));
  c_.ReleaseDevices("first", false);
  EXPECT_FALSE(world_.UseOf("p", "a").is_held());
  EXPECT_FALSE(world_.Hold("third", {Alone("p", "a")})) << "the second one is still there";
  c_.ReleaseDevices("second", false);
  EXPECT_FALSE(world_.UseOf("p", "a").is_held());
  c_.ReleaseDevices("third", false);
  EXPECT_TRUE(world_.Hold("fourth", {Alone("p", "a")}));
}

TEST_F(DeviceInventoryTest, ClaimInFlightMayBeWritten) {
  world_.Publish({"p", 1, "node-0", {{"a"}}});
  EXPECT_TRUE(world_.Hold("c", {Alone("p", "a")}, /*pending=*/true));
  EXPECT_FALSE(world_.Hold("d", {Alone("p", "a")}, /*pending=*/true));
  c_.ReleaseDevices("d", true);
  EXPECT_TRUE(world_.Hold("c", {Alone("p", "a")}));
  c_.ReleaseDevices("c", true);
  EXPECT_TRUE(world_.UseOf("p", "a").is_dedicated());
  c_.ReleaseDevices("c", true);
  EXPECT_TRUE(world_.UseOf("p", "a").is_dedicated()) << "it had left";
}

TEST_F(DeviceInventoryTest, SharesAddUpToTheCapacity) {
  world_.Publish({"p", 1, "node-0", {{"a", {}, -1, "", 0, 10}, {"b"}}});
  EXPECT_TRUE(world_.Hold("c", {Share("p", "a", 4), Share("p", "a", 3)}));
  EXPECT_EQ(inventory().consumed(Row("p", "a"))->at(0).second.Value(), 7);
  EXPECT_FALSE(world_.Hold("d", {Share("p", "a", 4)}));
  EXPECT_EQ(inventory().consumed(Row("p", "a"))->at(0).second.Value(), 11);
  EXPECT_FALSE(world_.Hold("e", {Share("p", "b", 0)})) << "it is not to be shared";
  EXPECT_FALSE(world_.Hold("f", {Alone("p", "a")}));
  for (const char* claim : {"d", "c", "e", "f"}) c_.ReleaseDevices(claim, false);
  EXPECT_EQ(inventory().consumed(Row("p", "a")), nullptr);
  EXPECT_TRUE(inventory().held().empty());
}

TEST_F(DeviceInventoryTest, DevicesThatNobodyPublishesAreHeld) {
  EXPECT_FALSE(world_.Hold("c", {Alone("p", "a")}));
  EXPECT_TRUE(world_.UseOf("p", "a").is_dedicated());
  const SliceId slice =
      world_.Publish({"p", 1, "node-0", {{"a", {{"memory", 2}}}}, {{"memory", 9}}});
  EXPECT_EQ(Used(0), 2);
  c_.WithdrawSlice(slice);
  EXPECT_EQ(inventory().totals()[0].taken, 1);
  c_.ReleaseDevices("c", false);
  EXPECT_EQ(inventory().totals()[0].taken, 0);
}

// --- GPUs ---

TEST_F(DeviceInventoryTest, GpusOfClaimsAreTakenFromTheColumnsOfTheNode) {
  world_.Publish(
      {"p", 1, "node-1", {{"gpu-0", {}, 0}, {"part", {}, 1, "3g.40gb", 4}, {"x", {}, 7}}});
  EXPECT_TRUE(world_.Hold("c", {Alone("p", "gpu-0"), Alone("p", "part"), Alone("p", "x")}));
  EXPECT_EQ(world_.Idle(1), "0 0");
  EXPECT_EQ(world_.Idle(0), "1000 1000");
  const size_t profile = static_cast<size_t>(world_.a100.FindProfile("3g.40gb"));
  const auto placement = static_cast<size_t>(world_.a100.FindPlacement(profile, 4));
  EXPECT_EQ(c_.device_mig(NodeId(size_t{1}))[1], world_.a100.Place(0, placement));
  EXPECT_EQ(c_.totals().gpus_in_use, 2);
  EXPECT_EQ(c_.totals().gpu_milli_allocated, 1500);
  c_.ReleaseDevices("c", false);
  EXPECT_EQ(world_.Idle(1), "1000 1000");
  EXPECT_EQ(c_.totals(), InventoryWorld(2).cluster.totals());
}

TEST_F(DeviceInventoryTest, GpuThatAPodHasIsNotTakenTwice) {
  world_.Publish({"p", 1, "node-0", {{"gpu-0", {}, 0}}});
  PodShape shape;
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 400;
  const PodId pod = c_.AddPod("pod", world_.shapes.Intern(shape), 0, SimTime());
  c_.Assume(pod, NodeId(size_t{0}), DeviceSet::Of(0));
  EXPECT_FALSE(world_.Hold("c", {Alone("p", "gpu-0")}));
  EXPECT_EQ(world_.Idle(0), "600 1000");
  c_.Forget(pod);
  EXPECT_EQ(world_.Idle(0), "1000 1000");
  c_.ReleaseDevices("c", false);
  EXPECT_EQ(world_.Idle(0), "1000 1000");
}

TEST_F(DeviceInventoryTest, PartsFollowSlicesAndNodes) {
  const SliceId slice = world_.Publish({"p", 1, "node-0", {{"a", {}, 0}}});
  world_.Hold("c", {Alone("p", "a")});
  c_.ReplaceSlice(slice, inventory_rig::FactsOf({"p", 2, "node-1", {{"a", {}, 1}}}));
  EXPECT_EQ(world_.Idle(0), "1000 1000");
  EXPECT_EQ(world_.Idle(1), "1000 0");
  c_.SetAvailable(NodeId(size_t{1}), false);
  EXPECT_EQ(c_.totals().gpu_milli_allocated, 0) << "totals leave absent nodes out";
  c_.SetAvailable(NodeId(size_t{1}), true);
  EXPECT_EQ(world_.Idle(1), "1000 0");
  c_.WithdrawSlice(slice);
  EXPECT_EQ(world_.Idle(1), "1000 1000");
}

// --- What depends on the inventory ---

TEST_F(DeviceInventoryTest, ChangesConcernTheNodeOfTheDevices) {
  const auto epochs = [this] {
    return std::vector<uint32_t>{c_.node_epoch(NodeId(size_t{0})),
                                 c_.node_epoch(NodeId(size_t{1}))};
  };
  const std::vector<uint32_t> before = epochs();
  world_.Publish({"p", 1, "node-1", {{"a"}}});
  EXPECT_EQ(epochs(), (std::vector<uint32_t>{before[0], before[1] + 1}));
  world_.Hold("c", {Alone("p", "a")});
  EXPECT_EQ(epochs(), (std::vector<uint32_t>{before[0], before[1] + 2}));
  EXPECT_EQ(c_.changed_node(c_.change_count() - 1), NodeId(size_t{1}));
  world_.Publish({"p", 2, "node-0", {{"b"}}});
  EXPECT_EQ(epochs(), (std::vector<uint32_t>{before[0] + 1, before[1] + 3})) << "the old pool ends";
  const uint64_t version = c_.version();
  world_.Publish({"network", 1, "", {{"port"}}});
  EXPECT_EQ(epochs(), (std::vector<uint32_t>{before[0] + 1, before[1] + 3}));
  EXPECT_NE(c_.version(), version);
}

TEST_F(DeviceInventoryTest, RollbackRestoresEverything) {
  const SliceId slice = world_.Publish({"p", 1, "node-0", {{"a", {{"m", 2}}, 0}}, {{"m", 4}}});
  world_.Hold("c", {Alone("p", "a")});
  const std::string before = InventoryText(c_);
  const uint64_t version = c_.version();
  c_.BeginWhatIf();
  c_.ReleaseDevices("c", false);
  world_.Hold("d", {Alone("p", "a")}, /*pending=*/true);
  c_.BeginWhatIf();
  c_.ReplaceSlice(slice, inventory_rig::FactsOf({"p", 2, "node-1", {{"a", {{"m", 9}}, 1}}}));
  c_.KeepWhatIf();
  world_.Publish({"p", 2, "node-0", {{"b"}}});
  EXPECT_NE(InventoryText(c_), before);
  c_.Rollback();
  EXPECT_EQ(InventoryText(c_), before);
  EXPECT_EQ(c_.version(), version);
  c_.BeginWhatIf();
  c_.ReleaseDevices("c", false);
  c_.KeepWhatIf();
  EXPECT_TRUE(inventory().held().empty());
}

TEST_F(DeviceInventoryTest, CheckpointsHaveWhatClaimsHold) {
  const TestSlice slice = {"p", 1, "node-0", {{"a", {}, 0}, {"s", {}, -1, "", 0, 10}}};
  world_.Publish(slice);
  world_.Hold("first", {Alone("p", "a")});
  world_.Hold("second", {Alone("p", "a"), Share("p", "s", 3)}, /*pending=*/true);
  world_.Hold("third", {Alone("p", "a")});
  c_.ReleaseDevices("first", false);
  StateWriter out;
  c_.Save(out);
  InventoryWorld again(2);
  again.Publish(slice);
  StateReader in(out.bytes());
  ASSERT_EQ(again.cluster.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(InventoryText(again.cluster), InventoryText(c_));
  EXPECT_EQ(again.cluster.version(), c_.version());
  EXPECT_EQ(again.cluster.CheckInvariants(), absl::OkStatus());
  // Slices may also come afterwards.
  InventoryWorld later(2);
  StateReader once_more(out.bytes());
  ASSERT_EQ(later.cluster.Load(once_more), absl::OkStatus());
  later.Publish(slice);
  EXPECT_EQ(InventoryText(later.cluster), InventoryText(c_));
}

TEST_F(DeviceInventoryTest, DamagedCheckpointsAreRefused) {
  world_.Publish({"p", 1, "node-0", {{"s", {}, -1, "", 0, 10}}});
  world_.Hold("c", {Share("p", "s", 3)});
  StateWriter out;
  c_.Save(out);
  const std::string bytes(out.bytes());
  for (size_t length = 0; length < bytes.size(); ++length) {
    InventoryWorld again(2);
    StateReader in(absl::string_view(bytes).substr(0, length));
    EXPECT_FALSE(again.cluster.Load(in).ok()) << length;
  }
  InventoryWorld again(2);
  again.Hold("x", {Alone("p", "y")});
  StateReader in(bytes);
  ASSERT_EQ(again.cluster.Load(in), absl::OkStatus());
  ASSERT_EQ(again.cluster.inventory().holders().size(), 1U) << "those before are forgotten";
}

}  // namespace
}  // namespace drasim
