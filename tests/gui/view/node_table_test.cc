#include "gui/view/node_table.h"

#include <cstddef>

#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace node_table_test {

using view::NodeTable;

TEST(NodeTableTest, ShowsTheNodesAtOneMoment) {
  ViewRig rig;
  const PodId three = rig.Arrive("three", ViewRig::Mig("3g.40gb"));
  rig.Bind(three, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  rig.Cordon(1);
  const NodeTable table(rig.cluster());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Shown(0, NodeTable::kName), "node-a");
  EXPECT_EQ(table.Shown(0, NodeTable::kState), "ready");
  EXPECT_EQ(table.Shown(1, NodeTable::kState), "cordoned");
  EXPECT_EQ(table.Shown(0, NodeTable::kAllocated), "0.50 of 2.00");
  EXPECT_EQ(table.Exact(0, NodeTable::kAllocated), "0.5");
  EXPECT_EQ(table.Shown(0, NodeTable::kHeld), "4 of 16");
  EXPECT_EQ(table.Shown(0, NodeTable::kCpu), "1.0 of 8.0");
  EXPECT_EQ(table.Number(0, NodeTable::kPods), 1);
  EXPECT_EQ(table.columns().size(), size_t{NodeTable::kColumns});
}

}  // namespace node_table_test
}  // namespace drasim
