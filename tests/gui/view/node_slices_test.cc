#include "gui/view/node_slices.h"

#include <cstdint>
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

}  // namespace node_slices_test
}  // namespace drasim
