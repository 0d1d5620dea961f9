// Folders of configurations: which workloads are chosen, and what is written about them.
#include "sim/perf/perf_suite.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"
#include "sim/perf/perf_report.h"
#include "tests/testing/temp_dir.h"

namespace drasim::perf {
namespace perf_suite_test {

constexpr char kTwoConfigs[] =
    "- name: B\n"
    "  workloadTemplate:\n"
    "  - {opcode: createNodes, countParam: $nodes}\n"
    "  - {opcode: createPods, count: 2, collectMetrics: true}\n"
    "  workloads:\n"
    "  - {name: small, labels: [integration-test, short], params: {nodes: 1}, threshold: 3}\n"
    "  - {name: large/2, labels: [performance], params: {nodes: 2}}\n"
    "  - {name: none, params: {nodes: 0}}\n";

class PerfSuiteTest : public ::testing::Test {
 protected:
  PerfSuiteTest() {
    for (const char* folder : {"templates", "a", "b/c", "overlay/templates"}) MakeDir(folder);
    dir_.Write("templates/node-default.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-}\n"
               "status: {capacity: {pods: \"1\", cpu: \"4\", memory: 32Gi}}\n");
    dir_.Write("overlay/templates/node-default.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-}\n"
               "status: {capacity: {pods: \"9\", cpu: \"4\", memory: 32Gi}}\n");
    dir_.Write("templates/pod-default.yaml",
               "apiVersion: v1\nkind: Pod\nmetadata: {generateName: pod-}\n"
               "spec: {containers: [{name: c, image: i}]}\n");
    dir_.Write("a/performance-config.yaml", kTwoConfigs);
    dir_.Write("b/c/performance-config.yaml",
               "- name: D\n  workloadTemplate: [{opcode: createResourceDriver, driverName: d, "
               "nodes: n, maxClaimsPerNode: 1}]\n"
               "  workloads: [{name: w, labels: [performance]}]\n");
    selection_.root = dir_.path();
  }

  void MakeDir(const char* name) {
    std::error_code error;
    std::filesystem::create_directories(dir_.PathOf(name), error);
    ASSERT_FALSE(error);
  }

  // Names of the chosen entries.
  std::vector<std::string> Chosen() {
    const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection_);
    if (!suite.ok()) return {std::string(suite.status().message())};
    std::vector<std::string> names;
    for (const PerfEntry& entry : suite->entries) names.push_back(entry.id.entry);
    return names;
  }

  TempDir dir_;
  PerfSelection selection_;
};

TEST_F(PerfSuiteTest, ChoosesByLabels) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Chosen(), (Names{"a/B/large/2", "a/B/none", "a/B/small", "b/c/D/w"}));
  selection_.labels = "performance";
  EXPECT_EQ(Chosen(), (Names{"a/B/large/2", "b/c/D/w"}));
  selection_.labels = "integration-test,short";
  EXPECT_EQ(Chosen(), Names{"a/B/small"});
  selection_.labels = "+integration-test,-short";
  EXPECT_EQ(Chosen(), Names());
  selection_.labels = "";
  selection_.last = bench::Tier::kSmoke;
  EXPECT_EQ(Chosen(), Names{"a/B/small"});
  selection_.last.reset();
  selection_.filter = *bench::Filter::Make("^a/B/[ln]");
  EXPECT_EQ(Chosen(), (Names{"a/B/large/2", "a/B/none"}));
}

TEST_F(PerfSuiteTest, WritesAFolderThatCanBeCompared) {
  const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection_);
  ASSERT_EQ(suite.status(), absl::OkStatus());
  MakeDir("out");
  PerfRunOptions options;
  options.quiet = true;
  const auto reports = RunPerfSuite(*suite, options, dir_.PathOf("out"));
  ASSERT_EQ(reports.status(), absl::OkStatus());
  ASSERT_EQ(reports->size(), 4u);
  EXPECT_EQ((*reports)[0].verdict, PerfVerdict::kRuns) << (*reports)[0].why;
  EXPECT_EQ((*reports)[1].verdict, PerfVerdict::kStops);
  EXPECT_TRUE(
      absl::StartsWith((*reports)[1].why, "createPods cannot be met: since 0 2 of 2 pods wait"));
  EXPECT_TRUE(absl::EndsWith((*reports)[1].why, "no nodes available to schedule pods"));
  EXPECT_EQ((*reports)[2].verdict, PerfVerdict::kStops);
  EXPECT_EQ((*reports)[3].verdict, PerfVerdict::kRefused);
  const auto results = bench::ReadBenchResults(dir_.PathOf("out"));
  ASSERT_EQ(results.status(), absl::OkStatus());
  ASSERT_EQ(results->table.rows.size(), 1u);
  EXPECT_EQ(results->table.rows[0].id.Name(), "a/B/large/2/kubernetes/kube-scheduler/42");
  EXPECT_EQ(results->table.suite, "scheduler_perf");
  const auto compared = bench::CompareBench(*results, *results, bench::Scope());
  ASSERT_EQ(compared.status(), absl::OkStatus());
  EXPECT_EQ(compared->Count(CellVerdict::kSame), 1u);
}

TEST_F(PerfSuiteTest, GoesOnWhereItWas) {
  MakeDir("out");
  PerfRunOptions options;
  options.quiet = true;
  const auto run = [&] {
    const absl::StatusOr<PerfSuite> suite = ReadPerfSuite(selection_);
    EXPECT_EQ(suite.status(), absl::OkStatus());
    absl::StatusOr<std::vector<PerfReport>> reports =
        RunPerfSuite(*suite, options, dir_.PathOf("out"));
    EXPECT_EQ(reports.status(), absl::OkStatus());
    return *std::move(reports);
  };
  const std::vector<PerfReport> first = run();
  const std::string table = dir_.Read("out/perf.csv");
  const std::string cells = dir_.Read("out/cells.csv");
  const std::string partial = dir_.Read("out/perf.partial");
  // Times are those of the first run.
  run();
  EXPECT_EQ(dir_.Read("out/perf.csv"), table);
  EXPECT_EQ(dir_.Read("out/cells.csv"), cells);
  EXPECT_EQ(dir_.Read("out/perf.partial"), partial + "\n");
  // A torn line is another run of that workload, and only of that.
  dir_.Write("out/perf.partial", partial.substr(0, partial.size() - 3));
  EXPECT_EQ(run()[3].why, first[3].why);
  const std::string begun = partial.substr(0, partial.size() - 3) + "\n";
  const std::string mended = dir_.Read("out/perf.partial");
  const std::string key = partial.substr(partial.rfind('\n', partial.size() - 2) + 1, 16);
  EXPECT_TRUE(absl::StartsWith(mended, begun + key)) << mended;
  EXPECT_EQ(std::count(mended.begin(), mended.end(), '\n'), 6) << mended;
  // Other templates and another program are other runs.
  dir_.Write("templates/node-default.yaml", dir_.Read("overlay/templates/node-default.yaml"));
  EXPECT_EQ(run()[2].verdict, PerfVerdict::kRuns);
  const size_t before = dir_.Read("out/perf.partial").size();
  options.program = "another";
  run();
  EXPECT_GT(dir_.Read("out/perf.partial").size(), before + 100);
}

TEST_F(PerfSuiteTest, ReplacesTemplates) {
  selection_.filter = *bench::Filter::Make("small");
  const absl::StatusOr<PerfSuite> plain = ReadPerfSuite(selection_);
  ASSERT_EQ(plain.status(), absl::OkStatus());
  EXPECT_EQ(RunPerfEntry(*plain, plain->entries[0]).verdict, PerfVerdict::kStops);
  selection_.overlay = dir_.PathOf("overlay");
  const absl::StatusOr<PerfSuite> other = ReadPerfSuite(selection_);
  ASSERT_EQ(other.status(), absl::OkStatus());
  const PerfReport report = RunPerfEntry(*other, other->entries[0]);
  EXPECT_EQ(report.verdict, PerfVerdict::kRuns) << report.why;
  selection_.overlay = dir_.PathOf("nowhere");
  EXPECT_EQ(ReadPerfSuite(selection_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(PerfSuiteTest, ShowsThroughputBesideTheThreshold) {
  PerfReport report;
  report.id.entry = "a/B/small|x";
  report.verdict = PerfVerdict::kRuns;
  report.fingerprint = "0123456789abcdef";
  report.measured_pods = 10;
  report.measured_seconds = 4;
  report.measured_cpu_seconds = 0.5;
  report.threshold = 3;
  EXPECT_EQ(PerfTable({report}).Csv(),
            "entry,outcome,why,fingerprint,measured_pods,virtual_seconds,pods_per_virtual_second,"
            "cpu_seconds,pods_per_cpu_second,upstream_threshold\n"
            "a/B/small|x,runs,,0123456789abcdef,10,4,2.5,0.500000,20.0,3\n");
  PerfReport stopped = report;
  stopped.verdict = PerfVerdict::kStops;
  stopped.why = "a | b\nc";
  const std::string page = PerfPage({report, stopped});
  EXPECT_TRUE(absl::StrContains(page, "2 workloads: 1 runs, 1 stops.\n\n## a/B\n\n")) << page;
  EXPECT_TRUE(absl::StrContains(page, "| runs | 0123456789abcdef | 2.5 | 3 |\n"));
  EXPECT_TRUE(absl::StrContains(page, "| stops | a \\| b c |  | 3 |\n"));
}

TEST_F(PerfSuiteTest, SaysWhatItCannotRead) {
  selection_.root = dir_.PathOf("overlay");
  EXPECT_EQ(Chosen(), std::vector<std::string>{absl::StrCat(
                          dir_.PathOf("overlay"),
                          ": found no performance-config.yaml in this folder or below")});
  selection_.root = dir_.path();
  selection_.settings = {"timing.schedule=soon"};
  EXPECT_TRUE(absl::StrContains(Chosen().front(), "timing.schedule")) << Chosen().front();
}

}  // namespace perf_suite_test
}  // namespace drasim::perf
