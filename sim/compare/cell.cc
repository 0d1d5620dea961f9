#include "sim/compare/cell.h"

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "sim/run/dra_outputs.h"
#include "sim/run/simulation.h"

namespace drasim {
namespace {

ReplayFigures FiguresOf(const Simulation& sim) {
  const JobReport report = sim.MakeJobReport();
  const JobFigures& f = report.figures();
  ReplayFigures r;
  r.present = true;
  r.jobs_submitted = f.submitted;
  r.jobs_finished = f.all.count;
  r.preemptions = f.preemption.preemptions;
  if (f.all.count > 0) {
    r.mean_jct_seconds = f.all.jct_seconds.mean;
    r.p95_jct_seconds = f.all.jct_seconds.p95;
    r.mean_queueing_seconds = f.all.queueing_seconds.mean;
    r.mean_slowdown = f.all.slowdown.mean;
  }
  r.makespan_seconds = f.makespan_seconds;
  const std::optional<double> percent =
      sim.utilisation().Percent(Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli);
  if (percent.has_value()) r.gpu_utilisation_percent = RoundDecimals(*percent, 6);
  r.goodput = f.preemption.goodput;
  return r;
}

StartReport MakeStartReport(const Simulation& sim) {
  StartReportOptions options;
  options.summaries = &sim.summaries();
  // A control plane says of every pod when its work begins.
  options.starts_later = sim.control_plane() != nullptr;
  return StartReport(options);
}

void CountApiCalls(const Simulation& sim, StartReport* report) {
  if (sim.control_plane() == nullptr) return;
  const DraCalls calls = DraCallsOf(sim);
  report->set_api_reads(calls.reads);
  report->set_api_writes(calls.writes);
  const PinnedPods& pinned = sim.control_plane()->pinned();
  report->set_pinned(
      {pinned.Mean(sim.control_plane()->network().now()), pinned.most(), pinned.count()});
}

std::vector<FailureCount> FailuresOf(const Simulation& sim, const StartReport& report) {
  std::vector<FailureCount> failures;
  for (const auto& [reason, pods] : report.UnplacedByReason()) failures.push_back({reason, pods});
  if (sim.device_report() == nullptr) return failures;
  const size_t unplaced = failures.size();
  for (uint32_t f = 1; f <= kLastDeviceFailure; ++f) {
    const auto failure = static_cast<AdmissionFailure>(f);
    const int64_t times = sim.device_report()->admission_failures(failure);
    if (times == 0) continue;
    failures.push_back(
        {absl::StrCat(AdmissionReason(failure), ": ", AdmissionMessage(failure)), times});
  }
  std::stable_sort(failures.begin() + static_cast<std::ptrdiff_t>(unplaced), failures.end(),
                   [](const FailureCount& a, const FailureCount& b) { return a.count > b.count; });
  return failures;
}

// Pods that ask for resources that no node has cannot be expressed in a world. Layouts made ahead
// of pods may well lack a profile that pods ask for: that is a result.
absl::Status CheckExpressible(const Simulation& sim) {
  const bool lays_out = sim.spec().front_end.options.plugin.mig_strategy != MigStrategy::kNone;
  for (const std::string& resource : sim.unreported_resources()) {
    if (lays_out && absl::StartsWith(resource, "nvidia.com/mig-")) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("pods ask for ", resource, ", which no node has in this world"));
  }
  return absl::OkStatus();
}

}  // namespace

const LoadRow* CellResult::AtLoad(int64_t arrived_percent) const {
  const auto it =
      std::lower_bound(by_load.begin(), by_load.end(), arrived_percent,
                       [](const LoadRow& row, int64_t a) { return row.arrived_percent < a; });
  return it != by_load.end() && it->arrived_percent == arrived_percent ? &*it : nullptr;
}

absl::StatusOr<CellResult> RunCell(const RunSpec& spec, bool with_starts,
                                   const std::function<void(double)>& on_progress, bool is_world) {
  ASSIGN_OR_RETURN(std::unique_ptr<Simulation> built, Simulation::Build(spec));
  Simulation& sim = *built;
  RETURN_IF_ERROR(is_world ? CheckExpressible(sim) : absl::OkStatus());
  StartReport starts = MakeStartReport(sim);
  if (with_starts) sim.AddSink(&starts);
  if (on_progress) {
    // The run itself, behind the last arrival, counts as one job more.
    const double whole = static_cast<double>(sim.pods_expected()) + 1;
    sim.set_on_progress(
        [&on_progress, whole](uint64_t pods) { on_progress(static_cast<double>(pods) / whole); });
  }
  RETURN_IF_ERROR(sim.Start());
  RETURN_IF_ERROR(sim.Run());
  CellResult cell = CellOf(sim);
  if (with_starts) {
    CountApiCalls(sim, &starts);
    cell.starts = StartFiguresOf(starts);
    cell.failures = FailuresOf(sim, starts);
  }
  return cell;
}

CellResult CellOf(const Simulation& sim) {
  const Sample& m = sim.metrics().sample();
  CellResult cell;
  cell.pods_arrived = m.pods_arrived;
  cell.pods_scheduled = m.pods_scheduled;
  cell.pods_unschedulable =
      m.pods_dropped + m.pods_given_up + static_cast<int64_t>(sim.engine().pods_waiting());
  cell.gpu_capacity_milli = m.totals.gpu_milli_capacity;
  cell.gpu_arrived_milli = m.gpu_arrived_milli;
  cell.gpu_allocated_milli = m.totals.gpu_milli_allocated;
  cell.cpu_allocated_milli = m.totals.cpu_milli_allocated;
  cell.fragmentation_milli = RoundDecimals(m.fragmentation.amount_milli(), 2);
  cell.fragmentation_ratio_percent = RoundDecimals(m.fragmentation.ratio_percent(), 2);
  cell.by_load = sim.load_table().Rows();
  if (sim.spec().is_replay()) cell.replay = FiguresOf(sim);
  if (sim.device_report() != nullptr) cell.devices = DeviceFiguresOf(sim);
  if (sim.spec().order == JobOrder::kArtifact)
    cell.hashes = ComputeOrderHashes(sim.cluster(), sim.ranks());
  cell.fingerprint = sim.fingerprint();
  cell.records = sim.engine().records();
  cell.work = WorkStepsOf(sim);
  cell.warnings = sim.warnings();
  return cell;
}

bool DependsOnSeed(const RunSpec& spec) {
  const WorkloadSpec& w = spec.workload;
  if (IsGenerated(w.kind)) return true;
  if (spec.order != JobOrder::kTrace || w.tuning_ratio.has_value()) return true;
  const ShapingOptions& shaping = w.shaping;
  if (shaping.bootstrap_jobs > 0 || shaping.jitter.has_value() || shaping.load_factor.has_value()) {
    return true;
  }
  if (spec.scheduler.draws) return true;
  // Calls to the API server take random times.
  if (spec.front_end.dra()) return true;
  if (!spec.is_replay()) return false;
  if (spec.cluster.failures.has_value()) return true;
  // kube-scheduler looks for victims from a random node on.
  if (spec.scheduler.queue == QueueKind::kKubernetes) {
    return spec.scheduler.preemption == PreemptionMode::kPriority;
  }
  return spec.scheduler.estimate_noise > 0;
}

}  // namespace drasim
