// Entries with cases: keys and their mistakes, cells, rows, and the first difference.
#include "sim/bench/case_cells.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/suite.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace case_cells_test {

constexpr char kCasesSuite[] =
    "version: 1\n"
    "entries:\n"
    "- name: made\n"
    "  cases: {world: gpus, nodes: 3, devices: 2, wanted: 1, rounds: 4, cold: true}\n"
    "  tier: smoke\n"
    "  primary: {metric: case_allocations, better: higher}\n"
    "  cost: true\n"
    "- name: read\n"
    "  cases: {file: cel.json, kind: cel}\n"
    "  tier: pr\n"
    "  primary: {metric: case_mismatches, better: lower}\n";
constexpr char kCelFile[] =
    R"([{"Name": "a b", "Expression": "true", "Driver": "d", "ExpectMatch": false}])";

absl::StatusOr<Suite> ReadCases(const TempDir& dir, absl::string_view from = "",
                                absl::string_view to = "") {
  std::string text = kCasesSuite;
  if (!from.empty()) {
    EXPECT_NE(text.find(std::string(from)), std::string::npos) << from;
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  dir.Write("s.yaml", text);
  dir.Write("cel.json", kCelFile);
  return ReadSuite(dir.PathOf("s.yaml"));
}

absl::StatusOr<std::vector<BenchCell>> CellsOfCases(const TempDir& dir, absl::string_view from = "",
                                                    absl::string_view to = "") {
  const absl::StatusOr<Suite> suite = ReadCases(dir, from, to);
  if (!suite.ok()) return suite.status();
  return MakeBenchCells(*suite, std::nullopt, Filter());
}

TEST(CaseCellsTest, ReadsEveryKey) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(
      const Suite suite,
      ReadCases(dir, "rounds: 4", "rounds: 4, variant: stable, count_steps: true"));
  const SuiteCases& made = *suite.entries[0].cases;
  EXPECT_EQ(made.world, "gpus");
  EXPECT_EQ(made.file, "");
  EXPECT_EQ(made.size.nodes, 3);
  EXPECT_EQ(made.size.devices, 2);
  EXPECT_EQ(made.size.wanted, 1);
  EXPECT_EQ(made.size.pods, std::nullopt);
  EXPECT_EQ(made.run.rounds, 4);
  EXPECT_TRUE(made.run.cold);
  EXPECT_TRUE(made.run.count_steps);
  EXPECT_EQ(made.run.variant, AllocatorVariant::kStable);
  const SuiteCases& read = *suite.entries[1].cases;
  EXPECT_EQ(read.file, dir.PathOf("cel.json"));
  EXPECT_EQ(read.kind, CaseKind::kCel);
  EXPECT_EQ(read.run.rounds, 1);
}

struct CaseMistake {
  const char* from;
  const char* to;
  const char* message;  // behind the file's name
};

TEST(CaseCellsTest, MistakesHaveTheirPlace) {
  const CaseMistake mistakes[] = {
      {"world: gpus", "world: gpu",
       ":4:18: entries.0.cases.world: found 'gpu', expected one of gpus, same-numa, "},
      {"nodes: 3", "nodes: 0",
       ":4:31: entries.0.cases.nodes: found 0, expected a number from 1 to 1000000"},
      {"nodes: 3", "pods: 3",
       ":4:30: entries.0.cases.pods: found 3, expected none: the world gpus has no pods"},
      {"rounds: 4", "rounds: 0",
       ":4:65: entries.0.cases.rounds: found 0, expected a number from 1 to 1000000000"},
      {"rounds: 4", "variant: best",
       ":4:66: entries.0.cases.variant: found 'best', expected a variant: stable, "},
      {"world: gpus", "world: gpus, file: a",
       ":4:10: entries.0.cases: found both file and world, expected one of them"},
      {"file: cel.json, ", "", ":9:10: entries.1.cases: found neither file nor world"},
      {"file: cel.json", "world: cel",
       ":9:29: entries.1.cases.kind: found it, expected none beside world"},
      {"kind: cel", "kind: cel, pods: 3",
       ":9:10: entries.1.cases: found the size of a world beside file"},
      {"kind: cel", "kind: text", ":9:33: entries.1.cases.kind: found 'text', expected one of"},
      {"  cost: true", "  seeds: 1..3", ":7:10: entries.0.seeds: found it, expected none beside"},
      {"case_allocations", "pods_unschedulable",
       ":6:21: entries.0.primary.metric: found pods_unschedulable, expected a metric of cases"},
      {"file: cel.json", "file: none.json", ":9:17: entries.1.cases.file: "},
  };
  for (const CaseMistake& mistake : mistakes) {
    const TempDir dir;
    const absl::Status status = CellsOfCases(dir, mistake.from, mistake.to).status();
    EXPECT_FALSE(status.ok()) << mistake.to;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.to;
    absl::string_view message = status.message();
    EXPECT_TRUE(absl::ConsumePrefix(&message, dir.PathOf("s.yaml"))) << message;
    EXPECT_EQ(message.substr(0, absl::string_view(mistake.message).size()), mistake.message)
        << mistake.to << ": " << message;
  }
}

TEST(CaseCellsTest, MistakesInTheFileArePlacedInBothFiles) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const Suite suite, ReadCases(dir));
  dir.Write("cel.json", R"([{"Name": "a"}, {"Driver": {}}])");
  EXPECT_EQ(MakeBenchCells(suite, std::nullopt, Filter()).status(),
            absl::InvalidArgumentError(absl::StrCat(
                dir.PathOf("s.yaml"), ":9:17: entries.1.cases.file: ", dir.PathOf("cel.json"),
                ": case 2: Driver: expected a text")));
}

TEST(CaseCellsTest, CellsAndTheirIdentity) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> cells, CellsOfCases(dir));
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].id.Name(), "made/-/incubating/0");
  EXPECT_EQ(cells[1].id.Name(), "read/-/cel/0");
  EXPECT_TRUE(cells[0].cost);
  EXPECT_FALSE(cells[0].random);
  EXPECT_NE(cells[0].inputs, cells[1].inputs);
  // Another size is another input; another place of the file is not.
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> larger,
                       CellsOfCases(dir, "devices: 2", "devices: 3"));
  EXPECT_NE(larger[0].inputs, cells[0].inputs);
  const TempDir elsewhere;
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> moved, CellsOfCases(elsewhere));
  EXPECT_EQ(moved[1].inputs, cells[1].inputs);
  // The scenario of a cell is a suite of its own, with the same cell.
  elsewhere.Write("alone.yaml", cells[1].scenario);
  ASSERT_OK_AND_ASSIGN(const Suite alone, ReadSuite(elsewhere.PathOf("alone.yaml")));
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> again,
                       MakeBenchCells(alone, std::nullopt, Filter()));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, cells[1].id);
  EXPECT_EQ(again[0].inputs, cells[1].inputs);
}

TEST(CaseCellsTest, Rows) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> cells, CellsOfCases(dir));
  ASSERT_OK_AND_ASSIGN(const CaseAnswers made, RunCases(*cells[0].cases));
  const BenchRow row = RowOf(cells[0], made);
  EXPECT_EQ(row.metrics[MetricIndex("cases_answered")], "1");
  EXPECT_EQ(row.metrics[MetricIndex("case_allocations")], "3");
  EXPECT_EQ(row.metrics[MetricIndex("case_errors")], "0");
  EXPECT_EQ(row.metrics[MetricIndex("case_steps")], "");
  EXPECT_EQ(row.metrics[MetricIndex("case_mismatches")], "");
  EXPECT_EQ(row.metrics[MetricIndex("pods_unschedulable")], "");
  for (size_t i = 0; i < row.counters.size(); ++i) {
    EXPECT_EQ(row.counters[i], WorkCounterNames()[i] == "allocator_calls" ? 12u : 0u);
  }
  ASSERT_OK_AND_ASSIGN(const CaseAnswers read, RunCases(*cells[1].cases));
  const BenchRow cel = RowOf(cells[1], read);
  EXPECT_EQ(cel.metrics[MetricIndex("case_mismatches")], "1");
  EXPECT_EQ(cel.answers.substr(0, 10), "a_b=match:");
  // Through a file and back.
  BenchTable table;
  table.suite = "s";
  table.version = 1;
  table.rows = {row, cel};
  ASSERT_OK_AND_ASSIGN(const BenchTable back, ParseBenchTable("t", BenchCsv(table)));
  EXPECT_EQ(BenchCsv(back), BenchCsv(table));
  EXPECT_EQ(back.rows[1].answers, cel.answers);
}

TEST(CaseCellsTest, DigestsInOneLine) {
  EXPECT_EQ(DigestText({}), "");
  const std::vector<AnswerDigest> digests = {{0, "a=b c,d", "devices", 0x0123456789abcdefu},
                                             {0, "a=b c,d", "error", 0xffffffffu},
                                             {1, "a=b c,d", "devices", 0}};
  EXPECT_EQ(DigestText(digests),
            "a_b_c_d=devices:01234567,error:00000000 a_b_c_d=devices:00000000");
}

TEST(CaseCellsTest, TheFirstDifferenceNamesCaseAndFields) {
  const std::string base = "a=x:1,y:2 b=x:1,y:2 c=x:1,y:2";
  EXPECT_EQ(FirstDifference(base, base), "");
  EXPECT_EQ(FirstDifference(base, "a=x:1,y:2 b=x:1,y:3 c=x:1,y:2"), "case b differs in y");
  EXPECT_EQ(FirstDifference(base, "a=x:1,y:2 b=x:2,z:2 c=x:1,y:2"), "case b differs in x, y, z");
  EXPECT_EQ(FirstDifference(base, "a=x:1,y:3 b=x:1,y:3 c=x:1,y:2"),
            "case a differs in y (and 1 case more)");
  EXPECT_EQ(FirstDifference(base, "a=x:1,y:2 d=x:1,y:2 c=x:0,y:2"),
            "case b -> d (and 1 case more)");
  EXPECT_EQ(FirstDifference(base, "a=x:1,y:2"), "3 cases -> 1");
}

BenchResults ResultsOf(const BenchCell& cell, const CaseAnswers& answers) {
  BenchResults results;
  results.table.suite = "s";
  results.table.version = 1;
  results.table.has_metric.assign(BenchMetrics().size(), true);
  results.table.has_counter.assign(WorkCounterNames().size() + kCallColumns, true);
  results.table.rows = {RowOf(cell, answers)};
  return results;
}

TEST(CaseCellsTest, AChangedAnswerIsNotTheSame) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> cells, CellsOfCases(dir));
  ASSERT_OK_AND_ASSIGN(const CaseAnswers base, RunCases(*cells[0].cases));
  ASSERT_OK_AND_ASSIGN(BenchComparison compared,
                       CompareBench(ResultsOf(cells[0], base), ResultsOf(cells[0], base), Scope()));
  EXPECT_EQ(compared.cells[0].verdict, CellVerdict::kSame);
  CaseAnswers head = base;
  head.digests[1].hash ^= uint64_t{1} << 63;
  ++head.fingerprint;
  ASSERT_OK_AND_ASSIGN(compared,
                       CompareBench(ResultsOf(cells[0], base), ResultsOf(cells[0], head), Scope()));
  EXPECT_EQ(compared.cells[0].verdict, CellVerdict::kOther);
  EXPECT_NE(compared.cells[0].why.find("; case gpus differs in devices"), std::string::npos)
      << compared.cells[0].why;
  --head.allocations;
  ASSERT_OK_AND_ASSIGN(compared,
                       CompareBench(ResultsOf(cells[0], base), ResultsOf(cells[0], head), Scope()));
  EXPECT_EQ(compared.cells[0].verdict, CellVerdict::kWorse);
}

}  // namespace case_cells_test
}  // namespace drasim::bench
