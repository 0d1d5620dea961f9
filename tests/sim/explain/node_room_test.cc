// Shortfalls on nodes with several GPU models: only GPUs of models that the pod accepts count.
#include "sim/explain/node_room.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace node_room_test {

using Lacks = std::vector<Shortfall>;

NodeSpec MixedNode(const std::string& name, std::vector<std::string> models) {
  NodeSpec node = TestNode(name, 64'000, static_cast<int32_t>(models.size()), "");
  node.gpu_models = std::move(models);
  return node;
}

// A pod of the shape that waits: its instances are resolved then.
ShapeId Waiting(ClusterBuilder& builder, const PodShape& shape) {
  const ShapeId id = builder.AddShape(shape);
  builder.cluster().AddPod("waiting", id, 0, SimTime());
  return id;
}

TEST(NodeRoomTest, CountsGpusOfAcceptedModels) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MixedNode("mixed", {"V100", "T4", "T4"}));
  const ShapeId shape = Waiting(builder, TestShape(1000, 2, 1000, "T4"));
  EXPECT_EQ(NodeRoom(builder.cluster(), node, shape).Lacks(), Lacks());
  const PodId pod =
      builder.Place(builder.AddShape(TestShape(1000, 1, 300)), node, DeviceSet::Of(2));
  NodeRoom room(builder.cluster(), node, shape);
  EXPECT_EQ(room.Lacks(), (Lacks{{LackKind::kGpus, "GPU", 2, 1, 1, false}}));
  EXPECT_FALSE(room.Take());
  room.Release(pod);
  EXPECT_TRUE(room.Take());
  EXPECT_EQ(room.Lacks(), (Lacks{{LackKind::kGpus, "GPU", 2, 0, 0, false}}));
}

TEST(NodeRoomTest, LooksForInstancesOnTheModelThatHasThem) {
  const MigTable a100 = TestTable(TestA100());
  const MigTable a30 = TestTable(TestA30());
  ClusterBuilder builder;
  builder.models().SetMig(*builder.models().Intern("A100"), &a100);
  builder.models().SetMig(*builder.models().Intern("A30"), &a30);
  const NodeId node = builder.AddNode(MixedNode("mixed", {"A100", "T4", "A30"}));
  PodShape shape = TestShape(1000, 0);
  shape.request.mig = {{"2g.12gb", 2}};
  NodeRoom room(builder.cluster(), node, Waiting(builder, shape));
  EXPECT_EQ(room.Lacks(), Lacks());
  EXPECT_TRUE(room.Take());
  EXPECT_EQ(room.Lacks(), (Lacks{{LackKind::kMig, "2g.12gb", 2, 0, 0, false}}));
  // No model has both profiles.
  shape.request.mig = {{"1g.10gb", 1}, {"1g.6gb", 1}};
  EXPECT_EQ(NodeRoom(builder.cluster(), node, Waiting(builder, shape)).Lacks(),
            (Lacks{{LackKind::kMig, "1g.10gb", 1, 0, 0, false},
                   {LackKind::kMig, "1g.6gb", 1, 0, 0, false}}));
}

}  // namespace node_room_test
}  // namespace drasim
