// The results of a suite: a row for each cell, as CSV. Folders of results (cells.csv) and baselines
// (bench/baseline/NAME.csv) have the same format.
//
// Columns: suite, version, entry, queue, policy, seed, tier, primary, better, margin, random,
// inputs; every metric of BenchMetrics() by its name, empty where the run has no such figure; the
// counters of WorkCounterNames(); filter_calls and score_calls, as "PLUGIN=COUNT ..."; answers, the
// DigestText of cases; reason, fingerprint. Rows are sorted by cell, and their bytes are the same
// on every machine. The fingerprint comes last: its fixed length tells a whole line from a torn
// one.
#ifndef DRASIM_SIM_BENCH_BENCH_TABLE_H_
#define DRASIM_SIM_BENCH_BENCH_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/bench/bench_cells.h"
#include "sim/compare/cell.h"
#include "sim/run/work_steps.h"

namespace drasim::bench {

// Counts of work done, the same in every run of one program.
absl::Span<const absl::string_view> WorkCounterNames();
// The columns of the counts by plugin.
inline constexpr size_t kCallColumns = 2;
inline constexpr absl::string_view kCallColumnNames[kCallColumns] = {"filter_calls", "score_calls"};

struct BenchRow {
  CellId id;
  Tier tier = Tier::kSmoke;
  Primary primary;
  bool random = false;
  std::string inputs;                // BenchCell::inputs
  std::vector<std::string> metrics;  // as written; in the order of BenchMetrics()
  std::vector<uint64_t> counters;    // in the order of WorkCounterNames()
  std::array<PluginCalls, kCallColumns> calls;
  std::string answers;      // of cases; DigestText
  std::string reason;       // why the row was accepted into a baseline
  std::string fingerprint;  // 16 hexadecimal digits
};

// The results of a suite, sorted by cell.
struct BenchTable {
  std::string suite;
  int32_t version = 0;
  // By metric: whether the file has the column. One from before a metric was added lacks it.
  std::vector<bool> has_metric;
  std::vector<bool> has_counter;  // likewise, by counter, and the call columns behind them
  std::vector<BenchRow> rows;

  // Null if there is none. O(log rows).
  const BenchRow* Find(const CellId& id) const;
};
BenchTable EmptyTable(const Suite& suite);

BenchRow RowOf(const BenchCell& cell, const CellResult& result);
BenchRow RowOf(const BenchCell& cell, const CaseAnswers& answers);

// The position of a metric in BenchRow::metrics. REQUIRES: the metric exists.
size_t MetricIndex(absl::string_view name);

// The header line, without its end.
std::string BenchHeader();
// The row's line, without its end.
std::string BenchLine(const BenchTable& table, const BenchRow& row);
// Header and lines.
std::string BenchCsv(const BenchTable& table);

// Reads a file of this format. Columns are found by name; columns of metrics and counts may be
// absent. An error of OpenByteSource, or InvalidArgument ("FILE:LINE:COLUMN: ...") for unknown
// columns and values, for a torn last line, for cells that are there twice, and for rows of several
// suites or versions.
absl::StatusOr<BenchTable> ReadBenchTable(const std::string& path);
// The same from the file's text; `name` is used in errors. `suite` and `version` of a table without
// rows are empty and 0.
absl::StatusOr<BenchTable> ParseBenchTable(absl::string_view name, absl::string_view text);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_TABLE_H_
