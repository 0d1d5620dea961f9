// The table of results: written and read back, and damaged in every way.
#include "sim/bench/bench_table.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_metrics.h"

namespace drasim::bench {
namespace bench_table_test {

BenchTable TwoRows() {
  BenchTable table;
  table.suite = "core";
  table.version = 2;
  table.has_metric.assign(BenchMetrics().size(), true);
  table.has_counter.assign(WorkCounterNames().size() + kCallColumns, true);
  BenchRow row;
  row.id = {"fill", "", "fgd", 42};
  row.tier = Tier::kPr;
  row.primary = {"gpu_allocation_percent_end", true, {0.5, true}};
  row.random = true;
  row.inputs = "00000000000000aa";
  row.metrics.assign(BenchMetrics().size(), "");
  row.metrics[MetricIndex("gpu_allocation_percent_end")] = "95.25";
  row.counters = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  row.calls[0] = {{"GpuShareFit", 12}, {"NodeResourcesFit", 34}};
  row.reason = "first, \"best\"";
  row.fingerprint = "0123456789abcdef";
  table.rows.push_back(row);
  row.id = {"fill", "fifo", "fgd", 7};
  row.random = false;
  table.rows.push_back(row);
  return table;
}

TEST(BenchTableTest, ReadsWhatItWrites) {
  const BenchTable table = TwoRows();
  const std::string text = BenchCsv(table);
  const absl::StatusOr<BenchTable> read = ParseBenchTable("t.csv", text);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(BenchCsv(*read), text);
  EXPECT_EQ(read->suite, "core");
  EXPECT_EQ(read->version, 2);
  const BenchRow* const row = read->Find({"fill", "", "fgd", 42});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->tier, Tier::kPr);
  EXPECT_EQ(row->primary.margin.Text(), "0.5%");
  EXPECT_TRUE(row->random);
  EXPECT_EQ(row->metrics[MetricIndex("gpu_allocation_percent_end")], "95.25");
  EXPECT_EQ(row->counters, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(row->calls[0], (PluginCalls{{"GpuShareFit", 12}, {"NodeResourcesFit", 34}}));
  EXPECT_EQ(row->calls[1], PluginCalls());
  EXPECT_EQ(row->reason, "first, \"best\"");
  EXPECT_EQ(read->Find({"fill", "", "fgd", 43}), nullptr);
}

TEST(BenchTableTest, RowsAreSortedOnceRead) {
  const std::vector<std::string> lines = absl::StrSplit(BenchCsv(TwoRows()), '\n');
  const absl::StatusOr<BenchTable> read =
      ParseBenchTable("t.csv", absl::StrCat(lines[0], "\n", lines[2], "\n", lines[1], "\n"));
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->rows[0].id.seed, 42u);
  EXPECT_EQ(read->rows[1].id.seed, 7u);
}

// A file cut off anywhere is an error, unless whole lines are left.
TEST(BenchTableTest, NoTornFileIsRead) {
  const std::string text = BenchCsv(TwoRows());
  const size_t header = text.find('\n');
  const size_t second = text.find('\n', header + 1);
  for (size_t cut = 1; cut < text.size(); ++cut) {
    const bool whole = cut == header || cut == header + 1 || cut == second || cut == second + 1 ||
                       cut + 1 == text.size();
    const absl::StatusOr<BenchTable> read =
        ParseBenchTable("t.csv", absl::string_view(text).substr(0, cut));
    EXPECT_EQ(read.ok(), whole) << cut << " " << read.status();
  }
}

TEST(BenchTableTest, AColumnOfAMetricMayBeAbsent) {
  const size_t goodput = MetricIndex("goodput");
  std::string text = absl::StrReplaceAll(BenchCsv(TwoRows()), {{",goodput,", ","}});
  text = absl::StrReplaceAll(text, {{",,,1,2,3", ",,1,2,3"}});
  const absl::StatusOr<BenchTable> read = ParseBenchTable("t.csv", text);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_FALSE(read->has_metric[goodput]);
  EXPECT_TRUE(read->has_metric[goodput + 1]);
  EXPECT_EQ(read->rows[0].metrics[goodput], "");
}

struct BadTable {
  const char* from;
  const char* to;
  const char* message;
};

TEST(BenchTableTest, MistakesHaveTheirPlace) {
  const BadTable tables[] = {
      {"suite,version", "siute,version",
       "t.csv:1:1: unknown column 'siute' (did you mean 'suite'?)"},
      {"suite,version", "suite,suite", "t.csv:1:7: found column 'suite' twice"},
      {",reason,", ",", ": found no column 'reason'"},
      {"fill,fifo,fgd,7", "fill,,fgd,42", "t.csv:3:1: cell fill/-/fgd/42 is already in line 2"},
      {"core,2,fill,fifo", "core,3,fill,fifo", "t.csv:3:6: version: found '3', expected 2"},
      {"core,2,fill,fifo", "other,2,fill,fifo", "t.csv:3:1: suite: found 'other', expected core"},
      {"fgd,7,pr", "fgd,7,all", "tier: found 'all', expected smoke, pr or nightly"},
      {"fgd,7,pr", "fgd,x,pr", "seed: found 'x', expected a number from 0 on"},
      {"95.25", "nan", "gpu_allocation_percent_end: found 'nan', expected a number or nothing"},
      {"1,2,3,4", "1,-2,3,4", "decisions: found '-2', expected a number from 0 on"},
      {"GpuShareFit=12", "GpuShareFit", "filter_calls: found 'GpuShareFit NodeResourcesFit=34'"},
      {"GpuShareFit=12", "A=12 A=12", "expected PLUGIN=COUNT, separated by spaces"},
      {"0123456789abcdef", "0123", "fingerprint: found '0123', expected 16 hexadecimal digits"},
  };
  for (const BadTable& bad : tables) {
    const std::string text = absl::StrReplaceAll(BenchCsv(TwoRows()), {{bad.from, bad.to}});
    const absl::Status status = ParseBenchTable("t.csv", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.to;
    EXPECT_TRUE(absl::StrContains(status.message(), bad.message)) << status.message();
  }
}

TEST(BenchTableTest, NamesOfCells) {
  EXPECT_EQ((CellId{"a", "", "fgd", 1}).Name(), "a/-/fgd/1");
  EXPECT_EQ((CellId{"a", "fifo", "fgd", 1}).GroupName(), "a/fifo/fgd");
  const absl::StatusOr<Filter> filter = Filter::Make("^a/(-|fifo)/.*/1$");
  ASSERT_EQ(filter.status(), absl::OkStatus());
  EXPECT_TRUE(filter->Matches({"a", "", "fgd", 1}));
  EXPECT_FALSE(filter->Matches({"a", "", "fgd", 11}));
  EXPECT_TRUE(Filter().Matches({"z", "", "", 0}));
  EXPECT_EQ(Filter::Make("a(").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace bench_table_test
}  // namespace drasim::bench
