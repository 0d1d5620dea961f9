// Results as the JSON of Kubernetes' perf-dash and perf-tests (perftype.PerfData).
#ifndef DRASIM_SIM_OUTPUTS_PERF_DASH_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_PERF_DASH_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// One data item for each name, seed and unit: data maps metrics to values, labels tell the items
// apart. Units are the endings of metric names: s, %, KiB or none.
std::string PerfDashJson(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_PERF_DASH_OUTPUT_H_
