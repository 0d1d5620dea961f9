// NodeAffinity: figures of upstream's node_affinity_test.go, and the oddities of its parsing.
// tests/policies/scores_test.cc has the verdicts of node selectors.
#include "policies/plugins/node_affinity.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/pod_constraints.h"
#include "policies/framework/plugin_args.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

using Verdicts = std::vector<int>;
using Scores = std::vector<int64_t>;
using NodeLabels = std::vector<std::pair<std::string, std::string>>;

NodeRequirement LabelIs(const std::string& key, const std::string& value) {
  return {false, key, NodeOperator::kIn, {value}};
}
NodeRequirement NameIs(const std::string& name, NodeOperator op = NodeOperator::kIn) {
  return {true, "metadata.name", op, {name}};
}
NodeTerm Term(std::vector<NodeRequirement> requirements) { return {std::move(requirements), ""}; }
NodeTerm BadTerm(const std::string& error) {
  return {{{false, "g", NodeOperator::kGt, {"-10"}}}, error};
}

PodShape Requiring(const std::vector<NodeTerm>& terms) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.requires_node_terms = true;
  shape.constraints.node_terms = terms;
  return shape;
}
PodShape Preferring(const std::vector<PreferredNodeTerm>& terms) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.prefers_nodes = true;
  shape.constraints.preferred_nodes = terms;
  return shape;
}

// Nodes n1, n2, ...
void AddLabelled(const std::vector<NodeLabels>& nodes, ClusterBuilder& builder) {
  for (const NodeLabels& labels : nodes) {
    NodeSpec spec = TestNode(absl::StrCat("n", builder.cluster().node_count() + 1), 1000, 0);
    spec.labels = labels;
    builder.AddNode(spec);
  }
}

// ---- Filter ----

TEST(NodeAffinityPluginTest, RequiresOneOfTheTerms) {
  ClusterBuilder builder;
  AddLabelled({{{"g", "x"}}, {{"g", "y"}}, {}}, builder);
  const NodeAffinity plugin;
  const auto verdicts = [&](const std::vector<NodeTerm>& terms) {
    return FilterVerdicts(plugin, builder, Requiring(terms));
  };
  EXPECT_EQ(verdicts({Term({LabelIs("g", "x")})}), (Verdicts{0, 1, 1}));
  EXPECT_EQ(verdicts({Term({LabelIs("g", "x")}), Term({NameIs("n3")})}), (Verdicts{0, 1, 0}));
  EXPECT_EQ(verdicts({Term({LabelIs("g", "x"), NameIs("n2")})}), (Verdicts{1, 1, 1}));
  EXPECT_EQ(verdicts({Term({NameIs("n2", NodeOperator::kNotIn)})}), (Verdicts{0, 1, 0}));
  // A term without requirements, and a section without terms, select nothing.
  EXPECT_EQ(verdicts({Term({}), Term({LabelIs("g", "y")})}), (Verdicts{1, 0, 1}));
  EXPECT_EQ(verdicts({Term({})}), (Verdicts{1, 1, 1}));
  EXPECT_EQ(verdicts({}), (Verdicts{1, 1, 1}));
  // So does one that cannot be parsed, even if the node would meet it.
  EXPECT_EQ(verdicts({BadTerm("bad"), Term({LabelIs("g", "y")})}), (Verdicts{1, 0, 1}));
  NodeTerm met = Term({LabelIs("g", "x")});
  met.error = "bad";
  EXPECT_EQ(verdicts({met}), (Verdicts{1, 1, 1}));
}

TEST(NodeAffinityPluginTest, TheProfilesRequirementsComeFirst) {
  ClusterBuilder builder;
  AddLabelled({{{"a", "5"}, {"g", "x"}}, {{"g", "x"}}, {{"a", "5"}}, {}}, builder);
  NodeAffinityArgs args;
  args.has_required = true;
  args.required = {Term({LabelIs("g", "x")})};
  NodeAffinity plugin(args);
  PodShape pod = TestShape(1, 0);
  EXPECT_EQ(FilterVerdicts(plugin, builder, pod), (Verdicts{0, 0, 2, 2}));
  EXPECT_EQ(PreFilterResult(plugin, builder, pod).code, StepCode::kSuccess);
  pod.constraints.node_selector = {{"a", "5"}};
  EXPECT_EQ(FilterVerdicts(plugin, builder, pod), (Verdicts{0, 1, 2, 2}));
  EXPECT_EQ(FilterTexts(plugin, builder, pod, NodeId(size_t{1})),
            std::vector<std::string>{"node(s) didn't match Pod's node affinity/selector"});
  EXPECT_EQ(FilterTexts(plugin, builder, pod, NodeId(size_t{3})),
            std::vector<std::string>{"node(s) didn't match scheduler-enforced node affinity"});
  EXPECT_FALSE(plugin.IsResolvable({}, builder.cluster(), NodeId(size_t{3}), 2));
  // Without requirements of the profile there is no reason for them.
  EXPECT_EQ(plugin.reasons().size(), 2u);
  EXPECT_EQ(NodeAffinity().reasons().size(), 1u);
}

// ---- PreFilter ----

TEST(NodeAffinityPluginTest, SkipsPodsWithoutRequirements) {
  ClusterBuilder builder;
  NodeAffinity plugin;
  const auto code = [&](const PodShape& pod) { return PreFilterResult(plugin, builder, pod).code; };
  EXPECT_EQ(code(TestShape(1, 0)), StepCode::kSkip);
  EXPECT_EQ(code(Preferring({{1, Term({LabelIs("g", "x")})}})), StepCode::kSkip);
  EXPECT_EQ(code(Requiring({})), StepCode::kSuccess);
  PodShape pod = TestShape(1, 0);
  pod.constraints.gives_node_selector = true;
  EXPECT_EQ(code(pod), StepCode::kSuccess);
  pod.constraints.gives_node_selector = false;
  pod.constraints.node_selector = {{"a", "5"}};
  EXPECT_EQ(code(pod), StepCode::kSuccess);
}

TEST(NodeAffinityPluginTest, NamesTheNodesWhenEveryTermDoes) {
  ClusterBuilder builder;
  AddLabelled({{}, {}, {}, {}}, builder);
  NodeAffinity plugin;
  const auto names = [&](const std::vector<NodeTerm>& terms) {
    const StepResult result = PreFilterResult(plugin, builder, Requiring(terms));
    if (result.code != StepCode::kSuccess) return result.message;
    if (!result.names_nodes) return std::string("all");
    std::string text;
    for (const NodeId node : result.nodes) {
      absl::StrAppend(&text, builder.cluster().node_spec(node).name, " ");
    }
    return text;
  };
  EXPECT_EQ(names({Term({NameIs("n4")}), Term({NameIs("n2")})}), "n2 n4 ");
  EXPECT_EQ(names({Term({NameIs("n2"), LabelIs("g", "x")})}), "n2 ");
  EXPECT_EQ(names({Term({NameIs("n2"), NameIs("n2")})}), "n2 ");
  EXPECT_EQ(names({Term({NameIs("n2"), NameIs("n2", NodeOperator::kNotIn)})}), "n2 ");
  EXPECT_EQ(names({Term({NameIs("n2")}), Term({LabelIs("g", "x")})}), "all");
  EXPECT_EQ(names({Term({NameIs("n2", NodeOperator::kNotIn)})}), "all");
  EXPECT_EQ(names({Term({NameIs("n1")}), Term({})}), "all");
  // Nodes that do not exist are no conflict, not even if no other is named.
  EXPECT_EQ(names({Term({NameIs("ghost")}), Term({NameIs("n1")})}), "n1 ");
  EXPECT_EQ(names({Term({NameIs("ghost")})}), "");
  EXPECT_EQ(names({Term({NameIs("n1"), NameIs("n2")})}), "pod affinity terms conflict");
  EXPECT_EQ(names({Term({NameIs("n1"), NameIs("n2")}), Term({NameIs("n3")})}), "n3 ");
  EXPECT_EQ(PreFilterResult(plugin, builder, Requiring({Term({NameIs("n1"), NameIs("n2")})})).code,
            StepCode::kUnresolvable);
}

// ---- Score ----

TEST(NodeAffinityPluginTest, AddsUpTheWeightsOfMetPreferences) {
  ClusterBuilder builder;
  AddLabelled(
      {{{"foo", "bar"}}, {{"az", "az1"}, {"foo", "bar"}, {"key", "value"}}, {{"key", "value"}}},
      builder);
  NodeAffinity plugin;
  const PodShape pod = Preferring(
      {{2, Term({LabelIs("foo", "bar")})},
       {4, Term({LabelIs("key", "value")})},
       {5, Term({LabelIs("foo", "bar"), LabelIs("key", "value"), LabelIs("az", "az1")})}});
  EXPECT_EQ(RawScores(plugin, builder, pod), (Scores{2, 11, 4}));
  EXPECT_EQ(FinalScores(plugin, builder, pod), (Scores{18, 100, 36}));
  EXPECT_EQ(FinalScores(plugin, builder, Preferring({{7, Term({LabelIs("az", "az1")})}})),
            (Scores{0, 100, 0}));
  EXPECT_EQ(FinalScores(plugin, builder, Preferring({{7, Term({LabelIs("az", "az2")})}})),
            (Scores{0, 0, 0}));
  EXPECT_EQ(RawScores(plugin, builder, Preferring({{3, Term({})}, {2, Term({NameIs("n3")})}})),
            (Scores{0, 0, 2}));
}

TEST(NodeAffinityPluginTest, ThePreferencesOfTheProfileCountToo) {
  ClusterBuilder builder;
  AddLabelled({{{"foo", "bar"}}, {{"key", "value"}}, {{"foo", "bar"}, {"key", "value"}}}, builder);
  NodeAffinityArgs args;
  args.preferred = {{3, Term({LabelIs("key", "value")})}};
  NodeAffinity plugin(args);
  EXPECT_EQ(FinalScores(plugin, builder, Preferring({{2, Term({LabelIs("foo", "bar")})}})),
            (Scores{40, 60, 100}));
  EXPECT_EQ(RawScores(plugin, builder, TestShape(1, 0)), (Scores{0, 3, 3}));
  EXPECT_EQ(PreScoreResult(plugin, builder, TestShape(1, 0)).code, StepCode::kSuccess);
}

TEST(NodeAffinityPluginTest, PreScoreSkipsOrFails) {
  ClusterBuilder builder;
  NodeAffinity plugin;
  const auto result = [&](const std::vector<PreferredNodeTerm>& terms) {
    return PreScoreResult(plugin, builder, Preferring(terms));
  };
  EXPECT_EQ(PreScoreResult(plugin, builder, TestShape(1, 0)).code, StepCode::kSkip);
  EXPECT_EQ(PreScoreResult(plugin, builder, Requiring({BadTerm("a")})).code, StepCode::kSkip);
  EXPECT_EQ(result({}).code, StepCode::kSuccess);
  EXPECT_EQ(result({{1, Term({})}}).code, StepCode::kSuccess);
  EXPECT_EQ(result({{5, BadTerm("[0].x")}}).code, StepCode::kError);
  EXPECT_EQ(result({{5, BadTerm("[0].x")}}).message, "[0].x");
  // The first one stands for all.
  EXPECT_EQ(
      result({{1, Term({LabelIs("g", "x")})}, {5, BadTerm("[a, b]")}, {5, BadTerm("b")}}).message,
      "[a, b]");
  // Kubernetes does not look at a term without weight.
  EXPECT_EQ(result({{0, BadTerm("a")}}).code, StepCode::kSuccess);
}

// ---- Hints ----

TEST(NodeAffinityPluginTest, ANodeWakesThePodWhenItBeginsToMatch) {
  struct Row {
    bool is_new;
    NodeLabels before;
    NodeLabels now;
    bool wakes;
    bool wakes_with_added;
  };
  NodeAffinityArgs args;
  args.has_required = true;
  args.required = {Term({LabelIs("h", "1")})};
  for (const Row& row :
       {Row{true, {}, {{"g", "x"}}, true, false}, Row{true, {}, {{"g", "y"}}, false, false},
        Row{true, {}, {{"g", "x"}, {"h", "1"}}, true, true},
        Row{false, {}, {{"g", "x"}, {"h", "1"}}, true, true},
        Row{false, {{"g", "x"}}, {{"g", "x"}, {"h", "1"}}, false, false},
        Row{false, {{"g", "x"}}, {{"g", "y"}}, false, false}}) {
    ClusterBuilder builder;
    AddLabelled({row.now}, builder);
    NodeSpec before = TestNode("n1", 1000, 0);
    before.labels = row.before;
    const ClusterChange change = NodeChange(row.is_new ? kNodeAdded : kNodeLabels,
                                            NodeId(size_t{0}), row.is_new ? nullptr : &before);
    const PodShape pod = Requiring({Term({LabelIs("g", "x")})});
    EXPECT_EQ(Wakes(NodeAffinity(), builder, pod, change), row.wakes);
    EXPECT_EQ(Wakes(NodeAffinity(args), builder, pod, change), row.wakes_with_added);
  }
}

TEST(NodeAffinityPluginTest, TaintsAndTermsThatCannotBeParsedWakeThePod) {
  ClusterBuilder builder;
  AddLabelled({{}}, builder);
  const NodeId node(size_t{0});
  const NodeSpec before = TestNode("n1", 1000, 0);
  const NodeAffinity plugin;
  const PodShape pod = Requiring({Term({LabelIs("g", "x")})});
  EXPECT_TRUE(Wakes(plugin, builder, pod, NodeChange(kNodeTaints, node, &before)));
  EXPECT_TRUE(Wakes(plugin, builder, pod, NodeChange(kNodeSchedulable, node, &before)));
  EXPECT_FALSE(Wakes(plugin, builder, pod, NodeChange(kNodeAllocatable, node, &before)));
  PodShape bad = Requiring({BadTerm("a")});
  EXPECT_TRUE(Wakes(plugin, builder, bad, NodeChange(kNodeLabels, node, &before)));
  // The node selector is tried first.
  bad.constraints.node_selector = {{"a", "5"}};
  EXPECT_FALSE(Wakes(plugin, builder, bad, NodeChange(kNodeLabels, node, &before)));
}

}  // namespace
}  // namespace drasim
