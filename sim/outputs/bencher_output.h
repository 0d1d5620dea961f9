// Results in Bencher Metric Format: {"NAME": {"METRIC": {"value": 1}}}.
#ifndef DRASIM_SIM_OUTPUTS_BENCHER_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_BENCHER_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// One benchmark for each name (with the seed, if it has one) with all metrics as measures. The
// interval becomes lower_value and upper_value. The format has no place for a schema key.
std::string BencherMetricJson(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_BENCHER_OUTPUT_H_
