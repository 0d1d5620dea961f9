// Scores, device choices and verdicts on tiny nodes, worked out by hand from the published rules.
// cl and l are a node's idle CPU and GPU milli, c and g what the pod wants in all.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/fragmentation.h"
#include "model/run_streams.h"
#include "policies/devices/device_choosers.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/best_fit.h"
#include "policies/plugins/dot_product.h"
#include "policies/plugins/fgd.h"
#include "policies/plugins/gpu_clustering.h"
#include "policies/plugins/gpu_packing.h"
#include "policies/plugins/gpu_share_fit.h"
#include "policies/plugins/node_affinity.h"
#include "policies/plugins/node_resources_fit.h"
#include "policies/plugins/node_unschedulable.h"
#include "policies/plugins/random_score.h"
#include "policies/plugins/taint_toleration.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace scores_test {

using Scores = std::vector<int64_t>;
using Verdicts = std::vector<ReasonIndex>;
using Sets = std::vector<DeviceSet>;

Verdicts VerdictsOf(const FilterPlugin& plugin, ClusterBuilder& builder, const PodShape& shape) {
  const ShapeId id = builder.AddShape(shape);
  const std::vector<NodeId> nodes = builder.NodeIds();
  Verdicts verdicts(nodes.size(), kFits);
  plugin.Filter(builder.Context(id), builder.cluster(), nodes, absl::MakeSpan(verdicts));
  return verdicts;
}

Sets ProposalsOf(DeviceAllocator& chooser, ClusterBuilder& builder, const PodShape& shape,
                 NodeId node) {
  const ShapeId id = builder.AddShape(shape);
  DeviceProposals proposals;
  chooser.Propose(builder.shapes().row(id).request, builder.cluster(), node, &proposals);
  Sets sets;
  for (const DeviceProposal& p : proposals) sets.push_back(p.devices);
  return sets;
}

// A node on which a pod without CPU leaves device i with idle_milli[i].
NodeId NodeWithIdle(ClusterBuilder& builder, const std::string& name, int64_t cpu_milli,
                    const std::vector<int32_t>& idle_milli) {
  const NodeId node =
      builder.AddNode(TestNode(name, cpu_milli, static_cast<int32_t>(idle_milli.size())));
  for (size_t i = 0; i < idle_milli.size(); ++i) {
    if (idle_milli[i] == kDeviceMilli) continue;
    const ShapeId filler = builder.AddShape(TestShape(0, 1, kDeviceMilli - idle_milli[i]));
    builder.Place(filler, node, DeviceSet::Of(i));
  }
  return node;
}

// ---- BestFit ----

// Three nodes: 64 cores of which 8 are taken, devices 600 + 1000; 128 cores and 8 devices, idle;
// 96 cores and 4 devices, idle.
void AddThreeNodes(ClusterBuilder& builder) {
  const NodeId small = NodeWithIdle(builder, "small", 64000, {600, 1000});
  builder.Place(builder.AddShape(TestShape(8000, 0)), small);
  builder.AddNode(TestNode("large", 128000, 8));
  builder.AddNode(TestNode("middle", 96000, 4));
}

TEST(BestFitTest, ScoresWhatIsLeftInUnitsOfALargeNode) {
  ClusterBuilder builder;
  AddThreeNodes(builder);
  BestFit plugin;
  // c = 4000, g = 500.
  // small:  x = (56000 - 4000) / 128000 / 2 + (1600 - 500) / 8000 / 2 = 0.203125 + 0.06875
  //           = 0.271875, 100 (1 - x) = 72.8125
  // large:  x = 124000 / 128000 / 2 + 7500 / 8000 / 2 = 0.484375 + 0.46875 = 0.953125: 4.6875
  // middle: x = 92000 / 128000 / 2 + 3500 / 8000 / 2 = 0.359375 + 0.21875 = 0.578125: 42.1875
  const Scores raw = ScoresOf(plugin, builder, builder.AddShape(TestShape(4000, 1, 500)));
  EXPECT_EQ(raw, (Scores{72, 4, 42}));
  // (72 - 4) 100 / 68 = 100; 0; (42 - 4) 100 / 68 = 55.88.
  Scores scores = raw;
  plugin.NormalizeScore(std::vector<NodeId>(scores.size()), absl::MakeSpan(scores));
  EXPECT_EQ(scores, (Scores{100, 0, 55}));
  // The whole of a large node: x = 0.
  const ShapeId whole = builder.AddShape(TestShape(128000, 8));
  Scores one(1);
  const NodeId large(size_t{1});
  plugin.Score(builder.Context(whole), builder.cluster(), absl::MakeConstSpan(&large, 1),
               absl::MakeSpan(one));
  EXPECT_EQ(one, (Scores{100}));
}

TEST(BestFitTest, EqualScoresAllBecomeZero) {
  BestFit plugin;
  Scores scores = {37, 37, 37};
  plugin.NormalizeScore(std::vector<NodeId>(scores.size()), absl::MakeSpan(scores));
  EXPECT_EQ(scores, (Scores{0, 0, 0}));
  scores.clear();
  plugin.NormalizeScore(std::vector<NodeId>(scores.size()), absl::MakeSpan(scores));
  EXPECT_EQ(scores, Scores());
}

TEST(BestFitTest, PromisesOrderOnlyUpToTheLargeNode) {
  BestFit plugin;
  ClusterBuilder builder;
  EXPECT_EQ(plugin.normalize(builder.cluster()), Normalize::kOrderPreserving);
  builder.AddNode(TestNode("large", 128000, 8));
  EXPECT_EQ(plugin.normalize(builder.cluster()), Normalize::kOrderPreserving);
  builder.AddNode(TestNode("nine", 1000, 9));
  EXPECT_EQ(plugin.normalize(builder.cluster()), Normalize::kGeneral);
  ClusterBuilder wide;
  wide.AddNode(TestNode("wide", 128001, 1));
  EXPECT_EQ(plugin.normalize(wide.cluster()), Normalize::kGeneral);
}

// ---- DotProduct ----

Scores Dots(DotProduct::Dimensions dimensions, DotProduct::Norm norm, ClusterBuilder& builder,
            const PodShape& shape) {
  DotProduct plugin("DotProduct", dimensions, norm);
  return ScoresOf(plugin, builder, builder.AddShape(shape));
}

TEST(DotProductTest, MergeMaxIsThePublishedPolicy) {
  ClusterBuilder builder;
  AddThreeNodes(builder);
  using D = DotProduct::Dimensions;
  using N = DotProduct::Norm;
  // c = 32000, g = 500: b = (0.25, 0.0625).
  // small:  (0.4375 * 0.25 + 0.2 * 0.0625) / 2 = 0.0609375: 93.90625
  // large:  (1 * 0.25 + 1 * 0.0625) / 2 = 0.15625: 84.375
  // middle: (0.75 * 0.25 + 0.5 * 0.0625) / 2 = 0.109375: 89.0625
  EXPECT_EQ(Dots(D::kMerge, N::kMax, builder, TestShape(32000, 1, 500)), (Scores{93, 84, 89}));
  // c = 64000, g = 4000: b = (0.5, 0.5); small does not fit but has a score all the same:
  // (0.21875 + 0.1) / 2 = 0.159375: 84.0625; large 0.5: 50; middle (0.375 + 0.25) / 2: 68.75.
  EXPECT_EQ(Dots(D::kMerge, N::kMax, builder, TestShape(64000, 4)), (Scores{84, 50, 68}));
  // c = 128000, g = 8000 on the whole of large: 1, which leaves 0.
  EXPECT_EQ(Dots(D::kMerge, N::kMax, builder, TestShape(128000, 8))[1], 0);
  // No GPU, c = 32000: small 0.4375 * 0.25 / 2 = 0.0546875: 94.53125; large 87.5; middle 90.625.
  EXPECT_EQ(Dots(D::kMerge, N::kMax, builder, TestShape(32000, 0)), (Scores{94, 87, 90}));
}

TEST(DotProductTest, OtherDimensionsSplitTheDevices) {
  ClusterBuilder builder;
  AddThreeNodes(builder);
  using D = DotProduct::Dimensions;
  using N = DotProduct::Norm;
  const PodShape share = TestShape(32000, 1, 500);
  const PodShape whole = TestShape(32000, 1);
  // All on node small, whose CPU part is 0.4375 * 0.25 = 0.109375.
  // share: the device with 600 idle: (0.109375 + 0.075 * 0.0625) / 2 = 0.05703125: 94.296875;
  //        the untouched one: (0.109375 + 0.125 * 0.0625) / 2 = 0.05859375: 94.14. The best counts.
  EXPECT_EQ(Dots(D::kShare, N::kMax, builder, share)[0], 94);
  // divide: 600 of 1600 milli get 21000 of the CPU: (0.1640625 * 0.25 + 0.0046875) / 2
  //         = 0.0228515625: 97.71; the untouched one 35000: (0.068359375 + 0.0078125) / 2: 96.19.
  EXPECT_EQ(Dots(D::kDivide, N::kMax, builder, share)[0], 97);
  // extend: (0.109375 + 0.075 * 0.0625 + 0.125 * 0.0625) / 3 = 0.040625: 95.9375.
  EXPECT_EQ(Dots(D::kExtend, N::kMax, builder, share)[0], 95);
  // A whole device cannot come from the partly used one.
  // share:  (0.109375 + 0.125 * 0.125) / 2 = 0.0625: 93.75.
  // divide: (0.068359375 + 0.015625) / 2 = 0.0419921875: 95.80.
  EXPECT_EQ(Dots(D::kShare, N::kMax, builder, whole)[0], 93);
  EXPECT_EQ(Dots(D::kDivide, N::kMax, builder, whole)[0], 95);
  // Without devices there is nothing to split.
  for (const D dimensions : {D::kShare, D::kDivide, D::kExtend}) {
    EXPECT_EQ(Dots(dimensions, N::kMax, builder, TestShape(32000, 0)), (Scores{94, 87, 90}));
  }
}

TEST(DotProductTest, OtherNormsScaleByTheNodeOrByThePod) {
  ClusterBuilder builder;
  AddThreeNodes(builder);
  using D = DotProduct::Dimensions;
  using N = DotProduct::Norm;
  const PodShape share = TestShape(32000, 1, 500);
  // node, small: (56/64 * 32/64 + 1600/2000 * 500/2000) / 2 = (0.4375 + 0.2) / 2: 68.125
  //       large: (0.25 + 0.0625) / 2 = 0.15625: 84.375
  //       middle: (1 * 1/3 + 1 * 0.125) / 2 = 0.22917: 77.08
  EXPECT_EQ(Dots(D::kMerge, N::kNode, builder, share), (Scores{68, 84, 77}));
  // pod, small: (1.75 + 3.2) / 2 = 2.475, tanh 0.2475 = 0.242567: 75.74
  //      large: (4 + 16) / 2 = 10, tanh 1 = 0.761594: 23.84
  //      middle: (3 + 8) / 2 = 5.5, tanh 0.55 = 0.500520: 49.95
  EXPECT_EQ(Dots(D::kMerge, N::kPod, builder, share), (Scores{75, 23, 49}));
}

// ---- GpuClustering ----

TEST(GpuClusteringTest, PrefersNodesThatHostTheSameKindOfUse) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("idle8", 128000, 8));
  builder.AddNode(TestNode("idle4", 128000, 4));
  const NodeId shared = builder.AddNode(TestNode("shared", 128000, 8));
  const NodeId mixed = builder.AddNode(TestNode("mixed", 128000, 8));
  const NodeId cpu_only = builder.AddNode(TestNode("cpu-only", 128000, 8));
  const ShapeId share = builder.AddShape(TestShape(1000, 1, 500));
  const ShapeId one = builder.AddShape(TestShape(1000, 1));
  const ShapeId two = builder.AddShape(TestShape(1000, 2));
  const ShapeId none = builder.AddShape(TestShape(1000, 0));
  builder.Place(share, shared, DeviceSet::Of(0));
  builder.Place(share, mixed, DeviceSet::Of(0));
  const PodId pair = builder.Place(two, mixed, DeviceSet::FromBits(0b110));
  builder.Place(none, cpu_only);
  GpuClustering plugin;
  // 25 (8000 - l) / 8000: idle8 0, idle4 12, shared 25 * 500 / 8000 = 1, mixed 25 * 2500 / 8000 =
  // 7, cpu-only 0. Then +75 for its own kind alone, +50 among others, +25 for no GPU pod at all.
  EXPECT_EQ(ScoresOf(plugin, builder, share), (Scores{25, 37, 76, 57, 25}));
  EXPECT_EQ(ScoresOf(plugin, builder, two), (Scores{25, 37, 1, 57, 25}));
  EXPECT_EQ(ScoresOf(plugin, builder, one), (Scores{25, 37, 1, 7, 25}));
  EXPECT_EQ(ScoresOf(plugin, builder, none), (Scores{0, 0, 0, 0, 0}));
  // The pair ends: mixed is like shared.
  builder.cluster().Finish(pair);
  EXPECT_EQ(ScoresOf(plugin, builder, share), (Scores{25, 37, 76, 76, 25}));
  EXPECT_EQ(ScoresOf(plugin, builder, two), (Scores{25, 37, 1, 1, 25}));
}

// ---- GpuPacking ----

TEST(GpuPackingTest, SharedDevicesFirstUntouchedNodesLast) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("idle8", 128000, 8));
  builder.AddNode(TestNode("idle1", 128000, 1));
  NodeWithIdle(builder, "d400", 128000, {400, 1000, 1000});
  NodeWithIdle(builder, "d649", 128000, {900, 649, 1000});
  GpuPacking plugin;
  // Untouched nodes: max(33 - 8, 8) = 25 and max(33 - 1, 1) = 32.
  // u = 500: d400 takes a full device, max(50 - 1, 33) = 49; d649 takes 649: 64 % / 10 = 6, 94.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 1, 500))),
            (Scores{25, 32, 49, 94}));
  // u = 300: d400 takes 400: 40 / 10 = 4, 96. d649 as before.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 1, 300))),
            (Scores{25, 32, 96, 94}));
  // u = 700: d649 takes 900: 90 / 10 = 9, 91.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 1, 700))),
            (Scores{25, 32, 49, 91}));
  // Two whole ones: d400 50 - 2 = 48. One whole one: 49 on both.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 2)))[2], 48);
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 1))),
            (Scores{25, 32, 49, 49}));
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 0))), (Scores{0, 0, 0, 0}));
}

TEST(GpuPackingTest, FloorsKeepTheThreeClassesApart) {
  ClusterBuilder builder;
  NodeWithIdle(builder, "used", 128000, {900, 905, 909, 900, 900, 900, 649, 655});
  const NodeId wide = builder.AddNode(TestNode("wide", 128000, 32));
  builder.Place(builder.AddShape(TestShape(0, 1, 1)), wide, DeviceSet::Of(0));
  GpuPacking plugin;
  // Two shares of 100: 649 and 655 count 64 + 65 = 129, / 10 = 12: 88 (each percent is truncated,
  // then the tenth of the sum).
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 2, 100)))[0], 88);
  // Six shares: 64 + 65 + 4 * 90 = 489, / 10 = 48: 52. Eight: 489 + 2 * 90 = 669: max(34, 50).
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 6, 100)))[0], 52);
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 8, 100)))[0], 50);
  // Twenty whole ones of a used node: max(50 - 20, 33). From an untouched one with 64: 32.
  builder.AddNode(TestNode("untouched", 128000, kMaxDevicesPerNode));
  const Scores twenty = ScoresOf(plugin, builder, builder.AddShape(TestShape(1000, 20)));
  EXPECT_EQ(twenty[1], 33);
  EXPECT_EQ(twenty[2], 32);
}

// ---- FGD ----

TypicalPod Typical(int64_t cpu_milli, int32_t gpu_count, int32_t gpu_milli, double weight) {
  TypicalPod pod;
  pod.cpu_milli = cpu_milli;
  pod.gpu_count = gpu_count;
  pod.gpu_milli = gpu_milli;
  pod.model_mask = ~uint64_t{0};
  pod.weight = weight;
  return pod;
}

// Half of the workload wants half a GPU and 4 cores, a quarter one GPU and 8 cores, a quarter 2
// cores only. The weights are exact in binary.
std::vector<TypicalPod> ThreeTypicalPods() {
  return {Typical(4000, 1, 500, 0.5), Typical(8000, 1, 1000, 0.25), Typical(2000, 0, 0, 0.25)};
}

TEST(FgdTest, ScoresTheGradientOfAShare) {
  ClusterBuilder builder;
  NodeWithIdle(builder, "idle", 16000, {1000, 1000});
  NodeWithIdle(builder, "half", 16000, {500, 1000});
  NodeWithIdle(builder, "few-cores", 4000, {1000, 1000});
  const FragmentationModel model(ThreeTypicalPods());
  Fgd plugin(&model);
  // idle: before, only the pod without GPU makes fragments: 2000 / 4 = 500. After, cl 12000 and
  //   500 + 1000: the whole-GPU pod leaves 500 unused, 125; the pod without GPU 1500 / 4 = 375. No
  //   change: sigmoid 0 = 0.5.
  // half: before 125 + 375 = 500. Device 0: 0 + 1000 leaves 1000 / 4 = 250, sigmoid(0.25) = 0.5621.
  //   Device 1: 500 + 500 has no device for the whole-GPU pod, 1000 / 4, plus 250: 500, no change.
  // few-cores: before, the whole-GPU pod lacks CPU, 500, plus 500. After, cl 0: everything lacks
  //   CPU, 1500. Sigmoid(-0.5) = 0.3775.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(4000, 1, 500))),
            (Scores{50, 56, 37}));
}

TEST(FgdTest, ScoresTheGradientOfWholeDevicesAndOfCpu) {
  ClusterBuilder builder;
  NodeWithIdle(builder, "idle", 16000, {1000, 1000});
  NodeWithIdle(builder, "half", 16000, {500, 1000});
  NodeWithIdle(builder, "12-cores", 12000, {1000, 1000});
  const FragmentationModel model(ThreeTypicalPods());
  Fgd plugin(&model);
  // One GPU and 8 cores.
  // idle: 500 -> cl 8000, 0 + 1000: 250. Sigmoid(0.25).
  // half: 500 -> cl 8000, 500 + 0: no device for the whole-GPU pod, 125, plus 125: 250.
  // 12-cores: 500 -> cl 4000, 0 + 1000: the whole-GPU pod lacks CPU, 250, plus 250: no change.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(8000, 1))), (Scores{56, 56, 50}));
  // 12 cores, no GPU.
  // idle: 500 -> cl 4000: the whole-GPU pod lacks CPU, 500, plus 500. Sigmoid(-0.5) = 0.3775.
  // half: 500 -> cl 4000: 1500 / 4 twice = 750. Sigmoid(-0.25) = 0.4378.
  // 12-cores: 500 -> cl 0: everything, 2000. Sigmoid(-1.5) = 0.1824.
  EXPECT_EQ(ScoresOf(plugin, builder, builder.AddShape(TestShape(12000, 0))), (Scores{37, 43, 18}));
}

TEST(FgdTest, IdleGpusThatTheWorkloadCannotUseAreFragments) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("g2", 16000, 1, "G2"));
  builder.AddNode(TestNode("t4", 16000, 1, "T4"));
  builder.AddShape(TestShape(1000, 1, 500, "T4"));
  const FragmentationModel needs_t4(builder.TypicalPods());
  const ShapeId share = builder.AddShape(TestShape(0, 1, 500));
  Fgd plugin(&needs_t4);
  // g2: 1000 -> 500, sigmoid(0.5) = 0.6224. t4: 0 -> 0.
  EXPECT_EQ(ScoresOf(plugin, builder, share), (Scores{62, 50}));
  // A workload of pairs with 32 cores lacks both on either node: 1000 -> 500.
  const FragmentationModel needs_two({Typical(32000, 2, 1000, 1)});
  Fgd lacking(&needs_two);
  EXPECT_EQ(ScoresOf(lacking, builder, share), (Scores{62, 62}));
}

TEST(FgdTest, ChoosesTheDeviceOfTheBestScore) {
  ClusterBuilder builder;
  const NodeId first = NodeWithIdle(builder, "first", 16000, {500, 1000});
  const NodeId last = NodeWithIdle(builder, "last", 16000, {1000, 500});
  const NodeId equal = NodeWithIdle(builder, "equal", 16000, {500, 500});
  const FragmentationModel model(ThreeTypicalPods());
  FgdDevice chooser(&model);
  const PodShape half = TestShape(4000, 1, 500);
  // As in the score of node half above: 56 against 50. Equal scores: the lower index.
  EXPECT_EQ(ProposalsOf(chooser, builder, half, first), (Sets{DeviceSet::Of(0)}));
  EXPECT_EQ(ProposalsOf(chooser, builder, half, last), (Sets{DeviceSet::Of(1)}));
  EXPECT_EQ(ProposalsOf(chooser, builder, half, equal), (Sets{DeviceSet::Of(0)}));
  // Not always the tightest: the workload wants 600 of one GPU. From 650 + 1000, a share of 100
  // leaves 550 + 1000 with 550 unusable (sigmoid(-0.55) = 0.3659), or 650 + 900 with nothing.
  const NodeId node = NodeWithIdle(builder, "node", 16000, {650, 1000});
  const FragmentationModel wants600({Typical(1000, 1, 600, 1)});
  FgdDevice wise(&wants600);
  TightestDevice tight(true);
  EXPECT_EQ(ProposalsOf(wise, builder, TestShape(1000, 1, 100), node), (Sets{DeviceSet::Of(1)}));
  EXPECT_EQ(ProposalsOf(tight, builder, TestShape(1000, 1, 100), node)[0], DeviceSet::Of(0));
}

// ---- Random, and the other device choosers ----

TEST(RandomScoreTest, OneDrawnNodeGetsAHundred) {
  ClusterBuilder builder;
  for (int i = 0; i < 7; ++i) builder.AddNode(TestNode(absl::StrCat("n", i), 1000, 0));
  const ShapeId shape = builder.AddShape(TestShape(1, 0));
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(9);
  const std::unique_ptr<RunStreams> same = MakeSeededStreams(9);
  RandomScore plugin(streams.get());
  for (int i = 0; i < 50; ++i) {
    Scores wanted(7, 0);
    wanted[same->DrawPolicy(7)] = 100;
    ASSERT_EQ(ScoresOf(plugin, builder, shape), wanted);
  }
}

TEST(DeviceChooserTest, TightestAndLoosestDeviceLowestIndexFirst) {
  ClusterBuilder builder;
  const NodeId node = NodeWithIdle(builder, "n", 16000, {500, 300, 1000, 300});
  TightestDevice best(true);
  TightestDevice worst(false);
  EXPECT_EQ(ProposalsOf(best, builder, TestShape(0, 1, 300), node),
            (Sets{DeviceSet::Of(1), DeviceSet::Of(3), DeviceSet::Of(0), DeviceSet::Of(2)}));
  EXPECT_EQ(ProposalsOf(worst, builder, TestShape(0, 1, 300), node),
            (Sets{DeviceSet::Of(2), DeviceSet::Of(0), DeviceSet::Of(1), DeviceSet::Of(3)}));
  EXPECT_EQ(ProposalsOf(best, builder, TestShape(0, 1, 301), node),
            (Sets{DeviceSet::Of(0), DeviceSet::Of(2)}));
  EXPECT_EQ(ProposalsOf(worst, builder, TestShape(0, 1, 501), node), (Sets{DeviceSet::Of(2)}));
}

TEST(DeviceChooserTest, RandomIsAReservoirOverTheFittingDevices) {
  ClusterBuilder builder;
  const NodeId node = NodeWithIdle(builder, "n", 16000, {500, 200, 1000, 300});
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(9);
  const std::unique_ptr<RunStreams> same = MakeSeededStreams(9);
  RandomDevice chooser(streams.get());
  for (int i = 0; i < 50; ++i) {
    DeviceSet wanted;
    if (same->DrawPolicy(1) == 0) wanted = DeviceSet::Of(0);
    if (same->DrawPolicy(2) == 0) wanted = DeviceSet::Of(2);
    if (same->DrawPolicy(3) == 0) wanted = DeviceSet::Of(3);
    ASSERT_EQ(ProposalsOf(chooser, builder, TestShape(0, 1, 300), node), (Sets{wanted}));
  }
}

// ---- Filters ----

TEST(NodeResourcesFitTest, NamesTheFirstShortage) {
  ClusterBuilder builder;
  NodeSpec spec = TestNode("n", 4000, 0);
  spec.memory_bytes = 8 * kTestGib;
  spec.pods = 1;
  const NodeId node = builder.AddNode(spec);
  const NodeResourcesFit plugin({"example.com/nic"});
  EXPECT_EQ(
      plugin.reasons(),
      (std::vector<Reason>{{ReasonKind::kCpu, "Insufficient cpu"},
                           {ReasonKind::kMemory, "Insufficient memory"},
                           {ReasonKind::kPodSlots, "Too many pods"},
                           {ReasonKind::kExtendedResource, "Insufficient example.com/nic"},
                           {ReasonKind::kExtendedResource, "Insufficient extended resource"}}));
  PodShape shape = TestShape(4000, 0);
  shape.request.memory_bytes = 8 * kTestGib;
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{0}));
  shape.request.memory_bytes += 1;
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{2}));
  shape.request.cpu_milli += 1;
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1}));
  builder.Place(builder.AddShape(TestShape(0, 0)), node);
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(0, 0)), (Verdicts{3}));
}

TEST(GpuShareFitTest, ChecksModelThenDevices) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("none", 16000, 0));
  builder.AddNode(TestNode("t4", 16000, 2, "T4"));
  NodeWithIdle(builder, "g2", 16000, {1000, 500});
  GpuShareFit plugin;
  EXPECT_EQ(plugin.reasons(),
            (std::vector<Reason>{{ReasonKind::kNoGpu, "node(s) had no GPU"},
                                 {ReasonKind::kGpuModel, "node(s) had another GPU model"},
                                 {ReasonKind::kGpu, "Insufficient GPU"}}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 0)), (Verdicts{0, 0, 0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 1, 500)), (Verdicts{1, 0, 0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 1, 500, "G2|A10")), (Verdicts{1, 2, 0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 1, 500, "A10")), (Verdicts{1, 2, 2}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 2)), (Verdicts{1, 0, 3}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 3)), (Verdicts{1, 3, 3}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 2, 500)), (Verdicts{1, 0, 0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 2, 501)), (Verdicts{1, 0, 3}));
  // The whole device goes; the largest idle amount is then 500.
  builder.Place(builder.AddShape(TestShape(0, 1)), NodeId(size_t{2}), DeviceSet::Of(0));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 1, 500)), (Verdicts{1, 0, 0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, TestShape(1, 1, 501)), (Verdicts{1, 0, 3}));
}

TEST(TaintTolerationTest, EveryHardTaintMustBeTolerated) {
  ClusterBuilder builder;
  NodeSpec spec = TestNode("clean", 1000, 0);
  builder.AddNode(spec);
  spec.name = "dedicated";
  spec.taints = {{"team", "vision", "NoSchedule"}};
  builder.AddNode(spec);
  spec.name = "evicting";
  spec.taints = {{"team", "vision", "NoSchedule"}, {"broken", "", "NoExecute"}};
  builder.AddNode(spec);
  spec.name = "avoided";
  spec.taints = {{"slow", "", "PreferNoSchedule"}};
  builder.AddNode(spec);
  TaintToleration plugin;
  const auto with = [&builder, &plugin](std::vector<Toleration> tolerations) {
    PodShape shape = TestShape(1, 0);
    shape.constraints.tolerations = std::move(tolerations);
    return VerdictsOf(plugin, builder, shape);
  };
  EXPECT_EQ(with({}), (Verdicts{0, 1, 1, 0}));
  EXPECT_EQ(with({{"team", "vision", "NoSchedule", false}}), (Verdicts{0, 0, 1, 0}));
  EXPECT_EQ(with({{"team", "vision", "", false}}), (Verdicts{0, 0, 1, 0}));
  EXPECT_EQ(with({{"team", "speech", "NoSchedule", false}}), (Verdicts{0, 1, 1, 0}));
  EXPECT_EQ(with({{"team", "vision", "NoExecute", false}}), (Verdicts{0, 1, 1, 0}));
  EXPECT_EQ(with({{"team", "", "NoSchedule", true}}), (Verdicts{0, 0, 1, 0}));
  EXPECT_EQ(with({{"team", "", "", true}, {"broken", "", "NoExecute", true}}),
            (Verdicts{0, 0, 0, 0}));
  EXPECT_EQ(with({{"", "", "", true}}), (Verdicts{0, 0, 0, 0}));
  EXPECT_EQ(with({{"", "", "NoExecute", true}}), (Verdicts{0, 1, 1, 0}));
}

TEST(NodeUnschedulableTest, CordonedNodesTakeOnlyPodsThatTolerateIt) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(TestNode("n", 1000, 0));
  NodeUnschedulable plugin;
  PodShape plain = TestShape(1, 0);
  PodShape tolerant = plain;
  tolerant.constraints.tolerations = {{"node.kubernetes.io/unschedulable", "", "NoSchedule", true}};
  PodShape elsewhere = plain;
  elsewhere.constraints.tolerations = {{"node.kubernetes.io/unschedulable", "", "NoExecute", true}};
  PodShape wildcard = plain;
  wildcard.constraints.tolerations = {{"", "", "", true}};
  EXPECT_EQ(VerdictsOf(plugin, builder, plain), (Verdicts{0}));
  builder.cluster().SetSchedulable(node, false);
  EXPECT_EQ(VerdictsOf(plugin, builder, plain), (Verdicts{1}));
  EXPECT_EQ(VerdictsOf(plugin, builder, tolerant), (Verdicts{0}));
  EXPECT_EQ(VerdictsOf(plugin, builder, elsewhere), (Verdicts{1}));
  EXPECT_EQ(VerdictsOf(plugin, builder, wildcard), (Verdicts{0}));
  builder.cluster().SetSchedulable(node, true);
  EXPECT_EQ(VerdictsOf(plugin, builder, plain), (Verdicts{0}));
}

TEST(NodeAffinityTest, EverySelectorKeyNeedsItsValue) {
  ClusterBuilder builder;
  NodeSpec spec = TestNode("bare", 1000, 0);
  builder.AddNode(spec);
  spec.name = "east";
  spec.labels = {{"disk", "ssd"}, {"zone", "east"}};
  builder.AddNode(spec);
  NodeAffinity plugin;
  PodShape shape = TestShape(1, 0);
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{0, 0}));
  shape.constraints.node_selector = {{"zone", "east"}};
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1, 0}));
  shape.constraints.node_selector = {{"disk", "ssd"}, {"zone", "east"}};
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1, 0}));
  shape.constraints.node_selector = {{"disk", "ssd"}, {"zone", "west"}};
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1, 1}));
  shape.constraints.node_selector = {{"rack", "1"}};
  EXPECT_EQ(VerdictsOf(plugin, builder, shape), (Verdicts{1, 1}));
}

}  // namespace scores_test
}  // namespace drasim
