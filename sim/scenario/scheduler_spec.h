// `scheduler` and `preemption`: policies, queues and what they know.
#ifndef DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_
#define DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/scenario.pb.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "policies/framework/resource_score_options.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/kubernetes_queue.h"

namespace drasim {

// The built-in policies; built once.
const Registry& BuiltinRegistry();

enum class QueueKind : uint8_t {
  kNone,        // of a fill, which tries each job once
  kKubernetes,  // kube-scheduler's queue of pods
  kLoss,        // jobs that do not fit on arrival are dropped
  kBatch,       // jobs in the order of a queue policy of the registry
};
// Their names as values of scheduler.queue.
inline constexpr absl::string_view kKubernetesQueue = "kubernetes";
inline constexpr absl::string_view kLossQueue = "loss";

enum class PreemptionMode : uint8_t { kNone, kPolicy, kPriority };

// Run-time estimates, as queue policies and backfilling see them.
enum class EstimateSource : uint8_t {
  kTrace,             // the owner's, else the run time
  kExact,             // the run time
  kAtLeastTheRunTime  // the owner's, but never below the run time
};

struct SchedulerSpec {
  ProfileOptions profile;
  ResourceScoreOptions resource_scores;
  bool cache = true;               // decisions never depend on it
  double popularity_percent = 95;  // of typical pods
  QueueKind queue = QueueKind::kNone;
  std::string queue_name;  // as scheduler.queue has it, in the registry for kBatch
  KubernetesQueueOptions kubernetes;
  BatchOptions batch;  // without `estimate`
  PreemptionMode preemption = PreemptionMode::kNone;
  EstimateSource estimates = EstimateSource::kTrace;
  double estimate_noise = 0;
  // Choosing a node, or devices of it, draws random numbers.
  bool draws = false;
};

// As the key scheduler.backfill has it.
absl::string_view BackfillName(Backfill backfill);

// Writes out the defaults of the queue and of preemption.
void FillReplayDefaults(proto::Scenario* scenario);

// Whether queue, preemption, estimates and compat suit each other, and are absent from a fill. A
// value that the queue at hand does not use is refused rather than ignored. Errors name the key.
absl::Status CheckQueue(const proto::Scenario& scenario);

// Everything but the options of the queues. InvalidArgument, naming the key, for unknown plugins
// and for scores that cannot be. REQUIRES: CheckQueue is content, and the scenario is resolved.
absl::StatusOr<SchedulerSpec> MakeSchedulerSpec(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_
