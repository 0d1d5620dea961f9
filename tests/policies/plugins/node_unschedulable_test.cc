// Hints of NodeUnschedulable; tests/policies/scores_test.cc has its verdicts.
#include "policies/plugins/node_unschedulable.h"

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

TEST(NodeUnschedulableTest, ANodeThatIsOrBecomesSchedulableWakesThePod) {
  struct Row {
    ClusterEvent event;
    bool is_new;
    bool was_cordoned;
    bool is_cordoned;
    bool wakes;
  };
  for (const Row& row :
       {Row{kNodeAdded, true, false, false, true}, Row{kNodeAdded, true, false, true, false},
        Row{kNodeSchedulable, false, true, false, true}, Row{kNodeTaints, false, true, true, false},
        // Other taints of a node that was schedulable before.
        Row{kNodeTaints, false, false, false, false},
        Row{kNodeAllocatable, false, true, false, false},
        Row{kNodeLabels, false, true, false, false}}) {
    ClusterBuilder builder;
    NodeSpec now = TestNode("n", 9, 0);
    NodeSpec before = now;
    before.unschedulable = row.was_cordoned;
    now.unschedulable = row.is_cordoned;
    const NodeId node = builder.AddNode(now);
    EXPECT_EQ(Wakes(NodeUnschedulable(), builder, TestShape(1, 0),
                    NodeChange(row.event, node, row.is_new ? nullptr : &before)),
              row.wakes)
        << row.event << row.is_new << row.was_cordoned << row.is_cordoned;
  }
}

TEST(NodeUnschedulableTest, ThePodsOwnTolerationWakesIt) {
  ClusterBuilder builder;
  PodShape tolerant = TestShape(1, 0);
  tolerant.constraints.tolerations = {{"node.kubernetes.io/unschedulable", "", "", true}};
  PodShape other = TestShape(1, 0);
  other.constraints.tolerations = {{"gpu", "", "", true}};
  ClusterChange change{.event = kPodTolerations, .pod = &tolerant, .is_waiting_pod = true};
  EXPECT_TRUE(Wakes(NodeUnschedulable(), builder, tolerant, change));
  change.is_waiting_pod = false;
  EXPECT_FALSE(Wakes(NodeUnschedulable(), builder, tolerant, change));
  change.is_waiting_pod = true;
  change.pod = &other;
  EXPECT_FALSE(Wakes(NodeUnschedulable(), builder, other, change));
}

TEST(NodeUnschedulableTest, WithoutDetailsEveryNodeWakesThePod) {
  ClusterBuilder builder;
  NodeSpec cordoned = TestNode("n", 9, 0);
  cordoned.unschedulable = true;
  const NodeId node = builder.AddNode(cordoned);
  const PodContext pod = builder.Context(builder.AddShape(TestShape(1, 0)));
  EXPECT_TRUE(
      Requeues(NodeUnschedulable(), NodeChange(kNodeAdded, node, nullptr), pod, builder.cluster()));
}

}  // namespace
}  // namespace drasim
