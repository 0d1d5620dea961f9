#include "sim/scenario/resolve.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/user_deletions.h"
#include "traces/shaping.h"

namespace drasim {
namespace {

template <typename Set>
void Default(const std::string& value, absl::string_view fallback, Set set) {
  if (value.empty()) set(std::string(fallback));
}

void FillDefaults(proto::Scenario* s) {
  Default(s->mode(), "fill", [s](std::string v) { s->set_mode(std::move(v)); });
  Default(s->order(), IsReplay(*s) && s->workload().stream_interval().empty() ? "trace" : "seeded",
          [s](std::string v) { s->set_order(std::move(v)); });
  if (!s->has_seed()) s->set_seed(42);
  proto::Scheduler* scheduler = s->mutable_scheduler();
  FillDraDefaults(s);
  // With drivers, the scheduler is unaware of GPUs.
  Default(scheduler->policy(),
          !scheduler->kube_config().empty() ? kKubeSchedulerPolicy
          : UsesDra(*s)                     ? "least-allocated"
                                            : "fgd",
          [=](std::string v) { scheduler->set_policy(std::move(v)); });
  if (scheduler->policy() == kKubeSchedulerPolicy) {
    Default(scheduler->release(), "1.34",
            [=](std::string v) { scheduler->set_release(std::move(v)); });
    if (scheduler->release() == "1.34") {  // later ones know no choice
      Default(scheduler->ties(), "first",
              [=](std::string v) { scheduler->set_ties(std::move(v)); });
    }
  }
  // A fill tries each job once, so nothing queues.
  if (IsReplay(*s)) FillReplayDefaults(s);
  if (!scheduler->has_cache()) scheduler->set_cache(true);
  if (scheduler->typical().popularity_percent() == 0)
    scheduler->mutable_typical()->set_popularity_percent(95);
  if (!s->output().has_ledger()) s->mutable_output()->set_ledger(true);
  if (!s->output().has_checkpoint_every()) s->mutable_output()->set_checkpoint_every(100'000);
  if (!s->workload().trace().path().empty()) {
    proto::Trace* t = s->mutable_workload()->mutable_trace();
    Default(t->format(), "openb", [t](std::string v) { t->set_format(std::move(v)); });
  } else if (s->workload().jobs_size() == 0 && s->workload().manifests_size() == 0 &&
             s->workload().generated().mig_size() == 0 &&
             (s->cluster().manifests_size() == 0 || s->workload().has_generated())) {
    proto::Generated* g = s->mutable_workload()->mutable_generated();
    Default(g->table(), "openb-like", [g](std::string v) { g->set_table(std::move(v)); });
    Default(g->sampling(), "quota", [g](std::string v) { g->set_sampling(std::move(v)); });
  }
  if (!s->cluster().path().empty() && s->cluster().format().empty())
    s->mutable_cluster()->set_format("openb");
}

// Checks plain values, in the order of their messages, and reads the workload except for
// `shaping` and `deletions`.
absl::Status ReadWorkload(const proto::Scenario& s, WorkloadSpec* workload) {
  RETURN_IF_ERROR(CheckChoice("mode", s.mode(), {"fill", "replay"}));
  RETURN_IF_ERROR(CheckChoice("order", s.order(), {"artifact", "seeded", "trace"}));
  RETURN_IF_ERROR(CheckQueue(s));
  ASSIGN_OR_RETURN(const std::optional<SimDuration> interval, ReadStreamInterval(s));
  if (IsReplay(s) && s.order() != "trace" && !interval.has_value()) {
    return KeyError("order", absl::StrCat("found '", s.order(),
                                          "', expected 'trace': a replay keeps the arrival times"));
  }
  const double ratio = s.workload().tuning().ratio();
  if (s.workload().tuning().has_ratio() && !(ratio > 0 && ratio <= 1e6)) {
    return KeyError(
        "workload.tuning.ratio",
        absl::StrCat("found ", DoubleText(ratio), ", expected a number above 0, at most 1000000"));
  }
  if (s.cluster().has_scale()) {
    RETURN_IF_ERROR(MultiplyCluster({}, s.cluster().scale()).status());
    if (s.workload().has_target_load_percent()) {
      return KeyError("cluster.scale",
                      "found workload.target_load_percent, too, expected one of them");
    }
  }
  if (s.workload().limit() < 0) return KeyError("workload.limit", "expected 0 or more");
  RETURN_IF_ERROR(CheckTrace(s.workload().trace()));
  ASSIGN_OR_RETURN(std::vector<InlineJob> jobs, CheckGenerated(s));
  const double popularity = s.scheduler().typical().popularity_percent();
  if (!(popularity > 0 && popularity <= 100)) {
    return KeyError("scheduler.typical.popularity_percent", "expected a number above 0 up to 100");
  }
  if (s.output().checkpoint_every() < 0) {
    return KeyError("output.checkpoint_every", "expected 0 or more");
  }
  *workload = MakeWorkloadSpec(s);
  workload->jobs = std::move(jobs);
  workload->stream_interval = interval;
  return absl::OkStatus();
}

absl::Status CheckTiming(const proto::Scenario& s) {
  for (const auto& [key, text] :
       {std::pair("timing.bind", s.timing().bind()),
        std::pair("timing.schedule", s.timing().schedule()),
        std::pair("timing.pod_recreation", s.timing().pod_recreation())}) {
    const absl::StatusOr<SimDuration> d = ParseDuration(text);
    if (!d.ok()) return UnderKey(key, d.status());
    if (*d > SimDuration() && !IsReplay(s)) {
      return KeyError(key, absl::StrCat("found '", text, "', expected none: a fill has no clock"));
    }
  }
  return absl::OkStatus();
}

JobOrder OrderOf(const std::string& order) {
  if (order == "artifact") return JobOrder::kArtifact;
  return order == "trace" ? JobOrder::kTrace : JobOrder::kSeeded;
}

// Reads the parts that may be invalid, in the order of their messages.
absl::Status ReadParts(const proto::Scenario& s, RunSpec* spec) {
  ASSIGN_OR_RETURN(spec->scheduler, MakeSchedulerSpec(s));
  RETURN_IF_ERROR(CheckTiming(s));
  ASSIGN_OR_RETURN(spec->engine, MakeEngineOptions(s));
  ASSIGN_OR_RETURN(spec->scheduler.kubernetes, MakeKubernetesOptions(s));
  ASSIGN_OR_RETURN(spec->scheduler.batch, MakeBatchOptions(s));
  ASSIGN_OR_RETURN(spec->workload.shaping, MakeShapingOptions(s));
  ASSIGN_OR_RETURN(spec->cluster.events, MakeNodeEvents(s));
  ASSIGN_OR_RETURN(spec->cluster.failures, MakeNodeFailureSpec(s));
  ASSIGN_OR_RETURN(spec->workload.deletions, ReadDeletions(s, spec->workload.jobs));
  ASSIGN_OR_RETURN(spec->front_end, MakeFrontEndSpec(s));
  ASSIGN_OR_RETURN(spec->dra, MakeDraSpec(s, spec->workload.deletions));
  ASSIGN_OR_RETURN(spec->output.max_ledger_bytes, ReadLedgerLimit(s.output().max_ledger()));
  ASSIGN_OR_RETURN(spec->windows, MakeMetricWindows(s));
  RETURN_IF_ERROR(CheckComparison(s));
  ASSIGN_OR_RETURN(spec->quotas, ReadQuotas(s));
  return ReadDuration("timing.bind", s.timing().bind(), &spec->bind_latency);
}

}  // namespace

bool IsReplay(const proto::Scenario& s) { return s.mode() == "replay"; }

absl::StatusOr<RunSpec> ResolveScenario(const proto::Scenario& given) {
  RunSpec spec;
  spec.written = ScenarioMessage(given);
  FillDefaults(&*spec.written);
  const proto::Scenario& s = *spec.written;
  RETURN_IF_ERROR(ReadWorkload(s, &spec.workload));
  spec.name = s.name();
  spec.mode = IsReplay(s) ? RunMode::kReplay : RunMode::kFill;
  spec.order = OrderOf(s.order());
  spec.seed = s.seed();
  spec.helios = !s.compat().empty();
  ASSIGN_OR_RETURN(spec.cluster.nodes, MakeNodeListSpec(s));
  if (s.cluster().has_scale()) spec.cluster.scale = s.cluster().scale();
  spec.cluster.gpu_model = s.cluster().gpu_model();
  spec.output.dir = s.output().dir();
  spec.output.ledger = s.output().ledger();
  RETURN_IF_ERROR(ReadParts(s, &spec));
  return spec;
}

}  // namespace drasim
