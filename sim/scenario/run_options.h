// Options of engine, queues, metrics and quotas, read from a resolved scenario.
#ifndef DRASIM_SIM_SCENARIO_RUN_OPTIONS_H_
#define DRASIM_SIM_SCENARIO_RUN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/node_spec.h"
#include "model/time.h"
#include "policies/framework/resource_score_options.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/quotas.h"
#include "traces/shaping.h"

namespace drasim {

namespace proto {
class Scenario;
class Scheduler;
}  // namespace proto

// Errors of these functions begin with the scenario key.
absl::StatusOr<EngineOptions> MakeEngineOptions(const proto::Scenario& scenario);
absl::StatusOr<KubernetesQueueOptions> MakeKubernetesOptions(const proto::Scenario& scenario);
absl::StatusOr<ResourceScoreOptions> MakeResourceScores(const proto::Scheduler& scheduler);
// Without `estimate`, which depends on the seed.
absl::StatusOr<BatchOptions> MakeBatchOptions(const proto::Scenario& scenario);
// Without the seed.
absl::StatusOr<ShapingOptions> MakeShapingOptions(const proto::Scenario& scenario);

// Intervals at the start and at the end of a run that time averages leave out.
struct MetricWindows {
  SimDuration warm_up;
  SimDuration drain;
};
absl::StatusOr<MetricWindows> MakeMetricWindows(const proto::Scenario& scenario);

// The size limit of the ledger in bytes; the default for an empty text.
absl::StatusOr<uint64_t> ReadLedgerLimit(const std::string& text);

// An entry of `quotas`.
struct QuotaSpec {
  std::string path;  // of a quota table; the other fields are unused then
  std::string tenant;
  ResourceAmounts limit;
};
absl::StatusOr<std::vector<QuotaSpec>> ReadQuotas(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_RUN_OPTIONS_H_
