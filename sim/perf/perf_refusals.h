// Refusals: names the features that drasim lacks for a workload, which is then not run.
#ifndef DRASIM_SIM_PERF_PERF_REFUSALS_H_
#define DRASIM_SIM_PERF_PERF_REFUSALS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/perf/perf_action.h"
#include "sim/perf/perf_cluster.h"
#include "sim/perf/perf_config.h"
#include "sim/perf/perf_templates.h"

namespace drasim::perf {

// Paths of the objects that are made where a step names no template, below the root.
inline constexpr char kBuiltInNode[] = "templates/node-default.yaml";
inline constexpr char kBuiltInPod[] = "templates/pod-default.yaml";

// Unimplemented, with all that is lacking, for operations, feature gates, and kinds and fields of
// objects that the simulation does not have. NotFound for templates that are missing. Errors of
// templates. `folder`: that of the configuration, below the root.
absl::Status CheckWorkload(const std::vector<PerfAction>& actions, const FeatureGates& gates,
                           absl::string_view folder, PerfTemplates* templates);

// The gates with an effect here. REQUIRES: CheckWorkload.
SchedulerGates SchedulerGatesOf(const FeatureGates& gates);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_REFUSALS_H_
