// The objects that scheduler extenders get of a simulation: those of manifests as they were given,
// with what the run has made of them; others are made.
#include "sim/run/extender_objects.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "sim/run/given_objects.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace extender_objects_test {

NodeSpec NodeOfName(const std::string& name) {
  NodeSpec spec = TestNode(name, 4000, 0);
  spec.labels = {{"zone", "a"}};
  spec.extended = {{"example.com/nic", 2}};
  return spec;
}

TEST(RunObjectsTest, ManifestsAreGivenAsTheyWere) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(NodeOfName("n1"));
  GivenObjects given;
  proto::kube::Node manifest;
  manifest.mutable_metadata()->set_name("n1");
  (*manifest.mutable_metadata()->mutable_annotations())["rack"] = "7";
  (*manifest.mutable_status()->mutable_capacity())["example.com/nic"] = "3";
  given.nodes["n1"] = std::make_shared<const proto::kube::Node>(manifest);
  proto::kube::Pod pod_manifest;
  pod_manifest.mutable_metadata()->set_name("shared");
  (*pod_manifest.mutable_metadata()->mutable_annotations())["team"] = "x";
  pod_manifest.mutable_spec()->add_containers()->set_image("web:1");
  pod_manifest.mutable_spec()->add_volumes()->set_name("data");
  given.pods["shop/web-3"] = std::make_shared<const proto::kube::Pod>(pod_manifest);
  PodShape shape = TestShape(1000, 0);
  shape.identity.scheduler_name = "default-scheduler";
  const PodId pod =
      builder.cluster().AddPod("shop/web-3", builder.AddShape(shape), /*priority=*/5, SimTime());

  const RunObjects objects(&builder.cluster(), {&given});
  const proto::kube::Pod& waiting = objects.PodObject(pod);
  EXPECT_EQ(waiting.metadata().namespace_(), "shop");
  EXPECT_EQ(waiting.metadata().name(), "web-3");
  EXPECT_EQ(waiting.metadata().uid(), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(waiting.metadata().annotations().at("team"), "x");
  EXPECT_EQ(waiting.spec().containers(0).image(), "web:1");
  EXPECT_EQ(waiting.spec().volumes(0).name(), "data");
  EXPECT_EQ(waiting.spec().priority(), 5);
  EXPECT_EQ(waiting.spec().node_name(), "");
  builder.cluster().Adopt(pod, node);
  EXPECT_EQ(objects.PodObject(pod).spec().node_name(), "n1");

  const proto::kube::Node& shown = objects.NodeObject(node);
  EXPECT_EQ(shown.metadata().annotations().at("rack"), "7");
  EXPECT_EQ(shown.status().allocatable().at("example.com/nic"), "2");
  EXPECT_EQ(shown.status().capacity().at("example.com/nic"), "3");
  builder.cluster().SetSchedulable(node, false);
  builder.cluster().SetExtendedCapacity(node, 0, 0);
  EXPECT_TRUE(objects.NodeObject(node).spec().unschedulable());
  EXPECT_EQ(objects.NodeObject(node).status().allocatable().count("example.com/nic"), 0u);
}

TEST(RunObjectsTest, OthersAreMade) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(NodeOfName("Node_1"));
  PodShape shape = TestShape(1500, 2);
  const PodId pod = builder.cluster().AddPod("job-1", builder.AddShape(shape), 0, SimTime());
  const RunObjects objects(&builder.cluster(), {});
  const proto::kube::Pod& made = objects.PodObject(pod);
  EXPECT_EQ(made.metadata().namespace_(), "default");
  EXPECT_EQ(made.metadata().name(), "job-1");
  EXPECT_EQ(made.spec().containers(0).resources().requests().at("cpu"), "1500m");
  EXPECT_EQ(made.spec().containers(0).resources().requests().at("nvidia.com/gpu"), "2");
  // The name by which the run knows the node, valid in Kubernetes or not.
  EXPECT_EQ(objects.NodeObject(node).metadata().name(), "Node_1");
  EXPECT_EQ(objects.NodeObject(node).metadata().labels().at("zone"), "a");
  EXPECT_EQ(objects.NodeObject(node).status().capacity().at("example.com/nic"), "2");
}

}  // namespace extender_objects_test
}  // namespace drasim
