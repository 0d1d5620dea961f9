// Configurations of scheduler_perf (performance-config.yaml): cases, their steps and workloads.
//
//   ASSIGN_OR_RETURN(const PerfConfig config, ReadPerfConfig(text,
//   "misc/performance-config.yaml")); for (const PerfCase& one : config.cases) Use(one);
//
// Source: the configurations of kubernetes/kubernetes test/integration/scheduler_perf.
#ifndef DRASIM_SIM_PERF_PERF_CONFIG_H_
#define DRASIM_SIM_PERF_PERF_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/perf/template_value.h"

namespace drasim::perf {

enum class Opcode : uint8_t {
  kAllocResourceClaims,
  kBarrier,
  kCheckPodScheduled,
  kChurn,
  kCreateAny,
  kCreateNamespaces,
  kCreateNodes,
  kCreatePodGroups,
  kCreatePodSets,
  kCreatePods,
  kCreateResourceDriver,
  kDeletePods,
  kSleep,
  kStartCollectingMetrics,
  kStopCollectingMetrics,
  kUpdateAny,
  kUpdateDeviceConditions,
};
absl::string_view OpcodeName(Opcode opcode);

struct PerfField {
  std::string name;  // as the schema spells it
  TemplateValue value;
  std::string where;  // "FILE:LINE:COLUMN" of the value
};

// One operation, as written: `$name` stands for a parameter of the workload.
struct PerfStep {
  Opcode opcode = Opcode::kBarrier;
  std::string where;
  std::vector<PerfField> fields;
  std::vector<PerfStep> nested;  // createPodsOp of createPodSets

  const PerfField* Find(absl::string_view name) const;  // null if it is not given
};

using FeatureGates = std::vector<std::pair<std::string, bool>>;

struct PerfWorkload {
  std::string name;
  std::string where;
  std::vector<std::string> labels;
  std::optional<double> threshold;  // pods a second
  FeatureGates gates;               // these go before those of the case
  std::vector<std::pair<std::string, TemplateValue>> params;
};

struct PerfCase {
  std::string name;
  std::string where;
  std::string default_pod_template;  // empty: none
  FeatureGates gates;
  std::vector<PerfStep> steps;
  std::vector<PerfWorkload> workloads;
};

struct PerfConfig {
  std::string file;
  std::vector<PerfCase> cases;
};

// Names of fields match without regard to case. InvalidArgument ("FILE:LINE:COLUMN: ...") for
// syntax, unknown operations and fields, fields that are given twice, missing names, values of a
// wrong kind, and cases or workloads of a case with one name.
absl::StatusOr<PerfConfig> ReadPerfConfig(absl::string_view text, absl::string_view file);

// The gates that hold for a workload, sorted by name.
FeatureGates GatesOf(const PerfCase& of, const PerfWorkload& workload);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_CONFIG_H_
