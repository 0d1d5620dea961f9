// Runs the operations of one workload on a simulated cluster.
//
//   PerfTemplates templates(root, overlay);
//   ASSIGN_OR_RETURN(const std::vector<PerfAction> actions, ExpandWorkload(one, workload));
//   RETURN_IF_ERROR(CheckWorkload(actions, gates, folder, &templates));
//   ASSIGN_OR_RETURN(const PerfOutcome outcome,
//                    RunWorkload(actions, gates, folder, spec, &templates));
//
// Objects are made by index, all objects of an operation at one instant of virtual time. Generated
// names end in a number instead of random letters. docs/fidelity.md has what else differs from
// scheduler_perf.
#ifndef DRASIM_SIM_PERF_PERF_RUN_H_
#define DRASIM_SIM_PERF_PERF_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/compare/cell.h"
#include "sim/perf/perf_action.h"
#include "sim/perf/perf_config.h"
#include "sim/perf/perf_templates.h"
#include "sim/scenario/run_spec.h"

namespace drasim::perf {

struct PerfOutcome {
  // Why a step could not be finished: which pods wait, and for what. Empty: all steps are done.
  std::string stopped;
  // Pods that were bound while metrics were collected, and the time it took.
  int64_t measured_pods = 0;
  SimDuration measured_time;        // virtual
  double measured_cpu_seconds = 0;  // of this process
  CellResult cell;
};

// REQUIRES: CheckWorkload. InvalidArgument and other errors for objects that no cluster takes, such
// as two pods of one name or an update of a pod that is not there; with the place of the operation.
absl::StatusOr<PerfOutcome> RunWorkload(const std::vector<PerfAction>& actions,
                                        const FeatureGates& gates, absl::string_view folder,
                                        const RunSpec& spec, PerfTemplates* templates);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_RUN_H_
