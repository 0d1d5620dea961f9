// Comparisons and sweeps of replays over queues: their rows and columns, that each figure is that
// of the run it stands for, and what is refused.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/text/yaml_proto.h"
#include "sim/compare/cell.h"
#include "sim/compare/statistics.h"
#include "sim/scenario/resolve.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace cli_compare_replay_test {

using Names = std::vector<std::string>;

// Each figure and where summary.json has it, in the order of the columns.
constexpr std::pair<const char*, const char*> kFigures[] = {
    {"jobs_finished", "jobs.count"},
    {"mean_jct_seconds", "jobs.jct_seconds.mean"},
    {"p95_jct_seconds", "jobs.jct_seconds.p95"},
    {"mean_queueing_seconds", "jobs.queueing_seconds.mean"},
    {"mean_slowdown", "jobs.slowdown.mean"},
    {"makespan_seconds", "makespan_seconds"},
    {"gpu_utilisation_percent", "utilisation.gpu.allocated_percent"},
    {"preemptions", "preemption.preemptions"},
    {"goodput", "preemption.goodput"},
};
constexpr const char* kQueues[] = {"fifo", "sjf", "srtf", "kubernetes"};
constexpr char kFourQueues[] = "fifo,sjf,srtf,kubernetes";

constexpr char kExplanation[] =
    "\nTimes in seconds; GPU %: allocated, averaged over time; goodput: useful part of the GPU "
    "time "
    "held. ";

Names Split(absl::string_view text, char separator) { return absl::StrSplit(text, separator); }

// The first column of a printed table, with its heading.
Names FirstColumn(absl::string_view table) {
  Names labels;
  for (absl::string_view line : absl::StrSplit(table, '\n')) {
    if (line.empty()) break;
    labels.emplace_back(line.substr(0, line.find(' ')));
  }
  return labels;
}

// compare.json from the row of that queue on.
std::string FromQueue(const std::string& json, absl::string_view queue) {
  const size_t at = json.find(absl::StrCat("\"queue\": \"", queue, "\""));
  EXPECT_NE(at, std::string::npos) << queue;
  return at == std::string::npos ? std::string() : json.substr(at);
}

class CliCompareReplayTest : public CliTest {
 protected:
  CliCompareReplayTest() {
    dir_.Write("gangs.yaml", TestText("gangs.yaml"));
    // One GPU; jobs of 100 s, 50 s and 10 s that come at 0 s, 1 s and 2 s.
    dir_.Write("one.csv", absl::StrCat(kNodeHeader, "n-0,64000,262144,1,P100\n"));
    dir_.Write("line.csv", absl::StrCat(kPodHeader,
                                        "a,1,1,1,1000,,LS,,0,100,0\n"
                                        "b,1,1,1,1000,,LS,,1,51,1\n"
                                        "c,1,1,1,1000,,LS,,2,12,2\n"));
  }
  // A command over these three jobs.
  static Names Line(absl::string_view command, const Names& more) {
    Names args = {std::string(command), "--mode",     "replay",  "--nodes", "one.csv", "--pods",
                  "line.csv",           "--policies", "best-fit"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  static Names Gangs(absl::string_view command, const Names& more) {
    Names args = {std::string(command), "gangs.yaml"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  std::string RunJson(const std::string& queue, const std::string& seed) const {
    return Succeed(Gangs("run", {"--queue", queue, "--seed", seed, "--format", "json"}));
  }
  static std::string Report(size_t cells, size_t now, absl::string_view out) {
    return absl::StrCat(cells, " cells (", now, " run now, ", cells - now, " from before) in ", out,
                        "/sweep.csv\n");
  }
};

// By hand. fifo: the jobs end at 100, 150 and 160 s. sjf: a, c, b end at 100, 110 and 160 s. srtf:
// b displaces a at 1 s, c displaces b at 2 s; c, b, a end at 12, 61 and 160 s.
TEST_F(CliCompareReplayTest, ThreeJobsByHand) {
  EXPECT_EQ(Succeed(Line("compare", {"--queues", "fifo,sjf,srtf"})),
            absl::StrCat(TestText("ThreeJobsByHand"), kExplanation, "1 seed(s).\n"));
}

TEST_F(CliCompareReplayTest, FiguresAreThoseOfRuns) {
  const std::string json =
      Succeed(Gangs("compare", {"--queues", kFourQueues, "--seeds", "2", "--format", "json"}));
  EXPECT_EQ(JsonAt(json, "schema"), "\"drasim.compare/v1\"");
  EXPECT_EQ(JsonAt(json, "mode"), "\"replay\"");
  for (const char* queue : kQueues) {
    const std::string row = FromQueue(json, queue);
    const std::string run = RunJson(queue, "2");
    EXPECT_EQ(JsonAt(run, "scenario.queue"), absl::StrCat("\"", queue, "\""));
    EXPECT_EQ(JsonAt(row, "policy"), "\"consolidate\"");
    for (const auto& [name, path] : kFigures) {
      EXPECT_NE(JsonAt(run, path), "") << path;
      EXPECT_EQ(JsonAt(row, absl::StrCat(name, ".mean")), JsonAt(run, path)) << queue << name;
      EXPECT_EQ(JsonAt(row, absl::StrCat(name, ".stddev")), "0") << queue << name;
      EXPECT_EQ(JsonAt(row, absl::StrCat(name, ".ci95_half_width")), "0") << queue << name;
    }
  }
  // Not all alike, or the above would say little.
  EXPECT_NE(JsonAt(FromQueue(json, "srtf"), "preemptions.mean"), "0");
  EXPECT_NE(JsonAt(FromQueue(json, "fifo"), "mean_jct_seconds.mean"),
            JsonAt(FromQueue(json, "sjf"), "mean_jct_seconds.mean"));
}

TEST_F(CliCompareReplayTest, SeveralSeedsGiveMeansWithIntervals) {
  const Names args = Gangs("compare", {"--queues", "fifo,srtf", "--seeds", "1..2"});
  Names as_json = args;
  as_json.emplace_back("--format=json");
  const ProcessResult result = Run(as_json);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");  // the jobs are generated, so that seeds matter
  for (const char* queue : {"fifo", "srtf"}) {
    const std::string row = FromQueue(result.out, queue);
    const std::string first = RunJson(queue, "1");
    const std::string second = RunJson(queue, "2");
    for (const auto& [name, path] : kFigures) {
      const double a = Number(JsonAt(first, path));
      const double b = Number(JsonAt(second, path));
      EXPECT_EQ(Number(JsonAt(row, absl::StrCat(name, ".mean"))), MeanOf({a, b}).mean)
          << queue << name;
      // Student's t for 95 % with one degree of freedom is 12.706, and the standard error of the
      // mean of two is half their distance.
      const double half_width = 12.706 * std::abs(a - b) / 2;
      EXPECT_NEAR(Number(JsonAt(row, absl::StrCat(name, ".ci95_half_width"))), half_width,
                  1e-9 * (1 + half_width))
          << queue << name;
    }
  }
  const std::string table = Succeed(args);
  EXPECT_EQ(FirstColumn(table), (Names{"queue", "fifo", "srtf"}));
  EXPECT_TRUE(absl::StrContains(table, "  150 ±0  ")) << table;
  EXPECT_TRUE(absl::EndsWith(
      table, absl::StrCat(kExplanation, "2 seed(s), ± 95 % confidence of the mean.\n")))
      << table;
}

TEST_F(CliCompareReplayTest, CsvAndFiles) {
  const Names args = Gangs("compare", {"--queues", kFourQueues});
  Names as_csv = args;
  as_csv.insert(as_csv.end(), {"--format", "csv", "--out", "out"});
  const std::string csv = Succeed(as_csv);
  EXPECT_EQ(dir_.List("out"),
            (Names{"compare.csv", "compare.json", "compare.yaml", "compare_seeds.csv"}));
  EXPECT_EQ(dir_.Read("out/compare.csv"), csv);
  Names as_json = args;
  as_json.emplace_back("--format=json");
  const std::string json = Succeed(as_json);
  EXPECT_EQ(dir_.Read("out/compare.json"), json);

  const Names lines = Split(csv, '\n');
  ASSERT_EQ(lines.size(), 6u);  // a header, four rows, nothing behind the last line end
  std::string header = "queue,policy,seeds";
  for (const auto& [name, path] : kFigures)
    absl::StrAppend(&header, ",", name, "_mean,", name, "_ci95");
  EXPECT_EQ(lines[0], header);
  for (size_t r = 0; r < 4; ++r) {
    std::string expected = absl::StrCat(kQueues[r], ",consolidate,1");
    const std::string row = FromQueue(json, kQueues[r]);
    for (const auto& [name, path] : kFigures) {
      absl::StrAppend(&expected, ",", JsonAt(row, absl::StrCat(name, ".mean")), ",0");
    }
    EXPECT_EQ(lines[r + 1], expected);
  }
  EXPECT_EQ(lines[5], "");
}

TEST_F(CliCompareReplayTest, RowsAreQueuesTimesPolicies) {
  EXPECT_EQ(FirstColumn(Succeed(
                Gangs("compare", {"--queues", "sjf,fifo", "--policies", "consolidate,best-fit"}))),
            (Names{"queue/policy", "sjf/consolidate", "sjf/best-fit", "fifo/consolidate",
                   "fifo/best-fit"}));
  EXPECT_EQ(FirstColumn(Succeed(
                Gangs("compare", {"--queues", "sjf", "--policies", "consolidate,best-fit"}))),
            (Names{"policy", "consolidate", "best-fit"}));
  // The scenario's policy, unless there is a choice of policies.
  EXPECT_EQ(FirstColumn(Succeed(Gangs("compare", {"--queues", "sjf"}))),
            (Names{"policy", "consolidate"}));
  Names all = {"queue"};
  for (const QueueEntry& entry : BuiltinRegistry().queues()) all.push_back(entry.name);
  all.emplace_back("kubernetes");
  EXPECT_EQ(FirstColumn(Succeed(Gangs("compare", {"--queues", "all"}))), all);
}

TEST_F(CliCompareReplayTest, WithoutQueuesEveryPolicyWithTheScenariosQueue) {
  Names all = {"policy"};
  for (const PolicyEntry& entry : BuiltinRegistry().policies()) {
    if (entry.kind == PolicyEntry::Kind::kGpuSharing) all.push_back(entry.name);
  }
  const std::string table = Succeed(Gangs("compare", {}));
  EXPECT_EQ(FirstColumn(table), all);
  EXPECT_TRUE(absl::StrContains(table, "  JCT s  ")) << table;
  EXPECT_FALSE(absl::StrContains(table, "vs ")) << table;
  for (const char* queue : {"kubernetes", "srtf"}) {
    const std::string json =
        Succeed(Gangs("compare", {"--queue", queue, "--policies", "best-fit", "--format", "json"}));
    EXPECT_EQ(JsonAt(json, "queue"), absl::StrCat("\"", queue, "\""));
    EXPECT_EQ(JsonAt(json, "policy"), "\"best-fit\"");
  }
  // A fill has no queue to tell of.
  const std::string fill = Succeed({"compare", "--nodes", "nodes.csv", "--pods", "pods.csv",
                                    "--policies", "best-fit", "--format", "json"});
  EXPECT_EQ(JsonAt(fill, "mode"), "\"fill\"");
  EXPECT_EQ(JsonAt(fill, "queue"), "");
  EXPECT_EQ(JsonAt(fill, "goodput"), "");
}

// Pods without a run time: none finishes, and no time passes.
TEST_F(CliCompareReplayTest, FiguresThatThereAreNot) {
  const Names args = absl::StrSplit(
      "compare --mode replay --set cluster.nodes=4 --set workload.generated.pods=5 --queues "
      "fifo,sjf --policies best-fit",
      ' ');
  Names as_csv = args;
  as_csv.emplace_back("--format=csv");
  const Names lines = Split(Succeed(as_csv), '\n');
  ASSERT_EQ(lines.size(), 4u);
  const std::string none = ",,";
  EXPECT_EQ(lines[1],
            absl::StrCat("fifo,best-fit,1,0,0", none, none, none, none, none, none, ",0,0", none));
  Names as_json = args;
  as_json.emplace_back("--format=json");
  const std::string json = Succeed(as_json);
  for (const char* name :
       {"mean_jct_seconds", "p95_jct_seconds", "mean_queueing_seconds", "mean_slowdown",
        "makespan_seconds", "gpu_utilisation_percent", "goodput"}) {
    EXPECT_EQ(JsonAt(json, name), "null") << name;
  }
  const Names words = absl::StrSplit(Split(Succeed(args), '\n')[1], ' ', absl::SkipEmpty());
  EXPECT_EQ(words, (Names{"fifo", "0", "-", "-", "-", "-", "-", "-", "0", "-"}));
}

// A job without an end has no completion time; a reader of the means must know of it.
TEST_F(CliCompareReplayTest, MeansThatLeaveJobsOutSaySo) {
  dir_.Write("line.csv", absl::StrCat(dir_.Read("line.csv"), "d,1,1,1,1000,,LS,,300,,\n"));
  const ProcessResult result = Run(Line("compare", {"--queues", "fifo,sjf"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "drasim: warning: 1 of 4 jobs (25.0 %) have no run time: they are services, which keep "
            "their places to the end of the run; --set workload.trace.needs=run_time leaves such "
            "rows out\n");
  EXPECT_TRUE(absl::StrContains(
      result.out, "Means over jobs that finished alone: fifo 3 of 4 jobs, sjf 3 of 4 jobs. "))
      << result.out;
}

TEST_F(CliCompareReplayTest, SeedsThatChangeNothingAreTold) {
  const std::string note = "drasim: note: nothing here is random, so all 3 seeds give the same\n";
  const auto compared = [this](const Names& more) {
    const ProcessResult result = Run(Line("compare", more));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  };
  const ProcessResult idle = compared({"--queues", "fifo,srtf", "--seeds", "1..3"});
  EXPECT_EQ(idle.err, note);
  EXPECT_TRUE(absl::StrContains(idle.out, "  135.7 ±0.0  ")) << idle.out;
  EXPECT_EQ(compared({"--queues", "fifo,srtf"}).err, "");
  EXPECT_EQ(compared({"--queues", "fifo", "--seeds", "1..3", "--set",
                      "workload.jitter=uniform(low=0,high=1)"})
                .err,
            "");
  // kube-scheduler's preemption draws, and one such queue is enough.
  EXPECT_EQ(compared({"--queues", "fifo,kubernetes", "--seeds", "1..3"}).err, "");
  EXPECT_EQ(
      compared({"--queues", "fifo,kubernetes", "--seeds", "1..3", "--set", "preemption.mode=none"})
          .err,
      note);
  const ProcessResult swept =
      Run(Line("sweep", {"--queues", "fifo", "--seeds", "1..3", "--out", "out"}));
  EXPECT_EQ(swept.exit_code, 0);
  EXPECT_EQ(swept.err, note);
}

TEST_F(CliCompareReplayTest, WhatDependsOnTheSeed) {
  proto::Scenario fixed;
  fixed.set_mode("replay");
  fixed.set_order("trace");
  fixed.mutable_workload()->mutable_trace()->set_path("a.csv");
  fixed.mutable_scheduler()->set_policy("fgd");
  fixed.mutable_scheduler()->set_queue("fifo");
  EXPECT_FALSE(DependsOnSeed(RunSpecOf(fixed)));
  for (const JobOrder order : {JobOrder::kSeeded, JobOrder::kArtifact}) {
    RunSpec ordered = RunSpecOf(fixed);
    ordered.order = order;
    EXPECT_TRUE(DependsOnSeed(ordered));
  }
  const std::pair<const char*, const char*> random[] = {
      {"workload.tuning.ratio", "1.3"},     {"workload.bootstrap.jobs", "10"},
      {"workload.jitter", "constant(1)"},   {"workload.load_factor", "2"},
      {"scheduler.policy", "random"},       {"scheduler.device_chooser", "random"},
      {"scheduler.score.0.name", "Random"}, {"scheduler.estimates.noise", "0.1"},
  };
  for (const auto& [key, value] : random) {
    proto::Scenario s = fixed;
    ASSERT_TRUE(SetField(key, value, "test", &s).ok()) << key;
    EXPECT_TRUE(DependsOnSeed(RunSpecOf(s))) << key << " " << value;
  }
  const std::pair<const char*, const char*> certain[] = {
      {"workload.speed_up", "2"},         {"workload.limit", "5"},
      {"scheduler.estimates.noise", "0"}, {"scheduler.score.0.name", "FGD"},
      {"preemption.mode", "priority"},  // of a batch queue: the order of victims is fixed
  };
  for (const auto& [key, value] : certain) {
    proto::Scenario s = fixed;
    ASSERT_TRUE(SetField(key, value, "test", &s).ok()) << key;
    EXPECT_FALSE(DependsOnSeed(RunSpecOf(s))) << key << " " << value;
  }
  // The device chooser that is given, not that of the policy; both of "random" draw.
  proto::Scenario random_nodes = fixed;
  random_nodes.mutable_scheduler()->set_policy("random");
  random_nodes.mutable_scheduler()->set_device_chooser("best");
  EXPECT_TRUE(DependsOnSeed(RunSpecOf(random_nodes)));
  random_nodes.mutable_scheduler()->add_score()->set_name("FGD");
  EXPECT_FALSE(DependsOnSeed(RunSpecOf(random_nodes)));
  proto::Scenario generated = fixed;
  generated.mutable_workload()->clear_trace();
  EXPECT_TRUE(DependsOnSeed(RunSpecOf(generated)));
}

TEST_F(CliCompareReplayTest, Refusals) {
  const char* const fill =
      "--queues: expected mode: replay; a fill tries each job once, so that none queues";
  ExpectRefused({"compare", "--queues", "fifo,sjf"}, fill);
  ExpectRefused({"sweep", "--queues", "fifo,sjf", "--out", "out"}, fill);
  ExpectRefused({"compare", "--mode", "repaly", "--queues", "fifo"},
                "mode: found 'repaly', expected one of fill, replay (did you mean 'replay'?)");
  ExpectRefused(Gangs("compare", {"--queues", "sjf,ffio"}),
                "--queues: unknown queue 'ffio' (did you mean 'fifo'?)");
  ExpectRefused(Gangs("sweep", {"--queues", "sjf,ffio", "--out", "out"}),
                "--queues: unknown queue 'ffio' (did you mean 'fifo'?)");
  ExpectRefused(Gangs("compare", {"--queues", "sjf,fifo,sjf"}), "--queues: 'sjf' is there twice");
  ExpectRefused(Gangs("compare", {"--queues", "sjf,"}), "--queues: unknown queue ''");
  const ProcessResult run = Run(Gangs("run", {"--queue", "ffio"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StartsWith(run.err, "drasim: error: scheduler.queue: found 'ffio'")) << run.err;
  EXPECT_TRUE(absl::EndsWith(run.err, "(did you mean 'fifo'?)\n")) << run.err;
  EXPECT_FALSE(dir_.Has("out"));
}

// Each queue is resolved on its own: what does not go with the scenario's own queue is no matter.
TEST_F(CliCompareReplayTest, OnlyTheQueuesComparedAreChecked) {
  const Names backfill = {"--set", "scheduler.backfill=easy", "--queues"};
  Names batch = backfill;
  batch.emplace_back("fifo,sjf");
  EXPECT_EQ(FirstColumn(Succeed(Gangs("compare", batch))), (Names{"queue", "fifo", "sjf"}));
  Names mixed = backfill;
  mixed.emplace_back("fifo,kubernetes");
  ExpectRefused(Gangs("compare", mixed),
                "scheduler.backfill: expected none with scheduler.queue: kubernetes, where no pod "
                "holds up another");
}

TEST_F(CliCompareReplayTest, TheHelpListsTheQueues) {
  Names names;
  for (const QueueEntry& entry : BuiltinRegistry().queues()) names.push_back(entry.name);
  names.emplace_back("kubernetes");
  const std::string list = absl::StrJoin(names, ", ");
  for (const char* command : {"run", "compare", "sweep"}) {
    const std::string help = Succeed({command, "--help"});
    EXPECT_TRUE(absl::StrContains(help, absl::StrCat("\n  --queue NAME              ", list)))
        << help;
    EXPECT_EQ(absl::StrContains(help, "\n  --queues "), absl::string_view(command) != "run");
  }
}

TEST_F(CliCompareReplayTest, SweepsOverQueues) {
  const Names args = Gangs("sweep", {"--queues", kFourQueues, "--seeds", "1..2", "--out", "out"});
  EXPECT_EQ(Succeed(args), Report(8, 8, "out"));
  const std::string csv = dir_.Read("out/sweep.csv");
  const Names lines = Split(csv, '\n');
  ASSERT_EQ(lines.size(), 10u);
  std::string columns = ",order_hash,rank_hash,placement_hash,queue";
  for (const auto& [name, path] : kFigures) absl::StrAppend(&columns, ",", name);
  EXPECT_TRUE(absl::EndsWith(lines[0], absl::StrCat(columns, ",fingerprint"))) << lines[0];
  const size_t fields_expected = Split(lines[0], ',').size();
  size_t line = 1;
  for (const char* queue : kQueues) {
    for (const char* seed : {"1", "2"}) {
      const Names fields = Split(lines[line++], ',');
      ASSERT_EQ(fields.size(), fields_expected);
      EXPECT_EQ(fields[1], "generated");
      EXPECT_EQ(fields[2], "consolidate");
      EXPECT_EQ(fields[3], seed);
      const std::string run = RunJson(queue, seed);
      size_t at = fields_expected - 11;
      EXPECT_EQ(fields[at++], queue);
      for (const auto& [name, path] : kFigures) {
        EXPECT_EQ(fields[at++], JsonAt(run, path)) << queue << " " << name;
      }
      EXPECT_EQ(absl::StrCat("\"", fields[at], "\""), JsonAt(run, "fingerprint")) << queue;
    }
  }
  // Nothing is run again, and with one queue more only that.
  EXPECT_EQ(Succeed(args), Report(8, 0, "out"));
  EXPECT_EQ(dir_.Read("out/sweep.csv"), csv);
  EXPECT_EQ(Succeed(Gangs("sweep", {"--queues", absl::StrCat(kFourQueues, ",drf"), "--seeds",
                                    "1..2", "--out", "out"})),
            Report(10, 2, "out"));
}

TEST_F(CliCompareReplayTest, TornRowsOfASweepAreRunAgain) {
  const auto args = [](const std::string& out) {
    return Gangs("sweep", {"--queues", kFourQueues, "--out", out});
  };
  EXPECT_EQ(Succeed(args("whole")), Report(4, 4, "whole"));
  const std::string csv = dir_.Read("whole/sweep.csv");
  const std::string partial = dir_.Read("whole/sweep.partial.csv");
  const size_t second_end = partial.find('\n', partial.find('\n') + 1);
  ASSERT_NE(second_end, std::string::npos);
  // In the fingerprint, just ahead of it, and among the figures.
  for (const size_t missing : {size_t{1}, size_t{16}, size_t{17}, size_t{18}, size_t{40}}) {
    const std::string out = absl::StrCat("cut", missing);
    std::filesystem::create_directory(dir_.PathOf(out));
    dir_.Write(absl::StrCat(out, "/sweep.partial.csv"),
               absl::string_view(partial).substr(0, second_end - missing));
    EXPECT_EQ(Succeed(args(out)), Report(4, 3, out));
    EXPECT_EQ(dir_.Read(absl::StrCat(out, "/sweep.csv")), csv) << missing;
  }
}

// A table of quotas is input, too.
TEST_F(CliCompareReplayTest, AChangedTableOfQuotasIsRunAgain) {
  const Names args =
      Gangs("sweep", {"--queues", "fifo", "--set", "quotas.0.path=quotas.csv", "--out", "out"});
  dir_.Write("quotas.csv", "date,someone\n2017-10-01,8\n");
  EXPECT_EQ(Succeed(args), Report(1, 1, "out"));
  EXPECT_EQ(Succeed(args), Report(1, 0, "out"));
  dir_.Write("quotas.csv", "date,someone\n2017-10-01,9\n");
  EXPECT_EQ(Succeed(args), Report(1, 1, "out"));
}

}  // namespace cli_compare_replay_test
}  // namespace drasim
