#include "sim/bench/bench_outputs.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/number_text.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/bench_table.h"

namespace drasim::bench {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels LabelsOf(const CellId& id) {
  return {{"entry", id.entry}, {"queue", id.queue.empty() ? "-" : id.queue}, {"policy", id.policy}};
}

ResultFigure FigureOf(const CellId& id, absl::string_view metric, double value) {
  ResultFigure figure;
  figure.name = id.GroupName();
  figure.labels = LabelsOf(id);
  figure.seed = id.seed;
  figure.metric = std::string(metric);
  figure.value = value;
  return figure;
}

// The columns of costs.csv by cell: (name, value). Names of cells hold neither commas nor quotes.
std::map<CellId, std::vector<std::pair<std::string, double>>> ReadCosts(absl::string_view text) {
  constexpr size_t kIdColumns = 4;
  std::map<CellId, std::vector<std::pair<std::string, double>>> costs;
  std::vector<std::string> header;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    if (header.empty()) {
      header = fields;
      continue;
    }
    CellId id;
    if (fields.size() != header.size() || fields.size() < kIdColumns ||
        !absl::SimpleAtoi(fields[3], &id.seed)) {
      continue;
    }
    id.entry = fields[0];
    id.queue = fields[1];
    id.policy = fields[2];
    for (size_t c = kIdColumns; c < fields.size(); ++c) {
      double value = 0;
      if (absl::SimpleAtod(fields[c], &value)) costs[id].emplace_back(header[c], value);
    }
  }
  return costs;
}

void AddFigures(const BenchRow& row, std::vector<ResultFigure>* figures) {
  const std::vector<BenchMetric>& metrics = BenchMetrics();
  for (size_t m = 0; m < metrics.size() && m < row.metrics.size(); ++m) {
    double value = 0;
    if (absl::SimpleAtod(row.metrics[m], &value)) {
      figures->push_back(FigureOf(row.id, metrics[m].name, value));
    }
  }
  const absl::Span<const absl::string_view> counters = WorkCounterNames();
  for (size_t c = 0; c < counters.size() && c < row.counters.size(); ++c) {
    figures->push_back(FigureOf(row.id, counters[c], static_cast<double>(row.counters[c])));
  }
}

void AddProblems(const std::vector<CellProblem>& problems, CheckOutcome outcome,
                 const std::string& suite_path, std::vector<ResultCheck>* checks) {
  for (const CellProblem& problem : problems) {
    ResultCheck check{problem.id.Name(), problem.id.entry, outcome, problem.what, suite_path};
    checks->push_back(std::move(check));
  }
}

CheckOutcome OutcomeOf(CellVerdict verdict) {
  switch (verdict) {
    case CellVerdict::kSame:
      return CheckOutcome::kPassed;
    case CellVerdict::kBetter:
    case CellVerdict::kOther:
    case CellVerdict::kUnclear:
      return CheckOutcome::kChanged;
    case CellVerdict::kWorse:
      return CheckOutcome::kFailed;
    case CellVerdict::kMissing:
      return CheckOutcome::kMissing;
  }
  return CheckOutcome::kMissing;
}

// The means of the head, and the difference.
void AddChange(const BenchGroup& group, const FigureChange& change,
               std::vector<ResultFigure>* figures) {
  if (!std::isfinite(change.base_mean) || !std::isfinite(change.head_mean)) return;
  ResultFigure head = FigureOf(group.id, change.metric, change.head_mean);
  head.seed.reset();
  figures->push_back(head);
  ResultFigure difference = head;
  absl::StrAppend(&difference.metric, "_difference");
  difference.value = group.random ? change.difference.mean : change.head_mean - change.base_mean;
  if (group.random && change.difference.has_interval()) {
    difference.low = change.difference.interval_95.low;
    difference.high = change.difference.interval_95.high;
  }
  figures->push_back(difference);
}

void AddRow(const BenchGroup& group, const FigureChange& change, ResultTable* table) {
  const double mean = group.random ? change.difference.mean : change.head_mean - change.base_mean;
  const auto text = [](double value) {
    return std::isfinite(value) ? DoubleText(RoundSignificant(value, 6)) : "-";
  };
  table->rows.push_back({group.id.GroupName(), absl::StrCat(group.changed, "/", group.cells),
                         std::string(CellVerdictName(group.verdict)), std::string(change.metric),
                         text(change.base_mean), text(change.head_mean), text(mean)});
}

}  // namespace

ResultSet BenchRunResults(const BenchResults& results, const BenchRunSummary& summary,
                          absl::string_view costs, const std::string& suite_path) {
  ResultSet set;
  set.command = "bench run";
  set.summary =
      absl::StrCat(summary.cells, " cells of ", results.table.suite, ": ", summary.failed.size(),
                   " failed, ", summary.missing.size(), " missing");
  const auto costs_of = ReadCosts(costs);
  ResultTable table{"", {"cell", "metric", "value", "fingerprint"}, {}};
  for (const BenchRow& row : results.table.rows) {
    ResultCheck check{row.id.Name(), row.id.entry, CheckOutcome::kPassed, "", suite_path};
    AddFigures(row, &set.figures);
    if (const auto cost = costs_of.find(row.id); cost != costs_of.end()) {
      for (const auto& [metric, value] : cost->second) {
        set.figures.push_back(FigureOf(row.id, metric, value));
        if (metric == "cpu_seconds") check.seconds = value;
      }
    }
    set.checks.push_back(std::move(check));
    table.rows.push_back({row.id.Name(), row.primary.metric,
                          row.metrics[MetricIndex(row.primary.metric)], row.fingerprint});
  }
  AddProblems(summary.failed, CheckOutcome::kFailed, suite_path, &set.checks);
  AddProblems(summary.missing, CheckOutcome::kMissing, suite_path, &set.checks);
  set.tables.push_back(std::move(table));
  return set;
}

ResultSet BenchCompareResults(const BenchComparison& comparison, const BenchResults& base,
                              const std::string& base_path) {
  ResultSet set;
  set.command = "bench compare";
  std::vector<std::string> counts;
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(base_path, error);
  for (const CellComparison& cell : comparison.cells) {
    ResultCheck check{cell.id.Name(), cell.id.entry, OutcomeOf(cell.verdict), "", ""};
    if (cell.verdict != CellVerdict::kSame) {
      check.message =
          absl::StrCat(CellVerdictName(cell.verdict), cell.why.empty() ? "" : ": ", cell.why);
    }
    if (is_file) {
      check.file = base_path;
      const BenchRow* row = base.table.Find(cell.id);
      // The first line is the header.
      if (row != nullptr) check.line = static_cast<size_t>(row - base.table.rows.data()) + 2;
    }
    set.checks.push_back(std::move(check));
  }
  for (const CellVerdict verdict :
       {CellVerdict::kSame, CellVerdict::kBetter, CellVerdict::kOther, CellVerdict::kUnclear,
        CellVerdict::kWorse, CellVerdict::kMissing}) {
    const size_t count = comparison.Count(verdict);
    if (count > 0) counts.push_back(absl::StrCat(count, " ", CellVerdictName(verdict)));
  }
  set.summary = absl::StrCat(comparison.cells.size(), " cells", counts.empty() ? "" : ": ",
                             absl::StrJoin(counts, ", "));
  ResultTable table{"", {"group", "changed", "verdict", "metric", "base", "head", "change"}, {}};
  for (const BenchGroup& group : comparison.groups) {
    if (group.changed == 0) continue;
    AddChange(group, group.primary_change, &set.figures);
    AddRow(group, group.primary_change, &table);
    for (const FigureChange& change : group.secondary) {
      AddChange(group, change, &set.figures);
      AddRow(group, change, &table);
    }
  }
  if (!table.rows.empty()) set.tables.push_back(std::move(table));
  return set;
}

}  // namespace drasim::bench
