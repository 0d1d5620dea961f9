#include "sim/scenario/resolve.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/text/did_you_mean.h"
#include "policies/builtins.h"
#include "sim/compare/contenders.h"
#include "sim/run/device_plan.h"
#include "sim/run/dra_plan.h"
#include "sim/run/input_files.h"
#include "sim/run/node_events.h"
#include "sim/run/node_failures.h"
#include "sim/run/run_plan.h"
#include "sim/run/user_deletions.h"
#include "sim/scenario/duration_text.h"
#include "traces/shaping.h"

namespace drasim {
namespace {

absl::Status CheckChoice(absl::string_view key, const std::string& value,
                         const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(key, ": found '", value, "', expected one of ",
                                                 absl::StrJoin(known, ", "),
                                                 Suggest(value, known)));
}

template <typename Set>
void Default(const std::string& value, absl::string_view fallback, Set set) {
  if (value.empty()) set(std::string(fallback));
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

namespace {

void FillReplayDefaults(proto::Scenario* s) {
  proto::Scheduler* scheduler = s->mutable_scheduler();
  Default(scheduler->queue(), "kubernetes",
          [=](std::string v) { scheduler->set_queue(std::move(v)); });
  if (scheduler->queue() != "kubernetes" && scheduler->queue() != kLossQueue) {
    if (!scheduler->has_head_of_line()) scheduler->set_head_of_line(true);
    Default(scheduler->backfill(), "none",
            [=](std::string v) { scheduler->set_backfill(std::move(v)); });
    Default(scheduler->estimates().source(), "trace",
            [=](std::string v) { scheduler->mutable_estimates()->set_source(std::move(v)); });
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

void FillDefaults(proto::Scenario* s) {
  Default(s->mode(), "fill", [s](std::string v) { s->set_mode(std::move(v)); });
  Default(s->order(), s->mode() == "replay" && !IsStream(*s) ? "trace" : "seeded",
          [s](std::string v) { s->set_order(std::move(v)); });
  if (!s->has_seed()) s->set_seed(42);
  proto::Scheduler* scheduler = s->mutable_scheduler();
  FillDraDefaults(s);
  // The scheduler in front of drivers knows nothing of GPUs.
  Default(scheduler->policy(), UsesDra(*s) ? "least-allocated" : "fgd",
          [=](std::string v) { scheduler->set_policy(std::move(v)); });
  // A fill tries each job once, so nothing queues.
  if (s->mode() == "replay") FillReplayDefaults(s);
  if (!scheduler->has_cache()) scheduler->set_cache(true);
  if (scheduler->typical().popularity_percent() == 0)
    scheduler->mutable_typical()->set_popularity_percent(95);
  if (!s->output().has_ledger()) s->mutable_output()->set_ledger(true);
  if (!s->output().has_checkpoint_every()) s->mutable_output()->set_checkpoint_every(100'000);
  if (!s->workload().trace().path().empty()) {
    proto::Trace* t = s->mutable_workload()->mutable_trace();
    Default(t->format(), "openb", [t](std::string v) { t->set_format(std::move(v)); });
  } else if (s->workload().jobs_size() == 0 && s->workload().manifests_size() == 0 &&
             s->workload().generated().mig_size() == 0) {
    proto::Generated* g = s->mutable_workload()->mutable_generated();
    Default(g->table(), "openb-like", [g](std::string v) { g->set_table(std::move(v)); });
    Default(g->sampling(), "quota", [g](std::string v) { g->set_sampling(std::move(v)); });
  }
  if (!s->cluster().path().empty() && s->cluster().format().empty())
    s->mutable_cluster()->set_format("openb");
}

// What the queue at hand does not do is refused, instead of being ignored.
absl::Status CheckPreemption(const proto::Scenario& s) {
  const std::string& mode = s.preemption().mode();
  const proto::Scheduler& scheduler = s.scheduler();
  const std::string& queue = scheduler.queue();
  if (absl::Status e = CheckChoice("preemption.mode", mode, {"none", "policy", "priority"});
      !e.ok()) {
    return e;
  }
  const absl::StatusOr<std::unique_ptr<QueuePolicy>> policy =
      BuiltinRegistry().MakeQueue(queue, {});
  const bool preempts = policy.ok() && (*policy)->preempts();
  if (mode != "none" && queue == kLossQueue) {
    return absl::InvalidArgumentError(
        "preemption.mode: expected none with scheduler.queue: loss, where nobody waits");
  }
  if (mode == "policy" && !preempts) {
    return absl::InvalidArgumentError(
        absl::StrCat("preemption.mode: found 'policy', expected none or priority: the queue ",
                     queue, " says nothing about who may displace whom"));
  }
  if (mode != "none" && scheduler.backfill() == "conservative") {
    return absl::InvalidArgumentError(absl::StrCat(
        "preemption.mode: found '", mode,
        "', expected none with scheduler.backfill: conservative, which never displaces "
        "anybody"));
  }
  if (policy.ok() && (*policy)->per_tenant() && scheduler.backfill() == "conservative") {
    return absl::InvalidArgumentError(
        absl::StrCat("scheduler.backfill: found 'conservative', expected none or easy: the queue ",
                     queue, " has a line for each tenant"));
  }
  if (s.compat() == "helios" && queue != "fifo" && queue != "sjf" && queue != "srtf") {
    return absl::InvalidArgumentError(
        "compat: found 'helios', expected a batch queue (fifo, sjf, srtf) in scheduler.queue");
  }
  if (s.compat() == "helios" && queue == "srtf" &&
      (s.quotas_size() > 0 || !s.preemption().grace_period().empty())) {
    return absl::InvalidArgumentError(
        "compat: helios with the queue srtf knows neither quotas nor grace periods");
  }
  return absl::OkStatus();
}

absl::Status CheckQueue(const proto::Scenario& s) {
  if (absl::Status e = CheckChoice("compat", s.compat(), {"", "helios"}); !e.ok()) return e;
  const proto::Scheduler& scheduler = s.scheduler();
  if (s.mode() != "replay") {
    const char* const key = s.cluster().events_size() > 0 ? "cluster.events"
                            : s.cluster().has_failures()  ? "cluster.failures"
                            : s.quotas_size() > 0         ? "quotas"
                            : !s.compat().empty()         ? "compat"
                                                          : nullptr;
    if (key == nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(key, ": expected none: a fill has no clock"));
  }
  std::vector<std::string> queues = {"kubernetes", std::string(kLossQueue)};
  for (const QueueEntry& entry : BuiltinRegistry().queues()) queues.push_back(entry.name);
  if (absl::Status e = CheckChoice("scheduler.queue", scheduler.queue(), queues); !e.ok()) return e;
  if (scheduler.queue() == "kubernetes" || scheduler.queue() == kLossQueue) {
    if (scheduler.has_head_of_line() || !scheduler.backfill().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          scheduler.has_head_of_line() ? "scheduler.head_of_line" : "scheduler.backfill",
          ": expected none with scheduler.queue: ", scheduler.queue(),
          ", where no pod holds up another"));
    }
  } else if (absl::Status e =
                 CheckChoice("scheduler.estimates.source", scheduler.estimates().source(),
                             {"trace", "exact", "trace-at-least-run-time"});
             !e.ok()) {
    return e;
  }
  if (absl::Status e = CheckPreemption(s); !e.ok()) return e;
  if (scheduler.queue() == kLossQueue && s.quotas_size() > 0) {
    return absl::InvalidArgumentError(
        "quotas: expected none with scheduler.queue: loss, where nobody waits for room");
  }
  const double noise = scheduler.estimates().noise();
  if (!(noise >= 0 && noise <= 10)) {
    return absl::InvalidArgumentError("scheduler.estimates.noise: expected 0 to 10");
  }
  return absl::OkStatus();
}

absl::Status CheckTrace(const proto::Scenario& s) {
  const proto::Trace& t = s.workload().trace();
  if (t.path().empty()) return absl::OkStatus();
  if (absl::Status e = CheckChoice("workload.trace.arrival", t.arrival(), {"", "submit", "start"});
      !e.ok()) {
    return e;
  }
  if (!(t.epoch_offset_seconds() >= -9e9 && t.epoch_offset_seconds() <= 9e9)) {
    return absl::InvalidArgumentError(
        "workload.trace.epoch_offset_seconds: expected a number of seconds up to 9e9");
  }
  for (const std::string& need : t.needs()) {
    if (absl::Status e =
            CheckChoice("workload.trace.needs", need, {"cpu", "gpu_count", "run_time"});
        !e.ok()) {
      return e;
    }
  }
  if (t.gpus_per_pod() < 0 || t.cores_per_pod() < 0) {
    return absl::InvalidArgumentError(
        "workload.trace.gpus_per_pod, cores_per_pod: expected 0 or more");
  }
  if (absl::StatusOr<SimDuration> window = ParseDuration(t.sort_window()); !window.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("workload.trace.sort_window: ", window.status().message()));
  }
  return absl::OkStatus();
}

absl::Status CheckStream(const proto::Scenario& s) {
  if (!IsStream(s)) return absl::OkStatus();
  const std::string& text = s.workload().stream_interval();
  if (s.mode() != "replay") {
    return absl::InvalidArgumentError(
        absl::StrCat("workload.stream_interval: found '", text,
                     "', expected none in mode fill, which has no clock"));
  }
  const absl::StatusOr<SimDuration> interval = ParseDuration(text);
  if (!interval.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("workload.stream_interval: ", interval.status().message()));
  }
  if (*interval > SimDuration() && *interval <= SimDuration::Seconds(86'400)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("workload.stream_interval: found '", text, "', expected above 0s, at most 24h"));
}

// Everything that is read into options is read once for its errors.
absl::Status CheckPlan(const proto::Scenario& s) {
  if (auto engine = MakeEngineOptions(s); !engine.ok()) return engine.status();
  if (auto kubernetes = MakeKubernetesOptions(s); !kubernetes.ok()) return kubernetes.status();
  if (auto batch = MakeBatchOptions(s); !batch.ok()) return batch.status();
  if (auto shaping = MakeShapingOptions(s); !shaping.ok()) return shaping.status();
  if (absl::Status e = CheckNodeEvents(s); !e.ok()) return e;
  if (absl::Status e = CheckNodeFailures(s); !e.ok()) return e;
  if (absl::Status e = CheckDeletions(s); !e.ok()) return e;
  if (absl::Status e = CheckDevices(s); !e.ok()) return e;
  if (absl::Status e = CheckDra(s); !e.ok()) return e;
  if (auto limit = LedgerLimit(s); !limit.ok()) return limit.status();
  return MakeMetricWindows(s).status();
}

absl::Status CheckValues(const proto::Scenario& s) {
  if (absl::Status e = CheckChoice("mode", s.mode(), {"fill", "replay"}); !e.ok()) return e;
  if (absl::Status e = CheckChoice("order", s.order(), {"artifact", "seeded", "trace"}); !e.ok())
    return e;
  if (absl::Status e = CheckQueue(s); !e.ok()) return e;
  if (absl::Status e = CheckStream(s); !e.ok()) return e;
  if (s.mode() == "replay" && s.order() != "trace" && !IsStream(s)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "order: found '", s.order(), "', expected 'trace': a replay keeps the arrival times"));
  }
  const double ratio = s.workload().tuning().ratio();
  if (s.workload().tuning().has_ratio() && !(ratio > 0 && ratio <= 1e6)) {
    return absl::InvalidArgumentError(absl::StrCat("workload.tuning.ratio: found ",
                                                   DoubleText(ratio),
                                                   ", expected a number above 0, at most 1000000"));
  }
  if (s.cluster().has_scale()) {
    if (auto one = MultiplyCluster({}, s.cluster().scale()); !one.ok()) return one.status();
    if (s.workload().has_target_load_percent()) {
      return absl::InvalidArgumentError(
          "cluster.scale: found workload.target_load_percent, too, expected one of them");
    }
  }
  if (s.workload().limit() < 0)
    return absl::InvalidArgumentError("workload.limit: expected 0 or more");
  if (absl::Status e = CheckTrace(s); !e.ok()) return e;
  if (absl::Status e = CheckGenerated(s); !e.ok()) return e;
  const double popularity = s.scheduler().typical().popularity_percent();
  if (!(popularity > 0 && popularity <= 100)) {
    return absl::InvalidArgumentError(
        "scheduler.typical.popularity_percent: expected a number above 0 up to 100");
  }
  if (s.output().checkpoint_every() < 0) {
    return absl::InvalidArgumentError("output.checkpoint_every: expected 0 or more");
  }
  return absl::OkStatus();
}

absl::Status CheckPlugins(const proto::Scheduler& scheduler) {
  // Names of plugins are checked by building a profile that is thrown away.
  FragmentationModel none({});
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(0);
  PolicyContext context;
  context.fragmentation = &none;
  context.streams = streams.get();
  absl::StatusOr<ResourceScoreOptions> resource_scores = MakeResourceScores(scheduler);
  if (!resource_scores.ok()) return resource_scores.status();
  context.resource_scores = *std::move(resource_scores);
  ProfileOptions options;
  options.policy = scheduler.policy();
  options.device_chooser = scheduler.device_chooser();
  for (const proto::WeightedPlugin& p : scheduler.score())
    options.score.push_back({p.name(), p.weight()});
  const auto under = [](absl::string_view key, const absl::Status& status) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": ", status.message()));
  };
  if (auto policy = BuiltinRegistry().FindPolicy(options.policy); !policy.ok()) {
    return under("scheduler.policy", policy.status());
  }
  if (!options.device_chooser.empty()) {
    auto chooser = BuiltinRegistry().MakeAllocator(options.device_chooser, context);
    if (!chooser.ok()) return under("scheduler.device_chooser", chooser.status());
  }
  absl::StatusOr<Profile> profile = Profile::Make(BuiltinRegistry(), options, context);
  if (!profile.ok()) return under("scheduler.score", profile.status());
  return absl::OkStatus();
}

absl::Status CheckTiming(const proto::Scenario& s) {
  for (const auto& [key, text] :
       {std::pair("timing.bind", s.timing().bind()),
        std::pair("timing.schedule", s.timing().schedule()),
        std::pair("timing.pod_recreation", s.timing().pod_recreation())}) {
    absl::StatusOr<SimDuration> d = ParseDuration(text);
    if (!d.ok()) return absl::InvalidArgumentError(absl::StrCat(key, ": ", d.status().message()));
    if (*d > SimDuration() && s.mode() == "fill") {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": found '", text, "', expected none: a fill has no clock"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveScenario(proto::Scenario* s) {
  FillDefaults(s);
  if (absl::Status e = CheckValues(*s); !e.ok()) return e;
  if (absl::Status e = CheckPlugins(s->scheduler()); !e.ok()) return e;
  if (absl::Status e = CheckTiming(*s); !e.ok()) return e;
  if (absl::Status e = CheckPlan(*s); !e.ok()) return e;
  return CheckComparison(*s);
}

}  // namespace drasim
