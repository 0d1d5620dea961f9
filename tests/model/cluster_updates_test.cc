// ClusterState: nodes and pods of a live cluster, which change and may hold more than they should.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/state_io.h"

namespace drasim {
namespace {

struct LiveCluster {
  GpuModelTable models;
  ShapeTable shapes{&models};
  ClusterState cluster{&models, &shapes};

  NodeId Add(const NodeSpec& spec) {
    const absl::StatusOr<NodeId> id = cluster.AddNode(spec);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.ok() ? *id : NodeId();
  }
  PodId AddPod(const PodShape& shape) {
    return cluster.AddPod("pod", shapes.Intern(shape), 0, SimTime());
  }
  void ExpectConsistent() {
    const absl::Status status = cluster.CheckInvariants();
    EXPECT_TRUE(status.ok()) << status;
  }
};

NodeSpec SmallNode(const std::string& name, const std::string& zone = "") {
  NodeSpec spec;
  spec.name = name;
  spec.cpu_milli = 1000;
  spec.memory_bytes = 2000;
  spec.pods = 3;
  if (!zone.empty()) spec.labels = {{"topology.kubernetes.io/zone", zone}};
  return spec;
}

PodShape Asking(int64_t cpu_milli, int64_t memory_bytes) {
  PodShape shape;
  shape.request.cpu_milli = cpu_milli;
  shape.request.memory_bytes = memory_bytes;
  return shape;
}

TEST(ClusterUpdatesTest, AdoptedPodsMayOvercommitTheirNode) {
  LiveCluster live;
  const NodeId node = live.Add(SmallNode("n"));
  const PodId large = live.AddPod(Asking(800, 100));
  const PodId larger = live.AddPod(Asking(900, 100));
  live.cluster.Adopt(large, node);
  live.cluster.Adopt(larger, node);
  EXPECT_EQ(live.cluster.pod_phase(larger), PodPhase::kBound);
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, -700);
  // A pod that requests CPU does not fit; one without a CPU request fits.
  EXPECT_FALSE(live.cluster.CanPlace(live.shapes.Intern(Asking(1, 0)), node, DeviceSet()));
  EXPECT_TRUE(live.cluster.CanPlace(live.shapes.Intern(Asking(0, 5)), node, DeviceSet()));
  live.ExpectConsistent();

  live.cluster.BeginWhatIf();
  live.cluster.Evict(large);
  live.cluster.PutBack(large, node, DeviceSet(), {}, /*bound=*/true);
  live.cluster.Evict(larger);
  const PodId third = live.AddPod(Asking(5000, 100));
  live.cluster.Adopt(third, node);
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, -4800);
  live.cluster.Rollback();
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, -700);
  EXPECT_EQ(live.cluster.pod_phase(third), PodPhase::kPending);
  live.ExpectConsistent();

  StateWriter out;
  live.cluster.Save(out);
  LiveCluster again;
  again.Add(SmallNode("n"));
  again.shapes = live.shapes;
  StateReader in(out.bytes());
  ASSERT_TRUE(again.cluster.Load(in).ok()) << in.status();
  EXPECT_EQ(again.cluster.node(node).cpu_milli_idle, -700);
  again.ExpectConsistent();

  live.cluster.Finish(large);
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, 100);
  live.ExpectConsistent();
}

TEST(ClusterUpdatesTest, AnUpdatedNodeKeepsItsPods) {
  LiveCluster live;
  const NodeId node = live.Add(SmallNode("n"));
  PodShape shape = Asking(600, 100);
  shape.request.extended = {{"example.com/new", 2}};
  live.cluster.Adopt(live.AddPod(shape), node);
  EXPECT_EQ(live.cluster.LackingExtended(live.shapes.Intern(shape), node), 1u);

  NodeSpec updated = SmallNode("n", "a");
  updated.cpu_milli = 500;
  updated.pods = 1;
  updated.unschedulable = true;
  updated.taints = {{"t", "", "NoSchedule"}};
  updated.extended = {{"example.com/new", 3}};
  const uint64_t version = live.cluster.nodes_version();
  ASSERT_TRUE(live.cluster.UpdateNode(node, updated).ok());
  EXPECT_NE(live.cluster.nodes_version(), version);
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, -100);
  EXPECT_EQ(live.cluster.node(node).pods_idle, 0);
  EXPECT_FALSE(live.cluster.node(node).schedulable);
  EXPECT_TRUE(live.cluster.node(node).has_taints);
  EXPECT_EQ(live.cluster.cordoned_nodes(), 1u);
  EXPECT_EQ(live.cluster.tainted_nodes(), 1u);
  EXPECT_EQ(live.cluster.totals().cpu_milli_capacity, 500);
  EXPECT_EQ(live.cluster.node_cpu_milli_max(), 500);
  EXPECT_EQ(live.cluster.node_spec(node).labels, updated.labels);
  // The pod that is there holds two of the three.
  EXPECT_EQ(live.cluster.extended_capacity(node, 0), 3);
  EXPECT_EQ(live.cluster.extended_idle(node, 0), 1);
  live.ExpectConsistent();

  updated.extended.clear();
  updated.unschedulable = false;
  updated.taints.clear();
  ASSERT_TRUE(live.cluster.UpdateNode(node, updated).ok());
  EXPECT_EQ(live.cluster.extended_idle(node, 0), -2);
  EXPECT_EQ(live.cluster.cordoned_nodes(), 0u);
  EXPECT_EQ(live.cluster.tainted_nodes(), 0u);
  live.ExpectConsistent();

  updated.cpu_milli = -1;
  EXPECT_EQ(live.cluster.UpdateNode(node, updated).code(), absl::StatusCode::kInvalidArgument);
  live.ExpectConsistent();
}

TEST(ClusterUpdatesTest, ANodeThatComesLaterMayBringAResource) {
  LiveCluster live;
  const NodeId first = live.Add(SmallNode("a"));
  PodShape shape = Asking(1, 1);
  shape.request.extended = {{"example.com/x", 1}};
  shape.constraints.group = "g";
  shape.constraints.max_per_node = 1;
  live.cluster.Adopt(live.AddPod(shape), first);
  NodeSpec spec = SmallNode("b");
  spec.extended = {{"example.com/x", 4}};
  const NodeId second = live.Add(spec);
  EXPECT_EQ(live.cluster.extended_idle(first, 0), -1);
  EXPECT_EQ(live.cluster.extended_idle(second, 0), 4);
  EXPECT_EQ(live.cluster.LackingExtended(live.shapes.Intern(shape), second), 0u);
  EXPECT_TRUE(live.cluster.GroupHasRoom(live.shapes.Intern(shape), second));
  EXPECT_FALSE(live.cluster.GroupHasRoom(live.shapes.Intern(shape), first));
  live.ExpectConsistent();
}

TEST(ClusterUpdatesTest, ANewShapeMovesThePodToTheEndOfItsNode) {
  LiveCluster live;
  const NodeId node = live.Add(SmallNode("n"));
  std::vector<PodId> pods;
  for (int i = 0; i < 3; ++i) {
    pods.push_back(live.AddPod(Asking(100, 100)));
    live.cluster.Adopt(pods.back(), node);
  }
  live.cluster.SetPodShape(pods[0], live.shapes.Intern(Asking(200, 50)));
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, 600);
  EXPECT_EQ(live.cluster.node(node).memory_bytes_idle, 1750);
  const absl::Span<const PodId> order = live.cluster.pods_on(node);
  EXPECT_EQ(std::vector<PodId>(order.begin(), order.end()),
            (std::vector<PodId>{pods[2], pods[1], pods[0]}));
  const PodId pending = live.AddPod(Asking(1, 1));
  live.cluster.SetPodShape(pending, live.shapes.Intern(Asking(300, 1)));
  EXPECT_EQ(live.cluster.pod_shape(pending).request.cpu_milli, 300);
  EXPECT_EQ(live.cluster.node(node).cpu_milli_idle, 600);
  live.ExpectConsistent();
}

TEST(ClusterUpdatesTest, ScoresSeeAssumedAmounts) {
  LiveCluster live;
  const NodeId node = live.Add(SmallNode("n"));
  live.cluster.Adopt(live.AddPod(Asking(0, 0)), node);
  EXPECT_EQ(live.cluster.scored_cpu_milli(node), 100);
  EXPECT_EQ(live.cluster.scored_memory_bytes(node), int64_t{200} << 20);
  PodShape shape = Asking(7, 9);
  live.cluster.Adopt(live.AddPod(shape), node);
  EXPECT_EQ(live.cluster.scored_cpu_milli(node), 107);
  shape.scored.given = true;
  shape.scored.cpu_milli = 1;
  shape.scored.resident_cpu_milli = 20;
  shape.scored.resident_memory_bytes = 0;
  const PodId given = live.AddPod(shape);
  live.cluster.Adopt(given, node);
  EXPECT_EQ(live.cluster.scored_cpu_milli(node), 127);
  EXPECT_EQ(live.cluster.scored_memory_bytes(node), (int64_t{200} << 20) + 9);
  live.cluster.Delete(given);
  EXPECT_EQ(live.cluster.scored_cpu_milli(node), 107);
  live.ExpectConsistent();
}

TEST(ClusterUpdatesTest, NodesAreFoundWhileTheyAreThere) {
  LiveCluster live;
  const NodeId node = live.Add(SmallNode("n"));
  EXPECT_EQ(live.cluster.FindNode("n"), node);
  EXPECT_FALSE(live.cluster.FindNode("m").valid());
  live.cluster.SetAvailable(node, false);
  EXPECT_FALSE(live.cluster.FindNode("n").valid());
  EXPECT_TRUE(live.cluster.node_order().empty());
}

TEST(ClusterUpdatesTest, CheckpointsKeepTheOrderOfNodesAndStartTimes) {
  LiveCluster live;
  for (const char* name : {"a", "b", "c"}) live.Add(SmallNode(name, "z"));
  live.cluster.SetAvailable(NodeId(0u), false);
  live.cluster.SetAvailable(NodeId(0u), true);
  const PodId pod = live.AddPod(Asking(1, 1));
  StateWriter plain;
  live.cluster.Save(plain);
  const absl::Span<const NodeId> order = live.cluster.node_order();
  EXPECT_EQ(std::vector<NodeId>(order.begin(), order.end()),
            (std::vector<NodeId>{NodeId(1u), NodeId(2u), NodeId(0u)}));
  EXPECT_EQ(live.cluster.pod_start(pod), SimTime::Max());
  live.cluster.SetPodStart(pod, SimTime(5));
  StateWriter out;
  live.cluster.Save(out);
  EXPECT_NE(out.bytes(), plain.bytes());

  LiveCluster again;
  for (const char* name : {"a", "b", "c"}) again.Add(SmallNode(name, "z"));
  again.shapes = live.shapes;
  StateReader in(out.bytes());
  ASSERT_TRUE(again.cluster.Load(in).ok()) << in.status();
  EXPECT_EQ(again.cluster.node_order(), order);
  EXPECT_EQ(again.cluster.pod_start(pod), SimTime(5));
  StateWriter copy;
  again.cluster.Save(copy);
  EXPECT_EQ(copy.bytes(), out.bytes());
}

TEST(ClusterUpdatesTest, OtherObjectsHaveAVersion) {
  LiveCluster live;
  const uint64_t before = live.cluster.objects_version();
  ClusterObjects objects;
  objects.namespaces.push_back({"default", {}});
  live.cluster.SetObjects(objects);
  EXPECT_EQ(live.cluster.objects(), objects);
  EXPECT_GT(live.cluster.objects_version(), before);
  const uint64_t set = live.cluster.objects_version();
  live.cluster.ChangeObjects().namespaces.clear();
  EXPECT_TRUE(live.cluster.objects().namespaces.empty());
  EXPECT_GT(live.cluster.objects_version(), set);
}

}  // namespace
}  // namespace drasim
