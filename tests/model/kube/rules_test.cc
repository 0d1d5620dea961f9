// Requests, selectors, ports and taints as kube-scheduler has them.
#include "model/kube/rules.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace explain_cluster_rules_test {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::Object ReadOne(absl::string_view yaml) {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest manifest = kube_manifests::ReadManifest(yaml, options);
  EXPECT_EQ(manifest.objects.size(), 1u) << yaml;
  return manifest.objects.empty() ? kube::Object() : manifest.objects[0].object;
}

kube::PodSpec SpecOf(absl::string_view spec) {
  return ReadOne(explain_rig::PodYaml("p", spec)).pod().spec();
}

kube::Node NodeWith(absl::string_view labels, absl::string_view spec = "") {
  return ReadOne(explain_rig::NodeYaml("n-1", "pods: 1", spec, labels)).node();
}

std::string Container(absl::string_view requests, absl::string_view more = "") {
  return absl::StrCat("{name: a, resources: {requests: {", requests, "}}", more.empty() ? "" : ", ",
                      more, "}");
}

KubeAmounts RequestOf(absl::string_view spec) { return RequestOfPod(SpecOf(spec)); }

// The figures of noderesources/fit_test.go that the rule of init containers is known by.
TEST(RequestOfPodTest, ContainersAddUpAndInitContainersTakeTurns) {
  const KubeAmounts request = RequestOf(
      absl::StrCat("containers: [", Container("cpu: 2, memory: 1G"), ", ",
                   Container("cpu: 1, memory: 1G"), "], initContainers: [",
                   Container("cpu: 2, memory: 1G"), ", ", Container("cpu: 2, memory: 3G"), "]"));
  EXPECT_EQ(request, (KubeAmounts{{"cpu", 3000}, {"memory", 3'000'000'000}}));
}

TEST(RequestOfPodTest, SidecarsRunBesideWhatFollowsThem) {
  const std::string main =
      absl::StrCat("containers: [", Container("cpu: 1"), ", ", Container("cpu: 1"), "]");
  const std::string sidecar = Container("cpu: 1", "restartPolicy: Always");
  EXPECT_EQ(
      RequestOf(absl::StrCat(main, ", initContainers: [", sidecar, ", ", Container("cpu: 3"), "]")),
      (KubeAmounts{{"cpu", 4000}}));
  EXPECT_EQ(
      RequestOf(absl::StrCat(main, ", initContainers: [", Container("cpu: 3"), ", ", sidecar, "]")),
      (KubeAmounts{{"cpu", 3000}}));
}

TEST(RequestOfPodTest, PodLevelRequestsReplaceAndOverheadComesOnTop) {
  EXPECT_EQ(RequestOf(absl::StrCat("containers: [", Container("cpu: 1"), ", ",
                                   Container("cpu: 500m, example.com/a: 2"),
                                   "], resources: {requests: {cpu: 2, example.com/a: 9}}, "
                                   "overhead: {cpu: 250m, memory: 1Mi}")),
            (KubeAmounts{{"cpu", 2250}, {"example.com/a", 2}, {"memory", 1 << 20}}));
}

TEST(RequestOfPodTest, LimitsAreTheApiServersBusiness) {
  EXPECT_EQ(RequestOf("containers: [{name: a, resources: {limits: {cpu: 2, nvidia.com/gpu: 1}, "
                      "requests: {cpu: 100m}}}]"),
            (KubeAmounts{{"cpu", 100}}));
}

TEST(RequestOfPodTest, RoundsUpAfterAddingAndCutsWhatIsTooLarge) {
  EXPECT_EQ(
      RequestOf(absl::StrCat("containers: [", Container("cpu: 100u, memory: 100m"), ", ",
                             Container("cpu: 100u, memory: 100m, example.com/a: 1e30"), "]")),
      (KubeAmounts{
          {"cpu", 1}, {"example.com/a", std::numeric_limits<int64_t>::max()}, {"memory", 1}}));
}

TEST(RequestOfPodTest, UncountedResourcesAreLeftOut) {
  EXPECT_EQ(RequestOf(absl::StrCat(
                "containers: [",
                Container("storage: 1, foo: 2, requests.example.com/a: 1, hugepages-2Mi: 4Mi, "
                          "attachable-volumes-x: 1, example.kubernetes.io/b: 3, Example.com/c: 1, "
                          "example.com/-: 1"),
                "]")),
            (KubeAmounts{{"attachable-volumes-x", 1},
                         {"example.kubernetes.io/b", 3},
                         {"hugepages-2Mi", 4 << 20}}));
}

TEST(AllocatableOfNodeTest, CapacityStandsIn) {
  const auto of = [](absl::string_view status) {
    return AllocatableOfNode(
        ReadOne(absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {",
                             status, "}}"))
            .node()
            .status());
  };
  EXPECT_EQ(of("capacity: {cpu: 8, pods: 110}"), (KubeAmounts{{"cpu", 8000}, {"pods", 110}}));
  EXPECT_EQ(of("capacity: {cpu: 8, pods: 110}, allocatable: {cpu: 7500m}"),
            (KubeAmounts{{"cpu", 7500}}));
}

TEST(AmountTextTest, ExactAndShort) {
  EXPECT_EQ(ExactAmountText("cpu", 1500), "1500m");
  EXPECT_EQ(ExactAmountText("cpu", 2000), "2");
  EXPECT_EQ(ExactAmountText("memory", int64_t{64} << 30), "64Gi");
  EXPECT_EQ(ExactAmountText("nvidia.com/gpu", 12000), "12000");
  const int64_t gibi = int64_t{1} << 30;
  EXPECT_EQ(ShortAmountText("memory", 64 * gibi, false), "64Gi");
  EXPECT_EQ(ShortAmountText("memory", 64 * gibi - 1, false), "63.9Gi");
  EXPECT_EQ(ShortAmountText("memory", 64 * gibi - 1, true), "64Gi");
  EXPECT_EQ(ShortAmountText("memory", gibi - 1, false), "1023.9Mi");
  EXPECT_EQ(ShortAmountText("hugepages-2Mi", 3 << 20, false), "3Mi");
  EXPECT_EQ(ShortAmountText("memory", 1023, false), "1023");
  EXPECT_EQ(ShortAmountText("memory", std::numeric_limits<int64_t>::max(), false), "7.9Ei");
  EXPECT_EQ(ShortAmountText("memory", std::numeric_limits<int64_t>::max(), true), "8Ei");
  EXPECT_EQ(ShortAmountText("cpu", 250, true), "250m");
}

TEST(AddAmountsTest, IsCutToInt64) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  KubeAmounts sum = {{"a", most - 1}, {"b", 1}};
  AddAmounts({{"a", 2}, {"b", 2}, {"c", 3}}, &sum);
  EXPECT_EQ(sum, (KubeAmounts{{"a", most}, {"b", 3}, {"c", 3}}));
}

TEST(HostPortsTest, OfContainersAndSidecarsOnly) {
  std::string texts;
  for (const KubeHostPort& port : HostPortsOf(SpecOf(
           "containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, hostPort: "
           "8081, protocol: UDP}]}], initContainers: [{name: b, ports: [{containerPort: 82, "
           "hostPort: 8082}]}, {name: c, restartPolicy: Always, ports: [{containerPort: 83, "
           "hostPort: 8083, hostIP: 10.0.0.1}]}]"))) {
    absl::StrAppend(&texts, HostPortText(port), " ");
  }
  EXPECT_EQ(texts, "8081/UDP 10.0.0.1:8083/TCP ");
  EXPECT_THAT(HostPortsOf(SpecOf("hostNetwork: true, containers: [{name: a, ports: "
                                 "[{containerPort: 80}]}]")),
              IsEmpty());
}

// Whether the node with the label memory=40 meets one requirement of an affinity.
bool MeetsExpression(absl::string_view expression) {
  return MeetsNodeAffinity(
      SpecOf(absl::StrCat("affinity: {nodeAffinity: "
                          "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                          "[{matchExpressions: [{",
                          expression, "}]}]}}}")),
      NodeWith("memory: \"40\""), nullptr);
}

TEST(NodeAffinityTest, EachOperator) {
  EXPECT_TRUE(MeetsExpression("key: memory, operator: In, values: [\"20\", \"40\"]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: In, values: [\"20\"]"));
  EXPECT_FALSE(MeetsExpression("key: other, operator: In, values: [\"20\"]"));
  EXPECT_TRUE(MeetsExpression("key: memory, operator: NotIn, values: [\"20\"]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: NotIn, values: [\"40\"]"));
  EXPECT_TRUE(MeetsExpression("key: other, operator: NotIn, values: [\"40\"]"));
  EXPECT_TRUE(MeetsExpression("key: memory, operator: Exists"));
  EXPECT_FALSE(MeetsExpression("key: other, operator: Exists"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: DoesNotExist"));
  EXPECT_TRUE(MeetsExpression("key: other, operator: DoesNotExist"));
  EXPECT_TRUE(MeetsExpression("key: memory, operator: Gt, values: [\"39\"]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: Gt, values: [\"40\"]"));
  EXPECT_TRUE(MeetsExpression("key: memory, operator: Lt, values: [\"41\"]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: Lt, values: [\"40\"]"));
  EXPECT_FALSE(MeetsExpression("key: other, operator: Lt, values: [\"40\"]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: Gt, values: [many]"));
  EXPECT_FALSE(MeetsExpression("key: memory, operator: Near, values: [\"40\"]"));
}

// The requirements that the node n-1 with the labels a=1, b=2 does not meet.
std::vector<std::string> Unmet(absl::string_view spec) {
  std::vector<std::string> unmet;
  const bool meets = MeetsNodeAffinity(SpecOf(spec), NodeWith("a: \"1\", b: \"2\""), &unmet);
  EXPECT_EQ(meets, unmet.empty());
  return unmet;
}

std::string Terms(absl::string_view terms) {
  return absl::StrCat(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [",
      terms, "]}}}");
}

TEST(NodeAffinityTest, SelectorAndTerms) {
  constexpr char kA2[] = "{matchExpressions: [{key: a, operator: In, values: [\"2\"]}]}";
  constexpr char kB2[] = "{matchExpressions: [{key: b, operator: In, values: [\"2\"]}]}";
  EXPECT_THAT(Unmet(""), IsEmpty());
  EXPECT_THAT(Unmet("nodeSelector: {a: \"1\", b: \"2\"}"), IsEmpty());
  EXPECT_THAT(Unmet("nodeSelector: {c: \"3\", a: \"2\", b: \"2\"}"), ElementsAre("a=2", "c=3"));
  EXPECT_THAT(Unmet(Terms(absl::StrCat(kA2, ", ", kB2))), IsEmpty());
  EXPECT_THAT(Unmet(Terms(kA2)), ElementsAre("a In [2]"));
  EXPECT_THAT(Unmet(Terms("{matchExpressions: [{key: a, operator: In, values: [\"2\"]}, {key: c, "
                          "operator: Exists}]}, {matchFields: [{key: metadata.name, operator: In, "
                          "values: [n-2]}]}")),
              ElementsAre("a In [2] and c Exists, or metadata.name In [n-2]"));
  EXPECT_THAT(Unmet(absl::StrCat("nodeSelector: {a: \"1\"}, ", Terms(kB2))), IsEmpty());
  EXPECT_THAT(Unmet(Terms("{}")), ElementsAre("an empty term"));
  EXPECT_THAT(Unmet(Terms("")), ElementsAre("an affinity without terms"));
}

TEST(NodeAffinityTest, FieldsAreNamesOnly) {
  const auto field = [](absl::string_view requirement) {
    return Unmet(Terms(absl::StrCat("{matchFields: [{", requirement, "}]}")));
  };
  EXPECT_THAT(field("key: metadata.name, operator: In, values: [n-1]"), IsEmpty());
  EXPECT_THAT(field("key: metadata.name, operator: NotIn, values: [n-2]"), IsEmpty());
  EXPECT_THAT(field("key: metadata.name, operator: NotIn, values: [n-1]"),
              ElementsAre("metadata.name NotIn [n-1]"));
  EXPECT_THAT(field("key: metadata.name, operator: In, values: [n-1, n-2]"),
              ElementsAre("metadata.name In [n-1, n-2]"));
  EXPECT_THAT(field("key: metadata.name, operator: Exists"), ElementsAre("metadata.name Exists"));
  EXPECT_THAT(field("key: a, operator: In, values: [\"1\"]"), ElementsAre("a In [1]"));
}

TEST(NodeAffinityTest, NamedNodes) {
  const auto named = [](absl::string_view terms) {
    bool restricted = false;
    const std::vector<std::string> names = NamedNodes(SpecOf(Terms(terms)), &restricted);
    return absl::StrCat(restricted ? "only " : "any ", absl::StrJoin(names, " "));
  };
  constexpr char kN2[] = "{matchFields: [{key: metadata.name, operator: In, values: [n-2]}]}";
  constexpr char kN1[] =
      "{matchFields: [{key: metadata.name, operator: In, values: [n-1]}], matchExpressions: [{key: "
      "a, operator: Exists}]}";
  constexpr char kBoth[] =
      "{matchFields: [{key: metadata.name, operator: In, values: [n-1]}, {key: metadata.name, "
      "operator: In, values: [n-2]}]}";
  EXPECT_EQ(named(kN2), "only n-2");
  EXPECT_EQ(named(absl::StrCat(kN2, ", ", kN1)), "only n-1 n-2");
  EXPECT_EQ(named(kBoth), "only ");
  EXPECT_EQ(named(absl::StrCat(kN2, ", {matchExpressions: [{key: a, operator: Exists}]}")), "any ");
  EXPECT_EQ(named(""), "any ");
}

TEST(LabelSelectorTest, SelectsLabels) {
  const auto selects = [](absl::string_view selector) {
    const kube::Object pod = ReadOne(explain_rig::PodYaml(
        "p",
        absl::StrCat("topologySpreadConstraints: [{maxSkew: 1, labelSelector: {", selector, "}}]"),
        "", "labels: {a: \"1\"}"));
    return SelectsLabels(pod.pod().spec().topology_spread_constraints(0).label_selector(),
                         pod.pod().metadata().labels());
  };
  EXPECT_TRUE(selects(""));
  EXPECT_TRUE(selects("matchLabels: {a: \"1\"}"));
  EXPECT_FALSE(selects("matchLabels: {a: \"2\"}"));
  EXPECT_FALSE(selects("matchLabels: {a: \"1\", b: \"1\"}"));
  EXPECT_TRUE(selects("matchExpressions: [{key: b, operator: DoesNotExist}]"));
  EXPECT_FALSE(selects("matchLabels: {a: \"1\"}, matchExpressions: [{key: b, operator: Exists}]"));
  // No operator of labels.
  EXPECT_FALSE(selects("matchExpressions: [{key: a, operator: Gt, values: [\"0\"]}]"));
}

// The taints of a node that a pod with these tolerations does not tolerate.
std::string Untolerated(absl::string_view tolerations) {
  const kube::Node node = NodeWith(
      "",
      "taints: [{key: gpu, value: a, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}, "
      "{key: down, effect: NoExecute}]");
  std::string keys;
  for (const kube::Taint* taint :
       UntoleratedTaints(SpecOf(absl::StrCat("tolerations: [", tolerations, "]")), node)) {
    absl::StrAppend(&keys, taint->key(), " ");
  }
  return keys;
}

TEST(TaintsTest, Tolerations) {
  for (const auto& [input, expected] : TestRows<2>("Tolerations")) {
    EXPECT_EQ(Untolerated(input), expected) << input;
  }
}

TEST(SelectorTextTest, Texts) {
  kube::NodeSelector nodes;
  EXPECT_EQ(NodeSelectorText(nodes), "no node");
  kube::LabelSelector labels;
  EXPECT_EQ(SelectorText(labels), "everything");
  (*labels.mutable_match_labels())["b"] = "2";
  (*labels.mutable_match_labels())["a"] = "1";
  kube::SelectorRequirement* requirement = labels.add_match_expressions();
  requirement->set_key("c");
  requirement->set_operator_("NotIn");
  requirement->add_values("x");
  requirement->add_values("y");
  EXPECT_EQ(SelectorText(labels), "a=1, b=2, c NotIn [x, y]");
  kube::SelectorRequirement* name = nodes.add_node_selector_terms()->add_match_fields();
  name->set_key("metadata.name");
  name->set_operator_("In");
  name->add_values("n-1");
  *nodes.add_node_selector_terms()->add_match_expressions() = *requirement;
  EXPECT_EQ(NodeSelectorText(nodes), "node n-1, or c NotIn [x, y]");
}

}  // namespace explain_cluster_rules_test
}  // namespace drasim
