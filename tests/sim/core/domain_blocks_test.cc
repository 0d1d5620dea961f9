#include "sim/core/domain_blocks.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/pod_counts.h"
#include "model/random.h"
#include "policies/framework/plugin.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace {

// 150 nodes in three zones, some without a zone, each with a host name of its own; pods of "web"
// come and go, and so do nodes.
class BlocksRig {
 public:
  explicit BlocksRig(uint64_t seed) : random_(seed, "domain blocks") {
    for (int i = 0; i < 150; ++i) AddNode();
    PodShape web = TestShape(1, 0);
    web.identity.ns = "default";
    web.identity.labels = {{"app", "web"}};
    shape_ = builder_.AddShape(web);
    PodCountRule rule;
    rule.any_namespace = true;
    const PodCountId pods = cluster().CountPods(rule);
    zones_ = cluster().CountDomains(pods, "zone", {});
    hosts_ = cluster().CountDomains(pods, "host", {});
  }

  ClusterState& cluster() { return builder_.cluster(); }
  const DomainCounts& zones() { return cluster().pod_counts().domains(zones_); }
  const DomainCounts& hosts() { return cluster().pod_counts().domains(hosts_); }

  void Step() {
    const uint64_t kind = random_.Below(40);
    if (kind == 0) {
      AddNode();
    } else if (kind == 1) {
      const NodeId node = RandomNode();
      const absl::Span<const PodId> pods = cluster().pods_on(node);
      for (const PodId pod : std::vector<PodId>(pods.begin(), pods.end())) cluster().Finish(pod);
      cluster().SetAvailable(node, !cluster().node(node).available);
    } else if (kind == 2) {
      const NodeId node = RandomNode();
      NodeSpec spec = cluster().node_spec(node);
      spec.labels = Labels(spec.name);
      ASSERT_TRUE(cluster().UpdateNode(node, spec).ok());
    } else {
      const NodeId node = RandomNode();
      if (!cluster().node(node).available) return;
      const absl::Span<const PodId> pods = cluster().pods_on(node);
      if (!pods.empty() && random_.Below(2) == 0) {
        cluster().Finish(pods[0]);
      } else {
        builder_.Place(shape_, node);
      }
    }
  }

  // The verdict of the limit, node by node.
  void Check(const DomainBlocks& blocks, absl::Span<const DomainLimit> limits) {
    const absl::Span<const NodeId> nodes = cluster().node_order();
    for (size_t i = 0; i < nodes.size(); ++i) {
      bool passes = true;
      for (const DomainLimit& limit : limits) {
        const uint32_t domain = limit.counts->domain_of(nodes[i]);
        passes &= domain == 0 ? !limit.needs_domain : limit.counts->sum(domain) <= limit.most;
      }
      const uint64_t block = blocks.Passing(i / DomainBlocks::kBlock);
      ASSERT_EQ((block >> (i % DomainBlocks::kBlock) & 1) != 0, passes) << "place " << i;
      passing_ += passes ? 1 : 0;
      rejected_ += passes ? 0 : 1;
    }
  }
  int64_t passing() const { return passing_; }
  int64_t rejected() const { return rejected_; }

 private:
  std::vector<std::pair<std::string, std::string>> Labels(const std::string& name) {
    std::vector<std::pair<std::string, std::string>> labels = {{"host", name}};
    if (random_.Below(8) != 0) labels.push_back({"zone", absl::StrCat("z", random_.Below(3))});
    return labels;
  }
  void AddNode() {
    NodeSpec node = TestNode(absl::StrCat("n", cluster().node_count()), 64000, 0);
    node.labels = Labels(node.name);
    builder_.AddNode(node);
  }
  NodeId RandomNode() { return NodeId(random_.Below(cluster().node_count())); }

  Random random_;
  ClusterBuilder builder_;
  ShapeId shape_;
  DomainCountId zones_ = 0;
  DomainCountId hosts_ = 0;
  int64_t passing_ = 0;
  int64_t rejected_ = 0;
};

TEST(DomainBlocksTest, TellsLimitsAsNodesDo) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    BlocksRig rig(seed);
    DomainBlocks blocks(&rig.cluster());
    for (int step = 0; step < 600; ++step) {
      ASSERT_NO_FATAL_FAILURE(rig.Step());
      // Now and then, so that changes add up; seldom enough that the log of crossings overflows.
      if (step % 7 != 0 && step != 599) continue;
      if (step > 200 && step < 500) continue;
      const int64_t most = rig.zones().least() + step % 3;
      const std::vector<DomainLimit> limits = {{&rig.zones(), most, /*needs_domain=*/step % 2 == 0},
                                               {&rig.hosts(), 0, false}};
      blocks.Begin();
      for (size_t l = 0; l < limits.size(); ++l) {
        ASSERT_TRUE(blocks.Add(limits[l]));
        ASSERT_NO_FATAL_FAILURE(rig.Check(blocks, absl::MakeConstSpan(limits).first(l + 1)));
      }
    }
    EXPECT_GT(rig.passing(), 1000);
    EXPECT_GT(rig.rejected(), 1000);
  }
}

TEST(DomainBlocksTest, RefusesWhatItCannotTell) {
  BlocksRig rig(1);
  DomainBlocks blocks(&rig.cluster());
  blocks.Begin();
  EXPECT_FALSE(blocks.Add({&rig.hosts(), 1, false}));
  EXPECT_FALSE(blocks.Add({&rig.hosts(), 0, true}));
  EXPECT_EQ(blocks.limits(), 0u);
  EXPECT_EQ(blocks.Passing(1), ~uint64_t{0});
}

}  // namespace
}  // namespace drasim
