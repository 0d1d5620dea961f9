// NodeResourcesBalancedAllocation: figures from upstream's tests, exact rationals, and cases in
// which the order of the floating-point operations shows.
#include "policies/plugins/balanced_allocation.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/random.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/resource_scores.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace balanced_allocation_test {

using Scores = std::vector<int64_t>;

const char* const kGpu = "nvidia.com/gpu";

// Without an amount, the node has no GPU resource.
NodeSpec MakeNode(const std::string& name, int64_t cpu, int64_t memory, int64_t gpus = 0) {
  NodeSpec spec = TestNode(name, cpu, 0);
  spec.memory_bytes = memory;
  if (gpus > 0) spec.extended = {{kGpu, gpus}};
  return spec;
}

PodShape MakePod(int64_t cpu, int64_t memory, int64_t gpus = 0) {
  PodShape shape = TestShape(cpu, 0);
  shape.request.memory_bytes = memory;
  if (gpus > 0) shape.request.extended = {{kGpu, gpus}};
  return shape;
}

ScoredResources::List WithGpu() { return {{"cpu", 1}, {"memory", 1}, {kGpu, 1}}; }

// The score of a node that is alone in its cluster and empty.
int64_t OnEmptyNode(const ScoredResources::List& resources, const NodeSpec& node,
                    const PodShape& shape) {
  NodeResourcesBalancedAllocation plugin(resources);
  ClusterBuilder builder;
  builder.AddNode(node);
  return ScoresOf(plugin, builder, shape)[0];
}

TEST(BalancedAllocationTest, ScoresCpuAndMemoryAsUpstreamsTestDoes) {
  struct Row {
    int64_t cpu, memory, node_cpu, node_memory, score;
  };
  for (const Row& row : {Row{3000, 5000, 4000, 10000, 87}, Row{3000, 5000, 6000, 10000, 100},
                         Row{6000, 5000, 10000, 20000, 82}, Row{6000, 10000, 10000, 20000, 95},
                         Row{6000, 10000, 10000, 50000, 80}, Row{6000, 0, 6000, 10000, 50},
                         Row{6000, 5000, 6000, 10000, 75}}) {
    SCOPED_TRACE(
        absl::StrCat(row.cpu, " ", row.memory, " of ", row.node_cpu, " ", row.node_memory));
    EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", row.node_cpu, row.node_memory),
                          MakePod(row.cpu, row.memory)),
              row.score);
    // It is the same whether the pod or the node's residents ask for it.
    NodeResourcesBalancedAllocation plugin(CpuAndMemory());
    ClusterBuilder builder;
    const NodeId node = builder.AddNode(MakeNode("n", row.node_cpu, row.node_memory));
    const PodShape half = MakePod(row.cpu / 2, row.memory / 2);
    builder.Place(builder.AddShape(half), node);
    EXPECT_EQ(ScoresOf(plugin, builder, half), Scores{row.score});
  }
}

TEST(BalancedAllocationTest, ScoresAThirdResourceWhereThePodAsksForIt) {
  const NodeSpec node = MakeNode("n", 3500, 40000, 8);
  EXPECT_EQ(OnEmptyNode(WithGpu(), node, MakePod(3000, 5000, 4)), 70);
  EXPECT_EQ(OnEmptyNode(WithGpu(), node, MakePod(3000, 5000, 1)), 65);
  EXPECT_EQ(OnEmptyNode(WithGpu(), node, MakePod(3000, 5000)), 63);
  EXPECT_EQ(OnEmptyNode(WithGpu(), node, MakePod(3000, 0, 1)), 62);
  EXPECT_EQ(OnEmptyNode(WithGpu(), MakeNode("n", 3500, 40000), MakePod(3000, 5000, 1)), 63);
  // Weights do not count.
  EXPECT_EQ(OnEmptyNode({{"cpu", 7}, {"memory", 1}, {kGpu, 50}}, node, MakePod(3000, 5000, 4)), 70);
}

TEST(BalancedAllocationTest, FewerThanTwoResourcesAreInBalance) {
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 1000, 0), MakePod(900, 0)), 100);
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 0, 0), MakePod(900, 0)), 100);
  EXPECT_EQ(OnEmptyNode({{kGpu, 1}}, MakeNode("n", 1, 1, 8), MakePod(1, 1, 5)), 100);
}

TEST(BalancedAllocationTest, CountsRealRequestsOnly) {
  NodeResourcesBalancedAllocation plugin(CpuAndMemory());
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode("n", 1000, int64_t{1000} << 20));
  builder.Place(builder.AddShape(MakePod(0, 0)), node);
  builder.Place(builder.AddShape(MakePod(400, 0)), node);
  // 600 of 1000 milli and no memory: 1 - 0.3, whatever pods without memory count elsewhere.
  EXPECT_EQ(ScoresOf(plugin, builder, MakePod(200, 0)), Scores{70});
}

TEST(BalancedAllocationTest, PodsThatAskForNothingScoredGetZeroEverywhere) {
  NodeResourcesBalancedAllocation plugin(CpuAndMemory());
  ClusterBuilder builder;
  builder.AddNode(MakeNode("a", 1000, 1000, 4));
  const NodeId node = builder.AddNode(MakeNode("b", 1000, 1000, 4));
  builder.Place(builder.AddShape(MakePod(500, 0)), node);
  EXPECT_EQ(ScoresOf(plugin, builder, MakePod(0, 0)), (Scores{0, 0}));
  EXPECT_EQ(ScoresOf(plugin, builder, MakePod(0, 0, 2)), (Scores{0, 0}));
  EXPECT_EQ(ScoresOf(plugin, builder, MakePod(0, 1)), (Scores{99, 75}));
}

TEST(BalancedAllocationTest, PreScoreSkipsPodsThatAskForNothingScored) {
  NodeResourcesBalancedAllocation plugin(WithGpu());
  ClusterBuilder builder;
  builder.AddNode(MakeNode("a", 1000, 1000));
  EXPECT_EQ(PreScoreResult(plugin, builder, MakePod(0, 0)).code, StepCode::kSkip);
  EXPECT_EQ(PreScoreResult(plugin, builder, MakePod(1, 0)).code, StepCode::kSuccess);
  EXPECT_EQ(PreScoreResult(plugin, builder, MakePod(0, 1)).code, StepCode::kSuccess);
  // Whether any node has it does not matter.
  EXPECT_EQ(PreScoreResult(plugin, builder, MakePod(0, 0, 1)).code, StepCode::kSuccess);
  // Amounts that only scores of other plugins assume do not count.
  PodShape assumed = MakePod(0, 0);
  assumed.scored.given = true;
  assumed.scored.cpu_milli = 100;
  EXPECT_EQ(PreScoreResult(plugin, builder, assumed).code, StepCode::kSkip);
}

// The formula of 1.36 on the rows of upstream's test for one term, with what the node held before.
TEST(BalancedAllocationTest, TwoTermsScoreTheImprovement) {
  struct Row {
    int64_t cpu, memory, node_cpu, node_memory, cpu_before, memory_before, score;
  };
  for (const Row& row :
       {Row{3000, 5000, 4000, 10000, 0, 0, 68}, Row{3000, 5000, 6000, 10000, 0, 0, 75},
        Row{6000, 5000, 10000, 20000, 3000, 0, 73}, Row{6000, 10000, 10000, 20000, 3000, 5000, 74},
        Row{6000, 10000, 10000, 50000, 3000, 5000, 70}, Row{6000, 0, 6000, 10000, 3000, 0, 62},
        Row{6000, 5000, 6000, 10000, 3000, 5000, 62},
        // From 50 to 100, and back.
        Row{1000, 1000, 1000, 1000, 1000, 0, 100}}) {
    SCOPED_TRACE(
        absl::StrCat(row.cpu, " ", row.memory, " of ", row.node_cpu, " ", row.node_memory));
    NodeResourcesBalancedAllocation plugin(CpuAndMemory(), /*two_terms=*/true);
    ClusterBuilder builder;
    const NodeId node = builder.AddNode(MakeNode("n", row.node_cpu, row.node_memory));
    builder.Place(builder.AddShape(MakePod(row.cpu_before, row.memory_before)), node);
    EXPECT_EQ(ScoresOf(plugin, builder,
                       MakePod(row.cpu - row.cpu_before, row.memory - row.memory_before)),
              Scores{row.score});
  }
  NodeResourcesBalancedAllocation plugin(CpuAndMemory(), /*two_terms=*/true);
  ClusterBuilder builder;
  builder.AddNode(MakeNode("n", 1000, 1000));
  EXPECT_EQ(ScoresOf(plugin, builder, MakePod(1000, 0)), Scores{50});
}

TEST(BalancedAllocationTest, SharesEndAtOne) {
  // 1 and 0.5; 1 and 1.
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 1000, 1000), MakePod(9000, 500)), 75);
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 1000, 1000), MakePod(9000, 3000)), 100);
}

// Exact scores would be 66, 91, 65 and three times 100. Other ways to write the same, such as
// 100 - 100 x deviation or the mean of squares less the square of the mean, give other scores.
TEST(BalancedAllocationTest, KeepsTheLastBitOfDoubles) {
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 10, 100), MakePod(0, 68)), 65);
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 10, 100), MakePod(5, 68)), 90);
  EXPECT_EQ(OnEmptyNode(CpuAndMemory(), MakeNode("n", 10, 100), MakePod(1, 80)), 64);
  // Equal shares, whose computed mean is not always the share.
  EXPECT_EQ(OnEmptyNode(WithGpu(), MakeNode("n", 20, 20, 10), MakePod(12, 12, 6)), 100);
  EXPECT_EQ(OnEmptyNode(WithGpu(), MakeNode("n", 20, 20, 10), MakePod(14, 14, 7)), 99);
  EXPECT_EQ(OnEmptyNode(WithGpu(), MakeNode("n", 20, 20, 10), MakePod(16, 16, 8)), 99);
}

// 100 (1 - |a/b - c/d| / 2) rounded down, in integers. Where that is a whole number before
// rounding, doubles may stay one below it.
TEST(BalancedAllocationTest, AgreesWithExactRationals) {
  Random random(5, "balanced allocation");
  ClusterBuilder builder;
  for (int i = 0; i < 300; ++i) {
    const auto cpu = static_cast<int64_t>(1 + random.Below(5000));
    const auto memory = static_cast<int64_t>(1 + random.Below(5000));
    builder.AddNode(MakeNode(absl::StrCat("node-", i), cpu, memory));
  }
  NodeResourcesBalancedAllocation plugin(CpuAndMemory());
  for (int i = 0; i < 40; ++i) {
    const auto cpu = static_cast<int64_t>(1 + random.Below(3000));
    const auto memory = static_cast<int64_t>(random.Below(3000));
    const Scores scores = ScoresOf(plugin, builder, MakePod(cpu, memory));
    for (const NodeId node : builder.NodeIds()) {
      const NodeSpec& spec = builder.cluster().node_spec(node);
      const int64_t a = std::min(cpu, spec.cpu_milli) * spec.memory_bytes;
      const int64_t b = std::min(memory, spec.memory_bytes) * spec.cpu_milli;
      const int64_t whole = spec.cpu_milli * spec.memory_bytes;
      const int64_t exact = 100 * whole - 50 * std::abs(a - b);
      const int64_t score = scores[node.value()];
      SCOPED_TRACE(absl::StrCat(cpu, " ", memory, " of ", spec.cpu_milli, " ", spec.memory_bytes));
      if (exact % whole == 0) {
        EXPECT_GE(score, exact / whole - 1);
        EXPECT_LE(score, exact / whole);
      } else {
        EXPECT_EQ(score, exact / whole);
      }
    }
  }
}

}  // namespace balanced_allocation_test
}  // namespace drasim
