#include "sim/scenario/workload_spec.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/distributions.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/node_list_spec.h"

namespace drasim {
namespace {

constexpr absl::string_view kDefaultFormat = "openb";

absl::Status Excludes(absl::string_view key, absl::string_view other) {
  return KeyError(key, absl::StrCat("found ", other, ", too, expected one of them"));
}

// A workload has one origin. (A trace takes precedence over a generated workload.)
absl::Status CheckWorkloadSources(const proto::Workload& workload) {
  if (workload.manifests_size() > 0) {
    if (!workload.trace().path().empty()) {
      return Excludes("workload.manifests", "workload.trace.path");
    }
    if (workload.has_generated()) return Excludes("workload.manifests", "workload.generated");
    if (workload.jobs_size() > 0) return Excludes("workload.manifests", "workload.jobs");
  }
  if (workload.jobs_size() == 0) return absl::OkStatus();
  if (!workload.trace().path().empty()) return Excludes("workload.jobs", "workload.trace.path");
  if (workload.has_generated()) return Excludes("workload.jobs", "workload.generated");
  return absl::OkStatus();
}

absl::Status CheckGeneratedMig(const proto::Generated& g) {
  if (g.mig_size() == 0) {
    if (!g.has_offered_percent()) return absl::OkStatus();
    return KeyError("workload.generated.offered_percent",
                    "found no workload.generated.mig, expected it beside");
  }
  const char* const other = !g.table().empty()      ? "table"
                            : g.gangs_size() > 0    ? "gangs"
                            : g.has_load_percent()  ? "load_percent"
                            : g.has_daily_swing()   ? "daily_swing"
                            : !g.sampling().empty() ? "sampling"
                                                    : nullptr;
  if (other != nullptr) {
    return Excludes(absl::StrCat("workload.generated.", other), "workload.generated.mig");
  }
  MigMixOptions options = MakeGeneratedSpec(g).mig;
  if (g.has_offered_percent()) {
    // The form of the condition also rejects NaN.
    if (!(g.offered_percent() > 0 && g.offered_percent() <= 1e6)) {
      return KeyError("workload.generated.offered_percent",
                      absl::StrCat("found ", DoubleText(g.offered_percent()),
                                   ", expected above 0, at most 1000000"));
    }
    options.offered_units = 1;  // their number depends on the cluster
  }
  return CheckMigMix(options);
}

absl::Status CheckGeneratedWorkload(const proto::Generated& g) {
  if (g.pods() < 0 || g.pods() > kMaxShapedJobs) {
    return KeyError("workload.generated.pods",
                    absl::StrCat("found ", g.pods(), ", expected 0 to ", kMaxShapedJobs));
  }
  if (!g.sampling().empty() && g.sampling() != "quota" && g.sampling() != "independent") {
    return KeyError("workload.generated.sampling",
                    absl::StrCat("found '", g.sampling(), "', expected one of quota, independent"));
  }
  for (const auto& [key, text] :
       {std::pair("interarrival", g.interarrival()), std::pair("run_time", g.run_time())}) {
    if (text.empty()) continue;
    if (auto parsed = Distribution::Parse(text); !parsed.ok()) {
      return KeyError(absl::StrCat("workload.generated.", key), parsed.status().message());
    }
  }
  return CheckGeneratedMig(g);
}

WorkloadKind KindOf(const proto::Scenario& s) {
  const proto::Workload& workload = s.workload();
  if (!workload.trace().path().empty()) return WorkloadKind::kTrace;
  if (workload.manifests_size() > 0) return WorkloadKind::kManifests;
  if (workload.jobs_size() > 0) return WorkloadKind::kJobs;
  if (!workload.has_generated() && s.cluster().manifests_size() > 0) return WorkloadKind::kJobs;
  if (workload.generated().mig_size() > 0) return WorkloadKind::kGeneratedMig;
  return workload.generated().gangs_size() > 0 ? WorkloadKind::kGeneratedJobs
                                               : WorkloadKind::kGeneratedPods;
}

}  // namespace

TraceSpec MakeTraceSpec(const proto::Trace& t) {
  TraceSpec spec;
  spec.path = t.path();
  spec.format = t.format();
  spec.sha256 = t.sha256();
  spec.lenient = t.lenient();
  spec.time_offset_ns = TraceOffsetNs(t);
  spec.arrive_at_start = t.arrival() == "start";
  if (t.has_gpus_per_pod()) spec.gpus_per_pod = t.gpus_per_pod();
  if (t.has_cores_per_pod()) spec.cores_per_pod = t.cores_per_pod();
  const absl::StatusOr<SimDuration> window = ParseDuration(t.sort_window());
  if (window.ok() && !t.sort_window().empty()) spec.sort_window = *window;
  spec.tables.insert(t.tables().begin(), t.tables().end());
  spec.needs.assign(t.needs().begin(), t.needs().end());
  return spec;
}

GeneratedSpec MakeGeneratedSpec(const proto::Generated& g) {
  GeneratedSpec spec;
  spec.table = g.table();
  spec.pods.pods = spec.jobs.jobs = spec.mig.pods = g.pods();
  spec.pods.interarrival = spec.jobs.interarrival = spec.mig.interarrival = g.interarrival();
  spec.pods.run_time = spec.jobs.run_time = spec.mig.run_time = g.run_time();
  spec.pods.sampling = g.sampling();
  spec.jobs.daily_swing = g.daily_swing();
  if (g.has_load_percent()) spec.jobs.load_percent = g.load_percent();
  for (const proto::GangShare& gang : g.gangs()) {
    spec.jobs.gangs.push_back({gang.gpus(), gang.weight()});
  }
  for (const proto::MigShare& share : g.mig()) {
    spec.mig.shares.emplace_back(share.profile(), share.weight());
  }
  if (g.has_offered_percent()) spec.offered_percent = g.offered_percent();
  return spec;
}

WorkloadSpec MakeWorkloadSpec(const proto::Scenario& s) {
  const proto::Workload& w = s.workload();
  WorkloadSpec spec;
  spec.kind = KindOf(s);
  spec.trace = MakeTraceSpec(w.trace());
  spec.full_shapes = UsesKubePlugins(s);
  spec.structured_dra = UsesStructuredDra(s);
  if (spec.kind != WorkloadKind::kTrace && w.trace().format() != kDefaultFormat) {
    spec.stray_format = w.trace().format();
  }
  spec.generated = MakeGeneratedSpec(w.generated());
  spec.manifests.assign(w.manifests().begin(), w.manifests().end());
  spec.shaped = ShapesWorkload(s);
  spec.limit = w.limit();
  spec.stream_interval_text = w.stream_interval();
  if (w.has_target_load_percent()) spec.target_load_percent = w.target_load_percent();
  if (w.tuning().has_ratio()) spec.tuning_ratio = w.tuning().ratio();
  return spec;
}

absl::Status CheckTrace(const proto::Trace& t) {
  if (t.path().empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckChoice("workload.trace.arrival", t.arrival(), {"", "submit", "start"}));
  if (!(t.epoch_offset_seconds() >= -9e9 && t.epoch_offset_seconds() <= 9e9)) {
    return KeyError("workload.trace.epoch_offset_seconds",
                    "expected a number of seconds up to 9e9");
  }
  for (const std::string& need : t.needs()) {
    RETURN_IF_ERROR(CheckChoice("workload.trace.needs", need, {"cpu", "gpu_count", "run_time"}));
  }
  if (t.gpus_per_pod() < 0 || t.cores_per_pod() < 0) {
    return KeyError("workload.trace.gpus_per_pod, cores_per_pod", "expected 0 or more");
  }
  if (absl::StatusOr<SimDuration> window = ParseDuration(t.sort_window()); !window.ok()) {
    return KeyError("workload.trace.sort_window", window.status().message());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<InlineJob>> CheckGenerated(const proto::Scenario& scenario) {
  RETURN_IF_ERROR(MakeNodeListSpec(scenario).status());
  const proto::Workload& workload = scenario.workload();
  RETURN_IF_ERROR(CheckWorkloadSources(workload));
  if (workload.jobs_size() > 0) return ReadInlineJobs(workload);
  if (workload.trace().path().empty() && workload.manifests_size() == 0) {
    RETURN_IF_ERROR(CheckGeneratedWorkload(workload.generated()));
  }
  return std::vector<InlineJob>();
}

absl::StatusOr<std::optional<SimDuration>> ReadStreamInterval(const proto::Scenario& s) {
  const std::string& text = s.workload().stream_interval();
  if (text.empty()) return std::optional<SimDuration>();
  if (s.mode() != "replay") {
    return KeyError(
        "workload.stream_interval",
        absl::StrCat("found '", text, "', expected none in mode fill, which has no clock"));
  }
  const absl::StatusOr<SimDuration> interval = ParseDuration(text);
  if (!interval.ok()) return UnderKey("workload.stream_interval", interval.status());
  if (*interval > SimDuration() && *interval <= SimDuration::Seconds(86'400)) {
    return std::optional<SimDuration>(*interval);
  }
  return KeyError("workload.stream_interval",
                  absl::StrCat("found '", text, "', expected above 0s, at most 24h"));
}

bool ShapesWorkload(const proto::Scenario& s) {
  const proto::Workload& w = s.workload();
  return (s.mode() == "replay" && w.stream_interval().empty()) || w.tenants_size() > 0 ||
         w.has_window() || w.has_speed_up() || !w.jitter().empty() || w.has_bootstrap() ||
         w.has_load_factor() || !s.compat().empty();
}

}  // namespace drasim
