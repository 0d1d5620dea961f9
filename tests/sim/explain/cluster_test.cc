// drasim explain --cluster as a whole: what it reads, what it says of pods in each state, whole
// texts. Rules are in explain_cluster_filters_test.cc and explain_cluster_claims_test.cc.
#include "sim/explain/cluster.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace explain_cluster_test {

using explain_rig::Asks;
using explain_rig::Explained;
using explain_rig::ExplainText;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::RunningYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPlain[] = "containers: [{name: a}]";

// Four machines with GPUs, of which each has some free; two without; one for the control plane.
std::string GpuCluster() {
  std::string dump = SystemPodYaml();
  for (int i = 0; i < 4; ++i) {
    const std::string node = absl::StrCat("a100-0", i);
    absl::StrAppend(
        &dump, NodeYaml(node, "cpu: 64, memory: 256Gi, pods: 110, nvidia.com/gpu: 8"),
        RunningYaml(absl::StrCat("ml/train-", i), node, "cpu: 16, memory: 64Gi, nvidia.com/gpu: 4"),
        RunningYaml(absl::StrCat("prod/serve-", i), node,
                    absl::StrCat("cpu: 4, memory: 16Gi, nvidia.com/gpu: ", i == 2 ? 2 : 3)));
  }
  absl::StrAppend(&dump, RunningYaml("prod/batch", "a100-02", "nvidia.com/gpu: 1"),
                  NodeYaml("cpu-0", "cpu: 64, memory: 256Gi, pods: 110"),
                  NodeYaml("cpu-1", "cpu: 64, memory: 256Gi, pods: 110"),
                  NodeYaml("master-0", "cpu: 8, memory: 32Gi, pods: 110",
                           "taints: [{key: node-role.kubernetes.io/control-plane, effect: "
                           "NoSchedule}]"));
  return dump;
}

std::string WantsGpus(absl::string_view more = "", absl::string_view status = "phase: Pending") {
  return PodYaml("ml/want", absl::StrCat(Asks("cpu: 8, memory: 32Gi, nvidia.com/gpu: 2"), more),
                 status);
}

TEST(ExplainClusterTest, NoNodeHasTwoGpus) {
  constexpr char kSaid[] =
      "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, "
      "lastTransitionTime: \"2024-05-01T10:00:00Z\", message: \"0/7 nodes are available: 1 node(s) "
      "had untolerated taint {node-role.kubernetes.io/control-plane: }, 6 Insufficient "
      "nvidia.com/gpu. preemption: 0/7 nodes are available: 7 Preemption is not helpful for "
      "scheduling.\"}]";
  EXPECT_EQ(ExplainText(absl::StrCat(GpuCluster(), WantsGpus("", kSaid)), "ml/want").text,
            TestText("NoNodeHasTwoGpus"));
}

TEST(ExplainClusterTest, Json) {
  EXPECT_EQ(
      ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 4, memory: 8Gi, pods: 9"), SystemPodYaml(),
                               NodeYaml("n-2", "pods: 9", "unschedulable: true"),
                               RunningYaml("u", "n-1", "cpu: 3500m, memory: 7Gi"),
                               PodYaml("p", Asks("cpu: 1, memory: 1500Mi"))),
                  "p", true)
          .text,
      TestText("Json"));
}

TEST(ExplainClusterTest, ManyHolders) {
  std::string dump = absl::StrCat(NodeYaml("n-1", "cpu: 16, pods: 99"), SystemPodYaml(),
                                  PodYaml("p", Asks("cpu: 9")));
  for (int i = 0; i < 7; ++i) {
    absl::StrAppend(&dump,
                    RunningYaml(absl::StrCat("u-", i), "n-1", i == 5 ? "cpu: 10" : "cpu: 1"));
  }
  EXPECT_EQ(SectionOf(ExplainText(dump, "p").text, "Who holds what it wants"),
            TestLines("ManyHolders"));
}

// --- Pods that wait for something else ---

TEST(ExplainClusterTest, NodesWouldTakeIt) {
  const Explained explained = ExplainText(
      absl::StrCat(
          GpuCluster(),
          PodYaml("ml/small", absl::StrCat(Asks("nvidia.com/gpu: 1"), ", schedulerName: volcano"),
                  "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
                  "reason: Unschedulable, lastTransitionTime: \"2024-05-01T10:00:00Z\", "
                  "message: not enough pods in the group}]")),
      "ml/small");
  EXPECT_THAT(explained.warnings, IsEmpty());
  EXPECT_EQ(explained.text, TestText("NodesWouldTakeIt"));
}

TEST(ExplainClusterTest, SchedulingGates) {
  const std::string gates = ", schedulingGates: [{name: example.com/quota}, {name: example.com/b}]";
  const std::string text =
      ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(),
                               PodYaml("p", absl::StrCat(Asks("cpu: 2"), gates))),
                  "p")
          .text;
  EXPECT_EQ(text, TestText("SchedulingGates"));
  const std::string claims = ", resourceClaims: [{name: c, source: {resourceClaimName: c}}]";
  EXPECT_EQ(
      SectionOf(ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 1, pods: 9"), SystemPodYaml(),
                                         PodYaml("p", absl::StrCat(Asks("cpu: 2"), gates, claims))),
                            "p")
                    .text,
                "Notes"),
      TestLines("SchedulingGates: notes"));
}

TEST(ExplainClusterTest, NominatedForANode) {
  const std::string text =
      ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(),
                               RunningYaml("u", "n-1", "cpu: 4",
                                           "deletionTimestamp: \"2024-05-01T10:00:00Z\""),
                               PodYaml("p", absl::StrCat(Asks("cpu: 2"), ", priority: 10"),
                                       "phase: Pending, nominatedNodeName: n-1")),
                  "p")
          .text;
  EXPECT_EQ(SectionOf(text, "It waits for"),
            "the victims of its preemption to leave n-1, which it is nominated for\n"
            "default/u to be gone, being deleted already: then n-1 takes it\n"
            "pods that hold cpu to end, or nodes to be added");
  EXPECT_EQ(SectionOf(text, "Notes"), "");
}

TEST(ExplainClusterTest, Preemption) {
  const auto notes = [](absl::string_view spec) {
    return SectionOf(
        ExplainText(
            absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(),
                         PodYaml("u", absl::StrCat("nodeName: n-1, priority: 5, ", Asks("cpu: 4")),
                                 "phase: Running"),
                         PodYaml("p", absl::StrCat(Asks("cpu: 2"), spec))),
            "p")
            .text,
        "Notes");
  };
  EXPECT_EQ(notes(", priority: 10"),
            "default/u on n-1 has a lower priority than its 10: kube-scheduler may preempt to make "
            "room");
  EXPECT_EQ(notes(", priority: 10, preemptionPolicy: Never"),
            "default/u on n-1 has a lower priority than its 10, but its preemptionPolicy is Never");
  EXPECT_EQ(notes(", priority: 5"), "");
  // On another kind of node no pod's leaving would help.
  EXPECT_EQ(notes(", priority: 10, nodeSelector: {a: b}"), "");
}

TEST(ExplainClusterTest, PodsOfOneNamespaceOnly) {
  EXPECT_EQ(
      SectionOf(
          ExplainText(absl::StrCat(NodeYaml("n-1", "pods: 9"), PodYaml("p", kPlain)), "p").text,
          "Notes"),
      "all pods of the dump are in the namespace default; if there are others, less is free "
      "than it seems (kubectl get -A)");
}

// --- Pods that are past the scheduler ---

std::string StateOf(absl::string_view spec, absl::string_view status, absl::string_view meta = "") {
  return ExplainText(absl::StrCat(NodeYaml("n-1", "pods: 9"), PodYaml("p", spec, status, meta)),
                     "p")
      .text;
}

const char* const kBound = "nodeName: n-1, containers: [{name: a}]";

TEST(ExplainStateTest, Running) {
  EXPECT_EQ(StateOf(kBound, "phase: Running, startTime: \"2024-05-01T10:00:00Z\""),
            "default/p (Running): it runs on n-1 since 2024-05-01T10:00:00Z.\n");
  EXPECT_EQ(
      StateOf(kBound,
              "phase: Running, containerStatuses: [{name: a, state: {waiting: {reason: "
              "CrashLoopBackOff, message: back-off 5m0s}}}, {name: b, state: {running: {}}}]"),
      TestText("Running"));
}

TEST(ExplainStateTest, Starting) {
  EXPECT_EQ(StateOf(kBound,
                    "phase: Pending, initContainerStatuses: [{name: i, state: {terminated: "
                    "{exitCode: 1, reason: Error}}}], containerStatuses: [{name: a, state: "
                    "{waiting: {reason: ContainerCreating}}}]"),
            TestText("Starting"));
}

TEST(ExplainStateTest, NodesThatAreNotThere) {
  EXPECT_EQ(SectionOf(StateOf("nodeName: n-2, containers: [{name: a}]", "phase: Running"), "Notes"),
            "node n-2 is not in the dump");
  constexpr char kDown[] =
      "{apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {conditions: [{type: "
      "MemoryPressure, status: \"False\"}, {type: Ready, status: Unknown, reason: "
      "NodeStatusUnknown, message: Kubelet stopped posting node status.}]}}\n";
  EXPECT_EQ(
      SectionOf(ExplainText(absl::StrCat(kDown, PodYaml("p", kBound, "phase: Running")), "p").text,
                "Notes"),
      "node n-1 is not ready: NodeStatusUnknown: Kubelet stopped posting node status.");
}

TEST(ExplainStateTest, Finished) {
  EXPECT_EQ(StateOf(kBound, "phase: Succeeded"),
            "default/p (Succeeded): it has done its work on n-1.\n");
  EXPECT_EQ(StateOf(kBound,
                    "phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: "
                    "137, reason: OOMKilled}}}]"),
            TestText("Finished"));
}

TEST(ExplainStateTest, TurnedAway) {
  const auto failed = [](absl::string_view reason) {
    return StateOf(kBound, absl::StrCat("phase: Failed, reason: ", reason, ", message: why"));
  };
  EXPECT_EQ(failed("UnexpectedAdmissionError"), TestText("TurnedAway"));
  EXPECT_TRUE(absl::StrContains(failed("TopologyAffinityError"), "TopologyManager found no CPUs"));
  EXPECT_TRUE(absl::StrContains(failed("OutOfcpu"),
                                "turned the pod away: the node had too little cpu when it came\n"));
  EXPECT_TRUE(absl::StrContains(failed("OutOfnvidia.com/gpu"), "too little nvidia.com/gpu when"));
}

TEST(ExplainStateTest, Deleting) {
  constexpr char kDeleting[] =
      "deletionTimestamp: \"2024-05-01T10:00:00Z\", finalizers: [example.com/keep]";
  EXPECT_EQ(StateOf(kBound, "phase: Running", kDeleting), TestText("Deleting"));
  EXPECT_EQ(StateOf(kPlain, "phase: Pending", "deletionTimestamp: \"2024-05-01T10:00:00Z\""),
            "default/p (Pending): it is being deleted since 2024-05-01T10:00:00Z, and "
            "kube-scheduler passes over it.\n");
}

TEST(ExplainStateTest, Verdicts) {
  const auto verdict = [](absl::string_view spec, absl::string_view status,
                          absl::string_view meta = "") {
    const std::string json = ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 1, pods: 9"),
                                                      PodYaml("p", spec, status, meta)),
                                         "p", true)
                                 .text;
    const size_t begin = json.find("\"verdict\": \"") + 12;
    return json.substr(begin, json.find('"', begin) - begin);
  };
  EXPECT_EQ(verdict(kBound, "phase: Running"), "running");
  EXPECT_EQ(verdict(kBound, ""), "starting");
  EXPECT_EQ(verdict(kBound, "phase: Succeeded"), "finished");
  EXPECT_EQ(verdict(kBound, "phase: Failed"), "failed");
  EXPECT_EQ(verdict(kBound, "", "deletionTimestamp: \"2024-05-01T10:00:00Z\""), "deleting");
  EXPECT_EQ(verdict(kPlain, ""), "schedulable");
  EXPECT_EQ(verdict(Asks("cpu: 2"), ""), "unschedulable");
  for (const auto& [input, expected] : TestRows<2>("Verdicts")) {
    EXPECT_EQ(verdict(input, ""), expected) << input;
  }
}

// --- Features that are not judged ---

std::string HeadlineOf(const Explained& explained) {
  return explained.text.substr(0, explained.text.find('\n'));
}

// Every kind of the API of structured claims.
std::string StructuredYaml(absl::string_view version) {
  const auto object = [version](absl::string_view kind, absl::string_view meta,
                                absl::string_view spec) {
    return absl::StrCat("---\n{apiVersion: resource.k8s.io/", version, ", kind: ", kind,
                        ", metadata: {", meta, "}, spec: {", spec, "}}\n");
  };
  const bool flat = version == "v1" || version == "v1beta2";
  constexpr char kDevices[] =
      "devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}";
  return absl::StrCat(
      object("ResourceClaim", "name: c, namespace: default", kDevices),
      object("ResourceClaimTemplate", "name: one, namespace: default",
             absl::StrCat("spec: {", kDevices, "}")),
      object("DeviceClass", "name: gpu", "selectors: [{cel: {expression: \"true\"}}]"),
      object("ResourceSlice", "name: n-1-gpu",
             absl::StrCat("driver: gpu.example.com, nodeName: n-1, pool: {name: n-1, generation: "
                          "1, resourceSliceCount: 1}, devices: [{name: g0, ",
                          flat ? "" : "basic: {", "capacity: {memory: {value: 80Gi}}",
                          flat ? "" : "}", "}]")),
      object("DeviceTaintRule", "name: t", "taint: {key: bad, effect: NoExecute}"));
}

TEST(ExplainStructuredTest, ClaimsOfEveryVersion) {
  for (const char* version : {"v1alpha3", "v1beta1", "v1beta2", "v1"}) {
    const std::string dump = absl::StrCat(
        NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(), PodYaml("p", kPlain),
        PodYaml("q", absl::StrCat(kPlain, ", resourceClaims: [{name: e, resourceClaimName: c}]")),
        PodYaml("r", absl::StrCat(kPlain,
                                  ", resourceClaims: [{name: e, resourceClaimTemplateName: "
                                  "one}]")),
        PodYaml("s", absl::StrCat(Asks("cpu: 9"),
                                  ", resourceClaims: [{name: e, resourceClaimName: c}]")),
        StructuredYaml(version));
    const Explained without = ExplainText(dump, "p");
    EXPECT_THAT(without.warnings, IsEmpty()) << version;
    EXPECT_EQ(HeadlineOf(without), "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
    EXPECT_FALSE(absl::StrContains(without.text, "structured")) << without.text;
    EXPECT_EQ(ExplainText(dump, "q").text, TestText("ClaimsOfEveryVersion"));
    // The claim has not been made, but the template is there.
    const std::string unmade = ExplainText(dump, "r").text;
    EXPECT_EQ(SectionOf(unmade, "It waits for"),
              "the claim controller (kube-controller-manager) to create the claim for the entry e "
              "from template default/one");
    // The parts that are judged are enough for a refusal.
    EXPECT_EQ(HeadlineOf(ExplainText(dump, "s")), "default/s (Pending): no node takes it.");
  }
}

TEST(ExplainUnjudgedTest, DumpWithoutClaims) {
  const std::string dump =
      absl::StrCat(NodeYaml("n-1", "pods: 9"), SystemPodYaml(),
                   PodYaml("p", absl::StrCat(kPlain,
                                             ", resourceClaims: [{name: e, resourceClaimName: c}, "
                                             "{name: f, resourceClaimTemplateName: one}]")));
  const Explained explained = ExplainText(dump, "p");
  EXPECT_EQ(HeadlineOf(explained),
            "default/p (Pending): its structured claims are not judged; nothing else keeps it "
            "from 1 of 1 nodes (n-1).");
  EXPECT_EQ(SectionOf(explained.text, "Notes"),
            "structured claims are not judged: default/c and entry f (the dump has no "
            "ResourceClaim at all)");
  // If the dump has claims, one that is not among them is missing.
  EXPECT_EQ(
      HeadlineOf(ExplainText(absl::StrCat(dump, StructuredYaml("v1"),
                                          PodYaml("q", absl::StrCat(kPlain,
                                                                    ", resourceClaims: [{name: e, "
                                                                    "resourceClaimName: d}]"))),
                             "q")),
      "default/q (Pending): its claims keep it out of kube-scheduler's queue: resourceclaim "
      "\"d\" not found.");
}

TEST(ExplainUnjudgedTest, Volumes) {
  const auto explain = [](absl::string_view more) {
    return ExplainText(absl::StrCat(NodeYaml("n-1", "pods: 9"), SystemPodYaml(),
                                    "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                                    "{name: data, namespace: default}, status: {phase: Pending}}\n",
                                    PodYaml("p", absl::StrCat(kPlain, more))),
                       "p");
  };
  const Explained claim = explain(
      ", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: s, "
      "ephemeral: {volumeClaimTemplate: {spec: {}}}}]");
  EXPECT_THAT(claim.warnings, IsEmpty());
  EXPECT_EQ(HeadlineOf(claim),
            "default/p (Pending): its volumes are not looked at; nothing else keeps it from 1 of 1 "
            "nodes (n-1).");
  EXPECT_EQ(SectionOf(claim.text, "It waits for"),
            "kube-scheduler to judge its volumes at its next attempt, which decides");
  EXPECT_EQ(SectionOf(claim.text, "Notes"),
            "volumes are not looked at: PersistentVolumeClaim default/data and ephemeral volume s");
  const Explained harmless = explain(
      ", volumes: [{name: a, configMap: {name: a}}, {name: b, emptyDir: {}}, {name: c, secret: "
      "{secretName: c}}, {name: d, projected: {sources: []}}, {name: e, hostPath: {path: /e}}]");
  EXPECT_THAT(harmless.warnings, IsEmpty());
  EXPECT_EQ(HeadlineOf(harmless), "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
  EXPECT_EQ(SectionOf(harmless.text, "Notes"), "");
  EXPECT_EQ(HeadlineOf(explain(", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], "
                               "resourceClaims: [{name: e, resourceClaimName: c}]")),
            "default/p (Pending): its structured claims are not judged and its volumes are not "
            "looked at; nothing else keeps it from 1 of 1 nodes (n-1).");
  EXPECT_EQ(SectionOf(explain(", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], "
                              "schedulingGates: [{name: g}]")
                          .text,
                      "Notes"),
            "apart from its gates, its volumes are not looked at; nothing else keeps it from 1 of "
            "1 nodes (n-1)\n"
            "volumes are not looked at: PersistentVolumeClaim default/data");
}

// --- Reading ---

TEST(ReadDumpTest, SeveralFilesAndFormats) {
  const TempDir dir;
  dir.Write("nodes.json",
            R"({"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n-1"},
                "status": {"allocatable": {"pods": "9"}}}]})");
  dir.Write("pods.yaml",
            absl::StrCat("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: "
                         "Pod, metadata: {name: p}, spec: {",
                         kPlain, "}}\n"));
  const absl::StatusOr<std::string> text = ExplainCluster(
      {dir.PathOf("nodes.json"), dir.PathOf("pods.yaml")}, "p", OutputFormat::kText, nullptr);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->substr(0, text->find('\n')),
            "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
}

TEST(ReadDumpTest, Errors) {
  const TempDir dir;
  dir.Write("broken.yaml", "apiVersion: v1\nkind: [\n");
  dir.Write("wrong.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: 5}\n");
  dir.Write("pods.yaml", PodYaml("p", kPlain));
  const auto error = [&](const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(dir.PathOf(name));
    const absl::StatusOr<std::string> text =
        ExplainCluster(paths, "p", OutputFormat::kText, nullptr);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument) << text.status();
    std::string message(text.status().message());
    for (size_t at = message.find(dir.path()); at != std::string::npos;
         at = message.find(dir.path())) {
      message.erase(at, dir.path().size() + 1);
    }
    return message;
  };
  EXPECT_TRUE(absl::StartsWith(error({"broken.yaml"}), "broken.yaml:3:1: "))
      << error({"broken.yaml"});
  EXPECT_EQ(error({"wrong.yaml"}),
            "wrong.yaml: no Node among the 0 objects, expected what `kubectl get nodes,pods -A -o "
            "yaml` prints");
  EXPECT_TRUE(absl::StartsWith(error({"none.yaml"}), "none.yaml: ")) << error({"none.yaml"});
  EXPECT_EQ(error({"pods.yaml"}),
            "pods.yaml: no Node among the 1 objects, expected what `kubectl get nodes,pods -A -o "
            "yaml` prints");
  EXPECT_EQ(error({}), "no file with the objects of a cluster");
}

TEST(ReadDumpTest, UnknownPods) {
  const std::string dump = absl::StrCat(NodeYaml("n-1", "pods: 9"), PodYaml("ml/train-7", kPlain),
                                        PodYaml("web", kPlain), PodYaml("ml/web-2", kPlain));
  for (const auto& [input, expected] : TestRows<2>("UnknownPods")) {
    EXPECT_EQ(ExplainText(dump, input).text, expected) << input;
  }
}

// Objects that a real API server accepted are used, and their oddities reported.
TEST(ReadDumpTest, Warnings) {
  const std::string dump =
      absl::StrCat(NodeYaml("n-1", "pods: 9"), PodYaml("p", "containers: []"), PodYaml("p", kPlain),
                   "---\n{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: "
                   "{name: s}}\n");
  const Explained explained = ExplainText(dump, "p");
  EXPECT_EQ(explained.text.substr(0, explained.text.find('\n')),
            "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
  std::vector<std::string> ends;
  for (const std::string& warning : explained.warnings) {
    ends.push_back(warning.substr(warning.find("dump.yaml:")));
  }
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0],
            "dump.yaml:8: 1 object of the kind Workload of scheduling.k8s.io/v1alpha1 is not read");
  EXPECT_EQ(ends[1],
            "dump.yaml:4:99: spec.containers: found none, expected at least one container");
  EXPECT_TRUE(absl::StartsWith(ends[2], "dump.yaml:6: Pod default/p stands at ")) << ends[2];
  EXPECT_TRUE(absl::EndsWith(ends[2], "dump.yaml:4, too; this one is left out")) << ends[2];
}

// Unknown features of a newer release leave the rest of the dump usable.
TEST(ReadDumpTest, NothingIsRefusedAsAWhole) {
  const std::string dump = absl::StrCat(
      NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(), TestText("NothingIsRefusedAsAWhole"),
      PodYaml("p", absl::StrCat(Asks("cpu: 1"),
                                ", hostNetwork: [1], newField: {a: 1}, tolerations: [{key: a, "
                                "operator: Gt, value: \"5\"}]")));
  const Explained explained = ExplainText(dump, "p");
  EXPECT_EQ(HeadlineOf(explained), "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
  std::vector<std::string> ends;
  for (const std::string& warning : explained.warnings) {
    ends.push_back(warning.substr(warning.find("dump.yaml:")));
  }
  EXPECT_THAT(
      ends,
      ElementsAre(
          "dump.yaml:6:47: metadata.name: found the number 5, expected a text: \"5\" in quotes; "
          "left out",
          "dump.yaml:14:1: apiVersion: not given, expected a text such as v1 or apps/v1; left out",
          ::testing::HasSubstr("spec.hostNetwork: found a list, expected "),
          ::testing::HasSubstr("spec.newField: unknown field"),
          "dump.yaml:10: 1 object of the kind Deployment of apps/v2 is not read",
          "dump.yaml:12: 2 objects of the kind Widget of example.com/v1 are not read",
          "dump.yaml:8: 1 object of the kind Node of v2 is not read",
          "dump.yaml:6: Node without a name; left out",
          "dump.yaml:16:1: provisioner: not given, expected a text",
          ::testing::HasSubstr("spec.tolerations[0].operator: found 'Gt', expected one of ")));
}

TEST(ReadDumpTest, PodsOnNodesThatAreNotThere) {
  const Explained explained = ExplainText(
      absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), RunningYaml("a", "gone", "cpu: 1"),
                   RunningYaml("b", "gone", "cpu: 1"), PodYaml("p", Asks("cpu: 4"))),
      "p");
  EXPECT_EQ(HeadlineOf(explained), "default/p (Pending): 1 of 1 nodes would take it now (n-1).");
  ASSERT_EQ(explained.warnings.size(), 1u);
  EXPECT_TRUE(
      absl::EndsWith(explained.warnings[0],
                     "dump.yaml:4: spec.nodeName: found 'gone' in the pod default/a, "
                     "expected a node that is there; it takes no room (and 1 more like it)"))
      << explained.warnings[0];
}

// A quantity that is none goes with its key: one warning, at the value.
TEST(ReadDumpTest, QuantitiesThatAreNone) {
  const Explained explained = ExplainText(
      absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), PodYaml("p", Asks("cpu: 2 cores"))), "p");
  EXPECT_EQ(explained.warnings.size(), 2u) << "requests and limits";
  for (const std::string& warning : explained.warnings) {
    EXPECT_TRUE(absl::EndsWith(warning,
                               "found the text '2 cores', expected a quantity such as 2, 500m or "
                               "1.5Gi; left out"))
        << warning;
  }
}

// kubectl writes the kind of a list behind its items.
TEST(ReadDumpTest, ATornListIsAskedFor) {
  const Explained explained =
      ExplainText("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n", "p");
  ASSERT_EQ(explained.warnings.size(), 1u);
  EXPECT_TRUE(absl::EndsWith(explained.warnings[0],
                             "dump.yaml:1:1: kind: not given, expected List: it follows the items, "
                             "so is the file complete?; left out"))
      << explained.warnings[0];
}

TEST(ReadDumpTest, NotTooManyWarnings) {
  std::string dump = NodeYaml("n-1", "pods: 9");
  for (int i = 0; i < 25; ++i)
    absl::StrAppend(&dump, PodYaml(absl::StrCat("p-", i), "containers: []"));
  const Explained explained = ExplainText(dump, "p-0");
  ASSERT_EQ(explained.warnings.size(), 21u);
  EXPECT_TRUE(absl::EndsWith(explained.warnings[20], "dump.yaml: 5 more of such fields"));
}

}  // namespace explain_cluster_test
}  // namespace drasim
