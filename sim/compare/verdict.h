// Verdicts on one cell of a comparison: did this outcome get better or worse?
#ifndef DRASIM_SIM_COMPARE_VERDICT_H_
#define DRASIM_SIM_COMPARE_VERDICT_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "sim/compare/paired.h"

namespace drasim {

// From the most to the least welcome.
enum class CellVerdict : uint8_t {
  kSame,     // equal fingerprints
  kBetter,   // significantly better, beyond the margin
  kOther,    // decisions differ, the outcome is equivalent
  kUnclear,  // neither a difference nor an equivalence is shown
  kWorse,    // significantly worse, beyond the margin
  kMissing,  // one side has no such cell
};
absl::string_view CellVerdictName(CellVerdict verdict);  // "same", "better", ...

// The rule by which a change of a figure counts.
struct OutcomeRule {
  bool more_is_better = false;
  double margin = 0;  // in the figure's unit, finite, at least 0; a smaller change does not matter
};

// The level of the gate: the chance of even one false alarm in a whole comparison of two programs
// whose figures have the same distribution, however skewed. Beyond that no test of few seeds can
// promise it: where decisions changed such that differences are skewed around an unchanged mean, 20
// metrics without a margin raise a false alarm in 11 % of comparisons for exponential differences.
// The margin is the protection there; a margin of one standard deviation of the differences leaves
// none.
inline constexpr double kGateLevel = 0.01;

// The verdict on decisions that differ: kBetter, kOther, kUnclear or kWorse. `adjusted_p` is the
// difference's p-value after Holm's adjustment over all primary metrics of the comparison.
//
//   better, worse: adjusted_p < kGateLevel, and the mean is beyond the margin;
//   other:         otherwise, if the 90 % interval lies within the margin;
//   unclear:       the rest, and always if a pair is incomplete, if there are fewer than two pairs
//                  or if the rule is not as described above.
CellVerdict JudgeOutcome(const PairedDifference& difference, double adjusted_p,
                         const OutcomeRule& rule);

// The verdict on a figure without randomness, whose seeds all give the same: better or worse if it
// changed beyond the margin, else other; unclear if a figure is not finite.
CellVerdict JudgeExactOutcome(double base, double head, const OutcomeRule& rule);

// The least number of seeds with which the gate can close: with fewer, even the smallest p-value of
// the sign-flip test is not below kGateLevel after Holm's adjustment over `tests` metrics. 8 for
// one metric, 15 for 100. REQUIRES: 1 <= tests <= 2^40.
size_t SeedsToGate(size_t tests);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_VERDICT_H_
