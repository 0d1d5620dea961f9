// The operations of a workload with its parameters filled in.
#ifndef DRASIM_SIM_PERF_PERF_ACTION_H_
#define DRASIM_SIM_PERF_PERF_ACTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/label_selector.h"
#include "model/time.h"
#include "sim/perf/perf_config.h"
#include "sim/perf/template_value.h"

namespace drasim::perf {

// The most objects that one operation may make.
inline constexpr int64_t kMaxCount = 10'000'000;

// One operation. What a field means for which operation, PerfRun says.
struct PerfAction {
  Opcode opcode = Opcode::kBarrier;
  std::string where;
  int64_t count = 1;
  // "namespace-POSITION" unless the step says; of allocResourceClaims empty: all.
  std::string ns;
  std::vector<std::string> templates;                         // paths as given
  std::string volume_template;                                // of createPods; empty: none
  std::string claim_template;                                 // likewise
  std::vector<std::pair<std::string, TemplateValue>> params;  // templateParams
  Labels labels;                                              // labelSelector; empty: all pods
  std::vector<std::string> namespaces;                        // empty: all
  bool collects = false;
  bool skips_wait = false;
  bool steady = false;
  bool attempted = false;  // stageRequirement Attempted rather than Scheduled
  bool recreates = false;  // churn mode recreate
  bool scheduled = true;   // of checkPodScheduled
  bool resize = false;     // updateAny of the subresource resize
  int64_t number = 0;      // of churn; 0: without end
  int64_t per_second = 0;  // 0: all at once
  SimDuration interval;    // of churn
  SimDuration duration;
  std::string prefix;     // of namespaces
  std::string label_key;  // labelNodePrepareStrategy
  std::vector<std::string> label_values;
  std::vector<std::pair<std::string, std::string>> allocatable;  // further amounts of nodes
  std::vector<std::pair<std::string, int64_t>> driver_limits;    // of volumes, by CSI driver
  std::vector<std::string> migrated_plugins;
  std::string driver;            // of createResourceDriver
  std::string nodes;             // likewise: a pattern of names
  int64_t devices = 0;           // likewise: on each of the nodes
  std::string condition;         // of updateDeviceConditions: its type
  std::string condition_status;  // likewise: True, False or Unknown
};

// The actions of a workload, in order; a createPodSets has become one createPods for each
// namespace. InvalidArgument ("FILE:LINE:COLUMN: ...") for parameters that the workload lacks,
// values of the wrong kind, negative counts and those beyond kMaxCount, and missing fields.
absl::StatusOr<std::vector<PerfAction>> ExpandWorkload(const PerfCase& of,
                                                       const PerfWorkload& workload);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_ACTION_H_
