// `scheduler` and `preemption`: policies, queues and run-time estimates.
#ifndef DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_
#define DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "policies/framework/resource_score_options.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/kubernetes_queue.h"

namespace drasim {

namespace proto {
class Scenario;
}

// The built-in policies, and those that AddToBuiltinRegistry added; made once per process.
const Registry& BuiltinRegistry();
// For programs with policies of their own: `add` is called when the registry is made, after all
// that is built in. REQUIRES: no call of BuiltinRegistry yet (CHECKed), and a single thread.
void AddToBuiltinRegistry(std::function<void(Registry&)> add);

enum class QueueKind : uint8_t {
  kNone,        // for a fill, which tries each job once
  kKubernetes,  // kube-scheduler's queue of pods
  kLoss,        // jobs that do not fit on arrival are dropped
  kBatch,       // jobs in the order of a queue policy of the registry
};
// Values of scheduler.queue.
inline constexpr absl::string_view kKubernetesQueue = "kubernetes";
inline constexpr absl::string_view kLossQueue = "loss";

// Value of scheduler.policy for kube-scheduler itself; no policy of the registry.
inline constexpr absl::string_view kKubeSchedulerPolicy = "kube-scheduler";

// A run under kube-scheduler's search and one of its profiles.
struct KubeSchedulerSpec {
  std::string config;  // a file; empty: Kubernetes' defaults
  KubeCycleOptions::Ties ties = KubeCycleOptions::Ties::kFirst;
  bool two_terms = false;  // of NodeResourcesBalancedAllocation
  // Virtual time for which an attempt stands still at each of AttemptResult::extender_waits.
  SimDuration extender_latency = kDefaultExtenderLatency;
  struct Other {
    std::string config;
    std::optional<SimDuration> latency;  // nothing: that of the first scheduler
  };
  std::vector<Other> others;  // that share the cluster
};

enum class PreemptionMode : uint8_t { kNone, kPolicy, kPriority };

// Run-time estimates, as queue policies and backfilling see them.
enum class EstimateSource : uint8_t {
  kTrace,             // the owner's estimate, or the run time if there is none
  kExact,             // the run time
  kAtLeastTheRunTime  // the larger of the owner's estimate and the run time
};

struct SchedulerSpec {
  ProfileOptions profile;                 // with `kube`, its chooser alone
  std::optional<KubeSchedulerSpec> kube;  // in place of the profile
  ResourceScoreOptions resource_scores;
  bool cache = true;               // for speed alone: decisions are the same
  double popularity_percent = 95;  // of typical pods
  QueueKind queue = QueueKind::kNone;
  std::string queue_name;  // value of scheduler.queue; for kBatch, a name in the registry
  KubernetesQueueOptions kubernetes;
  BatchOptions batch;  // without `estimate`
  PreemptionMode preemption = PreemptionMode::kNone;
  EstimateSource estimates = EstimateSource::kTrace;
  double estimate_noise = 0;
  // The choice of a node or of its devices draws random numbers.
  bool draws = false;
};

// The value of the key scheduler.backfill.
absl::string_view BackfillName(Backfill backfill);

// Writes the defaults of the queue and of preemption into the scenario.
void FillReplayDefaults(proto::Scenario* scenario);

// Checks that queue, preemption, estimates and compat agree with each other, and that a fill has
// none of them. A key that the chosen queue does not use is an error. Errors begin with the key.
absl::Status CheckQueue(const proto::Scenario& scenario);

// Everything but the options of the queues. InvalidArgument, beginning with the key, for unknown
// plugins and for invalid scores. REQUIRES: the scenario is resolved, and CheckQueue passes.
absl::StatusOr<SchedulerSpec> MakeSchedulerSpec(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_SCHEDULER_SPEC_H_
