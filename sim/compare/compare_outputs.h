// A comparison for the formats of other tools (sim/outputs).
#ifndef DRASIM_SIM_COMPARE_COMPARE_OUTPUTS_H_
#define DRASIM_SIM_COMPARE_COMPARE_OUTPUTS_H_

#include <string>

#include "sim/compare/baseline_gate.h"
#include "sim/compare/kept_comparison.h"
#include "sim/outputs/result_set.h"

namespace drasim {

// A table of means, a figure for each row and metric with its 95 % interval over the seeds, and a
// check for each rule and row. `gate` may be null; `baseline` is its file.
ResultSet CompareResults(const KeptComparison& current, const BaselineComparison* gate,
                         const std::string& baseline);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_COMPARE_OUTPUTS_H_
