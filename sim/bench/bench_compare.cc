#include "sim/bench/bench_compare.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/case_cells.h"

namespace drasim::bench {
namespace {

// Expected share of false ones among the secondary metrics that are shown.
constexpr double kSecondaryLevel = 0.05;
// More of these means no more work: results, and work that was spared.
constexpr absl::string_view kFreeCounters[] = {"records", "cache_hits", "attempts_remembered"};

struct RowPair {
  const BenchRow* base = nullptr;
  const BenchRow* head = nullptr;
};

double NumberOf(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : std::numeric_limits<double>::quiet_NaN();
}

double MeanOfFigures(const std::vector<double>& figures) {
  double sum = 0;
  for (const double figure : figures) sum += figure;
  return sum / static_cast<double>(figures.size());
}

bool InScope(const CellId& id, std::optional<Tier> tier, std::optional<Tier> last,
             const Filter& filter) {
  return (!last.has_value() || !tier.has_value() || *tier <= *last) && filter.Matches(id);
}

const CellProblem* FindProblem(const std::vector<CellProblem>& problems, const CellId& id) {
  const auto it = std::find_if(problems.begin(), problems.end(),
                               [&](const CellProblem& problem) { return problem.id == id; });
  return it == problems.end() ? nullptr : &*it;
}

std::string AbsenceOf(const BenchResults& side, absl::string_view name, const CellId& id) {
  const CellProblem* const problem = FindProblem(side.missing, id);
  return problem == nullptr ? absl::StrCat("not in ", name)
                            : absl::StrCat("did not run in ", name, ": ", problem->what);
}

// "+1.4 %"
std::string PercentText(uint64_t base, uint64_t head) {
  if (base == 0) return "from 0";
  const double percent = 100 * (static_cast<double>(head) / static_cast<double>(base) - 1);
  return absl::StrCat(percent < 0 ? "" : "+", FixedText(percent, 2), " %");
}

// The counters that differ, and whether one of them closes the gate.
struct CounterChanges {
  std::vector<std::string> texts;
  bool worse = false;
};
void AddCounter(absl::string_view name, uint64_t base, uint64_t head, CounterChanges* changes) {
  if (base == head) return;
  changes->texts.push_back(
      absl::StrCat(name, " ", base, " -> ", head, " (", PercentText(base, head), ")"));
  changes->worse |= head > base && (head - base) * 100 > base * kCounterGatePercent;
}

uint64_t SumOf(const PluginCalls& calls) {
  uint64_t sum = 0;
  for (const auto& [plugin, count] : calls) sum += count;
  return sum;
}

// `has`: BenchTable::has_counter of both sides.
CounterChanges CountersOf(const RowPair& pair, const std::vector<bool>& has) {
  CounterChanges changes;
  for (size_t i = 0; i < WorkCounterNames().size(); ++i) {
    const absl::string_view name = WorkCounterNames()[i];
    const bool gated = std::find(std::begin(kFreeCounters), std::end(kFreeCounters), name) ==
                       std::end(kFreeCounters);
    if (gated && has[i]) AddCounter(name, pair.base->counters[i], pair.head->counters[i], &changes);
  }
  for (size_t i = 0; i < kCallColumns; ++i) {
    if (!has[WorkCounterNames().size() + i]) continue;
    const absl::string_view name = kCallColumnNames[i];
    const PluginCalls& base = pair.base->calls[i];
    // A plugin that is new, or has another name, shows in the sum.
    for (const auto& [plugin, count] : pair.head->calls[i]) {
      const auto before = base.find(plugin);
      if (before != base.end())
        AddCounter(absl::StrCat(name, "/", plugin), before->second, count, &changes);
    }
    AddCounter(name, SumOf(base), SumOf(pair.head->calls[i]), &changes);
  }
  return changes;
}

class Comparer {
 public:
  Comparer(const BenchResults& base, const BenchResults& head, const Scope& scope)
      : base_(base), head_(head), scope_(scope), metrics_(BenchMetrics()) {
    for (size_t i = 0; i < WorkCounterNames().size() + kCallColumns; ++i)
      has_counter_.push_back(HasCounter(base_.table, i) && HasCounter(head_.table, i));
  }

  BenchComparison Compare() {
    for (const CellId& id : IdsInScope()) AddCell(id);
    for (auto& [name, pairs] : pairs_) AddGroup(pairs);
    AdjustPrimaries();
    AdjustSecondaries();
    for (const BenchGroup& group : comparison_.groups)
      verdicts_[group.id.GroupName()] = group.verdict;
    for (CellComparison& cell : comparison_.cells) Judge(&cell);
    return std::move(comparison_);
  }

 private:
  std::set<CellId> IdsInScope() const {
    std::set<CellId> ids;
    const auto add = [&](const CellId& id, std::optional<Tier> tier) {
      if (InScope(id, tier, scope_.last, scope_.filter) &&
          InScope(id, tier, base_.last, base_.filter) &&
          InScope(id, tier, head_.last, head_.filter)) {
        ids.insert(id);
      }
    };
    for (const BenchResults* side : {&base_, &head_}) {
      for (const BenchRow& row : side->table.rows) add(row.id, row.tier);
      // Missing cells have no tier. They pass every tier limit: a cell that did not run must not
      // slip through.
      for (const CellProblem& problem : side->missing) add(problem.id, std::nullopt);
    }
    return ids;
  }

  void AddCell(const CellId& id) {
    CellComparison cell;
    cell.id = id;
    const RowPair pair = {base_.table.Find(id), head_.table.Find(id)};
    if (pair.base == nullptr || pair.head == nullptr) {
      cell.verdict = CellVerdict::kMissing;
      cell.why = pair.head == nullptr ? AbsenceOf(head_, "HEAD", id) : AbsenceOf(base_, "BASE", id);
    } else {
      const size_t primary = MetricIndex(pair.head->primary.metric);
      cell.base_figure = pair.base->metrics[primary];
      cell.head_figure = pair.head->metrics[primary];
      if (pair.base->inputs != pair.head->inputs) {
        cell.verdict = CellVerdict::kMissing;
        cell.why = "BASE ran other inputs";
      } else if (!base_.table.has_metric[primary] || !head_.table.has_metric[primary]) {
        cell.verdict = CellVerdict::kMissing;
        cell.why = absl::StrCat("no column ", pair.head->primary.metric, " on one side");
      } else {
        pairs_[id.GroupName()].push_back(pair);
      }
    }
    comparison_.cells.push_back(std::move(cell));
  }

  // A table without a header has no rows either.
  static bool HasCounter(const BenchTable& table, size_t i) {
    return !table.has_counter.empty() && table.has_counter[i];
  }

  bool HasMetric(size_t metric) const {
    return base_.table.has_metric[metric] && head_.table.has_metric[metric];
  }

  bool SameOutcome(const RowPair& pair) const {
    if (pair.base->fingerprint != pair.head->fingerprint) return false;
    for (size_t m = 0; m < metrics_.size(); ++m) {
      if (HasMetric(m) && pair.base->metrics[m] != pair.head->metrics[m]) return false;
    }
    return true;
  }

  // Without adjustment of the p-value.
  FigureChange ChangeOf(const std::vector<RowPair>& pairs, size_t metric, bool random) const {
    std::vector<double> base;
    std::vector<double> head;
    for (const RowPair& pair : pairs) {
      base.push_back(NumberOf(pair.base->metrics[metric]));
      head.push_back(NumberOf(pair.head->metrics[metric]));
    }
    FigureChange change;
    change.metric = metrics_[metric].name;
    change.base_mean = MeanOfFigures(base);
    change.head_mean = MeanOfFigures(head);
    if (random) change.difference = ComparePaired(base, head);
    return change;
  }

  void AddGroup(const std::vector<RowPair>& pairs) {
    BenchGroup group;
    group.id = pairs[0].head->id;
    group.primary = pairs[0].head->primary;
    group.cells = pairs.size();
    for (const RowPair& pair : pairs) {
      group.random |= pair.head->random || pair.base->random;
      if (!SameOutcome(pair)) ++group.changed;
    }
    if (group.changed > 0) {
      const size_t primary = MetricIndex(group.primary.metric);
      group.primary_change = ChangeOf(pairs, primary, group.random);
      for (size_t m = 0; m < metrics_.size(); ++m) {
        const bool differs = std::any_of(pairs.begin(), pairs.end(), [m](const RowPair& pair) {
          return pair.base->metrics[m] != pair.head->metrics[m];
        });
        if (m != primary && HasMetric(m) && differs)
          group.secondary.push_back(ChangeOf(pairs, m, group.random));
      }
    }
    comparison_.groups.push_back(std::move(group));
  }

  void AdjustPrimaries() {
    std::vector<double> p;
    for (const BenchGroup& group : comparison_.groups) {
      if (group.random && group.changed > 0) p.push_back(group.primary_change.difference.p);
    }
    const std::vector<double> adjusted = HolmAdjusted(p);
    comparison_.tests = p.size();
    size_t next = 0;
    for (BenchGroup& group : comparison_.groups) {
      if (group.changed == 0) continue;
      FigureChange& change = group.primary_change;
      const OutcomeRule rule = {group.primary.higher_is_better,
                                group.primary.margin.Of(change.base_mean)};
      if (group.random) {
        change.adjusted_p = adjusted[next++];
        group.verdict = JudgeOutcome(change.difference, change.adjusted_p, rule);
      } else {
        group.verdict = JudgeExactOutcome(change.base_mean, change.head_mean, rule);
      }
    }
  }

  void AdjustSecondaries() {
    std::vector<double> p;
    for (const BenchGroup& group : comparison_.groups) {
      if (!group.random) continue;
      for (const FigureChange& change : group.secondary) p.push_back(change.difference.p);
    }
    const std::vector<double> adjusted = BenjaminiHochbergAdjusted(p);
    size_t next = 0;
    for (BenchGroup& group : comparison_.groups) {
      if (!group.random) continue;
      for (FigureChange& change : group.secondary) change.adjusted_p = adjusted[next++];
      const auto is_noise = [](const FigureChange& change) {
        return !(change.adjusted_p <= kSecondaryLevel);
      };
      group.secondary.erase(
          std::remove_if(group.secondary.begin(), group.secondary.end(), is_noise),
          group.secondary.end());
    }
  }

  void Judge(CellComparison* cell) const {
    if (cell->verdict == CellVerdict::kMissing) return;
    const RowPair pair = {base_.table.Find(cell->id), head_.table.Find(cell->id)};
    std::vector<std::string> why;
    if (!SameOutcome(pair)) {
      cell->verdict = verdicts_.at(cell->id.GroupName());
      why.push_back(pair.base->fingerprint == pair.head->fingerprint
                        ? "figures differ after the same decisions"
                        : absl::StrCat("fingerprint ", pair.base->fingerprint, " -> ",
                                       pair.head->fingerprint));
      const std::string first = FirstDifference(pair.base->answers, pair.head->answers);
      if (!first.empty()) why.push_back(first);
    }
    const CounterChanges counters = CountersOf(pair, has_counter_);
    if (counters.worse) cell->verdict = CellVerdict::kWorse;
    why.insert(why.end(), counters.texts.begin(), counters.texts.end());
    cell->why = absl::StrJoin(why, "; ");
  }

  const BenchResults& base_;
  const BenchResults& head_;
  const Scope& scope_;
  const std::vector<BenchMetric>& metrics_;
  std::vector<bool> has_counter_;                      // on both sides; as in BenchTable
  std::map<std::string, std::vector<RowPair>> pairs_;  // by group
  std::map<std::string, CellVerdict> verdicts_;        // likewise
  BenchComparison comparison_;
};

// Whether the rows agree in all columns that the baseline has, but the reason.
bool EqualRows(const BenchTable& base, BenchRow old_row, BenchRow new_row) {
  old_row.reason.clear();
  new_row.reason.clear();
  for (size_t m = 0; m < new_row.metrics.size(); ++m) {
    if (!base.has_metric[m]) new_row.metrics[m].clear();
  }
  for (size_t i = 0; i < new_row.counters.size(); ++i) {
    if (!base.has_counter[i]) new_row.counters[i] = 0;
  }
  for (size_t i = 0; i < kCallColumns; ++i) {
    if (!base.has_counter[new_row.counters.size() + i]) new_row.calls[i].clear();
  }
  if (old_row.answers.empty()) new_row.answers.clear();
  return BenchLine(base, old_row) == BenchLine(base, new_row);
}

absl::Status OtherSuite(const BenchTable& base, const BenchTable& head) {
  return absl::InvalidArgumentError(absl::StrCat(
      "BASE has results of suite ", base.suite, ", version ", base.version, ", and HEAD of suite ",
      head.suite, ", version ", head.version, ", expected the same"));
}

}  // namespace

size_t BenchComparison::Count(CellVerdict verdict) const {
  return static_cast<size_t>(
      std::count_if(cells.begin(), cells.end(),
                    [verdict](const CellComparison& cell) { return cell.verdict == verdict; }));
}

absl::StatusOr<BenchComparison> CompareBench(const BenchResults& base, const BenchResults& head,
                                             const Scope& scope) {
  // A table without rows belongs to any suite: its cells are missing.
  const bool either_empty = base.table.rows.empty() || head.table.rows.empty();
  if (!either_empty &&
      (base.table.suite != head.table.suite || base.table.version != head.table.version)) {
    return OtherSuite(base.table, head.table);
  }
  return Comparer(base, head, scope).Compare();
}

absl::StatusOr<Acceptance> AcceptResults(const BenchTable& base, const BenchResults& head,
                                         const std::string& reason) {
  Acceptance accepted;
  const bool fresh = base.rows.empty();
  if (!fresh && base.suite != head.table.suite) return OtherSuite(base, head.table);
  const bool new_version = !fresh && base.version != head.table.version;
  const bool whole = !head.last.has_value() && head.filter.text().empty() && head.missing.empty();
  if (new_version && !whole) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the baseline has version ", base.version, " of the suite and the results have version ",
        head.table.version, ", expected results of the whole suite, without --tier and --filter"));
  }
  const bool lacks_counter = !fresh && std::find(base.has_counter.begin(), base.has_counter.end(),
                                                 false) != base.has_counter.end();
  // Rows that did not run again would count nothing there.
  if (lacks_counter && !whole) {
    return absl::InvalidArgumentError(
        "the baseline lacks counters that the results have, expected results of the whole suite, "
        "without --tier and --filter");
  }
  accepted.missing = head.missing;
  std::map<CellId, BenchRow> rows;
  for (const BenchRow& row : base.rows) {
    const bool ran = head.table.Find(row.id) != nullptr;
    const bool asked = InScope(row.id, row.tier, head.last, head.filter);
    if (!ran && asked && FindProblem(head.missing, row.id) == nullptr) {
      ++accepted.removed;
    } else {
      rows.emplace(row.id, row);
    }
  }
  for (const BenchRow& row : head.table.rows) {
    const auto [it, is_new] = rows.emplace(row.id, row);
    const bool equal = !is_new && !new_version && EqualRows(base, it->second, row);
    const std::string of_row = equal ? it->second.reason : reason;
    it->second = row;
    it->second.reason = of_row;
    if (!equal) ++(is_new ? accepted.added : accepted.rewritten);
  }
  accepted.table = head.table;
  accepted.table.has_metric.assign(accepted.table.has_metric.size(), true);
  accepted.table.has_counter.assign(accepted.table.has_counter.size(), true);
  accepted.table.rows.clear();
  for (auto& [id, row] : rows) accepted.table.rows.push_back(std::move(row));
  return accepted;
}

}  // namespace drasim::bench
