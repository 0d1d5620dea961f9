// The rules of `drasim compare --fail-if`: differences to a baseline that must not be.
//
//   ASSIGN_OR_RETURN(const FailRule rule, ParseFailRule("gpu_allocation_percent_end < -0.5"));
//   rule.Holds(95.0, -0.7);  // true: the mean fell by 0.7
//
// METRIC OPERATOR NUMBER, or NUMBER% for a difference in percent of the baseline's mean. The number
// is compared with the difference: new minus old.
#ifndef DRASIM_SIM_COMPARE_FAIL_RULE_H_
#define DRASIM_SIM_COMPARE_FAIL_RULE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/compare/cell_metrics.h"

namespace drasim {

struct FailRule {
  enum class Operator : uint8_t { kLess, kAtMost, kMore, kAtLeast, kEqual, kUnequal };

  std::string text;  // as given
  CellMetric metric;
  Operator op = Operator::kLess;
  double bound = 0;
  bool percent = false;  // of the absolute value of the baseline's mean

  // Whether a difference of that size is a failure. In percent of a base of 0, any difference is
  // beyond every bound on its side.
  bool Holds(double base_mean, double difference) const;
};

// InvalidArgument for a text of another form (with what was expected), for an unknown metric (with
// a suggestion) and for a bound that is no finite number.
absl::StatusOr<FailRule> ParseFailRule(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_FAIL_RULE_H_
