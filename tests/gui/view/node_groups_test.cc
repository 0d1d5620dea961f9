#include "gui/view/node_groups.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/shape_table.h"

namespace drasim {
namespace node_groups_test {

using view::LabelKeysOf;
using view::LabelOf;
using view::PoolOf;

NodeSpec NodeNamed(const std::string& name,
                   std::vector<std::pair<std::string, std::string>> labels = {}) {
  NodeSpec node;
  node.name = name;
  node.cpu_milli = 1000;
  node.labels = std::move(labels);
  return node;
}

TEST(NodeGroupsTest, PoolsOfClouds) {
  for (const char* key : {"cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup",
                          "alpha.eksctl.io/nodegroup-name", "kubernetes.azure.com/agentpool",
                          "agentpool", "karpenter.sh/nodepool", "doks.digitalocean.com/node-pool",
                          "node-pool", "nodepool", "pool"}) {
    EXPECT_EQ(PoolOf(NodeNamed("node-1", {{"a", "x"}, {key, "big gpus"}})), "big gpus") << key;
  }
  // The more specific label counts, and an empty one does not.
  EXPECT_EQ(PoolOf(NodeNamed("n", {{"cloud.google.com/gke-nodepool", "gke"}, {"pool", "own"}})),
            "gke");
  EXPECT_EQ(PoolOf(NodeNamed("n-1", {{"cloud.google.com/gke-nodepool", ""}, {"pool", "own"}})),
            "own");
  EXPECT_EQ(PoolOf(NodeNamed("n-1", {{"pool", ""}})), "n");
}

TEST(NodeGroupsTest, PrefixesOfNames) {
  EXPECT_EQ(PoolOf(NodeNamed("node-000017")), "node");
  EXPECT_EQ(PoolOf(NodeNamed("node17")), "node");
  EXPECT_EQ(PoolOf(NodeNamed("gpu_pool_3")), "gpu_pool");
  EXPECT_EQ(PoolOf(NodeNamed("gpu-a100-17")), "gpu-a100");
  EXPECT_EQ(PoolOf(NodeNamed("ip-10-0-3-4.ec2.internal")), "ip");
  EXPECT_EQ(PoolOf(NodeNamed("master")), "master");
  EXPECT_EQ(PoolOf(NodeNamed("node-a")), "node-a");
  // Nothing but numbers is a name of its own.
  EXPECT_EQ(PoolOf(NodeNamed("42")), "42");
  EXPECT_EQ(PoolOf(NodeNamed("10-2")), "10");
}

TEST(NodeGroupsTest, KeysOfLabelsAreSortedAndUnique) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  EXPECT_TRUE(LabelKeysOf(cluster).empty());
  DRASIM_CHECK(cluster.AddNode(NodeNamed("a", {{"rack", "7"}, {"zone", "x"}})).ok());
  DRASIM_CHECK(cluster.AddNode(NodeNamed("b", {{"disk", "ssd"}, {"zone", "y"}})).ok());
  EXPECT_EQ(LabelKeysOf(cluster), (std::vector<std::string>{"disk", "rack", "zone"}));
  EXPECT_EQ(LabelOf(cluster.node_spec(NodeId(1U)), "zone"), "y");
  EXPECT_EQ(LabelOf(cluster.node_spec(NodeId(1U)), "rack"), "");
}

}  // namespace node_groups_test
}  // namespace drasim
