#include "sim/app/run_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/distributions.h"
#include "model/quantity.h"
#include "sim/app/duration_text.h"
#include "sim/app/quota_table.h"
#include "traces/date_time.h"

namespace drasim {
namespace {

absl::Status Under(absl::string_view key, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": ", status.message()));
}

// Reads a duration; what is empty leaves `*out` alone.
absl::Status ReadDuration(absl::string_view key, const std::string& text, SimDuration* out) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<SimDuration> d = ParseDuration(text);
  if (!d.ok()) return Under(key, d.status());
  *out = *d;
  return absl::OkStatus();
}

absl::Status ReadInterruption(const proto::Scenario& s, InterruptionCosts* costs) {
  const proto::Preemption& p = s.preemption();
  if (p.checkpoint_interval() == "none") {
    costs->keeps_work = false;
  } else if (absl::Status e = ReadDuration("preemption.checkpoint_interval",
                                           p.checkpoint_interval(), &costs->checkpoint_interval);
             !e.ok()) {
    return e;
  }
  if (absl::Status e =
          ReadDuration("preemption.grace_period", p.grace_period(), &costs->grace_period);
      !e.ok()) {
    return e;
  }
  for (int i = 0; i < p.restart_size(); ++i) {
    InterruptionCosts::Restart restart;
    const proto::RestartCost& cost = p.restart(i);
    if (cost.has_max_gpus()) {
      if (!(cost.max_gpus() >= 0 && cost.max_gpus() <= 1e9)) {
        return absl::InvalidArgumentError(
            absl::StrCat("preemption.restart[", i, "].max_gpus: expected 0 to 1e9"));
      }
      restart.max_gpu_milli = static_cast<int64_t>(cost.max_gpus() * 1000);
    }
    const std::string key = absl::StrCat("preemption.restart[", i, "].delay");
    if (absl::Status e = ReadDuration(key, cost.delay(), &restart.delay); !e.ok()) return e;
    costs->restart.push_back(restart);
  }
  costs->restarts_add_up = s.compat() == "helios";
  return absl::OkStatus();
}

absl::StatusOr<int64_t> QuotaAmount(absl::string_view key, const std::string& text, bool milli) {
  if (text.empty()) return Quotas::kUnlimited;
  absl::StatusOr<int64_t> amount = milli ? ParseMilli(text) : ParseUnits(text);
  if (!amount.ok()) return Under(key, amount.status());
  if (*amount < 0) return absl::InvalidArgumentError(absl::StrCat(key, ": expected 0 or more"));
  return amount;
}

constexpr int64_t kLongestNs = int64_t{100} * 365 * 86400 * 1'000'000'000;

// A pattern with '*' for any text, the empty one included.
bool Matches(absl::string_view pattern, absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const absl::string_view rest = pattern.substr(star + 1);
  for (size_t begin = star; begin <= name.size(); ++begin) {
    if (Matches(rest, name.substr(begin))) return true;
  }
  return false;
}

struct ActionName {
  absl::string_view name;
  NodeTransition::Action action;
  // What ends it after its duration.
  NodeTransition::Action undo;
  bool may_last;
};
constexpr ActionName kActions[] = {
    {"add", NodeTransition::Action::kAdd, NodeTransition::Action::kRemove, false},
    {"remove", NodeTransition::Action::kRemove, NodeTransition::Action::kAdd, false},
    {"fail", NodeTransition::Action::kFail, NodeTransition::Action::kRecover, true},
    {"recover", NodeTransition::Action::kRecover, NodeTransition::Action::kFail, false},
    {"cordon", NodeTransition::Action::kCordon, NodeTransition::Action::kUncordon, true},
    {"uncordon", NodeTransition::Action::kUncordon, NodeTransition::Action::kCordon, false},
    {"drain", NodeTransition::Action::kDrain, NodeTransition::Action::kUncordon, true},
};

// Without `nodes` the event is only checked.
absl::Status AddNodeEvent(const proto::NodeEvent& event, const std::string& key,
                          std::vector<NodeSpec>* nodes, std::vector<NodeTransition>* out) {
  SimDuration at;
  SimDuration duration;
  if (absl::Status e = ReadDuration(key + ".at", event.at(), &at); !e.ok()) return e;
  if (absl::Status e = ReadDuration(key + ".duration", event.duration(), &duration); !e.ok()) {
    return e;
  }
  const auto* const action =
      std::find_if(std::begin(kActions), std::end(kActions),
                   [&event](const ActionName& a) { return a.name == event.action(); });
  if (action == std::end(kActions)) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, ".action: found '", event.action(),
                     "', expected one of add, remove, fail, recover, cordon, uncordon, drain"));
  }
  if (!action->may_last && !event.duration().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, ".duration: found '", event.duration(),
                     "', expected none: only fail, cordon and drain last"));
  }
  if (at.ns() > kLongestNs || duration.ns() > kLongestNs) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": expected times below 100 years"));
  }
  if (nodes == nullptr) return absl::OkStatus();
  size_t matched = 0;
  for (size_t n = 0; n < nodes->size(); ++n) {
    if (!Matches(event.nodes(), (*nodes)[n].name)) continue;
    ++matched;
    if (event.action() == "add") (*nodes)[n].absent = true;
    out->push_back({SimTime() + at, NodeId(n), action->action});
    if (!event.duration().empty())
      out->push_back({SimTime() + at + duration, NodeId(n), action->undo});
  }
  if (matched > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(key, ".nodes: found '", event.nodes(), "', which matches no node"));
}

}  // namespace

bool UsesKubernetesQueue(const proto::Scenario& s) {
  return s.mode() == "replay" && s.scheduler().queue() == "kubernetes";
}

absl::StatusOr<EngineOptions> MakeEngineOptions(const proto::Scenario& s) {
  EngineOptions options;
  options.mode = s.mode() == "replay" ? RunMode::kReplay : RunMode::kFill;
  if (absl::Status e =
          ReadDuration("timing.schedule", s.timing().schedule(), &options.attempt_latency);
      !e.ok()) {
    return e;
  }
  if (absl::Status e = ReadDuration("timing.pod_recreation", s.timing().pod_recreation(),
                                    &options.recreation_delay);
      !e.ok()) {
    return e;
  }
  if (absl::Status e = ReadInterruption(s, &options.interruption); !e.ok()) return e;
  options.check_invariants = s.output().check_invariants();
  options.checkpoint_every = static_cast<uint64_t>(s.output().checkpoint_every());
  // That simulator finds out in the second after a job has ended that it has.
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
    absl::Status e = ReadDuration(absl::StrCat("scheduler.kubernetes.", key), *text, out);
    if (!e.ok()) return e;
    if (out->ns() > kLongestNs / 100) {
      return absl::InvalidArgumentError(absl::StrCat("scheduler.kubernetes.", key, ": found '",
                                                     *text, "', expected up to a year"));
    }
  }
  if (k.has_pop_from_backoff()) options.pop_from_backoff = k.pop_from_backoff();
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
    return absl::InvalidArgumentError(absl::StrCat("scheduler.backfill: found '", backfill,
                                                   "', expected one of none, easy, conservative"));
  }
  if (options.backfill != Backfill::kNone && !options.head_of_line) {
    return absl::InvalidArgumentError(
        absl::StrCat("scheduler.backfill: found '", backfill,
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
  options.seed = s.seed();
  options.tenants.assign(w.tenants().begin(), w.tenants().end());
  for (const auto& [key, text, out] :
       {std::tuple("start", &w.window().start(), &options.window_start_ns),
        std::tuple("end", &w.window().end(), &options.window_end_ns)}) {
    if (text->empty()) continue;
    absl::StatusOr<int64_t> ns = ParseRfc3339(*text);
    if (!ns.ok()) return Under(absl::StrCat("workload.window.", key), ns.status());
    *out = *ns;
  }
  options.bootstrap_jobs = w.bootstrap().jobs();
  SimDuration block;
  if (absl::Status e = ReadDuration("workload.bootstrap.block", w.bootstrap().block(), &block);
      !e.ok()) {
    return e;
  }
  options.bootstrap_block_ns = block.ns();
  if (w.has_load_factor()) options.load_factor = w.load_factor();
  if (w.has_speed_up()) options.speed_up = w.speed_up();
  if (!w.jitter().empty()) {
    absl::StatusOr<Distribution> jitter = Distribution::Parse(w.jitter());
    if (!jitter.ok()) return Under("workload.jitter", jitter.status());
    options.jitter = *std::move(jitter);
  }
  options.limit = w.limit();
  options.truncate_to_seconds = s.compat() == "helios";
  return options;
}

absl::StatusOr<std::pair<SimDuration, SimDuration>> MakeMetricWindows(const proto::Scenario& s) {
  SimDuration warm_up;
  SimDuration drain;
  if (absl::Status e = ReadDuration("metrics.warm_up", s.metrics().warm_up(), &warm_up); !e.ok())
    return e;
  if (absl::Status e = ReadDuration("metrics.drain", s.metrics().drain(), &drain); !e.ok())
    return e;
  return std::pair(warm_up, drain);
}

absl::StatusOr<std::vector<NodeTransition>> MakeNodeTransitions(const proto::Scenario& s,
                                                                std::vector<NodeSpec>* nodes) {
  std::vector<NodeTransition> transitions;
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    absl::Status e = AddNodeEvent(s.cluster().events(i), absl::StrCat("cluster.events[", i, "]"),
                                  nodes, &transitions);
    if (!e.ok()) return e;
  }
  std::stable_sort(transitions.begin(), transitions.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
  return transitions;
}

absl::Status CheckNodeEvents(const proto::Scenario& s) {
  for (int i = 0; i < s.cluster().events_size(); ++i) {
    absl::Status e = AddNodeEvent(s.cluster().events(i), absl::StrCat("cluster.events[", i, "]"),
                                  nullptr, nullptr);
    if (!e.ok()) return e;
  }
  return absl::OkStatus();
}

absl::StatusOr<Quotas> MakeQuotas(const proto::Scenario& s, int64_t origin_ns) {
  Quotas quotas;
  for (int i = 0; i < s.quotas_size(); ++i) {
    const proto::Quota& q = s.quotas(i);
    const std::string key = absl::StrCat("quotas[", i, "]");
    if (!q.path().empty()) {
      if (absl::Status e = ReadQuotaTable(q.path(), origin_ns, &quotas); !e.ok()) return e;
      continue;
    }
    ResourceAmounts limit;
    for (const auto& [name, text, milli, out] :
         {std::tuple("gpus", &q.gpus(), true, &limit.gpu_milli),
          std::tuple("cpu", &q.cpu(), true, &limit.cpu_milli),
          std::tuple("memory", &q.memory(), false, &limit.memory_bytes)}) {
      absl::StatusOr<int64_t> amount = QuotaAmount(absl::StrCat(key, ".", name), *text, milli);
      if (!amount.ok()) return amount.status();
      *out = *amount;
    }
    quotas.Add(q.tenant(), SimTime(), limit);
  }
  return quotas;
}

}  // namespace drasim
