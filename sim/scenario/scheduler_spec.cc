#include "sim/scenario/scheduler_spec.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/fragmentation.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/run_streams.h"
#include "model/status_macros.h"
#include "policies/builtins.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/run_options.h"

namespace drasim {
namespace {

absl::Status CheckPreemption(const proto::Scenario& s) {
  const std::string& mode = s.preemption().mode();
  const proto::Scheduler& scheduler = s.scheduler();
  const std::string& queue = scheduler.queue();
  RETURN_IF_ERROR(CheckChoice("preemption.mode", mode, {"none", "policy", "priority"}));
  const absl::StatusOr<std::unique_ptr<QueuePolicy>> policy =
      BuiltinRegistry().MakeQueue(queue, {});
  const bool preempts = policy.ok() && (*policy)->preempts();
  if (mode != "none" && queue == kLossQueue) {
    return KeyError("preemption.mode",
                    "expected none with scheduler.queue: loss, where nobody waits");
  }
  if (mode == "policy" && !preempts) {
    return KeyError("preemption.mode",
                    absl::StrCat("found 'policy', expected none or priority: the queue ", queue,
                                 " says nothing about who may displace whom"));
  }
  if (mode != "none" && scheduler.backfill() == "conservative") {
    return KeyError(
        "preemption.mode",
        absl::StrCat(
            "found '", mode,
            "', expected none with scheduler.backfill: conservative, which never displaces "
            "anybody"));
  }
  if (policy.ok() && (*policy)->per_tenant() && scheduler.backfill() == "conservative") {
    return KeyError("scheduler.backfill",
                    absl::StrCat("found 'conservative', expected none or easy: the queue ", queue,
                                 " has a line for each tenant"));
  }
  if (s.compat() == "helios" && queue != "fifo" && queue != "sjf" && queue != "srtf") {
    return KeyError("compat",
                    "found 'helios', expected a batch queue (fifo, sjf, srtf) in scheduler.queue");
  }
  if (s.compat() == "helios" && queue == "srtf" &&
      (s.quotas_size() > 0 || !s.preemption().grace_period().empty())) {
    return KeyError("compat", "helios with the queue srtf knows neither quotas nor grace periods");
  }
  return absl::OkStatus();
}

// Checks names of plugins by building a temporary profile; returns whether it draws random numbers.
absl::StatusOr<bool> CheckPlugins(const ProfileOptions& options,
                                  const ResourceScoreOptions& resource_scores) {
  FragmentationModel none({});
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(0);
  PolicyContext context;
  context.fragmentation = &none;
  context.streams = streams.get();
  context.resource_scores = resource_scores;
  if (auto policy = BuiltinRegistry().FindPolicy(options.policy); !policy.ok()) {
    return UnderKey("scheduler.policy", policy.status());
  }
  if (!options.device_chooser.empty()) {
    auto chooser = BuiltinRegistry().MakeAllocator(options.device_chooser, context);
    if (!chooser.ok()) return UnderKey("scheduler.device_chooser", chooser.status());
  }
  absl::StatusOr<Profile> profile = Profile::Make(BuiltinRegistry(), options, context);
  if (!profile.ok()) return UnderKey("scheduler.score", profile.status());
  return profile->draws();
}

QueueKind QueueKindOf(const proto::Scenario& s) {
  if (s.mode() != "replay") return QueueKind::kNone;
  const std::string& queue = s.scheduler().queue();
  if (queue == kKubernetesQueue) return QueueKind::kKubernetes;
  return queue == kLossQueue ? QueueKind::kLoss : QueueKind::kBatch;
}

PreemptionMode PreemptionOf(const std::string& mode) {
  if (mode == "policy") return PreemptionMode::kPolicy;
  return mode == "priority" ? PreemptionMode::kPriority : PreemptionMode::kNone;
}

EstimateSource EstimatesOf(const std::string& source) {
  if (source == "exact") return EstimateSource::kExact;
  return source == "trace-at-least-run-time" ? EstimateSource::kAtLeastTheRunTime
                                             : EstimateSource::kTrace;
}

}  // namespace

const Registry& BuiltinRegistry() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    RegisterBuiltins(*r);
    return r;
  }();
  return *registry;
}

absl::string_view BackfillName(Backfill backfill) {
  switch (backfill) {
    case Backfill::kNone:
      return "none";
    case Backfill::kEasy:
      return "easy";
    case Backfill::kConservative:
      return "conservative";
  }
  return "";
}

void FillReplayDefaults(proto::Scenario* s) {
  proto::Scheduler* scheduler = s->mutable_scheduler();
  if (scheduler->queue().empty()) scheduler->set_queue("kubernetes");
  if (scheduler->queue() != "kubernetes" && scheduler->queue() != kLossQueue) {
    if (!scheduler->has_head_of_line()) scheduler->set_head_of_line(true);
    if (scheduler->backfill().empty()) scheduler->set_backfill("none");
    if (scheduler->estimates().source().empty())
      scheduler->mutable_estimates()->set_source("trace");
  }
  if (s->preemption().mode().empty()) {
    absl::StatusOr<std::unique_ptr<QueuePolicy>> queue =
        BuiltinRegistry().MakeQueue(scheduler->queue(), {});
    const bool preempts =
        queue.ok() && (*queue)->preempts() && scheduler->backfill() != "conservative";
    s->mutable_preemption()->set_mode(scheduler->queue() == "kubernetes" ? "priority"
                                      : preempts                         ? "policy"
                                                                         : "none");
  }
}

absl::Status CheckQueue(const proto::Scenario& s) {
  RETURN_IF_ERROR(CheckChoice("compat", s.compat(), {"", "helios"}));
  const proto::Scheduler& scheduler = s.scheduler();
  if (s.mode() != "replay") {
    const char* const key = s.cluster().events_size() > 0 ? "cluster.events"
                            : s.cluster().has_failures()  ? "cluster.failures"
                            : s.quotas_size() > 0         ? "quotas"
                            : !s.compat().empty()         ? "compat"
                                                          : nullptr;
    if (key == nullptr) return absl::OkStatus();
    return KeyError(key, "expected none: a fill has no clock");
  }
  std::vector<std::string> queues = {"kubernetes", std::string(kLossQueue)};
  for (const QueueEntry& entry : BuiltinRegistry().queues()) queues.push_back(entry.name);
  RETURN_IF_ERROR(CheckChoice("scheduler.queue", scheduler.queue(), queues));
  if (scheduler.queue() == "kubernetes" || scheduler.queue() == kLossQueue) {
    if (scheduler.has_head_of_line() || !scheduler.backfill().empty()) {
      return KeyError(
          scheduler.has_head_of_line() ? "scheduler.head_of_line" : "scheduler.backfill",
          absl::StrCat("expected none with scheduler.queue: ", scheduler.queue(),
                       ", where no pod holds up another"));
    }
  } else {
    RETURN_IF_ERROR(CheckChoice("scheduler.estimates.source", scheduler.estimates().source(),
                                {"trace", "exact", "trace-at-least-run-time"}));
  }
  RETURN_IF_ERROR(CheckPreemption(s));
  if (scheduler.queue() == kLossQueue && s.quotas_size() > 0) {
    return KeyError("quotas",
                    "expected none with scheduler.queue: loss, where nobody waits for room");
  }
  const double noise = scheduler.estimates().noise();
  if (!(noise >= 0 && noise <= 10)) {
    return KeyError("scheduler.estimates.noise", "expected 0 to 10");
  }
  return absl::OkStatus();
}

absl::StatusOr<SchedulerSpec> MakeSchedulerSpec(const proto::Scenario& s) {
  const proto::Scheduler& scheduler = s.scheduler();
  SchedulerSpec spec;
  ASSIGN_OR_RETURN(spec.resource_scores, MakeResourceScores(scheduler));
  spec.profile.policy = scheduler.policy();
  spec.profile.device_chooser = scheduler.device_chooser();
  for (const proto::WeightedPlugin& p : scheduler.score()) {
    spec.profile.score.push_back({p.name(), p.weight()});
  }
  ASSIGN_OR_RETURN(spec.draws, CheckPlugins(spec.profile, spec.resource_scores));
  spec.cache = scheduler.cache();
  spec.popularity_percent = scheduler.typical().popularity_percent();
  spec.queue = QueueKindOf(s);
  spec.queue_name = scheduler.queue();
  spec.preemption = PreemptionOf(s.preemption().mode());
  if (spec.queue == QueueKind::kKubernetes && spec.preemption == PreemptionMode::kPriority) {
    spec.profile.plugins.push_back("DefaultPreemption");
  }
  spec.estimates = EstimatesOf(scheduler.estimates().source());
  spec.estimate_noise = scheduler.estimates().noise();
  return spec;
}

}  // namespace drasim
