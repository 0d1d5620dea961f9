// Structured DRA in whole runs: pods with claims are allocated, bound, run, and release their
// claims; and what the scenario may not say.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/claim_change.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/record.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/classic/claim_explainer.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace structured_dra_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

class StructuredDraTest : public ::testing::Test {
 protected:
  StructuredDraTest() { dir_.Write("objects.yaml", TestText("Objects")); }

  // Two nodes; `more` of front_end.structured.
  std::string Scenario(absl::string_view jobs, absl::string_view more = "zero_latency: true") {
    return absl::StrCat(
        "mode: replay\n"
        "order: trace\n"
        "cluster: {nodes: 2, node: {cpu: \"16\", memory: 64Gi}}\n"
        "scheduler: {policy: least-allocated}\n"
        "front_end:\n"
        "  kind: dra-structured\n"
        "  structured: {slices: [",
        dir_.PathOf("objects.yaml"), "], ", more, "}\nworkload:\n  jobs:\n", jobs);
  }

  // "a node-000001 1200-1800": where and when the jobs of the run ran, in seconds.
  static std::vector<std::string> Runs(const Simulation& sim) {
    std::vector<std::string> runs;
    for (size_t j = 0; j < sim.jobs().size(); ++j) {
      const JobRow& row = sim.jobs().row(JobId(j));
      const bool ended = row.state == JobState::kSucceeded;
      runs.push_back(absl::StrCat(sim.cluster().pod_name(row.first_pod), " ",
                                  row.started_once ? row.first_start.ns() / kSecondNs : -1, "-",
                                  ended ? row.ended.ns() / kSecondNs : -1));
    }
    return runs;
  }

  static std::vector<std::string> ClaimsLeft(const Simulation& sim) {
    std::vector<std::string> claims;
    const ObjectCache& objects = sim.control_plane()->network().server().objects();
    for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
      claims.emplace_back(claim->meta.name.text());
    }
    return claims;
  }

  TempDir dir_;
};

std::string JobText(absl::string_view name, absl::string_view claim, absl::string_view run_time,
                    absl::string_view arrival = "0s") {
  return absl::StrCat("    - {name: ", name, ", cpu: \"1\", memory: 1Gi, run_time: ", run_time,
                      ", arrival: ", arrival, ", claims: [{name: gpu, ", claim, "}]}\n");
}

// Four devices for five pods: the last one starts when the first has ended.
TEST_F(StructuredDraTest, AWaitingPodGetsTheDevicesOfOneThatEnds) {
  const auto sim = Finished(BuildText(Scenario(absl::StrCat(
      JobText("a", "template: one-gpu", "10m"), JobText("b", "template: one-gpu", "20m"),
      JobText("c", "template: one-gpu", "30m"), JobText("d", "template: one-gpu", "40m"),
      JobText("e", "template: one-gpu", "5m", "1s")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600", "b 0-1200", "c 0-1800", "d 0-2400", "e 600-900"));
  EXPECT_THAT(ClaimsLeft(*sim), ElementsAre("shared"));  // of no pod
}

// Only the second node has devices of 80Gi.
TEST_F(StructuredDraTest, ASelectorChoosesTheNode) {
  const auto sim = Finished(BuildText(Scenario(absl::StrCat(
      JobText("a", "template: large-gpu", "10m"), JobText("b", "template: large-gpu", "10m"),
      JobText("c", "template: large-gpu", "10m")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600", "b 0-600", "c 600-1200"));
}

// Two small requests leave the GPUs of 80Gi to the two that need them.
TEST_F(StructuredDraTest, APolicyChoosesTheNode) {
  const std::string jobs = absl::StrCat(JobText("a", "template: one-gpu", "10m"),
                                        JobText("b", "template: one-gpu", "10m", "1s"),
                                        JobText("c", "template: large-gpu", "10m", "2s"),
                                        JobText("d", "template: large-gpu", "10m", "3s"));
  const auto runs = [&](absl::string_view policy) {
    const auto sim =
        Finished(BuildText(Scenario(jobs, absl::StrCat("zero_latency: true, ", policy))));
    return sim == nullptr ? std::vector<std::string>() : Runs(*sim);
  };
  const std::vector<std::string> waits = {"a 0-600", "b 1-601", "c 2-602", "d 601-1201"};
  EXPECT_EQ(runs("policy: first-fit"), waits);
  EXPECT_EQ(runs("policy: best-fit, policy_weight: 0"), waits);
  EXPECT_THAT(runs("policy: best-fit"), ElementsAre("a 0-600", "b 1-601", "c 2-602", "d 3-603"));
}

TEST_F(StructuredDraTest, ChoicesOfAPolicyAreCounted) {
  const std::string jobs = absl::StrCat(JobText("a", "template: one-gpu", "10m"),
                                        JobText("b", "template: large-gpu", "10m", "1s"));
  const auto plain = Finished(BuildText(Scenario(jobs)));
  ASSERT_NE(plain, nullptr);
  EXPECT_FALSE(plain->control_plane()->scheduler().policy_counts().has_value());
  const auto sim = Finished(BuildText(Scenario(jobs, "zero_latency: true, policy: best-fit")));
  ASSERT_NE(sim, nullptr);
  const auto counts = sim->control_plane()->scheduler().policy_counts();
  ASSERT_TRUE(counts.has_value());
  // Ranks of two nodes for the first pod, then the devices of each pod's node, and the rank of the
  // second one's. Two equal GPUs are one solution, since the second costs no less.
  EXPECT_EQ(counts->choices, 4);
  EXPECT_EQ(counts->solutions, 4);
  EXPECT_EQ(counts->steps, 8);
  EXPECT_EQ(counts->exhausted, 0);
  const auto short_of =
      Finished(BuildText(Scenario(jobs, "zero_latency: true, policy: best-fit, policy_budget: 1")));
  ASSERT_NE(short_of, nullptr);
  EXPECT_EQ(short_of->control_plane()->scheduler().policy_counts()->exhausted, 4);
}

TEST_F(StructuredDraTest, APodWithoutSuitableDevicesWaitsForAnExplainedReason) {
  const auto sim = Finished(BuildText(Scenario(JobText("a", "template: huge-gpu", "10m"))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a -1--1"));
  EXPECT_THAT(ClaimExplainer(sim->control_plane()).ExplainPod(PodId(size_t{0})),
              ElementsAre(HasSubstr("no node that suits the pod has free devices for it")));
}

// Keeps what the ledger would write of allocations.
class AllocationSink : public RecordSink {
 public:
  void OnRecord(const Record&, const ClusterState&) override {}
  bool wants_claim_changes() const override { return true; }
  void OnClaimChange(const ClaimChange& change) override {
    if (change.kind == ClaimChangeKind::kCreated) created.push_back(change.identity);
    if (change.kind == ClaimChangeKind::kAllocated) devices.push_back(change.devices);
  }
  std::vector<ClaimIdentity> created;
  std::vector<std::vector<ClaimDevice>> devices;
};

TEST_F(StructuredDraTest, SinksAreToldTheDevicesOfClaims) {
  auto built = BuildText(Scenario(JobText("a", "template: large-gpu", "10m")));
  ASSERT_EQ(built.status(), absl::OkStatus());
  AllocationSink sink;
  (*built)->AddSink(&sink);
  ASSERT_NE(Finished(std::move(built)), nullptr);
  ASSERT_EQ(sink.created.size(), 2U);  // "shared", then that of the pod
  EXPECT_EQ(sink.created[1].mode, ClaimMode::kStructured);
  EXPECT_EQ(sink.created[1].pod, "a");
  EXPECT_EQ(sink.created[1].class_name, "gpu.example.com");
  ASSERT_EQ(sink.devices.size(), 1U);
  ASSERT_EQ(sink.devices[0].size(), 1U);
  const ClaimDevice& device = sink.devices[0][0];
  EXPECT_EQ(device.request, "gpu");
  EXPECT_EQ(device.driver, "gpu.example.com");
  EXPECT_FALSE(device.slice.empty());
  EXPECT_THAT(device.facts,
              ::testing::Contains(DeviceFact{DeviceFactKind::kCapacity, "memory", "80Gi"}));
}

// A claim of a user serves several pods at once, on the node of its devices, and stays when they
// are gone: deallocated and without a finalizer.
TEST_F(StructuredDraTest, PodsShareAClaim) {
  const auto sim = Finished(BuildText(Scenario(absl::StrCat(
      JobText("a", "claim: shared", "10m"), JobText("b", "claim: shared", "20m", "5s")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600", "b 5-1205"));
  const ObjectCache& objects = sim->control_plane()->network().server().objects();
  const auto claims = objects.of<ResourceClaim>().Sorted();
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0]->status.allocation, nullptr);
  EXPECT_THAT(claims[0]->meta.finalizers, IsEmpty());
  EXPECT_THAT(claims[0]->status.reserved_for, IsEmpty());
}

// Two writes of the scheduler for a new claim, and the binding.
TEST_F(StructuredDraTest, CallsOfTheSchedulerTakeTime) {
  const auto sim =
      Finished(BuildText(Scenario(JobText("a", "template: one-gpu", "10m"),
                                  "zero_latency: true, scheduler: {write_latency: constant(2)}")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 6-606"));
}

TEST_F(StructuredDraTest, KubeletsPrepareClaims) {
  const auto sim = Finished(BuildText(Scenario(JobText("a", "template: one-gpu", "10m"),
                                               "zero_latency: true, prepare: 3s, unprepare: 4s")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-607"));
}

// A kubelet tries again after 60 to 90 s; pods on the other node start at once.
TEST_F(StructuredDraTest, PluginsFail) {
  const std::string jobs = absl::StrCat(JobText("a", "template: large-gpu", "10m"),
                                        JobText("b", "template: large-gpu", "10m", "5s"),
                                        JobText("c", "template: one-gpu", "10m", "7s"));
  const auto starts = [&](absl::string_view fault) {
    const auto sim = Finished(BuildText(
        Scenario(jobs, absl::StrCat("zero_latency: true, prepare: 2s, faults: [{", fault, "}]"))));
    std::vector<int64_t> seconds;
    for (size_t j = 0; sim != nullptr && j < sim->jobs().size(); ++j) {
      const JobRow& row = sim->jobs().row(JobId(j));
      // A pod counts as started from its binding on; it works for 10 minutes.
      seconds.push_back(row.ended.ns() / kSecondNs - 600);
    }
    return seconds;
  };
  const auto retried = AllOf(Ge(64), Le(94));
  // The call of `a` is under way, that of `b` finds nobody, `c` is on the other node.
  EXPECT_THAT(starts("action: plugin-down, component: gpu.example.com, nodes: \"*1\", at: 1s, "
                     "duration: 10s"),
              ElementsAre(retried, AllOf(Ge(67), Le(97)), 9));
  // As before, but the second attempts fail as well.
  EXPECT_THAT(
      starts("action: plugin-down, component: gpu.example.com, at: 1s, duration: 100s"),
      ElementsAre(AllOf(Ge(124), Le(184)), AllOf(Ge(127), Le(187)), AllOf(Ge(129), Le(189))));
  EXPECT_THAT(starts("action: fail-prepare, component: gpu.example.com"),
              ElementsAre(retried, 7, 9));
  EXPECT_THAT(starts("action: fail-prepare, component: gpu.example.com, count: 2"),
              ElementsAre(retried, AllOf(Ge(69), Le(99)), 9));
  // The kubelets' process: nothing starts until it is back, and calls are made again.
  EXPECT_THAT(starts("action: restart, component: kubelet, at: 1s, duration: 30s"),
              ElementsAre(33, 33, 33));
  EXPECT_THAT(starts("action: restart, component: scheduler, at: 1s, duration: 30s"),
              ElementsAre(2, 33, 33));
}

// No driver sets the condition, so that PreBind fails at the deadline, again and again; the devices
// are given back in between.
TEST_F(StructuredDraTest, BindingConditionsTimeOut) {
  const auto sim =
      Finished(BuildText(Scenario(absl::StrCat(JobText("a", "template: fabric", "10m"),
                                               JobText("b", "template: one-gpu", "10m", "1s"),
                                               "  deletions: [{job: a, at: 200s}]\n"),
                                  "zero_latency: true, binding_timeout: 30s")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Runs(*sim), ElementsAre("a -1--1", "b 1-601"));
  EXPECT_GE(sim->jobs().row(JobId(0U)).attempts_failed, 1U);
}

// Two nodes with two GPUs of 40 GB each, and classes from the driver.
class SliceDriversTest : public StructuredDraTest {
 protected:
  SliceDriversTest() { dir_.Write("templates.yaml", TestText("Templates")); }

  std::string Scenario(absl::string_view drivers, absl::string_view jobs,
                       absl::string_view node = "gpus: 2, gpu_model: A100-SXM4-40GB") {
    return absl::StrCat(
        "mode: replay\n"
        "order: trace\n"
        "cluster: {nodes: 2, node: {cpu: \"16\", memory: 64Gi, ",
        node,
        "}}\n"
        "scheduler: {policy: least-allocated}\n"
        "front_end:\n"
        "  kind: dra-structured\n"
        "  structured: {slices: [",
        dir_.PathOf("templates.yaml"), "], zero_latency: true", drivers, "}\nworkload:\n  jobs:\n",
        jobs);
  }

  // Slices as "driver node devices", and classes.
  static std::vector<std::string> Published(const Simulation& sim) {
    std::vector<std::string> published;
    const ObjectCache& objects = sim.control_plane()->network().server().objects();
    for (const Ref<ResourceSliceObject>& slice : objects.of<ResourceSliceObject>().Sorted()) {
      const proto::kube::ResourceSliceSpec& spec = slice->object->spec();
      published.push_back(
          absl::StrCat(spec.driver(), " ", spec.node_name(), " ", spec.devices_size()));
    }
    for (const Ref<DeviceClassObject>& made : objects.of<DeviceClassObject>().Sorted()) {
      published.emplace_back(made->meta.name.text());
    }
    return published;
  }
};

TEST_F(SliceDriversTest, NvidiasDriverRunsWhereNodesHaveGpus) {
  const auto sim = Finished(BuildText(Scenario("", JobText("a", "template: one-gpu", "10m"))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Published(*sim),
              ElementsAre("gpu.nvidia.com node-000000 2", "gpu.nvidia.com node-000001 2",
                          "gpu.nvidia.com", "mig.nvidia.com"));
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600"));
}

TEST_F(SliceDriversTest, DriversServeTheirNodes) {
  const auto sim = Finished(BuildText(Scenario(
      ", drivers: [{kind: gpu.nvidia.com, nodes: node-000001, mig: dynamic}, "
      "{kind: gpu.example.com, nodes: node-000000, devices: 3}]",
      absl::StrCat(JobText("a", "template: small", "10m"), JobText("b", "template: one-gpu", "10m"),
                   JobText("c", "template: one-gpu", "10m")))));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Published(*sim),
              ElementsAre("gpu.nvidia.com node-000001 0", "gpu.nvidia.com node-000001 26",
                          "gpu.nvidia.com node-000001 26", "gpu.example.com node-000000 3",
                          "gpu.nvidia.com", "mig.nvidia.com", "gpu.example.com"));
  // One of the two GPUs is cut.
  EXPECT_THAT(Runs(*sim), ElementsAre("a 0-600", "b 0-600", "c 600-1200"));
}

// Four pods take four GPUs, whether nodes are decided at once or scored by a policy; the single pod
// waits for one of them.
TEST_F(SliceDriversTest, PodsOfAGangGetDevicesOfTheirOwn) {
  for (const char* const policy : {"first-fit", "best-fit", "pack"}) {
    const auto sim = Finished(BuildText(Scenario(
        absl::StrCat(", policy: ", policy),
        "    - {name: gang, pods: 4, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 10m}\n"
        "    - {name: late, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 5m, arrival: 1s}\n")));
    ASSERT_NE(sim, nullptr);
    EXPECT_THAT(Runs(*sim), ElementsAre("gang-0 0-600", "late 600-900")) << policy;
    EXPECT_EQ(sim->cluster().inventory().Check(), absl::OkStatus());
  }
}

TEST_F(SliceDriversTest, RefusesWhatMakesNoSense) {
  for (const auto& [drivers, expected] : TestRows<2>("Drivers")) {
    EXPECT_THAT(ErrorOf(Scenario(absl::StrCat(", drivers: [", drivers, "]"),
                                 JobText("a", "template: one-gpu", "10m"))),
                HasSubstr(expected))
        << drivers;
  }
}

TEST_F(StructuredDraTest, RefusesWhatMakesNoSense) {
  for (const auto& [more, expected] : TestRows<2>("RefusesWhatMakesNoSense")) {
    EXPECT_THAT(ErrorOf(Scenario(JobText("a", "template: one-gpu", "10m"), more)),
                HasSubstr(expected));
  }
}

}  // namespace structured_dra_test
}  // namespace drasim
