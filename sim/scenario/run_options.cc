#include "sim/scenario/run_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/distributions.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/quantity.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "policies/plugins/resource_scores.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "traces/date_time.h"

namespace drasim {
namespace {

constexpr absl::string_view kDefaultMaxLedger = "100Gi";

absl::Status ReadInterruption(const proto::Scenario& s, InterruptionCosts* costs) {
  const proto::Preemption& p = s.preemption();
  if (p.checkpoint_interval() == "none") {
    costs->keeps_work = false;
  } else
    RETURN_IF_ERROR(ReadDuration("preemption.checkpoint_interval", p.checkpoint_interval(),
                                 &costs->checkpoint_interval));
  RETURN_IF_ERROR(ReadDuration("preemption.grace_period", p.grace_period(), &costs->grace_period));
  for (int i = 0; i < p.restart_size(); ++i) {
    InterruptionCosts::Restart restart;
    const proto::RestartCost& cost = p.restart(i);
    if (cost.has_max_gpus()) {
      if (!(cost.max_gpus() >= 0 && cost.max_gpus() <= 1e9)) {
        return KeyError(absl::StrCat("preemption.restart[", i, "].max_gpus"), "expected 0 to 1e9");
      }
      restart.max_gpu_milli = static_cast<int64_t>(cost.max_gpus() * 1000);
    }
    const std::string key = absl::StrCat("preemption.restart[", i, "].delay");
    RETURN_IF_ERROR(ReadDuration(key, cost.delay(), &restart.delay));
    costs->restart.push_back(restart);
  }
  costs->restarts_add_up = s.compat() == "helios";
  return absl::OkStatus();
}

absl::Status ReadOwner(const proto::Owner& o, OwnerOptions* owner) {
  if (o.kind().empty() || o.kind() == "job") {
    owner->kind = OwnerOptions::Kind::kJob;
  } else if (o.kind() == "replica-set") {
    owner->kind = OwnerOptions::Kind::kReplicaSet;
  } else if (o.kind() == "none") {
    owner->kind = OwnerOptions::Kind::kNone;
  } else {
    return KeyError("front_end.owner.kind",
                    absl::StrCat("found '", o.kind(), "', expected one of job, replica-set, none",
                                 Suggest(o.kind(), {"job", "replica-set", "none"})));
  }
  if (o.has_backoff_limit()) {
    if (o.backoff_limit() < 0) {
      return KeyError("front_end.owner.backoff_limit", "expected 0 or more");
    }
    owner->backoff_limit = static_cast<uint32_t>(o.backoff_limit());
  }
  RETURN_IF_ERROR(ReadDuration("front_end.owner.backoff", o.backoff(), &owner->backoff));
  return ReadDuration("front_end.owner.max_backoff", o.max_backoff(), &owner->max_backoff);
}

absl::StatusOr<int64_t> QuotaAmount(absl::string_view key, const std::string& text, bool milli) {
  if (text.empty()) return Quotas::kUnlimited;
  absl::StatusOr<int64_t> amount = milli ? ParseMilli(text) : ParseUnits(text);
  if (!amount.ok()) return UnderKey(key, amount.status());
  if (*amount < 0) return KeyError(key, "expected 0 or more");
  return amount;
}

}  // namespace

absl::StatusOr<EngineOptions> MakeEngineOptions(const proto::Scenario& s) {
  EngineOptions options;
  options.mode = s.mode() == "replay" ? RunMode::kReplay : RunMode::kFill;
  RETURN_IF_ERROR(ReadDuration("timing.schedule", s.timing().schedule(), &options.attempt_latency));
  RETURN_IF_ERROR(ReadDuration("timing.pod_recreation", s.timing().pod_recreation(),
                               &options.recreation_delay));
  RETURN_IF_ERROR(ReadInterruption(s, &options.interruption));
  // The direct front end has no manager; instances take time only if the scenario sets it.
  if (s.front_end().kind() != "device-plugin") {
    const proto::MigManager& m = s.cluster().mig().manager();
    RETURN_IF_ERROR(ReadDuration("cluster.mig.manager.create_instance", m.create_instance(),
                                 &options.instance_creation));
    RETURN_IF_ERROR(ReadDuration("cluster.mig.manager.destroy_instance", m.destroy_instance(),
                                 &options.instance_destruction));
    if (std::max(options.instance_creation, options.instance_destruction).ns() >
        kLongestNs / 1000) {
      return KeyError("cluster.mig.manager",
                      "expected an instance to be made or destroyed within a month");
    }
  }
  RETURN_IF_ERROR(ReadOwner(s.front_end().owner(), &options.owner));
  options.check_invariants = s.output().check_invariants();
  options.checkpoint_every = static_cast<uint64_t>(s.output().checkpoint_every());
  // HeliosArtifact's simulator notices the end of a job one second later.
  if (s.compat() == "helios" && s.scheduler().queue() == "srtf") {
    options.release_delay = SimDuration::Seconds(1);
  }
  return options;
}

absl::StatusOr<KubernetesQueueOptions> MakeKubernetesOptions(const proto::Scenario& s) {
  const proto::KubernetesQueue& k = s.scheduler().kubernetes();
  KubernetesQueueOptions options;
  for (const auto& [key, text, out] :
       {std::tuple("initial_backoff", &k.initial_backoff(), &options.initial_backoff),
        std::tuple("max_backoff", &k.max_backoff(), &options.max_backoff),
        std::tuple("unschedulable_flush", &k.unschedulable_flush(),
                   &options.unschedulable_flush)}) {
    RETURN_IF_ERROR(ReadDuration(absl::StrCat("scheduler.kubernetes.", key), *text, out));
    if (out->ns() > kLongestNs / 100) {
      return KeyError(absl::StrCat("scheduler.kubernetes.", key),
                      absl::StrCat("found '", *text, "', expected up to a year"));
    }
  }
  if (k.has_pop_from_backoff()) options.pop_from_backoff = k.pop_from_backoff();
  return options;
}

absl::StatusOr<ResourceScoreOptions> MakeResourceScores(const proto::Scheduler& scheduler) {
  ResourceScoreOptions options;
  for (const proto::WeightedPlugin& r : scheduler.resource_scores().resources()) {
    options.resources.emplace_back(r.name(), r.weight() == 0 ? 1 : r.weight());
  }
  for (const proto::ShapePoint& p : scheduler.resource_scores().shape()) {
    options.shape.emplace_back(p.utilization(), p.score());
  }
  if (absl::Status s = CheckResourceScoreOptions(options); !s.ok()) {
    return UnderKey("scheduler.resource_scores", s);
  }
  return options;
}

absl::StatusOr<BatchOptions> MakeBatchOptions(const proto::Scenario& s) {
  BatchOptions options;
  const proto::Scheduler& scheduler = s.scheduler();
  options.head_of_line = scheduler.has_head_of_line() ? scheduler.head_of_line() : true;
  const std::string& backfill = scheduler.backfill();
  if (backfill == "easy") {
    options.backfill = Backfill::kEasy;
  } else if (backfill == "conservative") {
    options.backfill = Backfill::kConservative;
  } else if (!backfill.empty() && backfill != "none") {
    return KeyError(
        "scheduler.backfill",
        absl::StrCat("found '", backfill, "', expected one of none, easy, conservative"));
  }
  if (options.backfill != Backfill::kNone && !options.head_of_line) {
    return KeyError(
        "scheduler.backfill",
        absl::StrCat("found '", backfill,
                     "', expected none: with scheduler.head_of_line: false every job that fits "
                     "goes ahead anyway"));
  }
  options.preempt = s.preemption().mode() == "policy";
  options.preempt_by_priority = s.preemption().mode() == "priority";
  options.helios = s.compat() == "helios";
  return options;
}

absl::StatusOr<ShapingOptions> MakeShapingOptions(const proto::Scenario& s) {
  const proto::Workload& w = s.workload();
  ShapingOptions options;
  options.tenants.assign(w.tenants().begin(), w.tenants().end());
  for (const auto& [key, text, out] :
       {std::tuple("start", &w.window().start(), &options.window_start_ns),
        std::tuple("end", &w.window().end(), &options.window_end_ns)}) {
    if (text->empty()) continue;
    absl::StatusOr<int64_t> ns = ParseRfc3339(*text);
    if (!ns.ok()) return UnderKey(absl::StrCat("workload.window.", key), ns.status());
    *out = *ns;
  }
  options.bootstrap_jobs = w.bootstrap().jobs();
  SimDuration block;
  RETURN_IF_ERROR(ReadDuration("workload.bootstrap.block", w.bootstrap().block(), &block));
  options.bootstrap_block_ns = block.ns();
  if (w.has_load_factor()) options.load_factor = w.load_factor();
  if (w.has_speed_up()) options.speed_up = w.speed_up();
  if (!w.jitter().empty()) {
    absl::StatusOr<Distribution> jitter = Distribution::Parse(w.jitter());
    if (!jitter.ok()) return UnderKey("workload.jitter", jitter.status());
    options.jitter = *std::move(jitter);
  }
  options.limit = w.limit();
  options.truncate_to_seconds = s.compat() == "helios";
  return options;
}

absl::StatusOr<MetricWindows> MakeMetricWindows(const proto::Scenario& s) {
  MetricWindows windows;
  RETURN_IF_ERROR(ReadDuration("metrics.warm_up", s.metrics().warm_up(), &windows.warm_up));
  RETURN_IF_ERROR(ReadDuration("metrics.drain", s.metrics().drain(), &windows.drain));
  return windows;
}

absl::StatusOr<uint64_t> ReadLedgerLimit(const std::string& text) {
  const absl::StatusOr<int64_t> bytes =
      ParseUnits(text.empty() ? kDefaultMaxLedger : absl::string_view(text));
  if (!bytes.ok()) return UnderKey("output.max_ledger", bytes.status());
  if (*bytes == 0) {
    return KeyError(
        "output.max_ledger",
        absl::StrCat(
            "found '", text,
            "', expected a quantity above 0 such as 100Gi; output.ledger: false keeps none"));
  }
  return static_cast<uint64_t>(*bytes);
}

absl::StatusOr<std::vector<QuotaSpec>> ReadQuotas(const proto::Scenario& s) {
  std::vector<QuotaSpec> quotas;
  for (int i = 0; i < s.quotas_size(); ++i) {
    const proto::Quota& q = s.quotas(i);
    const std::string key = absl::StrCat("quotas[", i, "]");
    QuotaSpec& spec = quotas.emplace_back();
    spec.path = q.path();
    if (!q.path().empty()) continue;
    spec.tenant = q.tenant();
    for (const auto& [name, text, milli, out] :
         {std::tuple("gpus", &q.gpus(), true, &spec.limit.gpu_milli),
          std::tuple("cpu", &q.cpu(), true, &spec.limit.cpu_milli),
          std::tuple("memory", &q.memory(), false, &spec.limit.memory_bytes)}) {
      ASSIGN_OR_RETURN(*out, QuotaAmount(absl::StrCat(key, ".", name), *text, milli));
    }
  }
  return quotas;
}

}  // namespace drasim
