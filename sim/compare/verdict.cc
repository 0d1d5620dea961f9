#include "sim/compare/verdict.h"

#include <algorithm>
#include <cmath>

#include "model/check.h"
#include "sim/compare/statistics.h"

namespace drasim {
namespace {

bool IsUsable(const OutcomeRule& rule) { return std::isfinite(rule.margin) && rule.margin >= 0; }

// The verdict on a change beyond the margin.
CellVerdict DirectionOf(double change, const OutcomeRule& rule) {
  return (change > 0) == rule.more_is_better ? CellVerdict::kBetter : CellVerdict::kWorse;
}

}  // namespace

absl::string_view CellVerdictName(CellVerdict verdict) {
  switch (verdict) {
    case CellVerdict::kSame:
      return "same";
    case CellVerdict::kBetter:
      return "better";
    case CellVerdict::kOther:
      return "other";
    case CellVerdict::kUnclear:
      return "unclear";
    case CellVerdict::kWorse:
      return "worse";
    case CellVerdict::kMissing:
      return "missing";
  }
  return "";
}

CellVerdict JudgeOutcome(const PairedDifference& difference, double adjusted_p,
                         const OutcomeRule& rule) {
  if (!IsUsable(rule) || difference.incomplete > 0 || !difference.has_interval()) {
    return CellVerdict::kUnclear;
  }
  if (adjusted_p < kGateLevel && std::abs(difference.mean) > rule.margin) {
    return DirectionOf(difference.mean, rule);
  }
  return difference.interval_90.Within(rule.margin) ? CellVerdict::kOther : CellVerdict::kUnclear;
}

CellVerdict JudgeExactOutcome(double base, double head, const OutcomeRule& rule) {
  if (!IsUsable(rule) || !std::isfinite(base) || !std::isfinite(head)) {
    return CellVerdict::kUnclear;
  }
  const double change = RoundDifference(head - base, std::max(std::abs(base), std::abs(head)));
  return std::abs(change) > rule.margin ? DirectionOf(change, rule) : CellVerdict::kOther;
}

size_t SeedsToGate(size_t tests) {
  DRASIM_CHECK(tests >= 1 && tests <= size_t{1} << 40);
  // The smallest p-value of n differences: all signs equal, in two of 2^n assignments.
  double smallest_p = 2;
  size_t seeds = 0;
  while (smallest_p * static_cast<double>(tests) >= kGateLevel) {
    smallest_p /= 2;
    ++seeds;
  }
  return seeds;
}

}  // namespace drasim
