// Results as the JSON of google/benchmark, which its compare.py reads.
#ifndef DRASIM_SIM_OUTPUTS_GBENCH_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_GBENCH_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// One benchmark for each name, with a repetition for each seed. cpu_time and real_time are both the
// CPU time (the metric cpu_seconds) in milliseconds, since wall time is not measured; the other
// metrics are user counters. What has no cpu_seconds is left out.
std::string GoogleBenchmarkJson(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_GBENCH_OUTPUT_H_
