#include "gui/view/compare_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gui/view/wait_text.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "model/text/yaml_tree.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

// --- Figures ---

enum class Better : uint8_t { kNeither, kMore, kLess };

struct FigureValue {
  bool present = true;
  double value = 0;
};

enum class FigureUnit : uint8_t { kCount, kMean, kPercent, kLength };

std::string FigureText(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kCount:
      return GroupedDigits(static_cast<int64_t>(value));
    case FigureUnit::kMean:
      return FixedText(value, 2);
    case FigureUnit::kPercent:
      return absl::StrCat(FixedText(value, 2), " %");
    case FigureUnit::kLength:
      // Kept inside the type's range.
      return WaitText(SimDuration(
          static_cast<int64_t>(std::min(value * static_cast<double>(kSecondNs), 9e18))));
  }
  return "";
}

FigureDelta DeltaOf(absl::string_view metric, FigureUnit unit, Better better, FigureValue a,
                    FigureValue b) {
  FigureDelta delta;
  delta.metric = std::string(metric);
  delta.a = a.present ? FigureText(a.value, unit) : "-";
  delta.b = b.present ? FigureText(b.value, unit) : "-";
  if (!a.present || !b.present) return delta;
  const double difference = b.value - a.value;
  const std::string size = FigureText(difference < 0 ? -difference : difference, unit);
  if (delta.a == delta.b || size == FigureText(0, unit)) {
    delta.difference.assign(1, '=');
    return delta;
  }
  delta.difference = absl::StrCat(difference < 0 ? "-" : "+", size);
  if (better == Better::kNeither) return delta;
  delta.verdict = (difference > 0) == (better == Better::kMore) ? FigureDelta::Verdict::kBetter
                                                                : FigureDelta::Verdict::kWorse;
  return delta;
}

// --- Divergences ---

absl::string_view AnswerText(PodRow::FirstAnswer answer) {
  switch (answer) {
    case PodRow::FirstAnswer::kNone:
      return "no answer";
    case PodRow::FirstAnswer::kBound:
      return "bound";
    case PodRow::FirstAnswer::kNoNode:
      return "no node";
    case PodRow::FirstAnswer::kTurnedAway:
      return "turned away by its node";
  }
  return "";
}

std::string StartText(const PodRow& row) {
  return row.started ? absl::StrCat("started ", WaitText(row.first_start - row.arrival),
                                    " after its arrival")
                     : "never started";
}

// --- Scenarios ---

struct FlatKeys {
  std::vector<std::string> order;
  std::map<std::string, std::string> values;
};

// A tree is at most 64 deep (YamlTree).
void FlattenYaml(const YamlNode* node, const std::string& key, FlatKeys* keys) {
  const auto below = [&](absl::string_view name) {
    return key.empty() ? std::string(name) : absl::StrCat(key, ".", name);
  };
  const auto add = [&](const std::string& value) {
    if (keys->values.try_emplace(key, value).second) keys->order.push_back(key);
  };
  if (node == nullptr || node->kind == YamlNode::Kind::kNull) return add("null");
  switch (node->kind) {
    case YamlNode::Kind::kNull:
    case YamlNode::Kind::kScalar:
      return add(node->text);
    case YamlNode::Kind::kSequence:
      for (size_t i = 0; i < node->children.size(); ++i) {
        FlattenYaml(node->children[i], below(absl::StrCat(i)), keys);
      }
      return;
    case YamlNode::Kind::kMapping:
      for (size_t i = 0; i + 1 < node->children.size(); i += 2) {
        FlattenYaml(node->children[i + 1], below(node->children[i]->text), keys);
      }
      return;
  }
}

absl::StatusOr<FlatKeys> FlatKeysOf(absl::string_view yaml, absl::string_view name) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(yaml, name));
  FlatKeys keys;
  if (tree.root() != nullptr) FlattenYaml(tree.root(), "", &keys);
  return keys;
}

}  // namespace

absl::string_view DeltaVerdictName(FigureDelta::Verdict verdict) {
  switch (verdict) {
    case FigureDelta::Verdict::kNone:
      return "";
    case FigureDelta::Verdict::kBetter:
      return "better";
    case FigureDelta::Verdict::kWorse:
      return "worse";
  }
  return "";
}

std::string FiguresCsv(absl::Span<const FigureDelta> deltas) {
  std::string csv = "metric,A,B,B - A,verdict\n";
  for (const FigureDelta& delta : deltas) {
    AppendCsvField(delta.metric, &csv);
    for (const absl::string_view cell : {absl::string_view(delta.a), absl::string_view(delta.b),
                                         absl::string_view(delta.difference)}) {
      csv.push_back(',');
      AppendCsvField(cell, &csv);
    }
    absl::StrAppend(&csv, ",", DeltaVerdictName(delta.verdict), "\n");
  }
  return csv;
}

std::vector<FigureDelta> CompareFigures(const RunFigures& a, const RunFigures& b) {
  std::vector<FigureDelta> deltas;
  // `figure` reads one figure of a run.
  const auto add = [&](absl::string_view metric, FigureUnit unit, Better better, auto figure) {
    deltas.push_back(DeltaOf(metric, unit, better, figure(a), figure(b)));
  };
  const auto always = [](auto member) {
    return [member](const RunFigures& run) {
      return FigureValue{true, static_cast<double>(run.*member)};
    };
  };
  // Means and waits say nothing about a run without virtual time.
  const auto timed = [](bool present, double value, const RunFigures& run) {
    return FigureValue{present && run.end > SimTime(), value};
  };
  const auto waits = [&](double value, const RunFigures& run) {
    return timed(run.waits.pods > 0, value, run);
  };
  const bool any_time = a.end > SimTime() || b.end > SimTime();
  if (a.has_gpus || b.has_gpus) {
    if (any_time) {
      add("GPUs allocated, mean", FigureUnit::kPercent, Better::kMore, [&](const RunFigures& run) {
        return timed(run.has_gpus, run.allocated_percent_mean, run);
      });
    }
    add("GPUs allocated, peak", FigureUnit::kPercent, Better::kMore, [](const RunFigures& run) {
      return FigureValue{run.has_gpus, run.allocated_percent_peak};
    });
    add("GPUs allocated, at the end", FigureUnit::kPercent, Better::kNeither,
        [](const RunFigures& run) {
          return FigureValue{run.has_gpus, run.allocated_percent_end};
        });
  }
  if (any_time && (a.has_slices || b.has_slices)) {
    add("slices held, mean", FigureUnit::kPercent, Better::kMore,
        [&](const RunFigures& run) { return timed(run.has_slices, run.held_percent_mean, run); });
    add("slices stranded, mean", FigureUnit::kPercent, Better::kLess, [&](const RunFigures& run) {
      return timed(run.has_slices, run.stranded_percent_mean, run);
    });
  }
  if (any_time) {
    add("arrival to start, mean", FigureUnit::kLength, Better::kLess,
        [&](const RunFigures& run) { return waits(run.waits.mean.seconds(), run); });
    add("arrival to start, p50", FigureUnit::kLength, Better::kLess,
        [&](const RunFigures& run) { return waits(run.waits.p50.seconds(), run); });
    add("arrival to start, p95", FigureUnit::kLength, Better::kLess,
        [&](const RunFigures& run) { return waits(run.waits.p95.seconds(), run); });
    add("arrival to start, longest", FigureUnit::kLength, Better::kLess,
        [&](const RunFigures& run) { return waits(run.waits.longest.seconds(), run); });
    add("pods waiting, mean", FigureUnit::kMean, Better::kLess,
        [&](const RunFigures& run) { return timed(true, run.waiting_mean, run); });
  }
  add("pods waiting, most", FigureUnit::kCount, Better::kLess, always(&RunFigures::most_waiting));
  add("pods started", FigureUnit::kCount, Better::kMore, always(&RunFigures::started));
  add("pods finished", FigureUnit::kCount, Better::kMore, always(&RunFigures::finished));
  add("pods given up", FigureUnit::kCount, Better::kLess, always(&RunFigures::dropped));
  add("evictions", FigureUnit::kCount, Better::kLess, always(&RunFigures::evictions));
  add("failed attempts per start", FigureUnit::kMean, Better::kLess, [](const RunFigures& run) {
    return FigureValue{run.started > 0, run.started > 0 ? static_cast<double>(run.attempts_failed) /
                                                              static_cast<double>(run.started)
                                                        : 0};
  });
  add("end of the run", FigureUnit::kLength, Better::kNeither, [](const RunFigures& run) {
    return FigureValue{true, run.end.seconds()};
  });
  return deltas;
}

absl::string_view DivergenceKindName(PodDivergence::Kind kind) {
  switch (kind) {
    case PodDivergence::Kind::kAnswer:
      return "first answer";
    case PodDivergence::Kind::kNode:
      return "node";
    case PodDivergence::Kind::kStart:
      return "start";
  }
  return "";
}

CompareModel::CompareModel(const PodTable* a, const RunFigures& figures_a, const PodTable* b,
                           const RunFigures& figures_b, const CompareOptions& options)
    : a_(a), b_(b), deltas_(CompareFigures(figures_a, figures_b)) {
  absl::flat_hash_map<absl::string_view, size_t> rows_of_b;
  for (size_t p = 0; p < b->rows(); ++p) rows_of_b.try_emplace(b->name(p), p);
  absl::flat_hash_map<absl::string_view, size_t> rows_of_a;
  for (size_t p = 0; p < a->rows(); ++p) {
    if (!rows_of_a.try_emplace(a->name(p), p).second) continue;
    const auto other = rows_of_b.find(a->name(p));
    if (other == rows_of_b.end()) {
      ++only_in_a_;
    } else {
      ComparePod(p, other->second, options);
    }
  }
  only_in_b_ = static_cast<int64_t>(rows_of_b.size()) -
               (static_cast<int64_t>(rows_of_a.size()) - only_in_a_);
  std::stable_sort(divergences_.begin(), divergences_.end(),
                   [](const PodDivergence& x, const PodDivergence& y) { return x.time < y.time; });
}

void CompareModel::ComparePod(size_t a, size_t b, const CompareOptions& options) {
  const PodRow& x = a_->row(a);
  const PodRow& y = b_->row(b);
  const SimDuration tolerance = options.tolerance;
  bool starts_differ = false;
  if (x.started && y.started) {
    const bool later = y.first_start - x.first_start > tolerance;
    const bool earlier = x.first_start - y.first_start > tolerance;
    starts_differ = later || earlier;
    (later ? starts_.later : earlier ? starts_.earlier : starts_.alike) += 1;
  } else {
    starts_differ = x.started != y.started;
    (x.started ? starts_.later : y.started ? starts_.earlier : starts_.alike) += 1;
  }
  // An answer that one run has not given by the end of its ledger is no other answer.
  const bool both_answered =
      x.first_answer != PodRow::FirstAnswer::kNone && y.first_answer != PodRow::FirstAnswer::kNone;
  PodDivergence divergence;
  divergence.a = a;
  divergence.b = b;
  if (options.answers && both_answered && x.first_answer != y.first_answer) {
    divergence.kind = PodDivergence::Kind::kAnswer;
    divergence.time = std::min(x.first_answer_at, y.first_answer_at);
    divergence.text = absl::StrCat(AnswerText(x.first_answer), " at its first attempt in A, ",
                                   AnswerText(y.first_answer), " in B");
  } else if (options.nodes && x.started && y.started &&
             a_->nodes()[x.first_node.value()] != b_->nodes()[y.first_node.value()]) {
    divergence.kind = PodDivergence::Kind::kNode;
    divergence.time = std::min(x.first_start, y.first_start);
    divergence.text = absl::StrCat("on ", a_->nodes()[x.first_node.value()], " in A, on ",
                                   b_->nodes()[y.first_node.value()], " in B");
  } else if (options.starts && starts_differ) {
    divergence.kind = PodDivergence::Kind::kStart;
    divergence.time = !x.started   ? y.first_start
                      : !y.started ? x.first_start
                                   : std::min(x.first_start, y.first_start);
    divergence.text = absl::StrCat(StartText(x), " in A, ", StartText(y), " in B");
  } else {
    return;
  }
  divergences_.push_back(std::move(divergence));
}

absl::StatusOr<std::vector<KeyDifference>> CompareScenarios(absl::string_view a,
                                                            absl::string_view b) {
  ASSIGN_OR_RETURN(const FlatKeys left, FlatKeysOf(a, "the scenario of A"));
  ASSIGN_OR_RETURN(const FlatKeys right, FlatKeysOf(b, "the scenario of B"));
  std::vector<KeyDifference> differences;
  for (const std::string& key : left.order) {
    const std::string& value = left.values.at(key);
    const auto other = right.values.find(key);
    if (other == right.values.end()) {
      differences.push_back({key, value, ""});
    } else if (other->second != value) {
      differences.push_back({key, value, other->second});
    }
  }
  for (const std::string& key : right.order) {
    if (left.values.count(key) == 0) differences.push_back({key, "", right.values.at(key)});
  }
  return differences;
}

std::string ScenariosLine(absl::Span<const KeyDifference> keys) {
  if (keys.empty()) return "the same scenario";
  // The parts that people ask for first, by the key that holds each.
  static constexpr struct {
    absl::string_view key;
    absl::string_view name;
  } kParts[] = {{"cluster", "cluster"}, {"workload", "jobs"}, {"order", "order"}, {"seed", "seed"}};
  std::string line;
  for (const auto& part : kParts) {
    const bool differs = std::any_of(keys.begin(), keys.end(), [&](const KeyDifference& key) {
      return key.key == part.key || absl::StartsWith(key.key, absl::StrCat(part.key, "."));
    });
    if (!differs) absl::StrAppend(&line, line.empty() ? "same " : ", ", part.name);
  }
  absl::StrAppend(&line, line.empty() ? "" : "; ", "other: ");
  // The name and its description differ whenever anything does.
  std::vector<absl::string_view> named;
  for (const KeyDifference& key : keys) {
    if (key.key != "name" && key.key != "description") named.push_back(key.key);
  }
  if (named.empty()) return absl::StrCat(line, "name");
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, named.size()); ++i) {
    absl::StrAppend(&line, i == 0 ? "" : ", ", named[i]);
  }
  if (named.size() > kShown) absl::StrAppend(&line, " and ", named.size() - kShown, " more");
  return line;
}

std::string ScenarioValue(absl::string_view scenario_yaml, absl::string_view key) {
  const absl::StatusOr<FlatKeys> keys = FlatKeysOf(scenario_yaml, "the scenario");
  if (!keys.ok()) return "";
  const auto found = keys->values.find(std::string(key));
  return found == keys->values.end() ? "" : found->second;
}

}  // namespace drasim::view
