// PodTopologySpread: figures of upstream's scoring_test.go and filtering_test.go, trials, and
// hints.
#include "policies/plugins/pod_topology_spread.h"

#include <algorithm>
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

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

LabelSelector SelectsFoo(SelectorOperator op = SelectorOperator::kExists) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements.push_back({"foo", op, {}});
  return selector;
}

SpreadConstraint SpreadOver(const std::string& key, int32_t max_skew, bool hard) {
  SpreadConstraint constraint;
  constraint.topology_key = key;
  constraint.max_skew = max_skew;
  constraint.hard = hard;
  constraint.selector = SelectsFoo();
  return constraint;
}

PodShape FooPod(std::vector<SpreadConstraint> spread = {}) {
  PodShape shape = TestShape(1, 0);
  shape.identity.ns = "default";
  shape.identity.labels = {{"foo", ""}};
  shape.topology.spread = std::move(spread);
  return shape;
}

// A cluster whose nodes have `foo_pods` pods of label foo each.
class SpreadRig {
 public:
  NodeId AddNode(Labels labels, int foo_pods, std::vector<Taint> taints = {}) {
    NodeSpec spec = TestNode(absl::StrCat("n", builder_.cluster().node_count()), 100000, 0);
    std::sort(labels.begin(), labels.end());
    spec.labels = std::move(labels);
    spec.taints = std::move(taints);
    const NodeId node = builder_.AddNode(spec);
    for (int i = 0; i < foo_pods; ++i) Add(FooPod(), node);
    return node;
  }
  // One node per number, each a host of its own.
  void AddHosts(const std::vector<int>& foo_pods) {
    for (const int pods : foo_pods) {
      AddNode({{kHost, absl::StrCat("h", builder_.cluster().node_count())}}, pods);
    }
  }
  PodId Add(const PodShape& shape, NodeId node) {
    const PodId pod = builder_.cluster().AddPod("p", builder_.AddShape(shape), 0, SimTime());
    builder_.cluster().Adopt(pod, node);
    return pod;
  }
  ClusterBuilder& builder() { return builder_; }
  ClusterState& cluster() { return builder_.cluster(); }

  Verdicts Filter(PodTopologySpread& plugin, const PodShape& shape) {
    const StepResult result = PreFilterResult(plugin, builder_, shape);
    EXPECT_EQ(result.code, StepCode::kSuccess) << result.message;
    return FilterVerdicts(plugin, builder_, shape);
  }
  // Raw scores, then those after normalisation, of these nodes.
  std::pair<Scores, Scores> Score(PodTopologySpread& plugin, const PodShape& shape,
                                  const std::vector<NodeId>& feasible) {
    const PodContext context = builder_.Context(builder_.AddShape(shape));
    const StepResult result = plugin.PreScore(context, cluster(), feasible);
    EXPECT_EQ(result.code, StepCode::kSuccess) << result.message;
    std::pair<Scores, Scores> scores;
    scores.first.resize(feasible.size());
    plugin.Score(context, cluster(), feasible, absl::MakeSpan(scores.first));
    scores.second = scores.first;
    plugin.NormalizeScore(feasible, absl::MakeSpan(scores.second));
    return scores;
  }
  Scores Normalised(const PodShape& shape, const std::vector<NodeId>& feasible = {}) {
    PodTopologySpread plugin{PodTopologySpreadArgs()};
    return Score(plugin, shape, feasible.empty() ? builder_.NodeIds() : feasible).second;
  }

 private:
  ClusterBuilder builder_;
};

std::vector<NodeId> Nodes(const std::vector<uint32_t>& numbers) {
  std::vector<NodeId> nodes;
  for (const uint32_t number : numbers) nodes.emplace_back(number);
  return nodes;
}

// ---- Score ----

struct HostScoreRow {
  std::vector<int> foo_pods;
  int32_t max_skew;
  std::vector<uint32_t> feasible;
  Scores scores;
};

TEST(PodTopologySpreadTest, ScoresHosts) {
  for (const HostScoreRow& row : std::vector<HostScoreRow>{
           {{0, 0}, 1, {0, 1}, {100, 100}},
           {{2, 1, 0, 3}, 1, {0, 1, 2, 3}, {20, 60, 100, 0}},
           {{2, 1, 0, 3}, 2, {0, 1, 2, 3}, {33, 66, 100, 16}},
           {{4, 3, 2, 1}, 3, {0, 1, 2, 3}, {44, 66, 77, 100}},
           {{4, 2, 1, 3}, 1, {0, 1, 2}, {33, 83, 100}},
       }) {
    SpreadRig rig;
    rig.AddHosts(row.foo_pods);
    EXPECT_EQ(rig.Normalised(FooPod({SpreadOver(kHost, row.max_skew, false)}), Nodes(row.feasible)),
              row.scores);
  }
}

TEST(PodTopologySpreadTest, AnAbsentSelectorCountsNobody) {
  SpreadRig rig;
  rig.AddHosts({2, 1, 0, 3});
  SpreadConstraint constraint = SpreadOver(kHost, 1, false);
  constraint.selector = LabelSelector();
  EXPECT_EQ(rig.Normalised(FooPod({constraint})), (Scores{100, 100, 100, 100}));
}

TEST(PodTopologySpreadTest, NodesWithoutTheKeyAreIgnored) {
  SpreadRig rig;
  rig.AddHosts({4});
  rig.AddNode({}, 2);
  rig.AddHosts({1, 3});
  EXPECT_EQ(rig.Normalised(FooPod({SpreadOver(kHost, 1, false)}), Nodes({0, 1, 2})),
            (Scores{16, 0, 100}));
}

// Nodes a, b in zone 1, x, y in zone 2.
void AddZones(const std::vector<int>& foo_pods, SpreadRig* rig) {
  for (size_t i = 0; i < foo_pods.size(); ++i) {
    rig->AddNode({{kHost, absl::StrCat("h", i)}, {kZone, i < 2 ? "zone1" : "zone2"}}, foo_pods[i]);
  }
}

TEST(PodTopologySpreadTest, ScoresZonesOverAllNodes) {
  SpreadRig zones;
  AddZones({4, 2, 1, 3}, &zones);
  EXPECT_EQ(zones.Normalised(FooPod({SpreadOver(kZone, 1, false)}), Nodes({0, 1, 2})),
            (Scores{75, 75, 100}));
  SpreadRig both;
  AddZones({2, 1, 2, 4}, &both);
  EXPECT_EQ(both.Normalised(FooPod({SpreadOver(kZone, 1, false), SpreadOver(kHost, 1, false)}),
                            Nodes({0, 2})),
            (Scores{100, 63}));
}

TEST(PodTopologySpreadTest, EachConstraintHasItsSelector) {
  // Zones by pods of foo, hosts by those of bar: 0/1/0/1.
  for (const auto& [foo, scores] : std::vector<std::pair<std::vector<int>, Scores>>{
           {{2, 0, 1, 0}, {60, 20, 100, 60}}, {{0, 0, 2, 0}, {100, 60, 40, 0}}}) {
    SpreadRig rig;
    AddZones(foo, &rig);
    PodShape bar = FooPod();
    bar.identity.labels = {{"bar", ""}};
    rig.Add(bar, NodeId(1u));
    rig.Add(bar, NodeId(3u));
    SpreadConstraint by_host = SpreadOver(kHost, 1, false);
    by_host.selector.requirements[0].key = "bar";
    EXPECT_EQ(rig.Normalised(FooPod({SpreadOver(kZone, 1, false), by_host})), scores);
  }
}

TEST(PodTopologySpreadTest, SystemDefaultsCountTheAbsenceOfAZone) {
  SpreadRig rig;
  rig.AddNode({{kHost, "a"}, {kZone, "mars"}}, 1);
  rig.AddNode({{kHost, "b"}, {kZone, "mars"}}, 0);
  rig.AddNode({{kHost, "c"}}, 0);
  rig.AddNode({{kHost, "d"}, {kZone, ""}}, 3);
  ClusterObjects objects;
  objects.groups.push_back({"Service", "default", "s", SelectsFoo()});
  rig.cluster().SetObjects(objects);
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  // Weights ln 6 (hosts) and ln 4 (mars, none). d: 3 ln 6 + 2 + 3 ln 4 + 4; the pods of c are none.
  EXPECT_EQ(rig.Score(plugin, FooPod(), rig.builder().NodeIds()).first, (Scores{9, 7, 2, 16}));
}

TEST(PodTopologySpreadTest, DefaultsAreForPodsOfGroups) {
  SpreadRig rig;
  rig.AddHosts({4, 3, 2, 1});
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), FooPod()).code, StepCode::kSkip);
  ClusterObjects objects;
  objects.groups.push_back({"Service", "other", "s", SelectsFoo()});
  rig.cluster().SetObjects(objects);
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), FooPod()).code, StepCode::kSkip);
  objects.groups.push_back({"Service", "default", "s", SelectsFoo()});
  rig.cluster().SetObjects(objects);
  EXPECT_EQ(rig.Score(plugin, FooPod(), rig.builder().NodeIds()).second, (Scores{44, 66, 77, 100}));
  // A controller's selector is added; the pod's own constraints replace the defaults.
  objects.groups = {{"ReplicaSet", "default", "r", SelectsFoo()}};
  rig.cluster().SetObjects(objects);
  PodShape owned = FooPod();
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), owned).code, StepCode::kSkip);
  owned.identity.owner_kind = "ReplicaSet";
  owned.identity.owner_name = "r";
  EXPECT_EQ(rig.Score(plugin, owned, rig.builder().NodeIds()).second, (Scores{44, 66, 77, 100}));
  owned.topology.spread = {SpreadOver(kHost, 1, true)};
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), owned).code, StepCode::kSkip);
}

TEST(PodTopologySpreadTest, ListedDefaultsMayBeHard) {
  SpreadRig rig;
  rig.AddHosts({2, 0});
  ClusterObjects objects;
  objects.groups.push_back({"Service", "default", "s", SelectsFoo()});
  rig.cluster().SetObjects(objects);
  PodTopologySpreadArgs args;
  args.system_defaults = false;
  args.default_constraints = {SpreadOver(kHost, 1, true)};
  args.default_constraints[0].selector = LabelSelector();
  PodTopologySpread plugin(args);
  EXPECT_EQ(rig.Filter(plugin, FooPod()), (Verdicts{1, 0}));
}

// One node of each domain gets what all nodes of the domain get among all feasible ones.
TEST(PodTopologySpreadTest, DomainsAreScoredAsTheirNodes) {
  for (uint64_t seed = 0; seed < SoakSeeds(30); ++seed) {
    Random random(seed, "spread domains");
    SpreadRig rig;
    PodTopologySpread plugin{PodTopologySpreadArgs()};
    for (int n = 0; n < 20; ++n) {
      Labels labels = {{kHost, absl::StrCat("h", n)}};
      const uint64_t zone = random.Below(6);
      if (zone > 0) labels.emplace_back(kZone, zone == 1 ? "" : absl::StrCat("z", zone));
      rig.AddNode(std::move(labels), static_cast<int>(random.Below(4)));
    }
    const PodShape shape =
        FooPod({SpreadOver(kZone, 1 + static_cast<int32_t>(random.Below(3)), false)});
    const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
    const TopologyDomains* const topology = plugin.ScoredDomains(context, rig.cluster());
    ASSERT_NE(topology, nullptr);
    std::vector<NodeId> feasible;
    std::vector<NodeId> firsts;
    std::vector<size_t> first_of(topology->size(), 20);
    std::vector<size_t> place;  // of a feasible node's domain among the firsts
    for (const NodeId node : rig.builder().NodeIds()) {
      if (random.Below(3) == 0) continue;
      size_t& first = first_of[topology->of(node)];
      if (first == 20) {
        first = firsts.size();
        firsts.push_back(node);
      }
      feasible.push_back(node);
      place.push_back(first);
    }
    const Scores of_domains = rig.Score(plugin, shape, firsts).second;
    const Scores of_nodes = rig.Score(plugin, shape, feasible).second;
    for (size_t i = 0; i < feasible.size(); ++i) {
      ASSERT_EQ(of_nodes[i], of_domains[place[i]]) << "seed " << seed << " node " << i;
    }
  }
}

TEST(PodTopologySpreadTest, HostsAndSeveralKeysHaveNoScoreByDomain) {
  SpreadRig rig;
  rig.AddNode({{kHost, "a"}, {kZone, "mars"}}, 1);
  const PodTopologySpread plugin{PodTopologySpreadArgs()};
  const SpreadConstraint zones = SpreadOver(kZone, 1, false);
  const SpreadConstraint hosts = SpreadOver(kHost, 1, false);
  PodShape invalid = FooPod({zones});
  invalid.topology.spread[0].selector.error = "bad";
  for (const PodShape& shape :
       {FooPod(), FooPod({hosts}), FooPod({zones, hosts}), FooPod({zones, zones}), invalid}) {
    const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
    EXPECT_EQ(plugin.ScoredDomains(context, rig.cluster()), nullptr);
  }
}

// ---- Filter ----

TEST(PodTopologySpreadTest, FiltersBySkew) {
  SpreadRig rig;
  AddZones({2, 1, 1, 0}, &rig);
  rig.AddNode({}, 0);
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  EXPECT_EQ(rig.Filter(plugin, FooPod({SpreadOver(kZone, 1, true)})), (Verdicts{1, 1, 0, 0, 2}));
  EXPECT_EQ(rig.Filter(plugin, FooPod({SpreadOver(kZone, 3, true)})), (Verdicts{0, 0, 0, 0, 2}));
  EXPECT_EQ(rig.Filter(plugin, FooPod({SpreadOver(kHost, 1, true)})), (Verdicts{1, 1, 1, 0, 2}));
  // The first constraint that fails gives the reason.
  EXPECT_EQ(rig.Filter(plugin, FooPod({SpreadOver(kZone, 1, true), SpreadOver("none", 1, true)})),
            (Verdicts{2, 2, 2, 2, 2}));
  EXPECT_TRUE(plugin.IsResolvable(PodContext(), rig.cluster(), NodeId(0u), 1));
  EXPECT_FALSE(plugin.IsResolvable(PodContext(), rig.cluster(), NodeId(0u), 2));
  EXPECT_EQ(PreFilterResult(plugin, rig.builder(), FooPod()).code, StepCode::kSkip);
}

TEST(PodTopologySpreadTest, APodThatItsSelectorMissesDoesNotCountItself) {
  SpreadRig rig;
  rig.AddHosts({1, 0});
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  PodShape other = FooPod({SpreadOver(kHost, 1, true)});
  EXPECT_EQ(rig.Filter(plugin, other), (Verdicts{1, 0}));
  other.identity.labels.clear();
  EXPECT_EQ(rig.Filter(plugin, other), (Verdicts{0, 0}));
}

TEST(PodTopologySpreadTest, TooFewDomainsMakeTheLeastZero) {
  SpreadRig rig;
  rig.AddHosts({2, 2});
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  SpreadConstraint constraint = SpreadOver(kHost, 2, true);
  EXPECT_EQ(rig.Filter(plugin, FooPod({constraint})), (Verdicts{0, 0}));
  constraint.min_domains = 2;
  EXPECT_EQ(rig.Filter(plugin, FooPod({constraint})), (Verdicts{0, 0}));
  constraint.min_domains = 3;
  EXPECT_EQ(rig.Filter(plugin, FooPod({constraint})), (Verdicts{1, 1}));
}

TEST(PodTopologySpreadTest, PoliciesSayWhichNodesTakePart) {
  SpreadRig rig;
  rig.AddNode({{kHost, "a"}, {"disk", "ssd"}}, 1);
  rig.AddNode({{kHost, "b"}, {"disk", "ssd"}}, 2);
  rig.AddNode({{kHost, "c"}}, 0);
  rig.AddNode({{kHost, "d"}, {"disk", "ssd"}}, 0, {{"t", "", "NoSchedule"}});
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  SpreadConstraint constraint = SpreadOver(kHost, 1, true);
  PodShape shape = FooPod({constraint});
  shape.constraints.node_selector = {{"disk", "ssd"}};
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{1, 1, 0, 0}));
  shape.topology.spread[0].honor_taints = true;
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{0, 1, 0, 0}));
  shape.constraints.tolerations = {{"t", "", "", true}};
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{1, 1, 0, 0}));
  shape.constraints.tolerations.clear();
  shape.topology.spread[0].honor_affinity = false;
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{1, 1, 0, 0}));
}

TEST(PodTopologySpreadTest, InvalidSelectorsFailTheirStep) {
  SpreadRig rig;
  rig.AddHosts({0, 0});
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  PodShape shape = FooPod({SpreadOver(kHost, 1, true)});
  shape.topology.spread[0].selector.error = "bad";
  const StepResult filter = PreFilterResult(plugin, rig.builder(), shape);
  EXPECT_EQ(filter.code, StepCode::kError);
  EXPECT_EQ(filter.message, "obtaining pod's hard topology spread constraints: bad");
  shape.topology.spread[0].hard = false;
  EXPECT_EQ(PreFilterResult(plugin, rig.builder(), shape).code, StepCode::kSkip);
  EXPECT_EQ(PreScoreResult(plugin, rig.builder(), shape).code, StepCode::kError);
}

// ---- Trials ----

// Without special pods, a trial is the same as a new look at the changed cluster.
TEST(PodTopologySpreadTest, TrialsEqualANewPreFilter) {
  for (uint64_t seed = 0; seed < SoakSeeds(20); ++seed) {
    Random random(seed, "spread trials");
    SpreadRig rig;
    for (int n = 0; n < 6; ++n) {
      rig.AddNode({{kHost, absl::StrCat("h", n)}, {kZone, absl::StrCat("z", random.Below(3))}},
                  static_cast<int>(random.Below(4)));
    }
    const PodShape shape = FooPod({SpreadOver(kZone, 1, true), SpreadOver(kHost, 2, true)});
    PodTopologySpread plugin{PodTopologySpreadArgs()};
    const Verdicts before = rig.Filter(plugin, shape);
    const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
    const NodeId node(random.Below(6));
    rig.cluster().BeginWhatIf();
    plugin.BeginTrial();
    for (int step = 0; step < 4; ++step) {
      const absl::Span<const PodId> pods = rig.cluster().pods_on(node);
      if (!pods.empty() && random.Bernoulli(2, 3)) {
        const PodId gone = pods[0];
        rig.cluster().Evict(gone);
        plugin.OnPodRemoved(context, rig.cluster(), gone, node);
      } else {
        plugin.OnPodAdded(context, rig.cluster(), rig.Add(FooPod(), node), node);
      }
      PodTopologySpread fresh{PodTopologySpreadArgs()};
      ASSERT_EQ(FilterVerdicts(plugin, rig.builder(), shape), rig.Filter(fresh, shape)) << seed;
    }
    rig.cluster().Rollback();
    plugin.EndTrial();
    ASSERT_EQ(FilterVerdicts(plugin, rig.builder(), shape), before) << seed;
  }
}

TEST(PodTopologySpreadTest, TrialsSubtractTerminatingPodsThatNeverCounted) {
  SpreadRig rig;
  rig.AddHosts({2, 1});
  PodShape leaving = FooPod();
  leaving.identity.terminating = true;
  const PodId first = rig.Add(leaving, NodeId(0u));
  PodShape foreign = leaving;
  foreign.identity.ns = "other";
  const PodId stranger = rig.Add(foreign, NodeId(0u));
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  const PodShape shape = FooPod({SpreadOver(kHost, 1, true)});
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{1, 0}));
  const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
  rig.cluster().BeginWhatIf();
  plugin.BeginTrial();
  rig.cluster().Evict(stranger);
  plugin.OnPodRemoved(context, rig.cluster(), stranger, NodeId(0u));
  EXPECT_EQ(FilterVerdicts(plugin, rig.builder(), shape), (Verdicts{1, 0}));
  plugin.BeginTrial();
  rig.cluster().Evict(first);
  plugin.OnPodRemoved(context, rig.cluster(), first, NodeId(0u));
  EXPECT_EQ(FilterVerdicts(plugin, rig.builder(), shape), (Verdicts{0, 0}));
  plugin.EndTrial();
  EXPECT_EQ(FilterVerdicts(plugin, rig.builder(), shape), (Verdicts{1, 0}));
  plugin.EndTrial();
  rig.cluster().Rollback();
}

TEST(PodTopologySpreadTest, TrialsSubtractUnderAnEmptySelector) {
  SpreadRig rig;
  rig.AddHosts({2, 0});
  PodShape shape = FooPod({SpreadOver(kHost, 1, true)});
  shape.topology.spread[0].selector.requirements.clear();
  PodTopologySpread plugin{PodTopologySpreadArgs()};
  EXPECT_EQ(rig.Filter(plugin, shape), (Verdicts{0, 0}));
  const PodContext context = rig.builder().Context(rig.builder().AddShape(shape));
  const PodId gone = rig.cluster().pods_on(NodeId(0u))[0];
  rig.cluster().BeginWhatIf();
  plugin.BeginTrial();
  rig.cluster().Evict(gone);
  plugin.OnPodRemoved(context, rig.cluster(), gone, NodeId(0u));
  // -1 and 0: the least is below zero.
  EXPECT_EQ(FilterVerdicts(plugin, rig.builder(), shape), (Verdicts{0, 1}));
  plugin.EndTrial();
  rig.cluster().Rollback();
}

// ---- Hints ----

TEST(PodTopologySpreadTest, PodsOfTheNamespaceWake) {
  SpreadRig rig;
  rig.AddHosts({0});
  const PodTopologySpread plugin{PodTopologySpreadArgs()};
  const PodShape shape = FooPod({SpreadOver(kHost, 1, true), SpreadOver(kZone, 1, true)});
  const PodShape foo = FooPod();
  PodShape plain = foo;
  plain.identity.labels.clear();
  PodShape foreign = foo;
  foreign.identity.ns = "other";
  const auto wakes = [&](const PodShape* old_pod, const PodShape* pod, bool itself) {
    ClusterChange change;
    change.event = old_pod != nullptr ? kPodLabels : kPodAdded;
    change.node = itself ? NodeId() : NodeId(0u);
    change.pod = pod;
    change.old_pod = old_pod;
    change.is_waiting_pod = itself;
    return Wakes(plugin, rig.builder(), shape, change);
  };
  EXPECT_TRUE(wakes(nullptr, &foo, false));
  EXPECT_FALSE(wakes(nullptr, &plain, false));
  EXPECT_FALSE(wakes(nullptr, &foreign, false));
  EXPECT_TRUE(wakes(&plain, &foo, false));
  EXPECT_TRUE(wakes(&foo, &plain, true));
  EXPECT_FALSE(wakes(&foo, &foo, false));
}

TEST(PodTopologySpreadTest, NodesWithAllKeysWake) {
  SpreadRig rig;
  const NodeId node = rig.AddNode({{kHost, "a"}, {kZone, "z"}}, 0);
  const NodeId bare = rig.AddNode({{kHost, "b"}}, 0);
  const PodTopologySpread plugin{PodTopologySpreadArgs()};
  const PodShape shape = FooPod({SpreadOver(kHost, 1, true), SpreadOver(kZone, 1, true)});
  const auto wakes = [&](ClusterEvent event, NodeId changed, const NodeSpec* before) {
    return Wakes(plugin, rig.builder(), shape, NodeChange(event, changed, before));
  };
  EXPECT_TRUE(wakes(kNodeAdded, node, nullptr));
  EXPECT_FALSE(wakes(kNodeAdded, bare, nullptr));
  const NodeSpec same = rig.cluster().node_spec(node);
  NodeSpec moved = same;
  moved.labels[1].second = "y";
  NodeSpec tainted = same;
  tainted.taints = {{"t", "", "NoSchedule"}};
  const NodeSpec without = rig.cluster().node_spec(bare);
  EXPECT_TRUE(wakes(kNodeRemoved, node, &same));
  EXPECT_FALSE(wakes(kNodeRemoved, bare, &without));
  EXPECT_FALSE(wakes(kNodeLabels, node, &same));
  EXPECT_TRUE(wakes(kNodeLabels, node, &moved));
  EXPECT_TRUE(wakes(kNodeLabels, node, &without));
  EXPECT_TRUE(wakes(kNodeTaints, node, &tainted));
  EXPECT_FALSE(wakes(kNodeLabels, bare, &without));
}

}  // namespace
}  // namespace drasim
