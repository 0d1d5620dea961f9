#include "policies/plugins/node_name.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

PodShape PodNaming(const std::string& node) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.node_name = node;
  return shape;
}

TEST(NodeNameTest, AllowsTheNamedNodeAlone) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("a", 1000, 0));
  const NodeId b = builder.AddNode(TestNode("b", 1000, 0));
  const NodeName plugin;
  EXPECT_EQ(FilterVerdicts(plugin, builder, PodNaming("")), (std::vector<int>{0, 0}));
  EXPECT_EQ(FilterVerdicts(plugin, builder, PodNaming("a")), (std::vector<int>{0, 1}));
  EXPECT_EQ(FilterVerdicts(plugin, builder, PodNaming("gone")), (std::vector<int>{1, 1}));
  EXPECT_EQ(FilterTexts(plugin, builder, PodNaming("a"), b),
            std::vector<std::string>{"node(s) didn't match the requested node name"});
  EXPECT_FALSE(plugin.IsResolvable({}, builder.cluster(), b, 1));
}

TEST(NodeNameTest, NewNodesAndTaintsWakeItsPods) {
  ClusterBuilder builder;
  const NodeSpec node = TestNode("a", 1000, 0);
  const NodeId id = builder.AddNode(node);
  const NodeName plugin;
  EXPECT_TRUE(Wakes(plugin, builder, PodNaming("b"), NodeChange(kNodeAdded, id, nullptr)));
  EXPECT_TRUE(Wakes(plugin, builder, PodNaming("b"), NodeChange(kNodeTaints, id, &node)));
  EXPECT_FALSE(Wakes(plugin, builder, PodNaming("b"), NodeChange(kNodeLabels, id, &node)));
  EXPECT_FALSE(Wakes(plugin, builder, PodNaming("b"), {.event = kPodRemoved, .node = id}));
}

}  // namespace
}  // namespace drasim
