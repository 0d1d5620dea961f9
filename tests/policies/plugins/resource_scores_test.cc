// The three strategies of kube-scheduler's NodeResourcesFit and the extender's packing: figures
// from upstream's tests and by hand, and a naive recount over all pods of random nodes.
#include "policies/plugins/resource_scores.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "policies/framework/resource_score_options.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace resource_scores_test {

using List = ScoredResources::List;
using Ratio = RequestedToCapacityRatio;
using Curve = RequestedToCapacityRatio::Shape;
using Amounts = std::vector<std::pair<std::string, int64_t>>;
using Scores = std::vector<int64_t>;

constexpr int64_t kMib = int64_t{1} << 20;
const char* const kGpu = "nvidia.com/gpu";

NodeSpec MakeNode(int64_t cpu, int64_t memory, const Amounts& extended = {}, int32_t gpus = 0) {
  static int number = 0;
  NodeSpec spec = TestNode(absl::StrCat("node-", ++number), cpu, gpus);
  spec.memory_bytes = memory;
  spec.extended = extended;
  return spec;
}

PodShape MakePod(int64_t cpu, int64_t memory, const Amounts& extended = {}) {
  PodShape shape = TestShape(cpu, 0);
  shape.request.memory_bytes = memory;
  shape.request.extended = extended;
  return shape;
}

// The score of a node that is alone in its cluster and empty.
int64_t OnEmptyNode(ScorePlugin&& plugin, const NodeSpec& node, const PodShape& shape) {
  ClusterBuilder builder;
  builder.AddNode(node);
  return ScoresOf(plugin, builder, shape)[0];
}

std::unique_ptr<ScorePlugin> MakePlugin(const std::string& name, const PolicyContext& context) {
  absl::StatusOr<std::unique_ptr<Plugin>> made = TestRegistry().MakePlugin(name, context);
  DRASIM_CHECK(made.ok());
  auto* const score = dynamic_cast<ScorePlugin*>(made->release());
  DRASIM_CHECK(score != nullptr);
  return std::unique_ptr<ScorePlugin>(score);
}

// Scores of LeastAllocated, MostAllocated, RequestedToCapacityRatio and PackingExtender.
Scores AllFour(const PolicyContext& context, const NodeSpec& node, const PodShape& shape) {
  Scores scores;
  for (const char* const name :
       {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", "PackingExtender"}) {
    scores.push_back(OnEmptyNode(std::move(*MakePlugin(name, context)), node, shape));
  }
  return scores;
}

// ---- CPU and memory ----

// Rows of upstream's least_allocated_test.go and most_allocated_test.go in which every pod asks for
// both, and one that asks for more CPU than there is.
TEST(ResourceScoresTest, ScoreCpuAndMemoryAsUpstreamsTestsDo) {
  struct Row {
    int64_t cpu, memory, node_cpu, node_memory, cpu_weight, memory_weight, least, most;
  };
  for (const Row& row :
       {Row{3000, 5000, 4000, 10000, 1, 1, 37, 62}, Row{3000, 5000, 6000, 10000, 1, 1, 50, 50},
        Row{6000, 5000, 10000, 20000, 1, 1, 57, 42}, Row{6000, 10000, 10000, 20000, 1, 1, 45, 55},
        Row{6000, 10000, 10000, 50000, 1, 1, 60, 40}, Row{5000, 9000, 5000, 10000, 1, 1, 5, 95},
        Row{5000, 9000, 10000, 9000, 1, 1, 25, 75}, Row{3000, 5000, 4000, 10000, 1, 2, 41, 58},
        Row{6000, 5000, 4000, 10000, 1, 1, 25, 75}}) {
    SCOPED_TRACE(absl::StrCat(row.cpu, " ", row.memory, " of ", row.node_cpu, " ", row.node_memory,
                              " weights ", row.cpu_weight, " ", row.memory_weight));
    // It is the same whether the pod or the node's residents ask for it.
    for (const bool resident : {false, true}) {
      ClusterBuilder builder;
      const NodeId node = builder.AddNode(MakeNode(row.node_cpu, row.node_memory));
      const PodShape half = MakePod(row.cpu / 2, row.memory / 2);
      if (resident) builder.Place(builder.AddShape(half), node);
      const PodShape pod = resident ? half : MakePod(row.cpu, row.memory);
      const List list = {{"cpu", row.cpu_weight}, {"memory", row.memory_weight}};
      LeastAllocated least(list);
      MostAllocated most(list);
      EXPECT_EQ(ScoresOf(least, builder, pod), Scores{row.least});
      EXPECT_EQ(ScoresOf(most, builder, pod), Scores{row.most});
    }
  }
}

TEST(ResourceScoresTest, PodsThatAskForNoneCountAHundredMilliAnd200Mebibytes) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(1000, 1000 * kMib));
  builder.Place(builder.AddShape(MakePod(250, 100 * kMib)), node);
  const PodId silent = builder.Place(builder.AddShape(MakePod(0, 0)), node);
  LeastAllocated least(CpuAndMemory());
  MostAllocated most(CpuAndMemory());
  Ratio ratio(CpuAndMemory(), {});
  // (250 + 100 + 100) of 1000 and (100 + 200 + 200) of 1000: 45 % and 50 %.
  EXPECT_EQ(ScoresOf(least, builder, MakePod(0, 0)), Scores{52});
  EXPECT_EQ(ScoresOf(most, builder, MakePod(0, 0)), Scores{47});
  EXPECT_EQ(ScoresOf(ratio, builder, MakePod(0, 0)), Scores{48});
  // Each of the two on its own: 250 + 100 + 400 of 1000, 100 + 200 + 200 of 1000.
  EXPECT_EQ(ScoresOf(most, builder, MakePod(400, 0)), Scores{62});
  builder.cluster().Finish(silent);
  // (250 + 100) and (100 + 200): 35 % and 30 %.
  EXPECT_EQ(ScoresOf(most, builder, MakePod(0, 0)), Scores{32});
}

TEST(ResourceScoresTest, PodsWithContainersCountAsTheseAdd) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(1000, 1000 * kMib, {{"example.com/x", 10}}));
  PodShape pod = MakePod(0, 0, {{"example.com/x", 8}});
  pod.scored.given = true;
  pod.scored.cpu_milli = 300;
  pod.scored.memory_bytes = 600 * kMib;
  pod.scored.resident_cpu_milli = 100;
  pod.scored.resident_memory_bytes = 200 * kMib;
  pod.scored.extended = {{"example.com/x", 2}};
  LeastAllocated least({{"cpu", 1}});
  MostAllocated both(CpuAndMemory());
  MostAllocated x({{"example.com/x", 1}});
  EXPECT_EQ(ScoresOf(least, builder, pod), Scores{70});
  EXPECT_EQ(ScoresOf(both, builder, pod), Scores{45});
  EXPECT_EQ(ScoresOf(x, builder, pod), Scores{20});
  // On the node it counts by its other amounts, and by its whole request of what is only counted:
  // 100 + 300 of 1000, 200 + 600 of 1000, 8 + 2 of 10.
  builder.Place(builder.AddShape(pod), node);
  EXPECT_EQ(ScoresOf(least, builder, pod), Scores{60});
  EXPECT_EQ(ScoresOf(both, builder, pod), Scores{60});
  EXPECT_EQ(ScoresOf(x, builder, pod), Scores{100});
  // A request that is there and zero.
  pod.scored.cpu_milli = 0;
  EXPECT_EQ(ScoresOf(least, builder, pod), Scores{90});
}

TEST(ResourceScoresTest, ColumnsThatComeLaterAreFound) {
  ClusterBuilder builder;
  builder.AddNode(MakeNode(1000, 1000));
  MostAllocated most({{"example.com/x", 1}});
  const PodShape pod = MakePod(1, 1, {{"example.com/x", 1}});
  EXPECT_EQ(ScoresOf(most, builder, pod), Scores{0});
  builder.AddNode(MakeNode(1000, 1000, {{"example.com/x", 4}}));
  EXPECT_EQ(ScoresOf(most, builder, pod), (Scores{0, 25}));
}

TEST(ResourceScoresTest, WhatIsCountedBeyondCapacityIsFull) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(1000, 300 * kMib));
  builder.Place(builder.AddShape(MakePod(100, 0)), node);
  // 400 MiB are counted.
  const List memory = {{"memory", 1}};
  LeastAllocated least(memory);
  MostAllocated most(memory);
  Ratio ratio(memory, {{0, 0}, {50, 10}, {100, 3}});
  EXPECT_EQ(ScoresOf(least, builder, MakePod(100, 0)), Scores{0});
  EXPECT_EQ(ScoresOf(most, builder, MakePod(100, 0)), Scores{100});
  EXPECT_EQ(ScoresOf(ratio, builder, MakePod(100, 0)), Scores{30});
}

TEST(ResourceScoresTest, ANodeWithoutResourcesScoresZero) {
  const NodeSpec nothing = MakeNode(0, 0);
  EXPECT_EQ(OnEmptyNode(LeastAllocated(CpuAndMemory()), nothing, MakePod(1, 1)), 0);
  EXPECT_EQ(OnEmptyNode(MostAllocated(CpuAndMemory()), nothing, MakePod(1, 1)), 0);
  EXPECT_EQ(OnEmptyNode(Ratio(CpuAndMemory(), {{0, 10}}), nothing, MakePod(1, 1)), 0);
  EXPECT_EQ(OnEmptyNode(PackingExtender({{kGpu, 1}}), nothing, MakePod(1, 1, {{kGpu, 1}})), 0);
}

// ---- Resources that are only counted ----

TEST(ResourceScoresTest, ScalarsCountOnlyWhereThePodAsksAndTheNodeHasThem) {
  const List three = {{"cpu", 1}, {"memory", 1}, {"example.com/x", 1}};
  const NodeSpec with = MakeNode(6000, 10000, {{"example.com/x", 10}});
  const NodeSpec without = MakeNode(6000, 10000);
  const PodShape asks = MakePod(3000, 5000, {{"example.com/x", 2}});
  const PodShape does_not = MakePod(3000, 5000);
  EXPECT_EQ(OnEmptyNode(LeastAllocated(three), with, asks), 60);
  EXPECT_EQ(OnEmptyNode(LeastAllocated(three), with, does_not), 50);
  EXPECT_EQ(OnEmptyNode(LeastAllocated(three), without, asks), 50);
  EXPECT_EQ(OnEmptyNode(MostAllocated(three), with, asks), 40);
  EXPECT_EQ(OnEmptyNode(MostAllocated(three), without, asks), 50);
  // The weight of one that does not count does not count either.
  const List heavy = {{"cpu", 1}, {"memory", 1}, {"example.com/x", 2}};
  EXPECT_EQ(OnEmptyNode(MostAllocated(heavy), with, MakePod(3000, 4000)), 45);
  EXPECT_EQ(OnEmptyNode(LeastAllocated({{"example.com/x", 1}}), with, does_not), 0);
}

TEST(ResourceScoresTest, ANodeThatReportsLessThanItsPodsHoldIsFull) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(1000, 1000, {{kGpu, 8}}));
  builder.Place(builder.AddShape(MakePod(1, 1, {{kGpu, 6}})), node);
  LeastAllocated least({{kGpu, 1}});
  MostAllocated most({{kGpu, 1}});
  PackingExtender packing({{kGpu, 1}});
  const PodShape one = MakePod(1, 1, {{kGpu, 1}});
  // 7 of 8, of 7, of 5, of none.
  const std::vector<std::vector<int64_t>> expected = {
      {8, 12, 87, 87}, {7, 0, 100, 100}, {5, 0, 100, 100}, {0, 0, 0, 0}};
  for (const std::vector<int64_t>& row : expected) {
    builder.cluster().SetExtendedCapacity(node, 0, row[0]);
    EXPECT_EQ(ScoresOf(least, builder, one), Scores{row[1]}) << row[0];
    EXPECT_EQ(ScoresOf(most, builder, one), Scores{row[2]}) << row[0];
    EXPECT_EQ(ScoresOf(packing, builder, one), Scores{row[3]}) << row[0];
  }
}

TEST(ResourceScoresTest, EphemeralStorageCountsEvenWhenNotAskedFor) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(1000, 1000, {{"ephemeral-storage", 100}}));
  builder.Place(builder.AddShape(MakePod(1, 1, {{"ephemeral-storage", 40}})), node);
  LeastAllocated least({{"ephemeral-storage", 1}});
  EXPECT_EQ(ScoresOf(least, builder, MakePod(1, 1)), Scores{60});
  EXPECT_EQ(ScoresOf(least, builder, MakePod(1, 1, {{"ephemeral-storage", 25}})), Scores{35});
}

TEST(ResourceScoresTest, DevicesOfTheDirectFrontEndAreScoredByTheirMilli) {
  ClusterBuilder builder;
  const NodeId busy = builder.AddNode(MakeNode(1000, 1000, {}, 4));
  builder.AddNode(MakeNode(1000, 1000, {}, 2));
  builder.AddNode(MakeNode(1000, 1000));
  builder.Place(builder.AddShape(TestShape(1, 1, 500)), busy, DeviceSet::Of(0));
  const List gpu = {{"gpu", 1}};
  LeastAllocated least(gpu);
  MostAllocated most(gpu);
  Ratio ratio(gpu, {});
  PackingExtender packing(gpu);
  // 1500 of 4000, 1000 of 2000, none.
  const PodShape whole = TestShape(1, 1);
  EXPECT_EQ(ScoresOf(least, builder, whole), (Scores{62, 50, 0}));
  EXPECT_EQ(ScoresOf(most, builder, whole), (Scores{37, 50, 0}));
  EXPECT_EQ(ScoresOf(ratio, builder, whole), (Scores{37, 50, 0}));
  EXPECT_EQ(ScoresOf(packing, builder, whole), (Scores{37, 50, 0}));
  // Two shares of 300: 1100 of 4000, 600 of 2000.
  EXPECT_EQ(ScoresOf(most, builder, TestShape(1, 2, 300)), (Scores{27, 30, 0}));
  EXPECT_EQ(ScoresOf(least, builder, TestShape(1, 0)), (Scores{0, 0, 0}));
}

TEST(ResourceScoresTest, AmountsNearTheLimitOfAWordDoNotOverflow) {
  const int64_t huge = 4'000'000'000'000'000'000;
  const NodeSpec node = MakeNode(1000, 1000, {{"example.com/x", huge}});
  const PodShape quarter = MakePod(1, 1, {{"example.com/x", huge / 4}});
  const List x = {{"example.com/x", 100}};
  EXPECT_EQ(OnEmptyNode(LeastAllocated(x), node, quarter), 75);
  EXPECT_EQ(OnEmptyNode(MostAllocated(x), node, quarter), 25);
  EXPECT_EQ(OnEmptyNode(Ratio(x, {}), node, quarter), 25);
  EXPECT_EQ(OnEmptyNode(PackingExtender(x), node, quarter), 25);
}

// ---- RequestedToCapacityRatio ----

// The curve's value where `per_mille` thousandths of the only resource are in use.
int64_t CurveAt(const Curve& shape, int64_t per_mille) {
  return OnEmptyNode(Ratio({{"example.com/x", 1}}, shape),
                     MakeNode(1000, 1000, {{"example.com/x", 1000}}),
                     MakePod(1, 1, {{"example.com/x", per_mille}}));
}

TEST(RequestedToCapacityRatioTest, FollowsUpstreamsCurves) {
  const Curve rising = {{10, 1}, {90, 9}};
  const std::vector<std::pair<int64_t, int64_t>> on_rising = {{5, 10},   {90, 10},  {100, 10},
                                                              {150, 15}, {190, 19}, {200, 20},
                                                              {890, 89}, {900, 90}, {990, 90}};
  for (const auto& [x, y] : on_rising) EXPECT_EQ(CurveAt(rising, x), y) << x;
  const Curve peak = {{0, 2}, {40, 10}, {100, 0}};
  const std::vector<std::pair<int64_t, int64_t>> on_peak = {{5, 20},    {200, 60}, {300, 80},
                                                            {400, 100}, {700, 50}, {1000, 0}};
  for (const auto& [x, y] : on_peak) EXPECT_EQ(CurveAt(peak, x), y) << x;
  // One point is a constant; without points the curve is the identity.
  EXPECT_EQ(CurveAt({{50, 7}}, 10), 70);
  EXPECT_EQ(CurveAt({{50, 7}}, 990), 70);
  EXPECT_EQ(CurveAt({}, 370), 37);
}

TEST(RequestedToCapacityRatioTest, RoundsRisingSegmentsDownAndFallingOnesUp) {
  // 0 + 100 x 10 / 60 = 16.67, and 100 - 100 x 10 / 60 = 83.33.
  EXPECT_EQ(CurveAt({{40, 0}, {100, 10}}, 500), 16);
  EXPECT_EQ(CurveAt({{40, 10}, {100, 0}}, 500), 84);
  // The utilisation itself is cut to 50 %.
  EXPECT_EQ(CurveAt({{40, 10}, {100, 0}}, 509), 84);
}

TEST(RequestedToCapacityRatioTest, RoundsTheMeanAndLeavesZerosOut) {
  Ratio falling(CpuAndMemory(), {{0, 10}, {100, 0}});
  ClusterBuilder builder;
  for (const auto& [cpu, memory] : std::vector<std::pair<int64_t, int64_t>>{
           {4000, 10000}, {6000, 10000}, {3000, 10000}, {3000, 5000}}) {
    builder.AddNode(MakeNode(cpu, memory));
  }
  // 25 and 50: 37.5. Where CPU is full it scores 0 and is no part of the mean.
  EXPECT_EQ(ScoresOf(falling, builder, MakePod(3000, 5000)), (Scores{38, 50, 50, 0}));
  // Upstream's weights 3 and 5 under a curve that ends at 1: 31 / 8 and 25 / 8.
  Ratio low({{"example.com/bar", 5}, {"example.com/foo", 3}}, {{0, 0}, {100, 1}});
  ClusterBuilder two;
  two.AddNode(MakeNode(9, 9, {{"example.com/bar", 4}, {"example.com/foo", 8}}));
  two.AddNode(MakeNode(9, 9, {{"example.com/bar", 8}, {"example.com/foo", 4}}));
  EXPECT_EQ(ScoresOf(low, two, MakePod(1, 1, {{"example.com/bar", 2}, {"example.com/foo", 2}})),
            (Scores{4, 3}));
}

// ---- PackingExtender ----

TEST(PackingExtenderTest, TakesTheWantedPiecesTogether) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MakeNode(
      1000, 1000, {{"ephemeral-storage", 10}, {"nvidia.com/gpu", 8}, {"nvidia.com/x", 4}}));
  builder.Place(builder.AddShape(MakePod(900, 900, {{kGpu, 3}})), node);
  PackingExtender packing(
      {{"cpu", 1}, {"ephemeral-storage", 1}, {"memory", 1}, {kGpu, 1}, {"nvidia.com/x", 1}});
  // (3 + 1) / 8; with x (3 + 1 + 1) / (8 + 4), which is not the mean of 50 % and 25 %.
  EXPECT_EQ(ScoresOf(packing, builder, MakePod(1, 1, {{kGpu, 1}})), Scores{50});
  EXPECT_EQ(ScoresOf(packing, builder, MakePod(1, 1, {{kGpu, 1}, {"nvidia.com/x", 1}})),
            Scores{41});
  EXPECT_EQ(ScoresOf(packing, builder, MakePod(1, 1, {{"ephemeral-storage", 9}})), Scores{0});
  EXPECT_EQ(ScoresOf(packing, builder, MakePod(1, 1)), Scores{0});
  // (3 + 1 + 5 x 1) / (8 + 5 x 4).
  PackingExtender weighted({{"nvidia.com/gpu", 1}, {"nvidia.com/x", 5}});
  EXPECT_EQ(ScoresOf(weighted, builder, MakePod(1, 1, {{kGpu, 1}, {"nvidia.com/x", 1}})),
            Scores{32});
}

TEST(PackingExtenderTest, AWholeDeviceCountsAsOnePiece) {
  PodShape pod = TestShape(1, 1, 500);
  pod.request.extended = {{"nvidia.com/x", 1}};
  // (0.5 + 1) / (2 + 3).
  EXPECT_EQ(OnEmptyNode(PackingExtender({{"gpu", 1}, {"nvidia.com/x", 1}}),
                        MakeNode(1000, 1000, {{"nvidia.com/x", 3}}, 2), pod),
            30);
}

// ---- Defaults and options ----

TEST(ResourceScoresTest, LookAtTheGpuResourcesOfTheClusterByDefault) {
  PolicyContext context;
  context.extended_resources = {"example.com/nic", "nvidia.com/gpu", "nvidia.com/x"};
  const NodeSpec node = MakeNode(
      1000, 1000 * kMib, {{"example.com/nic", 10}, {"nvidia.com/gpu", 4}, {"nvidia.com/x", 8}});
  const PodShape pod = MakePod(500, 500 * kMib, {{"example.com/nic", 7}, {kGpu, 1}});
  EXPECT_EQ(AllFour(context, node, pod), (Scores{50, 25, 25, 25}));
  // 25 % and 75 %; (1 + 6) / (4 + 8).
  const PodShape both = MakePod(500, 500 * kMib, {{kGpu, 1}, {"nvidia.com/x", 6}});
  EXPECT_EQ(AllFour(context, node, both), (Scores{50, 50, 50, 58}));
  EXPECT_EQ(AllFour(context, node, MakePod(500, 500 * kMib)), (Scores{50, 0, 0, 0}));
}

TEST(ResourceScoresTest, LookAtCpuAndMemoryAndDevicesWhereNoSuchResourceExists) {
  PolicyContext context;
  context.extended_resources = {"example.com/nic"};
  const NodeSpec node = MakeNode(1000, 1000 * kMib, {{"example.com/nic", 10}}, 4);
  PodShape pod = MakePod(600, 500 * kMib, {{"example.com/nic", 7}});
  EXPECT_EQ(AllFour(context, node, pod), (Scores{45, 55, 55, 0}));
  // GPUs that others than the scheduler hand out.
  pod.request.nominal_milli = kDeviceMilli;
  EXPECT_EQ(AllFour(context, node, pod), (Scores{45, 55, 55, 0}));
  pod.request.nominal_milli = 0;
  pod.request.gpu_count = 1;
  pod.request.gpu_milli = kDeviceMilli;
  // 60, 50 and 25: 45.
  EXPECT_EQ(AllFour(context, node, pod), (Scores{45, 45, 45, 25}));
}

TEST(ResourceScoresTest, OptionsReplaceTheDefaults) {
  PolicyContext context;
  context.extended_resources = {"example.com/nic", "nvidia.com/gpu"};
  context.resource_scores.resources = {{"example.com/nic", 2}};
  context.resource_scores.shape = {{0, 10}, {100, 5}};
  const NodeSpec node = MakeNode(1000, 1000, {{"example.com/nic", 10}, {"nvidia.com/gpu", 4}});
  const PodShape pod = MakePod(1, 1, {{"example.com/nic", 6}, {kGpu, 1}});
  EXPECT_EQ(AllFour(context, node, pod), (Scores{40, 60, 70, 60}));
}

TEST(ResourceScoresTest, PoliciesAreNamedAfterTheirScores) {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"least-allocated", "LeastAllocated 1, NodeResourcesBalancedAllocation 1, best"},
      {"most-allocated", "MostAllocated 1, best"},
      {"requested-to-capacity-ratio", "RequestedToCapacityRatio 1, best"},
      {"packing-extender", "PackingExtender 1, best"}};
  for (const auto& [name, parts] : expected) {
    const absl::StatusOr<const PolicyEntry*> policy = TestRegistry().FindPolicy(name);
    ASSERT_TRUE(policy.ok()) << policy.status();
    std::string text;
    for (const ScoreChoice& choice : (*policy)->score) {
      absl::StrAppend(&text, choice.plugin, " ", choice.weight, ", ");
    }
    EXPECT_EQ(absl::StrCat(text, (*policy)->allocator), parts) << name;
  }
}

TEST(ResourceScoresTest, OptionsOutsideTheLimitsAreRefused) {
  const auto refusal = [](const List& resources, const Curve& shape) {
    const absl::Status status = CheckResourceScoreOptions({resources, shape});
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  EXPECT_EQ(refusal({}, {}), "");
  EXPECT_EQ(refusal({{"cpu", 1}, {"a.b/c", 100}}, {{0, 0}, {1, 10}, {100, 3}}), "");
  EXPECT_EQ(refusal({{"", 1}}, {}), "scored resource: found '', expected a name");
  EXPECT_EQ(refusal({{"cpu", 1}, {"cpu", 2}}, {}),
            "scored resource: found 'cpu' again, expected every name once");
  const std::string weight = "weight of scored resource 'cpu': found ";
  EXPECT_EQ(refusal({{"cpu", 0}}, {}), weight + "'0', expected 1 to 100");
  EXPECT_EQ(refusal({{"cpu", 101}}, {}), weight + "'101', expected 1 to 100");
  const std::string utilization = "utilization in the score's shape: found ";
  EXPECT_EQ(refusal({}, {{-1, 0}}), utilization + "'-1', expected 0 to 100");
  EXPECT_EQ(refusal({}, {{101, 0}}), utilization + "'101', expected 0 to 100");
  EXPECT_EQ(refusal({}, {{40, 1}, {40, 2}}),
            utilization + "'40', expected more than 40, the one before");
  EXPECT_EQ(refusal({}, {{0, 11}}), "score in the score's shape: found '11', expected 0 to 10");
  EXPECT_EQ(refusal({}, {{0, -1}}), "score in the score's shape: found '-1', expected 0 to 10");
}

TEST(ResourceScoresDeathTest, PluginsCheckTheirOptions) {
  EXPECT_DEATH(MostAllocated({{"cpu", 0}}), "CHECK failed");
  EXPECT_DEATH(Ratio({}, {{50, 1}, {50, 2}}), "CHECK failed");
}

// ---- Two nodes of two GPUs ----

// Places the pods one after the other, each on the first of the best nodes that take it. Returns
// the node of each, -1 for none.
std::vector<int> PlaceInTurn(ScorePlugin& plugin, ClusterBuilder& builder,
                             const std::vector<PodShape>& pods) {
  std::vector<int> placed;
  for (const PodShape& shape : pods) {
    const ShapeId id = builder.AddShape(shape);
    const PodId pod = builder.cluster().AddPod("pod", id, 0, SimTime());
    const Scores scores = ScoresOf(plugin, builder, shape);
    int best = -1;
    for (size_t n = 0; n < scores.size(); ++n) {
      const DeviceSet devices =
          FirstFittingDevices(shape.request, builder.cluster().device_milli_idle(NodeId(n)));
      if (!builder.cluster().CanPlace(id, NodeId(n), devices)) continue;
      if (best < 0 || scores[n] > scores[static_cast<size_t>(best)]) best = static_cast<int>(n);
    }
    placed.push_back(best);
    if (best < 0) continue;
    const NodeId node(static_cast<size_t>(best));
    builder.cluster().Assume(
        pod, node, FirstFittingDevices(shape.request, builder.cluster().device_milli_idle(node)));
    builder.cluster().Bind(pod);
  }
  return placed;
}

// Pods that want one, one and two GPUs, and CPU and memory in proportion.
std::vector<int> PlaceOneOneTwo(const std::string& name, bool direct) {
  PolicyContext context;
  if (!direct) context.extended_resources = {kGpu};
  ClusterBuilder builder;
  for (int i = 0; i < 2; ++i) {
    builder.AddNode(direct ? MakeNode(8000, 8 * kTestGib, {}, 2)
                           : MakeNode(8000, 8 * kTestGib, {{kGpu, 2}}));
  }
  std::vector<PodShape> pods;
  for (const int32_t gpus : {1, 1, 2}) {
    PodShape pod = TestShape(1000 * int64_t{gpus}, direct ? gpus : 0);
    pod.request.memory_bytes = kTestGib * gpus;
    if (!direct) pod.request.extended = {{kGpu, gpus}};
    pods.push_back(pod);
  }
  const std::unique_ptr<ScorePlugin> plugin = MakePlugin(name, context);
  return PlaceInTurn(*plugin, builder, pods);
}

TEST(ResourceScoresTest, SpreadingLeavesNoNodeForTwoGpusAndPackingDoes) {
  for (const bool direct : {false, true}) {
    EXPECT_EQ(PlaceOneOneTwo("LeastAllocated", direct), (std::vector<int>{0, 1, -1})) << direct;
    for (const char* const name :
         {"MostAllocated", "RequestedToCapacityRatio", "PackingExtender"}) {
      EXPECT_EQ(PlaceOneOneTwo(name, direct), (std::vector<int>{0, 0, 1})) << name << direct;
    }
  }
}

// ---- A naive recount ----

const List kAll = {{"cpu", 3},    {"example.com/nic", 7}, {"ephemeral-storage", 2}, {"gpu", 5},
                   {"memory", 1}, {"nobody.has/it", 9},   {"nvidia.com/gpu", 4}};

int64_t AmountOf(const Amounts& amounts, const std::string& name) {
  for (const auto& [key, amount] : amounts) {
    if (key == name) return amount;
  }
  return 0;
}

int64_t RequestOf(const PodShape& shape, const std::string& name) {
  if (name == "cpu") return shape.request.cpu_milli == 0 ? 100 : shape.request.cpu_milli;
  if (name == "memory")
    return shape.request.memory_bytes == 0 ? 209715200 : shape.request.memory_bytes;
  if (name == "gpu") return int64_t{shape.request.gpu_count} * shape.request.gpu_milli;
  return AmountOf(shape.request.extended, name);
}

// Counts the pods of the node again.
std::vector<ResourceUse> CountAgain(const ClusterState& cluster, NodeId node,
                                    const PodShape& shape) {
  const NodeSpec& spec = cluster.node_spec(node);
  std::vector<ResourceUse> uses;
  for (const auto& [name, weight] : kAll) {
    int64_t capacity = AmountOf(spec.extended, name);
    if (name == "cpu") capacity = spec.cpu_milli;
    if (name == "memory") capacity = spec.memory_bytes;
    if (name == "gpu") capacity = int64_t{spec.gpu_count} * 1000;
    const int64_t wanted = RequestOf(shape, name);
    if (capacity == 0 || (wanted == 0 && name != "ephemeral-storage")) continue;
    int64_t requested = wanted;
    for (const PodId pod : cluster.pods_on(node)) {
      requested += RequestOf(cluster.pod_shape(pod), name);
    }
    uses.push_back({requested, capacity, weight, name == "gpu"});
  }
  return uses;
}

struct NaiveScores {
  int64_t least = 0;
  int64_t most = 0;
  int64_t ratio = 0;
};

NaiveScores ScoreAgain(const std::vector<ResourceUse>& uses) {
  NaiveScores scores;
  int64_t weights = 0;
  int64_t ratio_weights = 0;
  for (const ResourceUse& use : uses) {
    const bool over = use.requested > use.capacity;
    const int64_t percent = over ? 100 : use.requested * 100 / use.capacity;
    if (!over) scores.least += (use.capacity - use.requested) * 100 / use.capacity * use.weight;
    scores.most += percent * use.weight;
    weights += use.weight;
    if (percent > 0) {
      scores.ratio += percent * use.weight;
      ratio_weights += use.weight;
    }
  }
  if (weights > 0) scores.least /= weights;
  if (weights > 0) scores.most /= weights;
  if (ratio_weights > 0) {
    scores.ratio =
        std::llround(static_cast<double>(scores.ratio) / static_cast<double>(ratio_weights));
  }
  return scores;
}

Amounts RandomAmounts(uint64_t below, Random& random) {
  Amounts amounts;
  for (const char* const name : {"ephemeral-storage", "example.com/nic", "nvidia.com/gpu"}) {
    const auto amount = static_cast<int64_t>(random.Below(below));
    if (amount > 0) amounts.emplace_back(name, amount);
  }
  return amounts;
}

NodeSpec RandomSpec(Random& random) {
  NodeSpec spec = MakeNode(0, 0);
  spec.gpu_count = static_cast<int32_t>(random.Below(5));
  spec.gpu_model = spec.gpu_count > 0 ? "G2" : "";
  spec.cpu_milli = static_cast<int64_t>(random.Below(9)) * 1000;
  spec.memory_bytes = static_cast<int64_t>(random.Below(9)) * 700 * kMib;
  spec.extended = RandomAmounts(9, random);
  return spec;
}

PodShape RandomRequest(Random& random) {
  PodShape shape;
  shape.request.cpu_milli = static_cast<int64_t>(random.Below(4)) * 300;
  shape.request.memory_bytes = static_cast<int64_t>(random.Below(4)) * 150 * kMib;
  shape.request.gpu_count = static_cast<int32_t>(random.Below(3));
  if (shape.request.gpu_count > 0)
    shape.request.gpu_milli = static_cast<int32_t>(1 + random.Below(4)) * 250;
  shape.request.extended = RandomAmounts(3, random);
  return shape;
}

TEST(ResourceScoresTest, AgreeWithARecountOfThePodsOnEveryNode) {
  Random random(11, "resource scores");
  ClusterBuilder builder;
  ClusterState& cluster = builder.cluster();
  for (int i = 0; i < 25; ++i) builder.AddNode(RandomSpec(random));
  LeastAllocated least(kAll);
  MostAllocated most(kAll);
  Ratio ratio(kAll, {});
  std::vector<PodId> running;
  for (int step = 0; step < 600; ++step) {
    const PodShape shape = RandomRequest(random);
    const ShapeId id = builder.AddShape(shape);
    const PodId pod = cluster.AddPod("pod", id, 0, SimTime());
    const Scores by_least = ScoresOf(least, builder, shape);
    const Scores by_most = ScoresOf(most, builder, shape);
    const Scores by_ratio = ScoresOf(ratio, builder, shape);
    for (const NodeId node : builder.NodeIds()) {
      const NaiveScores naive = ScoreAgain(CountAgain(cluster, node, shape));
      ASSERT_EQ(by_least[node.value()], naive.least) << step << " " << node.value();
      ASSERT_EQ(by_most[node.value()], naive.most) << step << " " << node.value();
      ASSERT_EQ(by_ratio[node.value()], naive.ratio) << step << " " << node.value();
    }
    const NodeId node = OneOf(builder.NodeIds(), random);
    const DeviceSet devices = RandomDevices(shape, cluster.device_milli_idle(node), random);
    if (cluster.CanPlace(id, node, devices)) {
      cluster.Assume(pod, node, devices);
      cluster.Bind(pod);
      running.push_back(pod);
    }
    if (running.size() > 30) {
      cluster.Finish(running.front());
      running.erase(running.begin());
    }
  }
  EXPECT_EQ(running.size(), 30u);
}

}  // namespace resource_scores_test
}  // namespace drasim
