#include "gui/view/node_slices.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "gui/view/held_devices.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace node_slices_test {

using view::HeldDevicesText;
using view::HeldPart;
using view::HeldPartsOf;
using view::PodRoom;
using view::ProfileRoom;
using view::RoomByProfile;
using view::RoomFor;
using view::SliceCounts;
using view::SlicesOf;

int64_t MoreOf(const std::vector<ProfileRoom>& rooms, const std::string& profile) {
  for (const ProfileRoom& room : rooms) {
    if (room.profile == profile) return room.more;
  }
  return -1;
}

TEST(NodeSlicesTest, CountsHeldAndStrandedSlices) {
  ViewRig rig;
  const NodeId node(size_t{0});
  EXPECT_EQ(SlicesOf(rig.cluster(), node), (SliceCounts{16, 0, 0}));
  const PodId three = rig.Arrive("three", ViewRig::Mig("3g.40gb"));
  rig.Bind(three, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  SliceCounts slices = SlicesOf(rig.cluster(), node);
  EXPECT_EQ(slices.held, 4);
  EXPECT_EQ(slices.stranded, 0);
  EXPECT_EQ(HeldDevicesText(rig.cluster(), three), "0:3g.40gb@0");
  EXPECT_EQ(HeldPartsOf(rig.cluster(), three), (std::vector<HeldPart>{{0, 0, 4, 8, "3g.40gb"}}));

  // A GPU without instances that is in use holds all of its slices.
  const PodId whole = rig.Arrive("whole", ViewRig::Gpus(1, 500));
  rig.Bind(whole, 0, DeviceSet::Of(1));
  slices = SlicesOf(rig.cluster(), node);
  EXPECT_EQ(slices.held, 12);
  EXPECT_EQ(HeldDevicesText(rig.cluster(), whole), "1 (500m)");
  EXPECT_EQ(HeldPartsOf(rig.cluster(), whole),
            (std::vector<HeldPart>{{1, -1, 500, 1000, "0.5 GPU"}}));
}

TEST(NodeSlicesTest, TellsWhatStillFits) {
  ViewRig rig;
  const NodeId node(size_t{0});
  const PodId seven = rig.Arrive("seven", ViewRig::Mig("7g.80gb"));
  const ShapeId shape = rig.cluster().pod_shape_id(seven);
  EXPECT_EQ(RoomFor(rig.cluster(), shape, node), (PodRoom{2, true}));
  EXPECT_EQ(MoreOf(RoomByProfile(rig.cluster(), node), "7g.80gb"), 2);
  EXPECT_EQ(MoreOf(RoomByProfile(rig.cluster(), node), "1g.10gb"), 14);

  const PodId three = rig.Arrive("three", ViewRig::Mig("3g.40gb"));
  rig.Bind(three, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  EXPECT_EQ(RoomFor(rig.cluster(), shape, node), (PodRoom{1, true}));
  EXPECT_EQ(MoreOf(RoomByProfile(rig.cluster(), node), "7g.80gb"), 1);

  // Two instances need both GPUs, of which one is partly taken.
  PodShape pair = ViewRig::Mig("7g.80gb");
  pair.request.mig[0].second = 2;
  const PodId two = rig.Arrive("two", pair);
  EXPECT_EQ(RoomFor(rig.cluster(), rig.cluster().pod_shape_id(two), node), (PodRoom{1, false}));
  EXPECT_EQ(RoomFor(rig.cluster(), rig.cluster().pod_shape_id(two), NodeId(size_t{1})),
            (PodRoom{2, true}));

  const PodId halves = rig.Arrive("halves", ViewRig::Gpus(2, 500));
  EXPECT_EQ(RoomFor(rig.cluster(), rig.cluster().pod_shape_id(halves), node), (PodRoom{1, false}));

  rig.Cordon(0);
  EXPECT_EQ(RoomFor(rig.cluster(), shape, node), (PodRoom{0, false}));
  EXPECT_EQ(MoreOf(RoomByProfile(rig.cluster(), node), "1g.10gb"), 0);
}

TEST(NodeSlicesTest, AStaticLayoutServesItsIdleInstancesOnly) {
  ViewRig rig;
  const NodeId node(size_t{0});
  const auto placement = [&](const char* profile, int32_t start) {
    return uint64_t{1} << rig.Instance(profile, 0, start)[0].placement;
  };
  const uint64_t layout =
      placement("3g.40gb", 0) | placement("1g.10gb", 4) | placement("1g.10gb", 5);
  // The first GPU of each node is laid out.
  const auto layouts = [&](NodeId, size_t gpu) -> std::optional<uint64_t> {
    return gpu == 0 ? layout : 0;
  };
  // Slices 6 and 7 are in no instance.
  EXPECT_EQ(SlicesOf(rig.cluster(), node, layouts), (SliceCounts{16, 0, 2}));
  const PodId three = rig.Arrive("three", ViewRig::Mig("3g.40gb"));
  rig.Bind(three, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  EXPECT_EQ(SlicesOf(rig.cluster(), node, layouts), (SliceCounts{16, 4, 2}));
  EXPECT_EQ(SlicesOf(rig.cluster(), node), (SliceCounts{16, 4, 0}));

  const std::vector<ProfileRoom> rooms = RoomByProfile(rig.cluster(), node, layouts);
  EXPECT_EQ(MoreOf(rooms, "1g.10gb"), 2 + 7);
  EXPECT_EQ(MoreOf(rooms, "3g.40gb"), 2);
  EXPECT_EQ(MoreOf(rooms, "2g.20gb"), 3);
  const auto room_for = [&](const char* name, const PodShape& shape, uint32_t n) {
    const PodId pod = rig.Arrive(name, shape);
    return RoomFor(rig.cluster(), rig.cluster().pod_shape_id(pod), NodeId(n), layouts);
  };
  EXPECT_EQ(room_for("two", ViewRig::Mig("2g.20gb"), 0), (PodRoom{1, true}));
  EXPECT_EQ(room_for("one", ViewRig::Mig("1g.10gb"), 0), (PodRoom{2, true}));
  PodShape ten = ViewRig::Mig("1g.10gb");
  ten.request.mig[0].second = 10;
  EXPECT_EQ(room_for("ten", ten, 0), (PodRoom{2, false}));
  ten.request.mig[0].second = 9;
  EXPECT_EQ(room_for("nine", ten, 0), (PodRoom{2, true}));
  // A GPU in instances is no whole one.
  EXPECT_EQ(room_for("gpus", ViewRig::Gpus(2), 1), (PodRoom{1, false}));
}

TEST(NodeSlicesTest, AnInstanceOutsideTheLayoutBlocksTheGpu) {
  ViewRig rig;
  const NodeId node(size_t{0});
  const uint64_t layout = uint64_t{1} << rig.Instance("2g.20gb", 0, 4)[0].placement;
  const auto layouts = [&](NodeId, size_t) -> std::optional<uint64_t> { return layout; };
  const PodId three = rig.Arrive("three", ViewRig::Mig("3g.40gb"));
  rig.Bind(three, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  // The other GPU strands all but its instance.
  EXPECT_EQ(SlicesOf(rig.cluster(), node, layouts), (SliceCounts{16, 4, 6}));
  EXPECT_EQ(MoreOf(RoomByProfile(rig.cluster(), node, layouts), "2g.20gb"), 1);
}

}  // namespace node_slices_test
}  // namespace drasim
