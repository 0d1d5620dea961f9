#include "sim/compare/fail_rule.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace drasim {
namespace {

struct OperatorName {
  absl::string_view text;
  FailRule::Operator op;
};
// The longer ones first, since the others begin them.
constexpr OperatorName kOperators[] = {
    {"<=", FailRule::Operator::kAtMost}, {">=", FailRule::Operator::kAtLeast},
    {"==", FailRule::Operator::kEqual},  {"!=", FailRule::Operator::kUnequal},
    {"<", FailRule::Operator::kLess},    {">", FailRule::Operator::kMore},
};

absl::Status Malformed(absl::string_view text, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("--fail-if '", text, "': found ", found,
                   ", expected METRIC OPERATOR NUMBER with one of < <= > >= == !=, such as "
                   "'gpu_allocation_percent_end < -0.5' or 'mean_jct_seconds > 2%'"));
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

}  // namespace

bool FailRule::Holds(double base_mean, double difference) const {
  double value = difference;
  if (percent && difference != 0) {
    const double infinite = std::numeric_limits<double>::infinity();
    value = base_mean != 0 ? 100 * difference / std::abs(base_mean)
                           : (difference > 0 ? infinite : -infinite);
  }
  switch (op) {
    case Operator::kLess:
      return value < bound;
    case Operator::kAtMost:
      return value <= bound;
    case Operator::kMore:
      return value > bound;
    case Operator::kAtLeast:
      return value >= bound;
    case Operator::kEqual:
      return value == bound;
    case Operator::kUnequal:
      return value != bound;
  }
  return false;
}

absl::StatusOr<FailRule> ParseFailRule(absl::string_view text) {
  FailRule rule;
  rule.text = std::string(absl::StripAsciiWhitespace(text));
  absl::string_view rest = rule.text;
  size_t length = 0;
  while (length < rest.size() && IsNameCharacter(rest[length])) ++length;
  if (length == 0) return Malformed(text, "no metric");
  absl::StatusOr<CellMetric> metric = FindMetric(rest.substr(0, length));
  if (!metric.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fail-if '", text, "': ", metric.status().message()));
  }
  rule.metric = *metric;
  rest = absl::StripLeadingAsciiWhitespace(rest.substr(length));
  const absl::string_view before = rest;
  for (const OperatorName& name : kOperators) {
    if (!absl::ConsumePrefix(&rest, name.text)) continue;
    rule.op = name.op;
    break;
  }
  if (rest.size() == before.size()) {
    return Malformed(text, rest.empty() ? "no operator" : absl::StrCat("'", rest, "'"));
  }
  absl::string_view number = absl::StripLeadingAsciiWhitespace(rest);
  rule.percent = absl::ConsumeSuffix(&number, "%");
  number = absl::StripTrailingAsciiWhitespace(number);
  if (!absl::SimpleAtod(number, &rule.bound) || !std::isfinite(rule.bound)) {
    return Malformed(text, number.empty() ? "no number" : absl::StrCat("'", number, "'"));
  }
  return rule;
}

}  // namespace drasim
