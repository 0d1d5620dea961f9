#include "policies/plugins/volume_binding.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/state_io.h"
#include "tests/testing/plugin_rig.h"
#include "tests/testing/volume_rig.h"

namespace drasim {
namespace {

using Texts = std::vector<std::string>;

constexpr char kNothing[] = "node(s) didn't find available persistent volumes to bind";
constexpr char kAffinity[] = "node(s) didn't match PersistentVolume's node affinity";
constexpr char kNoVolume[] =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr char kSpace[] = "node(s) did not have enough free storage";

class VolumeBindingTest : public ::testing::Test {
 protected:
  VolumeBindingTest() {
    for (const char* name : {"n1", "n2", "n3"}) builder_.AddNode(HostNode(name));
    volumes_.classes = {TestClass("std", "csi.x"),
                        TestClass("local", "kubernetes.io/no-provisioner")};
  }

  // The plugin's reasons for every node; none for a node that fits.
  std::vector<Texts> Ask(const PodShape& pod, VolumeBinding& plugin) {
    SetVolumes(builder_, volumes_);
    EXPECT_EQ(PreFilterResult(plugin, builder_, pod).code, StepCode::kSuccess);
    std::vector<Texts> texts;
    for (const NodeId node : builder_.NodeIds()) {
      texts.push_back(FilterTexts(plugin, builder_, pod, node));
    }
    return texts;
  }
  std::vector<Texts> Ask(const PodShape& pod) { return Ask(pod, plugin_); }

  void Reserve(const PodShape& pod, PodId id, size_t node) {
    PodContext context = builder_.Context(builder_.AddShape(pod));
    context.pod = id;
    EXPECT_EQ(plugin_.Reserve(context, builder_.cluster(), NodeId(node)).code, StepCode::kSuccess);
  }

  VolumeClaimObject LocalClaim(const std::string& name) {
    VolumeClaimObject claim = TestClaim(name);
    claim.storage_class = "local";
    return claim;
  }
  PersistentVolumeObject LocalVolume(const std::string& name, int64_t gib,
                                     const std::vector<std::string>& hosts) {
    PersistentVolumeObject volume = TestVolume(name, gib, hosts);
    volume.storage_class = "local";
    return volume;
  }

  ClusterBuilder builder_;
  VolumeObjects volumes_;
  VolumeBinding plugin_;
};

TEST_F(VolumeBindingTest, BoundVolumesDecideAboutNodes) {
  volumes_.claims = {TestClaim("c", "v"), TestClaim("d", "gone")};
  volumes_.volumes = {TestVolume("v", 10, {"n1", "n3"})};
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{}, {kAffinity}, {}}));
  EXPECT_EQ(Ask(PodWithClaims({"d"})), (std::vector<Texts>{{kNoVolume}, {kNoVolume}, {kNoVolume}}));
}

TEST_F(VolumeBindingTest, EveryProblemOfANodeIsSaid) {
  volumes_.claims = {TestClaim("bound", "v"), LocalClaim("free")};
  volumes_.volumes = {TestVolume("v", 10, {"n1"}), LocalVolume("w", 10, {"n2"})};
  EXPECT_EQ(Ask(PodWithClaims({"bound", "free"})),
            (std::vector<Texts>{{kNothing}, {kAffinity}, {kAffinity, kNothing}}));
}

TEST_F(VolumeBindingTest, ClaimsThatCannotBeUsedEndTheAttempt) {
  using BindingMode = StorageClassObject::BindingMode;
  volumes_.classes.push_back(TestClass("imm", "csi.x", BindingMode::kImmediate));
  volumes_.classes.push_back(TestClass("unset", "csi.x", BindingMode::kUnset));
  VolumeClaimObject immediate = TestClaim("immediate");
  immediate.storage_class = "imm";
  VolumeClaimObject unset = TestClaim("unset");
  unset.storage_class = "unset";
  VolumeClaimObject deleting = TestClaim("deleting", "v");
  deleting.deleting = true;
  VolumeClaimObject lost = TestClaim("lost", "v");
  lost.lost = true;
  VolumeClaimObject half = TestClaim("half", "v");
  half.bind_completed = false;
  VolumeClaimObject selecting = TestClaim("selecting");
  selecting.selector.given = true;
  selecting.selector.error = "bad operator";
  volumes_.claims = {immediate, unset, deleting, lost, half, selecting};
  SetVolumes(builder_, volumes_);
  struct Row {
    const char* claim;
    StepCode code;
    const char* message;
  };
  const std::vector<Row> rows = {
      {"immediate", StepCode::kUnresolvable, "pod has unbound immediate PersistentVolumeClaims"},
      {"half", StepCode::kUnresolvable, "pod has unbound immediate PersistentVolumeClaims"},
      {"deleting", StepCode::kUnresolvable, "persistentvolumeclaim \"deleting\" is being deleted"},
      {"lost", StepCode::kUnresolvable,
       "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"v\""},
      {"nope", StepCode::kUnresolvable, "persistentvolumeclaim \"nope\" not found"},
      {"unset", StepCode::kError, "VolumeBindingMode not set for StorageClass \"unset\""},
      {"selecting", StepCode::kError,
       "error creating internal label selector for claim: default/selecting: bad operator"},
  };
  for (const Row& row : rows) {
    const StepResult result = PreFilterResult(plugin_, builder_, PodWithClaims({row.claim}));
    EXPECT_EQ(result.code, row.code) << row.claim;
    EXPECT_EQ(result.message, row.message);
  }
  EXPECT_EQ(PreFilterResult(plugin_, builder_, PodInDefault()).code, StepCode::kSkip);
}

TEST_F(VolumeBindingTest, EphemeralVolumesOwnTheirClaims) {
  PodShape pod = PodWithClaims({"p-scratch"});
  PodVolume& volume = pod.volumes.volumes[0];
  volume.ephemeral = true;
  volume.pod_name = "p";
  volume.pod_uid = "1";
  SetVolumes(builder_, volumes_);
  EXPECT_EQ(PreFilterResult(plugin_, builder_, pod).message,
            "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"p-scratch\"");
  volumes_.claims = {TestClaim("p-scratch")};
  volumes_.claims[0].controller_uid = "2";
  SetVolumes(builder_, volumes_);
  EXPECT_EQ(PreFilterResult(plugin_, builder_, pod).message,
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)");
  volumes_.claims[0].controller_uid = "1";
  EXPECT_EQ(Ask(pod), (std::vector<Texts>{{}, {}, {}}));
}

TEST_F(VolumeBindingTest, VolumesMatchByAllThatAClaimAsksFor) {
  struct Row {
    const char* what;
    void (*change)(VolumeClaimObject* claim, PersistentVolumeObject* volume);
    bool fits;
  };
  const std::vector<Row> rows = {
      {"as it is", [](VolumeClaimObject*, PersistentVolumeObject*) {}, true},
      {"too small", [](VolumeClaimObject*, PersistentVolumeObject* v) { v->capacity = 1; }, false},
      {"block", [](VolumeClaimObject* c, PersistentVolumeObject*) { c->block = true; }, false},
      {"deleting", [](VolumeClaimObject*, PersistentVolumeObject* v) { v->deleting = true; },
       false},
      {"released", [](VolumeClaimObject*, PersistentVolumeObject* v) { v->available = false; },
       false},
      {"access mode",
       [](VolumeClaimObject* c, PersistentVolumeObject*) {
         c->access_modes.push_back(AccessMode::kReadWriteMany);
       },
       false},
      {"class", [](VolumeClaimObject*, PersistentVolumeObject* v) { v->storage_class = "std"; },
       false},
      {"attributes class",
       [](VolumeClaimObject* c, PersistentVolumeObject*) { c->attributes_class = "fast"; }, false},
      {"another's",
       [](VolumeClaimObject*, PersistentVolumeObject* v) {
         v->claim = {"default", "other", ""};
       },
       false},
      {"kept for it, whatever its phase",
       [](VolumeClaimObject*, PersistentVolumeObject* v) {
         v->claim = {"default", "c", ""};
         v->available = false;
       },
       true},
      {"kept for a claim of that name that is gone",
       [](VolumeClaimObject*, PersistentVolumeObject* v) {
         v->claim = {"default", "c", "uid-of-old"};
       },
       false},
      {"selector",
       [](VolumeClaimObject* c, PersistentVolumeObject*) {
         c->selector.given = true;
         c->selector.requirements = {{"disk", SelectorOperator::kIn, {"ssd"}}};
       },
       false},
      {"selector that matches",
       [](VolumeClaimObject* c, PersistentVolumeObject* v) {
         c->selector.given = true;
         c->selector.requirements = {{"disk", SelectorOperator::kIn, {"ssd"}}};
         v->labels = {{"disk", "ssd"}};
       },
       true},
  };
  for (const Row& row : rows) {
    VolumeClaimObject claim = LocalClaim("c");
    PersistentVolumeObject volume = LocalVolume("v", 10, {"n1"});
    row.change(&claim, &volume);
    volumes_.claims = {claim};
    volumes_.volumes = {volume};
    const Texts expected = row.fits ? Texts{} : Texts{kNothing};
    EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{expected, {kNothing}, {kNothing}}))
        << row.what;
  }
}

TEST_F(VolumeBindingTest, TheSmallestVolumesAreTaken) {
  volumes_.claims = {LocalClaim("a"), LocalClaim("b"), LocalClaim("c")};
  volumes_.claims[0].request = 15 * kTestGib;
  volumes_.volumes = {LocalVolume("large", 20, {"n1"}), LocalVolume("small", 6, {"n1"})};
  EXPECT_EQ(Ask(PodWithClaims({"a", "b"})), (std::vector<Texts>{{}, {kNothing}, {kNothing}}))
      << "the smaller claim has left the large volume alone";
  const PodShape pod = PodWithClaims({"b"});
  Ask(pod);
  Reserve(pod, PodId(0u), 0);
  EXPECT_EQ(Ask(PodWithClaims({"a"})), (std::vector<Texts>{{}, {kNothing}, {kNothing}}));
  EXPECT_EQ(Ask(PodWithClaims({"a", "c"})),
            (std::vector<Texts>{{kNothing}, {kNothing}, {kNothing}}));
}

TEST_F(VolumeBindingTest, ReserveKeepsVolumesAndNodesUntilUnreserve) {
  volumes_.claims = {LocalClaim("a"), LocalClaim("b"), TestClaim("made")};
  volumes_.volumes = {LocalVolume("v", 10, {"n1", "n2"})};
  const PodShape pod = PodWithClaims({"a", "made"});
  EXPECT_EQ(Ask(pod), (std::vector<Texts>{{}, {}, {kNothing}}));
  Reserve(pod, PodId(7u), 1);

  const std::vector<Texts> none = {{kNothing}, {kNothing}, {kNothing}};
  EXPECT_EQ(Ask(PodWithClaims({"b"})), none);
  EXPECT_EQ(Ask(PodWithClaims({"a"})), (std::vector<Texts>{{}, {}, {kNothing}}));
  EXPECT_EQ(Ask(PodWithClaims({"made"})), (std::vector<Texts>{{kNothing}, {}, {kNothing}}));

  StateWriter saved;
  plugin_.Save(saved);
  const std::string bytes(saved.bytes());
  VolumeBinding resumed;
  StateReader in(bytes);
  ASSERT_TRUE(resumed.Load(in).ok());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(Ask(PodWithClaims({"b"}), resumed), none);
  EXPECT_EQ(Ask(PodWithClaims({"made"}), resumed),
            (std::vector<Texts>{{kNothing}, {}, {kNothing}}));

  PodContext context = builder_.Context(builder_.AddShape(pod));
  context.pod = PodId(8u);
  plugin_.Unreserve(context, builder_.cluster(), NodeId(size_t{1}));
  EXPECT_EQ(Ask(PodWithClaims({"b"})), none) << "another pod's bindings stay";
  context.pod = PodId(7u);
  plugin_.Unreserve(context, builder_.cluster(), NodeId(size_t{1}));
  EXPECT_EQ(Ask(PodWithClaims({"b"})), (std::vector<Texts>{{}, {}, {kNothing}}));
  EXPECT_EQ(Ask(PodWithClaims({"made"})), (std::vector<Texts>{{}, {}, {}}));
}

TEST_F(VolumeBindingTest, ProvisionsWhereTheClassAllowsAndSpaceIsLeft) {
  volumes_.claims = {TestClaim("c")};
  volumes_.classes[0].allowed_topologies = {{{kHostnameLabel, {"n1", "n2"}}}, {}};
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{}, {}, {kNothing}}));
  volumes_.csi_drivers = {{"csi.x", true}};
  StorageCapacityObject capacity;
  capacity.storage_class = "std";
  capacity.node_topology.given = true;
  capacity.node_topology.requirements = {{kHostnameLabel, SelectorOperator::kIn, {"n1"}}};
  capacity.limit = 5 * kTestGib;
  volumes_.capacities = {capacity};
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{}, {kSpace}, {kNothing}}));
  volumes_.capacities[0].limit = 5 * kTestGib - 1;
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{kSpace}, {kSpace}, {kNothing}}));
  volumes_.csi_drivers[0].storage_capacity = false;
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{}, {}, {kNothing}}));
  volumes_.claims[0].has_selected_node = true;
  volumes_.claims[0].selected_node = "n2";
  EXPECT_EQ(Ask(PodWithClaims({"c"})), (std::vector<Texts>{{kNothing}, {}, {kNothing}}));
}

TEST_F(VolumeBindingTest, DoesNotScore) {
  EXPECT_EQ(PreScoreResult(plugin_, builder_, PodInDefault()).code, StepCode::kSkip);
}

}  // namespace
}  // namespace drasim
