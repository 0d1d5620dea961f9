// NodeResourcesFit: shortages, whether pods that leave would help, hints, and the choice of a
// scoring strategy. tests/policies/scores_test.cc has more verdicts, resource_scores_test.cc the
// scores.
#include "policies/plugins/node_resources_fit.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "policies/framework/plugin_args.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

using Amounts = std::vector<std::pair<std::string, int64_t>>;
using Texts = std::vector<std::string>;

const char* const kGpu = "example.com/gpu";
const char* const kNic = "example.com/nic";

NodeSpec FitNode(int64_t cpu, int64_t memory, int64_t pods, const Amounts& extended = {}) {
  NodeSpec spec = TestNode("n", cpu, 0);
  spec.memory_bytes = memory;
  spec.pods = pods;
  spec.extended = extended;
  return spec;
}

PodShape FitPod(int64_t cpu, int64_t memory, const Amounts& extended = {}) {
  PodShape shape = TestShape(cpu, 0);
  shape.request.memory_bytes = memory;
  shape.request.extended = extended;
  return shape;
}

// A node of 4000 milli, 100 bytes, two pods, 10 of ephemeral storage and 2 GPUs that holds a pod
// with half of each.
class NodeResourcesFitRig {
 public:
  explicit NodeResourcesFitRig(const NodeResourcesFitArgs& args = {})
      : plugin_({"ephemeral-storage", kGpu}, args) {
    node_ = builder_.AddNode(FitNode(4000, 100, 2, {{"ephemeral-storage", 10}, {kGpu, 2}}));
    builder_.Place(builder_.AddShape(FitPod(2000, 50, {{"ephemeral-storage", 5}, {kGpu, 1}})),
                   node_);
  }
  // Upstream's reasons, and its code.
  std::pair<Texts, bool> Ask(const PodShape& pod) {
    // A pod with the shape makes the shape known to the cluster.
    builder_.cluster().AddPod("asks", builder_.AddShape(pod), 0, SimTime());
    return {FilterTexts(plugin_, builder_, pod, node_),
            plugin_.IsResolvable(builder_.Context(builder_.AddShape(pod)), builder_.cluster(),
                                 node_, 1)};
  }
  ClusterBuilder& builder() { return builder_; }
  NodeId node() const { return node_; }

 private:
  ClusterBuilder builder_;
  NodeResourcesFit plugin_;
  NodeId node_;
};

TEST(NodeResourcesFitPluginTest, ListsEveryShortage) {
  NodeResourcesFitRig rig;
  struct Row {
    PodShape pod;
    Texts texts;
    bool resolvable;
  };
  for (const Row& row :
       {Row{FitPod(2000, 50, {{"ephemeral-storage", 5}, {kGpu, 1}}), {}, true},
        Row{FitPod(2001, 50), {"Insufficient cpu"}, true},
        Row{FitPod(2001, 51), {"Insufficient cpu", "Insufficient memory"}, true},
        Row{FitPod(4000, 100), {"Insufficient cpu", "Insufficient memory"}, true},
        // One resource of which the whole node has too little is enough.
        Row{FitPod(4001, 51), {"Insufficient cpu", "Insufficient memory"}, false},
        Row{FitPod(2001, 101), {"Insufficient cpu", "Insufficient memory"}, false},
        Row{FitPod(2001, 1, {{"ephemeral-storage", 6}, {kGpu, 2}}),
            {"Insufficient cpu", "Insufficient ephemeral-storage", "Insufficient example.com/gpu"},
            true},
        Row{FitPod(1, 1, {{kGpu, 3}}), {"Insufficient example.com/gpu"}, false},
        Row{FitPod(1, 1, {{kNic, 1}}), {"Insufficient example.com/nic"}, false}}) {
    const auto [texts, resolvable] = rig.Ask(row.pod);
    EXPECT_EQ(texts, row.texts);
    EXPECT_EQ(resolvable, row.resolvable);
  }
}

TEST(NodeResourcesFitPluginTest, TooManyPodsComeFirstAndMayLeave) {
  NodeResourcesFitRig rig;
  rig.builder().Place(rig.builder().AddShape(FitPod(0, 0)), rig.node());
  EXPECT_EQ(rig.Ask(FitPod(0, 0)), std::make_pair(Texts{"Too many pods"}, true));
  EXPECT_EQ(rig.Ask(FitPod(3000, 1)),
            std::make_pair(Texts{"Too many pods", "Insufficient cpu"}, true));
  EXPECT_EQ(rig.Ask(FitPod(5000, 1)),
            std::make_pair(Texts{"Too many pods", "Insufficient cpu"}, false));
}

TEST(NodeResourcesFitPluginTest, WhatIsNotAskedForMayBeOvercommitted) {
  NodeResourcesFitRig rig;
  rig.builder().cluster().SetExtendedCapacity(rig.node(), 1, 0);
  EXPECT_EQ(rig.Ask(FitPod(1, 1)), std::make_pair(Texts{}, true));
  EXPECT_EQ(rig.Ask(FitPod(1, 1, {{kGpu, 1}})),
            std::make_pair(Texts{"Insufficient example.com/gpu"}, false));
  // More on the node than it has of CPU.
  const PodId bound = rig.builder().cluster().AddPod(
      "bound", rig.builder().AddShape(FitPod(9000, 0)), 0, SimTime());
  rig.builder().cluster().Adopt(bound, rig.node());
  EXPECT_EQ(rig.Ask(FitPod(0, 1)).first, Texts{"Too many pods"});
  EXPECT_EQ(rig.Ask(FitPod(1, 1)).first, (Texts{"Too many pods", "Insufficient cpu"}));
}

TEST(NodeResourcesFitPluginTest, IgnoresResourcesAndGroupsOfItsArguments) {
  NodeResourcesFitArgs by_name;
  by_name.ignored_resources = {kGpu, "ephemeral-storage"};
  NodeResourcesFitArgs by_group;
  by_group.ignored_resource_groups = {"example.com", "kubernetes.io"};
  NodeResourcesFitRig name(by_name);
  NodeResourcesFitRig group(by_group);
  EXPECT_EQ(name.Ask(FitPod(1, 1, {{kGpu, 3}})), std::make_pair(Texts{}, true));
  EXPECT_EQ(group.Ask(FitPod(1, 1, {{kGpu, 3}})), std::make_pair(Texts{}, true));
  EXPECT_EQ(name.Ask(FitPod(1, 1, {{kNic, 1}})),
            std::make_pair(Texts{"Insufficient example.com/nic"}, false));
  EXPECT_EQ(group.Ask(FitPod(1, 1, {{kNic, 1}})), std::make_pair(Texts{}, true));
  // Only extended resources can be ignored.
  EXPECT_EQ(name.Ask(FitPod(1, 1, {{"ephemeral-storage", 6}})),
            std::make_pair(Texts{"Insufficient ephemeral-storage"}, true));
  EXPECT_EQ(group.Ask(FitPod(1, 1, {{"kubernetes.io/batt", 6}})),
            std::make_pair(Texts{"Insufficient kubernetes.io/batt"}, false));
}

// Verdicts name the first shortage of CPU, memory, pods, and columns in order.
TEST(NodeResourcesFitPluginTest, ColumnsThatCameLaterShareAReason) {
  ClusterBuilder builder;
  builder.AddNode(FitNode(1000, 100, 9, {{kGpu, 1}}));
  const NodeResourcesFit plugin({kGpu});
  NodeSpec late = FitNode(1000, 100, 9, {{kNic, 1}});
  late.name = "late";
  builder.AddNode(late);
  const PodShape nic = FitPod(1, 1, {{kNic, 1}});
  builder.cluster().AddPod("p", builder.AddShape(nic), 0, SimTime());
  EXPECT_EQ(FilterVerdicts(plugin, builder, nic), (std::vector<int>{5, 0}));
  EXPECT_EQ(plugin.reasons().size(), 5u);
  EXPECT_EQ(FilterTexts(plugin, builder, nic, NodeId(size_t{0})),
            Texts{"Insufficient example.com/nic"});
}

// ---- Hints ----

TEST(NodeResourcesFitPluginTest, ANodeWakesThePodsThatFitItOnceItGrew) {
  struct Row {
    const char* what;
    NodeSpec before;
    NodeSpec now;
    bool wakes;
  };
  const Amounts two = {{kGpu, 2}};
  const PodShape pod = FitPod(1000, 0, {{kGpu, 2}});
  for (const Row& row :
       {Row{"too small", FitNode(500, 9, 9, two), FitNode(999, 9, 9, two), false},
        Row{"large enough", FitNode(500, 9, 9, two), FitNode(1000, 9, 9, two), true},
        Row{"as before", FitNode(1000, 9, 9, two), FitNode(1000, 9, 9, two), false},
        Row{"shrunk", FitNode(2000, 9, 9, two), FitNode(1000, 9, 9, two), false},
        Row{"more of what is not wanted", FitNode(1000, 9, 9, two), FitNode(1000, 99, 9, two),
            false},
        Row{"more pods", FitNode(1000, 9, 9, two), FitNode(1000, 9, 10, two), true},
        Row{"no pods", FitNode(1000, 9, 0, {}), FitNode(1000, 9, 0, two), false},
        Row{"too few devices", FitNode(1000, 9, 9, {}), FitNode(1000, 9, 9, {{kGpu, 1}}), false},
        Row{"more devices", FitNode(1000, 9, 9, {{kGpu, 1}}), FitNode(1000, 9, 9, two), true}}) {
    ClusterBuilder builder;
    const NodeId node = builder.AddNode(row.now);
    const NodeResourcesFit plugin({kGpu});
    EXPECT_EQ(Wakes(plugin, builder, pod, NodeChange(kNodeAllocatable, node, &row.before)),
              row.wakes)
        << row.what;
    const bool fits = row.now.pods > 0 && row.now.cpu_milli >= 1000 && row.now.extended == two;
    EXPECT_EQ(Wakes(plugin, builder, pod, NodeChange(kNodeAdded, node, nullptr)), fits) << row.what;
    // The stop-gap.
    EXPECT_TRUE(Wakes(plugin, builder, pod, NodeChange(kNodeTaints, node, &row.before)));
    EXPECT_FALSE(Wakes(plugin, builder, pod, NodeChange(kNodeLabels, node, &row.before)));
  }
}

TEST(NodeResourcesFitPluginTest, PodsWakeOthersByWhatTheyLeave) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(FitNode(1000, 100, 9, {{kGpu, 2}}));
  const NodeResourcesFit plugin({kGpu});
  const PodShape pod = FitPod(9000, 0, {{kGpu, 1}});
  EXPECT_TRUE(Wakes(plugin, builder, pod, {.event = kPodRemoved, .node = node, .pod = &pod}));
  EXPECT_FALSE(Wakes(plugin, builder, pod, {.event = kPodRemoved, .pod = &pod}));

  const PodShape before = FitPod(500, 50, {{kGpu, 2}});
  const PodShape less_cpu = FitPod(499, 50, {{kGpu, 2}});
  const PodShape less_memory = FitPod(500, 49, {{kGpu, 2}});
  const PodShape fewer_devices = FitPod(500, 50);
  const auto shrinks = [&](const PodShape& to) {
    return ClusterChange{.event = kPodScaledDown, .node = node, .pod = &to, .old_pod = &before};
  };
  EXPECT_TRUE(Wakes(plugin, builder, pod, shrinks(less_cpu)));
  EXPECT_FALSE(Wakes(plugin, builder, pod, shrinks(less_memory)));
  EXPECT_TRUE(Wakes(plugin, builder, pod, shrinks(fewer_devices)));
  EXPECT_FALSE(Wakes(plugin, builder, FitPod(0, 1), shrinks(less_cpu)));
  // A change of a pod without a node wakes only that pod.
  ClusterChange own = shrinks(less_memory);
  own.node = NodeId();
  EXPECT_FALSE(Wakes(plugin, builder, pod, own));
  own.is_waiting_pod = true;
  EXPECT_TRUE(Wakes(plugin, builder, pod, own));
}

TEST(NodeResourcesFitPluginTest, HintsWithoutDetailsLookAtTheNodeAlone) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(FitNode(1000, 100, 9));
  const NodeResourcesFit plugin({});
  const auto wakes = [&](int64_t cpu, ClusterEvent event) {
    return Requeues(plugin, {.event = event, .node = node},
                    builder.Context(builder.AddShape(FitPod(cpu, 1))), builder.cluster());
  };
  for (const ClusterEvent event : {kNodeAdded, kNodeSchedulable, kNodeAllocatable}) {
    EXPECT_TRUE(wakes(1000, event));
    EXPECT_FALSE(wakes(1001, event));
  }
  EXPECT_TRUE(wakes(1001, kPodRemoved));
  EXPECT_FALSE(wakes(1000, kNodeTaints));
}

// ---- Score ----

TEST(NodeResourcesFitPluginTest, ScoresByTheStrategyOfItsArguments) {
  using Strategy = NodeResourcesFitArgs::Strategy;
  struct Row {
    Strategy strategy;
    WeightedResources resources;
    std::vector<std::pair<int32_t, int32_t>> shape;
    int64_t score;
  };
  // 3000 of 4000 and 5000 of 10000: upstream's rows.
  for (const Row& row :
       {Row{Strategy::kLeastAllocated, {{"cpu", 1}, {"memory", 1}}, {}, 37},
        Row{Strategy::kLeastAllocated, {{"cpu", 1}, {"memory", 2}}, {}, 41},
        Row{Strategy::kLeastAllocated, {{"cpu", 1}, {"memory", 1}, {"memory", 1}}, {}, 41},
        Row{Strategy::kMostAllocated, {{"cpu", 1}, {"memory", 1}}, {}, 62},
        Row{Strategy::kRequestedToCapacityRatio,
            {{"cpu", 1}, {"memory", 1}},
            {{0, 10}, {100, 0}},
            38}}) {
    NodeResourcesFitArgs args;
    args.strategy = row.strategy;
    args.resources = row.resources;
    args.shape = row.shape;
    ClusterBuilder builder;
    builder.AddNode(FitNode(4000, 10000, 9));
    NodeResourcesFit plugin({}, args);
    EXPECT_EQ(RawScores(plugin, builder, FitPod(3000, 5000)), std::vector<int64_t>{row.score});
    EXPECT_EQ(PreScoreResult(plugin, builder, FitPod(0, 0)).code, StepCode::kSuccess);
    EXPECT_EQ(plugin.normalize(builder.cluster()), Normalize::kNone);
  }
}

}  // namespace
}  // namespace drasim
