#include "sim/bench/card.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/bench/gpu_bound.h"
#include "sim/compare/cell_metrics.h"
#include "sim/record/data_table.h"

namespace drasim::bench {
namespace {

constexpr char kAllocation[] = "gpu_allocation_percent_end";
// Allocations are printed with a finite number of digits.
constexpr double kPercentSlack = 1e-6;

// The rows of an entry and queue: by policy, then seed.
struct CardGroup {
  std::string entry;
  std::string queue;
  std::map<std::string, std::map<uint64_t, const BenchRow*>> policies;
};

// NaN if the row has no such figure.
double FigureIn(const BenchRow& row, absl::string_view metric) {
  double value = 0;
  const std::string& text = row.metrics[MetricIndex(metric)];
  return absl::SimpleAtod(text, &value) ? value : std::nan("");
}

std::vector<CardGroup> GroupsOf(const BenchTable& table) {
  std::map<std::pair<std::string, std::string>, CardGroup> groups;
  for (const BenchRow& row : table.rows) {
    CardGroup& group = groups[{row.id.entry, row.id.queue}];
    group.entry = row.id.entry;
    group.queue = row.id.queue;
    group.policies[row.id.policy][row.id.seed] = &row;
  }
  std::vector<CardGroup> several;
  for (auto& [key, group] : groups) {
    if (group.policies.size() > 1) several.push_back(std::move(group));
  }
  return several;
}

// Named, or the policy of most scenarios, the first by name among equals.
absl::StatusOr<std::string> ReferenceOf(const std::vector<CardGroup>& groups,
                                        const std::string& named) {
  std::map<std::string, size_t> scenarios;
  for (const CardGroup& group : groups) {
    for (const auto& [policy, rows] : group.policies) ++scenarios[policy];
  }
  if (!named.empty()) {
    if (scenarios.count(named) > 0) return named;
    std::vector<std::string> known;
    for (const auto& [policy, count] : scenarios) known.push_back(policy);
    return absl::InvalidArgumentError(
        absl::StrCat("--reference: found no results of '", named, "'", Suggest(named, known)));
  }
  std::string best;
  for (const auto& [policy, count] : scenarios) {
    if (best.empty() || count > scenarios[best]) best = policy;
  }
  return best;
}

std::vector<std::string> FrontOf(const CardGroup& group, const Primary& primary,
                                 const std::vector<std::string>& named) {
  if (!named.empty()) return named;
  std::vector<std::string> front = {primary.metric};
  const std::vector<std::string> more =
      group.queue.empty()
          ? std::vector<std::string>{kAllocation, "pods_unschedulable"}
          : std::vector<std::string>{"mean_queueing_seconds", "gpu_utilisation_percent"};
  for (const std::string& metric : more) {
    if (metric != primary.metric) front.push_back(metric);
  }
  return front;
}

// The mean over seeds; NaN unless all have the figure.
double MeanIn(const std::map<uint64_t, const BenchRow*>& rows, absl::string_view metric) {
  double sum = 0;
  for (const auto& [seed, row] : rows) sum += FigureIn(*row, metric);
  return sum / static_cast<double>(rows.size());
}

PairedDifference DifferenceFrom(const std::map<uint64_t, const BenchRow*>& base,
                                const std::map<uint64_t, const BenchRow*>& head,
                                absl::string_view metric) {
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& [seed, row] : head) {
    const auto found = base.find(seed);
    if (found == base.end()) continue;
    a.push_back(FigureIn(*found->second, metric));
    b.push_back(FigureIn(*row, metric));
  }
  return ComparePaired(a, b);
}

// Shares the seeds out among the policies that are best in them.
void CountWins(const CardGroup& group, const Primary& primary, std::vector<CardLine>* lines) {
  std::map<uint64_t, std::vector<std::pair<double, size_t>>> by_seed;
  size_t p = 0;
  for (const auto& [policy, rows] : group.policies) {
    for (const auto& [seed, row] : rows) {
      const double figure = FigureIn(*row, primary.metric);
      if (std::isfinite(figure))
        by_seed[seed].emplace_back(primary.higher_is_better ? -figure : figure, p);
    }
    ++p;
  }
  for (const auto& [seed, figures] : by_seed) {
    const double best = std::min_element(figures.begin(), figures.end())->first;
    const auto ties = std::count_if(figures.begin(), figures.end(),
                                    [best](const auto& f) { return f.first == best; });
    for (const auto& [figure, line] : figures) {
      if (figure == best)
        (*lines)[line].won += 1 / (static_cast<double>(ties) * static_cast<double>(by_seed.size()));
    }
  }
}

// Percentage points below the bound, over the seeds that have one.
absl::Status AddBounds(const CardGroup& group, const SampleBounds& bounds, CardScenario* scenario) {
  double bound_sum = 0;
  size_t bounded = 0;
  std::set<uint64_t> seeds;
  size_t p = 0;
  for (const auto& [policy, rows] : group.policies) {
    CardLine& line = scenario->lines[p++];
    double below = 0;
    size_t found = 0;
    for (const auto& [seed, row] : rows) {
      const auto sample = bounds.find({group.entry, seed});
      const double reached = FigureIn(*row, kAllocation);
      if (sample == bounds.end() || !std::isfinite(reached)) continue;
      double percent = 0;
      if (!absl::SimpleAtod(
              PercentRoundedUp(sample->second.bound_milli, sample->second.capacity_milli),
              &percent)) {
        continue;
      }
      if (reached > percent + kPercentSlack) {
        return absl::InternalError(absl::StrCat(row->id.Name(), " allocates ", reached,
                                                " % of the GPUs, above the bound of ", percent));
      }
      below += percent - reached;
      ++found;
      if (seeds.insert(seed).second) {
        bound_sum += percent;
        ++bounded;
      }
    }
    if (found == rows.size()) line.below_bound = below / static_cast<double>(found);
  }
  if (bounded > 0) scenario->bound_percent = bound_sum / static_cast<double>(bounded);
  return absl::OkStatus();
}

void MarkFront(const CardGroup& group, const std::vector<CellMetric>& metrics,
               CardScenario* scenario) {
  std::vector<std::vector<double>> figures;  // smaller is better; missing is worst
  for (const auto& [policy, rows] : group.policies) {
    std::vector<double>& own = figures.emplace_back();
    for (const CellMetric& metric : metrics) {
      const double mean = MeanIn(rows, metric.name);
      own.push_back(!std::isfinite(mean) ? HUGE_VAL : metric.more_is_better ? -mean : mean);
    }
  }
  const auto beats = [](const std::vector<double>& a, const std::vector<double>& b) {
    bool better = false;
    for (size_t m = 0; m < a.size(); ++m) {
      if (a[m] > b[m]) return false;
      better |= a[m] < b[m];
    }
    return better;
  };
  for (size_t p = 0; p < figures.size(); ++p) {
    scenario->lines[p].on_front =
        std::none_of(figures.begin(), figures.end(),
                     [&](const std::vector<double>& other) { return beats(other, figures[p]); });
  }
}

// The policies of one scenario that make the largest table together with the other scenarios that
// all of them ran.
void Rank(const std::vector<CardGroup>& groups, Card* card) {
  const auto covers = [](const CardScenario& scenario, const std::vector<std::string>& policies) {
    return std::all_of(policies.begin(), policies.end(), [&](const std::string& policy) {
      return std::any_of(scenario.lines.begin(), scenario.lines.end(), [&](const CardLine& line) {
        return line.policy == policy && line.mean.has_value();
      });
    });
  };
  size_t most = 0;
  for (const CardScenario& scenario : card->scenarios) {
    std::vector<std::string> policies;
    for (const CardLine& line : scenario.lines) {
      if (line.mean.has_value()) policies.push_back(line.policy);
    }
    size_t scenarios = 0;
    for (const CardScenario& other : card->scenarios)
      scenarios += covers(other, policies) ? 1u : 0u;
    if (policies.size() < 2 || policies.size() * scenarios <= most) continue;
    most = policies.size() * scenarios;
    card->ranked = std::move(policies);
  }
  std::vector<std::vector<double>> figures;
  std::vector<bool> more_is_better;
  for (size_t s = 0; s < groups.size() && !card->ranked.empty(); ++s) {
    const CardScenario& scenario = card->scenarios[s];
    if (!covers(scenario, card->ranked)) continue;
    figures.emplace_back();
    for (const CardLine& line : scenario.lines) {
      if (std::find(card->ranked.begin(), card->ranked.end(), line.policy) != card->ranked.end())
        figures.back().push_back(*line.mean);
    }
    more_is_better.push_back(scenario.primary.higher_is_better);
  }
  card->ranks = RankPolicies(figures, more_is_better);
}

// --- Texts ---

std::string ShortText(double value) {
  return std::isfinite(value) ? DoubleText(RoundSignificant(value, 6)) : "-";
}

std::string DifferenceText(const CardLine& line) {
  const PairedDifference& d = line.difference;
  if (d.n == 0) return "-";
  std::string text = absl::StrCat(d.mean > 0 ? "+" : "", ShortText(d.mean));
  if (d.has_interval()) {
    absl::StrAppend(&text, " [", ShortText(d.interval_95.low), ", ", ShortText(d.interval_95.high),
                    "]");
  }
  return text;
}

std::string ScenarioName(const CardScenario& scenario) {
  return absl::StrCat(scenario.entry, "/", scenario.queue.empty() ? "-" : scenario.queue);
}

void NumberOrEmpty(const std::optional<double>& value, DataTable* table) {
  if (value.has_value() && std::isfinite(*value)) {
    table->Number(DoubleText(*value));
  } else {
    table->Empty();
  }
}

DataTable LinesOf(const Card& card) {
  DataTable table({"entry", "queue", "policy", "metric", "better", "seeds", "mean", "difference",
                   "difference_low", "difference_high", "p", "won", "bound_percent", "below_bound",
                   "on_front"});
  for (const CardScenario& scenario : card.scenarios) {
    for (const CardLine& line : scenario.lines) {
      table.AddRow().Text(scenario.entry).Text(scenario.queue).Text(line.policy);
      table.Text(scenario.primary.metric);
      table.Text(scenario.primary.higher_is_better ? "higher" : "lower");
      table.Int(static_cast<int64_t>(line.seeds));
      NumberOrEmpty(line.mean, &table);
      const PairedDifference& d = line.difference;
      const auto of_pairs = [](double value, bool there) {
        return there ? std::optional<double>(value) : std::nullopt;
      };
      NumberOrEmpty(of_pairs(d.mean, d.n > 0), &table);
      NumberOrEmpty(of_pairs(d.interval_95.low, d.has_interval()), &table);
      NumberOrEmpty(of_pairs(d.interval_95.high, d.has_interval()), &table);
      NumberOrEmpty(of_pairs(d.p, d.has_interval()), &table);
      table.Number(DoubleText(line.won));
      NumberOrEmpty(scenario.bound_percent, &table);
      NumberOrEmpty(line.below_bound, &table);
      table.Bool(line.on_front);
    }
  }
  return table;
}

}  // namespace

absl::StatusOr<Card> MakeCard(const BenchTable& table, const SampleBounds& bounds,
                              const CardOptions& options) {
  const std::vector<CardGroup> groups = GroupsOf(table);
  if (groups.empty()) {
    return absl::InvalidArgumentError(
        "found no scenario with results of two policies, which a card compares");
  }
  Card card;
  card.suite = table.suite;
  card.version = table.version;
  ASSIGN_OR_RETURN(card.reference, ReferenceOf(groups, options.reference));
  for (const CardGroup& group : groups) {
    const BenchRow& first = *group.policies.begin()->second.begin()->second;
    CardScenario scenario;
    scenario.entry = group.entry;
    scenario.queue = group.queue;
    scenario.primary = first.primary;
    scenario.random = first.random;
    scenario.front = FrontOf(group, first.primary, options.front);
    std::vector<CellMetric> metrics;
    for (const std::string& name : scenario.front) {
      ASSIGN_OR_RETURN(const CellMetric metric, FindMetric(name));
      metrics.push_back(metric);
    }
    const auto reference = group.policies.find(card.reference);
    for (const auto& [policy, rows] : group.policies) {
      CardLine line;
      line.policy = policy;
      line.seeds = rows.size();
      const double mean = MeanIn(rows, first.primary.metric);
      if (std::isfinite(mean)) line.mean = mean;
      if (reference != group.policies.end() && policy != card.reference)
        line.difference = DifferenceFrom(reference->second, rows, first.primary.metric);
      scenario.lines.push_back(std::move(line));
    }
    CountWins(group, first.primary, &scenario.lines);
    RETURN_IF_ERROR(AddBounds(group, bounds, &scenario));
    MarkFront(group, metrics, &scenario);
    card.scenarios.push_back(std::move(scenario));
  }
  Rank(groups, &card);
  return card;
}

std::string CardText(const Card& card) {
  std::string text = absl::StrCat("suite ", card.suite, ", version ", card.version,
                                  ", differences from ", card.reference, "\n\n");
  for (const CardScenario& scenario : card.scenarios) {
    absl::StrAppend(&text, ScenarioName(scenario), ": ", scenario.primary.metric, ", ",
                    scenario.primary.higher_is_better ? "higher" : "lower", " is better");
    if (scenario.bound_percent.has_value())
      absl::StrAppend(&text, "; no policy allocates more than ", ShortText(*scenario.bound_percent),
                      " % of the GPUs");
    text += "\n";
    TextTable table({"policy", "seeds", "mean", "difference", "won %", "below bound", "front"});
    for (const CardLine& line : scenario.lines) {
      table.AddRow({line.policy, absl::StrCat(line.seeds),
                    line.mean.has_value() ? ShortText(*line.mean) : "-", DifferenceText(line),
                    FixedText(100 * line.won, 1),
                    line.below_bound.has_value() ? FixedText(*line.below_bound, 2) : "-",
                    line.on_front ? "*" : ""});
    }
    absl::StrAppend(&text, table.Render(false), "\n");
  }
  if (card.ranked.empty()) return text;
  absl::StrAppend(&text, "mean ranks over ", card.ranks.scenarios, " scenarios");
  if (card.ranks.critical_distance > 0) {
    absl::StrAppend(&text, "; Friedman p ", FixedText(card.ranks.p, 4), ", critical distance ",
                    FixedText(card.ranks.critical_distance, 3), " at 5 %");
  }
  text += "\n";
  TextTable ranks({"policy", "mean rank"});
  for (size_t p = 0; p < card.ranked.size(); ++p)
    ranks.AddRow({card.ranked[p], FixedText(card.ranks.mean_ranks[p], 3)});
  return absl::StrCat(text, ranks.Render(false));
}

std::string CardJson(const Card& card) {
  JsonWriter json;
  json.BeginDocument("bench-card");
  json.Key("suite").String(card.suite);
  json.Key("version").Int(card.version);
  json.Key("reference").String(card.reference);
  json.Key("lines");
  LinesOf(card).WriteRows(&json);
  json.Key("fronts").BeginArray();
  for (const CardScenario& scenario : card.scenarios) {
    json.BeginObject().Key("entry").String(scenario.entry).Key("queue").String(scenario.queue);
    json.Key("metrics").Strings(scenario.front).EndObject();
  }
  json.EndArray();
  json.Key("ranks").BeginObject();
  json.Key("scenarios").Uint(card.ranks.scenarios);
  json.Key("friedman_p").Double(card.ranks.p);
  json.Key("critical_distance").Double(card.ranks.critical_distance);
  json.Key("policies").BeginArray();
  for (size_t p = 0; p < card.ranked.size(); ++p) {
    json.BeginObject().Key("policy").String(card.ranked[p]);
    json.Key("mean_rank").Double(card.ranks.mean_ranks[p]).EndObject();
  }
  json.EndArray().EndObject().EndObject();
  return json.text();
}

std::string CardCsv(const Card& card) { return LinesOf(card).Csv(); }

}  // namespace drasim::bench
