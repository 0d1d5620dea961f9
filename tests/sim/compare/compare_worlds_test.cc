// `drasim compare --worlds`: who competes, the table by hand, that files carry the same figures,
// and that these are those of runs; what is refused.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/app/commands.h"
#include "sim/app/flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/contenders.h"
#include "sim/compare/statistics.h"
#include "sim/compare/world_table.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"

namespace drasim {
namespace compare_worlds_test {

using Names = std::vector<std::string>;

// --- Contenders ----------------------------------------------------------------------------------

absl::StatusOr<Contenders> Make(absl::string_view yaml, const Names& args,
                                std::optional<double> fill_ratio = std::nullopt) {
  GivenScenario given;
  EXPECT_EQ(MergeYaml(yaml, "s.yaml", &*given.scenario), absl::OkStatus());
  for (const Command& command : Commands()) {
    if (command.name != "compare") continue;
    absl::StatusOr<ParsedFlags> flags = ParseFlags(command.flags, args);
    if (!flags.ok()) return flags.status();
    return MakeContenders(ContenderFlagsOf(*flags), given, fill_ratio);
  }
  return absl::NotFoundError("there is no command compare");
}

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// World, front end, rule, policy, queue, mode and order of each.
Names Described(const absl::StatusOr<Contenders>& contenders) {
  EXPECT_TRUE(contenders.ok()) << contenders.status();
  Names lines;
  if (!contenders.ok()) return lines;
  for (const Contender& c : contenders->all) {
    const proto::Scenario& s = *c.spec.written;
    lines.push_back(absl::StrJoin(
        {c.values[0], s.front_end().kind(), s.front_end().lowering().rule(), s.scheduler().policy(),
         s.scheduler().queue(), s.mode(), s.order(), s.workload().stream_interval()},
        " "));
  }
  return lines;
}

TEST(WorldContendersTest, AreUnderLikeConditions) {
  const absl::StatusOr<Contenders> made =
      Make(TestText("four.yaml"), {"--worlds", "direct,device-plugin,direct:mig-best-fit"});
  EXPECT_EQ(Described(made),
            (Names{"direct direct none least-allocated kubernetes replay trace 1s",
                   "device-plugin device-plugin whole-gpu least-allocated kubernetes replay trace "
                   "1s",
                   "direct:mig-best-fit direct mig-smallest mig-best-fit kubernetes replay trace "
                   "1s"}));
  EXPECT_TRUE(made->worlds);
  EXPECT_EQ(made->axes, Names{"world"});
  EXPECT_EQ(made->seeds, std::vector<uint64_t>{42});
  // A replay stays one, and loses the queue of its own.
  const std::string replay = absl::StrCat(
      "mode: replay\nscheduler: {queue: fifo, backfill: easy, policy: fgd}\n"
      "comparison: {policies: [random, best-fit], seeds: 3..5}\n",
      TestText("four.yaml").substr(TestText("four.yaml").find("cluster:")));
  const absl::StatusOr<Contenders> of_replay = Make(replay, {"--worlds", "device-plugin"});
  EXPECT_EQ(Described(of_replay),
            Names{"device-plugin device-plugin whole-gpu fgd kubernetes replay trace "});
  EXPECT_EQ(of_replay->seeds, (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ(Described(Make(replay, {"--worlds", "device-plugin", "--policies", "most-allocated",
                                    "--seeds", "7"})),
            Names{"device-plugin device-plugin whole-gpu most-allocated kubernetes replay trace "});
}

TEST(WorldContendersTest, AFillIsTunedBeforeItBecomesAStream) {
  const absl::StatusOr<Contenders> made =
      Make("order: artifact\n", {"--worlds", "direct,device-plugin"}, 1.3);
  ASSERT_TRUE(made.ok()) << made.status();
  for (const Contender& c : made->all) {
    EXPECT_EQ(c.spec.written->workload().tuning().ratio(), 1.3);
    EXPECT_EQ(c.spec.written->order(), "artifact");
  }
  const absl::StatusOr<Contenders> jobs = Make(TestText("four.yaml"), {"--worlds", "direct"}, 1.3);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_FALSE(jobs->all[0].spec.written->workload().tuning().has_ratio());
  const absl::StatusOr<Contenders> replay = Make("mode: replay\n", {"--worlds", "direct"}, 1.3);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_FALSE(replay->all[0].spec.written->workload().tuning().has_ratio());
}

TEST(WorldContendersTest, WhatIsRefused) {
  const auto error = [](absl::string_view more, const Names& args) {
    Names all = {"--worlds", "direct,device-plugin"};
    all.insert(all.end(), args.begin(), args.end());
    return WithoutKey(Make(absl::StrCat(TestText("four.yaml"), more), all).status());
  };
  EXPECT_EQ(error("", {}), absl::OkStatus());
  EXPECT_EQ(error("comparison: {axes: [{name: x, values: [{name: a}]}]}", {}),
            Invalid("--worlds: found 1 axes in the comparison, too, expected one of them"));
  EXPECT_EQ(error("", {"--queues", "fifo"}),
            Invalid("--queues: expected none beside --worlds, which all have kube-scheduler's "
                    "queue"));
  EXPECT_EQ(error("comparison: {queues: [fifo]}", {}),
            Invalid("comparison.queues: expected none beside --worlds, which all have "
                    "kube-scheduler's queue"));
  EXPECT_EQ(error("", {"--policies", "most-allocated,least-allocated"}),
            Invalid("--policies: found 2, expected one beside --worlds, which are compared under "
                    "like conditions"));
  EXPECT_EQ(error("", {"--worlds", "direct,direct"}), Invalid("--worlds: 'direct' is there twice"));
  EXPECT_EQ(
      error("", {"--worlds", "direct:fdg"}),
      Invalid("--worlds: 'direct:fdg': unknown policy 'fdg', expected one of random, dotprod, "
              "gpu-clustering, gpu-packing, best-fit, fgd, consolidate, least-allocated, "
              "most-allocated, "
              "requested-to-capacity-ratio, packing-extender, mig-driver, mig-first-fit, "
              "mig-dra-driver, "
              "mig-hami, mig-instaslice, mig-nos, mig-parted, mig-best-fit, mig-worst-fit, "
              "mig-round-robin, mig-parvagpu, mig-mfi-any, mig-mfi-part, mig-mfi-any-weighted, "
              "mig-mfi-part-weighted (did you mean 'fgd'?)"));
  // A value of the scenario's own, and one of the world's.
  EXPECT_EQ(error("timing: {bind: never}", {}),
            Invalid("timing.bind: found 'never', expected a duration such as 5ms, 1.5s or 2h "
                    "(with world 'direct')"));
  EXPECT_EQ(error("preemption: {mode: policy}", {}),
            Invalid("preemption.mode: found 'policy', expected none or priority: the queue "
                    "kubernetes says nothing about who may displace whom (with world 'direct')"));
}

// --- The table -----------------------------------------------------------------------------------

WorldColumn Column(const std::string& name, const std::vector<std::pair<double, double>>& means) {
  WorldColumn column;
  column.name = name;
  for (const auto& [mean, half_width] : means) {
    column.defined.push_back(!std::isnan(mean));
    MeanInterval interval;
    interval.mean = mean;
    interval.half_width = half_width;
    column.metrics.push_back(interval);
  }
  return column;
}

std::vector<CellMetric> Metrics(const Names& names) {
  std::vector<CellMetric> metrics;
  for (const std::string& name : names) metrics.push_back(*FindMetric(name));
  return metrics;
}

TEST(WorldTableTest, NumbersUnderNumbers) {
  const std::vector<CellMetric> metrics =
      Metrics({"wanted_percent", "pods_unschedulable", "api_writes_per_pod", "goodput"});
  const double none = std::nan("");
  const std::vector<WorldColumn> columns = {
      Column("device-plugin", {{79.888, 0}, {3626, 0}, {none, 0}, {0.5, 0}}),
      Column("dra-classic:first-fit", {{89.06, 0}, {3626, 0}, {11.944, 0}, {none, 0}}),
      Column("dra-classic:first-fit:immediate", {{7.5, 0}, {12, 0}, {9, 0}, {0.25, 0}})};
  EXPECT_EQ(WorldTable(metrics, columns, 1, false), TestText("NumbersUnderNumbers"));
  // The best is bold; without a better one, none is.
  const std::string ansi = WorldTable(
      Metrics({"wanted_percent", "preemptions"}),
      {Column("direct", {{10, 0}, {0, 0}}), Column("device-plugin", {{30, 0}, {0, 0}})}, 1, true);
  EXPECT_EQ(ansi,
            "world                            direct   device-plugin\n"
            "GPUs wanted by pods that run, %   10.00  \033[1m30.00 (+20.00)\033[0m\n"
            "preemptions                           0      0 (=)\n");
}

TEST(WorldTableTest, IntervalsOfSeveralSeeds) {
  EXPECT_EQ(WorldTable(Metrics({"wanted_percent", "mean_jct_seconds", "api_reads_per_pod"}),
                       {Column("direct", {{95.39, 0.06}, {1000, 12.34}, {std::nan(""), 0}}),
                        Column("device-plugin", {{79.89, 0.34}, {999.99, 1}, {5, 0.5}})},
                       10, false),
            "world                                  direct         device-plugin\n"
            "GPUs wanted by pods that run, %   95.39 ±0.06  79.89 ±0.34 (-15.50)\n"
            "completion of jobs, mean s       1000.0 ±12.3  1000.0 ±1.0 (-0.0)\n"
            "API reads per pod                           -   5.00 ±0.50\n");
}

TEST(WorldTableTest, TheMostFrequentFailures) {
  WorldColumn none = Column("direct", {});
  WorldColumn two = Column("device-plugin", {});
  two.failures = {{"Insufficient cpu", 5}, {"UnexpectedAdmissionError: x", 7}};
  WorldColumn four = Column("dra-classic:first-fit", {});
  four.failures = {{"a", 9}, {"b", 8}, {"c", 7}, {"d", 6}};
  EXPECT_EQ(FailureLines({none}), "");
  EXPECT_EQ(FailureLines({none, two, four}), TestText("TheMostFrequentFailures"));
}

// --- Metrics -------------------------------------------------------------------------------------

TEST(StartMetricsTest, NeedAReportAndStarts) {
  CellResult cell;
  const auto value = [&cell](absl::string_view name) { return FindMetric(name)->value(cell); };
  for (const CellMetric& metric : StartMetrics()) {
    EXPECT_TRUE(std::isnan(metric.value(cell))) << metric.name;
  }
  StartFigures& f = cell.starts;
  const std::pair<const char*, double*> figures[] = {
      {"mean_start_seconds", &f.mean_total_seconds},
      {"p95_start_seconds", &f.p95_total_seconds},
      {"mean_start_queue_seconds", &f.mean_queue_seconds},
      {"p95_start_queue_seconds", &f.p95_queue_seconds},
      {"mean_negotiation_seconds", &f.mean_negotiation_seconds},
      {"p95_negotiation_seconds", &f.p95_negotiation_seconds},
      {"mean_prepare_seconds", &f.mean_prepare_seconds},
      {"p95_prepare_seconds", &f.p95_prepare_seconds},
      {"cycles_per_pod", &f.cycles_per_pod},
  };
  double next = 0.5;
  for (const auto& [name, figure] : figures) *figure = next++;
  f.present = true;
  EXPECT_EQ(value("pods_started"), 0);
  for (const auto& [name, figure] : figures) EXPECT_TRUE(std::isnan(value(name))) << name;
  f.pods_started = 7;
  next = 0.5;
  for (const auto& [name, figure] : figures) EXPECT_EQ(value(name), next++) << name;
  EXPECT_EQ(value("pods_started"), 7);
  // Only a control plane has these.
  const std::pair<const char*, std::optional<double>*> of_plane[] = {
      {"api_writes_per_pod", &f.api_writes_per_pod}, {"api_reads_per_pod", &f.api_reads_per_pod},
      {"pods_pinned_mean", &f.pods_pinned_mean},     {"pods_pinned_most", &f.pods_pinned_most},
      {"pods_pinned_at_end", &f.pods_pinned_at_end},
  };
  for (const auto& [name, figure] : of_plane) {
    EXPECT_TRUE(std::isnan(value(name))) << name;
    *figure = next++;
    EXPECT_EQ(value(name), **figure) << name;
  }
  EXPECT_EQ(StartMetrics().size(), std::size(figures) + std::size(of_plane) + 1);
}

TEST(StartMetricsTest, EveryRowOfWorldsHasALabelOfItsOwn) {
  std::set<std::string> labels;
  for (const CellMetric& metric : WorldMetrics()) {
    EXPECT_TRUE(labels.insert(std::string(RowLabel(metric))).second) << metric.name;
  }
  EXPECT_GE(labels.size(), 25u);
}

// --- The command ---------------------------------------------------------------------------------

Names Lines(absl::string_view text) { return absl::StrSplit(text, '\n'); }

// The entries of compare.json's rows.
Names JsonRows(absl::string_view json) {
  Names rows = absl::StrSplit(json, "\"axes\": {");
  rows.erase(rows.begin());
  return rows;
}

class CliCompareWorldsTest : public CliTest {
 protected:
  CliCompareWorldsTest() {
    dir_.Write("four.yaml", TestText("four.yaml"));
    // Jobs that end, on A100s.
    dir_.Write("replay.yaml", TestText("CliCompareWorldsTest"));
  }
  static Names Compare(absl::string_view file, absl::string_view worlds, const Names& more = {}) {
    Names args = {"compare", std::string(file), "--worlds", std::string(worlds)};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
};

// direct: a and b share a GPU, c has the other: 1.75 of 2 GPUs. device-plugin: a and b have a GPU
// each, of which 0.75 are wanted.
TEST_F(CliCompareWorldsTest, FourJobsByHand) {
  EXPECT_EQ(
      Succeed(Compare(
          "four.yaml", "direct,device-plugin",
          {"--set",
           "comparison.metrics=wanted_percent,handed_out_percent,internal_waste_percent,"
           "acceptance,pods_unschedulable,mean_start_seconds,cycles_per_pod,api_writes_per_pod"})),
      TestText("FourJobsByHand"));
  // Two replicas are enough for all that want less than a half, which c does not.
  const std::string sliced = Succeed(Compare("four.yaml", "direct,device-plugin:time-slicing=2"));
  EXPECT_TRUE(absl::EndsWith(sliced,
                             "\nno divergence between direct and device-plugin:time-slicing=2: all "
                             "pods went to the same nodes\n"))
      << sliced;
  // A figure without a value in any world has no row, unless it is asked for.
  EXPECT_FALSE(absl::StrContains(sliced, "API writes")) << sliced;
  EXPECT_FALSE(absl::StrContains(sliced, "completion of jobs")) << sliced;
}

TEST_F(CliCompareWorldsTest, FilesCarryTheSameFigures) {
  const std::string worlds = "device-plugin,device-plugin:static-mig,direct:fgd";
  const std::string json =
      Succeed(Compare("replay.yaml", worlds, {"--seeds", "1..2", "--format", "json"}));
  const std::string csv =
      Succeed(Compare("replay.yaml", worlds, {"--seeds", "1..2", "--format", "csv"}));
  const std::string table =
      Succeed(Compare("replay.yaml", worlds, {"--seeds", "1..2", "--out", "out"}));
  EXPECT_EQ(dir_.Read("out/compare.json"), json);
  EXPECT_EQ(dir_.Read("out/compare.csv"), csv);
  const Names lines = Lines(csv);
  ASSERT_EQ(lines.size(), 5u);
  const Names header = absl::StrSplit(lines[0], ',');
  const Names rows = JsonRows(json);
  ASSERT_EQ(rows.size(), 3u);
  ASSERT_EQ((Names(header.begin(), header.begin() + 4)),
            (Names{"world", "queue", "policy", "seeds"}));
  const Names names = absl::StrSplit(worlds, ',');
  size_t different = 0;
  for (size_t r = 0; r < 3; ++r) {
    const Names fields = absl::StrSplit(lines[r + 1], ',');
    ASSERT_EQ(fields.size(), header.size());
    EXPECT_EQ(fields[0], names[r]);
    EXPECT_EQ(fields[1], "kubernetes");
    EXPECT_EQ(fields[2], r == 2 ? "fgd" : "most-allocated");
    EXPECT_EQ(JsonAt(rows[r], "world"), absl::StrCat("\"", names[r], "\""));
    for (size_t f = 4; f < header.size(); f += 3) {
      const std::string metric = header[f].substr(0, header[f].size() - 5);
      ASSERT_EQ(header[f], metric + "_mean");
      ASSERT_EQ(header[f + 1], metric + "_ci95");
      ASSERT_EQ(header[f + 2], metric + "_delta");
      EXPECT_EQ(fields[f], JsonAt(rows[r], metric + ".mean")) << metric;
      EXPECT_EQ(fields[f + 1], JsonAt(rows[r], metric + ".ci95_half_width")) << metric;
      EXPECT_EQ(fields[f + 2], JsonAt(rows[r], metric + ".delta")) << metric;
      const double mean = Number(fields[f]);
      const double first = Number(static_cast<Names>(absl::StrSplit(lines[1], ','))[f]);
      const double delta = RoundDifference(mean - first, std::max(std::abs(mean), std::abs(first)));
      EXPECT_EQ(Number(fields[f + 2]), delta) << metric;
      different += delta != 0 ? 1 : 0;
      // The table says the same, as far as it goes.
      const CellMetric m = *FindMetric(metric);
      EXPECT_TRUE(absl::StrContains(table, absl::StrCat("\n", RowLabel(m), " "))) << metric;
    }
    EXPECT_NE(JsonAt(rows[r], "failures"), "");
  }
  EXPECT_GE(different, 20u);
  for (const char* text :
       {"mean_jct_seconds_mean", "mean_start_queue_seconds_mean", "cycles_per_pod_mean"}) {
    EXPECT_TRUE(absl::StrContains(lines[0], text)) << text;
  }
  EXPECT_TRUE(absl::StrContains(table, "; 2 seed(s), ± 95 % confidence of the mean.\n")) << table;
  // The policy of one world is its own.
  EXPECT_TRUE(absl::StrContains(table, "\nKube-scheduler's queue; 2 seed(s)")) << table;
  const size_t divergences = json.find("\"divergences\": [");
  ASSERT_NE(divergences, std::string::npos);
  const std::string behind = json.substr(divergences);
  EXPECT_TRUE(absl::StrContains(behind, "\"device-plugin\",\n")) << behind;
  EXPECT_TRUE(absl::StrContains(
      table, absl::StrCat("first divergence between device-plugin and direct:fgd: pod ")))
      << table;
}

// The same world as a run of its own.
TEST_F(CliCompareWorldsTest, FiguresAreThoseOfRuns) {
  const std::string json = Succeed(
      Compare("replay.yaml", "device-plugin,device-plugin:static-mig", {"--format", "json"}));
  const Names common = {"scheduler.queue=kubernetes", "scheduler.kubernetes.pop_from_backoff=false",
                        "front_end.kind=device-plugin"};
  const std::vector<Names> worlds = {
      {"front_end.device_plugin.mig_strategy=none", "front_end.lowering.rule=whole-gpu"},
      {"front_end.device_plugin.mig_strategy=mixed", "front_end.lowering.rule=mig-smallest",
       "cluster.mig.plan=demand"}};
  const std::pair<const char*, const char*> figures[] = {
      {"mean_jct_seconds", "jobs.jct_seconds.mean"},
      {"handed_out_percent", "devices.mean.held_percent"},
      {"stranded_memory_slices_percent", "devices.mean.stranded_percent"},
      {"pods_unschedulable", "pods.unschedulable"},
      // With single pods that are never interrupted, a start is a job's.
      {"mean_start_seconds", "jobs.queueing_seconds.mean"},
      {"p95_start_queue_seconds", "jobs.queueing_seconds.p95"},
  };
  for (size_t w = 0; w < 2; ++w) {
    Names args = {"run", "replay.yaml", "--format", "json", "--set", "preemption.mode=none"};
    for (const Names& settings : {common, worlds[w]}) {
      for (const std::string& setting : settings) {
        args.emplace_back("--set");
        args.push_back(setting);
      }
    }
    const std::string run = Succeed(args);
    for (const auto& [metric, path] : figures) {
      EXPECT_NEAR(Number(JsonAt(JsonRows(json)[w], absl::StrCat(metric, ".mean"))),
                  Number(JsonAt(run, path)), 1e-6)
          << w << " " << metric;
    }
  }
}

TEST_F(CliCompareWorldsTest, ClaimsAreNegotiated) {
  const std::string json =
      Succeed(Compare("four.yaml", "device-plugin,dra-classic:first-fit,dra-classic:fragmentation",
                      {"--format", "json"}));
  const Names rows = JsonRows(json);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(JsonAt(rows[0], "api_writes_per_pod"), "null");
  for (size_t r = 1; r < 3; ++r) {
    // a and b get instances of one GPU, c the other GPU.
    EXPECT_EQ(JsonAt(rows[r], "acceptance.mean"), "0.75");
    EXPECT_GT(Number(JsonAt(rows[r], "api_writes_per_pod.mean")), 5);
    EXPECT_GT(Number(JsonAt(rows[r], "api_reads_per_pod.mean")), 1);
    EXPECT_GE(Number(JsonAt(rows[r], "cycles_per_pod.mean")), 2);
    const double total = Number(JsonAt(rows[r], "mean_start_seconds.mean"));
    const double parts = Number(JsonAt(rows[r], "mean_start_queue_seconds.mean")) +
                         Number(JsonAt(rows[r], "mean_negotiation_seconds.mean")) +
                         Number(JsonAt(rows[r], "mean_prepare_seconds.mean"));
    EXPECT_NEAR(total, parts, 1e-5);
    EXPECT_GT(Number(JsonAt(rows[r], "mean_negotiation_seconds.mean")), 0);
    EXPECT_GT(Number(JsonAt(rows[r], "mean_prepare_seconds.mean")), 0);
  }
}

TEST_F(CliCompareWorldsTest, WhatIsRefused) {
  ExpectRefused(
      Compare("four.yaml", "direct,device-plugn"),
      "--worlds: unknown world 'device-plugn', expected one of direct[:POLICY], "
      "device-plugin, device-plugin:static-mig, device-plugin:time-slicing[=N], "
      "dra-classic[:PLACEMENT][:immediate], dra-structured[:POLICY][:extended] (did you mean "
      "'device-plugin'?)");
  const ProcessResult no_mig =
      Run(Compare("four.yaml", "device-plugin:static-mig", {"--set", "cluster.node.gpu_model=T4"}));
  EXPECT_EQ(no_mig.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(no_mig.err, "no GPU model of its nodes (T4) is a MIG product"))
      << no_mig.err;
}

// --- Pods of manifests
// -----------------------------------------------------------------------------

// The shipped demonstration of the device plugin, whose pods ask for nvidia.com/gpu.
TEST(WorldsOfManifestsTest, RunTheSamePodsInEveryWorld) {
  const absl::StatusOr<Contenders> made = Make(
      absl::StrCat("mode: replay\norder: trace\ncluster:\n  nodes: 2\n  node: {cpu: \"8\", memory: "
                   "32Gi, gpus: 8, gpu_model: A100-SXM4-40GB}\nworkload: {manifests: [",
                   DRASIM_SOURCE_DIR,
                   "/scenarios/demos/gpu-test1-device-plugin.manifest.yaml]}\n"
                   "front_end: {kind: device-plugin}\n"),
      {"--worlds",
       "device-plugin,dra-classic:first-fit,direct,dra-structured,dra-structured:extended"});
  ASSERT_TRUE(made.ok()) << made.status();
  for (const Contender& c : made->all) {
    const absl::StatusOr<CellResult> cell = RunCell(c.spec, true, nullptr, true);
    ASSERT_TRUE(cell.ok()) << cell.status();
    EXPECT_EQ(cell->pods_scheduled, 2) << c.values[0];
    EXPECT_EQ(cell->pods_unschedulable, 0) << c.values[0];
    EXPECT_EQ(cell->replay.jobs_finished, 2) << c.values[0];
    EXPECT_TRUE(cell->failures.empty()) << c.values[0];
  }
}

TEST_F(CliCompareWorldsTest, AWorldThatCannotExpressItsPodsIsRefused) {
  dir_.Write("foo.yaml",
             "cluster: {nodes: 1, node: {cpu: '4', memory: 8Gi, gpus: 1, gpu_model: T4}}\n"
             "workload: {jobs: [{name: a, cpu: '1', extended: [{resource: example.com/foo, amount: "
             "'1'}]}]}\n");
  const ProcessResult refused = Run(Compare("foo.yaml", "direct"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(absl::StrContains(refused.err,
                                "--worlds: 'direct': pods ask for example.com/foo, which no node "
                                "has in this world"))
      << refused.err;
}

}  // namespace compare_worlds_test
}  // namespace drasim
