#include "policies/plugins/volume_restrictions.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"
#include "tests/testing/volume_rig.h"

namespace drasim {
namespace {

using Kind = VolumeSource::Kind;

VolumeSource Disk(Kind kind, const std::string& id, bool read_only) {
  VolumeSource source;
  source.kind = kind;
  source.id = id;
  source.read_only = read_only;
  return source;
}

VolumeSource Rbd(const std::string& pool, const std::vector<std::string>& monitors) {
  VolumeSource source = Disk(Kind::kRbd, "image", false);
  source.pool = pool;
  source.monitors = monitors;
  return source;
}

TEST(VolumeRestrictionsTest, DisksConflictByKindAndMode) {
  struct Row {
    const char* what;
    VolumeSource wanted;
    VolumeSource used;
    int verdict;
  };
  const std::vector<Row> rows = {
      {"GCE disk", Disk(Kind::kGcePd, "d", false), Disk(Kind::kGcePd, "d", false), 1},
      {"one read-only", Disk(Kind::kGcePd, "d", true), Disk(Kind::kGcePd, "d", false), 1},
      {"both read-only", Disk(Kind::kGcePd, "d", true), Disk(Kind::kGcePd, "d", true), 0},
      {"another disk", Disk(Kind::kGcePd, "d", false), Disk(Kind::kGcePd, "e", false), 0},
      {"another kind", Disk(Kind::kGcePd, "d", false), Disk(Kind::kAwsEbs, "d", false), 0},
      {"EBS, read-only", Disk(Kind::kAwsEbs, "d", true), Disk(Kind::kAwsEbs, "d", true), 1},
      {"iSCSI", Disk(Kind::kIscsi, "q", false), Disk(Kind::kIscsi, "q", true), 1},
      {"iSCSI, read-only", Disk(Kind::kIscsi, "q", true), Disk(Kind::kIscsi, "q", true), 0},
      {"RBD", Rbd("p", {"a", "b"}), Rbd("p", {"b", "c"}), 1},
      {"RBD, no common monitor", Rbd("p", {"a"}), Rbd("p", {"c"}), 0},
      {"RBD, another pool", Rbd("p", {"a"}), Rbd("q", {"a"}), 0},
      {"Cinder never", Disk(Kind::kCinder, "d", false), Disk(Kind::kCinder, "d", false), 0},
  };
  for (const Row& row : rows) {
    ClusterBuilder builder;
    const NodeId node = builder.AddNode(HostNode("n"));
    builder.Place(builder.AddShape(PodWithSource(row.used)), node);
    builder.AddNode(HostNode("m"));
    VolumeRestrictions plugin;
    const PodShape pod = PodWithSource(row.wanted);
    PreFilterResult(plugin, builder, pod);
    EXPECT_EQ(FilterVerdicts(plugin, builder, pod), (std::vector<int>{row.verdict, 0})) << row.what;
  }
}

class ExclusiveClaimTest : public ::testing::Test {
 protected:
  ExclusiveClaimTest() {
    node_ = builder_.AddNode(HostNode("n"));
    builder_.AddNode(HostNode("m"));
    VolumeClaimObject exclusive = TestClaim("rwop", "v");
    exclusive.access_modes = {AccessMode::kReadWriteOncePod};
    VolumeObjects volumes;
    volumes.claims = {exclusive, TestClaim("shared", "w")};
    SetVolumes(builder_, volumes);
  }

  ClusterBuilder builder_;
  NodeId node_;
  VolumeRestrictions plugin_;
};

TEST_F(ExclusiveClaimTest, OnePodOfTheClusterUsesIt) {
  const PodShape pod = PodWithClaims({"rwop", "shared"});
  EXPECT_EQ(PreFilterResult(plugin_, builder_, pod).code, StepCode::kSkip);
  const PodId user = builder_.Place(builder_.AddShape(pod), node_);
  EXPECT_EQ(PreFilterResult(plugin_, builder_, pod).code, StepCode::kSuccess);
  EXPECT_EQ(FilterVerdicts(plugin_, builder_, pod), (std::vector<int>{2, 2}));
  EXPECT_EQ(PreFilterResult(plugin_, builder_, PodWithClaims({"shared"})).code, StepCode::kSkip);

  // Without its user in a trial.
  PreFilterResult(plugin_, builder_, pod);
  const PodContext context = builder_.Context(builder_.AddShape(pod));
  plugin_.BeginTrial();
  plugin_.OnPodRemoved(context, builder_.cluster(), user, node_);
  EXPECT_EQ(FilterVerdicts(plugin_, builder_, pod), (std::vector<int>{0, 0}));
  plugin_.BeginTrial();
  plugin_.OnPodAdded(context, builder_.cluster(), user, node_);
  EXPECT_EQ(FilterVerdicts(plugin_, builder_, pod), (std::vector<int>{2, 2}));
  plugin_.EndTrial();
  EXPECT_EQ(FilterVerdicts(plugin_, builder_, pod), (std::vector<int>{0, 0}));
  plugin_.EndTrial();
  EXPECT_EQ(FilterVerdicts(plugin_, builder_, pod), (std::vector<int>{2, 2}));
}

TEST_F(ExclusiveClaimTest, AMissingClaimEndsTheAttempt) {
  const StepResult result = PreFilterResult(plugin_, builder_, PodWithClaims({"rwop", "nope"}));
  EXPECT_EQ(result.code, StepCode::kUnresolvable);
  EXPECT_EQ(result.message, "persistentvolumeclaim \"nope\" not found");
}

TEST_F(ExclusiveClaimTest, WakesForUsersThatLeave) {
  const PodShape pod = PodWithClaims({"rwop"});
  const PodShape user = PodWithClaims({"rwop"});
  PodShape elsewhere = user;
  elsewhere.identity.ns = "other";
  const PodShape stranger = PodWithClaims({"shared"});
  ClusterChange change;
  change.event = kPodRemoved;
  change.node = node_;
  change.pod = &user;
  EXPECT_TRUE(Wakes(plugin_, builder_, pod, change));
  change.pod = &stranger;
  EXPECT_FALSE(Wakes(plugin_, builder_, pod, change));
  change.pod = &elsewhere;
  EXPECT_FALSE(Wakes(plugin_, builder_, pod, change));
}

}  // namespace
}  // namespace drasim
