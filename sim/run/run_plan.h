// From a resolved scenario to the options of the engine and of its way of queueing.
#ifndef DRASIM_SIM_RUN_RUN_PLAN_H_
#define DRASIM_SIM_RUN_RUN_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "policies/framework/resource_score_options.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/quotas.h"
#include "traces/shaping.h"

namespace drasim {

// The name of queueing without a queue: what does not fit on arrival is dropped.
inline constexpr absl::string_view kLossQueue = "loss";

// Whether the scenario's jobs wait in kube-scheduler's queue.
bool UsesKubernetesQueue(const proto::Scenario& scenario);

// Each of these reads the scenario alone; errors name the scenario key.
absl::StatusOr<EngineOptions> MakeEngineOptions(const proto::Scenario& scenario);
absl::StatusOr<KubernetesQueueOptions> MakeKubernetesOptions(const proto::Scenario& scenario);
absl::StatusOr<ResourceScoreOptions> MakeResourceScores(const proto::Scheduler& scheduler);
// Without `estimate` and `preempt`, which depend on the queue policy.
absl::StatusOr<BatchOptions> MakeBatchOptions(const proto::Scenario& scenario);
absl::StatusOr<ShapingOptions> MakeShapingOptions(const proto::Scenario& scenario);
// Warm-up and drain of averages over time.
absl::StatusOr<std::pair<SimDuration, SimDuration>> MakeMetricWindows(
    const proto::Scenario& scenario);

// The bytes that the ledger may have.
absl::StatusOr<uint64_t> LedgerLimit(const proto::Scenario& scenario);

// `origin_ns` is the run's time zero in the trace's own time; quota tables count by days of it.
absl::StatusOr<Quotas> MakeQuotas(const proto::Scenario& scenario, int64_t origin_ns);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RUN_PLAN_H_
