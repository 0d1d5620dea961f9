#include "sim/compare/baseline_gate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/text/text_table.h"
#include "sim/compare/statistics.h"

namespace drasim {
namespace {

// The metric in both rows; nothing if neither has any figure of it.
std::optional<BaselineChange> ChangeOf(const ComparedRow& base, const ComparedRow& head,
                                       const CellMetric& metric) {
  const auto old_figures = base.figures.find(metric.name);
  const auto new_figures = head.figures.find(metric.name);
  if (old_figures == base.figures.end() || new_figures == head.figures.end()) return std::nullopt;
  BaselineChange change;
  change.row = head.name;
  change.metric = metric;
  change.difference = ComparePaired(old_figures->second, new_figures->second);
  if (change.difference.n == 0 && change.difference.incomplete == 0) return std::nullopt;
  std::vector<double> olds;
  std::vector<double> news;
  for (size_t s = 0; s < old_figures->second.size(); ++s) {
    if (std::isnan(old_figures->second[s]) || std::isnan(new_figures->second[s])) continue;
    olds.push_back(old_figures->second[s]);
    news.push_back(new_figures->second[s]);
  }
  change.old_mean = MeanOf(olds).mean;
  change.new_mean = MeanOf(news).mean;
  return change;
}

std::string SeedsOf(const KeptComparison& comparison) {
  return absl::StrJoin(comparison.seeds, ",");
}

absl::Status CheckComparable(const KeptComparison& baseline, const KeptComparison& current) {
  if (baseline.seeds != current.seeds) {
    return absl::InvalidArgumentError(absl::StrCat("--baseline: it has the seeds ",
                                                   SeedsOf(baseline), ", this comparison has ",
                                                   SeedsOf(current)));
  }
  if (baseline.inputs != current.inputs) {
    return absl::InvalidArgumentError(
        "--baseline: its input files have other bytes (SHA-256) than those of this comparison");
  }
  return absl::OkStatus();
}

std::string SignedText(double value, int decimals) {
  return absl::StrCat(value > 0 ? "+" : "", FixedText(value, decimals));
}

void WriteChange(const BaselineChange& change, JsonWriter* j) {
  j->Key("row").String(change.row);
  j->Key("metric").String(change.metric.name);
  j->Key("old_mean").Double(change.old_mean);
  j->Key("new_mean").Double(change.new_mean);
  j->Key("difference").BeginObject();
  WritePairedKeys(change.difference, j);
  j->EndObject();
}

}  // namespace

bool BaselineComparison::failed() const {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const RuleVerdict& verdict) { return verdict.failed; });
}

absl::StatusOr<BaselineComparison> CompareWithBaseline(const KeptComparison& baseline,
                                                       const KeptComparison& current,
                                                       absl::Span<const FailRule> rules) {
  if (absl::Status s = CheckComparable(baseline, current); !s.ok()) return s;
  BaselineComparison comparison;
  std::vector<std::pair<const ComparedRow*, const ComparedRow*>> pairs;
  for (const ComparedRow& row : current.rows) {
    const ComparedRow* old = baseline.Find(row.name);
    if (old == nullptr) {
      comparison.only_new.push_back(row.name);
    } else {
      pairs.emplace_back(old, &row);
    }
  }
  for (const ComparedRow& row : baseline.rows) {
    if (current.Find(row.name) == nullptr) comparison.only_old.push_back(row.name);
  }
  comparison.rows = pairs.size();
  if (pairs.empty()) return absl::InvalidArgumentError("--baseline: it has none of these rows");
  if (!rules.empty() && !comparison.only_old.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--baseline: its row ", comparison.only_old[0], " is not in this comparison"));
  }
  for (const auto& [base, head] : pairs) {
    for (const CellMetric& metric : AllMetrics()) {
      std::optional<BaselineChange> change = ChangeOf(*base, *head, metric);
      if (change.has_value() && !change->same()) comparison.changed.push_back(*std::move(change));
    }
  }
  for (const FailRule& rule : rules) {
    const size_t before = comparison.verdicts.size();
    for (const auto& [base, head] : pairs) {
      std::optional<BaselineChange> change = ChangeOf(*base, *head, rule.metric);
      if (!change.has_value()) continue;
      const bool failed =
          !change->complete() || rule.Holds(change->old_mean, change->difference.mean);
      comparison.verdicts.push_back({rule, *std::move(change), failed});
    }
    if (comparison.verdicts.size() > before) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--fail-if '", rule.text,
                     "': no row has the metric on both sides; "
                     "`comparison.metrics` of the scenario selects others than the usual ones"));
  }
  return comparison;
}

std::string PairedText(const PairedDifference& difference, int decimals) {
  if (difference.n == 0) return "-";
  std::string text = SignedText(difference.mean, decimals);
  if (difference.has_interval()) {
    absl::StrAppend(&text, " [", SignedText(difference.interval_95.low, decimals), ", ",
                    SignedText(difference.interval_95.high, decimals), "]");
  }
  return text;
}

std::string BaselineText(const BaselineComparison& comparison, const std::string& name) {
  std::string text = absl::StrCat("Against ", name, ", ", comparison.rows, " row(s): ");
  if (comparison.changed.empty()) {
    text += "no figure differs.\n";
  } else {
    TextTable table({"row", "metric", "old", "new", "difference"});
    for (const BaselineChange& change : comparison.changed) {
      const int decimals = change.metric.decimals;
      table.AddRow(
          {change.row, change.metric.name, FixedText(change.old_mean, decimals),
           FixedText(change.new_mean, decimals),
           change.complete() ? PairedText(change.difference, decimals) : "only one side has it"});
    }
    absl::StrAppend(&text, "\n\n", table.Render(false), "\n");
  }
  for (const std::string& row : comparison.only_new) {
    absl::StrAppend(&text, "note: the baseline has no row ", row, "\n");
  }
  for (const std::string& row : comparison.only_old) {
    absl::StrAppend(&text, "note: only the baseline has the row ", row, "\n");
  }
  for (const RuleVerdict& verdict : comparison.verdicts) {
    absl::StrAppend(&text, verdict.failed ? "FAILED " : "passed ", verdict.rule.text, ": ",
                    verdict.change.row, " ",
                    PairedText(verdict.change.difference, verdict.change.metric.decimals), "\n");
  }
  return text;
}

void WritePairedKeys(const PairedDifference& difference, JsonWriter* j) {
  j->Key("mean").Double(difference.mean);
  const auto end = [&](const char* key, double value) {
    j->Key(key);
    if (difference.has_interval()) {
      j->Double(value);
    } else {
      j->Null();
    }
  };
  end("ci95_low", difference.interval_95.low);
  end("ci95_high", difference.interval_95.high);
  j->Key("p").Double(difference.p);
  j->Key("seeds").Uint(difference.n);
}

void WriteBaseline(const BaselineComparison& comparison, const std::string& name,
                   const std::string& version, JsonWriter* j) {
  j->BeginObject();
  j->Key("file").String(name);
  j->Key("drasim_version").String(version);
  j->Key("rows").Uint(comparison.rows);
  j->Key("failed").Bool(comparison.failed());
  j->Key("only_new").Strings(comparison.only_new);
  j->Key("only_old").Strings(comparison.only_old);
  j->Key("changed").BeginArray();
  for (const BaselineChange& change : comparison.changed) {
    j->BeginObject();
    WriteChange(change, j);
    j->EndObject();
  }
  j->EndArray().Key("rules").BeginArray();
  for (const RuleVerdict& verdict : comparison.verdicts) {
    j->BeginObject();
    j->Key("rule").String(verdict.rule.text);
    j->Key("failed").Bool(verdict.failed);
    WriteChange(verdict.change, j);
    j->EndObject();
  }
  j->EndArray().EndObject();
}

}  // namespace drasim
