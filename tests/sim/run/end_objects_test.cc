// The end of a run as objects: their text, and that cluster.manifests reads the same state and
// writes the same bytes.
#include "sim/run/end_objects.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/kube/reader.h"
#include "model/proto/scenario.pb.h"
#include "sim/record/pod_log.h"
#include "sim/run/manifest_objects.h"
#include "sim/run/simulation.h"
#include "tests/testing/data_text.h"
#include "tests/testing/open_metrics.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace end_objects_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Lines = std::vector<std::string>;

// A run that has written its end into a folder.
struct EndOfRun {
  EndOfRun(const proto::Scenario& scenario, const TempDir& dir, const std::string& folder) {
    RunSpec spec = RunSpecOf(scenario);
    spec.KeepObjects();
    absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(std::move(spec));
    EXPECT_TRUE(built.ok()) << built.status();
    if (!built.ok()) return;
    sim = *std::move(built);
    sim->AddSink(&log);
    EXPECT_EQ(sim->Start(), absl::OkStatus());
    EXPECT_EQ(sim->Run(), absl::OkStatus());
    EXPECT_TRUE(PrepareObjectsDir(dir.PathOf(folder), false).ok());
    EndObjects end(sim.get(), &log);
    EXPECT_EQ(end.WriteTo(dir.PathOf(folder)), absl::OkStatus());
    metrics = end.MetricsText();
    EXPECT_EQ(sim->cluster().CheckInvariants(), absl::OkStatus());
  }

  // "NAME on NODE [GPUS]", in order of names: places alone, whatever the order of arrival.
  Lines Places() const {
    Lines lines;
    const ClusterState& cluster = sim->cluster();
    for (size_t p = 0; p < cluster.pod_count(); ++p) {
      const NodeId node = cluster.pod_node(PodId(p));
      if (!node.valid()) continue;
      lines.push_back(absl::StrCat(cluster.pod_name(PodId(p)), " on ", cluster.node_spec(node).name,
                                   " ", cluster.pod_devices(PodId(p)).bits()));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  PodLog log;
  std::unique_ptr<Simulation> sim;
  std::string metrics;
};

// The names of the objects of a list, in order.
Lines NamesIn(const std::string& list) {
  Lines names;
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(list, "list.yaml");
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return names;
  for (const KubeObject& object : read->objects) {
    names.push_back(ManifestMeta(object.object).name());
  }
  return names;
}

std::string AllOf(const TempDir& dir, const std::string& folder) {
  std::string all;
  for (const std::string& name : dir.List(folder)) {
    absl::StrAppend(&all, "--- ", name, "\n", dir.Read(absl::StrCat(folder, "/", name)));
  }
  return all;
}

// Every object passes the API server's validation, and nothing in it is unknown.
void ExpectValidObjects(const TempDir& dir, const std::string& folder) {
  for (const std::string& name : dir.List(folder)) {
    const absl::StatusOr<KubeManifest> read =
        ReadKubeObjects(dir.Read(absl::StrCat(folder, "/", name)), name);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->warnings.empty()) << read->warnings[0];
  }
}

// A run, then one that begins with its end: the same places and the same bytes. `same` is what both
// scenarios have in common.
void ExpectFixedPoint(absl::string_view first, absl::string_view same, const std::string& dump) {
  const TempDir dir;
  if (!dump.empty()) dir.Write("dump.yaml", dump);
  proto::Scenario scenario = ScenarioOf(absl::StrCat(first, same));
  if (absl::StrContains(first, "#dump")) {
    scenario.mutable_cluster()->add_manifests(dir.PathOf("dump.yaml"));
  } else if (!dump.empty()) {
    scenario.mutable_workload()->add_manifests(dir.PathOf("dump.yaml"));
  }
  const EndOfRun one(scenario, dir, "one");
  proto::Scenario again = ScenarioOf(same);
  again.mutable_cluster()->add_manifests(dir.PathOf("one"));
  const EndOfRun two(again, dir, "two");
  ASSERT_TRUE(one.sim != nullptr && two.sim != nullptr);
  EXPECT_FALSE(one.Places().empty());
  EXPECT_EQ(one.Places(), two.Places());
  EXPECT_EQ(AllOf(dir, "one"), AllOf(dir, "two"));
  EXPECT_EQ(one.metrics, two.metrics);
  ExpectValidObjects(dir, "one");
}

TEST(EndObjectsTest, AGeneratedFillComesBack) {
  for (const absl::string_view policy : {"fgd", "best-fit"}) {
    ExpectFixedPoint("cluster: {nodes: 12}\nworkload: {generated: {pods: 160}}\n",
                     absl::StrCat("seed: 7\nscheduler: {policy: ", policy, "}\n"), "");
  }
}

TEST(EndObjectsTest, AFillUnderKubeSchedulerComesBack) {
  ExpectFixedPoint("cluster: {nodes: 12}\nworkload: {generated: {pods: 160}}\n",
                   "seed: 8\nscheduler: {policy: kube-scheduler}\n", "");
}

TEST(EndObjectsTest, AReplayBehindADevicePluginComesBack) {
  ExpectFixedPoint(TestText("AReplayBehindADevicePluginComesBack"),
                   "mode: replay\norder: trace\nscheduler: {policy: kube-scheduler}\n"
                   "front_end: {kind: device-plugin}\n",
                   "");
}

TEST(EndObjectsTest, ADumpComesBack) {
  ExpectFixedPoint("#dump\n", "mode: replay\norder: trace\nscheduler: {policy: kube-scheduler}\n",
                   TestText("Dump"));
}

// Other policies read less of a pod, and write all of it.
TEST(EndObjectsTest, ADumpComesBackUnderAnotherPolicy) {
  ExpectFixedPoint("#dump\n", "mode: replay\norder: trace\nscheduler: {policy: least-allocated}\n",
                   TestText("Dump"));
}

TEST(EndObjectsTest, OwnersOfPodsComeBack) {
  ExpectFixedPoint("cluster: {nodes: 2, node: {cpu: 4, memory: 8Gi, gpus: 2}}\n",
                   "mode: replay\norder: trace\nscheduler: {policy: kube-scheduler}\n",
                   TestText("OwnersOfPodsComeBack"));
}

TEST(EndObjectsTest, TheTextOfADump) {
  const TempDir dir;
  dir.Write("dump.yaml", TestText("Dump"));
  proto::Scenario scenario =
      ScenarioOf("mode: replay\norder: trace\nscheduler: {policy: kube-scheduler}\n");
  scenario.mutable_cluster()->add_manifests(dir.PathOf("dump.yaml"));
  const EndOfRun run(scenario, dir, "out");
  EXPECT_THAT(dir.List("out"),
              ElementsAre("01-namespaces.yaml", "02-priorityclasses.yaml", "04-storageclasses.yaml",
                          "06-nodes.yaml", "10-persistentvolumeclaims.yaml", "12-services.yaml",
                          "13-poddisruptionbudgets.yaml", "17-daemonsets.yaml", "32-pods.yaml"));
  EXPECT_EQ(NamesIn(dir.Read("out/32-pods.yaml")),
            (Lines{"train", "later", "agent-gpu-1", "huge", "gated", "done"}));
  EXPECT_EQ(NamesIn(dir.Read("out/06-nodes.yaml")), (Lines{"gpu-1", "cpu-1"}));
  Lines pods = absl::StrSplit(dir.Read("out/32-pods.yaml"), "\n- ");
  ASSERT_EQ(pods.size(), 7u);
  for (std::string& pod : pods) pod += "\n";
  // Given fields stay, except those that the API server assigns.
  EXPECT_THAT(pods[1], HasSubstr("\n    uid: u-1\n"));
  EXPECT_THAT(pods[1], HasSubstr("\n    nodeName: gpu-1\n"));
  EXPECT_THAT(pods[1], HasSubstr("\n    priority: 50\n    priorityClassName: gone\n"));
  EXPECT_THAT(pods[1], HasSubstr(TestText("TheTextOfADump.train")));
  EXPECT_THAT(pods[1], HasSubstr("alibabacloud.com/gpu-index: \"0\"\n"));
  EXPECT_THAT(pods[1], Not(HasSubstr("resourceVersion")));
  // A pod that found a place.
  EXPECT_THAT(pods[2], HasSubstr("\n    nodeName: cpu-1\n"));
  EXPECT_THAT(pods[2], HasSubstr("\n    priority: 1000\n    priorityClassName: high\n"));
  EXPECT_THAT(pods[2], HasSubstr(TestText("TheTextOfADump.later")));
  // Pods that did not: the time of a condition is that of its last change, not of its message's.
  EXPECT_THAT(pods[3], HasSubstr("\n    namespace: kube-system\n"));
  EXPECT_THAT(pods[4], HasSubstr("    - lastTransitionTime: \"2025-03-01T09:00:01Z\"\n"
                                 "      message: '0/2 nodes are available: "));
  EXPECT_THAT(pods[4], HasSubstr("Insufficient cpu"));
  EXPECT_THAT(pods[4], HasSubstr("\n      reason: Unschedulable\n"));
  EXPECT_THAT(pods[4], Not(HasSubstr("nodeName")));
  EXPECT_THAT(pods[5], HasSubstr(TestText("TheTextOfADump.gated")));
  EXPECT_THAT(pods[6], HasSubstr("\n    phase: Succeeded\n"));
}

// Places of ended pods, of deleted ones, and the time at which they began are history; objects tell
// how a pod ended and where.
TEST(EndObjectsTest, EndedPods) {
  const TempDir dir;
  const EndOfRun run(ScenarioOf(TestText("EndedPods.scenario")), dir, "out");
  const std::string pods = dir.Read("out/32-pods.yaml");
  EXPECT_THAT(NamesIn(pods), ElementsAre("ended", StartsWith("shared-")));
  EXPECT_THAT(pods, HasSubstr(TestText("EndedPods.spec")));
  EXPECT_THAT(pods, HasSubstr(TestText("EndedPods.status")));
  EXPECT_THAT(pods, HasSubstr("alibabacloud.com/gpu-milli: \"300\"\n"));
  EXPECT_THAT(pods, Not(HasSubstr("gpu-index")));  // it holds none any more
  const std::string node = run.sim->cluster().node_spec(NodeId(size_t{0})).name;
  EXPECT_THAT(pods, HasSubstr(absl::StrCat("\n    nodeName: ", node, "\n")));
  EXPECT_EQ(dir.Read("out/02-priorityclasses.yaml"), TestText("EndedPods.classes"));
  EXPECT_EQ(dir.Read("out/01-namespaces.yaml"), TestText("EndedPods.namespaces"));
  const OpenMetrics read(run.metrics);
  EXPECT_EQ(read.Sum("kube_pod_resource_request", ""), 0);
  EXPECT_EQ(read.Sum("kube_pod_status_phase", "phase=\"Succeeded\""), 2);
  EXPECT_EQ(read.Sum("kube_pod_status_phase", "phase=\"Failed\""), 0);
}

TEST(EndObjectsTest, OfManyEndedPodsTheLastAreKept) {
  const TempDir dir;
  const EndOfRun run(
      ScenarioOf("mode: replay\norder: trace\ncluster: {nodes: 1, node: {cpu: 64, memory: 64Gi}}\n"
                 "scheduler: {policy: best-fit}\n"
                 "workload: {jobs: [{name: j, cpu: 1m, replicas: 12503, run_time: 1s}]}\n"),
      dir, "out");
  const std::string pods = dir.Read("out/32-pods.yaml");
  EXPECT_THAT(pods, Not(HasSubstr("name: j-2\n")));
  EXPECT_THAT(pods, HasSubstr("name: j-3\n"));
  EXPECT_THAT(pods, HasSubstr("name: j-12502\n"));
}

// Metrics and cluster agree about the allocations.
TEST(EndObjectsTest, MetricsAddUpToTheClustersTotals) {
  const TempDir dir;
  const EndOfRun run(ScenarioOf("seed: 3\ncluster: {nodes: 10}\nscheduler: {policy: best-fit}\n"
                                "workload: {generated: {pods: 120}}\n"),
                     dir, "out");
  const OpenMetrics read(run.metrics);
  const ClusterTotals& totals = run.sim->cluster().totals();
  EXPECT_NEAR(read.Sum("kube_node_status_allocatable", "resource=\"cpu\"") * 1000,
              static_cast<double>(totals.cpu_milli_capacity), 1e-6);
  EXPECT_EQ(read.Sum("kube_node_status_allocatable", "resource=\"nvidia_com_gpu\""),
            static_cast<double>(totals.gpu_count));
  double allocated = 0;
  for (const std::string& sample : read.Of("kube_pod_resource_request")) {
    const bool cpu = absl::StrContains(sample, "resource=\"cpu\",unit=\"cores\"");
    if (cpu && !absl::StrContains(sample, "node=\"\"")) allocated += read.At(sample);
  }
  EXPECT_NEAR(allocated * 1000, static_cast<double>(totals.cpu_milli_allocated), 1e-6);
  EXPECT_EQ(read.Sum("kube_pod_status_phase", "phase=\"Running\""),
            static_cast<double>(totals.pods_resident));
  EXPECT_EQ(read.Sum("kube_pod_status_unschedulable", ""),
            static_cast<double>(120 - totals.pods_resident));
}

TEST(EndObjectsTest, AFolderHoldsTheEndOfOneRun) {
  const TempDir dir;
  const EndOfRun first(ScenarioOf(TestText("EndedPods.scenario")), dir, "out");
  EXPECT_THAT(dir.List("out"), ElementsAre("01-namespaces.yaml", "02-priorityclasses.yaml",
                                           "06-nodes.yaml", "32-pods.yaml"));
  const EndOfRun second(ScenarioOf("cluster: {nodes: 1, node: {cpu: 4, memory: 4Gi}}\n"
                                   "scheduler: {policy: best-fit}\n"
                                   "workload: {jobs: [{name: j, cpu: 1}]}\n"),
                        dir, "out");
  EXPECT_THAT(dir.List("out"), ElementsAre("06-nodes.yaml", "32-pods.yaml"));
  dir.Write("out/mine.yaml", "x");
  const absl::Status refused = PrepareObjectsDir(dir.PathOf("out"), false).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("holds 'mine.yaml'"));
  EXPECT_TRUE(PrepareObjectsDir(dir.PathOf("out"), true).ok());
  EXPECT_EQ(PrepareObjectsDir(dir.PathOf("out/mine.yaml"), true).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace end_objects_test
}  // namespace drasim
