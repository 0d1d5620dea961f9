// Verdicts on results, and what a baseline takes over.
#include "sim/bench/bench_compare.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/number_text.h"
#include "sim/bench/bench_metrics.h"
#include "tests/testing/assert_ok.h"

namespace drasim::bench {
namespace bench_compare_test {

constexpr char kMetric[] = "mean_jct_seconds";

BenchRow Row(const std::string& entry, uint64_t seed, double figure, bool random) {
  BenchRow row;
  row.id = {entry, "fifo", "fgd", seed};
  row.primary = {kMetric, false, {1, true}};
  row.random = random;
  row.inputs = "00000000000000aa";
  row.metrics.assign(BenchMetrics().size(), "");
  row.metrics[MetricIndex(kMetric)] = DoubleText(figure);
  row.counters.assign(WorkCounterNames().size(), 1000);
  row.calls[0] = {{"GpuShareFit", 200}, {"NodeResourcesFit", 1000}};
  row.calls[1] = {{"FgdScore", 300}};
  row.fingerprint = "000000000000000a";
  return row;
}

BenchResults Results(std::vector<BenchRow> rows) {
  BenchResults results;
  results.table.suite = "core";
  results.table.version = 1;
  results.table.has_metric.assign(BenchMetrics().size(), true);
  results.table.has_counter.assign(WorkCounterNames().size() + kCallColumns, true);
  results.table.rows = std::move(rows);
  return results;
}

BenchComparison Compared(const BenchResults& base, const BenchResults& head,
                         const Scope& scope = Scope()) {
  const absl::StatusOr<BenchComparison> comparison = CompareBench(base, head, scope);
  EXPECT_EQ(comparison.status(), absl::OkStatus());
  return comparison.ok() ? *comparison : BenchComparison();
}

// The head of one cell without randomness, with another fingerprint.
CellVerdict ExactVerdict(double base, double head) {
  BenchRow changed = Row("a", 1, head, false);
  changed.fingerprint = "000000000000000b";
  return Compared(Results({Row("a", 1, base, false)}), Results({changed})).cells[0].verdict;
}

TEST(BenchCompareTest, WithoutRandomnessTheMarginDecides) {
  EXPECT_EQ(ExactVerdict(100, 100), CellVerdict::kOther);
  EXPECT_EQ(ExactVerdict(100, 101), CellVerdict::kOther);
  EXPECT_EQ(ExactVerdict(100, 99), CellVerdict::kOther);
  EXPECT_EQ(ExactVerdict(100, 101.01), CellVerdict::kWorse);
  EXPECT_EQ(ExactVerdict(100, 98.99), CellVerdict::kBetter);
}

TEST(BenchCompareTest, EqualRowsAreTheSame) {
  const BenchResults one = Results({Row("a", 1, 5, false), Row("b", 1, 6, true)});
  const BenchComparison comparison = Compared(one, one);
  EXPECT_EQ(comparison.Count(CellVerdict::kSame), 2u);
  EXPECT_EQ(comparison.Compared(), 2u);
  EXPECT_EQ(comparison.cells[0].why, "");
  EXPECT_EQ(comparison.groups[0].changed, 0u);
}

// The same decisions, but a figure is computed in another way.
TEST(BenchCompareTest, AnotherFigureIsNotTheSame) {
  BenchRow changed = Row("a", 1, 5, false);
  changed.metrics[MetricIndex("goodput")] = "0.5";
  const BenchComparison comparison = Compared(Results({Row("a", 1, 5, false)}), Results({changed}));
  EXPECT_EQ(comparison.cells[0].verdict, CellVerdict::kOther);
  EXPECT_EQ(comparison.cells[0].why, "figures differ after the same decisions");
  ASSERT_EQ(comparison.groups[0].secondary.size(), 1u);
  EXPECT_EQ(comparison.groups[0].secondary[0].metric, "goodput");
  // A column that one side does not have yet says nothing.
  BenchResults old = Results({Row("a", 1, 5, false)});
  old.table.has_metric[MetricIndex("goodput")] = false;
  EXPECT_EQ(Compared(old, Results({changed})).cells[0].verdict, CellVerdict::kSame);
}

TEST(BenchCompareTest, CountersMayGrowByOnePercent) {
  struct Case {
    size_t counter;
    uint64_t head;
    CellVerdict verdict;
  };
  const Case cases[] = {
      {1, 1010, CellVerdict::kSame},  {1, 1011, CellVerdict::kWorse},
      {2, 1011, CellVerdict::kWorse}, {3, 1011, CellVerdict::kWorse},
      {2, 100, CellVerdict::kSame},   {0, 2000, CellVerdict::kSame},
      {4, 2000, CellVerdict::kSame},  {5, 2000, CellVerdict::kSame},
      {6, 1011, CellVerdict::kWorse}, {7, 1011, CellVerdict::kWorse},
      {8, 1011, CellVerdict::kWorse}, {9, 1011, CellVerdict::kWorse},
  };
  for (const Case& c : cases) {
    BenchRow changed = Row("a", 1, 5, false);
    changed.counters[c.counter] = c.head;
    const CellComparison cell =
        Compared(Results({Row("a", 1, 5, false)}), Results({changed})).cells[0];
    EXPECT_EQ(cell.verdict, c.verdict) << c.counter << " " << c.head;
    if (c.verdict == CellVerdict::kWorse) {
      EXPECT_TRUE(absl::EndsWith(cell.why, " 1000 -> 1011 (+1.10 %)")) << cell.why;
    }
  }
  // A counter that was 0 has no percentage.
  BenchRow none = Row("a", 1, 5, false);
  none.counters[2] = 0;
  const CellComparison cell = Compared(Results({none}), Results({Row("a", 1, 5, false)})).cells[0];
  EXPECT_EQ(cell.verdict, CellVerdict::kWorse);
  EXPECT_EQ(cell.why, "nodes_filtered 0 -> 1000 (from 0)");
}

std::string WhyOfCalls(PluginCalls filters, PluginCalls scores, CellVerdict verdict) {
  BenchRow changed = Row("a", 1, 5, false);
  changed.calls = {std::move(filters), std::move(scores)};
  const CellComparison cell =
      Compared(Results({Row("a", 1, 5, false)}), Results({changed})).cells[0];
  EXPECT_EQ(cell.verdict, verdict) << cell.why;
  return cell.why;
}

TEST(BenchCompareTest, CallsOfOnePluginMayGrowByOnePercent) {
  const PluginCalls filters = {{"GpuShareFit", 200}, {"NodeResourcesFit", 1000}};
  EXPECT_EQ(WhyOfCalls(filters, {{"FgdScore", 303}}, CellVerdict::kSame),
            "score_calls/FgdScore 300 -> 303 (+1.00 %); score_calls 300 -> 303 (+1.00 %)");
  EXPECT_EQ(WhyOfCalls(filters, {{"FgdScore", 600}}, CellVerdict::kWorse),
            "score_calls/FgdScore 300 -> 600 (+100.00 %); score_calls 300 -> 600 (+100.00 %)");
  // Hidden by another plugin's fewer calls, it shows by name.
  EXPECT_EQ(WhyOfCalls({{"GpuShareFit", 203}, {"NodeResourcesFit", 997}}, {{"FgdScore", 300}},
                       CellVerdict::kWorse),
            "filter_calls/GpuShareFit 200 -> 203 (+1.50 %); filter_calls/NodeResourcesFit 1000 -> "
            "997 (-0.30 %)");
  // A plugin under another name is the same work.
  EXPECT_EQ(WhyOfCalls(filters, {{"Fgd", 300}}, CellVerdict::kSame), "");
  EXPECT_EQ(WhyOfCalls(filters, {{"Fgd", 304}}, CellVerdict::kWorse),
            "score_calls 300 -> 304 (+1.33 %)");
}

TEST(BenchCompareTest, ACounterThatOneSideLacksSaysNothing) {
  BenchResults old = Results({Row("a", 1, 5, false)});
  for (size_t i = 6; i < old.table.has_counter.size(); ++i) old.table.has_counter[i] = false;
  for (size_t i = 6; i < WorkCounterNames().size(); ++i) old.table.rows[0].counters[i] = 0;
  old.table.rows[0].calls = {};
  EXPECT_EQ(Compared(old, Results({Row("a", 1, 5, false)})).cells[0].verdict, CellVerdict::kSame);
  const absl::StatusOr<Acceptance> accepted =
      AcceptResults(old.table, Results({Row("a", 1, 5, false)}), "more columns");
  ASSERT_EQ(accepted.status(), absl::OkStatus());
  EXPECT_EQ(accepted->rewritten, 0u);
  EXPECT_EQ(accepted->table.rows[0].counters[6], 1000u);
  EXPECT_TRUE(accepted->table.has_counter[6]);
  BenchResults part = Results({Row("a", 1, 5, false)});
  part.last = Tier::kSmoke;
  EXPECT_EQ(AcceptResults(old.table, part, "more columns").status().code(),
            absl::StatusCode::kInvalidArgument);
}

// `shift` is added to the figure of every seed; `spread` to every second one.
std::vector<BenchRow> Seeds(const std::string& entry, size_t n, double shift, double spread,
                            bool changed) {
  std::vector<BenchRow> rows;
  for (size_t i = 0; i < n; ++i) {
    const double own = 100 + static_cast<double>(i % 3);
    rows.push_back(Row(entry, i, own + shift + (i % 2 == 0 ? spread : -spread), true));
    if (changed) rows.back().fingerprint = "000000000000000b";
  }
  return rows;
}

CellVerdict SeedsVerdict(size_t n, double shift, double spread) {
  return Compared(Results(Seeds("a", n, 0, 0, false)), Results(Seeds("a", n, shift, spread, true)))
      .cells[0]
      .verdict;
}

TEST(BenchCompareTest, SeedsTellChanceFromAChange) {
  EXPECT_EQ(SeedsVerdict(10, 3, 0.2), CellVerdict::kWorse);
  EXPECT_EQ(SeedsVerdict(10, -3, 0.2), CellVerdict::kBetter);
  EXPECT_EQ(SeedsVerdict(10, 0, 0.2), CellVerdict::kOther);
  EXPECT_EQ(SeedsVerdict(10, 0.5, 0.2), CellVerdict::kOther);  // significant, but within 1 %
  EXPECT_EQ(SeedsVerdict(10, 0, 5), CellVerdict::kUnclear);
  EXPECT_EQ(SeedsVerdict(4, 3, 0.2), CellVerdict::kUnclear);  // 2/16 is no evidence
  EXPECT_EQ(SeedsVerdict(1, 3, 0), CellVerdict::kUnclear);
}

// One test among several needs more evidence, but groups that did not change do not count.
TEST(BenchCompareTest, HolmCountsGroupsThatChanged) {
  const auto verdict = [](size_t others, bool changed) {
    std::vector<BenchRow> base = Seeds("a", 9, 0, 0, false);
    std::vector<BenchRow> head = Seeds("a", 9, 3, 0.2, true);
    for (size_t i = 0; i < others; ++i) {
      const std::string entry = absl::StrCat("b", i);
      for (const BenchRow& row : Seeds(entry, 9, 0, 0, false)) base.push_back(row);
      for (const BenchRow& row : Seeds(entry, 9, 0, changed ? 0.2 : 0, changed))
        head.push_back(row);
    }
    return Compared(Results(base), Results(head)).groups[0].verdict;
  };
  EXPECT_EQ(verdict(0, false), CellVerdict::kWorse);  // p = 2/512
  EXPECT_EQ(verdict(1, true), CellVerdict::kWorse);
  EXPECT_EQ(verdict(2, true), CellVerdict::kUnclear);  // 3 * 2/512 > 0.01
  EXPECT_EQ(verdict(5, false), CellVerdict::kWorse);
}

TEST(BenchCompareTest, WhatIsNotThereIsMissing) {
  BenchResults base =
      Results({Row("a", 1, 5, false), Row("b", 1, 5, false), Row("c", 1, 5, false)});
  BenchResults head =
      Results({Row("a", 1, 5, false), Row("c", 1, 5, false), Row("d", 1, 5, false)});
  head.missing.push_back({{"b", "fifo", "fgd", 1}, "x.csv: no such file"});
  head.table.rows[1].inputs = "00000000000000bb";
  const BenchComparison comparison = Compared(base, head);
  ASSERT_EQ(comparison.cells.size(), 4u);
  EXPECT_EQ(comparison.Count(CellVerdict::kMissing), 3u);
  EXPECT_EQ(comparison.Compared(), 1u);
  EXPECT_EQ(comparison.cells[1].why, "did not run in HEAD: x.csv: no such file");
  EXPECT_EQ(comparison.cells[2].why, "BASE ran other inputs");
  EXPECT_EQ(comparison.cells[3].why, "not in BASE");
  EXPECT_EQ(Compared(head, base).cells[3].why, "not in HEAD");
}

TEST(BenchCompareTest, OnlyCellsInTheScopeCount) {
  BenchRow later = Row("b", 1, 5, false);
  later.tier = Tier::kNightly;
  const BenchResults base = Results({Row("a", 1, 5, false), later});
  BenchResults head = Results({Row("a", 1, 5, false)});
  EXPECT_EQ(Compared(base, head).Count(CellVerdict::kMissing), 1u);
  Scope scope;
  scope.last = Tier::kPr;
  EXPECT_EQ(Compared(base, head, scope).cells.size(), 1u);
  // HEAD was asked for that tier only.
  head.last = Tier::kSmoke;
  EXPECT_EQ(Compared(base, head).cells.size(), 1u);
  head.last.reset();
  ASSERT_OK_AND_ASSIGN(head.filter, Filter::Make("^a/"));
  EXPECT_EQ(Compared(base, head).cells.size(), 1u);
  ASSERT_OK_AND_ASSIGN(scope.filter, Filter::Make("^z/"));
  EXPECT_EQ(Compared(base, head, scope).cells.size(), 0u);
}

TEST(BenchCompareTest, SuitesAreNotMixed) {
  const BenchResults base = Results({Row("a", 1, 5, false)});
  BenchResults head = base;
  head.table.version = 2;
  EXPECT_EQ(CompareBench(base, head, Scope()).status().message(),
            "BASE has results of suite core, version 1, and HEAD of suite core, version 2, "
            "expected the same");
}

// --- Baselines ---

TEST(BenchAcceptTest, OnlyLinesThatDifferChange) {
  BenchResults base = Results(
      {Row("a", 1, 5, false), Row("b", 1, 5, false), Row("c", 1, 5, false), Row("d", 1, 5, false)});
  for (BenchRow& row : base.table.rows) row.reason = "first";
  BenchResults head =
      Results({Row("a", 1, 5, false), Row("b", 1, 7, false), Row("e", 1, 5, false)});
  head.missing.push_back({{"c", "fifo", "fgd", 1}, "crashed"});
  ASSERT_OK_AND_ASSIGN(const Acceptance accepted, AcceptResults(base.table, head, "faster"));
  EXPECT_EQ(accepted.rewritten, 1u);
  EXPECT_EQ(accepted.added, 1u);
  EXPECT_EQ(accepted.removed, 1u);
  ASSERT_EQ(accepted.missing.size(), 1u);
  std::vector<std::string> rows;
  for (const BenchRow& row : accepted.table.rows) {
    rows.push_back(
        absl::StrCat(row.id.entry, " ", row.metrics[MetricIndex(kMetric)], " ", row.reason));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"a 5 first", "b 7 faster", "c 5 first", "e 5 faster"}));
}

TEST(BenchAcceptTest, ANewColumnIsNoChange) {
  BenchResults base = Results({Row("a", 1, 5, false), Row("b", 1, 5, false)});
  for (BenchRow& row : base.table.rows) row.reason = "first";
  base.table.has_metric[MetricIndex("goodput")] = false;
  BenchResults head = Results({Row("a", 1, 5, false), Row("b", 1, 6, false)});
  for (BenchRow& row : head.table.rows) row.metrics[MetricIndex("goodput")] = "0.5";
  ASSERT_OK_AND_ASSIGN(const Acceptance accepted, AcceptResults(base.table, head, "why"));
  EXPECT_EQ(accepted.rewritten, 1u);
  EXPECT_TRUE(accepted.table.has_metric[MetricIndex("goodput")]);
  EXPECT_EQ(accepted.table.rows[0].reason, "first");
  EXPECT_EQ(accepted.table.rows[0].metrics[MetricIndex("goodput")], "0.5");
  EXPECT_EQ(accepted.table.rows[1].reason, "why");
}

TEST(BenchAcceptTest, RowsOutOfScopeStay) {
  BenchResults base = Results({Row("a", 1, 5, false), Row("b", 1, 5, false)});
  base.table.rows[1].tier = Tier::kNightly;
  BenchResults head = Results({Row("a", 1, 6, false)});
  head.last = Tier::kPr;
  ASSERT_OK_AND_ASSIGN(const Acceptance accepted, AcceptResults(base.table, head, "why"));
  EXPECT_EQ(accepted.removed, 0u);
  EXPECT_EQ(accepted.table.rows.size(), 2u);
}

TEST(BenchAcceptTest, ANewVersionNeedsTheWholeSuite) {
  const BenchResults base = Results({Row("a", 1, 5, false)});
  BenchResults head = base;
  head.table.version = 2;
  head.last = Tier::kPr;
  EXPECT_EQ(AcceptResults(base.table, head, "why").status().code(),
            absl::StatusCode::kInvalidArgument);
  head.last.reset();
  ASSERT_OK_AND_ASSIGN(const Acceptance accepted, AcceptResults(base.table, head, "why"));
  EXPECT_EQ(accepted.rewritten, 1u);
  EXPECT_EQ(accepted.table.version, 2);
  head.table.suite = "traces";
  EXPECT_FALSE(AcceptResults(base.table, head, "why").ok());
  // There may be no baseline yet.
  ASSERT_OK_AND_ASSIGN(const Acceptance fresh, AcceptResults(BenchTable(), head, "why"));
  EXPECT_EQ(fresh.added, 1u);
}

}  // namespace bench_compare_test
}  // namespace drasim::bench
