// Operations on a simulated cluster, one by one, and what workloads are refused for.
#include "sim/perf/perf_run.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/perf/perf_suite.h"
#include "tests/testing/temp_dir.h"

namespace drasim::perf {
namespace perf_run_test {

constexpr char kNode[] =
    "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-}\n"
    "status: {capacity: {pods: \"10\", cpu: \"4\", memory: 32Gi}}\n";
constexpr char kPod[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: pod-}\n"
    "spec:\n  terminationGracePeriodSeconds: 0\n"
    "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: 1000m}}}\n";

// A folder with a configuration of one case and the built-in objects.
class PerfRunTest : public ::testing::Test {
 protected:
  PerfRunTest() {
    std::error_code error;
    std::filesystem::create_directories(dir_.PathOf("templates"), error);
    Write("templates/node-default.yaml", kNode);
    Write("templates/pod-default.yaml", kPod);
    Write("big.yaml",
          "apiVersion: v1\nkind: Pod\nmetadata: {generateName: big-, labels: {size: big}}\n"
          "spec:\n  priority: 10\n  terminationGracePeriodSeconds: 0\n"
          "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: 3000m}}}\n");
    Write("gated.yaml",
          "apiVersion: v1\nkind: Pod\nmetadata: {name: \"gated-{{.Index}}\"}\n"
          "spec:\n  schedulingGates: [{name: a/b}]\n  containers: [{name: c, image: i}]\n");
    Write("open.yaml",
          "apiVersion: v1\nkind: Pod\nmetadata: {name: \"gated-{{.Index}}\"}\n"
          "spec:\n  containers: [{name: c, image: i}]\n");
  }

  void Write(const std::string& name, absl::string_view text) const { dir_.Write(name, text); }

  // The report on the case with these steps, a line each.
  PerfReport Run(const std::vector<std::string>& steps, const std::string& of_case = "",
                 const std::vector<std::string>& settings = {}) {
    std::string text = absl::StrCat("- name: A\n", of_case, "  workloadTemplate:\n");
    for (const std::string& step : steps) absl::StrAppend(&text, "  - {opcode: ", step, "}\n");
    absl::StrAppend(&text, "  workloads: [{name: w}]\n");
    Write("performance-config.yaml", text);
    PerfSelection selection;
    selection.root = dir_.path();
    selection.settings = settings;
    const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection);
    if (!suite.ok()) {
      PerfReport report;
      report.why = std::string(suite.status().message());
      return report;
    }
    return RunPerfEntry(*suite, suite->entries.front());
  }

  // The report in one line.
  static std::string Said(const PerfReport& report) {
    return absl::StrCat(PerfVerdictName(report.verdict), ": ", report.why);
  }

  TempDir dir_;
};

TEST_F(PerfRunTest, MeasuresPodsInVirtualTime) {
  const PerfReport report = Run({"createNodes, count: 2", "createPods, count: 2",
                                 "createPods, count: 5, "
                                 "collectMetrics: true"});
  EXPECT_EQ(Said(report), "runs: ");
  EXPECT_EQ(report.measured_pods, 5);
  EXPECT_DOUBLE_EQ(report.measured_seconds, 0.005) << "an attempt takes 1 ms";
  EXPECT_EQ(report.fingerprint.size(), 16u);
}

TEST_F(PerfRunTest, RepeatsItself) {
  const std::vector<std::string> steps = {"createNodes, count: 3", "createPods, count: 9"};
  EXPECT_EQ(Run(steps).line, Run(steps).line);
}

TEST_F(PerfRunTest, SaysWhyABarrierCannotBeMet) {
  const PerfReport report = Run(
      {"createNodes, count: 2", "createPods, count: 10, skipWaitToCompletion: true", "barrier"});
  EXPECT_EQ(Said(report),
            "stops: barrier cannot be met: since 8ms 2 of 10 pods wait, the first is "
            "namespace-1/pod-8: 2 x 0/2 nodes are available: 2 Insufficient cpu. no new claims to "
            "deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for "
            "incoming pod.");
}

TEST_F(PerfRunTest, SelectsPodsOfABarrier) {
  const std::vector<std::string> steps = {"createNodes, count: 1",
                                          "createPods, count: 5, skipWaitToCompletion: true"};
  std::vector<std::string> small = steps;
  small.push_back("barrier, labelSelector: {size: big}");
  EXPECT_EQ(Said(Run(small)), "runs: ");
  std::vector<std::string> elsewhere = steps;
  elsewhere.push_back("barrier, namespaces: [namespace-7]");
  EXPECT_EQ(Said(Run(elsewhere)), "runs: ");
  std::vector<std::string> tried = steps;
  tried.push_back("barrier, stageRequirement: Attempted");
  EXPECT_EQ(Said(Run(tried)), "runs: ");
}

TEST_F(PerfRunTest, DeletesVictimsForGood) {
  const PerfReport report = Run({"createNodes, count: 1", "createPods, count: 4",
                                 "createPods, count: 1, podTemplatePath: big.yaml", "barrier"});
  EXPECT_EQ(Said(report), "runs: ") << "three pods had to leave, and nobody waits for them";
}

// Without a kubelet, a pod with a grace period never leaves.
TEST_F(PerfRunTest, KeepsTerminatingPods) {
  Write("slow.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: slow-}\n"
        "spec:\n  containers:\n  - {name: c, image: i, resources: {requests: {cpu: 1000m}}}\n");
  const PerfReport report =
      Run({"createNodes, count: 1", "createPods, count: 4, podTemplatePath: slow.yaml",
           "deletePods, namespace: namespace-1", "createPods, count: 1"});
  EXPECT_TRUE(absl::StartsWith(Said(report), "stops: createPods cannot be met")) << Said(report);
}

TEST_F(PerfRunTest, DeletesPodsAtARate) {
  EXPECT_EQ(Said(Run({"createNodes, count: 1", "createPods, count: 4",
                      "deletePods, namespace: namespace-1", "createPods, count: 4"})),
            "runs: ");
  const PerfReport background =
      Run({"createNodes, count: 1", "createPods, count: 4",
           "deletePods, namespace: namespace-1, deletePodsPerSecond: 2, skipWaitToCompletion: true",
           "createPods, count: 1, collectMetrics: true"});
  EXPECT_EQ(Said(background), "runs: ");
  // The first pod leaves after half a second, and nothing else is to be tried then.
  EXPECT_NEAR(background.measured_seconds, 0.501, 1e-9);
}

TEST_F(PerfRunTest, OpensGatesByUpdates) {
  const std::vector<std::string> steps = {
      "createNodes, count: 1",
      "createPods, count: 3, namespace: g, podTemplatePath: gated.yaml, skipWaitToCompletion: true",
      "barrier, stageRequirement: Attempted"};
  std::vector<std::string> opened = steps;
  opened.push_back(
      "updateAny, count: 3, namespace: g, templatePath: open.yaml, updatePerSecond: 10");
  opened.push_back("barrier");
  EXPECT_EQ(Said(Run(opened)), "runs: ");
  std::vector<std::string> closed = steps;
  closed.push_back("barrier");
  EXPECT_EQ(
      Said(Run(closed)),
      "stops: barrier cannot be met: since 0 3 of 3 pods wait, the first is g/gated-0: 3 x waits "
      "for its scheduling gates");
}

TEST_F(PerfRunTest, ResizesRequestsAlone) {
  Write("named.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: \"n-{{.Index}}\", labels: {a: b}}\n"
        "spec:\n  containers:\n  - {name: c, image: i, resources: {requests: {cpu: 4000m}}}\n");
  Write("less.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: \"n-{{.Index}}\"}\n"
        "spec:\n  containers:\n  - {name: c, image: i, resources: {requests: {cpu: 1000m}}}\n");
  const PerfReport report = Run(
      {"createNodes, count: 1", "startCollectingMetrics, labelSelector: {a: b}",
       "createPods, count: 1, namespace: r, podTemplatePath: named.yaml",
       "createPods, count: 1, skipWaitToCompletion: true", "barrier, stageRequirement: Attempted",
       "updateAny, namespace: r, templatePath: less.yaml, subresources: [resize]", "barrier",
       "stopCollectingMetrics"});
  EXPECT_EQ(Said(report), "runs: ") << "the second pod has the room of the first";
  EXPECT_EQ(report.measured_pods, 1) << "the label is still there";
}

TEST_F(PerfRunTest, WakesPodsByANewNode) {
  Write("little.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {generateName: little-}\n"
        "status: {capacity: {pods: \"10\", cpu: 500m, memory: 32Gi}}\n");
  const std::vector<std::string> steps = {"createNodes, count: 1, nodeTemplatePath: little.yaml",
                                          "createPods, count: 1, skipWaitToCompletion: true",
                                          "barrier, stageRequirement: Attempted",
                                          "startCollectingMetrics",
                                          "createNodes, count: 1",
                                          "barrier",
                                          "stopCollectingMetrics"};
  for (const char* hints : {"true", "false"}) {
    const PerfReport report =
        Run(steps, absl::StrCat("  featureGates: {SchedulerQueueingHints: ", hints, "}\n"));
    EXPECT_EQ(Said(report), "runs: ");
    EXPECT_DOUBLE_EQ(report.measured_seconds, 0.001) << "at once";
  }
}

// A little node helps nobody: with hints, the pod is not tried again.
TEST_F(PerfRunTest, HeedsTheGateOfQueueingHints) {
  Write("little.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {generateName: little-}\n"
        "status: {capacity: {pods: \"10\", cpu: 500m, memory: 32Gi}}\n");
  const std::vector<std::string> steps = {
      "createNodes, count: 1, nodeTemplatePath: little.yaml",
      "createPods, count: 1, skipWaitToCompletion: true", "barrier, stageRequirement: Attempted",
      "createNodes, count: 1, nodeTemplatePath: little.yaml", "sleep, duration: 1s"};
  const PerfReport with = Run(steps, "  featureGates: {SchedulerQueueingHints: true}\n");
  const PerfReport without = Run(steps, "  featureGates: {SchedulerQueueingHints: false}\n");
  EXPECT_EQ(Said(with), "runs: ");
  EXPECT_EQ(Said(without), "runs: ");
  EXPECT_NE(with.fingerprint, without.fingerprint) << "one more failed attempt";
}

TEST_F(PerfRunTest, ChurnsBesideTheSteps) {
  const PerfReport created = Run({"createNodes, count: 1",
                                  "churn, mode: create, number: 3, intervalMilliseconds: 100, "
                                  "templatePaths: [templates/node-default.yaml]",
                                  "sleep, duration: 1s", "createPods, count: 16"});
  EXPECT_EQ(Said(created), "runs: ") << "four nodes of four CPUs";
  const PerfReport recreated = Run({"createNodes, count: 1",
                                    "churn, mode: recreate, number: 1, intervalMilliseconds: 100, "
                                    "templatePaths: [templates/node-default.yaml]",
                                    "sleep, duration: 250ms", "createPods, count: 5"});
  // The node has gone after 200 ms, and comes again after 300.
  EXPECT_EQ(Said(recreated), "runs: ");
}

TEST_F(PerfRunTest, ChurnDoesNotKeepABarrierWaiting) {
  const PerfReport report =
      Run({"createNodes, count: 1",
           "churn, mode: recreate, number: 1, intervalMilliseconds: 10000, templatePaths: "
           "[templates/pod-default.yaml]",
           "createPods, count: 5"});
  EXPECT_TRUE(absl::StartsWith(Said(report), "stops: createPods cannot be met: since"))
      << Said(report);
}

TEST_F(PerfRunTest, CollectsMetricsOverSeveralSteps) {
  const PerfReport report =
      Run({"createNodes, count: 4", "createPods, count: 1, namespace: a",
           "startCollectingMetrics, namespaces: [a, b], labelSelector: {size: big}",
           "createPods, count: 2, namespace: b, podTemplatePath: big.yaml",
           "createPods, count: 1, namespace: a",
           "createPods, count: 1, namespace: c, "
           "podTemplatePath: big.yaml",
           "stopCollectingMetrics"});
  EXPECT_EQ(Said(report), "runs: ");
  EXPECT_EQ(report.measured_pods, 2);
}

TEST_F(PerfRunTest, GoesOnSteadily) {
  const PerfReport report = Run({"createNodes, count: 1",
                                 "createPods, count: 4, steadyState: true, duration: 100ms, "
                                 "collectMetrics: true"});
  EXPECT_EQ(Said(report), "runs: ");
  EXPECT_EQ(report.measured_pods, 100);
  const PerfReport timeless =
      Run({"createNodes, count: 1",
           "createPods, count: 4, steadyState: true, duration: 100ms, collectMetrics: true"},
          "", {"timing.schedule=0s"});
  EXPECT_TRUE(absl::StrContains(timeless.why, "no time passes")) << timeless.why;
}

TEST_F(PerfRunTest, ChecksThatPodsAreScheduled) {
  const std::vector<std::string> steps = {
      "createNodes, count: 1", "createPods, count: 5, namespace: c, skipWaitToCompletion: true"};
  const auto with = [&](const std::string& check) {
    std::vector<std::string> all = steps;
    all.push_back(check);
    return Said(Run(all));
  };
  EXPECT_EQ(with("checkPodScheduled, namespace: d, duration: 1s, scheduled: true"), "runs: ");
  EXPECT_EQ(with("checkPodScheduled, namespace: c, duration: 1s, scheduled: false"),
            "stops: checkPodScheduled expected no pod of c to be scheduled, found 4");
  EXPECT_TRUE(
      absl::StartsWith(with("checkPodScheduled, namespace: c, duration: 1s, scheduled: true"),
                       "stops: checkPodScheduled cannot be met: "));
}

TEST_F(PerfRunTest, RefusesWhatIsLackingByName) {
  Write("class.yaml", "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\n");
  Write("member.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: m-}\n"
        "spec:\n  schedulingGroup: {podGroupName: g}\n  containers: [{name: c, image: i}]\n");
  EXPECT_EQ(Said(Run({"createResourceDriver, driverName: d, nodes: n, maxClaimsPerNode: 1",
                      "createAny, templatePath: class.yaml",
                      "createPods, count: 1, podTemplatePath: gone.yaml"},
                     "  featureGates: {DRANoSuchThing: true, NodeDeclaredFeatures: true}\n")),
            "refused: feature gate DRANoSuchThing=true; feature gate NodeDeclaredFeatures=true; "
            "the template gone.yaml is missing");
  EXPECT_EQ(Said(Run({"createResourceDriver, driverName: d, nodes: n, maxClaimsPerNode: 1",
                      "createAny, templatePath: class.yaml"})),
            "refused: structured DRA without its feature gate (createResourceDriver); DeviceClass "
            "of resource.k8s.io/v1 in createAny");
  const PerfReport member = Run({"createPods, count: 1, podTemplatePath: member.yaml"});
  EXPECT_TRUE(absl::StartsWith(Said(member),
                               "refused: member.yaml:5:3: spec.schedulingGroup: "
                               "unknown field"))
      << Said(member);
  EXPECT_EQ(Said(Run({"createPodGroups, templatePath: member.yaml"})),
            "refused: PodGroups (createPodGroups)");
}

TEST_F(PerfRunTest, TellsBadObjectsApart) {
  Write("twice.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: same}\nspec: {containers: [{name: c, image: "
        "i}]}\n");
  EXPECT_EQ(Said(Run({"createNodes, count: 1",
                      "createPods, count: 2, namespace: a, podTemplatePath: twice.yaml"})),
            "failed: performance-config.yaml:4:5: there is a pod 'a/same' already");
  EXPECT_EQ(Said(Run({"updateAny, namespace: a, templatePath: open.yaml"})),
            "failed: performance-config.yaml:3:5: there is no pod 'a/gated-0'");
  EXPECT_EQ(Said(Run({"stopCollectingMetrics"})),
            "failed: performance-config.yaml:3:5: stopCollectingMetrics: nothing collects metrics");
  EXPECT_EQ(Said(Run({"createPods, count: 1, podTemplatePath: ../../etc/passwd"})),
            "failed: template ../../etc/passwd: expected a path below the folder");
  Write("bad.yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: {{.Index}}}\n");
  const PerfReport bad = Run({"createPods, count: 1, podTemplatePath: bad.yaml"});
  EXPECT_TRUE(absl::StartsWith(Said(bad), "failed: bad.yaml:3:20: spec.containers")) << Said(bad);
}

TEST_F(PerfRunTest, MatchesFieldsOfObjectsInAnyCase) {
  Write("odd.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: o-, labels: {a: b}}\n"
        "spec:\n  containers: [{name: c, image: i}]\n  topologySpreadConstraints:\n"
        "  - maxSkew: 1\n    topologyKey: kubernetes.io/hostname\n"
        "    whenUnsatisfiable: DoNotSchedule\n    NodeTaintsPolicy: Honor\n"
        "    labelSelector: {matchLabels: {a: b}}\n");
  Write("taint.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {generateName: taint-}\n"
        "spec: {taints: [{key: foo, effect: NoSchedule}]}\n"
        "status: {capacity: {pods: \"10\", cpu: \"4\", memory: 32Gi}}\n");
  const std::vector<std::string> steps = {"createNodes, count: 1",
                                          "createNodes, count: 1, nodeTemplatePath: taint.yaml",
                                          "createPods, count: 2, podTemplatePath: odd.yaml"};
  EXPECT_EQ(Said(Run(steps)), "runs: ") << "the tainted node counts for no skew";
}

TEST_F(PerfRunTest, TakesSettingsOfTheScheduler) {
  const std::vector<std::string> steps = {"createNodes, count: 1",
                                          "createPods, count: 4, collectMetrics: true"};
  EXPECT_DOUBLE_EQ(Run(steps, "", {"timing.schedule=5ms"}).measured_seconds, 0.02);
  EXPECT_EQ(Run(steps, "", {"cluster.nodes=9"}).why,
            "--set: found 'cluster.nodes', expected seed or a key of scheduler, timing or "
            "preemption: the rest is in the configurations");
}

}  // namespace perf_run_test
}  // namespace drasim::perf
