// Clusters as kubectl prints them: what is read, what is told, and how a run begins with it.
#include "sim/run/cluster_manifests.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/pod_shape.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/simulation.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace cluster_manifests_test {

using Lines = std::vector<std::string>;

// Reads the text as one file; messages have DUMP for its path.
struct ReadDump {
  explicit ReadDump(absl::string_view text, bool full_shapes = true) {
    dir.Write("dump.yaml", text);
    absl::StatusOr<ClusterSnapshot> read =
        ReadClusterManifests({dir.PathOf("dump.yaml")}, full_shapes);
    if (read.ok()) {
      snapshot = *std::move(read);
    } else {
      error = Plain(std::string(read.status().message()));
    }
    for (std::string& warning : snapshot.warnings) warning = Plain(warning);
  }
  std::string Plain(const std::string& text) const {
    return absl::StrReplaceAll(text, {{dir.PathOf("dump.yaml"), "DUMP"}});
  }
  // "NAME on NODE"; "NAME waits".
  Lines Pods() const {
    Lines lines;
    for (const SnapshotPod& pod : snapshot.pods) {
      lines.push_back(pod.node.empty() ? absl::StrCat(pod.job.name, " waits")
                                       : absl::StrCat(pod.job.name, " on ", pod.node));
    }
    return lines;
  }
  std::string Warnings() const { return absl::StrJoin(snapshot.warnings, "\n"); }
  const SnapshotPod& PodCalled(absl::string_view name) const {
    for (const SnapshotPod& pod : snapshot.pods) {
      if (pod.job.name == name) return pod;
    }
    ADD_FAILURE() << "no pod " << name;
    static const auto* const none = new SnapshotPod();
    return *none;
  }

  TempDir dir;
  ClusterSnapshot snapshot;
  std::string error;
};

std::string NodeText(absl::string_view name, absl::string_view more = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: 8, memory: 16Gi, pods: 10", more, "}}\n");
}

std::string PodText(absl::string_view name, absl::string_view spec = "",
                    absl::string_view meta = "") {
  return absl::StrCat(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: default", meta,
      "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n", spec);
}

TEST(ClusterManifestsTest, AWholeCluster) {
  const ReadDump read(TestText("AWholeCluster"));
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.snapshot.nodes.size(), 2U);
  const NodeSpec& gpu = read.snapshot.nodes[0];
  EXPECT_EQ(gpu.name, "gpu-1");
  EXPECT_EQ(gpu.gpu_count, 2);
  EXPECT_EQ(gpu.gpu_model, "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(gpu.taints, (std::vector<Taint>{{"gpu", "yes", "NoSchedule"}}));
  using Amounts = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ(gpu.extended, (Amounts{{"ephemeral-storage", int64_t{100} << 30}}));
  EXPECT_TRUE(read.snapshot.nodes[1].unschedulable);
  // The ended pod and the waiting one that is being deleted are gone; older ones wait in front.
  EXPECT_EQ(read.Pods(), (Lines{"ml/train on gpu-1", "kube-system/agent-x on gpu-1", "older waits",
                                "younger waits"}))
      << read.Warnings();
  const SnapshotPod& train = read.PodCalled("ml/train");
  EXPECT_TRUE(train.job.recreated);
  EXPECT_TRUE(train.job.has_run_time);
  EXPECT_TRUE(train.job.fails);
  EXPECT_EQ(train.job.run_time, SimDuration::Seconds(600));  // its Job's
  EXPECT_EQ(train.job.priority, 50);
  EXPECT_EQ(train.shape.request.extended, (Amounts{{"nvidia.com/gpu", 1}}));
  EXPECT_EQ(train.shape.request.cpu_milli, 2250);  // with its overhead
  EXPECT_EQ(train.shape.identity.ns, "ml");
  EXPECT_EQ(train.shape.constraints.node_name, "");
  const SnapshotPod& younger = read.PodCalled("younger");
  EXPECT_FALSE(younger.job.recreated);
  EXPECT_FALSE(younger.job.has_run_time);
  EXPECT_EQ(younger.shape.topology.anti_affinity.size(), 1U);
  EXPECT_EQ(younger.shape.constraints.hold, PodHold::kNone);
  EXPECT_EQ(younger.job.priority, 1000);  // by its class
  const ClusterObjects objects = ContextObjects(read.snapshot.context);
  ASSERT_EQ(objects.namespaces.size(), 1U);
  EXPECT_EQ(objects.namespaces[0].name, "ml");
  EXPECT_EQ(objects.groups.size(), 1U);
  EXPECT_EQ(objects.budgets.size(), 1U);
  EXPECT_EQ(read.Warnings(), "objects without a meaning for the run: 2 Secret (v1)");
}

// Without kube-scheduler's plugins, rules that are not simulated keep waiting pods pending; pods on
// nodes are where they are.
TEST(ClusterManifestsTest, OtherSchedulersHoldWhatTheyDoNotKnow) {
  const std::string ports =
      "  hostNetwork: true\n  containers: [{name: c, ports: [{containerPort: 80}]}]\n";
  const std::string pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ";
  const ReadDump read(
      absl::StrCat(NodeText("n1", ", ephemeral-storage: 5Gi"), pod,
                   "bound}\nspec:\n  nodeName: n1\n", ports, pod, "waiting}\nspec:\n", ports),
      /*full_shapes=*/false);
  ASSERT_EQ(read.error, "");
  EXPECT_TRUE(read.snapshot.nodes[0].extended.empty());
  EXPECT_EQ(read.PodCalled("bound").shape.constraints.hold, PodHold::kNone);
  EXPECT_EQ(read.PodCalled("waiting").shape.constraints.hold, PodHold::kHostPorts);
  EXPECT_EQ(read.snapshot.warnings.size(), 1U) << read.Warnings();
}

TEST(ClusterManifestsTest, DaemonsRunWhereTheirTemplateFits) {
  const std::string set =
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d, namespace: sys}\nspec:\n"
      "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
      "    spec: {nodeSelector: {disk: ssd}, containers: [{name: c}]}\n";
  const auto node = [](absl::string_view name, absl::string_view label, absl::string_view taint) {
    return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                        ", labels: {disk: ", label, "}}\nspec: {taints: [", taint,
                        "]}\nstatus: {allocatable: {cpu: 8, memory: 1Gi}}\n");
  };
  const ReadDump read(absl::StrCat(
      set, node("fits", "ssd", ""), node("slow", "hdd", ""),
      node("tainted", "ssd", "{key: x, effect: NoSchedule}"),
      node("soft", "ssd", "{key: x, effect: PreferNoSchedule}"),
      node("cordoned", "ssd", "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}"),
      node("has", "ssd", ""),
      "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: d-1\n  namespace: sys\n"
      "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, controller: true, uid: "
      "u}]\nspec: {nodeName: has, containers: [{name: c}]}\n"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.Pods(), (Lines{"sys/d-1 on has", "sys/d-fits waits", "sys/d-soft waits",
                                "sys/d-cordoned waits"}));
  const std::vector<NodeTerm>& terms = read.PodCalled("sys/d-soft").shape.constraints.node_terms;
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(terms[0].requirements,
            (std::vector<NodeRequirement>{{true, "metadata.name", NodeOperator::kIn, {"soft"}}}));
}

TEST(ClusterManifestsTest, BadDumpsSayWhere) {
  const auto error = [](absl::string_view text) { return ReadDump(text).error; };
  EXPECT_EQ(error(PodText("p")),
            "DUMP: found no Node among 1 object(s), expected what `kubectl get nodes,pods -A -o "
            "yaml` prints");
  EXPECT_EQ(
      error(NodeText("n1", ", example.com/x: 10E")),
      "DUMP:5:71: status.allocatable[example.com/x]: found more than can be counted, expected "
      "at most 9223372036854775807");
  EXPECT_EQ(
      error(NodeText("n1", ", nvidia.com/gpu: 65")),
      "DUMP:5:72: status.allocatable[nvidia.com/gpu]: found 65, expected at most 64 GPUs on a "
      "node");
  const std::string much =
      error(absl::StrCat(NodeText("n1"),
                         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: "
                         "[{name: c, resources: {requests: {cpu: 10E}}}]}\n"));
  EXPECT_TRUE(absl::StartsWith(much, "DUMP:10:7: pod 'p': spec: asks for more cpu")) << much;
  // A torn file.
  const std::string torn = error(absl::StrCat(NodeText("n1"), "---\napiVersion: v1\nkind: \"Po"));
  EXPECT_TRUE(absl::StartsWith(torn, "DUMP:")) << torn;
  EXPECT_EQ(ReadClusterManifests({"/no/such/file.yaml"}, true).status().code(),
            absl::StatusCode::kNotFound);
  const TempDir empty;
  EXPECT_EQ(ReadClusterManifests({empty.path()}, true).status(),
            absl::NotFoundError(absl::StrCat(
                empty.path(), ": found no file that ends in .yaml, .yml or .json (perhaps .gz)")));
}

TEST(ClusterManifestsTest, WhatCannotBeUsedIsNamed) {
  const ReadDump read(
      absl::StrCat(NodeText("n1"), NodeText("n1"), PodText("p", "  nodeName: gone\n"),
                   PodText("q", "  nodeName: n1\n"), PodText("q"),
                   PodText("r", "  resourceClaims: [{name: g, resourceClaimName: c}]\n"),
                   "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
                   "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.snapshot.nodes.size(), 1U);
  EXPECT_EQ(read.Pods(), (Lines{"q on n1"}));
  const std::string warnings = read.Warnings();
  for (const absl::string_view part :
       {"DUMP:7: found a second Node n1, the first is in DUMP:2: left out",
        "spec.nodeName: found 'gone' in the pod 'p', expected a node that is there: left out",
        "found a second Pod default/q, the first is in DUMP:",
        "pod 'r' waits with resource claims, which are not simulated here: left out",
        "objects without a meaning for the run: 1 ConfigMap"}) {
    EXPECT_TRUE(absl::StrContains(warnings, part)) << part << "\nin\n" << warnings;
  }
  EXPECT_TRUE(absl::StrContains(warnings, "1 ResourceClaim (resource.k8s.io/v1)")) << warnings;
}

TEST(ClusterManifestsTest, ManyAlikeAreCounted) {
  std::string text = NodeText("n1");
  for (int i = 0; i < 25; ++i)
    absl::StrAppend(&text, PodText(absl::StrCat("p", i), "  nodeName: x\n"));
  const ReadDump read(text);
  ASSERT_EQ(read.snapshot.warnings.size(), 21U);
  EXPECT_EQ(read.snapshot.warnings.back(), "5 more pods on nodes that are not there");
}

TEST(ClusterManifestsTest, FoldersInTheOrderOfNames) {
  const TempDir dir;
  dir.Write("b.yml", PodText("p", "  nodeName: n1\n"));
  dir.Write("a.json", R"({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1",
      "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1"}}}]})");
  dir.Write("c.txt", "no manifest");
  ASSERT_OK_AND_ASSIGN(const ClusterSnapshot snapshot, ReadClusterManifests({dir.path()}, true));
  EXPECT_EQ(snapshot.nodes.size(), 1U);
  EXPECT_EQ(snapshot.pods.size(), 1U);
}

// Long lists are read in pieces, which messages must not show.
TEST(ClusterManifestsTest, LongListsKeepTheirLines) {
  std::string text = "apiVersion: v1\nitems:\n";
  int lines = 2;
  const auto add = [&](absl::string_view item) {
    absl::StrAppend(&text, item);
    lines += static_cast<int>(std::count(item.begin(), item.end(), '\n'));
  };
  add("- apiVersion: v1\n  kind: Node\n  metadata: {name: n1}\n"
      "  status: {allocatable: {cpu: 8, memory: 1Gi}}\n");
  const std::string padding = absl::StrCat("# ", std::string(size_t{3} << 20, 'x'), "\n");
  for (int i = 0; i < 4; ++i) {
    add(absl::StrCat("- apiVersion: v1\n  kind: Pod\n  metadata: {name: p", i, "}\n", padding,
                     "  spec: {nodeName: n1, containers: [{name: c}]}\n"));
  }
  const int bad = lines + 1;
  add("- apiVersion: v1\n  kind: Pod\n  metadata: {name: lost}\n"
      "  spec: {nodeName: gone, containers: [{name: c}]}\n");
  absl::StrAppend(&text, "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
  const ReadDump read(text);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.snapshot.pods.size(), 4U);
  ASSERT_EQ(read.snapshot.warnings.size(), 1U) << read.Warnings();
  EXPECT_TRUE(absl::StartsWith(read.snapshot.warnings[0], absl::StrCat("DUMP:", bad, ": ")))
      << read.snapshot.warnings[0];
}

// --- In a run ---

struct RunOfDump {
  RunOfDump(absl::string_view text, absl::string_view scenario) {
    dir.Write("dump.yaml", text);
    proto::Scenario made = ScenarioOf(absl::StrCat(scenario, "order: trace\n"));
    made.mutable_cluster()->add_manifests(dir.PathOf("dump.yaml"));
    made.mutable_output()->set_check_invariants(true);
    absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(RunSpecOf(made));
    status = built.status();
    if (!status.ok()) return;
    sim = *std::move(built);
    status = sim->Start();
    if (status.ok()) status = sim->Run();
  }
  // "NAME PHASE NODE" of each pod.
  Lines Pods() const {
    Lines lines;
    const ClusterState& cluster = sim->cluster();
    for (size_t p = 0; p < cluster.pod_count(); ++p) {
      const PodId pod(p);
      const NodeId node = cluster.pod_node(pod);
      lines.push_back(absl::StrCat(cluster.pod_name(pod), " ",
                                   static_cast<int>(cluster.pod_phase(pod)), " ",
                                   node.valid() ? cluster.node_spec(node).name : "-"));
    }
    return lines;
  }

  TempDir dir;
  absl::Status status;
  std::unique_ptr<Simulation> sim;
};

constexpr absl::string_view kReplay = "mode: replay\nscheduler: {policy: least-allocated}\n";

TEST(ClusterManifestsTest, BoundPodsStayAndWaitingOnesAreScheduled) {
  // LeastAllocated would put the waiting pod on b; a has the bound ones whatever the policy.
  const RunOfDump run(absl::StrCat(NodeText("a"), NodeText("b"), PodText("x", "  nodeName: a\n"),
                                   PodText("w"), PodText("z", "  nodeName: a\n")),
                      kReplay);
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "z 2 a", "w 2 b"}));
  EXPECT_EQ(run.sim->pods_expected(), 3U);
  EXPECT_EQ(run.sim->cluster().node(NodeId(size_t{0})).cpu_milli_idle, 6000);
}

TEST(ClusterManifestsTest, GpusOfBoundPodsAreTaken) {
  const std::string gpus =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\nspec:\n  containers: [{name: c, "
      "resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]\n";
  const std::string bound =
      absl::StrCat(absl::StrReplaceAll(gpus, {{"NAME", "x"}}), "  nodeName: a\n");
  for (const absl::string_view front_end : {"", "front_end: {kind: device-plugin}\n"}) {
    const RunOfDump run(absl::StrCat(NodeText("a", ", nvidia.com/gpu: 4"), bound,
                                     absl::StrReplaceAll(gpus, {{"NAME", "v"}}),
                                     absl::StrReplaceAll(gpus, {{"NAME", "w"}})),
                        absl::StrCat(kReplay, front_end));
    ASSERT_EQ(run.status, absl::OkStatus());
    EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "v 2 a", "w 0 -"})) << front_end;
    EXPECT_EQ(run.sim->cluster().pod_devices(PodId(size_t{0})), DeviceSet::FirstN(2)) << front_end;
  }
}

TEST(ClusterManifestsTest, AnnotationsSayWhichGpusAPodHolds) {
  const auto share = [](absl::string_view name, int milli, absl::string_view index) {
    return PodText(name, "  nodeName: a\n",
                   absl::StrCat(", annotations: {alibabacloud.com/gpu-count: \"1\", "
                                "alibabacloud.com/gpu-milli: \"",
                                milli, "\", alibabacloud.com/gpu-index: \"", index, "\"}"));
  };
  // In the order of the pods, the first free GPUs would leave no room for the last of them.
  const RunOfDump run(
      absl::StrCat(NodeText("a", ", nvidia.com/gpu: 2"), share("x", 300, "1"), share("v", 400, "0"),
                   share("z", 600, "0"), share("w", 700, "1")),
      kReplay);
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "v 2 a", "z 2 a", "w 2 a"}));
  const ClusterState& cluster = run.sim->cluster();
  EXPECT_EQ(cluster.pod_devices(PodId(size_t{0})), DeviceSet::Of(1));
  EXPECT_EQ(cluster.pod_devices(PodId(size_t{2})), DeviceSet::Of(0));
  EXPECT_EQ(cluster.node(NodeId(size_t{0})).gpu_milli_idle, 0);
  // GPUs that are not there, or taken, are as if nothing were said.
  const RunOfDump odd(absl::StrCat(NodeText("a", ", nvidia.com/gpu: 2"), share("x", 1000, "1"),
                                   share("v", 500, "1"), share("z", 500, "7")),
                      kReplay);
  EXPECT_EQ(odd.Pods(), (Lines{"x 2 a", "v 2 a", "z 2 a"}));
  EXPECT_EQ(odd.sim->cluster().pod_devices(PodId(size_t{2})), DeviceSet::Of(0));
}

TEST(ClusterManifestsTest, ContainersDecideHowManyGpus) {
  const ReadDump read(absl::StrCat(
      NodeText("a", ", nvidia.com/gpu: 2"),
      "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  annotations:\n"
      "    alibabacloud.com/gpu-count: \"2\"\n    alibabacloud.com/gpu-card-model: T4|P100\n"
      "    alibabacloud.com/gpu-index: \"0-0\"\n"
      "spec:\n  containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]\n"));
  const SnapshotPod& pod = read.PodCalled("x");
  EXPECT_EQ(pod.shape.request.gpu_count, 0);
  EXPECT_EQ(pod.shape.request.gpu_spec, "T4|P100");
  EXPECT_TRUE(absl::StrContains(read.Warnings(),
                                "metadata.annotations[alibabacloud.com/gpu-index]: found '0-0'"))
      << read.Warnings();
}

TEST(ClusterManifestsTest, APodOfADaemonSetMayWaitForItsNode) {
  const std::string set =
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d, namespace: default}\n"
      "spec: {template: {spec: {containers: [{name: c}]}}}\n";
  const std::string waits = PodText(
      "d-xyz",
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}\n",
      ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: "
      "true}]");
  const ReadDump read(absl::StrCat(NodeText("a"), NodeText("b"), set, waits));
  EXPECT_EQ(read.Pods(), (Lines{"d-b waits", "d-xyz waits"})) << read.error;
}

TEST(ClusterManifestsTest, BoundPodsCanBePreempted) {
  const std::string all =
      "  nodeName: a\n  priority: 0\n  containers: [{name: c, resources: {requests: {cpu: 8}}}]\n";
  const RunOfDump run(
      absl::StrCat(NodeText("a"), "---\napiVersion: v1\nkind: Pod\nmetadata: {name: low}\nspec:\n",
                   all,
                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: high}\nspec:\n  priority: 9\n"
                   "  containers: [{name: c, resources: {requests: {cpu: 8}}}]\n"),
      kReplay);
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"low 0 -", "high 2 a"}));
}

TEST(ClusterManifestsTest, ADeadlineEndsAPodAsFailed) {
  const RunOfDump run(
      absl::StrCat(NodeText("a"),
                   PodText("x",
                           "  nodeName: a\n"
                           "  activeDeadlineSeconds: 60\n"),
                   PodText("z", "  nodeName: a\n", ", annotations: {drasim.dev/run-time: 30s}")),
      "mode: replay\nscheduler: {policy: least-allocated}\n");
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 5 -", "z 3 -"}));
}

// With claims, bound pods arrive at time zero for their nodes alone, where they get their devices
// anew. The waiting pod needs both GPUs of one node.
TEST(ClusterManifestsTest, BoundPodsGetClaimsOnTheirNodes) {
  const auto gpus = [](absl::string_view name, int count, absl::string_view node) {
    return absl::StrCat(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
        "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}, limits: "
        "{nvidia.com/gpu: ",
        count, "}}}]\n", node);
  };
  const std::string node = ", nvidia.com/gpu: 2";
  const std::string dump =
      absl::StrCat(NodeText("a", node), NodeText("b", node), gpus("wide", 2, ""),
                   gpus("x", 1, "  nodeName: b\n"), gpus("y", 1, "  nodeName: b\n"));
  for (const char* const kind : {"dra-structured", "dra-classic"}) {
    const RunOfDump run(dump, absl::StrCat("mode: replay\nscheduler: {policy: least-allocated}\n"
                                           "front_end: {kind: ",
                                           kind, "}\n"));
    ASSERT_EQ(run.status, absl::OkStatus());
    EXPECT_EQ(run.Pods(), (Lines{"x 2 b", "y 2 b", "wide 2 a"})) << kind;
  }
}

TEST(ClusterManifestsTest, AFillBeginsWithTheBoundPods) {
  const RunOfDump run(absl::StrCat(NodeText("a"), PodText("w"), PodText("x", "  nodeName: a\n")),
                      "scheduler: {policy: least-allocated}\n");
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "w 2 a"}));
}

TEST(ClusterManifestsTest, AWorkloadComesOnTop) {
  const RunOfDump run(
      absl::StrCat(NodeText("a"), PodText("x", "  nodeName: a\n")),
      absl::StrCat(kReplay, "workload: {jobs: [{name: j, cpu: 7}, {name: k, cpu: 7}]}\n"));
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "j 2 a", "k 0 -"}));
  const RunOfDump twice(absl::StrCat(NodeText("a"), PodText("x", "  nodeName: a\n")),
                        absl::StrCat(kReplay, "workload: {jobs: [{name: x, cpu: 7}]}\n"));
  EXPECT_EQ(WithoutCheckedKey(twice.status),
            absl::InvalidArgumentError("cluster.manifests: found a pod called 'x', as a job of the "
                                       "workload, expected names of their own"));
}

// More than the node has: the ledger could not tell of such a node.
TEST(ClusterManifestsTest, WhoHasNoRoomIsDroppedWithAWarning) {
  const RunOfDump run(
      absl::StrCat(NodeText("a"), PodText("x", "  nodeName: a\n"),
                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: z}\nspec: {nodeName: a, "
                   "containers: [{name: c, resources: {requests: {cpu: 8}}}]}\n"),
      kReplay);
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_EQ(run.Pods(), (Lines{"x 2 a", "z 4 -"}));
  ASSERT_FALSE(run.sim->warnings().empty());
  EXPECT_TRUE(absl::StrContains(run.sim->warnings().back(), "the first is 'z'"))
      << run.sim->warnings().back();
}

TEST(ClusterManifestsTest, TheManifestsAreTheWholeCluster) {
  const auto refusal = [](absl::string_view yaml) {
    return std::string(WithoutCheckedKey(ResolveScenario(ScenarioOf(yaml)).status()).message());
  };
  EXPECT_EQ(refusal("cluster: {manifests: [a.yaml], path: b.csv}\n"),
            "cluster.manifests: found cluster.path, too, expected one of them");
  EXPECT_EQ(refusal("cluster: {manifests: [a.yaml], nodes: 3}\n"),
            "cluster.manifests: found cluster.nodes, too, expected one of them");
  EXPECT_EQ(refusal("cluster: {manifests: [a.yaml], scale: 2}\n"),
            "cluster.manifests: found cluster.scale, too, expected one of them");
}

}  // namespace cluster_manifests_test
}  // namespace drasim
