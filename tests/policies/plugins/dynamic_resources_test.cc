#include "policies/plugins/dynamic_resources.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

class PostFilterStage : public PostFilterHandle {
 public:
  PostFilterStage(const ClusterState& cluster, bool ran_pre_filter)
      : cluster_(cluster), ran_pre_filter_(ran_pre_filter) {}
  const ClusterState& cluster() const override { return cluster_; }
  const JobTable* jobs() const override { return nullptr; }
  absl::Span<const NodeId> candidates() const override { return {}; }
  bool Fits(NodeId) override { return false; }
  bool RanPreFilter(const PreFilterPlugin& plugin) const override {
    EXPECT_EQ(plugin.name(), "DynamicResources");
    return ran_pre_filter_;
  }
  void Remove(PodId) override {}
  void Restore(PodId) override {}
  uint64_t Draw(uint64_t) override { return 0; }

 private:
  const ClusterState& cluster_;
  bool ran_pre_filter_;
};

PostFilterResult PostFilterAfter(bool ran_pre_filter) {
  ClusterBuilder builder;
  PostFilterStage stage(builder.cluster(), ran_pre_filter);
  return DynamicResourcesWithoutClaims().PostFilter(
      builder.Context(builder.AddShape(TestShape(1, 0))), stage);
}

TEST(DynamicResourcesWithoutClaimsTest, HasNothingToSayBeforePostFilter) {
  ClusterBuilder builder;
  builder.AddNode(TestNode("n", 1000, 0));
  DynamicResourcesWithoutClaims plugin;
  EXPECT_EQ(PreFilterResult(plugin, builder, TestShape(1, 0)).code, StepCode::kSkip);
  EXPECT_EQ(FilterVerdicts(plugin, builder, TestShape(1, 0)), std::vector<int>{0});
}

TEST(DynamicResourcesWithoutClaimsTest, PostFilterLeavesTheFieldToPreemption) {
  const PostFilterResult result = PostFilterAfter(true);
  EXPECT_EQ(result.code, StepCode::kReject);
  EXPECT_EQ(result.message, "no new claims to deallocate");
  EXPECT_TRUE(result.keeps_nomination);
}

TEST(DynamicResourcesWithoutClaimsTest, PostFilterFailsWhenPreFilterHadNoTurn) {
  const PostFilterResult result = PostFilterAfter(false);
  EXPECT_EQ(result.code, StepCode::kError);
  EXPECT_EQ(result.message, "not found");
  EXPECT_TRUE(result.keeps_nomination);
}

}  // namespace
}  // namespace drasim
