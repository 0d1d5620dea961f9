#include "sim/compare/compare_outputs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/statistics.h"

namespace drasim {
namespace {

bool HasAll(const std::vector<double>& figures) {
  return std::none_of(figures.begin(), figures.end(), [](double v) { return std::isnan(v); });
}

// The metrics that some row has, in their usual order.
std::vector<CellMetric> MetricsOf(const KeptComparison& comparison) {
  std::vector<CellMetric> metrics;
  for (const CellMetric& metric : AllMetrics()) {
    const bool used =
        std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const ComparedRow& row) {
          const auto found = row.figures.find(metric.name);
          return found != row.figures.end() && HasAll(found->second);
        });
    if (used) metrics.push_back(metric);
  }
  return metrics;
}

}  // namespace

ResultSet CompareResults(const KeptComparison& current, const BaselineComparison* gate,
                         const std::string& baseline) {
  ResultSet set;
  set.command = "compare";
  set.summary = absl::StrCat(current.rows.size(), " rows, ", current.seeds.size(), " seed(s)");
  const std::vector<CellMetric> metrics = MetricsOf(current);
  ResultTable table{"", {"row"}, {}};
  for (const CellMetric& metric : metrics) table.columns.emplace_back(metric.name);
  for (const ComparedRow& row : current.rows) {
    std::vector<std::string> cells = {row.name};
    for (const CellMetric& metric : metrics) {
      const auto found = row.figures.find(metric.name);
      if (found == row.figures.end() || !HasAll(found->second)) {
        cells.emplace_back("-");
        continue;
      }
      const MeanInterval mean = MeanOf(found->second);
      ResultFigure figure{row.name, row.labels, std::nullopt, metric.name, mean.mean, {}, {}};
      std::string text = FixedText(mean.mean, metric.decimals);
      if (mean.n > 1) {
        figure.low = mean.mean - mean.half_width;
        figure.high = mean.mean + mean.half_width;
        absl::StrAppend(&text, " ±", FixedText(mean.half_width, metric.decimals));
      }
      set.figures.push_back(std::move(figure));
      cells.push_back(std::move(text));
    }
    table.rows.push_back(std::move(cells));
  }
  set.tables.push_back(std::move(table));
  if (gate == nullptr) return set;
  absl::StrAppend(&set.summary, "; ", gate->failed() ? "worse than " : "not worse than ", baseline);
  for (const RuleVerdict& verdict : gate->verdicts) {
    ResultCheck check{absl::StrCat(verdict.change.row, ": ", verdict.rule.text), verdict.rule.text,
                      verdict.failed ? CheckOutcome::kFailed : CheckOutcome::kPassed,
                      PairedText(verdict.change.difference, verdict.change.metric.decimals),
                      baseline};
    set.checks.push_back(std::move(check));
  }
  return set;
}

}  // namespace drasim
