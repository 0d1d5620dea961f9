#include "policies/plugins/node_ports.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/pod_constraints.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

using Ports = std::vector<HostPort>;

PodShape PodOnPorts(const Ports& ports) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.host_ports = ports;
  return shape;
}

const char* const kAny = "0.0.0.0";

TEST(NodePortsTest, PortsConflictByProtocolNumberAndAddress) {
  struct Row {
    const char* what;
    Ports wanted;
    Ports taken;
    int verdict;
  };
  const std::vector<Row> rows = {
      {"nothing taken", {{kAny, "TCP", 80}}, {}, 0},
      {"same", {{kAny, "TCP", 80}}, {{kAny, "TCP", 80}}, 1},
      {"other number", {{kAny, "TCP", 80}}, {{kAny, "TCP", 81}}, 0},
      {"other protocol", {{kAny, "UDP", 80}}, {{kAny, "TCP", 80}}, 0},
      {"other address", {{"10.0.0.1", "TCP", 80}}, {{"10.0.0.2", "TCP", 80}}, 0},
      {"same address", {{"10.0.0.1", "TCP", 80}}, {{"10.0.0.1", "TCP", 80}}, 1},
      {"all addresses wanted", {{kAny, "TCP", 80}}, {{"10.0.0.1", "TCP", 80}}, 1},
      {"all addresses taken", {{"10.0.0.1", "TCP", 80}}, {{kAny, "TCP", 80}}, 1},
      {"one of several",
       {{kAny, "TCP", 1}, {"10.0.0.1", "UDP", 2}},
       {{kAny, "SCTP", 1}, {kAny, "UDP", 2}},
       1},
      {"none of several", {{kAny, "TCP", 1}, {kAny, "UDP", 2}}, {{kAny, "TCP", 2}}, 0},
  };
  for (const Row& row : rows) {
    ClusterBuilder builder;
    builder.Place(builder.AddShape(PodOnPorts(row.taken)), builder.AddNode(TestNode("n", 9, 0)));
    EXPECT_EQ(FilterVerdicts(NodePorts(), builder, PodOnPorts(row.wanted)),
              std::vector<int>{row.verdict})
        << row.what;
  }
}

TEST(NodePortsTest, SaysSoInKubernetesWords) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(TestNode("n", 9, 0));
  const PodShape pod = PodOnPorts({{kAny, "TCP", 80}});
  builder.Place(builder.AddShape(pod), node);
  EXPECT_EQ(FilterTexts(NodePorts(), builder, pod, node),
            std::vector<std::string>{"node(s) didn't have free ports for the requested pod ports"});
  EXPECT_TRUE(NodePorts().IsResolvable({}, builder.cluster(), node, 1));
}

TEST(NodePortsTest, SkipsPodsWithoutHostPorts) {
  ClusterBuilder builder;
  NodePorts plugin;
  EXPECT_EQ(PreFilterResult(plugin, builder, PodOnPorts({})).code, StepCode::kSkip);
  EXPECT_EQ(PreFilterResult(plugin, builder, PodOnPorts({{kAny, "TCP", 80}})).code,
            StepCode::kSuccess);
  EXPECT_EQ(
      PreFilterResult(plugin, builder, PodOnPorts({{kAny, "TCP", 80}, {kAny, "TCP", 80}})).code,
      StepCode::kSuccess);
}

TEST(NodePortsTest, ALeavingPodThatHeldThePortWakesThePod) {
  ClusterBuilder builder;
  const NodeSpec spec = TestNode("n", 9, 0);
  const NodeId node = builder.AddNode(spec);
  const NodePorts plugin;
  const PodShape pod = PodOnPorts({{"10.0.0.1", "TCP", 80}});
  const PodShape holder = PodOnPorts({{kAny, "TCP", 79}, {kAny, "TCP", 80}});
  const PodShape other = PodOnPorts({{kAny, "UDP", 80}});
  ClusterChange left{.event = kPodRemoved, .node = node, .pod = &holder};
  EXPECT_TRUE(Wakes(plugin, builder, pod, left));
  left.pod = &other;
  EXPECT_FALSE(Wakes(plugin, builder, pod, left));
  // A pod without a node held nothing.
  EXPECT_FALSE(Wakes(plugin, builder, pod, {.event = kPodRemoved, .pod = &holder}));
  EXPECT_TRUE(Wakes(plugin, builder, pod, NodeChange(kNodeAdded, node, nullptr)));
  EXPECT_TRUE(Wakes(plugin, builder, pod, NodeChange(kNodeTaints, node, &spec)));
  EXPECT_FALSE(Wakes(plugin, builder, pod, NodeChange(kNodeAllocatable, node, &spec)));
}

}  // namespace
}  // namespace drasim
