#include "sim/bench/bench_metrics.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/text/did_you_mean.h"
#include "sim/compare/cell_metrics.h"

namespace drasim::bench {
namespace {

struct CaseMetric {
  const char* name;
  bool more_is_better;
  std::optional<int64_t> (*value)(const CaseAnswers&);
};

constexpr CaseMetric kCaseMetrics[] = {
    {"cases_answered", true, [](const CaseAnswers& a) { return std::optional<int64_t>(a.cases); }},
    {"case_allocations", true,
     [](const CaseAnswers& a) { return std::optional<int64_t>(a.allocations); }},
    {"case_errors", false, [](const CaseAnswers& a) { return std::optional<int64_t>(a.errors); }},
    {"case_steps", false, [](const CaseAnswers& a) { return a.steps; }},
    {"case_mismatches", false, [](const CaseAnswers& a) { return a.mismatches; }},
};

std::string FigureText(double value) {
  if (std::isnan(value)) return "";
  // Counts stay plain integers, however large.
  if (value == std::floor(value) && std::fabs(value) < 1e15) return FixedText(value + 0.0, 0);
  return DoubleText(value);
}

}  // namespace

const std::vector<BenchMetric>& BenchMetrics() {
  static const auto* const metrics = [] {
    auto* const made = new std::vector<BenchMetric>;
    for (const CellMetric& metric : AllMetrics()) {
      made->push_back({metric.name, metric.more_is_better, /*of_cases=*/false});
    }
    for (const CaseMetric& metric : kCaseMetrics) {
      made->push_back({metric.name, metric.more_is_better, /*of_cases=*/true});
    }
    return made;
  }();
  return *metrics;
}

absl::StatusOr<BenchMetric> FindBenchMetric(absl::string_view name) {
  std::vector<std::string> known;
  for (const BenchMetric& metric : BenchMetrics()) {
    if (name == metric.name) return metric;
    known.emplace_back(metric.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown metric '", name, "'", Suggest(name, known)));
}

std::vector<std::string> BenchFigures(const CellResult& result) {
  std::vector<std::string> figures;
  for (const CellMetric& metric : AllMetrics()) figures.push_back(FigureText(metric.value(result)));
  figures.resize(BenchMetrics().size());
  return figures;
}

std::vector<std::string> BenchFigures(const CaseAnswers& answers) {
  std::vector<std::string> figures(BenchMetrics().size() - std::size(kCaseMetrics));
  for (const CaseMetric& metric : kCaseMetrics) {
    const std::optional<int64_t> value = metric.value(answers);
    figures.push_back(value.has_value() ? absl::StrCat(*value) : "");
  }
  return figures;
}

}  // namespace drasim::bench
