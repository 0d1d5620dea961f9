#include "gui/session/run_job.h"

#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/record.h"
#include "sim/record/ledger_reader.h"
#include "tests/gui/session/job_runs.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace run_job_test {

using gui::CheckRun;
using gui::JobProgress;
using gui::JobState;
using gui::NodeEventChange;
using gui::RunJob;
using gui::RunJobSpec;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The tiny scenario as a file, and jobs over it.
class RunJobTest : public ::testing::Test {
 protected:
  RunJobTest() { dir_.Write("tiny.yaml", kTinyScenario); }

  RunJobSpec Spec(const std::string& out) const {
    RunJobSpec spec;
    spec.scenario_path = dir_.PathOf("tiny.yaml");
    spec.out_dir = dir_.PathOf(out);
    return spec;
  }
  // The ledger of the same run without a worker.
  std::string PlainLedger(const std::string& out, const JobSettings& settings) const {
    RunFile(dir_.PathOf("tiny.yaml"), settings, dir_.PathOf(out));
    return dir_.Read(absl::StrCat(out, "/ledger"));
  }
  static JobProgress RunToEnd(RunJobSpec spec) {
    const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
    job->Settle();
    return job->progress();
  }

  const TempDir dir_;
};

// Pauses have no end to wait for.
void WaitUntilPaused(const RunJob& job, uint64_t records) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    const JobProgress progress = job.progress();
    if (progress.state == JobState::kPaused && progress.records >= records) return;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    ASSERT_NE(progress.state, JobState::kFailed) << progress.status;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(RunJobChangesTest, AreToldInFewWords) {
  RunJobSpec spec;
  EXPECT_EQ(gui::ChangesText(spec), "");
  spec.changes = {{"front_end.dra.driver_controllers.qps", "50"}, {"seed", "3"}, {"a.b", "c"}};
  EXPECT_EQ(gui::ChangesText(spec), "driver_controllers.qps=50, seed=3, a.b=c");
  spec.changes.clear();
  const SimTime seven(7 * 3600 * kSecondNs);
  spec.node_events = {{gui::NodeEventChange::Kind::kFail, "n-1", seven},
                      {gui::NodeEventChange::Kind::kDrain, "n-2", seven},
                      {gui::NodeEventChange::Kind::kAdd, "n-3", seven}};
  EXPECT_EQ(gui::ChangesText(spec), "n-1 fails at 7h, n-2 is drained at 7h, n-3 once more at 7h");
}

TEST_F(RunJobTest, LeavesTheFilesOfAPlainRun) {
  std::atomic<int> changes = 0;
  std::unique_ptr<RunJob> job = RunJob::Start(Spec("out"), [&changes] { ++changes; });
  job->Settle();
  const JobProgress progress = job->progress();
  ASSERT_EQ(progress.state, JobState::kDone) << progress.status;
  EXPECT_EQ(progress.status, absl::OkStatus());
  EXPECT_EQ(progress.begins, "from the start");
  EXPECT_EQ(progress.ledger_path, dir_.PathOf("out/ledger"));
  EXPECT_EQ(progress.pods_arrived, 3u);
  EXPECT_EQ(progress.pods_expected, 3u);
  EXPECT_EQ(progress.time, SimTime(4200 * kSecondNs));
  EXPECT_GT(progress.records, 15u);
  EXPECT_EQ(dir_.Read("out/ledger"), PlainLedger("plain", {}));
  EXPECT_EQ(dir_.Read("out/pods.csv"), dir_.Read("plain/pods.csv"));
  EXPECT_TRUE(dir_.Has("out/summary.json"));
  EXPECT_FALSE(dir_.Has("out/drasim.lock"));
  ASSERT_NE(job->snapshot(), nullptr);
  EXPECT_EQ(job->snapshot()->record, progress.records);
  EXPECT_EQ(job->snapshot()->pods.rows(), 3u);
  EXPECT_EQ(job->snapshot()->waiting, 0);
  job.reset();  // the worker tells of the end after it is over
  EXPECT_GE(changes, 3);
}

TEST_F(RunJobTest, StepsMakeExactlySoManyRecords) {
  RunJobSpec spec = Spec("out");
  spec.paused = true;
  const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
  job->Step(6);
  WaitUntilPaused(*job, 6);
  EXPECT_EQ(job->progress().records, 6u);
  EXPECT_EQ(job->progress().time, SimTime(2 * kSecondNs));
  ASSERT_NE(job->snapshot(), nullptr);
  const gui::RunSnapshot& at_six = *job->snapshot();
  EXPECT_EQ(at_six.record, 6u);
  EXPECT_EQ(at_six.time, SimTime(2 * kSecondNs));
  // `wide` has arrived and found no node.
  EXPECT_EQ(at_six.waiting, 1);
  EXPECT_EQ(at_six.totals.gpu_milli_allocated, 2000);
  EXPECT_EQ(at_six.counters[static_cast<size_t>(RunCounter::kAttemptsFailed)], 1);
  ASSERT_EQ(at_six.pods.rows(), 3u);
  ASSERT_EQ(at_six.nodes.rows(), 2u);
  EXPECT_EQ(at_six.nodes.row(0).gpu_milli, 1000);
  EXPECT_EQ(at_six.nodes.row(1).gpu_milli, 1000);
  job->Step(1);
  WaitUntilPaused(*job, 7);
  EXPECT_EQ(job->progress().records, 7u);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(job->progress().records, 7u);
  job->Resume();
  EXPECT_NE(job->progress().state, JobState::kPaused) << "before the worker has woken up";
  job->Settle();
  EXPECT_EQ(job->progress().state, JobState::kDone);
  EXPECT_EQ(dir_.Read("out/ledger"), PlainLedger("plain", {}));
}

TEST_F(RunJobTest, ACancelledRunLeavesAPartialLedger) {
  RunJobSpec spec = Spec("out");
  spec.paused = true;
  const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
  job->Step(6);
  WaitUntilPaused(*job, 6);
  job->Cancel();
  job->Settle();
  const JobProgress progress = job->progress();
  EXPECT_EQ(progress.state, JobState::kCancelled);
  EXPECT_EQ(progress.status, absl::OkStatus());
  EXPECT_EQ(progress.ledger_path, dir_.PathOf("out/ledger.partial"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> ledger,
                       LedgerReader::Open(progress.ledger_path));
  Record record;
  uint64_t records = 0;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const bool more, ledger->Next(&record));
    if (!more) break;
    ++records;
  }
  EXPECT_EQ(records, progress.records);
  EXPECT_FALSE(ledger->complete());
  EXPECT_EQ(ledger->cluster().pod_count(), 3u);
}

TEST_F(RunJobTest, AChangeGivesTheRunOfTheChangedScenario) {
  const std::string before = PlainLedger("before", {});
  const std::string wanted = PlainLedger("wanted", {{"scheduler.policy", "most-allocated"}});
  ASSERT_NE(before, wanted);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> opened,
                       LedgerReader::Open(dir_.PathOf("before")));
  RunJobSpec spec;
  spec.scenario_yaml = opened->header().scenario_yaml();
  spec.base_folder = dir_.path();
  spec.out_dir = dir_.PathOf("out");
  spec.changes = {{"scheduler.policy", "most-allocated"}};
  EXPECT_EQ(CheckRun(spec), absl::OkStatus());
  const JobProgress progress = RunToEnd(std::move(spec));
  EXPECT_EQ(progress.state, JobState::kDone) << progress.status;
  EXPECT_EQ(dir_.Read("out/ledger"), wanted);
}

TEST_F(RunJobTest, NodeEventsAreThoseOfTheScenario) {
  RunJobSpec spec = Spec("out");
  spec.node_events = {
      {NodeEventChange::Kind::kFail, "node-000000", SimTime(5 * kSecondNs)},
      {NodeEventChange::Kind::kDrain, "node-000001", SimTime(7 * kSecondNs)},
  };
  const JobProgress progress = RunToEnd(std::move(spec));
  ASSERT_EQ(progress.state, JobState::kDone) << progress.status;
  EXPECT_EQ(dir_.Read("out/ledger"),
            PlainLedger("plain", {{"cluster.events.0.at", "5000000000ns"},
                                  {"cluster.events.0.nodes", "node-000000"},
                                  {"cluster.events.0.action", "fail"},
                                  {"cluster.events.1.at", "7000000000ns"},
                                  {"cluster.events.1.nodes", "node-000001"},
                                  {"cluster.events.1.action", "drain"}}));
}

// The records of a complete ledger, one text each, and its fingerprint.
std::vector<std::string> RecordsOf(const std::string& path) {
  std::vector<std::string> lines;
  const absl::StatusOr<std::unique_ptr<LedgerReader>> ledger = LedgerReader::Open(path);
  EXPECT_EQ(ledger.status(), absl::OkStatus());
  if (!ledger.ok()) return lines;
  Record record;
  while (true) {
    const absl::StatusOr<bool> more = (*ledger)->Next(&record);
    EXPECT_EQ(more.status(), absl::OkStatus());
    if (!more.ok() || !*more) break;
    lines.push_back(absl::StrCat(record.time.ns(), " ", RecordKindName(record.kind), " ",
                                 record.pod.valid() ? absl::StrCat(record.pod.value()) : "-", " ",
                                 record.node.valid() ? absl::StrCat(record.node.value()) : "-", " ",
                                 record.devices.bits(), " ", record.detail));
  }
  EXPECT_TRUE((*ledger)->complete());
  lines.push_back(absl::StrCat("fingerprint ", (*ledger)->fingerprint()));
  return lines;
}

// Before it has read the state at the checkpoint, or as it pauses there.
TEST_F(RunJobTest, ABranchCanBeCancelledAtOnce) {
  PlainLedger("before", {{"output.checkpoint_every", "4"}});
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> before,
                       LedgerReader::Open(dir_.PathOf("before")));
  RunJobSpec spec;
  spec.scenario_yaml = before->header().scenario_yaml();
  spec.base_folder = dir_.path();
  spec.resume_from = dir_.PathOf("before");
  spec.node_events = {{NodeEventChange::Kind::kFail, "node-000001", SimTime(1000 * kSecondNs)}};
  spec.paused = true;
  for (int i = 0; i < 5; ++i) {
    spec.out_dir = dir_.PathOf(absl::StrCat("out-", i));
    const std::unique_ptr<RunJob> job = RunJob::Start(spec, nullptr);
    job->Cancel();
    job->Settle();
    EXPECT_EQ(job->progress().state, JobState::kCancelled) << job->progress().status;
    EXPECT_THAT(job->progress().warnings, ::testing::IsEmpty());
  }
}

// The run that is changed has a node event of its own, at 50 min. Events are added before and
// after it.
TEST_F(RunJobTest, NodeEventsBeginAtTheCheckpointBeforeThem) {
  const JobSettings own = {{"output.checkpoint_every", "4"},
                           {"cluster.events.0.at", "50m"},
                           {"cluster.events.0.nodes", "node-000000"},
                           {"cluster.events.0.action", "cordon"},
                           {"cluster.events.0.duration", "5m"}};
  PlainLedger("before", own);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> before,
                       LedgerReader::Open(dir_.PathOf("before")));
  RunJobSpec spec;
  spec.scenario_yaml = before->header().scenario_yaml();
  spec.base_folder = dir_.path();
  spec.resume_from = dir_.PathOf("before");
  spec.out_dir = dir_.PathOf("out");
  spec.node_events = {
      {NodeEventChange::Kind::kDrain, "node-000001", SimTime(3300 * kSecondNs)},
      {NodeEventChange::Kind::kFail, "node-000001", SimTime(1000 * kSecondNs)},
  };
  spec.paused = true;
  const std::unique_ptr<RunJob> job = RunJob::Start(spec, nullptr);
  WaitUntilPaused(*job, 1);
  const JobProgress begun = job->progress();
  EXPECT_EQ(begun.begins, "from the checkpoint at 11m");
  EXPECT_THAT(begun.warnings, ::testing::IsEmpty());
  EXPECT_LT(begun.time, SimTime(1000 * kSecondNs));
  EXPECT_GE(begun.records, 8u);
  EXPECT_EQ(begun.records % 4, 0u);
  // All that has happened so far is there.
  EXPECT_EQ(job->snapshot()->pods.rows(), 3u);
  EXPECT_EQ(job->snapshot()->totals.gpu_milli_allocated, 2000);
  EXPECT_EQ(job->snapshot()->waiting, 1);
  job->Resume();
  job->Settle();
  ASSERT_EQ(job->progress().state, JobState::kDone) << job->progress().status;

  JobSettings all = own;
  for (const auto& [key, value] : JobSettings{{"1.at", "3300s"},
                                              {"1.nodes", "node-000001"},
                                              {"1.action", "drain"},
                                              {"2.at", "1000s"},
                                              {"2.nodes", "node-000001"},
                                              {"2.action", "fail"}}) {
    all.emplace_back(absl::StrCat("cluster.events.", key), value);
  }
  PlainLedger("plain", all);
  EXPECT_EQ(RecordsOf(dir_.PathOf("out")), RecordsOf(dir_.PathOf("plain")));
  EXPECT_NE(RecordsOf(dir_.PathOf("out")), RecordsOf(dir_.PathOf("before")));
  for (const char* const file : {"pods.csv", "jobs.csv", "timeseries.csv", "summary.json"}) {
    EXPECT_EQ(dir_.Read(absl::StrCat("out/", file)), dir_.Read(absl::StrCat("plain/", file)))
        << file;
  }
}

TEST_F(RunJobTest, WithoutACheckpointTheRunBeginsAtTheStart) {
  PlainLedger("before", {});
  const std::vector<NodeEventChange> fail = {
      {NodeEventChange::Kind::kFail, "node-000001", SimTime(1000 * kSecondNs)}};
  RunJobSpec spec = Spec("out");
  spec.resume_from = dir_.PathOf("before");
  spec.node_events = fail;
  const JobProgress progress = RunToEnd(spec);
  EXPECT_EQ(progress.state, JobState::kDone) << progress.status;
  EXPECT_EQ(progress.begins, "from the start");
  ASSERT_EQ(progress.warnings.size(), 1u);
  EXPECT_EQ(progress.warnings[0],
            "the run begins at the start: there is no checkpoint before the event");
  EXPECT_EQ(dir_.Read("out/ledger"),
            PlainLedger("plain", {{"cluster.events.0.at", "1000000000000ns"},
                                  {"cluster.events.0.nodes", "node-000001"},
                                  {"cluster.events.0.action", "fail"}}));
  // Nor does the run of another scenario serve.
  PlainLedger("other", {{"output.checkpoint_every", "4"}});
  spec.resume_from = dir_.PathOf("other");
  spec.out_dir = dir_.PathOf("out2");
  EXPECT_THAT(RunToEnd(spec).warnings[0], HasSubstr("output.checkpoint_every"));
  spec.resume_from = dir_.PathOf("before");
  spec.out_dir = dir_.PathOf("out3");
  spec.changes = {{"seed", "43"}};
  EXPECT_THAT(RunToEnd(spec).warnings[0], HasSubstr("keys have changed"));
}

TEST_F(RunJobTest, EmbeddedScenariosNeedNoFile) {
  RunJobSpec spec = Spec("out");
  spec.scenario_path = "embedded:two_nodes";
  const JobProgress progress = RunToEnd(spec);
  EXPECT_EQ(progress.state, JobState::kDone) << progress.status;
  EXPECT_EQ(progress.pods_expected, 3u);
  spec.scenario_path = "embedded:two_node";
  EXPECT_THAT(std::string(CheckRun(spec).message()), HasSubstr("(did you mean 'two_nodes'?)"));
}

TEST_F(RunJobTest, ErrorsNameThePlace) {
  const auto error = [this](const std::string& yaml, const JobSettings& changes) {
    dir_.Write("bad.yaml", yaml);
    RunJobSpec spec = Spec("out");
    spec.scenario_path = dir_.PathOf("bad.yaml");
    spec.changes = changes;
    const absl::Status checked = CheckRun(spec);
    const JobProgress progress = RunToEnd(std::move(spec));
    EXPECT_EQ(progress.state, JobState::kFailed);
    EXPECT_EQ(progress.ledger_path, "");
    if (!checked.ok()) {
      EXPECT_EQ(progress.status, checked);
    }
    return std::string(progress.status.message());
  };
  const std::string file = dir_.PathOf("bad.yaml");
  EXPECT_THAT(error("mode: replay\ncluster: {nodes: -2}\n", {}),
              StartsWith(absl::StrCat(file, ":2:18: cluster.nodes: found -2, expected")));
  EXPECT_THAT(error("mode: replay\nsheduler: {}\n", {}),
              StartsWith(absl::StrCat(file, ":2:1: sheduler: unknown key")));
  // Only the inputs tell that there is no such node.
  EXPECT_THAT(error(absl::StrCat(kTinyScenario, "front_end: {kind: direct}\n"),
                    {{"cluster.events.0.nodes", "node-x"}, {"cluster.events.0.action", "fail"}}),
              StartsWith("cluster.events[0].nodes: found 'node-x', which matches no node"));
  EXPECT_THAT(error(kTinyScenario, {{"scheduler.plcy", "fgd"}}),
              StartsWith("change: scheduler.plcy: unknown key"));
  EXPECT_THAT(error(kTinyScenario, {{"scheduler.policy", "fdg"}}),
              StartsWith("scheduler.policy: unknown policy 'fdg'"));
  EXPECT_THAT(error(absl::StrCat(kTinyScenario, "metrics: {warm_up: x}\n"), {}),
              StartsWith(absl::StrCat(file, ":13:20: metrics.warm_up: found 'x'")));
}

TEST_F(RunJobTest, ARunThatFailsHalfWayTellsWhere) {
  RunJobSpec spec = Spec("out");
  spec.scenario_path = "embedded:replay_small";
  spec.changes = {{"output.max_ledger", "30k"}};
  const JobProgress progress = RunToEnd(std::move(spec));
  EXPECT_EQ(progress.state, JobState::kFailed);
  EXPECT_EQ(progress.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(progress.status.message()),
              ::testing::ContainsRegex("max_ledger.*\\(after record [0-9,]+, .* into the run\\)"));
  EXPECT_EQ(LedgerReader::Open(progress.ledger_path).status(), absl::OkStatus());
}

TEST_F(RunJobTest, AFolderOfItsOwnGoesWithTheJob) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", dir_.path().c_str(), 1), 0);
  RunJobSpec spec = Spec("");
  spec.out_dir.clear();
  std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
  job->Settle();
  const std::string ledger = job->progress().ledger_path;
  EXPECT_THAT(ledger, StartsWith(dir_.PathOf("drasim/run-")));
  EXPECT_TRUE(std::filesystem::exists(ledger));
  job.reset();
  EXPECT_FALSE(std::filesystem::exists(ledger));
  EXPECT_TRUE(dir_.List("drasim").empty());
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(RunJobTest, AForeignFolderIsLeftAlone) {
  std::filesystem::create_directory(dir_.PathOf("photos"));
  dir_.Write("photos/cat.jpg", "meow");
  const JobProgress progress = RunToEnd(Spec("photos"));
  EXPECT_EQ(progress.state, JobState::kFailed);
  EXPECT_EQ(progress.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(dir_.List("photos"), std::vector<std::string>{"cat.jpg"});
}

TEST_F(RunJobTest, TheEndOfThePausedJobCancelsIt) {
  RunJobSpec spec = Spec("out");
  spec.paused = true;
  const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
  WaitUntilPaused(*job, 0);
  EXPECT_EQ(job->progress().records, 0u);
  EXPECT_EQ(job->snapshot()->pods.rows(), 0u);
}

}  // namespace run_job_test
}  // namespace drasim
