// GpuShareFit and the device choosers on nodes with several GPU models.
#include "policies/plugins/gpu_share_fit.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/fragmentation.h"
#include "policies/devices/device_choosers.h"
#include "policies/framework/device_allocator.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace gpu_share_fit_test {

NodeSpec MixedNode(const std::string& name, std::vector<std::string> models) {
  NodeSpec node = TestNode(name, 64'000, static_cast<int32_t>(models.size()), "");
  node.gpu_models = std::move(models);
  return node;
}

ReasonIndex VerdictOf(ClusterBuilder& builder, const PodShape& shape, NodeId node) {
  const ShapeId id = builder.AddShape(shape);
  ReasonIndex verdict = kFits;
  GpuShareFit().Filter(builder.Context(id), builder.cluster(), absl::MakeConstSpan(&node, 1),
                       absl::MakeSpan(&verdict, 1));
  return verdict;
}

bool ResolvableFor(ClusterBuilder& builder, const PodShape& shape, NodeId node,
                   ReasonIndex verdict) {
  const ShapeId id = builder.AddShape(shape);
  return GpuShareFit().IsResolvable(builder.Context(id), builder.cluster(), node, verdict);
}

// The first proposal.
std::string ChoiceOf(DeviceAllocator& chooser, ClusterBuilder& builder, const PodShape& shape,
                     NodeId node) {
  const ShapeId id = builder.AddShape(shape);
  DeviceProposals proposals;
  chooser.Propose(builder.shapes().row(id).request, builder.cluster(), node, &proposals);
  return proposals.empty() ? "" : DevicesText(proposals[0].devices);
}

constexpr ReasonIndex kOtherModel = 2;
constexpr ReasonIndex kInsufficient = 3;

TEST(GpuShareFitTest, CountsGpusOfAcceptedModels) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MixedNode("mixed", {"V100", "T4", "T4", "V100"}));
  builder.AddNode(TestNode("other", 64'000, 1, "G2"));
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 4), node), kFits);
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 2, 1000, "T4"), node), kFits);
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 2, 400, "G2|T4"), node), kFits);
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 1, 1000, "G2"), node), kOtherModel);
  // There will never be a third.
  const PodShape three = TestShape(1000, 3, 1000, "T4");
  EXPECT_EQ(VerdictOf(builder, three, node), kInsufficient);
  EXPECT_FALSE(ResolvableFor(builder, three, node, kInsufficient));

  builder.Place(builder.AddShape(TestShape(1000, 1, 700)), node, DeviceSet::Of(1));
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 1, 500, "T4"), node), kFits);
  const PodShape two = TestShape(1000, 2, 500, "T4");
  EXPECT_EQ(VerdictOf(builder, two, node), kInsufficient);
  EXPECT_TRUE(ResolvableFor(builder, two, node, kInsufficient));
  EXPECT_EQ(VerdictOf(builder, TestShape(1000, 3, 1000, "T4|V100"), node), kFits);
}

// A kubelet or a claim's driver may hand out a GPU of any model on the node.
TEST(GpuShareFitTest, PodsWithoutACountOfDevicesMustAcceptEveryGpu) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MixedNode("mixed", {"V100", "T4"}));
  PodShape lowered = TestShape(1000, 0);
  lowered.request.extended = {{"nvidia.com/gpu", 1}};
  EXPECT_EQ(VerdictOf(builder, lowered, node), kFits);
  lowered.request.gpu_spec = "T4";
  EXPECT_EQ(VerdictOf(builder, lowered, node), kOtherModel);
  lowered.request.gpu_spec = "T4|V100";
  EXPECT_EQ(VerdictOf(builder, lowered, node), kFits);
}

TEST(GpuShareFitTest, ChoosersPickAmongThem) {
  ClusterBuilder builder;
  const NodeId node = builder.AddNode(MixedNode("mixed", {"V100", "T4", "T4", "V100"}));
  builder.Place(builder.AddShape(TestShape(1000, 1, 400)), node, DeviceSet::Of(0));
  builder.Place(builder.AddShape(TestShape(1000, 1, 300)), node, DeviceSet::Of(2));
  TightestDevice tightest(/*prefer_least_idle=*/true);
  TightestDevice widest(/*prefer_least_idle=*/false);
  EXPECT_EQ(ChoiceOf(tightest, builder, TestShape(1000, 1, 500), node), "0");
  EXPECT_EQ(ChoiceOf(tightest, builder, TestShape(1000, 1, 500, "T4"), node), "2");
  EXPECT_EQ(ChoiceOf(widest, builder, TestShape(1000, 1, 500, "T4"), node), "1");
  EXPECT_EQ(ChoiceOf(widest, builder, TestShape(1000, 1, 500, "V100"), node), "3");
  EXPECT_EQ(ChoiceOf(tightest, builder, TestShape(1000, 2, 600, "T4"), node), "1-2");
  EXPECT_EQ(ChoiceOf(tightest, builder, TestShape(1000, 2, 1000), node), "1-3");

  // On GPU 2 the share leaves no rest that is too small for another of its kind.
  const ShapeId share = builder.AddShape(TestShape(1000, 1, 700, "T4"));
  std::vector<int64_t> pods(builder.shapes().size());
  pods[share.value()] = 1;
  const FragmentationModel model(BuildTypicalPods(builder.shapes(), pods, 100));
  FgdDevice fgd(&model);
  EXPECT_EQ(ChoiceOf(fgd, builder, TestShape(1000, 1, 700, "T4"), node), "2");
}

}  // namespace gpu_share_fit_test
}  // namespace drasim
