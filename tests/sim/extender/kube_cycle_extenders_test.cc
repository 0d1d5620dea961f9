// KubeCycle's calls of extenders, with extenders that exist only here.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/kube/shape_of_pod.h"
#include "model/kube/spec_of_node.h"
#include "policies/builtins.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "sim/core/extender.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/scenario/kube_config.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;

class ScriptedExtender : public Extender {
 public:
  explicit ScriptedExtender(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  bool ignorable() const override { return is_ignorable; }
  int64_t weight() const override { return 3; }
  bool filters() const override { return !favours.valid(); }
  bool prioritizes() const override { return favours.valid(); }
  bool preempts() const override { return false; }
  bool binds() const override { return false; }
  bool IsInterested(PodId) const override { return true; }
  absl::StatusOr<ExtenderVerdict> Filter(PodId, absl::Span<const NodeId> nodes) override {
    seen.assign(nodes.begin(), nodes.end());
    if (fails) return absl::UnavailableError("out of order");
    ExtenderVerdict verdict;
    for (const NodeId node : nodes) {
      if (node == refused) {
        verdict.failures.push_back({node, true, "refused"});
      } else {
        verdict.passed.insert(verdict.passed.begin(), node);
      }
    }
    return verdict;
  }
  absl::StatusOr<std::vector<ExtenderScore>> Prioritize(PodId, absl::Span<const NodeId>) override {
    if (fails) return absl::UnavailableError("out of order");
    return std::vector<ExtenderScore>{{favours, 4}};
  }
  absl::StatusOr<std::vector<PreemptionReport::Candidate>> Preempt(
      PodId, absl::Span<const PreemptionReport::Candidate>) override {
    return absl::UnimplementedError("never asked");
  }
  absl::Status Bind(PodId, NodeId) override { return absl::UnimplementedError("never asked"); }

  bool is_ignorable = false;
  bool fails = false;
  NodeId refused;
  NodeId favours;  // valid: it scores rather than filters
  std::vector<NodeId> seen;

 private:
  const std::string name_;
};

class KubeCycleExtendersTest : public ::testing::Test {
 protected:
  KubeCycleExtendersTest() {
    RegisterBuiltins(registry_);
    ProfileSpec spec = DefaultProfileSpec();
    spec.percentage_of_nodes = 100;
    absl::StatusOr<Profile> profile = Profile::MakeKube(registry_, spec, PolicyContext());
    DRASIM_CHECK(profile.ok());
    profiles_.push_back(*std::move(profile));
    for (const char* name : {"n0", "n1", "n2", "n3"}) {
      proto::kube::Node node;
      node.mutable_metadata()->set_name(name);
      auto& allocatable = *node.mutable_status()->mutable_allocatable();
      allocatable["cpu"] = "4";
      allocatable["memory"] = "8Gi";
      allocatable["pods"] = "10";
      DRASIM_CHECK(cluster_.AddNode(SpecOfNode(node)).ok());
    }
    proto::kube::Pod pod;
    pod.mutable_metadata()->set_name("p");
    pod.mutable_spec()->add_containers()->set_name("c");
    shape_ = shapes_.Intern(ShapeOfPod(pod));
    pod_ = cluster_.AddPod("default/p", shape_, /*priority=*/0, SimTime());
  }

  AttemptResult Try(std::vector<Extender*> extenders) {
    cycle_.set_extenders(std::move(extenders));
    const PodContext pod{shape_, &cluster_.pod_shape(pod_), pod_, SimTime()};
    AttemptResult plain = cycle_.Schedule(&profiles_[0], pod, /*wants_message=*/true, nullptr);
    const AttemptResult detailed =
        cycle_.Schedule(&profiles_[0], pod, /*wants_message=*/true, &detail_);
    EXPECT_EQ(plain.node, detailed.node);
    EXPECT_EQ(plain.message, detailed.message);
    EXPECT_EQ(plain.extender_waits, detailed.extender_waits);
    return plain;
  }

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  Registry registry_;
  std::vector<Profile> profiles_;
  Nominator nominator_;
  KubeCycle cycle_{&cluster_, &nominator_, KubeCycleOptions(), /*seed=*/1};
  ShapeId shape_;
  PodId pod_;
  AttemptDetail detail_;
  ScriptedExtender a_{"a"};
  ScriptedExtender b_{"b"};
};

TEST_F(KubeCycleExtendersTest, WithoutExtendersNothingWaits) {
  const AttemptResult result = Try({});
  EXPECT_EQ(result.node, NodeId(0u));
  EXPECT_EQ(result.extender_waits, 0);
  EXPECT_FALSE(result.by_extender);
}

TEST_F(KubeCycleExtendersTest, EachSeesWhatTheOneBeforeItLeft) {
  a_.refused = NodeId(0u);
  b_.refused = NodeId(2u);
  const AttemptResult result = Try({&a_, &b_});
  EXPECT_THAT(b_.seen, ElementsAre(NodeId(3u), NodeId(2u), NodeId(1u)));
  EXPECT_EQ(result.node, NodeId(1u));
  EXPECT_EQ(result.extender_waits, 2);
  EXPECT_THAT(detail_.feasible, ElementsAre(NodeId(1u), NodeId(3u)));
  ASSERT_EQ(detail_.infeasible.size(), 2u);
  EXPECT_EQ(detail_.infeasible[0].node, NodeId(0u));
  EXPECT_EQ(detail_.infeasible[0].code, StepCode::kUnresolvable);
  EXPECT_THAT(detail_.infeasible[1].reasons, ElementsAre("refused"));
}

TEST_F(KubeCycleExtendersTest, AnErrorEndsTheAttemptUnlessIgnorable) {
  a_.fails = true;
  const AttemptResult strict = Try({&a_, &b_});
  EXPECT_EQ(strict.outcome, AttemptResult::Outcome::kError);
  EXPECT_EQ(strict.message, "out of order");
  EXPECT_TRUE(b_.seen.empty());
  a_.is_ignorable = true;
  b_.refused = NodeId(0u);
  const AttemptResult lenient = Try({&a_, &b_});
  EXPECT_EQ(lenient.node, NodeId(1u));
  EXPECT_EQ(b_.seen.size(), 4u);
  EXPECT_EQ(lenient.extender_waits, 2);
}

TEST_F(KubeCycleExtendersTest, ScoresAreAskedForAtTheSameTime) {
  Try({});
  const std::vector<int64_t> before = detail_.totals;
  a_.favours = NodeId(2u);
  b_.favours = NodeId(2u);
  const AttemptResult result = Try({&a_, &b_});
  EXPECT_EQ(result.node, NodeId(2u));
  EXPECT_EQ(result.extender_waits, 1);
  // 4 x weight 3 x 10, twice.
  EXPECT_THAT(detail_.totals, ElementsAre(before[0], before[1], before[2] + 240, before[3]));
  b_.fails = true;
  Try({&a_, &b_});
  EXPECT_EQ(detail_.totals[2], before[2] + 120);
}

TEST_F(KubeCycleExtendersTest, ARefusedNominationLeavesTheOtherNodes) {
  nominator_.Nominate(pod_, NodeId(2u));
  EXPECT_EQ(Try({&a_}).node, NodeId(2u));
  EXPECT_TRUE(detail_.via_nominated_node);
  EXPECT_THAT(a_.seen, ElementsAre(NodeId(2u)));
  a_.refused = NodeId(2u);
  const AttemptResult result = Try({&a_});
  EXPECT_EQ(result.node, NodeId(0u));
  EXPECT_FALSE(detail_.via_nominated_node);
  EXPECT_EQ(a_.seen.size(), 4u);
  a_.fails = true;
  EXPECT_EQ(Try({&a_}).outcome, AttemptResult::Outcome::kError);
}

}  // namespace
}  // namespace drasim
