#include "sim/scenario/scheduler_spec.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/fragmentation.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/run_streams.h"
#include "model/status_macros.h"
#include "policies/builtins.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/duration_text.h"
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

// Keys that belong to the other search.
absl::Status CheckKubeScheduler(const proto::Scenario& s) {
  const proto::Scheduler& scheduler = s.scheduler();
  const auto with =
      absl::StrCat("with scheduler.",
                   scheduler.kube_config().empty() ? "policy: kube-scheduler" : "kube_config");
  if (scheduler.policy() != kKubeSchedulerPolicy) {
    return KeyError("scheduler.kube_config",
                    absl::StrCat("found scheduler.policy: ", scheduler.policy(),
                                 ", too, expected one of them: the file says which plugins run"));
  }
  if (scheduler.score_size() > 0 || scheduler.has_resource_scores()) {
    return KeyError(scheduler.score_size() > 0 ? "scheduler.score" : "scheduler.resource_scores",
                    absl::StrCat("expected none ", with,
                                 ": the profile says which plugins score, and by what"));
  }
  if (s.mode() == "replay" && scheduler.queue() != kKubernetesQueue) {
    return KeyError("scheduler.queue",
                    absl::StrCat("found '", scheduler.queue(), "', expected kubernetes ", with,
                                 ": kube-scheduler brings its own queue"));
  }
  if (UsesDra(s)) {
    return KeyError(
        "front_end.kind",
        absl::StrCat("found '", s.front_end().kind(), "', expected direct or device-plugin ", with,
                     UsesStructuredDra(s) ? ": runs with claims have a scheduler of their own"
                                          : ": classic DRA is no part of release 1.34"));
  }
  const proto::KubernetesQueue& queue = scheduler.kubernetes();
  if (!scheduler.kube_config().empty() &&
      (!queue.initial_backoff().empty() || !queue.max_backoff().empty())) {
    return KeyError(queue.max_backoff().empty() ? "scheduler.kubernetes.initial_backoff"
                                                : "scheduler.kubernetes.max_backoff",
                    absl::StrCat("expected none ", with, ": the file has backoffs of its own"));
  }
  return absl::OkStatus();
}

// Decisions that take longer would be no decisions.
constexpr SimDuration kLongestDecision = SimDuration::Seconds(60);

absl::StatusOr<std::vector<KubeSchedulerSpec::Other>> ReadOthers(const proto::Scenario& s) {
  std::vector<KubeSchedulerSpec::Other> others;
  const auto& given = s.scheduler().others();
  if (given.empty()) return others;
  if (s.mode() != "replay") {
    return KeyError("scheduler.others", "expected none: in a fill, decisions take no time");
  }
  if (s.quotas_size() > 0) {
    return KeyError("quotas", "expected none with scheduler.others");
  }
  for (int i = 0; i < given.size(); ++i) {
    const std::string key = absl::StrCat("scheduler.others.", i);
    KubeSchedulerSpec::Other other;
    other.config = given[i].kube_config();
    if (other.config.empty()) {
      return KeyError(key + ".kube_config", "found none, expected a file");
    }
    if (!given[i].latency().empty()) {
      SimDuration latency;
      RETURN_IF_ERROR(ReadDuration(key + ".latency", given[i].latency(), &latency));
      if (latency > kLongestDecision) {
        return KeyError(key + ".latency", absl::StrCat("found '", given[i].latency(),
                                                       "', expected at most a minute"));
      }
      other.latency = latency;
    }
    others.push_back(std::move(other));
  }
  return others;
}

absl::StatusOr<std::optional<KubeSchedulerSpec>> MakeKubeSchedulerSpec(const proto::Scenario& s) {
  const proto::Scheduler& scheduler = s.scheduler();
  if (scheduler.kube_config().empty() && scheduler.policy() != kKubeSchedulerPolicy) {
    const absl::string_view key = !scheduler.ties().empty()      ? "scheduler.ties"
                                  : !scheduler.release().empty() ? "scheduler.release"
                                  : !scheduler.extender_latency().empty()
                                      ? "scheduler.extender_latency"
                                  : scheduler.others_size() > 0 ? "scheduler.others"
                                                                : "";
    if (key.empty()) return std::nullopt;
    return KeyError(key,
                    absl::StrCat("found scheduler.policy: ", scheduler.policy(),
                                 ", expected kube-scheduler, or a file in scheduler.kube_config"));
  }
  RETURN_IF_ERROR(CheckKubeScheduler(s));
  const std::string& release = scheduler.release();
  RETURN_IF_ERROR(CheckChoice("scheduler.release", release, {"", "1.34", "1.35", "1.36"}));
  RETURN_IF_ERROR(CheckChoice("scheduler.ties", scheduler.ties(), {"", "first", "random"}));
  KubeSchedulerSpec spec;
  spec.config = scheduler.kube_config();
  if (!scheduler.extender_latency().empty()) {
    RETURN_IF_ERROR(ReadDuration("scheduler.extender_latency", scheduler.extender_latency(),
                                 &spec.extender_latency));
  }
  ASSIGN_OR_RETURN(spec.others, ReadOthers(s));
  if (scheduler.ties() == "random") spec.ties = KubeCycleOptions::Ties::kRandom;
  if (release == "1.35" || release == "1.36") {
    if (!scheduler.ties().empty()) {
      return KeyError("scheduler.ties",
                      absl::StrCat("expected none with scheduler.release: ", release,
                                   ", where the order of the search decides"));
    }
    spec.ties = KubeCycleOptions::Ties::kHeapRoot;
    spec.two_terms = release == "1.36";
  }
  return spec;
}

// Checks names of plugins by building a temporary profile; returns whether it draws random numbers.
absl::StatusOr<bool> CheckPlugins(const SchedulerSpec& spec) {
  const ProfileOptions& options = spec.profile;
  FragmentationModel none({});
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(0);
  PolicyContext context;
  context.fragmentation = &none;
  context.streams = streams.get();
  context.resource_scores = spec.resource_scores;
  if (!spec.kube.has_value()) {
    if (auto policy = BuiltinRegistry().FindPolicy(options.policy); !policy.ok()) {
      return UnderKey("scheduler.policy", policy.status());
    }
  }
  bool chooser_draws = false;
  if (!options.device_chooser.empty()) {
    auto chooser = BuiltinRegistry().MakeAllocator(options.device_chooser, context);
    if (!chooser.ok()) return UnderKey("scheduler.device_chooser", chooser.status());
    chooser_draws = (*chooser)->draws();
  }
  if (spec.kube.has_value()) {
    return chooser_draws || spec.kube->ties == KubeCycleOptions::Ties::kRandom;
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

namespace {

struct RegistryParts {
  std::vector<std::function<void(Registry&)>> added;
  bool made = false;
};

RegistryParts& RegistryPartsOfProcess() {
  static auto* const parts = new RegistryParts;
  return *parts;
}

}  // namespace

const Registry& BuiltinRegistry() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    RegisterBuiltins(*r);
    for (const auto& add : RegistryPartsOfProcess().added) add(*r);
    RegistryPartsOfProcess().made = true;
    return r;
  }();
  return *registry;
}

void AddToBuiltinRegistry(std::function<void(Registry&)> add) {
  DRASIM_CHECK(!RegistryPartsOfProcess().made);
  RegistryPartsOfProcess().added.push_back(std::move(add));
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
  ASSIGN_OR_RETURN(spec.kube, MakeKubeSchedulerSpec(s));
  ASSIGN_OR_RETURN(spec.draws, CheckPlugins(spec));
  spec.cache = scheduler.cache();
  spec.popularity_percent = scheduler.typical().popularity_percent();
  spec.queue = QueueKindOf(s);
  spec.queue_name = scheduler.queue();
  spec.preemption = PreemptionOf(s.preemption().mode());
  if (!spec.kube.has_value() && spec.queue == QueueKind::kKubernetes &&
      spec.preemption == PreemptionMode::kPriority) {
    spec.profile.plugins.push_back("DefaultPreemption");
  }
  spec.estimates = EstimatesOf(scheduler.estimates().source());
  spec.estimate_noise = scheduler.estimates().noise();
  return spec;
}

}  // namespace drasim
