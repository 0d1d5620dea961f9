// The three hashes against values computed from the published description of their lines.
#include "sim/record/order_hashes.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/hash.h"
#include "tests/sim/record/record_script.h"

namespace drasim {
namespace order_hashes_test {

constexpr uint32_t kRanks[] = {1, 0};

TEST(OrderHashesTest, ExactValues) {
  RecordScript script;
  const PodId first = script.Arrive("first", script.Shape(2000, kGib, 2, 1000));
  const PodId second = script.Arrive("second", script.Shape(1000, kGib, 0, 0));
  const PodId third = script.Arrive("third", script.Shape(9000, kGib, 0, 0));
  script.Bind(first, 0, DeviceSet::FirstN(2));
  script.Bind(second, 1, DeviceSet());
  script.Drop(third);
  const OrderHashes hashes = ComputeOrderHashes(script.cluster(), kRanks);
  // The lines "first", "second", "third".
  EXPECT_EQ(HexHash(hashes.order), "91fbe0c6ab8c6520");
  // The lines "node-b", "node-a".
  EXPECT_EQ(HexHash(hashes.rank), "03aae9c0bc947a38");
  // The lines "first 0001-node-a 0-1", "second 0000-node-b ", "third - ".
  EXPECT_EQ(HexHash(hashes.placement), "f6375b908e20febf");
}

TEST(OrderHashesTest, OfNothing) {
  const RecordScript script;
  const OrderHashes hashes = ComputeOrderHashes(script.cluster(), {});
  EXPECT_EQ(hashes.order, kFnvOffset);
  EXPECT_EQ(hashes.rank, kFnvOffset);
  EXPECT_EQ(hashes.placement, kFnvOffset);
}

TEST(OrderHashesTest, RanksTakeFourDigitsOrMore) {
  // 10001 nodes; the pod lies on the one of rank 10000.
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  std::vector<uint32_t> ranks;
  for (uint32_t i = 0; i <= 10000; ++i) {
    NodeSpec spec;
    spec.name = absl::StrCat("n", i);
    spec.cpu_milli = 1000;
    ASSERT_TRUE(cluster.AddNode(spec).ok());
    ranks.push_back(10000 - i);
  }
  PodShape shape;
  shape.request.cpu_milli = 1;
  const PodId pod = cluster.AddPod("p", shapes.Intern(shape), 0, SimTime());
  cluster.Assume(pod, NodeId(0u), DeviceSet());
  cluster.Bind(pod);
  EXPECT_EQ(ComputeOrderHashes(cluster, ranks).placement, Fnv1a("p 10000-n0 \n"));
}

}  // namespace order_hashes_test
}  // namespace drasim
