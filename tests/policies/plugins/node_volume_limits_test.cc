#include "policies/plugins/node_volume_limits.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"
#include "tests/testing/volume_rig.h"

namespace drasim {
namespace {

CsiNodeObject Limited(const std::string& node, const std::string& driver,
                      std::optional<int32_t> limit) {
  CsiNodeObject csi_node;
  csi_node.name = node;
  csi_node.drivers.push_back({driver, limit});
  return csi_node;
}

class NodeVolumeLimitsTest : public ::testing::Test {
 protected:
  NodeVolumeLimitsTest() {
    node_ = builder_.AddNode(HostNode("n"));
    for (const char* name : {"a", "b", "c"}) {
      volumes_.claims.push_back(TestClaim(name, std::string("v") + name));
      volumes_.volumes.push_back(TestVolume(std::string("v") + name));
    }
    volumes_.claims.push_back(TestClaim("new"));
    volumes_.classes = {TestClass("std", "csi.x")};
  }

  int Verdict(const PodShape& pod) {
    SetVolumes(builder_, volumes_);
    return FilterVerdicts(plugin_, builder_, pod)[0];
  }

  ClusterBuilder builder_;
  NodeId node_;
  VolumeObjects volumes_;
  NodeVolumeLimits plugin_;
};

TEST_F(NodeVolumeLimitsTest, CountsEachVolumeOnce) {
  builder_.Place(builder_.AddShape(PodWithClaims({"a"})), node_);
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 0) << "no CSINode";
  volumes_.csi_nodes = {Limited("n", "csi.x", 1)};
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 1);
  EXPECT_EQ(Verdict(PodWithClaims({"new"})), 1) << "a volume of the class's driver";
  EXPECT_EQ(Verdict(PodWithClaims({"a"})), 0) << "it is there already";
  volumes_.csi_nodes = {Limited("n", "csi.x", 2)};
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 0);
  EXPECT_EQ(Verdict(PodWithClaims({"b", "c"})), 1);
  EXPECT_EQ(Verdict(PodWithClaims({"a", "b"})), 0);
  volumes_.csi_nodes = {Limited("n", "csi.x", std::nullopt)};
  EXPECT_EQ(Verdict(PodWithClaims({"b", "c"})), 0);
  volumes_.csi_nodes = {Limited("n", "csi.y", 0)};
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 0);
}

TEST_F(NodeVolumeLimitsTest, CountsAttachmentsOfPodsThatAreGone) {
  volumes_.csi_nodes = {Limited("n", "csi.x", 1)};
  volumes_.attachments = {{"csi.x", "m", "va"}, {"csi.x", "n", "va"}};
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 1);
  EXPECT_EQ(Verdict(PodWithClaims({"a"})), 0);
  volumes_.attachments.pop_back();
  EXPECT_EQ(Verdict(PodWithClaims({"b"})), 0);
}

TEST_F(NodeVolumeLimitsTest, CountsInTreeVolumesOfMigratedNodes) {
  VolumeSource disk;
  disk.kind = VolumeSource::Kind::kAwsEbs;
  disk.id = "vol-1";
  volumes_.csi_nodes = {Limited("n", "ebs.csi.aws.com", 0)};
  EXPECT_EQ(Verdict(PodWithSource(disk)), 0);
  volumes_.csi_nodes[0].migrated_plugins = {"kubernetes.io/aws-ebs"};
  EXPECT_EQ(Verdict(PodWithSource(disk)), 1);
  volumes_.claims[3].storage_class = "ebs";
  volumes_.classes.push_back(TestClass("ebs", "kubernetes.io/aws-ebs"));
  EXPECT_EQ(Verdict(PodWithClaims({"new"})), 1);
}

TEST_F(NodeVolumeLimitsTest, SkipsPodsWithoutSuchVolumes) {
  EXPECT_EQ(PreFilterResult(plugin_, builder_, PodInDefault()).code, StepCode::kSkip);
  VolumeSource target;
  target.kind = VolumeSource::Kind::kIscsi;
  EXPECT_EQ(PreFilterResult(plugin_, builder_, PodWithSource(target)).code, StepCode::kSkip);
  target.kind = VolumeSource::Kind::kGcePd;
  EXPECT_EQ(PreFilterResult(plugin_, builder_, PodWithSource(target)).code, StepCode::kSuccess);
}

TEST_F(NodeVolumeLimitsTest, NamesTheMissingClaim) {
  SetVolumes(builder_, volumes_);
  EXPECT_EQ(FilterTexts(plugin_, builder_, PodWithClaims({"nope"}), node_),
            std::vector<std::string>{
                "looking up PVC default/nope: persistentvolumeclaim \"nope\" not found"});
}

TEST_F(NodeVolumeLimitsTest, WakesForPodsThatHadVolumes) {
  const PodShape plain = PodInDefault();
  const PodShape user = PodWithClaims({"a"});
  ClusterChange change;
  change.event = kPodRemoved;
  change.node = node_;
  change.pod = &plain;
  EXPECT_FALSE(Wakes(plugin_, builder_, user, change));
  change.pod = &user;
  EXPECT_TRUE(Wakes(plugin_, builder_, user, change));
  change.node = NodeId();
  EXPECT_FALSE(Wakes(plugin_, builder_, user, change));
}

}  // namespace
}  // namespace drasim
