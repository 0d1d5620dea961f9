// Comparisons of worlds: which contenders axes make, that each row is that of the run it stands
// for, what the outputs look like, and what is refused.
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
#include "sim/app/commands.h"
#include "sim/app/flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/contenders.h"
#include "sim/compare/statistics.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/scenario_message.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace compare_axes_test {

using Names = std::vector<std::string>;

// The settings of each world, in the order of the rows.
struct WorldOfRow {
  const char* load;
  const char* order;
  Names settings;
};
std::vector<WorldOfRow> WorldsOfRows() {
  const std::string load = "workload.generated.load_percent=";
  const Names sjf = {"scheduler.queue=sjf", "scheduler.backfill=easy"};
  return {{"light", "first come", {load + "60", "scheduler.queue=fifo"}},
          {"light", "short first", {load + "60", sjf[0], sjf[1]}},
          {"heavy", "first come", {load + "130", "scheduler.queue=fifo"}},
          {"heavy", "short first", {load + "130", sjf[0], sjf[1]}}};
}

Names Lines(absl::string_view text) { return absl::StrSplit(text, '\n'); }
Names Words(absl::string_view line) { return absl::StrSplit(line, ' ', absl::SkipEmpty()); }

// The entries of compare.json's rows, when these have axes.
Names JsonRows(absl::string_view json) {
  Names rows = absl::StrSplit(json, "\"axes\": {");
  rows.erase(rows.begin());
  return rows;
}

// --- Contenders ----------------------------------------------------------------------------------

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// The contenders of a scenario and flags of `drasim compare`.
absl::StatusOr<Contenders> Make(absl::string_view yaml, const Names& args = {},
                                std::optional<double> fill_ratio = std::nullopt) {
  GivenScenario given;
  given.scenario = ScenarioMessage(ScenarioOf(yaml));
  for (const Command& command : Commands()) {
    if (command.name != "compare") continue;
    absl::StatusOr<ParsedFlags> flags = ParseFlags(command.flags, args);
    if (!flags.ok()) return flags.status();
    return MakeContenders(ContenderFlagsOf(*flags), given, fill_ratio);
  }
  return absl::NotFoundError("there is no command compare");
}

Names Policies(const absl::StatusOr<Contenders>& contenders) {
  EXPECT_TRUE(contenders.ok()) << contenders.status();
  Names names;
  if (!contenders.ok()) return names;
  for (const Contender& c : contenders->all) names.push_back(c.spec.written->scheduler().policy());
  return names;
}

TEST(ContendersTest, AreWorldsTimesQueuesTimesPolicies) {
  const absl::StatusOr<Contenders> made = Make(TestText("two_axes.yaml"));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->axes, (Names{"size", "who"}));
  EXPECT_EQ(made->seeds, (std::vector<uint64_t>{1, 2, 3, 9}));
  Names expected;
  for (const char* size : {"s,1", "l,2"}) {
    for (const char* who : {"x,ex", "y,why", "z,"}) {
      for (const char* queue : {"fifo", "sjf"}) {
        for (const char* policy : {"fgd", "best-fit"})
          expected.push_back(absl::StrCat(size, ",", who, ",", queue, ",", policy));
      }
    }
  }
  Names found;
  for (const Contender& c : made->all) {
    ASSERT_EQ(c.values.size(), 2u);
    found.push_back(absl::StrCat(c.values[0], ",", c.spec.written->workload().limit(), ",",
                                 c.values[1], ",", c.spec.written->name(), ",",
                                 c.spec.written->scheduler().queue(), ",",
                                 c.spec.written->scheduler().policy()));
    EXPECT_FALSE(c.spec.written->has_comparison());
    EXPECT_EQ(c.spec.written->order(), "trace");  // resolved
  }
  EXPECT_EQ(found, expected);
}

TEST(ContendersTest, FlagsReplaceTheLists) {
  const absl::StatusOr<Contenders> made =
      Make(TestText("two_axes.yaml"), {"--queues", "srtf", "--policies", "random", "--seeds", "7"});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->all.size(), 6u);
  for (const Contender& c : made->all) {
    EXPECT_EQ(c.spec.written->scheduler().queue(), "srtf");
    EXPECT_EQ(c.spec.written->scheduler().policy(), "random");
  }
  EXPECT_EQ(made->seeds, std::vector<uint64_t>{7});
}

TEST(ContendersTest, WithoutAListOfPolicies) {
  const Names all = *ParsePolicies("all");
  const std::string axes = "mode: replay\ncomparison:\n  axes:\n    - name: w\n      values:\n";
  const std::string silent = axes + "        - {name: a}\n";
  const std::string one = axes +
                          "        - {name: a, set: [scheduler.policy=best-fit]}\n"
                          "        - {name: b}\n";
  EXPECT_EQ(Policies(Make("mode: fill\n")), all);
  EXPECT_EQ(Policies(Make(silent)), all);
  EXPECT_EQ(Policies(Make(silent + "  policies: [all]\n")), all);
  EXPECT_EQ(Policies(Make(silent, {"--queues", "fifo"})), Names{"fgd"});
  EXPECT_EQ(Policies(Make(silent + "  queues: [fifo]\n")), Names{"fgd"});
  // An axis of policies: each world has its own.
  EXPECT_EQ(Policies(Make(one)), (Names{"best-fit", "fgd"}));
  EXPECT_EQ(Policies(Make(one + "scheduler: {policy: random}\n")), (Names{"best-fit", "random"}));
  // A list replaces it all the same.
  EXPECT_EQ(Policies(Make(one + "  policies: [consolidate]\n")),
            (Names{"consolidate", "consolidate"}));
  EXPECT_EQ(Policies(Make(one, {"--policies", "dotprod"})), (Names{"dotprod", "dotprod"}));
}

TEST(ContendersTest, AFillIsTunedUnlessItSaysItsLoad) {
  const std::string& yaml = TestText("AFillIsTunedUnlessItSaysItsLoad.yaml");
  const auto ratios = [&](std::optional<double> fill_ratio) {
    const absl::StatusOr<Contenders> made = Make(yaml, {}, fill_ratio);
    EXPECT_TRUE(made.ok()) << made.status();
    Names texts;
    if (!made.ok()) return texts;
    for (const Contender& c : made->all) {
      const proto::Tuning& tuning = c.spec.written->workload().tuning();
      texts.push_back(tuning.has_ratio() ? absl::StrCat(tuning.ratio()) : "-");
    }
    return texts;
  };
  EXPECT_EQ(ratios(1.3), (Names{"1.3", "0.9", "-", "-"}));
  EXPECT_EQ(ratios(std::nullopt), (Names{"-", "0.9", "-", "-"}));
}

TEST(ContendersTest, ErrorsNameTheWorld) {
  const auto error = [](absl::string_view base, absl::string_view values,
                        absl::string_view lists = "policies: [fgd]") {
    return WithoutKey(
        Make(absl::StrCat(base, "comparison:\n  ", lists,
                          "\n  axes:\n    - {name: w, values: [{name: fine}, ", values,
                          "]}\n    - {name: v, values: [{name: only one}]}\n"))
            .status());
  };
  // A value that an axis has set is wrong: it says so, not the file's line of that key.
  EXPECT_EQ(error("", "{name: b, set: [order=trace, workload.limit=-1]}"),
            Invalid("comparison.axes.w.b: workload.limit: expected 0 or more"));
  // A value of the scenario itself is wrong in this world.
  EXPECT_EQ(
      error("mode: replay\norder: trace\ntiming: {bind: 5ms}\n", "{name: b, set: [mode=fill]}"),
      Invalid("timing.bind: found '5ms', expected none: a fill has no clock (with w 'b', v "
              "'only one')"));
  EXPECT_EQ(error("mode: replay\n", "{name: b, set: [mode=fill]}", "queues: [fifo]"),
            Invalid("comparison.queues: expected mode: replay; a fill tries each job once, so that "
                    "none queues (with w 'b', v 'only one')"));
}

// --- CheckComparison -----------------------------------------------------------------------------

absl::Status ErrorOf(absl::string_view comparison) {
  const absl::Status status =
      CheckComparison(ScenarioOf(absl::StrCat("comparison: {", comparison, "}\n")));
  return status.ok() ? status : WithoutCheckedKey(status);
}

TEST(CheckComparisonTest, WhatIsRefused) {
  for (const auto& [yaml, message] : TestRows<2>("WhatIsRefused"))
    EXPECT_EQ(ErrorOf(yaml), Invalid(message)) << yaml;
}

// `sizes` axes with these numbers of values.
std::string AxesOf(const std::vector<int>& sizes) {
  Names axes;
  for (size_t a = 0; a < sizes.size(); ++a) {
    Names values;
    for (int v = 0; v < sizes[a]; ++v) values.push_back(absl::StrCat("{name: v", v, "}"));
    axes.push_back(absl::StrCat("{name: a", a, ", values: [", absl::StrJoin(values, ", "), "]}"));
  }
  return absl::StrCat("axes: [", absl::StrJoin(axes, ", "), "]");
}

TEST(CheckComparisonTest, Limits) {
  const absl::Status too_many = Invalid(
      "comparison: found more than 1000 contenders (values of each axis x queues x "
      "policies), expected at most 1000");
  EXPECT_EQ(ErrorOf(AxesOf({1, 1, 1, 1})), absl::OkStatus());
  EXPECT_EQ(ErrorOf(AxesOf({1, 1, 1, 1, 1})),
            Invalid("comparison.axes: found 5 axes, expected at most 4"));
  EXPECT_EQ(ErrorOf(AxesOf({10, 10, 10})), absl::OkStatus());
  EXPECT_EQ(ErrorOf(AxesOf({7, 11, 13})), too_many);  // 1,001
  EXPECT_EQ(ErrorOf(AxesOf({3000, 3000, 3000, 3000})), too_many);
  EXPECT_EQ(ErrorOf(AxesOf({125}) + ", queues: [fifo, sjf], policies: [fgd, random, dotprod, "
                                    "best-fit]"),
            absl::OkStatus());
  EXPECT_EQ(ErrorOf(AxesOf({126}) + ", queues: [fifo, sjf], policies: [fgd, random, dotprod, "
                                    "best-fit]"),
            too_many);
  // Flags count, too.
  const std::string yaml = absl::StrCat("comparison: {", AxesOf({501}), "}\n");
  EXPECT_EQ(WithoutCheckedKey(Make(yaml, {"--policies", "fgd,random"}).status()), too_many);
}

TEST(CheckComparisonTest, WhatIsFine) {
  EXPECT_EQ(CheckComparison(proto::Scenario()), absl::OkStatus());
  EXPECT_EQ(CheckComparison(ScenarioOf(TestText("two_axes.yaml"))), absl::OkStatus());
  EXPECT_EQ(CheckComparison(ScenarioOf(TestText("worlds.yaml"))), absl::OkStatus());
  // Settings of one axis stand on those of the axes before.
  EXPECT_EQ(ErrorOf("axes: [{name: w, values: [{name: a, set: [quotas.0.tenant=t]}]}, {name: v, "
                    "values: [{name: b, set: [quotas.1.tenant=u, 'quotas.1.gpus=4']}]}]"),
            absl::OkStatus());
}

// --- Metrics -------------------------------------------------------------------------------------

TEST(CellMetricsTest, NamesAndTitlesAreUnique) {
  std::set<std::string> names;
  std::set<std::string> titles;
  for (const CellMetric& metric : AllMetrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(titles.insert(metric.title).second) << metric.title;
    const absl::StatusOr<CellMetric> found = FindMetric(metric.name);
    ASSERT_TRUE(found.ok()) << metric.name;
    EXPECT_STREQ(found->title, metric.title);
  }
  EXPECT_EQ(names.size(), FillMetrics().size() + ReplayMetrics().size() + DeviceMetrics().size() +
                              StartMetrics().size());
}

TEST(CellMetricsTest, EachReadsItsFigure) {
  CellResult cell;
  cell.pods_arrived = 8;
  cell.pods_scheduled = 6;
  const auto value = [&cell](absl::string_view name) { return FindMetric(name)->value(cell); };
  // Without a report on devices; and a fill has no figures of jobs.
  for (const CellMetric& metric : DeviceMetrics()) {
    if (absl::string_view(metric.name) == "acceptance") continue;
    EXPECT_TRUE(std::isnan(metric.value(cell))) << metric.name;
  }
  for (const CellMetric& metric : ReplayMetrics()) {
    EXPECT_TRUE(std::isnan(metric.value(cell))) << metric.name;
  }
  EXPECT_EQ(value("acceptance"), 0.75);
  DeviceFigures& d = cell.devices;
  d.present = true;
  const std::pair<const char*, double*> figures[] = {
      {"acceptance", &d.acceptance_by_count},
      {"acceptance_by_slices", &d.acceptance_by_slices},
      {"handed_out_percent", &d.allocated_percent},
      {"wanted_percent", &d.demanded_percent},
      {"stranded_memory_slices_percent", &d.stranded_memory_percent},
      {"stranded_compute_slices_percent", &d.stranded_compute_percent},
      {"stranded_by_geometry_percent", &d.stranded_geometry_percent},
      {"stranded_by_layout_percent", &d.stranded_layout_percent},
      {"stranded_by_other_percent", &d.stranded_other_percent},
      {"internal_waste_percent", &d.waste_compute_percent},
      {"internal_waste_memory_percent", &d.waste_memory_percent},
      {"shortfall_percent", &d.shortfall_percent},
      {"repartition_gpu_seconds", &d.repartition_gpu_seconds},
      {"slot_fragmentation_percent", &d.slot_fragmentation_percent},
  };
  double next = 0.5;
  for (const auto& [name, figure] : figures) *figure = next++;
  d.admission_failures = 100;
  d.repartitions = 200;
  next = 0.5;
  for (const auto& [name, figure] : figures) EXPECT_EQ(value(name), next++) << name;
  EXPECT_EQ(value("admission_failures"), 100);
  EXPECT_EQ(value("repartitions"), 200);
  EXPECT_EQ(DeviceMetrics().size(), std::size(figures) + 2);
}

// --- The command ---------------------------------------------------------------------------------

class CliCompareAxesTest : public CliTest {
 protected:
  CliCompareAxesTest() { dir_.Write("worlds.yaml", TestText("worlds.yaml")); }
  static Names Worlds(absl::string_view command, const Names& more) {
    Names args = {std::string(command), "worlds.yaml"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
};

TEST_F(CliCompareAxesTest, RowsAreThoseOfRuns) {
  const std::string json = Succeed(Worlds("compare", {"--format", "json"}));
  const Names rows = JsonRows(json);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(JsonAt(json, "mode"), "\"replay\"");
  const std::pair<const char*, const char*> figures[] = {
      {"mean_jct_seconds", "jobs.jct_seconds.mean"},
      {"mean_queueing_seconds", "jobs.queueing_seconds.mean"},
      {"gpu_utilisation_percent", "utilisation.gpu.allocated_percent"},
  };
  size_t r = 0;
  std::set<std::string> different;
  for (const WorldOfRow& world : WorldsOfRows()) {
    for (const char* policy : {"best-fit", "consolidate"}) {
      const std::string& row = rows[r++];
      EXPECT_EQ(JsonAt(row, "load"), absl::StrCat("\"", world.load, "\""));
      EXPECT_EQ(JsonAt(row, "order"), absl::StrCat("\"", world.order, "\""));
      EXPECT_EQ(JsonAt(row, "policy"), absl::StrCat("\"", policy, "\""));
      Names runs;
      for (const char* seed : {"3", "4"}) {
        Names args = Worlds("run", {"--policy", policy, "--seed", seed, "--format", "json"});
        for (const std::string& setting : world.settings) {
          args.emplace_back("--set");
          args.push_back(setting);
        }
        runs.push_back(Succeed(args));
      }
      for (const auto& [name, path] : figures) {
        const double a = Number(JsonAt(runs[0], path));
        const double b = Number(JsonAt(runs[1], path));
        EXPECT_EQ(Number(JsonAt(row, absl::StrCat(name, ".mean"))), MeanOf({a, b}).mean)
            << r << " " << name;
      }
      different.insert(JsonAt(row, "mean_queueing_seconds.mean"));
    }
  }
  // Were worlds all alike, the above would say little.
  EXPECT_GE(different.size(), 3u);
}

// Values of the axes win over flags about the same keys.
TEST_F(CliCompareAxesTest, AxesAreAppliedLast) {
  EXPECT_EQ(Succeed(Worlds("compare", {"--seeds", "3", "--queue", "srtf", "--set",
                                       "workload.generated.load_percent=10"})),
            Succeed(Worlds("compare", {"--seeds", "3"})));
}

TEST_F(CliCompareAxesTest, AColumnPerAxis) {
  // Queue and policy differ, beside the axes.
  const Names both = Lines(Succeed(Worlds("compare", {})));
  ASSERT_GE(both.size(), 10u);
  EXPECT_TRUE(absl::StartsWith(both[0], "load   order        queue/policy      ")) << both[0];
  EXPECT_TRUE(absl::StartsWith(both[1], "light  first come   fifo/best-fit     ")) << both[1];
  EXPECT_TRUE(absl::StartsWith(both[8], "heavy  short first  sjf/consolidate   ")) << both[8];
  EXPECT_EQ(both[9], "");
  // One policy and one queue go without saying.
  const Names neither =
      Lines(Succeed(Worlds("compare", {"--policies", "best-fit", "--queues", "fifo", "--set",
                                       "comparison.metrics=preemptions,jobs_finished", "--set",
                                       "comparison.axes.1.values.1.set=", "--seeds", "3"})));
  ASSERT_GE(neither.size(), 7u);
  EXPECT_EQ(neither[0], "load   order        preemptions  jobs");
  EXPECT_EQ(neither[1], "light  first come             0    60");
  EXPECT_EQ(neither[4], "heavy  short first            0    60");
  EXPECT_EQ(neither[5], "");
  EXPECT_TRUE(absl::EndsWith(neither[6], " 1 seed(s).")) << neither[6];
}

// Six GPUs; a pod with 460 milli and one with two GPUs make 41 %. Five copies of the first alone
// stay below that: 2,300 of 6,000.
TEST_F(CliCompareAxesTest, FillsAreComparedWithTheFirstRow) {
  const std::string& yaml = TestText("FillsAreComparedWithTheFirstRow.yaml");
  dir_.Write("fill.yaml", yaml);
  const Names table = Lines(Succeed({"compare", "fill.yaml"}));
  ASSERT_GE(table.size(), 4u);
  EXPECT_EQ(table[0],
            "pods, \"which\"  GPU % @100  GPU % @130  GPU % end  frag % end  failed pods  vs all, "
            "sure");
  EXPECT_TRUE(absl::StartsWith(table[1], "all, sure               -           -      41.00  "));
  EXPECT_TRUE(absl::StartsWith(table[2], "one                     -           -      38.33  "));
  EXPECT_EQ(Words(table[2]).back(), "-2.67");
  const Names csv = Lines(Succeed({"compare", "fill.yaml", "--format", "csv"}));
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_TRUE(absl::StartsWith(
      csv[0], "\"pods, \"\"which\"\"\",policy,seeds,gpu_allocation_percent_at_100_mean,"))
      << csv[0];
  EXPECT_TRUE(absl::StartsWith(csv[1], "\"all, sure\",best-fit,1,,,,,41,0,")) << csv[1];
  EXPECT_TRUE(absl::StartsWith(csv[2], "one,best-fit,1,")) << csv[2];
  EXPECT_EQ(JsonAt(JsonRows(Succeed({"compare", "fill.yaml", "--format=json"}))[1], "policy"),
            "\"best-fit\"");
  // Which columns there are is the scenario's choice, and with it whether rows can be compared.
  const Names two = Lines(Succeed({"compare", "fill.yaml", "--policies", "best-fit,fgd", "--set",
                                   "comparison.metrics=pods_unschedulable,acceptance"}));
  EXPECT_EQ(two[0], "pods, \"which\"  policy    failed pods  accepted");
  EXPECT_EQ(two[1], "all, sure      best-fit            0     1.000");
  EXPECT_EQ(two[2], "all, sure      fgd                 0     1.000");
}

// One GPU and three jobs that ask for it. A fill places the first; a replay all, one after the
// other.
TEST_F(CliCompareAxesTest, FillsBesideReplays) {
  dir_.Write("one.csv", absl::StrCat(kNodeHeader, "n-0,64000,262144,1,P100\n"));
  dir_.Write("line.csv", absl::StrCat(kPodHeader,
                                      "a,1,1,1,1000,,LS,,0,100,0\n"
                                      "b,1,1,1,1000,,LS,,1,51,1\n"
                                      "c,1,1,1,1000,,LS,,2,12,2\n"));
  dir_.Write("mixed.yaml", TestText("FillsBesideReplays"));
  const Names chosen = {
      "compare", "mixed.yaml", "--set",
      "comparison.metrics=pods_unschedulable,makespan_seconds,jobs_finished,acceptance"};
  const Names table = Lines(Succeed(chosen));
  ASSERT_GE(table.size(), 4u);
  EXPECT_EQ(table[0], "clock  queue  failed pods  makespan s  jobs  accepted");
  EXPECT_EQ(table[1], "no     -                2           -     -     0.333");
  EXPECT_EQ(table[2], "yes    fifo             0         160     3     1.000");
  const std::string json = Succeed({"compare", "mixed.yaml", "--format", "json"});
  EXPECT_EQ(JsonAt(json, "mode"), "\"mixed\"");
  const Names rows = JsonRows(json);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(JsonAt(rows[0], "queue"), "");
  EXPECT_EQ(JsonAt(rows[0], "jobs_finished"), "null");
  EXPECT_EQ(JsonAt(rows[1], "queue"), "\"fifo\"");
  EXPECT_EQ(JsonAt(rows[1], "makespan_seconds.mean"), "160");
  // Only columns with a value in some row: no load is near 130 %.
  EXPECT_FALSE(absl::StrContains(json, "gpu_allocation_percent_at_130"));
  for (const char* name :
       {"gpu_allocation_percent_at_100", "gpu_allocation_percent_end", "pods_unschedulable",
        "jobs_finished", "mean_jct_seconds", "goodput", "acceptance"}) {
    EXPECT_TRUE(absl::StrContains(json, absl::StrCat("\"", name, "\": "))) << name;
  }
  const Names csv = Lines(Succeed({"compare", "mixed.yaml", "--format", "csv"}));
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_TRUE(absl::StartsWith(csv[0], "clock,queue,policy,seeds,")) << csv[0];
  EXPECT_TRUE(absl::StartsWith(csv[1], "no,,best-fit,1,")) << csv[1];
  EXPECT_TRUE(absl::StartsWith(csv[2], "yes,fifo,best-fit,1,")) << csv[2];
}

TEST_F(CliCompareAxesTest, ARunChecksTheComparisonToo) {
  dir_.Write("bad.yaml", "seed: 1\ncomparison:\n  metrics: [acceptence]\n");
  const char* const message =
      "bad.yaml:3:12: comparison.metrics: unknown metric 'acceptence' (did you mean "
      "'acceptance'?)";
  for (const char* command : {"run", "validate", "compare"}) {
    ExpectRefused({command, "bad.yaml"}, message);
  }
  EXPECT_EQ(Succeed({"validate", "worlds.yaml"}), "worlds.yaml: a valid scenario\n");
}

TEST_F(CliCompareAxesTest, ASweepHasNoAxes) {
  ExpectRefused(Worlds("sweep", {"--out", "out"}),
                "comparison.axes: found 2 axes, expected none in a sweep; `drasim compare` has a "
                "row for each world");
  EXPECT_FALSE(dir_.Has("out"));
  dir_.Write("lists.yaml",
             "mode: replay\n"
             "cluster: {path: nodes.csv}\n"
             "workload: {trace: {path: pods.csv}}\n"
             "comparison: {policies: [best-fit, fgd], queues: [fifo], seeds: 1..2}\n");
  EXPECT_EQ(Succeed({"sweep", "lists.yaml", "--out", "out"}),
            "4 cells (4 run now, 0 from before) in out/sweep.csv\n");
  // Settings that do not affect runs do not invalidate finished cells.
  EXPECT_EQ(Succeed({"sweep", "lists.yaml", "--out", "out", "--seeds", "1..3", "--set",
                     "comparison.metrics=goodput"}),
            "6 cells (2 run now, 4 from before) in out/sweep.csv\n");
}

}  // namespace compare_axes_test
}  // namespace drasim
