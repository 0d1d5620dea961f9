#include "policies/allocator/node_pools.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace drasim {
namespace {

using proto::kube::Node;
using proto::kube::ResourceSlice;

struct SliceOf {
  std::string name;
  std::string pool;
  std::string node;  // empty: all nodes
  int64_t generation = 1;
  int64_t count = 1;
};

ResourceSlice MakeSlice(const SliceOf& given) {
  ResourceSlice slice;
  slice.mutable_metadata()->set_name(given.name);
  slice.mutable_spec()->set_driver("driver");
  slice.mutable_spec()->mutable_pool()->set_name(given.pool);
  slice.mutable_spec()->mutable_pool()->set_generation(given.generation);
  slice.mutable_spec()->mutable_pool()->set_resource_slice_count(given.count);
  if (given.node.empty()) {
    slice.mutable_spec()->set_all_nodes(true);
  } else {
    slice.mutable_spec()->set_node_name(given.node);
  }
  slice.mutable_spec()->add_devices()->set_name(given.name + "-device");
  return slice;
}

// The pools that a node sees, as "pool: slice slice" each, with "!" for incomplete and "?" for
// invalid.
class NodePoolsTest : public testing::Test {
 protected:
  std::string Seen(const std::vector<ResourceSlice>& slices, const std::string& node = "node-1",
                   const AllocatorOptions& options = {}) {
    std::vector<const ResourceSlice*> pointers;
    for (const ResourceSlice& slice : slices) pointers.push_back(&slice);
    auto catalog = DeviceCatalog::Make(pointers);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    NodePools pools(options, *catalog);
    Node of;
    of.mutable_metadata()->set_name(node);
    std::string text;
    for (const PoolView* pool : pools.ViewOf(of).pools) {
      text += (*catalog)->pools()[pool->pool].name + ":";
      if (pool->incomplete) text += "!";
      if (pool->invalid) text += "?" + pool->invalid_reason;
      for (const uint32_t slice : pool->slices) {
        if (!pool->invalid) text += " " + slices[slice].metadata().name();
      }
      text += "\n";
    }
    return text;
  }
};

TEST_F(NodePoolsTest, PoolsAndSlicesAreSortedByName) {
  const std::vector<ResourceSlice> slices = {
      MakeSlice({"b", "pool-2", "node-1", 1, 2}), MakeSlice({"a", "pool-2", "node-1", 1, 2}),
      MakeSlice({"c", "pool-1", "", 1, 1}), MakeSlice({"d", "pool-3", "node-2", 1, 1})};
  EXPECT_EQ(Seen(slices), "pool-1: c\npool-2: a b\n");
  AllocatorOptions stable;
  stable.variant = AllocatorVariant::kStable;
  EXPECT_EQ(Seen(slices, "node-1", stable), "pool-2: b a\npool-1: c\n");
}

TEST_F(NodePoolsTest, PoolsWithBindingConditionsComeLast) {
  std::vector<ResourceSlice> slices = {MakeSlice({"a", "pool-1", "node-1"}),
                                       MakeSlice({"b", "pool-2", "node-1"})};
  slices[0].mutable_spec()->mutable_devices(0)->add_binding_conditions("Ready");
  EXPECT_EQ(Seen(slices), "pool-2: b\npool-1: a\n");
}

TEST_F(NodePoolsTest, GenerationsDecideWhatCounts) {
  // The node's own slices are complete: a newer generation elsewhere does not matter.
  const ResourceSlice old_one = MakeSlice({"a", "pool", "node-1", 1, 1});
  const ResourceSlice newer = MakeSlice({"b", "pool", "node-2", 2, 1});
  EXPECT_EQ(Seen({old_one, newer}), "pool: a\n");
  // Otherwise it makes the pool obsolete.
  const ResourceSlice half = MakeSlice({"a", "pool", "node-1", 1, 2});
  EXPECT_EQ(Seen({half, newer}), "");
  EXPECT_EQ(Seen({half}), "pool:!\n");
  EXPECT_EQ(Seen({half, MakeSlice({"c", "pool", "node-2", 1, 2})}), "pool: a\n");
  EXPECT_EQ(Seen({old_one, MakeSlice({"d", "pool", "node-1", 2, 1})}), "pool: d\n");
}

TEST_F(NodePoolsTest, InvalidPoolsSayWhy) {
  std::vector<ResourceSlice> slices = {MakeSlice({"a", "pool", "node-1"})};
  slices[0].mutable_spec()->add_devices()->set_name("a-device");
  EXPECT_EQ(Seen(slices), "pool:?duplicate device name a-device\n");
  slices = {MakeSlice({"a", "pool", "node-1"})};
  slices[0].mutable_spec()->mutable_devices(0)->add_consumes_counters()->set_counter_set("set");
  EXPECT_EQ(Seen(slices), "pool:?counter set set not found\n");
}

TEST_F(NodePoolsTest, BadAmountsNameSliceAndField) {
  ResourceSlice slice = MakeSlice({"a", "pool", "node-1"});
  auto* set = slice.mutable_spec()->add_shared_counters();
  set->set_name("set");
  (*set->mutable_counters())["memory"].set_value("much");
  EXPECT_EQ(DeviceCatalog::Make({&slice}).status().message(),
            "ResourceSlice a: counter set set: counters[memory]: found 'much', expected a quantity "
            "such as 2 or 1.5Gi");
}

}  // namespace
}  // namespace drasim
