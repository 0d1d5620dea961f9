// The gate of `drasim compare --baseline OLD.json --fail-if RULE`: differences to an earlier
// comparison, seed by seed, and the rules that they break.
#ifndef DRASIM_SIM_COMPARE_BASELINE_GATE_H_
#define DRASIM_SIM_COMPARE_BASELINE_GATE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/text/json_writer.h"
#include "sim/compare/fail_rule.h"
#include "sim/compare/kept_comparison.h"
#include "sim/compare/paired.h"

namespace drasim {

// One metric of one row on both sides.
struct BaselineChange {
  std::string row;
  CellMetric metric;
  double old_mean = 0;  // over the seeds that have the figure on both sides
  double new_mean = 0;
  PairedDifference difference;  // new minus old

  bool same() const { return difference.mean == 0 && difference.stddev == 0 && complete(); }
  // Whether every seed has the figure on both sides or on neither.
  bool complete() const { return difference.incomplete == 0; }
};

// The verdict of a rule on a row. A rule also fails if only one side has the figure.
struct RuleVerdict {
  FailRule rule;
  BaselineChange change;
  bool failed = false;
};

struct BaselineComparison {
  std::vector<BaselineChange> changed;  // metrics that differ, by row
  std::vector<RuleVerdict> verdicts;    // by rule, then by row
  size_t rows = 0;                      // that both sides have
  std::vector<std::string> only_new;    // rows that the baseline lacks
  std::vector<std::string> only_old;    // rows that it alone has

  bool failed() const;
};

// InvalidArgument if the two sides have other seeds or read other files, if they have no row in
// common, if a row of the baseline is not there any more although there are rules, and for a rule
// whose figure no row has. O(rows x metrics) paired comparisons.
absl::StatusOr<BaselineComparison> CompareWithBaseline(const KeptComparison& baseline,
                                                       const KeptComparison& current,
                                                       absl::Span<const FailRule> rules);

// Lines for people: what differs, then the verdict of every rule. `name` is the baseline's file.
std::string BaselineText(const BaselineComparison& comparison, const std::string& name);
// An object: file, version, failed, changed[] and rules[].
void WriteBaseline(const BaselineComparison& comparison, const std::string& name,
                   const std::string& version, JsonWriter* json);
// Keys of an object that is open: mean, ci95_low and ci95_high (null for one seed), p, seeds.
void WritePairedKeys(const PairedDifference& difference, JsonWriter* json);
// "+0.17 [+0.04, +0.30]", without the brackets for one seed; "-" without a pair.
std::string PairedText(const PairedDifference& difference, int decimals);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_BASELINE_GATE_H_
