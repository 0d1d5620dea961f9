// NodeOrder: figures of kube-scheduler's node tree, and a plain model of it.
#include "model/node_order.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace {

using NodeNumbers = std::vector<uint32_t>;

NodeSpec InZone(const std::string& zone, const std::string& region = "") {
  NodeSpec spec;
  if (!region.empty()) spec.labels.emplace_back("topology.kubernetes.io/region", region);
  if (!zone.empty()) spec.labels.emplace_back("topology.kubernetes.io/zone", zone);
  return spec;
}

NodeNumbers OrderOf(const NodeOrder& order) {
  NodeNumbers numbers;
  for (const NodeId node : order.list()) numbers.push_back(node.value());
  return numbers;
}

NodeOrder OrderOfZones(const std::vector<std::string>& zones) {
  NodeOrder order;
  for (size_t n = 0; n < zones.size(); ++n) order.Add(NodeId(n), InZone(zones[n]));
  return order;
}

TEST(NodeOrderTest, ZonesTakeTurns) {
  EXPECT_EQ(OrderOf(NodeOrder()), NodeNumbers());
  EXPECT_EQ(OrderOf(OrderOfZones({"", "", ""})), (NodeNumbers{0, 1, 2}));
  // a1 a2 a3 b1 c1 c2 -> a1 b1 c1 a2 c2 a3
  EXPECT_EQ(OrderOf(OrderOfZones({"a", "a", "a", "b", "c", "c"})), (NodeNumbers{0, 3, 4, 1, 5, 2}));
}

TEST(NodeOrderTest, ZoneAndRegionTogetherAreThePlace) {
  NodeOrder order;
  order.Add(NodeId(0u), InZone("a", "x"));
  order.Add(NodeId(1u), InZone("a", "x"));
  order.Add(NodeId(2u), InZone("a", "y"));
  order.Add(NodeId(3u), InZone("a"));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{0, 2, 3, 1}));
}

TEST(NodeOrderTest, BetaLabelsComeFirst) {
  NodeSpec both = InZone("b");
  both.labels.insert(both.labels.begin(), {"failure-domain.beta.kubernetes.io/zone", "a"});
  NodeOrder order;
  order.Add(NodeId(0u), InZone("a"));
  order.Add(NodeId(1u), InZone("b"));
  order.Add(NodeId(2u), both);
  order.Add(NodeId(3u), InZone("b"));
  // Node 2 is the second of zone a.
  EXPECT_EQ(OrderOf(order), (NodeNumbers{0, 1, 2, 3}));
  order.Remove(NodeId(0u));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{2, 1, 3}));
}

TEST(NodeOrderTest, AZoneThatBecameEmptyLosesItsPlace) {
  NodeOrder order = OrderOfZones({"a", "b", "b"});
  order.Remove(NodeId(0u));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{1, 2}));
  order.Add(NodeId(3u), InZone("a"));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{1, 3, 2}));
}

TEST(NodeOrderTest, AnotherZoneShowsWithTheNextNode) {
  NodeOrder order = OrderOfZones({"a", "b", "a", "b"});
  EXPECT_EQ(OrderOf(order), (NodeNumbers{0, 1, 2, 3}));
  order.Update(NodeId(0u), InZone("b"));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{0, 1, 2, 3}));
  order.Add(NodeId(4u), InZone("a"));
  // a: 2, 4; b: 1, 3, 0.
  EXPECT_EQ(OrderOf(order), (NodeNumbers{2, 1, 4, 3, 0}));
  // The same zone again: no move.
  order.Update(NodeId(1u), InZone("b"));
  order.Remove(NodeId(4u));
  EXPECT_EQ(OrderOf(order), (NodeNumbers{2, 1, 3, 0}));
}

TEST(NodeOrderTest, ZoneByZoneRestoresTheOrder) {
  Random random(7, "node order");
  std::vector<NodeSpec> specs;
  NodeOrder order;
  std::vector<bool> there;
  for (int step = 0; step < 300; ++step) {
    const size_t n = random.Below(40);
    while (specs.size() <= n) {
      specs.push_back(InZone(std::string(1, static_cast<char>('a' + random.Below(5)))));
      there.push_back(false);
    }
    there[n] ? order.Remove(NodeId(n)) : order.Add(NodeId(n), specs[n]);
    there[n] = !there[n];
    NodeOrder again;
    for (const NodeId node : order.by_zone()) again.Add(node, specs[node.value()]);
    ASSERT_EQ(OrderOf(again), OrderOf(order)) << step;
    ASSERT_EQ(order.list().size(),
              static_cast<size_t>(std::count(there.begin(), there.end(), true)));
  }
}

}  // namespace
}  // namespace drasim
