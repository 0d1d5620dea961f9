// PodCounts: after every event, each count equals a naive walk over pods and nodes.
#include "model/pod_counts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/random.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

constexpr const char* kZoneKey = "zone";
constexpr const char* kHostKey = "host";

LabelSelector SelectorOf(const std::string& key, const std::vector<std::string>& values,
                         SelectorOperator op = SelectorOperator::kIn) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements.push_back({key, op, values});
  return selector;
}
LabelSelector Everything() {
  LabelSelector selector;
  selector.given = true;
  return selector;
}

// A cluster of invented nodes and pods, and the counts that were asked for.
class CountedCluster {
 public:
  explicit CountedCluster(uint64_t seed) : random_(seed, "pod counts") {
    const size_t nodes = 1 + random_.Below(8);
    for (size_t n = 0; n < nodes; ++n) AddNode();
  }

  ClusterState& cluster() { return cluster_; }

  void Step() {
    switch (random_.Below(14)) {
      case 0:
        return AddNode();
      case 1:
        return UpdateNode();
      case 2:
        return FlipNode();
      case 3:
        return AskForPods();
      case 4:
        return AskForDomains();
      case 5:
        return static_cast<void>(cluster_.CarriedTerms());
      case 6:
        return Relabel();
      case 7:
        return TryOut();
      case 8:
      case 9:
        return Leave();
      default:
        return Arrive();
    }
  }

  void ExpectRecounted() {
    for (const auto& [rule, column] : asked_) ExpectColumn(rule, column);
    for (const DomainsAsked& asked : domains_) ExpectDomains(asked);
    ExpectCarried();
    const absl::Status invariants = cluster_.CheckInvariants();
    EXPECT_TRUE(invariants.ok()) << invariants;
  }

 private:
  struct DomainsAsked {
    PodCountRule rule;
    std::string key;
    DomainNodes nodes;
    DomainCountId id;
  };

  std::string Letter(uint64_t letters) {
    return std::string(1, static_cast<char>('a' + random_.Below(letters)));
  }

  NodeSpec RandomNode(const std::string& name) {
    NodeSpec spec;
    spec.name = name;
    spec.cpu_milli = 1000;
    if (random_.Bernoulli(7, 8)) spec.labels.emplace_back(kHostKey, name);
    if (random_.Bernoulli(3, 4)) {
      spec.labels.emplace_back(kZoneKey, random_.Bernoulli(1, 10) ? "" : Letter(4));
    }
    if (random_.Bernoulli(1, 4)) spec.taints.push_back({"t", Letter(2), "NoSchedule"});
    return spec;
  }
  void AddNode() {
    const auto id = cluster_.AddNode(RandomNode(absl::StrCat("n", cluster_.node_count())));
    ASSERT_TRUE(id.ok()) << id.status();
  }
  NodeId AnyNode() { return NodeId(random_.Below(cluster_.node_count())); }
  void UpdateNode() {
    const NodeId node = AnyNode();
    const absl::Status status =
        cluster_.UpdateNode(node, RandomNode(cluster_.node_spec(node).name));
    EXPECT_TRUE(status.ok()) << status;
  }
  void FlipNode() {
    const NodeId node = AnyNode();
    if (cluster_.pods_on(node).empty()) cluster_.SetAvailable(node, !cluster_.node(node).available);
  }

  AffinityTerm RandomTerm() {
    AffinityTerm term;
    term.topology_key = random_.Bernoulli(1, 2) ? kZoneKey : kHostKey;
    term.selector = RandomSelector();
    term.namespaces = {Letter(2)};
    return term;
  }
  LabelSelector RandomSelector() {
    if (random_.Bernoulli(1, 8)) return Everything();
    if (random_.Bernoulli(1, 8)) return LabelSelector();
    if (random_.Bernoulli(1, 4)) {
      return SelectorOf("app", {Letter(3)}, SelectorOperator::kNotIn);
    }
    return SelectorOf("app", {Letter(3)});
  }
  ShapeId RandomShape() {
    PodShape shape;
    shape.request.cpu_milli = 1;
    shape.identity.ns = random_.Bernoulli(1, 8) ? "" : Letter(2);
    if (random_.Bernoulli(7, 8)) shape.identity.labels.emplace_back("app", Letter(3));
    shape.identity.terminating = random_.Bernoulli(1, 8);
    PodTopology& topology = shape.topology;
    if (random_.Bernoulli(1, 4)) topology.anti_affinity.push_back(RandomTerm());
    if (random_.Bernoulli(1, 4)) {
      topology.anti_affinity.push_back(RandomTerm());
      topology.anti_affinity.push_back(topology.anti_affinity.front());
    }
    if (random_.Bernoulli(1, 4)) topology.affinity.push_back(RandomTerm());
    if (random_.Bernoulli(1, 4)) {
      topology.preferred_affinity.push_back(
          {static_cast<int32_t>(1 + random_.Below(2)), RandomTerm()});
    }
    if (random_.Bernoulli(1, 4)) topology.preferred_anti_affinity.push_back({1, RandomTerm()});
    return shapes_.Intern(shape);
  }
  void Arrive() {
    const PodId pod = cluster_.AddPod("p", RandomShape(), 0, SimTime());
    const NodeId node = AnyNode();
    if (!cluster_.node(node).available) return;
    if (random_.Bernoulli(1, 2)) return cluster_.Adopt(pod, node);
    cluster_.SetPodShape(pod, RandomShape());
    cluster_.Adopt(pod, node);
  }
  // A resident pod; invalid if there is none.
  PodId Resident() {
    const absl::Span<const PodId> pods = cluster_.pods_on(AnyNode());
    return pods.empty() ? PodId() : pods[random_.Below(pods.size())];
  }
  void Leave() {
    const PodId pod = Resident();
    if (pod.valid()) random_.Bernoulli(1, 2) ? cluster_.Delete(pod) : cluster_.Evict(pod);
  }
  void Relabel() {
    const PodId pod = Resident();
    if (pod.valid()) cluster_.SetPodShape(pod, RandomShape());
  }
  void TryOut() {
    cluster_.BeginWhatIf();
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      Leave();
      if (random_.Bernoulli(1, 2)) Arrive2();
    }
    if (random_.Bernoulli(1, 2)) ExpectRecounted();
    random_.Bernoulli(1, 2) ? cluster_.Rollback() : cluster_.KeepWhatIf();
  }
  // As Arrive, with what a what-if covers.
  void Arrive2() {
    const PodId pod = cluster_.AddPod("p", RandomShape(), 0, SimTime());
    const NodeId node = AnyNode();
    if (cluster_.node(node).available) cluster_.Adopt(pod, node);
  }

  PodCountRule RandomRule() {
    PodCountRule rule;
    rule.any_namespace = random_.Bernoulli(1, 4);
    if (!rule.any_namespace) {
      for (const char* ns : {"a", "b"}) {
        if (random_.Bernoulli(1, 2)) rule.namespaces.emplace_back(ns);
      }
    }
    for (uint64_t i = random_.Below(3); i > 0; --i) rule.selectors.push_back(RandomSelector());
    rule.counts_terminating = random_.Bernoulli(1, 2);
    return rule;
  }
  void AskForPods() {
    const PodCountRule rule = RandomRule();
    asked_.emplace_back(rule, cluster_.CountPods(rule));
    EXPECT_EQ(cluster_.CountPods(rule), asked_.back().second);
  }
  void AskForDomains() {
    if (asked_.empty()) return;
    const auto& [rule, column] = asked_[random_.Below(asked_.size())];
    DomainNodes nodes;
    if (random_.Bernoulli(1, 2)) nodes.keys = {kZoneKey};
    if (random_.Bernoulli(1, 2)) nodes.node_selector = {{kZoneKey, Letter(4)}};
    nodes.honors_taints = random_.Bernoulli(1, 2);
    if (random_.Bernoulli(1, 2)) nodes.tolerations.push_back({"t", "a", "", false});
    const std::string key = random_.Bernoulli(1, 2) ? kZoneKey : kHostKey;
    domains_.push_back({rule, key, nodes, cluster_.CountDomains(column, key, nodes)});
  }

  // ---- The oracle ----

  bool Matches(const PodCountRule& rule, const PodIdentity& pod) {
    bool named = rule.any_namespace && !pod.ns.empty();
    for (const std::string& ns : rule.namespaces) named |= ns == pod.ns;
    for (const LabelSelector& selector : rule.selectors) {
      named &= Selects(selector, pod.labels);
    }
    return named && (rule.counts_terminating || !pod.terminating);
  }
  int32_t Walk(const PodCountRule& rule, NodeId node) {
    int32_t pods = 0;
    for (size_t p = 0; p < cluster_.pod_count(); ++p) {
      const bool here = cluster_.pod_node(PodId(p)) == node;
      pods += here && Matches(rule, cluster_.pod_shape(PodId(p)).identity) ? 1 : 0;
    }
    return pods;
  }
  void ExpectColumn(const PodCountRule& rule, PodCountId column) {
    int64_t total = 0;
    for (size_t n = 0; n < cluster_.node_count(); ++n) {
      const int32_t pods = Walk(rule, NodeId(n));
      total += pods;
      EXPECT_EQ(cluster_.pod_counts().on_node(column, NodeId(n)), pods);
    }
    EXPECT_EQ(cluster_.pod_counts().total(column), total);
  }
  static const std::string* Value(const NodeSpec& node, const std::string& key) {
    for (const auto& [label, value] : node.labels) {
      if (label == key) return &value;
    }
    return nullptr;
  }
  static bool IsIn(const NodeSpec& node, const DomainNodes& rule) {
    for (const std::string& key : rule.keys) {
      if (Value(node, key) == nullptr) return false;
    }
    for (const auto& [key, value] : rule.node_selector) {
      const std::string* const has = Value(node, key);
      if (has == nullptr || *has != value) return false;
    }
    // One taint at most, t=a or t=b; only t=a is tolerated.
    if (!rule.honors_taints || node.taints.empty()) return true;
    return !rule.tolerations.empty() && node.taints[0].value == "a";
  }
  void ExpectDomains(const DomainsAsked& asked) {
    std::map<std::string, int32_t> sums;
    int32_t without = 0;
    for (size_t n = 0; n < cluster_.node_count(); ++n) {
      const NodeSpec& spec = cluster_.node_spec(NodeId(n));
      if (!cluster_.node(NodeId(n)).available || !IsIn(spec, asked.nodes)) continue;
      const std::string* const value = Value(spec, asked.key);
      (value == nullptr ? without : sums[*value]) += Walk(asked.rule, NodeId(n));
    }
    const DomainCounts& counts = cluster_.pod_counts().domains(asked.id);
    const TopologyDomains& topology = counts.topology();
    EXPECT_EQ(counts.known_domains(), sums.size());
    EXPECT_EQ(counts.sum(0), without);
    int32_t least = sums.empty() ? 0 : sums.begin()->second;
    int64_t total = 0;
    for (const auto& [value, sum] : sums) {
      EXPECT_EQ(counts.sum(topology.Find(value)), sum);
      EXPECT_TRUE(counts.known(topology.Find(value)));
      least = std::min(least, sum);
      total += sum;
    }
    EXPECT_EQ(counts.least(), least);
    EXPECT_EQ(counts.total(), total);
    EXPECT_EQ(counts.sums().size(), topology.size());
    for (size_t n = 0; n < cluster_.node_count(); ++n) {
      const std::string* const value = Value(cluster_.node_spec(NodeId(n)), asked.key);
      const bool has = value != nullptr && cluster_.node(NodeId(n)).available;
      EXPECT_EQ(counts.domain_of(NodeId(n)) != 0, has);
      if (has) {
        EXPECT_EQ(topology.value(counts.domain_of(NodeId(n))), *value);
      }
    }
  }
  void ExpectCarried() {
    for (const CarriedTerm& carried : cluster_.pod_counts().carried()) {
      int64_t pods = 0;
      for (size_t p = 0; p < cluster_.pod_count(); ++p) {
        if (!cluster_.pod_node(PodId(p)).valid()) continue;
        const PodTopology& topology = cluster_.pod_shape(PodId(p)).topology;
        const std::vector<AffinityTerm>& plain = carried.kind == CarriedTerm::Kind::kAffinity
                                                     ? topology.affinity
                                                     : topology.anti_affinity;
        const std::vector<WeightedAffinityTerm>& weighted =
            carried.kind == CarriedTerm::Kind::kPreferred ? topology.preferred_affinity
                                                          : topology.preferred_anti_affinity;
        if (carried.kind == CarriedTerm::Kind::kAffinity ||
            carried.kind == CarriedTerm::Kind::kAntiAffinity) {
          for (const AffinityTerm& term : plain) pods += term == carried.term ? 1 : 0;
        } else {
          for (const auto& [weight, term] : weighted) {
            pods += weight == carried.weight && term == carried.term ? 1 : 0;
          }
        }
      }
      EXPECT_EQ(cluster_.pod_counts().total(carried.column), pods);
    }
  }

  Random random_;
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  std::vector<std::pair<PodCountRule, PodCountId>> asked_;
  std::vector<DomainsAsked> domains_;
};

TEST(PodCountsTest, EqualRecountsAfterEveryEvent) {
  for (uint64_t seed = 0; seed < SoakSeeds(30); ++seed) {
    CountedCluster counted(seed);
    for (int step = 0; step < 150; ++step) {
      counted.Step();
      counted.ExpectRecounted();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(PodCountsTest, TermsAreCarriedOnlyOnDemand) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec node;
  node.name = "n";
  node.labels = {{kZoneKey, "a"}};
  const auto id = cluster.AddNode(node);
  ASSERT_TRUE(id.ok());
  PodShape shape;
  shape.identity.ns = "a";
  shape.topology.anti_affinity.push_back({kZoneKey, Everything(), {"a"}, LabelSelector()});
  cluster.Adopt(cluster.AddPod("p", shapes.Intern(shape), 0, SimTime()), *id);
  EXPECT_EQ(cluster.pod_counts().columns(), 0u);
  EXPECT_FALSE(cluster.pod_counts().active());
  const absl::Span<const CarriedTerm> carried = cluster.CarriedTerms();
  ASSERT_EQ(carried.size(), 1u);
  EXPECT_EQ(carried[0].kind, CarriedTerm::Kind::kAntiAffinity);
  EXPECT_EQ(cluster.pod_counts().domains(carried[0].domains).total(), 1);
  // An invalid term makes all of its kind void, as upstream's parser does.
  shape.topology.anti_affinity.push_back(shape.topology.anti_affinity.front());
  shape.topology.anti_affinity.back().selector.error = "bad";
  cluster.Adopt(cluster.AddPod("q", shapes.Intern(shape), 0, SimTime()), *id);
  ASSERT_EQ(cluster.CarriedTerms().size(), 1u);
  EXPECT_EQ(cluster.pod_counts().domains(cluster.CarriedTerms()[0].domains).total(), 1);
}

}  // namespace
}  // namespace drasim
