// Whole runs of several kube-schedulers on one cluster: conflicts, what nodes turn away, nothing
// overcommitted, equal runs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace shared_cluster_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kOther =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles: [{schedulerName: other}]\n";

SimTime At(double seconds) { return SimTime(static_cast<int64_t>(seconds * 1e9)); }

// The rejections of the run; and that no node ever holds more than it has.
class ConflictSink : public RecordSink {
 public:
  void OnRecord(const Record& record, const ClusterState& cluster) override {
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      const NodeRow& row = cluster.node(NodeId(n));
      overcommitted_ |= row.cpu_milli_idle < 0 || row.memory_bytes_idle < 0 || row.pods_idle < 0;
    }
    if (record.kind == RecordKind::kPodRejected) rejections_.push_back(record);
  }
  const std::vector<Record>& rejections() const { return rejections_; }
  bool overcommitted() const { return overcommitted_; }

 private:
  std::vector<Record> rejections_;
  bool overcommitted_ = false;
};

class SharedClusterTest : public ::testing::Test {
 protected:
  void SetUp() override { dir_.Write("other.yaml", kOther); }

  // The first scheduler takes 100 ms for a decision, the other `latency`.
  std::string Scenario(absl::string_view nodes, absl::string_view jobs,
                       absl::string_view latency = "200ms", absl::string_view rest = "") const {
    return absl::StrCat("mode: replay\norder: trace\ncluster: {", nodes, "}\nworkload:\n  jobs:\n",
                        jobs, "timing: {schedule: 100ms}\nscheduler:\n  policy: kube-scheduler\n",
                        "  others: [{kube_config: ", dir_.PathOf("other.yaml"),
                        ", latency: ", latency, "}]\n", rest);
  }

  std::unique_ptr<Simulation> Build(const std::string& yaml) {
    absl::StatusOr<std::unique_ptr<Simulation>> built =
        Simulation::Build(RunSpecOf(ScenarioOf(yaml)));
    EXPECT_TRUE(built.ok()) << built.status();
    return *std::move(built);
  }

  std::unique_ptr<Simulation> Run(const std::string& yaml) {
    std::unique_ptr<Simulation> sim = Build(yaml);
    sink_ = ConflictSink();
    sim->AddSink(&sink_);
    EXPECT_EQ(sim->Start(), absl::OkStatus());
    EXPECT_EQ(sim->Run(), absl::OkStatus());
    EXPECT_EQ(sim->cluster().CheckInvariants(), absl::OkStatus());
    EXPECT_FALSE(sink_.overcommitted());
    return sim;
  }

  static const JobRow& Job(const Simulation& sim, size_t job) { return sim.jobs().row(JobId(job)); }
  // Attempts, placed jobs and conflicts of a scheduler.
  static std::vector<uint64_t> CountsOf(const Simulation& sim, size_t scheduler) {
    const KubernetesDispatcher::Counts& counts = sim.schedulers()->scheduler(scheduler).counts();
    return {counts.attempts, counts.placed, counts.conflicts};
  }
  static uint32_t Failure(AdmissionFailure failure, bool given_up = false) {
    return static_cast<uint32_t>(failure) | (given_up ? kGivenUp : 0);
  }

  const TempDir dir_;
  ConflictSink sink_;
};

constexpr absl::string_view kOneNode = "nodes: 1, node: {cpu: \"4\", memory: 8Gi}";
constexpr absl::string_view kTwoJobs =
    "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n"
    "  - {name: b, cpu: \"3\", memory: 1Gi, run_time: 5s, scheduler_name: other}\n";

// Both see the free node at 0 s. The first binds at 0.1 s; the pod that the other binds at 0.2 s is
// turned away, and its Job makes a new one after 10 s.
TEST_F(SharedClusterTest, TheLaterBindingIsTurnedAway) {
  const auto sim = Run(Scenario(kOneNode, kTwoJobs));
  EXPECT_EQ(Job(*sim, 0).first_start, At(0.1));
  EXPECT_EQ(Job(*sim, 0).state, JobState::kSucceeded);
  ASSERT_EQ(sink_.rejections().size(), 1u);
  EXPECT_EQ(sink_.rejections()[0].time, At(0.2));
  EXPECT_EQ(sink_.rejections()[0].pod, PodId(1u));
  EXPECT_EQ(sink_.rejections()[0].node, NodeId(0u));
  EXPECT_EQ(sink_.rejections()[0].detail, Failure(AdmissionFailure::kOutOfCpu));
  EXPECT_EQ(Job(*sim, 1).first_start, At(10.4));
  EXPECT_EQ(Job(*sim, 1).state, JobState::kSucceeded);
  EXPECT_EQ(Job(*sim, 1).admission_failures, 1u);
  EXPECT_THAT(CountsOf(*sim, 0), ElementsAre(1u, 1u, 0u));
  EXPECT_THAT(CountsOf(*sim, 1), ElementsAre(2u, 1u, 1u));
  EXPECT_EQ(sim->metrics().sample().pods_rejected, 1);
  EXPECT_THAT(SummaryJson(*sim), HasSubstr("\"conflicts\": 1"));
  EXPECT_THAT(SummaryTable(*sim), HasSubstr("conflicts of other"));
}

TEST_F(SharedClusterTest, TheFasterOneWins) {
  const auto sim = Run(Scenario(kOneNode, kTwoJobs, "0s"));
  EXPECT_EQ(Job(*sim, 1).first_start, At(0));
  EXPECT_EQ(Job(*sim, 0).first_start, At(10.2));
  EXPECT_THAT(CountsOf(*sim, 0), ElementsAre(2u, 1u, 1u));
  EXPECT_THAT(CountsOf(*sim, 1), ElementsAre(1u, 1u, 0u));
}

// Each sees what the other has bound before its attempt began.
TEST_F(SharedClusterTest, NoConflictOneAfterTheOther) {
  const auto sim = Run(Scenario(kOneNode,
                                "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n"
                                "  - {name: b, cpu: \"3\", memory: 1Gi, run_time: 5s, arrival: 1s, "
                                "scheduler_name: other}\n"));
  EXPECT_THAT(sink_.rejections(), ::testing::IsEmpty());
  EXPECT_EQ(Job(*sim, 1).attempts_failed, 1u);
  EXPECT_THAT(CountsOf(*sim, 1), ElementsAre(2u, 1u, 0u));
}

TEST_F(SharedClusterTest, ReasonsAreTheKubelets) {
  Run(Scenario(kOneNode,
               "  - {name: a, cpu: \"1\", memory: 5Gi, run_time: 5s}\n"
               "  - {name: b, cpu: \"1\", memory: 5Gi, run_time: 5s, scheduler_name: other}\n"));
  ASSERT_EQ(sink_.rejections().size(), 1u);
  EXPECT_EQ(sink_.rejections()[0].detail, Failure(AdmissionFailure::kOutOfMemory));
  Run(Scenario("nodes: 1, node: {cpu: \"4\", memory: 8Gi, gpus: 1, gpu_model: T4}",
               "  - {name: a, cpu: \"1\", gpus: 1, run_time: 5s}\n"
               "  - {name: b, cpu: \"1\", gpus: 1, run_time: 5s, scheduler_name: other}\n"));
  ASSERT_EQ(sink_.rejections().size(), 1u);
  EXPECT_EQ(sink_.rejections()[0].detail, Failure(AdmissionFailure::kOutOfDevices));
  // If the other scheduler's pod holds the chosen GPU, the pod gets another one.
  Run(Scenario("nodes: 1, node: {cpu: \"4\", memory: 8Gi, gpus: 2, gpu_model: T4}",
               "  - {name: a, cpu: \"1\", gpus: 1, run_time: 5s}\n"
               "  - {name: b, cpu: \"1\", gpus: 1, run_time: 5s, scheduler_name: other}\n"));
  EXPECT_THAT(sink_.rejections(), ::testing::IsEmpty());
  EXPECT_EQ(AdmissionReason(AdmissionFailure::kOutOfCpu), "OutOfcpu");
  EXPECT_EQ(AdmissionReason(AdmissionFailure::kOutOfDevices), "UnexpectedAdmissionError");
  EXPECT_THAT(std::string(AdmissionMessage(AdmissionFailure::kPortsInUse)),
              HasSubstr("host ports"));
}

TEST_F(SharedClusterTest, AnOwnerMayGiveUp) {
  const auto sim = Run(Scenario(kOneNode, kTwoJobs, "200ms", "front_end: {owner: {kind: none}}\n"));
  ASSERT_EQ(sink_.rejections().size(), 1u);
  EXPECT_EQ(sink_.rejections()[0].detail, Failure(AdmissionFailure::kOutOfCpu, true));
  EXPECT_EQ(Job(*sim, 1).state, JobState::kFailed);
  EXPECT_EQ(sim->metrics().sample().pods_given_up, 1);
}

TEST_F(SharedClusterTest, AGangIsTurnedAwayAsAWhole) {
  const auto sim = Run(Scenario(
      "nodes: 2, node: {cpu: \"4\", memory: 8Gi}",
      "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n"
      "  - {name: b, cpu: \"3\", memory: 1Gi, run_time: 5s, pods: 2, scheduler_name: other}\n"));
  EXPECT_EQ(sink_.rejections().size(), 2u);
  EXPECT_EQ(Job(*sim, 1).state, JobState::kSucceeded);
  EXPECT_THAT(CountsOf(*sim, 1), ElementsAre(2u, 1u, 1u));
}

// The node is gone when the attempt ends: an error, and another try once it is back.
TEST_F(SharedClusterTest, ANodeThatIsGoneTakesNothing) {
  const auto sim =
      Run(Scenario("nodes: 1, node: {cpu: \"4\", memory: 8Gi}, "
                   "events: [{at: 50ms, nodes: \"*\", action: fail, duration: 20s}]",
                   "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n"));
  EXPECT_THAT(sink_.rejections(), ::testing::IsEmpty());
  EXPECT_GE(Job(*sim, 0).first_start, At(20.05));
  EXPECT_EQ(Job(*sim, 0).state, JobState::kSucceeded);
  EXPECT_GE(Job(*sim, 0).attempts_failed, 1u);
}

// `b` fails in the view of 4.5 s; what ends at 5.1 s, before its attempt does, is not lost on it.
TEST_F(SharedClusterTest, EventsDuringAFailingAttemptCount) {
  const auto sim =
      Run(Scenario(kOneNode,
                   "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n"
                   "  - {name: b, cpu: \"3\", memory: 1Gi, run_time: 5s, arrival: 4500ms, "
                   "scheduler_name: other}\n",
                   "1s"));
  EXPECT_EQ(Job(*sim, 1).attempts_failed, 1u);
  EXPECT_LT(Job(*sim, 1).first_start, At(10));
}

TEST_F(SharedClusterTest, ADeletedPodIsNotBound) {
  std::unique_ptr<Simulation> sim =
      Run(Scenario(kOneNode, "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n", "200ms",
                   "output: {check_invariants: true}\n"));
  EXPECT_EQ(Job(*sim, 0).state, JobState::kSucceeded);
  std::string yaml = Scenario(kOneNode, "  - {name: a, cpu: \"3\", memory: 1Gi, run_time: 5s}\n");
  yaml = absl::StrCat(yaml.substr(0, yaml.find("timing:")), "  deletions: [{at: 50ms, job: a}]\n",
                      yaml.substr(yaml.find("timing:")));
  sim = Run(yaml);
  EXPECT_EQ(Job(*sim, 0).state, JobState::kDeleted);
  EXPECT_EQ(Job(*sim, 0).runs, 0u);
}

// A busy cluster: three schedulers, many conflicts, and every job ends.
class BusySharedClusterTest : public SharedClusterTest {
 protected:
  std::string Busy(absl::string_view rest = "") {
    dir_.Write("third.yaml",
               "apiVersion: kubescheduler.config.k8s.io/v1\n"
               "kind: KubeSchedulerConfiguration\n"
               "profiles:\n"
               "- schedulerName: third\n"
               "  pluginConfig:\n"
               "  - name: NodeResourcesFit\n"
               "    args: {scoringStrategy: {type: MostAllocated}}\n");
    std::string jobs;
    for (int i = 0; i < 60; ++i) {
      const char* const scheduler = i % 3 == 0   ? "default-scheduler"
                                    : i % 3 == 1 ? "other"
                                                 : "third";
      absl::StrAppend(&jobs, "  - {name: j", i, ", cpu: \"", 1 + i % 4,
                      "\", memory: 1Gi, run_time: ", 20 + 7 * (i % 5), "s, arrival: ", i / 6,
                      "s, priority: ", i % 11 == 0 ? 5 : 0, ", scheduler_name: ", scheduler, "}\n");
    }
    return absl::StrCat(
        "mode: replay\norder: trace\n"
        "cluster: {nodes: 5, node: {cpu: \"8\", memory: 16Gi}}\nworkload:\n  jobs:\n",
        jobs, "timing: {schedule: 150ms, bind: 20ms}\nscheduler:\n  policy: kube-scheduler\n",
        "  others: [{kube_config: ", dir_.PathOf("other.yaml"),
        ", latency: 400ms}, {kube_config: ", dir_.PathOf("third.yaml"), "}]\n", rest);
  }
};

TEST_F(BusySharedClusterTest, NothingIsOvercommittedAndAllJobsEnd) {
  const auto sim = Run(Busy("output: {check_invariants: true}\n"));
  uint64_t conflicts = 0;
  for (size_t s = 0; s < sim->schedulers()->size(); ++s) {
    conflicts += CountsOf(*sim, s)[2];
    EXPECT_GT(CountsOf(*sim, s)[1], 0u) << s;
  }
  EXPECT_GT(conflicts, 3u);
  EXPECT_EQ(conflicts, sink_.rejections().size());
  for (size_t j = 0; j < sim->jobs().size(); ++j) {
    EXPECT_TRUE(IsEnded(Job(*sim, j).state)) << j;
  }
  EXPECT_EQ(sim->schedulers()->waiting(), 0u);
}

TEST_F(BusySharedClusterTest, EqualRunsAndEqualAfterEveryCheckpoint) {
  const std::string yaml = Busy("output: {checkpoint_every: 40}\n");
  std::vector<std::string> states;
  std::vector<std::string> summaries;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::unique_ptr<Simulation> sim = Build(yaml);
    StateImage image;
    sim->set_on_checkpoint([&](const SavedState& state) {
      EXPECT_TRUE(image.Apply(state));
      if (repeat == 0) states.push_back(image.Whole().text);
      return absl::OkStatus();
    });
    ASSERT_EQ(sim->Start(), absl::OkStatus());
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    summaries.push_back(SummaryJson(*sim));
  }
  EXPECT_EQ(summaries[0], summaries[1]);
  ASSERT_GE(states.size(), 4u);
  for (const std::string& state : states) {
    const std::unique_ptr<Simulation> again = Build(yaml);
    ASSERT_EQ(again->Start(&state), absl::OkStatus());
    ASSERT_EQ(again->Run(), absl::OkStatus());
    EXPECT_EQ(SummaryJson(*again), summaries[0]);
  }
}

TEST_F(BusySharedClusterTest, TheCacheChangesNoDecision) {
  const auto cached = Run(Busy());
  std::string yaml = Busy();
  yaml.insert(yaml.find("  others:"), "  cache: false\n");
  EXPECT_EQ(Run(yaml)->fingerprint(), cached->fingerprint());
}

// A reader applies the records of conflicts again.
TEST_F(BusySharedClusterTest, LedgersHaveTheConflicts) {
  const std::unique_ptr<Simulation> sim = Build(Busy("front_end: {owner: {kind: none}}\n"));
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir_.PathOf("ledger"), "", sim->cluster(), sim->ranks(),
                           sim->summaries(), LedgerPace(), sim->Layouts());
  ASSERT_TRUE(writer.ok()) << writer.status();
  (*writer)->set_jobs(&sim->jobs());
  sim->AddSink(writer->get());
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(sim->fingerprint()), absl::OkStatus());
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir_.PathOf("ledger"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  int64_t conflicts = 0;
  while (true) {
    Record record;
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    conflicts += IsConflict(record) ? 1 : 0;
  }
  EXPECT_GT(conflicts, 0);
  EXPECT_EQ(conflicts, sim->metrics().sample().pods_rejected);
  EXPECT_EQ(conflicts, sim->metrics().sample().pods_given_up);
}

// --- Mistakes ---

TEST_F(SharedClusterTest, RefusesWhatCannotBe) {
  const auto refusal = [](const std::string& yaml) {
    const absl::StatusOr<RunSpec> spec = ResolveScenario(ScenarioOf(yaml));
    if (!spec.ok()) return std::string(spec.status().message());
    return std::string(Simulation::Build(*spec).status().message());
  };
  const std::string jobs = "  - {name: a, cpu: \"1\"}\n";
  EXPECT_THAT(refusal(absl::StrCat("cluster: {nodes: 1}\nscheduler: {policy: kube-scheduler, "
                                   "others: [{kube_config: ",
                                   dir_.PathOf("other.yaml"), "}]}\n")),
              StartsWith("scheduler.others: expected none: in a fill"));
  EXPECT_THAT(refusal(absl::StrCat("mode: replay\norder: trace\ncluster: {nodes: 1}\nscheduler: "
                                   "{policy: fgd, others: [{kube_config: ",
                                   dir_.PathOf("other.yaml"), "}]}\n")),
              StartsWith("scheduler.others: found scheduler.policy: fgd"));
  EXPECT_THAT(refusal(Scenario(kOneNode, jobs, "2m")),
              StartsWith("scheduler.others.0.latency: found '2m', expected at most a minute"));
  EXPECT_THAT(refusal(Scenario(kOneNode, jobs, "soon")),
              StartsWith("scheduler.others.0.latency: "));
  EXPECT_THAT(refusal(Scenario(kOneNode, jobs, "1s", "quotas: [{tenant: t, gpus: 1}]\n")),
              StartsWith("quotas: expected none with scheduler.others"));
  dir_.Write("other.yaml",
             "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  EXPECT_THAT(refusal(Scenario(kOneNode, jobs)),
              StartsWith("scheduler.others.0.kube_config: found the profile 'default-scheduler', "
                         "which another scheduler has"));
  EXPECT_THAT(refusal("mode: replay\norder: trace\ncluster: {nodes: 1}\n"
                      "scheduler: {policy: kube-scheduler, others: [{latency: 1s}]}\n"),
              StartsWith("scheduler.others.0.kube_config: found none, expected a file"));
}

}  // namespace shared_cluster_test
}  // namespace drasim
