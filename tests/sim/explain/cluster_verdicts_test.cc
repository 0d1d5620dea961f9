// Verdicts of Filter plugins on a dump: a node that passes, a node that does not, and the texts.
// The pod in question is always "p".
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace explain_cluster_verdicts_test {

using explain_rig::Asks;
using explain_rig::ExplainText;
using explain_rig::MessageOf;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::RejectionOf;
using explain_rig::RunningYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;

constexpr char kPlain[] = "containers: [{name: a}]";
constexpr char kTaken[] = "default/p (Pending): 1 of 1 nodes would take it now (n-1).";

std::string WithSpec(absl::string_view spec) { return absl::StrCat(kPlain, ", ", spec); }

TEST(ExplainVerdictsTest, NodeUnschedulable) {
  const std::string cordoned = NodeYaml("n-1", "pods: 1", "unschedulable: true");
  EXPECT_EQ(RejectionOf(absl::StrCat(cordoned, PodYaml("p", kPlain))),
            "1 node (n-1): node(s) were unschedulable: cordoned");
  const std::string tolerant = WithSpec("tolerations: [{key: node.kubernetes.io/unschedulable}]");
  EXPECT_EQ(RejectionOf(absl::StrCat(cordoned, PodYaml("p", tolerant))), kTaken);
}

// Cordoned nodes have a taint, too; it is no second reason.
TEST(ExplainVerdictsTest, ACordonComesWithATaint) {
  const std::string cordoned = NodeYaml(
      "n-1", "pods: 1",
      "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]");
  const std::string text =
      ExplainText(absl::StrCat(cordoned, SystemPodYaml(), PodYaml("p", kPlain)), "p").text;
  EXPECT_EQ(MessageOf(text), "0/1 nodes are available: 1 node(s) were unschedulable.");
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if the node were uncordoned");
  EXPECT_EQ(SectionOf(text, "It waits for"), "a node to be uncordoned");
}

TEST(ExplainVerdictsTest, TaintToleration) {
  const std::string tainted = NodeYaml(
      "n-1", "pods: 1",
      "taints: [{key: soft, effect: PreferNoSchedule}, {key: gpu, value: a, effect: NoSchedule}, "
      "{key: node.kubernetes.io/not-ready, effect: NoExecute}]");
  const std::string text =
      ExplainText(absl::StrCat(tainted, SystemPodYaml(), PodYaml("p", kPlain)), "p").text;
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "1 node (n-1): node(s) had untolerated taint {gpu: a}: effect NoSchedule");
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if the pod tolerated {gpu: a} and "
            "{node.kubernetes.io/not-ready: }");
  EXPECT_EQ(RejectionOf(absl::StrCat(
                tainted, PodYaml("p", WithSpec("tolerations: [{key: gpu, value: a}]")))),
            "1 node (n-1): node(s) had untolerated taint {node.kubernetes.io/not-ready: }: effect "
            "NoExecute");
  EXPECT_EQ(RejectionOf(
                absl::StrCat(tainted, PodYaml("p", WithSpec("tolerations: [{operator: Exists}]")))),
            kTaken);
}

TEST(ExplainVerdictsTest, NodeAffinity) {
  const std::string nodes =
      absl::StrCat(NodeYaml("n-1", "pods: 1", "", "gpu: a100"),
                   NodeYaml("n-2", "pods: 1", "", "gpu: v100"), NodeYaml("n-3", "pods: 1"));
  EXPECT_EQ(RejectionOf(absl::StrCat(nodes, PodYaml("p", WithSpec("nodeSelector: {gpu: h100}")))),
            "3 nodes (n-1, n-2, n-3): node(s) didn't match Pod's node affinity/selector: the pod "
            "wants gpu=h100");
  EXPECT_EQ(RejectionOf(absl::StrCat(nodes, PodYaml("p", WithSpec("nodeSelector: {gpu: a100}")))),
            "2 nodes (n-2, n-3): node(s) didn't match Pod's node affinity/selector: the pod wants "
            "gpu=a100");
  const std::string affinity = WithSpec(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: NotIn, values: [a100, "
      "v100]}, {key: gpu, operator: Exists}]}]}}}");
  // Nodes that lack different things are different groups.
  EXPECT_EQ(RejectionOf(absl::StrCat(nodes, PodYaml("p", affinity))),
            "2 nodes (n-1, n-2): node(s) didn't match Pod's node affinity/selector: the pod wants "
            "gpu NotIn [a100, v100]\n"
            "1 node (n-3): node(s) didn't match Pod's node affinity/selector: the pod wants gpu "
            "Exists");
}

// Requirements that a node with the labels a=1, b=2 does not meet.
TEST(ExplainVerdictsTest, UnmetSelectorsAndTerms) {
  constexpr char kA2[] = "{matchExpressions: [{key: a, operator: In, values: [\"2\"]}]}";
  constexpr char kB2[] = "{matchExpressions: [{key: b, operator: In, values: [\"2\"]}]}";
  const auto unmet = [](absl::string_view spec) {
    return RejectionOf(absl::StrCat(NodeYaml("n-1", "pods: 1", "", "a: \"1\", b: \"2\""),
                                    PodYaml("p", WithSpec(spec))));
  };
  const auto terms = [](absl::string_view list) {
    return absl::StrCat(
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [",
        list, "]}}}");
  };
  const auto wants = [](absl::string_view what) {
    return absl::StrCat(
        "1 node (n-1): node(s) didn't match Pod's node affinity/selector: the pod wants ", what);
  };
  EXPECT_EQ(unmet("nodeSelector: {a: \"1\", b: \"2\"}"), kTaken);
  EXPECT_EQ(unmet("nodeSelector: {c: \"3\", a: \"2\", b: \"2\"}"), wants("a=2, c=3"));
  EXPECT_EQ(unmet(terms(absl::StrCat(kA2, ", ", kB2))), kTaken);
  EXPECT_EQ(unmet(terms(kA2)), wants("a In [2]"));
  EXPECT_EQ(unmet(terms("{matchExpressions: [{key: a, operator: In, values: [\"2\"]}, {key: c, "
                        "operator: Exists}]}, {matchExpressions: [{key: d, operator: Exists}]}")),
            wants("a In [2] and c Exists, or d Exists"));
  EXPECT_EQ(unmet(absl::StrCat("nodeSelector: {a: \"1\"}, ", terms(kB2))), kTaken);
}

std::string OnlyOn(absl::string_view field_values) {
  return absl::StrCat(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchFields: [",
      field_values, "]}]}}}");
}

// As DaemonSets restrict their pods: other nodes are not even looked at.
TEST(ExplainVerdictsTest, PodsOfOneNode) {
  const std::string nodes = absl::StrCat(NodeYaml("n-1", "cpu: 1, pods: 9"),
                                         NodeYaml("n-2", "cpu: 9, pods: 9"), SystemPodYaml());
  constexpr char kOnN1[] = "{key: metadata.name, operator: In, values: [n-1]}";
  const std::string one = absl::StrCat(Asks("cpu: 2"), ", ", OnlyOn(kOnN1));
  const std::string text = ExplainText(absl::StrCat(nodes, PodYaml("p", one)), "p").text;
  EXPECT_EQ(MessageOf(text),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "1 node (n-1): Insufficient cpu: wants 2, it has 1 in all\n"
            "1 node (n-2): node(s) didn't satisfy plugin(s) [NodeAffinity]: the pod may run on n-1 "
            "only");
  EXPECT_EQ(SectionOf(text, "What would help"), "");
  const std::string none =
      WithSpec(OnlyOn(absl::StrCat(kOnN1, ", {key: metadata.name, operator: In, values: [n-2]}")));
  EXPECT_EQ(ExplainText(absl::StrCat(nodes, PodYaml("p", none)), "p").text,
            TestText("PodsOfOneNode"));
}

TEST(ExplainVerdictsTest, NodePorts) {
  const auto with_port = [](absl::string_view port) {
    return absl::StrCat("containers: [{name: a, ports: [{containerPort: 80, ", port, "}]}]");
  };
  const std::string node = NodeYaml("n-1", "pods: 9");
  const std::string user = PodYaml(
      "ml/web", absl::StrCat("nodeName: n-1, ", with_port("hostPort: 8080")), "phase: Running");
  const std::string text =
      ExplainText(absl::StrCat(node, user, PodYaml("p", with_port("hostPort: 8080"))), "p").text;
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "1 node (n-1): node(s) didn't have free ports for the requested pod ports: 8080/TCP is "
            "taken");
  EXPECT_EQ(SectionOf(text, "Who holds what it wants"),
            "in the way on n-1: 8080/TCP is taken\n"
            "  ml/web (Running)");
  EXPECT_EQ(SectionOf(text, "It waits for"), "pods that use its host ports to end");
  EXPECT_EQ(SectionOf(text, "What would help"), "n-1 would take the pod if ml/web left");
  for (const char* other : {"hostPort: 8081", "hostPort: 8080, protocol: UDP"}) {
    EXPECT_EQ(RejectionOf(absl::StrCat(node, user, PodYaml("p", with_port(other)))), kTaken);
  }
}

TEST(ExplainVerdictsTest, NodeResourcesFitResourceByResource) {
  const std::string node =
      NodeYaml("n-1", "cpu: 4, memory: 8Gi, ephemeral-storage: 10Gi, pods: 9, example.com/a: 2");
  const std::string user =
      RunningYaml("ml/u", "n-1", "cpu: 3, memory: 6Gi, ephemeral-storage: 9Gi, example.com/a: 1");
  const auto reject = [&](absl::string_view requests) {
    return RejectionOf(absl::StrCat(node, user, PodYaml("p", Asks(requests))));
  };
  EXPECT_EQ(reject("cpu: 1, memory: 2Gi, ephemeral-storage: 1Gi, example.com/a: 1"), kTaken);
  for (const auto& [input, expected] : TestRows<2>("NodeResourcesFitResourceByResource")) {
    EXPECT_EQ(reject(input), expected) << input;
  }
  // All reasons of a node are given, in kube-scheduler's order.
  EXPECT_EQ(reject("example.com/b: 1, memory: 3Gi, cpu: 2"),
            "1 node (n-1): Insufficient cpu: wants 2, 1 free of 4; Insufficient memory: wants 3Gi, "
            "2Gi free of 8Gi; Insufficient example.com/b: wants 1, it has none");
}

TEST(ExplainVerdictsTest, PodsWithoutRequestsFitFullNodes) {
  const std::string node = NodeYaml("n-1", "cpu: 1, pods: 9");
  const std::string user = RunningYaml("ml/u", "n-1", "cpu: 2");
  EXPECT_EQ(RejectionOf(absl::StrCat(node, user, PodYaml("p", kPlain))), kTaken);
  // More than the node has is asked for already.
  EXPECT_EQ(RejectionOf(absl::StrCat(node, user, PodYaml("p", Asks("cpu: 1m")))),
            "1 node (n-1): Insufficient cpu: wants 1m, 0 free of 1");
}

TEST(ExplainVerdictsTest, PodSlots) {
  const std::string node = NodeYaml("n-1", "pods: 2");
  const std::string text =
      ExplainText(absl::StrCat(node, RunningYaml("ml/u", "n-1", ""), RunningYaml("ml/v", "n-1", ""),
                               PodYaml("p", kPlain)),
                  "p")
          .text;
  EXPECT_EQ(MessageOf(text), "0/1 nodes are available: 1 Too many pods.");
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "1 node (n-1): Too many pods: all 2 pod slots are taken");
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if ml/u left (it lacks 1 pod slot)");
  EXPECT_EQ(RejectionOf(absl::StrCat(node, RunningYaml("ml/u", "n-1", ""), PodYaml("p", kPlain))),
            kTaken);
}

TEST(ExplainVerdictsTest, NodesThatReportNothing) {
  EXPECT_EQ(RejectionOf(absl::StrCat(NodeYaml("n-1", ""), PodYaml("p", kPlain))),
            "1 node (n-1): Too many pods: it has no pod slots at all");
}

TEST(ExplainVerdictsTest, WhoCounts) {
  const std::string node = NodeYaml("n-1", "cpu: 2, pods: 9");
  const auto reject = [&](absl::string_view other) {
    return RejectionOf(absl::StrCat(node, other, PodYaml("p", Asks("cpu: 2") + ", priority: 5")));
  };
  const std::string bound = absl::StrCat("nodeName: n-1, ", Asks("cpu: 1"));
  constexpr char kRejected[] = "1 node (n-1): Insufficient cpu: wants 2, 1 free of 2";
  EXPECT_EQ(reject(PodYaml("u", bound, "phase: Running")), kRejected);
  EXPECT_EQ(reject(PodYaml("u", bound, "phase: Pending")), kRejected);
  EXPECT_EQ(reject(PodYaml("u", bound, "phase: Succeeded")), kTaken);
  EXPECT_EQ(reject(PodYaml("u", bound, "phase: Failed")), kTaken);
  EXPECT_EQ(reject(PodYaml("u", Asks("cpu: 1"))), kTaken);
  // Pods nominated to the node go first if their priority is at least the pod's.
  const auto nominated = [](int priority) {
    return PodYaml("u", absl::StrCat(Asks("cpu: 1"), ", priority: ", priority),
                   "phase: Pending, nominatedNodeName: n-1");
  };
  EXPECT_EQ(reject(nominated(5)), kRejected);
  EXPECT_EQ(reject(nominated(4)), kTaken);
}

std::string Spread(absl::string_view more) {
  return WithSpec(
      absl::StrCat("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
                   "DoNotSchedule, labelSelector: {matchLabels: {app: web}}",
                   more.empty() ? "" : ", ", more, "}]"));
}

constexpr char kWeb[] = "labels: {app: web, version: v1}";

// Two pods in zone a, none in b; c is a node without a zone, d a tainted one in a zone of its own.
std::string Zones() {
  return absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"),
                      NodeYaml("b", "pods: 9", "", "zone: b, disk: ssd"), NodeYaml("c", "pods: 9"),
                      RunningYaml("u", "a", "", kWeb), RunningYaml("v", "a", "", kWeb));
}

bool RejectsA(const std::string& groups) {
  return absl::StrContains(groups, "(a): ") || absl::StrContains(groups, "(a, b): ");
}

TEST(ExplainVerdictsTest, PodTopologySpread) {
  EXPECT_EQ(RejectionOf(absl::StrCat(Zones(), PodYaml("p", Spread(""), "", kWeb))),
            "1 node (a): node(s) didn't match pod topology spread constraints: zone=a has 2 "
            "matching pods, the fewest anywhere are 0, maxSkew is 1\n"
            "1 node (c): node(s) didn't match pod topology spread constraints (missing required "
            "label): no label zone");
  // A pod that the selector does not choose does not count itself.
  const std::string without_self = PodYaml("p", Spread(""), "", "labels: {}");
  EXPECT_EQ(RejectionOf(absl::StrCat(Zones(), RunningYaml("w", "b", "", kWeb), without_self)),
            "1 node (c): node(s) didn't match pod topology spread constraints (missing required "
            "label): no label zone");
}

TEST(ExplainVerdictsTest, PodTopologySpreadWhoCounts) {
  const auto rejects_a = [](absl::string_view others, absl::string_view constraint) {
    return RejectsA(RejectionOf(absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"),
                                             NodeYaml("b", "pods: 9", "", "zone: b"), others,
                                             PodYaml("p", Spread(constraint), "", kWeb))));
  };
  const std::string one = RunningYaml("u", "a", "", kWeb);
  EXPECT_TRUE(rejects_a(one, ""));
  EXPECT_FALSE(rejects_a("", ""));
  EXPECT_FALSE(rejects_a(RunningYaml("ml/u", "a", "", kWeb), ""));
  EXPECT_FALSE(
      rejects_a(RunningYaml("u", "a", "",
                            absl::StrCat(kWeb, ", deletionTimestamp: \"2024-05-01T10:00:00Z\"")),
                ""));
  // Three domains are wanted, two are there: the fewest are none.
  const std::string both = absl::StrCat(one, RunningYaml("v", "b", "", kWeb));
  EXPECT_FALSE(rejects_a(both, ""));
  EXPECT_TRUE(rejects_a(both, "minDomains: 3"));
  // Only pods of the same version count.
  EXPECT_TRUE(rejects_a(one, "matchLabelKeys: [version]"));
  EXPECT_FALSE(rejects_a(RunningYaml("u", "a", "", "labels: {app: web, version: v0}"),
                         "matchLabelKeys: [version]"));
  // Nodes that the pod's affinity excludes have no say, unless the policy is to ignore it.
  const auto rejects_with = [&](absl::string_view policy) {
    const std::string pod = absl::StrCat(Spread(policy), ", nodeSelector: {disk: hdd}");
    return RejectsA(RejectionOf(absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a, disk: hdd"),
                                             NodeYaml("b", "pods: 9", "", "zone: b"), one,
                                             PodYaml("p", pod, "", kWeb))));
  };
  EXPECT_FALSE(rejects_with(""));
  EXPECT_TRUE(rejects_with("nodeAffinityPolicy: Ignore"));
}

TEST(ExplainVerdictsTest, PodTopologySpreadTaintsAndSelectors) {
  const std::string nodes =
      absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"),
                   NodeYaml("b", "pods: 9", "taints: [{key: t, effect: NoSchedule}]", "zone: b"),
                   RunningYaml("u", "a", "", kWeb));
  const auto rejects_a = [&](absl::string_view spec) {
    return RejectsA(RejectionOf(absl::StrCat(nodes, PodYaml("p", spec, "", kWeb))));
  };
  EXPECT_TRUE(rejects_a(Spread("")));
  EXPECT_FALSE(rejects_a(Spread("nodeTaintsPolicy: Honor")));
  const auto other = [](absl::string_view more) {
    return WithSpec(
        absl::StrCat("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, ", more, "}]"));
  };
  // An empty selector counts only the pod itself, none at all not even that.
  EXPECT_FALSE(rejects_a(other("whenUnsatisfiable: DoNotSchedule, labelSelector: {}")));
  EXPECT_FALSE(rejects_a(other("whenUnsatisfiable: DoNotSchedule")));
  // A soft constraint rejects nothing.
  EXPECT_FALSE(rejects_a(
      other("whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}")));
}

std::string Near(absl::string_view kind, absl::string_view term) {
  return absl::StrCat("affinity: {", kind, ": {requiredDuringSchedulingIgnoredDuringExecution: [{",
                      "topologyKey: zone, ", term, "}]}}");
}

constexpr char kSelectsWeb[] = "labelSelector: {matchLabels: {app: web}}";

TEST(ExplainVerdictsTest, PodAffinity) {
  const std::string pod = WithSpec(Near("podAffinity", kSelectsWeb));
  const std::string text =
      ExplainText(absl::StrCat(Zones(), SystemPodYaml(), PodYaml("p", pod)), "p").text;
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "default/p (Pending): 1 of 3 nodes would take it now (a).");
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "1 node (b): node(s) didn't match pod affinity rules: no pod with app=web in the same "
            "zone\n"
            "1 node (c): node(s) didn't match pod affinity rules: no label zone");
  const std::string alone = NodeYaml("n-1", "pods: 9", "", "zone: a");
  const std::string lonely =
      ExplainText(absl::StrCat(alone, SystemPodYaml(), PodYaml("p", pod)), "p").text;
  EXPECT_EQ(MessageOf(lonely),
            "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.");
  EXPECT_EQ(SectionOf(lonely, "It waits for"), "a pod that it wants to be near to run");
  // The first of a group that wants to be together.
  EXPECT_EQ(RejectionOf(absl::StrCat(alone, PodYaml("p", pod, "", kWeb))), kTaken);
}

TEST(ExplainVerdictsTest, PodAffinityNamespaces) {
  const auto takers = [](absl::string_view term, absl::string_view objects = "") {
    const std::string text =
        ExplainText(
            absl::StrCat(
                NodeYaml("a", "pods: 9", "", "zone: a"), RunningYaml("ml/u", "a", "", kWeb),
                objects,
                PodYaml("p", WithSpec(Near("podAffinity", absl::StrCat(kSelectsWeb, term))))),
            "p")
            .text;
    return text.substr(0, text.find('\n')).find("no node") == std::string::npos;
  };
  EXPECT_FALSE(takers(""));
  EXPECT_TRUE(takers(", namespaces: [ml]"));
  EXPECT_FALSE(takers(", namespaces: [other]"));
  EXPECT_TRUE(takers(", namespaceSelector: {}"));
  EXPECT_FALSE(takers(", namespaceSelector: {matchLabels: {team: x}}"));
  EXPECT_TRUE(takers(", namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ml}}"));
  constexpr char kNamespace[] =
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: ml, labels: {team: x}}}\n";
  EXPECT_TRUE(takers(", namespaceSelector: {matchLabels: {team: x}}", kNamespace));
}

TEST(ExplainVerdictsTest, DoubtAboutNamespaces) {
  const std::string text =
      ExplainText(
          absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"), RunningYaml("ml/u", "a", "", kWeb),
                       PodYaml("p", WithSpec(Near("podAffinity",
                                                  absl::StrCat(kSelectsWeb,
                                                               ", namespaceSelector: "
                                                               "{matchLabels: {team: x}}"))))),
          "p")
          .text;
  EXPECT_EQ(SectionOf(text, "Notes"),
            "a namespaceSelector asks for labels of the namespace ml, which is not in the dump "
            "(kubectl get namespaces)");
}

TEST(ExplainVerdictsTest, PodAntiAffinity) {
  const std::string pod = WithSpec(Near("podAntiAffinity", kSelectsWeb));
  const std::string text =
      ExplainText(absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"),
                               NodeYaml("a-2", "pods: 9", "", "zone: a"), SystemPodYaml(),
                               RunningYaml("u", "a", "", kWeb), PodYaml("p", pod)),
                  "p")
          .text;
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "2 nodes (a, a-2): node(s) didn't match pod anti-affinity rules: pods with app=web in "
            "the same zone");
  EXPECT_EQ(SectionOf(text, "Who holds what it wants"),
            "in the way on a: pods with app=web in the same zone\n"
            "  default/u (Running)");
  EXPECT_EQ(SectionOf(text, "It waits for"), "pods that it must not be near to end");
  EXPECT_EQ(SectionOf(text, "What would help"), "a would take the pod if default/u left");
}

TEST(ExplainVerdictsTest, AntiAffinityOfOthers) {
  const std::string unwilling =
      PodYaml("u", absl::StrCat("nodeName: a, ", WithSpec(Near("podAntiAffinity", kSelectsWeb))),
              "phase: Running");
  const std::string node = NodeYaml("a", "pods: 9", "", "zone: a");
  EXPECT_EQ(
      RejectionOf(absl::StrCat(node, unwilling, PodYaml("p", kPlain, "", kWeb))),
      "1 node (a): node(s) didn't satisfy existing pods anti-affinity rules: pods in the same "
      "zone do not want to be near this one");
  EXPECT_EQ(RejectionOf(absl::StrCat(node, unwilling, PodYaml("p", kPlain))),
            "default/p (Pending): 1 of 1 nodes would take it now (a).");
}

// kube-scheduler asks the plugins in order and stops at the first that rejects.
TEST(ExplainVerdictsTest, TheFirstPluginCounts) {
  const std::string full = "cpu: 1, pods: 9";
  const std::string nodes = absl::StrCat(
      NodeYaml("n-1", full, "unschedulable: true, taints: [{key: t, effect: NoSchedule}]"),
      NodeYaml("n-2", full, "taints: [{key: t, effect: NoSchedule}]"), NodeYaml("n-3", full),
      NodeYaml("n-4", full, "", "disk: ssd"), SystemPodYaml());
  const std::string pod = absl::StrCat(Asks("cpu: 2"), ", nodeSelector: {disk: ssd}");
  EXPECT_EQ(MessageOf(ExplainText(absl::StrCat(nodes, PodYaml("p", pod)), "p").text),
            "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node "
            "affinity/selector, 1 node(s) had untolerated taint {t: }, 1 node(s) were "
            "unschedulable.");
}

// --- Volumes ---

// A claim of a volume that only nodes of zone a can use, and an unbound one of a class that is
// there.
constexpr char kVolumes[] = R"(---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: x,
 volumeBindingMode: Immediate}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-a}, spec: {storageClassName: fast,
 capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: x, volumeHandle: a},
 claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data},
 nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In,
 values: [a]}]}]}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default,
 annotations: {pv.kubernetes.io/bind-completed: "yes"}}, spec: {storageClassName: fast,
 volumeName: pv-a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}},
 status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: fresh, namespace: default},
 spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage:
 1Gi}}}, status: {phase: Pending}}
)";

std::string VolumeText(absl::string_view claim, absl::string_view objects) {
  const std::string pod = WithSpec(
      absl::StrCat("volumes: [{name: v, persistentVolumeClaim: {claimName: ", claim, "}}]"));
  return ExplainText(absl::StrCat(NodeYaml("a", "pods: 9", "", "zone: a"),
                                  NodeYaml("b", "pods: 9", "", "zone: b"), SystemPodYaml(), objects,
                                  PodYaml("p", pod)),
                     "p")
      .text;
}

TEST(ExplainVerdictsTest, VolumesOfOtherNodes) {
  const std::string text = VolumeText("data", kVolumes);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "default/p (Pending): 1 of 2 nodes would take it now (a).");
  EXPECT_TRUE(absl::StrContains(SectionOf(text, "Nodes that do not take it"), "1 node (b): "))
      << text;
  EXPECT_FALSE(absl::StrContains(text, "Not looked at: volumes")) << text;
}

TEST(ExplainVerdictsTest, VolumesThatKeepThePodFromAllNodes) {
  const std::string unbound = VolumeText("fresh", kVolumes);
  EXPECT_EQ(MessageOf(unbound),
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
  EXPECT_EQ(SectionOf(unbound, "It waits for"),
            "the volumes of the pod to be there, bound and free for it");
  EXPECT_EQ(MessageOf(VolumeText("none", kVolumes)),
            "0/2 nodes are available: persistentvolumeclaim \"none\" not found.");
  // Without volumes in the dump, nothing is known about them.
  EXPECT_TRUE(absl::StrContains(VolumeText("none", ""), "its volumes are not looked at"));
}

// All plugins that reject a node count for what would help, not only the first.
TEST(ExplainVerdictsTest, AllPluginsAreAsked) {
  const std::string node =
      NodeYaml("n-1", "cpu: 1, pods: 9", "taints: [{key: t, effect: NoSchedule}]", "zone: a");
  const std::string user = RunningYaml("u", "n-1", "cpu: 1", kWeb);
  const std::string pod = absl::StrCat(Asks("cpu: 1"), ", ", Near("podAntiAffinity", kSelectsWeb));
  const std::string text =
      ExplainText(absl::StrCat(node, user, SystemPodYaml(), PodYaml("p", pod)), "p").text;
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if default/u left and if the pod tolerated {t: } (it lacks 1 "
            "cpu)");
}

}  // namespace explain_cluster_verdicts_test
}  // namespace drasim
