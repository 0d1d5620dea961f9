// Simulations whose scheduler asks extenders: outcomes of good and bad answers, their cost in
// virtual time, and runs without the extender.
#include "sim/run/run_extenders.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/extender/extender_log.h"
#include "sim/extender/http_channel.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/resume.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "tests/sim/extender/extender_server.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace run_extenders_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kVerbs =
    "filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 2";
constexpr absl::string_view kFilter = "filterVerb: filter";

constexpr absl::string_view kTwoJobs =
    "    - {name: a, cpu: '1', memory: 1Gi, run_time: 100s}\n"
    "    - {name: b, cpu: '1', memory: 1Gi, run_time: 100s, arrival: 10s}\n";

class RunExtendersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ExtenderServer::HasPython()) GTEST_SKIP() << "there is no python3";
    server_ = std::make_unique<ExtenderServer>();
    std::string nodes;
    for (const char* node : {"n1", "n2", "n3"}) {
      absl::StrAppend(&nodes, "---\napiVersion: v1\nkind: Node\nmetadata: {name: ", node,
                      "}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}\n");
    }
    dir_.Write("nodes.yaml", nodes);
  }

  // An extender of the configuration; `more` are further fields.
  std::string ExtenderOf(absl::string_view mode, absl::string_view more) const {
    return absl::StrCat("- {urlPrefix: ", server_->url(), "/", mode, ", ", more, "}\n");
  }

  // Three nodes.
  RunSpec SpecOf(absl::string_view extenders, absl::string_view jobs,
                 absl::string_view more = "{}") const {
    dir_.Write("config.yaml", absl::StrCat("apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n"
                                           "podInitialBackoffSeconds: ",
                                           backoff_seconds_, "\npodMaxBackoffSeconds: ",
                                           backoff_seconds_, "\nextenders:\n", extenders));
    const std::string yaml = absl::StrCat(
        "mode: replay\norder: trace\ncluster: {manifests: [", dir_.PathOf("nodes.yaml"),
        "]}\nscheduler: {kube_config: ", dir_.PathOf("config.yaml"),
        ", extender_latency: 1s}\nworkload:\n  jobs:\n", jobs);
    return drasim::SpecOf({yaml, more});
  }

  static std::unique_ptr<Simulation> BuildRun(const RunSpec& spec,
                                              std::unique_ptr<ExtenderChannel> channel) {
    absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(spec);
    EXPECT_TRUE(built.ok()) << built.status();
    (*built)->extenders()->set_channel(std::move(channel));
    return *std::move(built);
  }

  // Asks the server.
  std::unique_ptr<Simulation> RunLive(absl::string_view extenders, absl::string_view jobs) const {
    std::unique_ptr<Simulation> sim =
        BuildRun(SpecOf(extenders, jobs), std::make_unique<HttpChannel>());
    EXPECT_EQ(sim->Start(), absl::OkStatus());
    EXPECT_EQ(sim->Run(), absl::OkStatus());
    EXPECT_EQ(sim->cluster().CheckInvariants(), absl::OkStatus());
    return sim;
  }

  // Writes all files of the run into the folder.
  absl::Status RunInto(absl::string_view folder, const RunSpec& spec,
                       std::unique_ptr<ExtenderChannel> channel) const {
    std::unique_ptr<Simulation> sim = BuildRun(spec, std::move(channel));
    const std::string path = dir_.PathOf(folder);
    ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock, PrepareOutputDir(path, false));
    ASSIGN_OR_RETURN(std::unique_ptr<RunOutputs> outputs, RunOutputs::Attach(sim.get(), path));
    RETURN_IF_ERROR(sim->Start());
    RETURN_IF_ERROR(sim->Run());
    return outputs->Complete(0);
  }

  std::vector<ExtenderCall> CallsIn(absl::string_view folder) const {
    absl::StatusOr<std::unique_ptr<LedgerReader>> ledger = LedgerReader::Open(dir_.PathOf(folder));
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    const absl::StatusOr<std::string> text = ExtenderRecordingOf(**ledger);
    EXPECT_TRUE(text.ok()) << text.status();
    absl::StatusOr<std::vector<ExtenderCall>> calls = ReadExtenderLog(*text, "ledger");
    EXPECT_TRUE(calls.ok()) << calls.status();
    return *std::move(calls);
  }

  // run.json has wall time.
  void ExpectSameFiles(absl::string_view a, absl::string_view b) const {
    EXPECT_EQ(dir_.List(a), dir_.List(b));
    EXPECT_NE(dir_.Read(absl::StrCat(a, "/ledger")), "");
    for (const std::string& name : dir_.List(a)) {
      if (name == "run.json") continue;
      EXPECT_TRUE(dir_.Read(absl::StrCat(a, "/", name)) == dir_.Read(absl::StrCat(b, "/", name)))
          << name;
    }
  }

  static const JobRow& RowOf(const Simulation& sim, size_t job) {
    return sim.jobs().row(JobId(job));
  }
  static int64_t StartOf(const Simulation& sim, size_t job) {
    return RowOf(sim, job).first_start.ns() / kSecondNs;
  }

  TempDir dir_;
  std::unique_ptr<ExtenderServer> server_;
  int backoff_seconds_ = 300;  // so that runs of errors end after few attempts
};

std::string RunNodeOf(const Simulation& sim, size_t job) {
  const NodeId node = sim.cluster().pod_node(sim.jobs().row(JobId(job)).first_pod);
  return node.valid() ? sim.cluster().node_spec(node).name : "none";
}

// Services, which stay on their nodes.
constexpr absl::string_view kTwoServices =
    "    - {name: a, cpu: '1', memory: 1Gi}\n"
    "    - {name: b, cpu: '1', memory: 1Gi}\n";

TEST_F(RunExtendersTest, TheyDecideAndTakeVirtualTime) {
  const auto plain =
      RunLive(ExtenderOf("good", "managedResources: [{name: example.com/x}]"), kTwoServices);
  EXPECT_EQ(RunNodeOf(*plain, 0), "n1");
  EXPECT_EQ(StartOf(*plain, 0), 0);

  // A filter, and one wait for all scores.
  const auto asked = RunLive(ExtenderOf("good", kVerbs), kTwoServices);
  EXPECT_EQ(RunNodeOf(*asked, 0), "n3");
  EXPECT_EQ(RunNodeOf(*asked, 1), "n3");
  EXPECT_EQ(StartOf(*asked, 0), 2);
  EXPECT_EQ(StartOf(*asked, 1), 4) << "the second attempt begins after the first";

  // Binding takes its own time, in which the next attempt begins.
  const auto bound =
      RunLive(ExtenderOf("good", absl::StrCat(kVerbs, ", bindVerb: bind")), kTwoServices);
  EXPECT_EQ(StartOf(*bound, 0), 3);
  EXPECT_EQ(StartOf(*bound, 1), 5);
}

TEST_F(RunExtendersTest, ErrorsKeepPodsWaitingUnlessTheyAreIgnorable) {
  for (const char* mode : {"refuse", "error", "garbage", "late"}) {
    SCOPED_TRACE(mode);
    const std::string filter = absl::StrCat(kFilter, ", httpTimeout: 200ms");
    const auto strict = RunLive(ExtenderOf(mode, filter), "    - {name: a, cpu: '1'}\n");
    EXPECT_EQ(RowOf(*strict, 0).state, JobState::kWaiting);
    EXPECT_GE(RowOf(*strict, 0).attempts_failed, 3u) << "it is tried again after each backoff";
    const auto ignorable = RunLive(ExtenderOf(mode, absl::StrCat(filter, ", ignorable: true")),
                                   "    - {name: a, cpu: '1'}\n");
    EXPECT_EQ(RowOf(*ignorable, 0).state, JobState::kRunning);
    EXPECT_EQ(RunNodeOf(*ignorable, 0), "n1");
    EXPECT_EQ(StartOf(*ignorable, 0), 1) << "an error takes as long as an answer";
  }
}

TEST_F(RunExtendersTest, AFailedBindingIsTakenBack) {
  for (const char* mode : {"error", "refuse"}) {
    SCOPED_TRACE(mode);
    const auto strict = RunLive(ExtenderOf(mode, "bindVerb: bind"), "    - {name: a, cpu: '1'}\n");
    EXPECT_EQ(RowOf(*strict, 0).state, JobState::kWaiting);
    EXPECT_GE(RowOf(*strict, 0).attempts_failed, 3u);
    EXPECT_EQ(strict->cluster().totals().cpu_milli_allocated, 0);
    const auto ignorable =
        RunLive(ExtenderOf(mode, "bindVerb: bind, ignorable: true"), "    - {name: a, cpu: '1'}\n");
    EXPECT_EQ(RowOf(*ignorable, 0).state, JobState::kRunning) << "the scheduler binds it itself";
  }
}

TEST_F(RunExtendersTest, DiesInTheMiddleOfTheRun) {
  const auto strict = RunLive(ExtenderOf("die2", kFilter), kTwoServices);
  EXPECT_EQ(server_->process().Wait().exit_code, 1);
  EXPECT_EQ(RowOf(*strict, 0).state, JobState::kRunning);
  EXPECT_EQ(RunNodeOf(*strict, 0), "n2") << "it does not want n1";
  EXPECT_EQ(RowOf(*strict, 1).state, JobState::kWaiting);
  server_ = std::make_unique<ExtenderServer>();
  const auto ignorable =
      RunLive(ExtenderOf("die2", absl::StrCat(kFilter, ", ignorable: true")), kTwoServices);
  EXPECT_EQ(server_->process().Wait().exit_code, 1);
  EXPECT_EQ(RunNodeOf(*ignorable, 0), "n2");
  EXPECT_EQ(RunNodeOf(*ignorable, 1), "n1") << "with nobody to advise against it";
}

TEST_F(RunExtendersTest, ASlowExtenderGivesTheSameRun) {
  ASSERT_EQ(RunInto("good", SpecOf(ExtenderOf("good", kVerbs), kTwoJobs),
                    std::make_unique<HttpChannel>()),
            absl::OkStatus());
  ASSERT_EQ(RunInto("slow", SpecOf(ExtenderOf("slow", kVerbs), kTwoJobs),
                    std::make_unique<HttpChannel>()),
            absl::OkStatus());
  for (const char* name : {"pods.csv", "jobs.csv", "timeseries.csv"}) {
    EXPECT_NE(dir_.Read(absl::StrCat("good/", name)), "");
    EXPECT_EQ(dir_.Read(absl::StrCat("good/", name)), dir_.Read(absl::StrCat("slow/", name)));
  }
}

// The cordoned node rejects the pod, too, by a plugin that the end of a pod does not concern.
TEST_F(RunExtendersTest, AnyEventWakesAPodThatTheyRejected) {
  dir_.Write("nodes.yaml",
             "{apiVersion: v1, kind: Node, metadata: {name: n1},"
             " status: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}}\n---\n"
             "{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {unschedulable: true},"
             " status: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}}\n");
  backoff_seconds_ = 1;
  const auto sim = RunLive(ExtenderOf("second", kFilter),
                           "    - {name: a, cpu: '1', run_time: 100s}\n"
                           "    - {name: b, cpu: '1', run_time: 10s, arrival: 10s}\n");
  EXPECT_EQ(RowOf(*sim, 1).attempts_failed, 1u);
  // a runs from 1 s to 101 s; unasked, b would sleep for five minutes.
  EXPECT_EQ(StartOf(*sim, 1), 102);
}

TEST_F(RunExtendersTest, TheyChooseWhomToEvict) {
  const std::string jobs =
      "    - {name: l1, cpu: '4'}\n    - {name: l2, cpu: '4'}\n    - {name: l3, cpu: '4'}\n"
      "    - {name: high, cpu: '4', priority: 9, arrival: 1m}\n";
  const auto plain = RunLive(ExtenderOf("good", "managedResources: [{name: example.com/x}]"), jobs);
  EXPECT_EQ(RunNodeOf(*plain, 3), "n1");
  const auto asked = RunLive(ExtenderOf("good", "preemptVerb: preempt"), jobs);
  EXPECT_EQ(RunNodeOf(*asked, 3), "n3");
  EXPECT_EQ(RowOf(*asked, 2).preemptions, 1u);
}

TEST_F(RunExtendersTest, ARecordedRunRepeatsByteForByte) {
  const std::string extenders =
      absl::StrCat(ExtenderOf("good", absl::StrCat(kVerbs, ", bindVerb: bind")),
                   ExtenderOf("garbage", absl::StrCat(kFilter, ", ignorable: true")));
  const RunSpec spec = SpecOf(extenders, kTwoJobs);
  ASSERT_EQ(RunInto("live", spec, std::make_unique<HttpChannel>()), absl::OkStatus());
  const std::vector<ExtenderCall> calls = CallsIn("live");
  ASSERT_EQ(calls.size(), 8u) << "filter, filter, prioritize, bind; twice";
  EXPECT_EQ(calls[3].verb, "bind");
  EXPECT_EQ(RunInto("check", spec,
                    std::make_unique<ReplayChannel>(calls, std::make_unique<HttpChannel>())),
            absl::OkStatus());
  ExpectSameFiles("live", "check");

  server_->Kill();
  EXPECT_EQ(RunInto("replay", spec, std::make_unique<ReplayChannel>(calls, nullptr)),
            absl::OkStatus());
  ExpectSameFiles("live", "replay");

  std::unique_ptr<Simulation> again = BuildRun(spec, nullptr);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> ledger,
                       LedgerReader::Open(dir_.PathOf("live")));
  ASSERT_EQ(again->extenders()->ReplayFrom(*ledger), absl::OkStatus());
  ASSERT_EQ(again->Start(), absl::OkStatus());
  EXPECT_EQ(again->Run(), absl::OkStatus());

  const absl::Status gone = RunInto(
      "gone", spec, std::make_unique<ReplayChannel>(calls, std::make_unique<HttpChannel>()));
  EXPECT_EQ(gone.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(gone.message()), HasSubstr("the extender answers differently: error"));
}

TEST_F(RunExtendersTest, ADivergenceHasAName) {
  const RunSpec spec = SpecOf(ExtenderOf("turn", kFilter), kTwoJobs);
  ASSERT_EQ(RunInto("live", spec, std::make_unique<HttpChannel>()), absl::OkStatus());
  const std::vector<ExtenderCall> calls = CallsIn("live");
  const std::string call = absl::StrCat("extender call 1, filter of ", server_->url(), "/turn: ");
  const absl::Status changed = RunInto(
      "changed", spec, std::make_unique<ReplayChannel>(calls, std::make_unique<HttpChannel>()));
  EXPECT_THAT(std::string(changed.message()),
              HasSubstr(absl::StrCat(call, "the extender answers differently: answer {")));
  const absl::Status other =
      RunInto("other", SpecOf(ExtenderOf("turn", kFilter), "    - {name: a, cpu: '2'}\n"),
              std::make_unique<ReplayChannel>(calls, nullptr));
  EXPECT_THAT(std::string(other.message()),
              HasSubstr(absl::StrCat(call, "the request differs from the recorded one")));
  const absl::Status fewer =
      RunInto("fewer",
              SpecOf(ExtenderOf("turn", kFilter),
                     "    - {name: a, cpu: '1', memory: 1Gi, run_time: 100s}\n"),
              std::make_unique<ReplayChannel>(calls, nullptr));
  EXPECT_THAT(std::string(fewer.message()), HasSubstr("extender call 2, filter of "));
  EXPECT_THAT(std::string(fewer.message()), HasSubstr("not made; the recording has 2 calls"));
}

TEST_F(RunExtendersTest, AnInterruptedRunGoesOnWithItsRecording) {
  std::string jobs;
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&jobs, "    - {name: j", i,
                    ", cpu: 100m, memory: 100Mi, run_time: 30s, arrival: ", 5 * i, "s}\n");
  }
  const std::string extenders = ExtenderOf("good", absl::StrCat(kVerbs, ", bindVerb: bind"));
  RunSpec spec = SpecOf(extenders, jobs);
  spec.engine.checkpoint_every = 20;
  ASSERT_EQ(RunInto("whole", spec, std::make_unique<HttpChannel>()), absl::OkStatus());
  const std::vector<ExtenderCall> calls = CallsIn("whole");
  ASSERT_EQ(calls.size(), 120u);

  const std::string path = dir_.PathOf("cut");
  {
    std::unique_ptr<Simulation> sim = BuildRun(spec, std::make_unique<HttpChannel>());
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<FolderLock> lock, PrepareOutputDir(path, false));
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<RunOutputs> outputs, RunOutputs::Attach(sim.get(), path));
    sim->set_stop_after_events(95);
    ASSERT_EQ(sim->Start(), absl::OkStatus());
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    ASSERT_FALSE(sim->engine().finished());
    ASSERT_EQ(outputs->Abandon(), absl::OkStatus());
  }
  ASSERT_OK_AND_ASSIGN(Resumption found, FindResumption(path));
  ASSERT_FALSE(found.position.checkpoints.empty());
  ASSERT_NE(found.extender_calls, "");
  server_->Kill();
  std::unique_ptr<Simulation> sim = BuildRun(spec, std::make_unique<ReplayChannel>(calls, nullptr));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<RunOutputs> outputs,
                       RunOutputs::Resume(sim.get(), path, found.position));
  ASSERT_EQ(sim->Start(&found.state), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_EQ(outputs->Complete(0), absl::OkStatus());
  ExpectSameFiles("whole", "cut");
}

TEST_F(RunExtendersTest, SomebodyHasToSayHowTheyAreAsked) {
  std::unique_ptr<Simulation> sim =
      BuildRun(SpecOf(ExtenderOf("good", kFilter), kTwoJobs), nullptr);
  EXPECT_EQ(sim->Start().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RunExtendersTest, RefusesWhatIsNotSupported) {
  const auto refusal = [this](absl::string_view extenders, absl::string_view more) {
    return std::string(Simulation::Build(SpecOf(extenders, kTwoJobs, more)).status().message());
  };
  EXPECT_THAT(refusal(ExtenderOf("good", "tlsConfig: {serverName: x}"), "{}"),
              HasSubstr("scheduler.kube_config: "));
  EXPECT_THAT(refusal(ExtenderOf("good", kVerbs), "scheduler: {release: '1.35'}\n"),
              HasSubstr("scheduler.release: expected 1.34"));
}

}  // namespace run_extenders_test
}  // namespace drasim
