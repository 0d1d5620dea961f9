// Structured DRA in workloads: claims are allocated, no device is given twice, deletion frees
// devices, and the steps that act on claims.
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"
#include "sim/perf/perf_cluster.h"
#include "sim/perf/perf_suite.h"
#include "tests/testing/temp_dir.h"

namespace drasim::perf {
namespace perf_claims_test {

namespace kube = ::drasim::proto::kube;

constexpr char kGates[] = "  featureGates: {DynamicResourceAllocation: true}\n";
constexpr char kDriver[] =
    "createResourceDriver, driverName: test-driver.cdi.k8s.io, nodes: node-*, maxClaimsPerNode: ";

class PerfClaimsTest : public ::testing::Test {
 protected:
  PerfClaimsTest() {
    std::error_code error;
    std::filesystem::create_directories(dir_.PathOf("templates"), error);
    dir_.Write("templates/node-default.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-}\n"
               "status: {capacity: {pods: \"110\", cpu: \"4\", memory: 32Gi}}\n");
    dir_.Write("class.yaml",
               "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
               "spec:\n  selectors:\n"
               "  - cel: {expression: 'device.driver == \"test-driver.cdi.k8s.io\"'}\n"
               "  extendedResourceName: example.com/gpu\n");
    dir_.Write("claim.yaml",
               "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
               "metadata: {name: \"claim-{{.Index}}\"}\n"
               "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}\n");
    dir_.Write("template.yaml",
               "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
               "metadata: {name: t}\n"
               "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}\n");
    dir_.Write("pod.yaml",
               "apiVersion: v1\nkind: Pod\nmetadata: {generateName: pod-}\n"
               "spec:\n  containers: [{name: c, image: i, resources: {claims: [{name: r}]}}]\n"
               "  resourceClaims: [{name: r, resourceClaimTemplateName: t}]\n");
    dir_.Write("sharer.yaml",
               "apiVersion: v1\nkind: Pod\nmetadata: {name: \"sharer-{{.Index}}\"}\n"
               "spec:\n  containers: [{name: c, image: i, resources: {claims: [{name: r}]}}]\n"
               "  resourceClaims: [{name: r, resourceClaimName: claim-0}]\n");
    dir_.Write("extended.yaml",
               "apiVersion: v1\nkind: Pod\nmetadata: {name: \"extended-{{.Index}}\"}\n"
               "spec:\n  containers:\n  - name: c\n    image: i\n"
               "    resources: {limits: {example.com/gpu: 1}}\n");
  }

  PerfReport Run(const std::vector<std::string>& steps, const std::string& gates = kGates) {
    std::string text = absl::StrCat("- name: A\n", gates, "  workloadTemplate:\n");
    for (const std::string& step : steps) absl::StrAppend(&text, "  - {opcode: ", step, "}\n");
    absl::StrAppend(&text, "  workloads: [{name: w}]\n");
    dir_.Write("performance-config.yaml", text);
    PerfSelection selection;
    selection.root = dir_.path();
    const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection);
    if (suite.ok()) return RunPerfEntry(*suite, suite->entries.front());
    PerfReport report;
    report.why = std::string(suite.status().message());
    return report;
  }

  static std::string Said(const PerfReport& report) {
    return absl::StrCat(PerfVerdictName(report.verdict), ": ", report.why);
  }

  // Nodes with that many devices each, the class, and the template in namespace n.
  static std::vector<std::string> Begin(int nodes, int devices) {
    return {absl::StrCat("createNodes, count: ", nodes), absl::StrCat(kDriver, devices),
            "createAny, templatePath: class.yaml",
            "createAny, templatePath: template.yaml, namespace: n"};
  }

  static std::vector<std::string> With(std::vector<std::string> steps,
                                       const std::vector<std::string>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
    return steps;
  }

  TempDir dir_;
};

TEST_F(PerfClaimsTest, GivesEachPodADevice) {
  const PerfReport report =
      Run(With(Begin(2, 3), {"createPods, count: 6, namespace: n, podTemplatePath: pod.yaml, "
                             "collectMetrics: true"}));
  EXPECT_EQ(Said(report), "runs: ");
  EXPECT_EQ(report.measured_pods, 6);
  EXPECT_DOUBLE_EQ(report.measured_seconds, 0.006) << "an attempt takes 1 ms, and calls no time";
}

TEST_F(PerfClaimsTest, GivesNoDeviceTwice) {
  const PerfReport report =
      Run(With(Begin(2, 3), {"createPods, count: 7, namespace: n, podTemplatePath: pod.yaml"}));
  EXPECT_EQ(
      Said(report),
      "stops: createPods cannot be met: since 6ms 1 of 7 pods wait, the first is n/pod-6: 1 x "
      "0/2 nodes are available: 2 cannot allocate all claims. preemption: 0/2 nodes are "
      "available: 2 Preemption is not helpful for scheduling.");
}

TEST_F(PerfClaimsTest, RepeatsItself) {
  const std::vector<std::string> steps =
      With(Begin(5, 2), {"createAny, templatePath: claim.yaml, namespace: n, count: 4",
                         "allocResourceClaims, namespace: n",
                         "createPods, count: 6, namespace: n, podTemplatePath: pod.yaml"});
  const PerfReport first = Run(steps);
  EXPECT_EQ(Said(first), "runs: ");
  EXPECT_EQ(first.line, Run(steps).line);
}

TEST_F(PerfClaimsTest, AllocatesClaimsWithoutPods) {
  const std::vector<std::string> steps =
      With(Begin(2, 3), {"createAny, templatePath: claim.yaml, namespace: init, count: 4",
                         "allocResourceClaims, namespace: init"});
  EXPECT_EQ(
      Said(Run(With(steps, {"createPods, count: 2, namespace: n, podTemplatePath: pod.yaml"}))),
      "runs: ");
  const std::string full =
      Said(Run(With(steps, {"createPods, count: 3, namespace: n, podTemplatePath: pod.yaml"})));
  EXPECT_TRUE(absl::StartsWith(full, "stops: createPods cannot be met: since 2ms 1 of 3")) << full;
  EXPECT_EQ(Said(Run(With(Begin(2, 1), {"createAny, templatePath: claim.yaml, count: 3",
                                        "allocResourceClaims"}))),
            "stops: allocResourceClaims cannot be met: no node has devices for the claim "
            "namespace-4/claim-2");
}

TEST_F(PerfClaimsTest, FreesDevicesOfDeletedPods) {
  dir_.Write("short.yaml",
             "apiVersion: v1\nkind: Pod\nmetadata: {generateName: short-}\n"
             "spec:\n  terminationGracePeriodSeconds: 0\n"
             "  containers: [{name: c, image: i, resources: {claims: [{name: r}]}}]\n"
             "  resourceClaims: [{name: r, resourceClaimTemplateName: t}]\n");
  const std::string create = "createPods, count: 3, namespace: n, podTemplatePath: ";
  EXPECT_EQ(Said(Run(With(Begin(1, 3), {create + "short.yaml", "deletePods, namespace: n",
                                        create + "short.yaml"}))),
            "runs: ");
  // No kubelet ends those with a grace period, which keep their devices.
  const std::string kept = Said(Run(
      With(Begin(1, 3), {create + "pod.yaml", "deletePods, namespace: n", create + "pod.yaml"})));
  EXPECT_TRUE(absl::StartsWith(kept, "stops: createPods cannot be met: ")) << kept;
}

TEST_F(PerfClaimsTest, WakesPodsThatWaitForDevices) {
  dir_.Write("short.yaml",
             "apiVersion: v1\nkind: Pod\nmetadata: {generateName: short-}\n"
             "spec:\n  terminationGracePeriodSeconds: 0\n"
             "  containers: [{name: c, image: i, resources: {claims: [{name: r}]}}]\n"
             "  resourceClaims: [{name: r, resourceClaimTemplateName: t}]\n");
  for (const char* hints : {"true", "false"}) {
    const PerfReport report =
        Run(With(Begin(1, 1),
                 {"createPods, count: 1, namespace: n, podTemplatePath: short.yaml",
                  "deletePods, namespace: n, deletePodsPerSecond: 1, skipWaitToCompletion: true",
                  "createPods, count: 1, namespace: n, podTemplatePath: pod.yaml, "
                  "collectMetrics: true"}),
            absl::StrCat("  featureGates: {DynamicResourceAllocation: true, "
                         "SchedulerQueueingHints: ",
                         hints, "}\n"));
    EXPECT_EQ(Said(report), "runs: ");
    EXPECT_NEAR(report.measured_seconds, 1.001, 0.01) << "the device is free after a second";
  }
}

TEST_F(PerfClaimsTest, GoesOnSteadilyWithFewDevices) {
  const PerfReport report =
      Run(With(Begin(1, 4), {"createPods, count: 4, namespace: n, podTemplatePath: pod.yaml, "
                             "steadyState: true, duration: 100ms, collectMetrics: true"}));
  EXPECT_EQ(Said(report), "runs: ");
  EXPECT_EQ(report.measured_pods, 100) << "each batch has the devices of the one before";
  const PerfReport never =
      Run(With(Begin(1, 3), {"createPods, count: 4, namespace: o, podTemplatePath: pod.yaml, "
                             "steadyState: true, duration: 100ms"}));
  EXPECT_TRUE(absl::StrContains(Said(never), "there is no ResourceClaimTemplate 'o/t'"))
      << Said(never);
}

TEST_F(PerfClaimsTest, SharesAClaimAmongPods) {
  const PerfReport report =
      Run(With(Begin(2, 1), {"createAny, templatePath: claim.yaml, namespace: n",
                             "createPods, count: 5, namespace: n, podTemplatePath: sharer.yaml"}));
  EXPECT_EQ(Said(report), "runs: ") << "one device serves five pods";
}

TEST_F(PerfClaimsTest, ServesExtendedResources) {
  const std::string create = "createPods, count: 4, namespace: n, podTemplatePath: extended.yaml";
  const std::string gates =
      "  featureGates: {DynamicResourceAllocation: true, DRAExtendedResource: true}\n";
  EXPECT_EQ(Said(Run(With(Begin(2, 2), {create}), gates)), "runs: ");
  const std::string full = Said(Run(With(Begin(1, 3), {create}), gates));
  EXPECT_TRUE(absl::StrContains(full, "1 of 4 pods wait")) << full;
  const std::string off =
      "  featureGates: {DynamicResourceAllocation: true, DRAExtendedResource: false}\n";
  const std::string without = Said(Run(With(Begin(2, 2), {create}), off));
  EXPECT_TRUE(absl::StrContains(without, "2 Insufficient example.com/gpu")) << without;
}

TEST_F(PerfClaimsTest, WaitsForConditionsOfDevices) {
  const std::string gates =
      "  featureGates: {DynamicResourceAllocation: true, DRADeviceBindingConditions: true, "
      "DRAResourceClaimDeviceStatus: true}\n";
  const auto with = [&](const std::string& type, bool scheduled) {
    return Said(Run(
        With(Begin(1, 2),
             {"createPods, count: 2, namespace: n, podTemplatePath: pod.yaml, steadyState: true",
              absl::StrCat("updateDeviceConditions, namespace: n, conditionType: ", type,
                           ", conditionStatus: \"True\", duration: 30s"),
              absl::StrCat("checkPodScheduled, namespace: n, duration: 30s, scheduled: ",
                           scheduled ? "true" : "false")}),
        gates));
  };
  EXPECT_EQ(with("DeviceAttached", true), "runs: ");
  EXPECT_EQ(with("AttachmentFailed", false), "runs: ");
  EXPECT_EQ(with("DeviceAttached", false),
            "stops: checkPodScheduled expected no pod of n to be scheduled, found 2");
  EXPECT_TRUE(absl::StartsWith(with("AttachmentFailed", true), "stops: checkPodScheduled cannot"));
  EXPECT_EQ(Said(Run(With(Begin(1, 2), {"updateDeviceConditions, namespace: n, conditionType: A, "
                                        "conditionStatus: \"True\", duration: 3s"}),
                     gates)),
            "stops: updateDeviceConditions cannot be met: not all claims of n have devices that "
            "wait for conditions");
}

TEST_F(PerfClaimsTest, HeedsTaintRules) {
  dir_.Write("rule.yaml",
             "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceTaintRule\nmetadata: {name: r}\n"
             "spec:\n  deviceSelector: {}\n  taint: {key: k, value: v, effect: NoSchedule}\n");
  const std::string create = "createPods, count: 1, namespace: n, podTemplatePath: pod.yaml";
  const std::string gates =
      "  featureGates: {DynamicResourceAllocation: true, DRADeviceTaints: true}\n";
  std::vector<std::string> late = Begin(1, 1);
  late.push_back("createAny, templatePath: rule.yaml");
  const std::string why = Said(Run(With(late, {create}), gates));
  EXPECT_TRUE(absl::StartsWith(why, "stops: createPods cannot be met: ")) << why;
  std::vector<std::string> early = Begin(1, 1);
  early.insert(early.begin(), "createAny, templatePath: rule.yaml");
  EXPECT_EQ(Said(Run(With(early, {create}), gates)), why);
}

TEST_F(PerfClaimsTest, TakesSlicesWithCountersBesideDevices) {
  dir_.Write("slice.yaml",
             "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
             "spec:\n  driver: test-driver.cdi.k8s.io\n  allNodes: true\n"
             "  pool: {name: p, generation: 1, resourceSliceCount: 1}\n"
             "  sharedCounters: [{name: set, counters: {units: {value: \"2\"}}}]\n"
             "  devices:\n"
             "  - name: a\n"
             "    consumesCounters: [{counterSet: set, counters: {units: {value: \"1\"}}}]\n"
             "  - name: b\n"
             "    consumesCounters: [{counterSet: set, counters: {units: {value: \"2\"}}}]\n");
  const auto with = [&](int pods) {
    return Said(Run(
        {"createNodes, count: 1", "createAny, templatePath: slice.yaml",
         "createAny, templatePath: class.yaml",
         "createAny, templatePath: template.yaml, namespace: n",
         absl::StrCat("createPods, count: ", pods, ", namespace: n, podTemplatePath: pod.yaml")},
        "  featureGates: {DynamicResourceAllocation: true, DRAPartitionableDevices: true}\n"));
  };
  EXPECT_EQ(with(1), "runs: ");
  EXPECT_TRUE(absl::StrContains(with(2), "1 of 2 pods wait")) << "one unit is left for b's two";
}

// --- The cluster itself ---

kube::Object DraObject(absl::string_view kind, absl::string_view name) {
  kube::Object object;
  if (kind == "DeviceClass") {
    object.mutable_device_class()->mutable_metadata()->set_name(std::string(name));
    return object;
  }
  kube::ResourceClaimTemplateV1& made = *object.mutable_resource_claim_template_v1();
  made.mutable_metadata()->set_namespace_("n");
  made.mutable_metadata()->set_name(std::string(name));
  kube::DeviceRequest& request =
      *made.mutable_spec()->mutable_spec()->mutable_devices()->add_requests();
  request.set_name("r");
  request.mutable_exactly()->set_device_class_name("c");
  return object;
}

kube::Pod PodOf(absl::string_view name) {
  kube::Pod pod;
  pod.mutable_metadata()->set_namespace_("n");
  pod.mutable_metadata()->set_name(std::string(name));
  pod.mutable_spec()->set_termination_grace_period_seconds(0);
  pod.mutable_spec()->add_containers()->set_name("c");
  kube::PodResourceClaim& claim = *pod.mutable_spec()->add_resource_claims();
  claim.set_name("r");
  claim.set_resource_claim_template_name("t");
  return pod;
}

TEST(PerfClusterClaimsTest, KeepsClaimsAndDevicesOfItsPods) {
  PerfSelection selection;
  TempDir dir;
  dir.Write("performance-config.yaml", "- name: A\n  workloadTemplate: []\n  workloads: []\n");
  selection.root = dir.path();
  const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection);
  ASSERT_EQ(suite.status(), absl::OkStatus());
  SchedulerGates gates;
  gates.dra.emplace();
  const absl::StatusOr<std::unique_ptr<PerfCluster>> made = PerfCluster::Make(suite->spec, gates);
  ASSERT_EQ(made.status(), absl::OkStatus());
  PerfCluster& cluster = **made;
  kube::Node node;
  node.mutable_metadata()->set_name("node-0");
  for (const char* resource : {"cpu", "memory", "pods"}) {
    (*node.mutable_status()->mutable_capacity())[resource] = "100";
    (*node.mutable_status()->mutable_allocatable())[resource] = "100";
  }
  ASSERT_EQ(cluster.AddNode(std::make_shared<const kube::Node>(node)), absl::OkStatus());
  cluster.AddDriver("d", "node-*", 8);
  ASSERT_EQ(cluster.AddDraObject(DraObject("DeviceClass", "c")), absl::OkStatus());
  ASSERT_EQ(cluster.AddDraObject(DraObject("ResourceClaimTemplate", "t")), absl::OkStatus());
  std::vector<JobId> pods;
  for (int i = 0; i < 8; ++i) {
    const absl::StatusOr<JobId> pod = cluster.AddPod(PodOf(absl::StrCat("p-", i)));
    ASSERT_EQ(pod.status(), absl::OkStatus());
    pods.push_back(*pod);
  }
  while (cluster.NextEvent().has_value()) ASSERT_EQ(cluster.HandleEvent(), absl::OkStatus());
  std::set<std::string> devices;
  for (const auto& [key, claim] : cluster.claims()->store().claims()) {
    ASSERT_EQ(claim->status().reserved_for_size(), 1) << key;
    for (const auto& result : claim->status().allocation().devices().results()) {
      EXPECT_TRUE(devices.insert(result.device()).second) << result.device() << " is given twice";
    }
  }
  EXPECT_EQ(devices.size(), 8u);
  EXPECT_EQ(cluster.cluster().CheckInvariants(), absl::OkStatus());

  for (size_t i = 0; i < 5; ++i) cluster.DeletePod(pods[i]);
  EXPECT_EQ(cluster.claims()->store().claims().size(), 3u);
  const absl::StatusOr<JobId> next = cluster.AddPod(PodOf("next"));
  ASSERT_EQ(next.status(), absl::OkStatus());
  EXPECT_EQ(cluster.claims()->store().claims().size(), 4u) << "made with the pod";
  while (cluster.NextEvent().has_value()) ASSERT_EQ(cluster.HandleEvent(), absl::OkStatus());
  EXPECT_TRUE(cluster.IsBound(*next));
  EXPECT_EQ(cluster.cluster().CheckInvariants(), absl::OkStatus());
}

}  // namespace perf_claims_test
}  // namespace drasim::perf
