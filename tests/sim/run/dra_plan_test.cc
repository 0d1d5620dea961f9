// Classic DRA in scenarios: what is refused and how, how demands become claims, and whole runs
// whose figures can be told beforehand.
#include "sim/run/dra_plan.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/dra/classic/claim_explainer.h"
#include "sim/dra/classic/plane_checks.h"
#include "sim/run/dra_outputs.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace dra_plan_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCluster[] =
    "mode: replay\n"
    "cluster:\n"
    "  nodes: 2\n"
    "  node: {cpu: \"16\", memory: 64Gi, gpus: 4, gpu_model: A100-SXM4-40GB}\n";
constexpr char kJob[] =
    "workload:\n"
    "  jobs: [{name: a, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 1h}]\n";

std::string ErrorWith(absl::string_view front_end) {
  return ErrorOf(absl::StrCat(kCluster, kJob, "front_end: {kind: dra-classic", front_end, "}\n"));
}

// A finished run.
std::unique_ptr<Simulation> Ran(const std::string& text) {
  std::unique_ptr<Simulation> sim = Finished(BuildText(text));
  if (sim != nullptr) {
    EXPECT_EQ(CheckControlPlane(*sim->control_plane(), false), absl::OkStatus());
  }
  return sim;
}

std::string Written(const TempDir& dir, absl::string_view text) {
  dir.Write("objects.yaml", text);
  return dir.PathOf("objects.yaml");
}

TEST(DraPlanTest, TheScenarioItselfIsFine) {
  EXPECT_EQ(ErrorWith(""), "");
  EXPECT_EQ(ErrorWith(", dra: {release: \"1.26\", zero_latency: true}"), "");
  EXPECT_EQ(ErrorWith(", dra: {release: \"1.27\", queueing_hints: false}"), "");
  EXPECT_EQ(ErrorWith(", dra: {release: \"1.28\", queueing_hints: true}"), "");
}

// As in 1.28.5 and later.
TEST(DraPlanTest, QueueingHintsAreOffByDefault) {
  for (const char* release : {"1.27", "1.28", "1.29", "1.31"}) {
    const auto ran = Ran(absl::StrCat(
        kCluster, kJob, "front_end: {kind: dra-classic, dra: {release: \"", release, "\"}}\n"));
    ASSERT_NE(ran, nullptr);
    EXPECT_FALSE(ran->control_plane()->claim_names().behaviour.queueing_hints) << release;
  }
}

TEST(DraPlanTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(ErrorWith(", dra: {release: \"1.32\"}"),
            "s.yaml:7:47: front_end.dra.release: unknown Kubernetes release '1.32'; known: 1.26, "
            "1.27, 1.28, 1.29, 1.30, 1.31");
  EXPECT_THAT(ErrorWith(", dra: {release: \"1.27\", queueing_hints: true}"),
              HasSubstr("front_end.dra.queueing_hints: found 'true', expected false with the "
                        "release 1.27: hints came with 1.28"));
  EXPECT_THAT(ErrorWith(", dra: {allocation_mode: immediate}"),
              HasSubstr("front_end.dra.allocation_mode: found 'immediate', expected "
                        "WaitForFirstConsumer or Immediate"));
  // The driver is NVIDIA's unless the scenario names another.
  EXPECT_THAT(ErrorWith(", dra: {allocation_mode: Immediate}"),
              HasSubstr("front_end.dra.allocation_mode: found 'Immediate', expected "
                        "WaitForFirstConsumer with drivers[0].kind: nvidia, whose controller "
                        "refuses Immediate claims (immediate allocation is not supported); "
                        "the kinds example, intel, constraints, counting allocate them"));
  EXPECT_EQ(ErrorWith(", dra: {allocation_mode: Immediate, drivers: [{kind: intel}]}"), "");
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: nvida}]}"),
              HasSubstr("front_end.dra.drivers[0].kind: found 'nvida', expected one of nvidia, "));
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: nvidia, placement: fist-fit}]}"),
              HasSubstr("front_end.dra.drivers[0].placement: found 'fist-fit', expected one of "));
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: nvidia, units: 3}]}"),
              HasSubstr("front_end.dra.drivers[0].units: found '3', expected none"));
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: counting}]}"),
              HasSubstr("front_end.dra.drivers[0].name: found '', expected the driver's name"));
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: nvidia}, {kind: nvidia}]}"),
              HasSubstr("front_end.dra.drivers[1].name: found 'gpu.resource.nvidia.com', expected "
                        "a name of its own"));
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: nvidia, nodes: gpu-*}]}"),
              HasSubstr("front_end.dra.drivers[0].nodes: found 'gpu-*', which matches no node"));
  EXPECT_THAT(ErrorWith(", dra: {scheduler: {write_latency: soon}}"),
              HasSubstr("front_end.dra.scheduler.write_latency: "));
  EXPECT_THAT(ErrorWith(", dra: {scheduler: {qps: -1}}"),
              HasSubstr("front_end.dra.scheduler.qps: found '-1', expected 0 (no limit)"));
  EXPECT_THAT(ErrorWith(", dra: {faults: [{at: 1s, action: explode}]}"),
              HasSubstr("front_end.dra.faults[0].action: found 'explode', expected one of"));
  EXPECT_THAT(ErrorWith(", dra: {faults: [{at: 1s, action: restart, component: nobody}]}"),
              HasSubstr("front_end.dra.faults[0].component: found 'nobody', expected scheduler"));
  EXPECT_THAT(ErrorWith(", dra: {prepare: fast}"), HasSubstr("front_end.dra.prepare: "));
  EXPECT_THAT(ErrorWith(", lowering: {rule: time-sliced}"),
              HasSubstr("front_end.lowering.rule: found 'time-sliced', expected none, whole-gpu"));
  EXPECT_THAT(ErrorWith(", device_plugin: {mig_strategy: mixed}"),
              HasSubstr("front_end.device_plugin: expected none"));
}

// Keys that mean nothing for the kind of a driver, or for the action of a fault, say where they
// are.
TEST(DraPlanTest, KeysThatMeanNothing) {
  for (const auto& [input, expected] : TestRows<2>("KeysThatMeanNothing")) {
    EXPECT_EQ(ErrorWith(input), expected) << input;
  }
  const std::string counting = ", dra: {drivers: [{kind: counting, name: d, class: c, ";
  EXPECT_EQ(ErrorWith(absl::StrCat(counting, "placement: best-fit}]}")),
            "s.yaml:7:95: front_end.dra.drivers[0].placement: found 'best-fit', expected none: the "
            "kind counting has no GPUs");
  EXPECT_EQ(ErrorWith(absl::StrCat(counting, "gpus: packed}]}")),
            "s.yaml:7:90: front_end.dra.drivers[0].gpus: found 'packed', expected none: the kind "
            "counting has no GPUs");
  EXPECT_EQ(ErrorWith(", dra: {drivers: [{kind: constraints, placement: best-fit, "
                      "destroy_instance: 1s}]}"),
            "");
}

TEST(DraPlanTest, NeedsTheKubernetesQueueInTime) {
  const std::string front_end = "front_end: {kind: dra-classic}\n";
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, kJob, front_end, "scheduler: {queue: fifo}\n")),
              HasSubstr("scheduler.queue: found 'fifo', expected kubernetes"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, kJob, front_end,
                                   "scheduler: {kubernetes: {pop_from_backoff: true}}\n")),
              HasSubstr("scheduler.kubernetes.pop_from_backoff: expected false"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, kJob, front_end, "timing: {bind: 1s}\n")),
              HasSubstr("timing.bind: expected none"));
  EXPECT_THAT(ErrorOf("front_end: {kind: dra-classic}\n"),
              HasSubstr("mode: found 'fill', expected replay"));
}

TEST(DraPlanTest, ClaimsNeedSomebodyWhoServesThem) {
  const std::string jobs =
      "workload:\n"
      "  jobs: [{name: a, cpu: \"1\", memory: 1Gi, claims: [{name: gpu, claim: c}]}]\n";
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, jobs)),
              HasSubstr("workload.jobs.0.claims: expected none without front_end.kind: "));
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, kJob, "front_end: {dra: {release: \"1.29\"}}\n")),
              HasSubstr("front_end.dra: expected none without front_end.kind: dra-classic"));
}

TEST(DraPlanTest, EntriesOfJobsAreChecked) {
  const auto error = [](absl::string_view claims, absl::string_view more = "") {
    return ErrorOf(absl::StrCat(kCluster, "workload:\n  jobs: [{name: a, cpu: \"1\", claims: [",
                                claims, "]", more, "}]\nfront_end: {kind: dra-classic}\n"));
  };
  EXPECT_EQ(error("{name: g, claim: c}, {name: h, template: t}"), "");
  EXPECT_THAT(error("{claim: c}"), HasSubstr("workload.jobs.0.claims.0.name: found none"));
  EXPECT_THAT(error("{name: g}"), HasSubstr("claims.0: found neither claim nor template"));
  EXPECT_THAT(error("{name: g, claim: c, template: t}"), HasSubstr("claims.0: found both"));
  EXPECT_THAT(error("{name: g, claim: c}, {name: g, claim: d}"),
              HasSubstr("claims.1.name: found 'g' a second time"));
  EXPECT_THAT(error("{name: g, claim: c}", ", gpus: 1"),
              HasSubstr("workload.jobs.0.claims: found gpus, too"));
}

TEST(DraPlanTest, SharesNeedARule) {
  const std::string job =
      "workload:\n  jobs: [{name: a, cpu: \"1\", gpus: 1, gpu_milli: 300, run_time: 1m}]\n";
  const std::string front_end = "front_end: {kind: dra-classic, dra: {drivers: [{kind: ";
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, job, front_end, "nvidia}]}}\n")),
              HasSubstr("a pod wants 300 thousandths of a GPU, which the driver kind nvidia does "
                        "not hand out"));
  EXPECT_EQ(ErrorOf(absl::StrCat(kCluster, job, front_end, "intel}]}}\n")), "");
}

TEST(DraPlanTest, WholeGpusAndInstancesBecomeClaims) {
  DraSpec spec;
  spec.drivers.emplace_back();
  DraPlan plan(&spec);
  PodShape request;
  request.request.cpu_milli = 1000;
  request.request.gpu_count = 2;
  request.request.gpu_milli = 1000;
  const absl::StatusOr<PodShape> whole = plan.ToClaims(request);
  ASSERT_EQ(whole.status(), absl::OkStatus());
  EXPECT_EQ(whole->request.gpu_count, 0);
  EXPECT_EQ(whole->request.total_gpu_milli(), 2000);
  EXPECT_EQ(whole->wanted_gpus(), 2);
  ASSERT_EQ(whole->claims.size(), 1u);
  EXPECT_EQ(whole->claims[0].from_template, "gpus-2");
  EXPECT_EQ(whole->claims[0].gpus, 2);

  PodShape instances;
  instances.request.mig = {{"1g.5gb", 2}};
  instances.request.nominal_milli = 250;
  const absl::StatusOr<PodShape> cut = plan.ToClaims(instances);
  ASSERT_EQ(cut.status(), absl::OkStatus());
  EXPECT_TRUE(cut->request.mig.empty());
  EXPECT_EQ(cut->request.total_gpu_milli(), 250);
  ASSERT_EQ(cut->claims.size(), 2u);
  EXPECT_NE(cut->claims[0].name, cut->claims[1].name);
  EXPECT_EQ(cut->claims[1].from_template, "mig-1g.5gb");

  const PodShape none;
  EXPECT_TRUE(plan.ToClaims(none)->claims.empty());
}

// NVIDIA's driver reads the object of each potential node; it reads and writes one to allocate, and
// one to free.
TEST(DraPlanTest, NvidiasDriverKeepsAnObjectPerNode) {
  const auto calls = [](absl::string_view node_objects) {
    const auto sim = Ran(absl::StrCat(kCluster, kJob,
                                      "front_end: {kind: dra-classic, dra: {zero_latency: true, "
                                      "drivers: [{kind: nvidia",
                                      node_objects, "}]}}\n"));
    return sim == nullptr ? DraCalls() : DraCallsOf(*sim);
  };
  const DraCalls with = calls("");
  const DraCalls without = calls(", node_objects: false");
  EXPECT_EQ(with.writes, without.writes + 2);
  EXPECT_EQ(with.reads, without.reads + 4);
  EXPECT_EQ(with.refused, 0u);
  EXPECT_THAT(ErrorWith(", dra: {drivers: [{kind: intel, node_objects: true}]}"),
              HasSubstr("front_end.dra.drivers[0].node_objects: found 'true', expected false"));
}

// 64 nodes at 5 QPS, burst 10: about 12 s, in which the pod waits.
TEST(DraPlanTest, ProbingManyNodesTakesTheDriversQps) {
  const auto start = [](absl::string_view node_objects) {
    const auto sim = Ran(absl::StrCat(
        "mode: replay\n"
        "cluster: {nodes: 64, node: {cpu: \"16\", memory: 64Gi, gpus: 4, gpu_model: T4}}\n",
        kJob,
        "front_end: {kind: dra-classic, dra: {zero_latency: true, driver_controllers: {qps: 5, "
        "burst: 10}, drivers: [{kind: nvidia",
        node_objects, "}]}}\n"));
    return sim == nullptr ? SimTime() : sim->jobs().row(JobId(size_t{0})).first_start;
  };
  EXPECT_GE(start(""), SimTime() + SimDuration::Seconds(11));
  EXPECT_LE(start(""), SimTime() + SimDuration::Seconds(14));
  EXPECT_LE(start(", node_objects: false"), SimTime() + SimDuration::Seconds(1));
}

// Without latencies: 13 writes and 3 GETs (strict_upstream; docs/fidelity.md) for a pod, and the
// kubelet's report of the start. The driver writes no objects of its own.
TEST(DraPlanTest, OnePodCostsWhatTheSequenceSays) {
  const auto sim = Ran(absl::StrCat(kCluster, kJob,
                                    "front_end: {kind: dra-classic, dra: {zero_latency: true, "
                                    "drivers: [{kind: nvidia, node_objects: false}]}}\n"));
  ASSERT_NE(sim, nullptr);
  const DraCalls calls = DraCallsOf(*sim);
  EXPECT_EQ(calls.cycles, 2u);
  EXPECT_EQ(calls.writes, 14u);  // the start's report is one of them
  EXPECT_EQ(calls.refused, 0u);
  EXPECT_EQ(sim->metrics().sample().pods_finished, 1);
}

// The first holds the GPU of the claim; when it ends, the second does.
TEST(DraPlanTest, ASharedClaimIsChargedToOneOfItsPods) {
  TempDir dir;
  const std::string objects = Written(dir, TestText("ASharedClaimIsChargedToOneOfItsPods"));
  const auto sim = Ran(
      absl::StrCat(kCluster, TestLines("ASharedClaimIsChargedToOneOfItsPods.2"), objects, "]}\n"));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->metrics().sample().pods_finished, 2);
  // One GPU for 20 s.
  EXPECT_EQ(sim->utilisation().Integral(Level::kGpuAllocatedMilli),
            absl::uint128(20) * 1'000'000'000 * 1000);
}

TEST(DraPlanTest, PodsOfOtherNamespacesFindTheirObjects) {
  TempDir dir;
  const std::string manifest = Written(dir, TestText("PodsOfOtherNamespacesFindTheirObjects"));
  const auto sim = Ran(absl::StrCat(kCluster, "workload: {manifests: [", manifest,
                                    "]}\nfront_end: {kind: dra-classic}\n"));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->metrics().sample().pods_finished, 1);
}

// A claim that no driver serves stays pending, and the reason says what is missing.
TEST(DraPlanTest, WhatCannotBeServedStaysPendingAndIsExplained) {
  struct Case {
    const char* objects;
    const char* claim;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"", "template: absent",
       "ResourceClaimTemplate default/absent does not exist; the claim controller waits for it"},
      {"", "claim: absent", "ResourceClaim default/absent does not exist"},
      {"kind: ResourceClaim\nmetadata: {name: c}\nspec: {resourceClassName: other.com}\n",
       "claim: c", "its ResourceClass 'other.com' does not exist"},
      {"kind: ResourceClass\nmetadata: {name: other.com}\ndriverName: nobody.com\n---\n"
       "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: c}\n"
       "spec: {resourceClassName: other.com}\n",
       "claim: c", "no driver 'nobody.com' runs, which its class 'other.com' names"},
      {"kind: ResourceClaim\nmetadata: {name: c}\nspec: {resourceClassName: gpu.nvidia.com, "
       "parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: p}}\n",
       "claim: c", "its parameters GpuClaimParameters default/p do not exist"},
  };
  for (const Case& c : cases) {
    TempDir dir;
    const std::string file =
        Written(dir, absl::StrCat(*c.objects == '\0'
                                      ? "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"
                                      : "apiVersion: resource.k8s.io/v1alpha2\n",
                                  c.objects));
    const auto sim = Ran(absl::StrCat(
        kCluster, "workload:\n  jobs: [{name: a, cpu: \"1\", run_time: 1m, claims: [{name: gpu, ",
        c.claim, "}]}]\nfront_end: {kind: dra-classic, dra: {objects: [", file, "]}}\n"));
    ASSERT_NE(sim, nullptr);
    EXPECT_EQ(sim->metrics().sample().pods_scheduled, 0) << c.reason;
    EXPECT_THAT(ClaimExplainer(sim->control_plane()).ExplainPod(PodId(size_t{0})),
                ElementsAre(HasSubstr(c.reason)));
  }
}

// Three of four pods get their claims; after the timeout they give them back for others.
TEST(DraPlanTest, AGangThatIsNotCompleteGivesItsClaimsBack) {
  const auto sim =
      Ran(absl::StrCat(kCluster, TestText("AGangThatIsNotCompleteGivesItsClaimsBack")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->metrics().sample().pods_finished, 6);
  const JobTable& jobs = sim->jobs();
  // The small job waits for the gang's timeout; the gang for the first job's end.
  EXPECT_GE(jobs.row(JobId(size_t{2})).first_start, SimTime() + SimDuration::Seconds(600));
  EXPECT_LE(jobs.row(JobId(size_t{2})).first_start, SimTime() + SimDuration::Seconds(1300));
  EXPECT_GE(jobs.row(JobId(size_t{1})).first_start, SimTime() + SimDuration::Seconds(7200));
}

// A gang is refused as a whole, so places that the driver keeps for some of its pods are never
// used, and never free again.
TEST(DraPlanTest, PlacesThatAreKeptForAGangAreLost) {
  const auto finished = [](absl::string_view drivers) {
    const auto sim =
        Ran(absl::StrCat(kCluster, TestLines("PlacesThatAreKeptForAGangAreLost"), drivers, "}}\n"));
    return sim == nullptr ? -1 : sim->metrics().sample().pods_finished;
  };
  EXPECT_EQ(finished(""), 5);
  EXPECT_EQ(finished(", drivers: [{kind: nvidia, node_objects: true}]"), 1);
}

TEST(DraPlanTest, NvidiasDriverRefusesImmediateClaims) {
  TempDir dir;
  const std::string objects =
      Written(dir,
              "{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaim, metadata: {name: c},\n"
              " spec: {resourceClassName: gpu.nvidia.com, allocationMode: Immediate}}\n");
  const auto sim = Ran(absl::StrCat(kCluster,
                                    "workload:\n  jobs: [{name: a, cpu: \"1\", run_time: 1m, "
                                    "claims: [{name: gpu, claim: c}]}]\n"
                                    "front_end: {kind: dra-classic, dra: {objects: [",
                                    objects, "]}}\n"));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(sim->warnings(),
              Contains("ResourceClaim default/c: its allocationMode is Immediate, which the driver "
                       "kind nvidia refuses (immediate allocation is not supported); pods "
                       "with it will wait"));
  EXPECT_EQ(sim->metrics().sample().pods_finished, 0);
  EXPECT_THAT(ClaimExplainer(sim->control_plane()).ExplainPod(PodId(size_t{0})),
              ElementsAre("claim entry 'gpu': ResourceClaim default/c is unallocated (Immediate), "
                          "and driver gpu.resource.nvidia.com refuses it: immediate "
                          "allocation is not supported"));
}

TEST(DraPlanTest, WarnsOfWhatNobodyWillServe) {
  TempDir dir;
  const std::string objects = Written(dir, TestText("WarnsOfWhatNobodyWillServe"));
  const auto warnings = [&](absl::string_view claims) {
    const auto built = BuildText(
        absl::StrCat(kCluster, "workload:\n  jobs: [{name: a, cpu: \"1\", claims: [", claims,
                     "]}]\nfront_end: {kind: dra-classic, dra: {objects: [", objects, "]}}\n"));
    EXPECT_EQ(built.status(), absl::OkStatus());
    return built.ok() ? (*built)->warnings() : std::vector<std::string>();
  };
  EXPECT_THAT(
      warnings("{name: a, claim: c}, {name: b, claim: d}, {name: c, template: t}, "
               "{name: d, template: nope}"),
      ElementsAre(
          "ResourceClaim default/c: its class 'gone' does not exist; pods with it will wait",
          "ResourceClaim default/d: 'nobody.com', the driver of its class 'x', is not among "
          "front_end.dra.drivers; pods with it will wait",
          "ResourceClaimTemplate default/t: its parameters GpuClaimParameters default/nix do not "
          "exist; pods with it will wait",
          "ResourceClaimTemplate 'nope' does not exist; pods that name it will wait"));
  const std::vector<std::string> many = warnings(
      "{name: a, claim: a}, {name: b, claim: b}, {name: c, claim: e}, {name: d, claim: f}, "
      "{name: e, claim: g}, {name: f, claim: h}, {name: g, claim: i}");
  ASSERT_EQ(many.size(), 6u);
  EXPECT_EQ(many.back(), "2 more claims or templates that nobody will serve");
}

// --- Resources of the device plugin, without one -------------------------------------------------

std::string AskingFor(absl::string_view what) {
  return absl::StrCat("workload:\n  jobs: [{name: a, cpu: \"1\", run_time: 1m, ", what, "}]\n");
}

// The request of the one job after lowering.
PodShape ShapeOf(const std::string& front_end, absl::string_view what) {
  const auto built = BuildText(absl::StrCat(kCluster, AskingFor(what), front_end));
  EXPECT_EQ(built.status(), absl::OkStatus());
  if (!built.ok() || (*built)->Start() != absl::OkStatus()) return PodShape();
  EXPECT_EQ((*built)->Run(), absl::OkStatus());
  return (*built)->cluster().pod_shape(PodId(size_t{0}));
}

TEST(PluginResourcesTest, BecomeClaims) {
  const std::string dra = "front_end: {kind: dra-classic, dra: {zero_latency: true}}\n";
  const PodShape two = ShapeOf(dra, "extended: [{resource: nvidia.com/gpu, amount: \"2\"}]");
  EXPECT_TRUE(two.request.extended.empty());
  ASSERT_EQ(two.claims.size(), 1u);
  EXPECT_EQ(two.claims[0].name, "gpu");
  EXPECT_EQ(two.claims[0].from_template, "gpus-2");
  EXPECT_EQ(two.request.total_gpu_milli(), 2000);
  // By container: the init container's three are used again by the other two.
  const PodShape by_container =
      ShapeOf(dra, "containers: [{init: true, gpus: 3}, {gpus: 1}, {gpus: 1}]");
  EXPECT_TRUE(by_container.device_plugin.containers.empty());
  ASSERT_EQ(by_container.claims.size(), 1u);
  EXPECT_EQ(by_container.claims[0].gpus, 3);
  const PodShape instances =
      ShapeOf(dra, "extended: [{resource: nvidia.com/mig-1g.5gb, amount: \"2\"}]");
  ASSERT_EQ(instances.claims.size(), 2u);
  EXPECT_EQ(instances.claims[0].mig_profile, "1g.5gb");
  EXPECT_EQ(instances.request.total_gpu_milli(), 250);
  // Beside a claim of the pod's own with that name.
  const PodShape both = ShapeOf(dra,
                                "claims: [{name: gpu, template: t}], "
                                "extended: [{resource: nvidia.com/gpu, amount: \"1\"}]");
  ASSERT_EQ(both.claims.size(), 2u);
  EXPECT_EQ(both.claims[1].name, "gpu-2");
}

TEST(PluginResourcesTest, BecomeDevicesInTheDirectFrontEnd) {
  const PodShape whole = ShapeOf("", "extended: [{resource: nvidia.com/gpu, amount: \"2\"}]");
  EXPECT_TRUE(whole.request.extended.empty());
  EXPECT_EQ(whole.request.gpu_count, 2);
  EXPECT_EQ(whole.request.gpu_milli, 1000);
  const std::string shared = "extended: [{resource: nvidia.com/gpu.shared, amount: \"1\"}]";
  const PodShape share = ShapeOf("front_end: {lowering: {shared_replicas: 4}}\n", shared);
  EXPECT_EQ(share.request.gpu_count, 1);
  EXPECT_EQ(share.request.gpu_milli, 250);
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, AskingFor(shared))),
              HasSubstr("job 'a': a pod asks for nvidia.com/gpu.shared, a replica of a shared GPU, "
                        "expected front_end.lowering.shared_replicas"));
  EXPECT_THAT(
      ErrorOf(
          absl::StrCat(kCluster, AskingFor("extended: [{resource: nvidia.com/mig-1g.5gb, amount: "
                                           "\"1\"}]"))),
      HasSubstr("job 'a': a pod asks for nvidia.com/mig-1g.5gb, expected GPUs that this front end "
                "partitions"));
}

TEST(PluginResourcesTest, AWorldWithoutTheResourceIsRefused) {
  const std::string foo = AskingFor("extended: [{resource: example.com/foo, amount: \"1\"}]");
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, foo, "front_end: {kind: dra-classic}\n")),
              HasSubstr("job 'a': a pod asks for example.com/foo, which no node has and no driver "
                        "of front_end.dra.drivers serves"));
  // Elsewhere it is a pod that no scheduler can place, and the reason has the name.
  for (const char* front_end : {"", "front_end: {kind: device-plugin}\n"}) {
    const auto built = BuildText(absl::StrCat(kCluster, foo, front_end));
    ASSERT_EQ(built.status(), absl::OkStatus());
    ASSERT_EQ((*built)->Start(), absl::OkStatus());
    ASSERT_EQ((*built)->Run(), absl::OkStatus());
    ASSERT_EQ((*built)->summaries().size(), 1u);
    EXPECT_EQ((*built)->summaries().Text(SummaryId(size_t{0})),
              "0/2 nodes are available: 2 Insufficient example.com/foo.");
    EXPECT_THAT((*built)->unreported_resources(), ElementsAre("example.com/foo"));
  }
}

// Templates are there for pods of every namespace.
TEST(PluginResourcesTest, InNamespacesOfPods) {
  const auto sim = Ran(absl::StrCat(kCluster,
                                    "workload:\n  jobs: [{name: ml/a, cpu: \"1\", run_time: 1m, "
                                    "extended: [{resource: nvidia.com/gpu, amount: \"1\"}]}]\n",
                                    "front_end: {kind: dra-classic, dra: {zero_latency: true}}\n"));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->metrics().sample().pods_finished, 1);
}

// --- Pods that are kept pending ------------------------------------------------------------------

// Their reason is recorded, they hold up no other job, and the run ends.
TEST(PendingPodsTest, WaitForEverInEveryQueue) {
  const std::string jobs =
      "workload:\n  jobs:\n"
      "    - {name: held, cpu: \"1\", run_time: 1m, pending: schedulerName}\n"
      "    - {name: next, cpu: \"1\", run_time: 1m}\n";
  for (const char* more : {"scheduler: {queue: fifo}\n", "scheduler: {queue: kubernetes}\n",
                           "front_end: {kind: dra-classic}\n"}) {
    const auto built = BuildText(absl::StrCat(kCluster, jobs, more));
    ASSERT_EQ(built.status(), absl::OkStatus()) << more;
    Simulation& sim = **built;
    ASSERT_EQ(sim.Start(), absl::OkStatus());
    ASSERT_EQ(sim.Run(), absl::OkStatus());
    EXPECT_EQ(sim.metrics().sample().pods_finished, 1) << more;
    EXPECT_EQ(sim.metrics().sample().pods_dropped, 0) << more;
    EXPECT_EQ(sim.engine().pods_waiting(), 1u) << more;
    EXPECT_EQ(sim.cluster().pod_phase(PodId(size_t{0})), PodPhase::kPending) << more;
    ASSERT_EQ(sim.summaries().size(), 1u) << more;
    EXPECT_EQ(sim.summaries().Text(SummaryId(size_t{0})),
              "0/2 nodes are available: 2 pod is kept pending: it is for another scheduler.")
        << more;
  }
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, AskingFor("pending: gates"))),
              HasSubstr("workload.jobs.0.pending: found 'gates', expected one of schedulingGates, "
                        "schedulerName, volumes, hostPort"));
}

TEST(PendingPodsTest, RequiredNodeAffinityDecidesInARun) {
  const PodShape shape = ShapeOf(
      "",
      "node_affinity: {node_selector_terms: [{match_fields: [{key: metadata.name, operator: In, "
      "values: [nowhere]}]}]}");
  EXPECT_EQ(NodeTermsText(shape.constraints.node_terms), "metadata.name In [nowhere]");
  EXPECT_THAT(
      ErrorOf(absl::StrCat(kCluster,
                           AskingFor("node_affinity: {node_selector_terms: [{match_expressions: "
                                     "[{key: a, operator: Is}]}]}"))),
      HasSubstr("workload.jobs.0.node_affinity: found the operator 'Is', expected one of In, "
                "NotIn, Exists, DoesNotExist, Gt, Lt"));
}

}  // namespace dra_plan_test
}  // namespace drasim
