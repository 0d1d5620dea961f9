#include "gui/view/inspect_node.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace inspect_node_test {

using view::NodeInspection;
using view::NodeInspector;
using view::NodeSlot;

TEST(InspectNodeTest, SlotsOverTime) {
  ViewRig rig;
  NodeInspector inspector{NodeId(size_t{0})};
  rig.Follow([&](const Record& record) { inspector.Add(record, rig.cluster()); });
  const PodId mig = rig.Arrive("mig", ViewRig::Mig("3g.40gb"));
  rig.Bind(mig, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  rig.At(1);
  const PodId first = rig.Arrive("first", ViewRig::Gpus(1, 300));
  rig.Bind(first, 0, DeviceSet::Of(1));
  const PodId second = rig.Arrive("second", ViewRig::Gpus(1, 400));
  rig.Bind(second, 0, DeviceSet::Of(1));
  rig.At(2);
  rig.Finish(first);
  const PodId third = rig.Arrive("third", ViewRig::Gpus(1, 300));
  rig.Bind(third, 0, DeviceSet::Of(1));
  const PodId elsewhere = rig.Arrive("elsewhere", ViewRig::Gpus(1));
  rig.Bind(elsewhere, 1, DeviceSet::Of(0));
  rig.At(3);
  rig.Cordon(0);

  const NodeInspection node = inspector.Inspect(SimTime(4 * kSecondNs), rig.cluster());
  std::vector<std::string> slots;
  for (const NodeSlot& slot : node.slots) {
    slots.push_back(absl::StrCat(slot.pod_name, " GPU ", int{slot.part.device}, " ", slot.offset,
                                 "+", slot.part.size, "/", slot.part.whole, " ",
                                 slot.from.seconds(), "-", slot.to.seconds(),
                                 slot.open ? " open" : ""));
  }
  EXPECT_EQ(slots, (std::vector<std::string>{
                       "mig GPU 0 4+4/8 0-4 open", "first GPU 1 0+300/1000 1-2",
                       "second GPU 1 300+400/1000 1-4 open", "third GPU 1 0+300/1000 2-4 open"}));
  ASSERT_EQ(node.events.size(), 1u);
  EXPECT_EQ(node.events[0].text, "cordoned");
  ASSERT_EQ(node.pods.size(), 3u);
  EXPECT_EQ(node.pods[0].devices, "0:3g.40gb@4");
  EXPECT_EQ(node.figures.pods, 3);
}

}  // namespace inspect_node_test
}  // namespace drasim
