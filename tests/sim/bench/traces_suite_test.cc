// The suite traces and its baseline: everything in it is pinned, and a trace that is absent makes
// its cells missing.
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/suite.h"
#include "tests/testing/assert_ok.h"

namespace drasim::bench {
namespace traces_suite_test {

std::string InBench(absl::string_view path) {
  return absl::StrCat(DRASIM_SOURCE_DIR, "/bench/", path);
}

TEST(TracesSuiteTest, EveryCellIsPinned) {
  ASSERT_OK_AND_ASSIGN(const Suite suite, ReadSuite(InBench("suite/traces.yaml")));
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> cells,
                       MakeBenchCells(suite, std::nullopt, Filter()));
  ASSERT_OK_AND_ASSIGN(const BenchTable baseline, ReadBenchTable(InBench("baseline/traces.csv")));
  EXPECT_EQ(baseline.version, suite.version);
  EXPECT_EQ(baseline.rows.size(), cells.size());
  for (const BenchCell& cell : cells) {
    const BenchRow* const row = baseline.Find(cell.id);
    ASSERT_NE(row, nullptr) << cell.id.Name();
    EXPECT_EQ(row->tier, cell.tier) << cell.id.Name();
    EXPECT_NE(row->metrics[MetricIndex(cell.primary.metric)], "") << cell.id.Name();
    EXPECT_NE(row->reason, "") << cell.id.Name();
    if (cell.missing.empty()) {
      EXPECT_EQ(row->inputs, cell.inputs) << cell.id.Name();
    }
  }
}

// The published figures, in whole seconds: HeliosArtifact's of Philly, an independent replay's of
// KTH-SP2.
TEST(TracesSuiteTest, TheBaselineHasThePublishedFigures) {
  ASSERT_OK_AND_ASSIGN(const BenchTable baseline, ReadBenchTable(InBench("baseline/traces.csv")));
  struct Published {
    CellId id;
    const char* begins;
  };
  const Published published[] = {
      {{"philly", "fifo", "consolidate", 42}, "1412"},
      {{"philly", "sjf", "consolidate", 42}, "857"},
      {{"philly", "srtf", "consolidate", 42}, "565"},
      // Published as 101473: the order of jobs within a second is not.
      {{"philly-0e4a51", "fifo", "consolidate", 42}, "1014"},
      {{"philly-0e4a51", "sjf", "consolidate", 42}, "36682"},
      {{"philly-0e4a51", "srtf", "consolidate", 42}, "13953"},
      {{"kth-fifo", "fifo", "best-fit", 42}, "390083.0"},
      {{"kth-easy", "fifo", "best-fit", 42}, "6889.4"},
  };
  for (const Published& p : published) {
    const BenchRow* const row = baseline.Find(p.id);
    ASSERT_NE(row, nullptr) << p.id.Name();
    const std::string& wait = row->metrics[MetricIndex("mean_queueing_seconds")];
    EXPECT_TRUE(absl::StartsWith(wait, p.begins)) << p.id.Name() << " " << wait;
  }
}

TEST(TracesSuiteTest, EveryEntryNamesItsTraces) {
  ASSERT_OK_AND_ASSIGN(const Suite suite, ReadSuite(InBench("suite/traces.yaml")));
  for (const SuiteEntry& entry : suite.entries) {
    EXPECT_FALSE(entry.inputs.empty()) << entry.name;
    for (const SuiteInput& input : entry.inputs)
      EXPECT_TRUE(absl::StrContains(input.path, "/traces/")) << input.path;
  }
}

}  // namespace traces_suite_test
}  // namespace drasim::bench
