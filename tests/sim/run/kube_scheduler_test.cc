// Whole runs under kube-scheduler's search: the configuration, preemption with nominations, equal
// decisions with and without the cache, and after a checkpoint.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/proto/scenario.pb.h"
#include "model/saved_state.h"
#include "model/time.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace kube_scheduler_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<Simulation> BuildKube(absl::string_view yaml) {
  absl::StatusOr<std::unique_ptr<Simulation>> built =
      Simulation::Build(RunSpecOf(ScenarioOf(yaml)));
  EXPECT_TRUE(built.ok()) << built.status();
  return *std::move(built);
}

std::unique_ptr<Simulation> RunKube(absl::string_view yaml) {
  std::unique_ptr<Simulation> sim = BuildKube(yaml);
  EXPECT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::OkStatus());
  EXPECT_EQ(sim->cluster().CheckInvariants(), absl::OkStatus());
  return sim;
}

std::string NodeOf(const Simulation& sim, uint32_t pod) {
  const NodeId node = sim.cluster().pod_node(PodId(pod));
  return node.valid() ? sim.cluster().node_spec(node).name : "none";
}

std::string RefusalOf(absl::string_view yaml) {
  const absl::StatusOr<RunSpec> spec = ResolveScenario(ScenarioOf(yaml));
  if (!spec.ok()) return std::string(spec.status().message());
  return std::string(Simulation::Build(*spec).status().message());
}

// Two nodes of different sizes twice over; a pod takes equal shares of CPU and memory.
constexpr absl::string_view kFourNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,2000,2048,0,\nn1,2000,2048,0,\nn2,8000,8192,0,\nn3,8000,8192,0,\n";

constexpr absl::string_view kTwoPods =
    "workload:\n"
    "  jobs: [{name: a, cpu: \"1\", memory: 1Gi}, {name: b, cpu: \"1\", memory: 1Gi}]\n"
    "order: trace\n";

TEST(KubeSchedulerTest, TheReleaseSaysWhoWinsATie) {
  const TempDir dir;
  dir.Write("n.csv", kFourNodes);
  const std::string fill = absl::StrCat("cluster: {path: ", dir.PathOf("n.csv"), "}\n", kTwoPods);
  const auto first = RunKube(absl::StrCat(fill, "scheduler: {policy: kube-scheduler}\n"));
  EXPECT_EQ(NodeOf(*first, 0), "n2");
  EXPECT_EQ(NodeOf(*first, 1), "n3");
  // The root of the heap over [low, low, high, high] is the last.
  const auto later =
      RunKube(absl::StrCat(fill, "scheduler: {policy: kube-scheduler, release: \"1.35\"}\n"));
  EXPECT_EQ(NodeOf(*later, 0), "n3");
  EXPECT_EQ(NodeOf(*later, 1), "n2");
}

TEST(KubeSchedulerTest, TheConfigurationSaysWhatCounts) {
  const TempDir dir;
  dir.Write("n.csv", kFourNodes);
  dir.Write("most.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "podInitialBackoffSeconds: 3\n"
            "podMaxBackoffSeconds: 7\n"
            "profiles:\n"
            "- pluginConfig:\n"
            "  - name: NodeResourcesFit\n"
            "    args: {scoringStrategy: {type: MostAllocated}}\n");
  const auto sim =
      RunKube(absl::StrCat("cluster: {path: ", dir.PathOf("n.csv"), "}\n", kTwoPods,
                           "scheduler: {kube_config: ", dir.PathOf("most.yaml"), "}\n"));
  EXPECT_EQ(NodeOf(*sim, 0), "n0");
  EXPECT_EQ(NodeOf(*sim, 1), "n0");
  EXPECT_EQ(sim->spec().scheduler.kubernetes.initial_backoff, SimDuration::Seconds(3));
  EXPECT_EQ(sim->spec().scheduler.kubernetes.max_backoff, SimDuration::Seconds(7));
  EXPECT_EQ(sim->spec().written->scheduler().policy(), "kube-scheduler");
  EXPECT_EQ(ResolveScenario(*sim->spec().written).status(), absl::OkStatus());
}

constexpr absl::string_view kPreemption =
    "mode: replay\n"
    "order: trace\n"
    "cluster: {nodes: 1, node: {cpu: \"4\", memory: 8Gi, gpus: 2, gpu_model: T4}}\n"
    "workload:\n"
    "  jobs:\n"
    "    - {name: low, cpu: \"3\", memory: 1Gi, gpus: 2, run_time: 100s}\n"
    "    - {name: high, cpu: \"3\", memory: 1Gi, gpus: 1, run_time: 50s, arrival: 10s, "
    "priority: 9}\n"
    "scheduler: {policy: kube-scheduler}\n";

// The victim comes back at once, but the node is promised to the preemptor.
TEST(KubeSchedulerTest, ANominationHoldsTheRoom) {
  const auto sim = RunKube(kPreemption);
  const JobRow& low = sim->jobs().row(JobId(size_t{0}));
  const JobRow& high = sim->jobs().row(JobId(size_t{1}));
  EXPECT_EQ(low.preemptions, 1u);
  EXPECT_EQ(high.preemptions, 0u);
  EXPECT_EQ(high.first_start, SimTime() + SimDuration::Seconds(10));
  EXPECT_GE(low.started, SimTime() + SimDuration::Seconds(60));
  EXPECT_EQ(low.state, JobState::kSucceeded);
  EXPECT_EQ(high.state, JobState::kSucceeded);
  EXPECT_EQ(RunKube(absl::StrCat(kPreemption, "preemption: {mode: none}\n"))
                ->jobs()
                .row(JobId(size_t{0}))
                .preemptions,
            0u);
}

TEST(KubeSchedulerTest, EveryCheckpointOfAPreemptionResumes) {
  const std::string yaml =
      absl::StrCat(kPreemption, "preemption: {grace_period: 5s}\noutput: {checkpoint_every: 1}\n");
  std::vector<std::string> states;
  const std::unique_ptr<Simulation> sim = BuildKube(yaml);
  StateImage image;
  sim->set_on_checkpoint([&](const SavedState& state) {
    EXPECT_TRUE(image.Apply(state));
    states.push_back(image.Whole().text);
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  EXPECT_GE(sim->jobs().row(JobId(size_t{1})).first_start, SimTime() + SimDuration::Seconds(15));
  ASSERT_GE(states.size(), 4u);
  for (const std::string& state : states) {
    const std::unique_ptr<Simulation> again = BuildKube(yaml);
    ASSERT_EQ(again->Start(&state), absl::OkStatus());
    ASSERT_EQ(again->Run(), absl::OkStatus());
    EXPECT_EQ(again->fingerprint(), sim->fingerprint());
    EXPECT_EQ(SummaryJson(*again), SummaryJson(*sim));
  }
}

TEST(KubeSchedulerTest, TheCacheChangesNoDecision) {
  for (const absl::string_view rest :
       {"", "mode: replay\norder: trace\n", "scheduler: {ties: random}\n"}) {
    const bool replay = absl::StartsWith(rest, "mode");
    const std::string yaml = absl::StrCat(
        "cluster: {nodes: ", replay ? "12" : "150", "}\n", "workload: {generated: {pods: ",
        replay ? "200, interarrival: exponential(mean=5), run_time: 'lognormal(median=400,sigma=1)'"
               : "900",
        "}}\n", rest);
    proto::Scenario scenario = ScenarioOf(yaml);
    scenario.mutable_scheduler()->set_policy("kube-scheduler");
    std::vector<uint64_t> prints;
    for (const bool cache : {true, false}) {
      scenario.mutable_scheduler()->set_cache(cache);
      absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(RunSpecOf(scenario));
      ASSERT_EQ(sim.status(), absl::OkStatus());
      ASSERT_EQ((*sim)->Start(), absl::OkStatus());
      ASSERT_EQ((*sim)->Run(), absl::OkStatus());
      EXPECT_EQ((*sim)->cluster().CheckInvariants(), absl::OkStatus());
      EXPECT_GT((*sim)->metrics().sample().pods_scheduled, 100u);
      prints.push_back((*sim)->fingerprint());
    }
    EXPECT_EQ(prints[0], prints[1]) << yaml;
  }
}

TEST(KubeSchedulerTest, RefusesWhatBelongsToTheOtherSearch) {
  const auto with = [](absl::string_view scheduler, absl::string_view rest = "") {
    return RefusalOf(absl::StrCat("cluster: {nodes: 2}\nscheduler: {", scheduler, "}\n", rest));
  };
  EXPECT_THAT(with("kube_config: k.yaml, policy: fgd"),
              StartsWith("scheduler.kube_config: found scheduler.policy: fgd"));
  EXPECT_THAT(with("policy: kube-scheduler, score: [{name: FGD}]"),
              StartsWith("scheduler.score: expected none with scheduler.policy: kube-scheduler"));
  EXPECT_THAT(with("kube_config: k.yaml, queue: fifo", "mode: replay\norder: trace\n"),
              StartsWith("scheduler.queue: found 'fifo', expected kubernetes"));
  EXPECT_THAT(
      with("kube_config: k.yaml, kubernetes: {max_backoff: 5s}", "mode: replay\norder: trace\n"),
      StartsWith("scheduler.kubernetes.max_backoff: expected none with "));
  EXPECT_THAT(with("policy: kube-scheduler", "front_end: {kind: dra-classic}\n"),
              HasSubstr("expected direct or device-plugin"));
  EXPECT_THAT(with("policy: kube-scheduler, release: \"1.33\""), StartsWith("scheduler.release: "));
  EXPECT_THAT(with("policy: kube-scheduler, release: \"1.35\", ties: first"),
              StartsWith("scheduler.ties: expected none with scheduler.release: 1.35"));
  EXPECT_THAT(with("ties: random"), StartsWith("scheduler.ties: found scheduler.policy: fgd"));
}

constexpr absl::string_view kOneNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}\n";

TEST(KubeSchedulerTest, AFillDropsGatedPodsUntried) {
  const TempDir dir;
  dir.Write("c.yaml", absl::StrCat(kOneNode,
                                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: gated}\n"
                                   "spec: {schedulingGates: [{name: g}], containers: [{name: c}]}\n"
                                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: open}\n"
                                   "spec: {containers: [{name: c}]}\n"));
  const auto sim = RunKube(absl::StrCat("cluster: {manifests: [", dir.PathOf("c.yaml"),
                                        "]}\nscheduler: {policy: kube-scheduler}\n"));
  ASSERT_EQ(sim->cluster().pod_count(), 2u);
  EXPECT_EQ(NodeOf(*sim, 0), "none");
  EXPECT_EQ(NodeOf(*sim, 1), "n1");
}

TEST(KubeSchedulerTest, AClusterWhosePodsHaveEndedRuns) {
  const TempDir dir;
  dir.Write("c.yaml", absl::StrCat(kOneNode,
                                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: done}\n"
                                   "spec: {nodeName: n1, containers: [{name: c}]}\n"
                                   "status: {phase: Succeeded}\n"));
  for (const char* mode : {"fill", "replay"}) {
    const auto sim =
        RunKube(absl::StrCat("mode: ", mode, "\ncluster: {manifests: [", dir.PathOf("c.yaml"),
                             "]}\nscheduler: {policy: kube-scheduler}\n"));
    EXPECT_EQ(sim->cluster().pod_count(), 0u);
    EXPECT_THAT(sim->warnings(), ::testing::Contains(HasSubstr("no pod that runs or waits")));
  }
}

TEST(KubeSchedulerTest, RefusesAProfileThatCountsNoAmounts) {
  const TempDir dir;
  dir.Write("k.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "profiles:\n"
            "- plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}\n");
  EXPECT_EQ(RefusalOf(absl::StrCat("cluster: {nodes: 2}\nworkload: {jobs: [{name: a}]}\n",
                                   "scheduler: {kube_config: ", dir.PathOf("k.yaml"), "}\n")),
            "scheduler.kube_config: found the profile 'default-scheduler' without the Filter of "
            "NodeResourcesFit, expected it enabled: a simulation overcommits no node");
}

TEST(KubeSchedulerTest, ComparisonsMayNameIt) {
  EXPECT_EQ(ResolveScenario(ScenarioOf("cluster: {nodes: 2}\n"
                                       "comparison: {policies: [fgd, kube-scheduler]}\n"))
                .status(),
            absl::OkStatus());
}

TEST(KubeSchedulerTest, ErrorsInTheFileHaveAPlace) {
  const TempDir dir;
  const auto with = [&dir](absl::string_view profiles) {
    dir.Write("k.yaml", absl::StrCat("apiVersion: kubescheduler.config.k8s.io/v1\n"
                                     "kind: KubeSchedulerConfiguration\n",
                                     profiles));
    return RefusalOf(absl::StrCat(
        "cluster: {nodes: 2}\nscheduler: {kube_config: ", dir.PathOf("k.yaml"), "}\n"));
  };
  EXPECT_THAT(with("profile: []\n"), HasSubstr("k.yaml:3:1: "));
  EXPECT_NE(RefusalOf("cluster: {nodes: 2}\nscheduler: {kube_config: /nonexistent.yaml}\n"), "");
}

// --- Several profiles ---

// Packs under the scheduler "packer", spreads under the default one.
constexpr absl::string_view kTwoProfiles =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "- schedulerName: packer\n"
    "  pluginConfig:\n"
    "  - name: NodeResourcesFit\n"
    "    args: {scoringStrategy: {type: MostAllocated}}\n";

std::string UnderTwoProfiles(const TempDir& dir, absl::string_view jobs, absl::string_view rest) {
  dir.Write("n.csv", kFourNodes);
  dir.Write("two.yaml", kTwoProfiles);
  return absl::StrCat("cluster: {path: ", dir.PathOf("n.csv"), "}\nworkload:\n  jobs:\n", jobs,
                      "order: trace\nscheduler: {kube_config: ", dir.PathOf("two.yaml"), "}\n",
                      rest);
}

TEST(KubeSchedulerTest, EachPodGoesByItsOwnProfile) {
  const TempDir dir;
  const auto sim = RunKube(
      UnderTwoProfiles(dir,
                       "  - {name: a, cpu: \"1\", memory: 1Gi}\n"
                       "  - {name: b, cpu: \"1\", memory: 1Gi, scheduler_name: packer}\n"
                       "  - {name: c, cpu: \"1\", memory: 1Gi, scheduler_name: default-scheduler}\n"
                       "  - {name: d, cpu: \"1\", memory: 1Gi, scheduler_name: packer}\n",
                       ""));
  EXPECT_EQ(sim->profiles().size(), 2u);
  EXPECT_EQ(NodeOf(*sim, 0), "n2");
  EXPECT_EQ(NodeOf(*sim, 1), "n0");
  EXPECT_EQ(NodeOf(*sim, 2), "n3");
  EXPECT_EQ(NodeOf(*sim, 3), "n0");
  EXPECT_THAT(sim->warnings(), ::testing::IsEmpty());
}

TEST(KubeSchedulerTest, PodsOfAnUnknownSchedulerAreNeverTried) {
  const TempDir dir;
  const auto sim = RunKube(UnderTwoProfiles(
      dir,
      "  - {name: a, cpu: \"1\", memory: 1Gi, run_time: 10s}\n"
      "  - {name: b, cpu: \"1\", memory: 1Gi, scheduler_name: volcano, replicas: 3}\n"
      "  - {name: c, cpu: \"1\", memory: 1Gi, arrival: 5s, run_time: 10s}\n",
      "mode: replay\n"));
  EXPECT_THAT(sim->warnings(),
              ::testing::ElementsAre("3 pod(s) name a scheduler that is not there, and are never "
                                     "tried: volcano; there are default-scheduler, packer"));
  EXPECT_EQ(sim->jobs().row(JobId(size_t{0})).state, JobState::kSucceeded);
  EXPECT_EQ(sim->jobs().row(JobId(size_t{4})).state, JobState::kSucceeded);
  for (size_t job = 1; job <= 3; ++job) {
    EXPECT_EQ(sim->jobs().row(JobId(job)).state, JobState::kWaiting);
    // The record that says why; no attempt follows.
    EXPECT_EQ(sim->jobs().row(JobId(job)).attempts_failed, 1u);
  }
  EXPECT_EQ(sim->summaries().size(), 1u);
  EXPECT_EQ(sim->summaries().Text(SummaryId(size_t{0})),
            "0/4 nodes are available: 4 pod is kept pending: it is for another scheduler.");
}

// With one profile, too; other policies are the default scheduler.
TEST(KubeSchedulerTest, TheOnlyProfileTakesItsOwnPodsAlone) {
  const TempDir dir;
  dir.Write("one.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "profiles: [{schedulerName: own}]\n");
  for (const std::string& scheduler :
       {absl::StrCat("kube_config: ", dir.PathOf("one.yaml")), std::string("policy: fgd")}) {
    const bool kube = absl::StartsWith(scheduler, "kube");
    const auto sim =
        RunKube(absl::StrCat("cluster: {nodes: 1, node: {cpu: \"8\", memory: 8Gi}}\n"
                             "workload:\n  jobs:\n"
                             "  - {name: none, cpu: \"1\"}\n"
                             "  - {name: own, cpu: \"1\", scheduler_name: own}\n"
                             "  - {name: default, cpu: \"1\", scheduler_name: default-scheduler}\n"
                             "order: trace\nscheduler: {",
                             scheduler, "}\n"));
    EXPECT_NE(NodeOf(*sim, 0), "none") << scheduler;
    EXPECT_EQ(NodeOf(*sim, 1) == "none", !kube) << scheduler;
    EXPECT_EQ(NodeOf(*sim, 2) == "none", kube) << scheduler;
    EXPECT_THAT(sim->warnings(), ::testing::Contains(StartsWith("1 pod(s) name a scheduler")))
        << scheduler;
  }
}

// The profiles of a manifest's pods, a rejection under the second profile, and its end.
TEST(KubeSchedulerTest, PodsOfManifestsChooseAndReasonsOfEveryProfileCount) {
  const TempDir dir;
  dir.Write(
      "two.yaml",
      absl::StrCat(kTwoProfiles, "  plugins: {filter: {disabled: [{name: TaintToleration}]}}\n"));
  dir.Write("pods.yaml", R"(
apiVersion: v1
kind: Pod
metadata: {name: plain, annotations: {drasim.dev/run-time: 60s}}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: packed, annotations: {drasim.dev/run-time: 60s}}
spec: {schedulerName: packer, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: late, annotations: {drasim.dev/run-time: 60s, drasim.dev/arrival: 10s}}
spec: {schedulerName: packer, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
)");
  const auto sim = RunKube(absl::StrCat(
      "mode: replay\norder: trace\n"
      "cluster: {nodes: 1, node: {cpu: \"2\", memory: 8Gi, taints: [{key: k, effect: "
      "NoSchedule}]}}\n"
      "workload: {manifests: [",
      dir.PathOf("pods.yaml"), "]}\nscheduler: {kube_config: ", dir.PathOf("two.yaml"), "}\n"));
  EXPECT_EQ(sim->jobs().row(JobId(size_t{0})).state, JobState::kDropped);
  EXPECT_EQ(sim->jobs().row(JobId(size_t{1})).state, JobState::kSucceeded);
  const JobRow& late = sim->jobs().row(JobId(size_t{2}));
  EXPECT_EQ(late.state, JobState::kSucceeded);
  EXPECT_EQ(late.attempts_failed, 1u);  // and the end of `packed` wakes it
  EXPECT_EQ(late.first_start, SimTime() + SimDuration::Seconds(60));
  std::vector<std::string> texts;
  for (size_t i = 0; i < sim->summaries().size(); ++i) {
    texts.push_back(sim->summaries().Text(SummaryId(i)));
  }
  EXPECT_THAT(texts, ::testing::UnorderedElementsAre(
                         "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
                         "0/1 nodes are available: 1 Insufficient cpu."));
}

}  // namespace kube_scheduler_test
}  // namespace drasim
