// The MIG placement rules as policies: which node, GPU and start a pod gets from a whole scheduling
// cycle. Every decision is taken twice, with the cycle's cache and without, and must be the same.
#include "policies/devices/mig_placement.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/fragmentation.h"
#include "model/job_table.h"
#include "model/random.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/devices/mig_rules.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/placer.h"
#include "sim/core/scheduling_cycle.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace mig_placement_test {

using Texts = std::vector<std::string>;
using Ranks = std::vector<uint32_t>;
using Mix = std::vector<std::pair<std::string, int64_t>>;

constexpr char kRefusal[] = "node(s) had no MIG layout that the placement rule allows";

const MigTable& A100() {
  static const MigTable* const table = new MigTable(TestTable(TestA100()));
  return *table;
}
const MigTable& A30() {
  static const MigTable* const table = new MigTable(TestTable(TestA30()));
  return *table;
}

// Nodes n0, n1, ... with these numbers of A100.
std::vector<NodeSpec> A100s(const std::vector<int32_t>& gpus) {
  std::vector<NodeSpec> nodes;
  for (const int32_t count : gpus) {
    nodes.push_back(TestNode(absl::StrCat("n", nodes.size()), 1'000'000, count, "A100"));
  }
  return nodes;
}

PodShape Mig(std::vector<std::pair<std::string, int32_t>> instances) {
  PodShape shape = TestShape(1000, 0);
  shape.request.mig = std::move(instances);
  return shape;
}
PodShape One(const std::string& profile) { return Mig({{profile, 1}}); }

DeviceGrant GrantAt(const MigTable& table, size_t gpu, const std::string& profile, int32_t start) {
  const int known = table.FindProfile(profile);
  DRASIM_CHECK_GE(known, 0);
  const int placement = table.FindPlacement(static_cast<size_t>(known), start);
  DRASIM_CHECK_GE(placement, 0);
  return InstanceGrant(table, gpu, static_cast<size_t>(placement));
}

// A cluster, and two schedulers with the same policy: one with a cache, one without.
class Rig {
 public:
  explicit Rig(const std::string& policy, const std::vector<NodeSpec>& nodes, Ranks ranks = {},
               const Mix& mix = {}) {
    for (const char* const name : {"A100", "A30"}) DRASIM_CHECK(models_.Intern(name).ok());
    models_.SetMig(models_.Find("A100"), &A100());
    models_.SetMig(models_.Find("A30"), &A30());
    for (const NodeSpec& node : nodes) DRASIM_CHECK(cluster_.AddNode(node).ok());
    for (size_t n = ranks.size(); n < nodes.size(); ++n) ranks.push_back(static_cast<uint32_t>(n));
    parts_.context.mig = true;
    parts_.context.mig_mix = mix;
    for (const bool use_cache : {true, false}) {
      profiles_.push_back(
          std::make_unique<Profile>(MakeTestProfile(TestRegistry(), policy, {}, parts_)));
      cycles_.push_back(
          std::make_unique<SchedulingCycle>(profiles_.back().get(), &cluster_, ranks, use_cache));
    }
    summaries_.SetReasons(profiles_[0]->reasons());
  }

  // Places a pod of the shape: "n1:0@4 0@0", a GPU and a start per instance; "n1:0-2", GPUs for a
  // pod without; or why no node takes it.
  std::string Take(const PodShape& shape) {
    const ShapeId id = shapes_.Intern(shape);
    const PodId pod = cluster_.AddPod("pod", id, 0, SimTime());
    PodContext context;
    context.shape_id = id;
    context.shape = &shapes_.row(id);
    context.pod = pod;
    const Decision decision = cycles_[0]->Decide(context);
    const Decision other = cycles_[1]->Decide(context);
    EXPECT_EQ(other.node, decision.node);
    EXPECT_EQ(other.devices, decision.devices);
    EXPECT_EQ(other.grants, decision.grants);
    if (!decision.node.valid()) {
      EXPECT_EQ(cycles_[1]->Rejections(id), cycles_[0]->Rejections(id));
      return summaries_.Text(summaries_.Intern(cycles_[0]->Rejections(id)));
    }
    EXPECT_TRUE(cluster_.CanPlace(id, decision.node, decision.devices, decision.grants));
    size_t instances = 0;
    for (const auto& [name, count] : shapes_.row(id).request.mig)
      instances += static_cast<size_t>(count);
    EXPECT_EQ(decision.grants.size(), instances);
    cluster_.Assume(pod, decision.node, decision.devices, decision.grants);
    for (const auto& profile : profiles_) {
      for (ReservePlugin* const plugin : profile->reserves()) {
        EXPECT_EQ(plugin->Reserve(context, cluster_, decision.node).code, StepCode::kSuccess);
      }
    }
    cluster_.Bind(pod);
    running_.push_back(pod);
    return PlaceText(decision);
  }
  Texts TakeAll(const Texts& profiles) {
    Texts places;
    for (const std::string& profile : profiles) places.push_back(Take(One(profile)));
    return places;
  }

  // Places an instance of another pod.
  PodId Occupy(size_t node, size_t gpu, const std::string& profile, int32_t start) {
    const PodId pod = cluster_.AddPod("other", shapes_.Intern(One(profile)), 0, SimTime());
    const DeviceGrants grants = {GrantAt(A100(), gpu, profile, start)};
    cluster_.Assume(pod, NodeId(node), DevicesOf(grants), grants);
    cluster_.Bind(pod);
    return pod;
  }

  ClusterState& cluster() { return cluster_; }
  const ClusterState& cluster() const { return cluster_; }
  ShapeTable& shapes() { return shapes_; }
  Profile& profile(size_t which) { return *profiles_[which]; }
  SchedulingCycle& cycle() { return *cycles_[0]; }
  VerdictSummaryTable& summaries() { return summaries_; }
  std::vector<PodId>& running() { return running_; }

 private:
  std::string PlaceText(const Decision& decision) const {
    std::string text = absl::StrCat(cluster_.node_spec(decision.node).name, ":");
    if (decision.grants.empty()) return text + DevicesText(decision.devices);
    EXPECT_EQ(decision.devices, DevicesOf(decision.grants));
    for (size_t i = 0; i < decision.grants.size(); ++i) {
      const DeviceGrant& grant = decision.grants[i];
      const MigTable& table = *cluster_.mig_table(decision.node, grant.device);
      absl::StrAppend(&text, i == 0 ? "" : " ", int{grant.device}, "@",
                      int{table.placements()[grant.placement].start});
    }
    return text;
  }

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  ProfileParts parts_{std::vector<TypicalPod>(), 1, SimDuration()};
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::vector<std::unique_ptr<SchedulingCycle>> cycles_;
  VerdictSummaryTable summaries_;
  std::vector<PodId> running_;
};

std::string NoRoom(int nodes) {
  return absl::StrCat("0/", nodes, " nodes are available: ", nodes, " Insufficient MIG slots.");
}
std::string Refused(int nodes) {
  return absl::StrCat("0/", nodes, " nodes are available: ", nodes, " ", kRefusal, ".");
}

// ---- Which node, GPU and start ----

TEST(MigPlacementTest, FirstFitGoesByRank) {
  Rig rig("mig-first-fit", A100s({1, 2}));
  EXPECT_EQ(rig.TakeAll({"1g.10gb", "1g.10gb", "3g.40gb", "7g.80gb", "4g.40gb"}),
            (Texts{"n0:0@0", "n0:0@1", "n0:0@4", "n1:0@0", "n1:1@0"}));
  Rig reversed("mig-first-fit", A100s({1, 2}), {1, 0});
  EXPECT_EQ(reversed.TakeAll({"1g.10gb", "1g.10gb", "7g.80gb", "7g.80gb", "7g.80gb"}),
            (Texts{"n1:0@0", "n1:0@1", "n1:1@0", "n0:0@0", NoRoom(2)}));
}

TEST(MigPlacementTest, BestFitTakesTheFullestGpuOfAllNodes) {
  Rig rig("mig-best-fit", A100s({1, 1, 1}));
  rig.Occupy(1, 0, "1g.10gb", 0);
  rig.Occupy(2, 0, "4g.40gb", 0);
  EXPECT_EQ(rig.TakeAll({"2g.20gb", "3g.40gb", "1g.10gb", "4g.40gb", "7g.80gb"}),
            (Texts{"n2:0@4", "n1:0@4", "n2:0@6", "n0:0@0", NoRoom(3)}));
  // Two GPUs of seven free units: the rank decides between nodes, the index within a node.
  for (const Ranks& ranks : {Ranks{0, 1}, Ranks{1, 0}}) {
    Rig tie("mig-best-fit", A100s({1, 2}), ranks);
    tie.Occupy(0, 0, "1g.10gb", 6);
    tie.Occupy(1, 0, "1g.10gb", 0);
    tie.Occupy(1, 1, "1g.10gb", 0);
    EXPECT_EQ(tie.Take(One("2g.20gb")), ranks[0] == 0 ? "n0:0@4" : "n1:0@4");
  }
}

TEST(MigPlacementTest, WorstFitTakesTheEmptiestGpuOfAllNodes) {
  Rig rig("mig-worst-fit", A100s({1, 1, 1}));
  rig.Occupy(0, 0, "1g.10gb", 0);
  rig.Occupy(2, 0, "4g.40gb", 0);
  EXPECT_EQ(rig.TakeAll({"2g.20gb", "2g.20gb", "1g.10gb", "3g.40gb", "7g.80gb"}),
            (Texts{"n1:0@4", "n0:0@4", "n1:0@6", "n1:0@0", NoRoom(3)}));
  for (const Ranks& ranks : {Ranks{0, 1}, Ranks{1, 0}}) {
    Rig tie("mig-worst-fit", A100s({1, 2}), ranks);
    EXPECT_EQ(tie.Take(One("1g.10gb")), ranks[0] == 0 ? "n0:0@6" : "n1:0@6");
  }
}

// The sequences were worked out by a program of its own, from the definition of the measure.
TEST(MigPlacementTest, MfiTakesTheSmallestGrowthOfAllNodes) {
  const Texts wishes = {"1g.10gb", "3g.40gb", "2g.20gb", "1g.20gb", "4g.40gb",
                        "1g.10gb", "7g.80gb", "2g.20gb", "1g.10gb", "3g.40gb"};
  Rig any("mig-mfi-any", A100s({1, 2}));
  EXPECT_EQ(any.TakeAll(wishes), (Texts{"n0:0@6", "n0:0@0", "n0:0@4", "n1:0@6", "n1:0@0", "n1:0@4",
                                        "n1:1@0", NoRoom(2), "n1:0@5", NoRoom(2)}));
  Rig reversed("mig-mfi-any", A100s({1, 2}), {1, 0});
  EXPECT_EQ(reversed.TakeAll(wishes), (Texts{"n1:0@6", "n1:0@0", "n1:0@4", "n1:1@6", "n1:1@0",
                                             "n1:1@4", "n0:0@0", NoRoom(2), "n1:1@5", NoRoom(2)}));
  Rig part("mig-mfi-part", A100s({1, 2}));
  EXPECT_EQ(part.TakeAll(wishes), (Texts{"n0:0@6", "n0:0@0", "n0:0@4", "n1:0@4", "n1:0@0", "n1:0@6",
                                         "n1:1@0", NoRoom(2), NoRoom(2), NoRoom(2)}));
  // Some GPUs hold instances of other pods already.
  Rig third("mig-mfi-any", A100s({1, 1, 1}));
  third.Occupy(1, 0, "1g.10gb", 6);
  third.Occupy(2, 0, "4g.40gb", 0);
  EXPECT_EQ(
      third.TakeAll(
          {"3g.40gb", "1g.10gb", "1g.10gb", "3g.40gb", "2g.20gb", "4g.40gb", "1g.20gb", "7g.80gb"}),
      (Texts{"n2:0@4", "n1:0@4", "n1:0@5", "n1:0@0", "n0:0@4", "n0:0@0", "n0:0@6", NoRoom(3)}));
}

TEST(MigPlacementTest, WeightedMfiFollowsTheMixOfTheWorkload) {
  const Texts four(4, "1g.10gb");
  Rig doubles("mig-mfi-any-weighted", A100s({2, 1}), {}, {{"1g.20gb", 1000}, {"9g.90gb", 500}});
  const Texts places = doubles.TakeAll(four);
  EXPECT_EQ(Texts(places.begin(), places.begin() + 3), (Texts{"n0:0@0", "n0:0@1", "n0:0@2"}));
  Rig mixed("mig-mfi-any-weighted", A100s({2, 1}), {}, {{"2g.20gb", 500}, {"3g.40gb", 250}});
  EXPECT_EQ(mixed.TakeAll(four), (Texts{"n0:0@6", "n0:0@4", "n0:0@5", "n0:1@6"}));
  // Nothing is expected, so nothing costs anything.
  Rig empty("mig-mfi-part-weighted", A100s({2, 1}));
  EXPECT_EQ(empty.Take(One("1g.10gb")), "n0:0@0");
}

TEST(MigPlacementTest, InstaSliceSpreads) {
  Rig rig("mig-instaslice", A100s({1, 2}));
  EXPECT_EQ(rig.TakeAll(Texts(5, "1g.10gb")),
            (Texts{"n0:0@0", "n1:0@0", "n1:0@1", "n0:0@1", "n1:0@2"}));
  Rig reversed("mig-instaslice", A100s({1, 1}), {1, 0});
  EXPECT_EQ(reversed.TakeAll(Texts(3, "2g.20gb")), (Texts{"n1:0@0", "n0:0@0", "n1:0@2"}));
}

// ---- Round robin ----

TEST(MigPlacementTest, RoundRobinOverNodesWithOneGpu) {
  for (const Ranks& ranks : {Ranks{0, 1, 2}, Ranks{2, 1, 0}}) {
    Rig rig("mig-round-robin", A100s({1, 1, 1}), ranks);
    EXPECT_EQ(rig.TakeAll(Texts(4, "1g.10gb")), (Texts{"n0:0@0", "n1:0@0", "n2:0@0", "n0:0@1"}));
    Rig gap("mig-round-robin", A100s({1, 1, 1}), ranks);
    const PodId full = gap.Occupy(1, 0, "7g.80gb", 0);
    EXPECT_EQ(gap.TakeAll(Texts(4, "1g.10gb")), (Texts{"n0:0@0", "n2:0@0", "n0:0@1", "n2:0@1"}));
    gap.cluster().Finish(full);
    EXPECT_EQ(gap.TakeAll(Texts(3, "1g.10gb")), (Texts{"n0:0@2", "n1:0@0", "n2:0@2"}));
    EXPECT_EQ(gap.Take(One("7g.80gb")), NoRoom(3));
    EXPECT_EQ(gap.Take(One("1g.10gb")), "n0:0@3");
  }
}

TEST(MigPlacementTest, RoundRobinOverNodesWithSeveralGpus) {
  for (const Ranks& ranks : {Ranks{0, 1}, Ranks{1, 0}}) {
    Rig rig("mig-round-robin", A100s({2, 3}), ranks);
    EXPECT_EQ(rig.TakeAll(Texts(7, "1g.10gb")),
              (Texts{"n0:0@0", "n0:1@0", "n1:0@0", "n1:1@0", "n1:2@0", "n0:0@1", "n0:1@1"}));
    // A GPU on which the instance does not go is passed over.
    Rig gaps("mig-round-robin", A100s({2, 3}), ranks);
    gaps.Occupy(0, 1, "7g.80gb", 0);
    gaps.Occupy(1, 0, "1g.10gb", 2);
    EXPECT_EQ(gaps.TakeAll(Texts(4, "4g.40gb")), (Texts{"n0:0@0", "n1:1@0", "n1:2@0", NoRoom(2)}));
    // After all others come the first GPUs of the same node.
    Rig own("mig-round-robin", A100s({2, 1}), ranks);
    own.Occupy(1, 0, "7g.80gb", 0);
    EXPECT_EQ(own.TakeAll(Texts(4, "1g.10gb")), (Texts{"n0:0@0", "n0:1@0", "n0:0@1", "n0:1@1"}));
  }
}

TEST(MigPlacementTest, RoundRobinGoesOnBehindTheLastOfSeveralInstances) {
  Rig rig("mig-round-robin", A100s({3, 2}));
  EXPECT_EQ(rig.Take(Mig({{"1g.10gb", 2}})), "n0:0@0 1@0");
  EXPECT_EQ(rig.Take(TestShape(1000, 1)), "n0:2");  // not its business
  EXPECT_EQ(rig.Take(One("1g.10gb")), "n1:0@0");
  EXPECT_EQ(rig.Take(One("1g.10gb")), "n1:1@0");
  EXPECT_EQ(rig.Take(One("1g.10gb")), "n0:0@1");
}

TEST(MigPlacementTest, RoundRobinGoesOnAfterACheckpoint) {
  Rig before("mig-round-robin", A100s({2, 3}));
  EXPECT_EQ(before.TakeAll(Texts(3, "1g.10gb")), (Texts{"n0:0@0", "n0:1@0", "n1:0@0"}));
  StateWriter out;
  before.profile(0).Save(out);
  const auto like_before = [](Rig* rig) {
    rig->Occupy(0, 0, "1g.10gb", 0);
    rig->Occupy(0, 1, "1g.10gb", 0);
    rig->Occupy(1, 0, "1g.10gb", 0);
  };
  Rig fresh("mig-round-robin", A100s({2, 3}));
  like_before(&fresh);
  EXPECT_EQ(fresh.Take(One("1g.10gb")), "n0:0@1");
  Rig after("mig-round-robin", A100s({2, 3}));
  like_before(&after);
  for (const size_t which : {size_t{0}, size_t{1}}) {
    StateReader in(out.bytes());
    ASSERT_EQ(after.profile(which).Load(in), absl::OkStatus());
    EXPECT_TRUE(in.AtEnd());
    StateWriter again;
    after.profile(which).Save(again);
    EXPECT_EQ(again.bytes(), out.bytes());
  }
  const Texts next = after.TakeAll(Texts(5, "1g.10gb"));
  EXPECT_EQ(next, (Texts{"n1:1@0", "n1:2@0", "n0:0@1", "n0:1@1", "n1:0@1"}));
  EXPECT_EQ(before.TakeAll(Texts(5, "1g.10gb")), next);
  for (const int64_t gpu : {int64_t{-2}, int64_t{kMaxDevicesPerNode}}) {
    StateWriter bad;
    bad.U64(1);
    bad.I64(gpu);
    StateReader in(bad.bytes());
    const absl::Status loaded = after.profile(0).scores()[0].plugin->Load(in);
    EXPECT_TRUE(absl::StrContains(loaded.message(), "impossible GPU")) << loaded;
  }
}

// ---- Rules that place less than geometry allows ----

TEST(MigPlacementTest, RefusalsGiveTheirReason) {
  std::vector<NodeSpec> nodes = A100s({1, 1});
  nodes.push_back(TestNode("t4", 1'000'000, 1, "T4"));
  nodes.push_back(TestNode("a30", 1'000'000, 1, "A30"));
  Rig nos("mig-nos", nodes);
  nos.Occupy(0, 0, "4g.40gb", 0);
  nos.Occupy(1, 0, "7g.80gb", 0);
  EXPECT_EQ(nos.Take(One("3g.40gb")),
            absl::StrCat("0/4 nodes are available: 1 Insufficient MIG slots, 1 node(s) had no GPU "
                         "with MIG, 1 ",
                         kRefusal, ", 1 node(s) had no such MIG profile."));
  EXPECT_EQ(nos.Take(One("2g.20gb")), "n0:0@4");
  // Others see room there.
  Rig geometry("mig-first-fit", A100s({1}));
  geometry.Occupy(0, 0, "4g.40gb", 0);
  EXPECT_EQ(geometry.Take(One("3g.40gb")), "n0:0@4");
  Rig together("mig-nos", A100s({1}));
  EXPECT_EQ(together.Take(Mig({{"3g.40gb", 1}, {"4g.40gb", 1}})), Refused(1));

  Rig parted("mig-parted", A100s({1, 1}));
  EXPECT_EQ(parted.TakeAll(Texts(3, "1g.10gb")), (Texts{"n0:0@6", "n1:0@6", Refused(2)}));
  Rig halves("mig-parted", A100s({1}));
  EXPECT_EQ(halves.Take(Mig({{"3g.40gb", 2}})), "n0:0@0 0@4");

  Rig parva("mig-parvagpu", A100s({1, 1}));
  EXPECT_EQ(parva.TakeAll(Texts(3, "3g.40gb")), (Texts{"n0:0@4", "n1:0@4", Refused(2)}));

  PodShape elsewhere = One("1g.10gb");
  elsewhere.request.gpu_spec = "A30";
  Rig choosy("mig-first-fit", A100s({1}));
  EXPECT_EQ(choosy.Take(elsewhere), "0/1 nodes are available: 1 node(s) had no such MIG profile.");
}

// ---- Nodes with several GPU models ----

NodeSpec MixedNode(const std::string& name, std::vector<std::string> models) {
  NodeSpec node = TestNode(name, 1'000'000, static_cast<int32_t>(models.size()), "");
  node.gpu_models = std::move(models);
  return node;
}

TEST(MigPlacementTest, EachGpuOfANodeHasItsProfiles) {
  Rig rig("mig-first-fit", {MixedNode("n0", {"A100", "T4", "A30", "A30"})});
  EXPECT_EQ(rig.TakeAll({"1g.6gb", "1g.10gb", "4g.24gb"}), (Texts{"n0:2@0", "n0:0@0", "n0:3@0"}));
  // The instances of a pod come from GPUs of one model.
  EXPECT_EQ(rig.Take(Mig({{"1g.10gb", 1}, {"1g.6gb", 1}})),
            "0/1 nodes are available: 1 node(s) had no such MIG profile.");
  EXPECT_EQ(rig.Take(Mig({{"2g.12gb", 2}})), NoRoom(1));
  EXPECT_EQ(rig.Take(One("2g.12gb")), "n0:2@2");
  // Pods without instances take unpartitioned GPUs, of models that they accept.
  PodShape whole = TestShape(1000, 1);
  whole.request.gpu_spec = "A30|A100";
  EXPECT_EQ(rig.Take(whole), "0/1 nodes are available: 1 Insufficient GPU.");
  whole.request.gpu_spec = "T4|A30";
  EXPECT_EQ(rig.Take(whole), "n0:1");
  PodShape elsewhere = One("1g.6gb");
  elsewhere.request.gpu_spec = "A100";
  EXPECT_EQ(rig.Take(elsewhere), "0/1 nodes are available: 1 node(s) had no such MIG profile.");
  EXPECT_EQ(rig.cluster().CheckInvariants(), absl::OkStatus());
  Rig without("mig-first-fit", {MixedNode("n0", {"T4", "V100"})});
  EXPECT_EQ(without.Take(One("1g.6gb")), "0/1 nodes are available: 1 node(s) had no GPU with MIG.");
}

TEST(MigPlacementTest, EveryRuleKnowsNodesWithSeveralModels) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    Rig rig(info.name, {MixedNode("n0", {"A100", "T4", "A30"})});
    EXPECT_TRUE(absl::StartsWith(rig.Take(One("1g.6gb")), "n0:2@")) << info.name;
    EXPECT_TRUE(absl::StartsWith(rig.Take(One("3g.40gb")), "n0:0@")) << info.name;
    EXPECT_EQ(rig.Take(Mig({{"7g.80gb", 2}})), NoRoom(1)) << info.name;
    EXPECT_EQ(rig.cluster().CheckInvariants(), absl::OkStatus()) << info.name;
  }
}

// ---- Several instances, none, and gangs ----

TEST(MigPlacementTest, SeveralInstancesOfOnePod) {
  Rig first("mig-first-fit", A100s({1, 2}));
  EXPECT_EQ(first.Take(Mig({{"1g.10gb", 2}, {"3g.40gb", 1}})), "n0:0@0 0@1 0@4");
  EXPECT_EQ(first.Take(Mig({{"7g.80gb", 2}})), "n1:0@0 1@0");
  // One after the other would keep the 4g out.
  Rig ahead("mig-first-fit", A100s({1}));
  EXPECT_EQ(ahead.Take(Mig({{"1g.10gb", 1}, {"4g.40gb", 1}})), "n0:0@4 0@0");
  Rig best("mig-best-fit", A100s({1}));
  EXPECT_EQ(best.Take(Mig({{"1g.10gb", 2}, {"3g.40gb", 1}})), "n0:0@6 0@5 0@0");
  for (const MigRuleInfo& info : MigRuleInfos()) {
    Rig small(info.name, A100s({1, 1}));
    EXPECT_EQ(small.Take(Mig({{"7g.80gb", 2}})), NoRoom(2)) << info.name;
  }
}

TEST(MigPlacementTest, PodsWithoutInstances) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    SCOPED_TRACE(info.name);
    Rig rig(info.name, A100s({1, 2}), {1, 0});
    rig.Occupy(1, 0, "1g.10gb", 0);
    EXPECT_EQ(rig.Take(TestShape(1000, 0)), "n1:");
    EXPECT_EQ(rig.Take(TestShape(1000, 1)), "n1:1");
    EXPECT_EQ(rig.Take(TestShape(1000, 1, 300)), "n0:0");
    EXPECT_EQ(rig.Take(TestShape(1000, 1, 300)), "n0:0");
    EXPECT_EQ(rig.Take(TestShape(1000, 1)), "0/2 nodes are available: 2 Insufficient GPU.");
    EXPECT_EQ(rig.Take(One("7g.80gb")), NoRoom(2));
  }
}

TEST(MigPlacementTest, AGangIsPlacedAsAWhole) {
  for (const int32_t pods : {2, 3}) {
    Rig rig("mig-best-fit", A100s({1, 1}));
    JobArrival gang;
    gang.name = "gang";
    gang.shape = rig.shapes().Intern(One("4g.40gb"));
    gang.pods = pods;
    JobTable jobs;
    const JobId job = jobs.Add(gang, PodId(size_t{0}), rig.shapes());
    for (int32_t i = 0; i < pods; ++i) rig.cluster().AddPod("pod", gang.shape, 0, SimTime());
    Placer placer(&rig.profile(0), &rig.cluster(), &jobs, &rig.cycle(), &rig.summaries(), true);
    EXPECT_EQ(placer.CouldEverFit(job), pods == 2);
    const std::optional<Placer::Failure> failure = placer.Place(job, SimTime());
    EXPECT_EQ(failure.has_value(), pods == 3);
    if (failure.has_value()) {
      EXPECT_EQ(rig.summaries().Text(failure->why), NoRoom(2));
    }
    for (size_t n = 0; n < 2; ++n) {
      EXPECT_EQ(rig.cluster().pod_node(PodId(n)), pods == 2 ? NodeId(n) : NodeId());
      EXPECT_EQ(rig.cluster().device_mig(NodeId(n))[0],
                pods == 2 ? TestState(A100(), {{"4g.40gb", 0}}) : 0);
    }
    EXPECT_EQ(rig.cluster().CheckInvariants(), absl::OkStatus());
  }
}

// ---- Random sequences ----

// First, best and worst fit as plainly as possible; "" when nothing fits.
std::string NaivePlace(const Rig& rig, MigRule rule, const std::string& profile,
                       const Ranks& ranks) {
  const auto wanted = static_cast<size_t>(A100().FindProfile(profile));
  std::string place;
  int64_t best_free = 0;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    size_t n = 0;
    while (ranks[n] != rank) ++n;
    const NodeId node(n);
    if (!rig.cluster().node(node).schedulable) continue;
    for (size_t gpu = 0; gpu < rig.cluster().device_mig(node).size(); ++gpu) {
      const MigState state = rig.cluster().device_mig(node)[gpu];
      if (state == 0 && rig.cluster().device_milli_idle(node)[gpu] != kDeviceMilli) continue;
      const uint64_t legal = A100().legal(state) & A100().placements_of(wanted);
      if (legal == 0) continue;
      const int64_t free = 8 - std::popcount(A100().units_used(state));
      const bool ahead = rule == MigRule::kBestFit ? free < best_free
                                                   : rule == MigRule::kWorstFit && free > best_free;
      if (!place.empty() && !ahead) continue;
      best_free = free;
      int start = -1;
      for (size_t p = 0; p < A100().placements().size(); ++p) {
        const int candidate = A100().placements()[p].start;
        const bool better = rule == MigRule::kFirstFit ? start < 0 : candidate > start;
        if ((legal >> p & 1) != 0 && better) start = candidate;
      }
      place = absl::StrCat("n", n, ":", gpu, "@", start);
    }
  }
  return place;
}

void RunRandomly(const MigRuleInfo& info, uint64_t seed) {
  Random random(seed, info.name);
  const Ranks ranks = RandomRanks(4, random);
  Rig rig(info.name, A100s({1, 2, 4, 2}), ranks, {{"1g.10gb", 600}, {"3g.40gb", 400}});
  const Texts profiles = {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb",
                          "3g.40gb", "4g.40gb",    "7g.80gb"};
  const std::vector<PodShape> others = {
      Mig({{"1g.10gb", 2}}), Mig({{"1g.10gb", 1}, {"3g.40gb", 1}}),
      Mig({{"1g.20gb", 1}, {"2g.20gb", 2}}), TestShape(1000, 1), TestShape(1000, 1, 400)};
  int placed = 0;
  int failed = 0;
  for (int step = 0; step < 250 && !::testing::Test::HasFailure(); ++step) {
    const uint64_t action = random.Below(10);
    if (action < 3 && !rig.running().empty()) {
      const auto i = static_cast<size_t>(random.Below(rig.running().size()));
      rig.cluster().Finish(rig.running()[i]);
      rig.running().erase(rig.running().begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (action == 3) {
      const NodeId node(static_cast<size_t>(random.Below(4)));
      rig.cluster().SetSchedulable(node, random.Below(3) > 0);
      continue;
    }
    std::string expected;
    std::string place;
    if (random.Below(4) == 0) {
      place = rig.Take(OneOf(others, random));
    } else {
      const std::string& profile = OneOf(profiles, random);
      const bool known = info.rule == MigRule::kFirstFit || info.rule == MigRule::kBestFit ||
                         info.rule == MigRule::kWorstFit;
      if (known) expected = NaivePlace(rig, info.rule, profile, ranks);
      place = rig.Take(One(profile));
      if (known) {
        EXPECT_EQ(absl::StartsWith(place, "0/") ? "" : place, expected) << profile;
      }
    }
    ++(absl::StartsWith(place, "0/") ? failed : placed);
  }
  EXPECT_GT(placed, 30);
  EXPECT_GT(failed, 0);
  EXPECT_EQ(rig.cluster().CheckInvariants(), absl::OkStatus());
}

TEST(MigPlacementTest, CachedAndUncachedCyclesDecideAlike) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    for (uint64_t seed = 0; seed < SoakSeeds(2); ++seed) {
      SCOPED_TRACE(absl::StrCat(info.name, " ", seed));
      RunRandomly(info, seed);
    }
  }
}

}  // namespace mig_placement_test
}  // namespace drasim
