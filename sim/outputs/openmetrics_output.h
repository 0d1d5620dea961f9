// Results as OpenMetrics text, such as for the textfile collector of Prometheus' node exporter.
#ifndef DRASIM_SIM_OUTPUTS_OPENMETRICS_OUTPUT_H_
#define DRASIM_SIM_OUTPUTS_OPENMETRICS_OUTPUT_H_

#include <string>

#include "sim/outputs/result_set.h"

namespace drasim {

// A gauge drasim_METRIC for each metric, with the labels of the figure, name and seed, and
// drasim_METRIC_low and drasim_METRIC_high for intervals. Without timestamps; ends with "# EOF".
std::string OpenMetricsText(const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_OPENMETRICS_OUTPUT_H_
