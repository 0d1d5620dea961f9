// From a resolved scenario to the options of the engine and of its way of queueing.
#ifndef DRASIM_SIM_APP_RUN_PLAN_H_
#define DRASIM_SIM_APP_RUN_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/quotas.h"
#include "traces/shaping.h"

namespace drasim {

// Whether the scenario's jobs wait in kube-scheduler's queue.
bool UsesKubernetesQueue(const proto::Scenario& scenario);

// Each of these reads the scenario alone; errors name the scenario key.
absl::StatusOr<EngineOptions> MakeEngineOptions(const proto::Scenario& scenario);
absl::StatusOr<KubernetesQueueOptions> MakeKubernetesOptions(const proto::Scenario& scenario);
// Without `estimate` and `preempt`, which depend on the queue policy.
absl::StatusOr<BatchOptions> MakeBatchOptions(const proto::Scenario& scenario);
absl::StatusOr<ShapingOptions> MakeShapingOptions(const proto::Scenario& scenario);
// Warm-up and drain of averages over time.
absl::StatusOr<std::pair<SimDuration, SimDuration>> MakeMetricWindows(
    const proto::Scenario& scenario);

// The changes that `cluster.events` asks for, in order of time, events of one instant in the order
// of the scenario. Marks nodes that are added later as absent. InvalidArgument for a pattern that
// no node matches.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(const proto::Scenario& scenario,
                                                                std::vector<NodeSpec>* nodes);

// Whether every event of `cluster.events` makes sense by itself.
absl::Status CheckNodeEvents(const proto::Scenario& scenario);

// `origin_ns` is the run's time zero in the trace's own time; quota tables count by days of it.
absl::StatusOr<Quotas> MakeQuotas(const proto::Scenario& scenario, int64_t origin_ns);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_RUN_PLAN_H_
