// InterPodAffinity: figures of upstream's scoring_test.go and filtering_test.go, trials, and hints.
#include "policies/plugins/inter_pod_affinity.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/plugin_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using Verdicts = std::vector<int>;
using Scores = std::vector<int64_t>;

LabelSelector Requires(const std::string& key, SelectorOperator op,
                       std::vector<std::string> values = {}) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements.push_back({key, op, std::move(values)});
  return selector;
}

AffinityTerm TermFor(const std::string& topology_key, const std::string& security) {
  return {topology_key, Requires("security", SelectorOperator::kIn, {security}), {"default"}, {}};
}

PodShape SecurePod(const std::string& security, PodTopology topology = {}) {
  PodShape shape = TestShape(1, 0);
  shape.identity.ns = "default";
  if (!security.empty()) shape.identity.labels = {{"security", security}};
  shape.topology = std::move(topology);
  return shape;
}

PodTopology Affinity(std::vector<AffinityTerm> terms) {
  PodTopology topology;
  topology.affinity = std::move(terms);
  return topology;
}
PodTopology AntiAffinity(std::vector<AffinityTerm> terms) {
  PodTopology topology;
  topology.anti_affinity = std::move(terms);
  return topology;
}
PodTopology Prefers(std::vector<WeightedAffinityTerm> terms) {
  PodTopology topology;
  topology.preferred_affinity = std::move(terms);
  return topology;
}
PodTopology Avoids(std::vector<WeightedAffinityTerm> terms) {
  PodTopology topology;
  topology.preferred_anti_affinity = std::move(terms);
  return topology;
}

class AffinityRig {
 public:
  // Nodes of these regions; "": without the label.
  explicit AffinityRig(const std::vector<std::string>& regions) {
    for (const std::string& region : regions) {
      NodeSpec spec = TestNode(absl::StrCat("n", builder_.cluster().node_count()), 100000, 0);
      spec.labels = {{"az", absl::StrCat("az", builder_.cluster().node_count())}};
      if (!region.empty()) spec.labels.emplace_back("region", region);
      builder_.AddNode(spec);
    }
  }
  PodId Add(const PodShape& shape, uint32_t node) {
    const PodId pod = builder_.cluster().AddPod("p", builder_.AddShape(shape), 0, SimTime());
    builder_.cluster().Adopt(pod, NodeId(node));
    return pod;
  }
  ClusterBuilder& builder() { return builder_; }
  ClusterState& cluster() { return builder_.cluster(); }

  Verdicts Filter(const PodShape& shape, NamespaceRule rule = NamespaceRule::kEmptyLabelsToo) {
    InterPodAffinity plugin(InterPodAffinityArgs(), rule);
    const StepResult result = PreFilterResult(plugin, builder_, shape);
    EXPECT_EQ(result.code, StepCode::kSuccess) << result.message;
    return FilterVerdicts(plugin, builder_, shape);
  }
  StepCode PreFilterCode(const PodShape& shape) {
    InterPodAffinity plugin{InterPodAffinityArgs()};
    return PreFilterResult(plugin, builder_, shape).code;
  }
  StepCode PreScoreCode(const PodShape& shape, InterPodAffinityArgs args = {}) {
    InterPodAffinity plugin(args);
    return PreScoreResult(plugin, builder_, shape).code;
  }
  Scores Raw(const PodShape& shape, InterPodAffinityArgs args = {}) {
    InterPodAffinity plugin(args);
    EXPECT_EQ(PreScoreResult(plugin, builder_, shape).code, StepCode::kSuccess);
    return RawScores(plugin, builder_, shape);
  }
  Scores Normalised(const PodShape& shape) {
    InterPodAffinity plugin{InterPodAffinityArgs()};
    EXPECT_EQ(PreScoreResult(plugin, builder_, shape).code, StepCode::kSuccess);
    return FinalScores(plugin, builder_, shape);
  }

 private:
  ClusterBuilder builder_;
};

// ---- Score ----

TEST(InterPodAffinityTest, PrefersRegionsOfMatchingPods) {
  AffinityRig rig({"China", "India", ""});
  rig.Add(SecurePod("S1"), 0);
  rig.Add(SecurePod("S2"), 1);
  rig.Add(SecurePod("S1"), 2);
  EXPECT_EQ(rig.Normalised(SecurePod("", Prefers({{5, TermFor("region", "S1")}}))),
            (Scores{100, 0, 0}));
  EXPECT_EQ(rig.PreScoreCode(SecurePod("S1")), StepCode::kSkip);
}

TEST(InterPodAffinityTest, AllNodesOfARegionScore) {
  AffinityRig rig({"China", "China", "India"});
  rig.Add(SecurePod("S1"), 0);
  EXPECT_EQ(rig.Normalised(SecurePod("", Prefers({{5, TermFor("region", "S1")}}))),
            (Scores{100, 100, 0}));
}

TEST(InterPodAffinityTest, WeightsAdd) {
  AffinityRig rig({"China", "India", ""});
  rig.Add(SecurePod("S2"), 0);
  rig.Add(SecurePod("S1"), 1);
  rig.Add(SecurePod("S2"), 1);
  const PodShape shape =
      SecurePod("", Prefers({{8, TermFor("region", "S1")}, {2, TermFor("region", "S2")}}));
  EXPECT_EQ(rig.Raw(shape), (Scores{2, 10, 0}));
  EXPECT_EQ(rig.Normalised(shape), (Scores{20, 100, 0}));
}

TEST(InterPodAffinityTest, ResidentsAttractByTheirTerms) {
  AffinityRig rig({"China", "India", "China"});
  rig.Add(SecurePod("", Prefers({{8, TermFor("az", "S1")}})), 1);
  rig.Add(SecurePod("", Prefers({{8, TermFor("az", "S2")}})), 0);
  EXPECT_EQ(rig.Normalised(SecurePod("S1")), (Scores{0, 100, 0}));
  AffinityRig hard({"China", "India", "China", ""});
  hard.Add(SecurePod("", Affinity({TermFor("region", "S1")})), 0);
  hard.Add(SecurePod("", Affinity({TermFor("region", "S1")})), 1);
  EXPECT_EQ(hard.Normalised(SecurePod("S1")), (Scores{100, 100, 100, 0}));
  InterPodAffinityArgs args;
  args.hard_pod_affinity_weight = 40;
  EXPECT_EQ(hard.Raw(SecurePod("S1"), args), (Scores{40, 40, 40, 0}));
  args.hard_pod_affinity_weight = 0;
  EXPECT_EQ(hard.PreScoreCode(SecurePod("S1"), args), StepCode::kSkip);
}

TEST(InterPodAffinityTest, AvoidsDomainsOfMatchingPods) {
  AffinityRig rig({"", ""});
  rig.Add(SecurePod("S1"), 0);
  EXPECT_EQ(rig.Normalised(SecurePod("", Avoids({{5, TermFor("az", "S1")}}))), (Scores{0, 100}));
  AffinityRig mutual({"", ""});
  mutual.Add(SecurePod("", Avoids({{5, TermFor("az", "S1")}})), 1);
  EXPECT_EQ(mutual.Normalised(SecurePod("S1")), (Scores{100, 0}));
}

TEST(InterPodAffinityTest, EqualScoresBecomeZero) {
  AffinityRig rig({"China", "China"});
  rig.Add(SecurePod("S1"), 0);
  EXPECT_EQ(rig.Normalised(SecurePod("", Prefers({{5, TermFor("region", "S1")}}))), (Scores{0, 0}));
  // Weights that cancel are not nothing.
  PodTopology both = Prefers({{5, TermFor("region", "S1")}});
  both.preferred_anti_affinity = both.preferred_affinity;
  EXPECT_EQ(rig.Raw(SecurePod("", both)), (Scores{0, 0}));
}

TEST(InterPodAffinityTest, NormalisationDividesFirst) {
  const InterPodAffinity plugin{InterPodAffinityArgs()};
  Scores scores = {0, 29, 100};
  plugin.NormalizeScore({}, absl::MakeSpan(scores));
  // 100 * (29 / 100.0) is just below 29.
  EXPECT_EQ(scores, (Scores{0, 28, 100}));
}

TEST(InterPodAffinityTest, TermsOfResidentsMayBeIgnored) {
  AffinityRig rig({"China", "India"});
  rig.Add(SecurePod("S2", Prefers({{8, TermFor("region", "S1")}})), 1);
  InterPodAffinityArgs args;
  args.ignore_preferred_terms_of_existing_pods = true;
  EXPECT_EQ(rig.PreScoreCode(SecurePod("S1"), args), StepCode::kSkip);
  // A quirk: with preferences of its own, those of residents count after all.
  EXPECT_EQ(rig.Raw(SecurePod("S1", Prefers({{1, TermFor("region", "S2")}})), args),
            (Scores{0, 9}));
}

// ---- Filter ----

TEST(InterPodAffinityTest, AffinityNeedsOnePodForAllTerms) {
  AffinityRig rig({"China", "India", ""});
  rig.Add(SecurePod("S1"), 0);
  PodShape both = SecurePod("S1");
  both.identity.labels.insert(both.identity.labels.begin(), {"app", "x"});
  rig.Add(both, 1);
  const AffinityTerm secure = TermFor("region", "S1");
  EXPECT_EQ(rig.Filter(SecurePod("", Affinity({secure}))), (Verdicts{0, 0, 1}));
  AffinityTerm app = secure;
  app.selector = Requires("app", SelectorOperator::kExists);
  EXPECT_EQ(rig.Filter(SecurePod("", Affinity({secure, app}))), (Verdicts{1, 0, 1}));
}

TEST(InterPodAffinityTest, TheFirstOfAGroupFitsWhereTheKeysAre) {
  AffinityRig rig({"China", ""});
  const PodShape first = SecurePod("S1", Affinity({TermFor("region", "S1")}));
  EXPECT_EQ(rig.Filter(first), (Verdicts{0, 1}));
  EXPECT_EQ(rig.Filter(SecurePod("S2", Affinity({TermFor("region", "S1")}))), (Verdicts{1, 1}));
  rig.Add(first, 0);
  EXPECT_EQ(rig.Filter(first), (Verdicts{0, 1}));
}

TEST(InterPodAffinityTest, AntiAffinityWorksBothWays) {
  AffinityRig rig({"China", "China", "India", ""});
  rig.Add(SecurePod("S1"), 0);
  EXPECT_EQ(rig.Filter(SecurePod("", AntiAffinity({TermFor("region", "S1")}))),
            (Verdicts{2, 2, 0, 0}));
  EXPECT_EQ(rig.PreFilterCode(SecurePod("S2")), StepCode::kSkip);
  const PodId guard =
      rig.Add(SecurePod("", AntiAffinity({TermFor("region", "S2"), TermFor("az", "S3")})), 2);
  EXPECT_EQ(rig.Filter(SecurePod("S2")), (Verdicts{0, 0, 3, 0}));
  EXPECT_EQ(rig.Filter(SecurePod("S3")), (Verdicts{0, 0, 3, 0}));
  EXPECT_EQ(rig.PreFilterCode(SecurePod("S4")), StepCode::kSkip);
  rig.cluster().Delete(guard);
  EXPECT_EQ(rig.PreFilterCode(SecurePod("S2")), StepCode::kSkip);
  const InterPodAffinity plugin{InterPodAffinityArgs()};
  EXPECT_FALSE(plugin.IsResolvable(PodContext(), rig.cluster(), NodeId(0u), 1));
  EXPECT_TRUE(plugin.IsResolvable(PodContext(), rig.cluster(), NodeId(0u), 2));
  EXPECT_TRUE(plugin.IsResolvable(PodContext(), rig.cluster(), NodeId(0u), 3));
}

TEST(InterPodAffinityTest, NamespaceSelectorsAreResolved) {
  AffinityRig rig({"a", "b", "c"});
  ClusterObjects objects;
  objects.namespaces = {{"blue", {{"team", "y"}}}, {"default", {}}, {"red", {}}};
  rig.cluster().SetObjects(objects);
  const std::vector<std::string> spaces = {"default", "blue", "red"};
  for (uint32_t n = 0; n < 3; ++n) {
    PodShape shape = SecurePod("S1");
    shape.identity.ns = spaces[n];
    rig.Add(shape, n);
  }
  AffinityTerm term = TermFor("region", "S1");
  const auto verdicts = [&](NamespaceRule rule) {
    return rig.Filter(SecurePod("", AntiAffinity({term})), rule);
  };
  EXPECT_EQ(verdicts(NamespaceRule::kEmptyLabelsToo), (Verdicts{2, 0, 0}));
  term.namespaces.clear();
  term.namespace_selector = Requires("team", SelectorOperator::kIn, {"y"});
  EXPECT_EQ(verdicts(NamespaceRule::kEmptyLabelsToo), (Verdicts{0, 2, 0}));
  term.namespaces = {"red"};
  EXPECT_EQ(verdicts(NamespaceRule::kEmptyLabelsToo), (Verdicts{0, 2, 2}));
  term.namespaces.clear();
  term.namespace_selector = Requires("team", SelectorOperator::kDoesNotExist);
  EXPECT_EQ(verdicts(NamespaceRule::kEmptyLabelsToo), (Verdicts{2, 2, 2}));
  EXPECT_EQ(verdicts(NamespaceRule::kResolvedOnly), (Verdicts{2, 0, 2}));
  term.namespace_selector.requirements.clear();
  EXPECT_EQ(verdicts(NamespaceRule::kResolvedOnly), (Verdicts{2, 2, 2}));
}

TEST(InterPodAffinityTest, TermsOfResidentsReadTheNamespaceOfThePod) {
  AffinityRig rig({"a", "b"});
  ClusterObjects objects;
  objects.namespaces = {{"blue", {{"team", "y"}}}};
  rig.cluster().SetObjects(objects);
  AffinityTerm term = TermFor("region", "S1");
  term.namespaces.clear();
  term.namespace_selector = Requires("team", SelectorOperator::kIn, {"y"});
  rig.Add(SecurePod("", AntiAffinity({term})), 1);
  PodShape shape = SecurePod("S1");
  InterPodAffinity plugin{InterPodAffinityArgs()};
  EXPECT_EQ(PreFilterResult(plugin, rig.builder(), shape).code, StepCode::kSkip);
  shape.identity.ns = "blue";
  EXPECT_EQ(PreFilterResult(plugin, rig.builder(), shape).code, StepCode::kSuccess);
  EXPECT_EQ(FilterVerdicts(plugin, rig.builder(), shape), (Verdicts{0, 3}));
  // The same plugin follows a change of the namespace.
  rig.cluster().ChangeObjects().namespaces[0].labels.clear();
  EXPECT_EQ(PreFilterResult(plugin, rig.builder(), shape).code, StepCode::kSkip);
}

TEST(InterPodAffinityTest, InvalidTermsRejectThePod) {
  AffinityRig rig({"a"});
  PodShape shape = SecurePod("", Affinity({TermFor("region", "S1")}));
  shape.topology.affinity[0].selector.error = "bad";
  shape.topology.preferred_anti_affinity = {{1, shape.topology.affinity[0]}};
  InterPodAffinity plugin{InterPodAffinityArgs()};
  const StepResult result = PreFilterResult(plugin, rig.builder(), shape);
  EXPECT_EQ(result.code, StepCode::kUnresolvable);
  EXPECT_EQ(result.message,
            "parsing pod: [requiredAffinityTerms: bad, preferredAntiAffinityTerms: bad]");
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), shape).code, StepCode::kError);
}

// ---- Trials ----

TEST(InterPodAffinityTest, TrialsEqualANewPreFilter) {
  for (uint64_t seed = 0; seed < SoakSeeds(20); ++seed) {
    Random random(seed, "affinity trials");
    AffinityRig rig({"a", "a", "b", "b", "c", ""});
    const auto any_pod = [&] {
      PodTopology topology;
      if (random.Bernoulli(1, 2)) topology = AntiAffinity({TermFor("region", "S1")});
      return SecurePod(random.Bernoulli(1, 2) ? "S1" : "S2", topology);
    };
    for (int i = 0; i < 5; ++i) {
      const PodShape shape = any_pod();
      rig.Add(shape, static_cast<uint32_t>(random.Below(6)));
    }
    // A pod that joins in a trial was in the cluster before, so its terms are known.
    for (const char* const security : {"S1", "S2"}) {
      const PodShape nominated = SecurePod(security, AntiAffinity({TermFor("region", "S1")}));
      rig.cluster().AddPod("nominated", rig.builder().AddShape(nominated), 0, SimTime());
    }
    PodTopology topology = AntiAffinity({TermFor("az", "S1")});
    topology.affinity = {TermFor("region", "S2")};
    const PodShape shape = SecurePod("S1", topology);
    InterPodAffinity plugin{InterPodAffinityArgs()};
    EXPECT_EQ(PreFilterResult(plugin, rig.builder(), shape).code, StepCode::kSuccess);
    const Verdicts before = FilterVerdicts(plugin, rig.builder(), shape);
    const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
    const auto node = static_cast<uint32_t>(random.Below(6));
    rig.cluster().BeginWhatIf();
    plugin.BeginTrial();
    for (int step = 0; step < 4; ++step) {
      const absl::Span<const PodId> pods = rig.cluster().pods_on(NodeId(node));
      if (!pods.empty() && random.Bernoulli(1, 2)) {
        const PodId gone = pods[0];
        rig.cluster().Evict(gone);
        plugin.OnPodRemoved(context, rig.cluster(), gone, NodeId(node));
      } else {
        const PodShape other = any_pod();
        plugin.OnPodAdded(context, rig.cluster(), rig.Add(other, node), NodeId(node));
      }
      ASSERT_EQ(FilterVerdicts(plugin, rig.builder(), shape), rig.Filter(shape)) << seed;
    }
    rig.cluster().Rollback();
    plugin.EndTrial();
    ASSERT_EQ(FilterVerdicts(plugin, rig.builder(), shape), before) << seed;
  }
}

// ---- Hints ----

TEST(InterPodAffinityTest, PodsWakeByTerms) {
  AffinityRig rig({"a"});
  const InterPodAffinity plugin{InterPodAffinityArgs()};
  const PodShape s1 = SecurePod("S1");
  const PodShape s2 = SecurePod("S2");
  const auto wakes = [&](const PodShape& waiting, ClusterEvent event, const PodShape* old_pod,
                         const PodShape* pod) {
    ClusterChange change;
    change.event = event;
    change.node = NodeId(0u);
    change.pod = pod;
    change.old_pod = old_pod;
    return Wakes(plugin, rig.builder(), waiting, change);
  };
  const PodShape affine = SecurePod("", Affinity({TermFor("region", "S1")}));
  EXPECT_TRUE(wakes(affine, kPodAdded, nullptr, &s1));
  EXPECT_FALSE(wakes(affine, kPodAdded, nullptr, &s2));
  EXPECT_FALSE(wakes(affine, kPodRemoved, nullptr, &s1));
  EXPECT_TRUE(wakes(affine, kPodLabels, &s2, &s1));
  EXPECT_FALSE(wakes(affine, kPodLabels, &s1, &s2));
  const PodShape averse = SecurePod("", AntiAffinity({TermFor("region", "S1")}));
  EXPECT_FALSE(wakes(averse, kPodAdded, nullptr, &s1));
  EXPECT_TRUE(wakes(averse, kPodRemoved, nullptr, &s1));
  EXPECT_FALSE(wakes(averse, kPodRemoved, nullptr, &s2));
  EXPECT_TRUE(wakes(averse, kPodLabels, &s1, &s2));
  // A pod must have matched all terms; a pod without terms never wakes, even if another pod's kept
  // it out.
  const PodShape twice =
      SecurePod("", AntiAffinity({TermFor("region", "S1"), TermFor("region", "S2")}));
  EXPECT_FALSE(wakes(twice, kPodRemoved, nullptr, &s1));
  EXPECT_FALSE(wakes(s1, kPodRemoved, nullptr, &averse));
}

TEST(InterPodAffinityTest, NodesWakeByKeys) {
  AffinityRig rig({"a", ""});
  const InterPodAffinity plugin{InterPodAffinityArgs()};
  const PodShape affine = SecurePod("", Affinity({TermFor("region", "S1")}));
  const PodShape averse = SecurePod("", AntiAffinity({TermFor("region", "S1")}));
  const NodeSpec with = rig.cluster().node_spec(NodeId(0u));
  const NodeSpec without = rig.cluster().node_spec(NodeId(1u));
  NodeSpec moved = with;
  moved.labels[1].second = "b";
  const auto wakes = [&](const PodShape& waiting, ClusterEvent event, uint32_t node,
                         const NodeSpec* before) {
    return Wakes(plugin, rig.builder(), waiting, NodeChange(event, NodeId(node), before));
  };
  EXPECT_TRUE(wakes(affine, kNodeAdded, 0, nullptr));
  EXPECT_FALSE(wakes(affine, kNodeAdded, 1, nullptr));
  EXPECT_TRUE(wakes(averse, kNodeAdded, 1, nullptr));
  EXPECT_TRUE(wakes(affine, kNodeLabels, 0, &without));
  EXPECT_FALSE(wakes(affine, kNodeLabels, 1, &with));
  EXPECT_TRUE(wakes(averse, kNodeLabels, 1, &with));
  EXPECT_FALSE(wakes(averse, kNodeLabels, 0, &without));
  EXPECT_TRUE(wakes(affine, kNodeLabels, 0, &moved));
  EXPECT_TRUE(wakes(averse, kNodeLabels, 0, &moved));
  EXPECT_FALSE(wakes(affine, kNodeLabels, 0, &with));
  EXPECT_TRUE(wakes(affine, kNodeTaints, 1, &without));
}

}  // namespace
}  // namespace drasim
