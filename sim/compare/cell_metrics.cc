#include "sim/compare/cell_metrics.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

double AllocationAt(const CellResult& c, int64_t load) {
  const LoadRow* row = c.AtLoad(load);
  return row != nullptr ? row->gpu_allocation_percent : std::nan("");
}

double Percent(double part, int64_t whole) {
  return whole > 0 ? 100 * part / static_cast<double>(whole) : 0;
}

constexpr CellMetric kFillMetrics[] = {
    {"gpu_allocation_percent_at_100", "GPU % @100", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 100); }, true},
    {"gpu_allocation_percent_at_130", "GPU % @130", 2, true,
     [](const CellResult& c) { return AllocationAt(c, 130); }, true},
    {"gpu_allocation_percent_end", "GPU % end", 2, true,
     [](const CellResult& c) {
       return Percent(static_cast<double>(c.gpu_allocated_milli), c.gpu_capacity_milli);
     }},
    {"fragmentation_percent_of_total_end", "frag % end", 2, false,
     [](const CellResult& c) { return Percent(c.fragmentation_milli, c.gpu_capacity_milli); }},
    {"pods_unschedulable", "failed pods", 0, false,
     [](const CellResult& c) { return static_cast<double>(c.pods_unschedulable); }},
};

template <int64_t ReplayFigures::*kCount>
double ReplayCount(const CellResult& c) {
  return c.replay.present ? static_cast<double>(c.replay.*kCount) : std::nan("");
}

template <std::optional<double> ReplayFigures::*kFigure>
double Replay(const CellResult& c) {
  return (c.replay.*kFigure).value_or(std::nan(""));
}

constexpr CellMetric kReplayMetrics[] = {
    {"jobs_finished", "jobs", 0, true, ReplayCount<&ReplayFigures::jobs_finished>},
    {"mean_jct_seconds", "JCT s", 1, false, Replay<&ReplayFigures::mean_jct_seconds>},
    {"p95_jct_seconds", "JCT p95 s", 1, false, Replay<&ReplayFigures::p95_jct_seconds>},
    {"mean_queueing_seconds", "queueing s", 1, false,
     Replay<&ReplayFigures::mean_queueing_seconds>},
    {"mean_slowdown", "slowdown", 2, false, Replay<&ReplayFigures::mean_slowdown>},
    {"makespan_seconds", "makespan s", 0, false, Replay<&ReplayFigures::makespan_seconds>},
    {"gpu_utilisation_percent", "GPU %", 2, true, Replay<&ReplayFigures::gpu_utilisation_percent>},
    {"preemptions", "preemptions", 0, false, ReplayCount<&ReplayFigures::preemptions>},
    {"goodput", "goodput", 4, true, Replay<&ReplayFigures::goodput>},
};

// Acceptance can be counted without a report on devices.
double Acceptance(const CellResult& c) {
  if (c.devices.present) return c.devices.acceptance_by_count;
  if (c.pods_arrived == 0) return std::nan("");
  return static_cast<double>(c.pods_scheduled) / static_cast<double>(c.pods_arrived);
}

template <int64_t DeviceFigures::*kCount>
double DeviceCount(const CellResult& c) {
  return c.devices.present ? static_cast<double>(c.devices.*kCount) : std::nan("");
}

template <double DeviceFigures::*kFigure>
double Device(const CellResult& c) {
  return c.devices.present ? c.devices.*kFigure : std::nan("");
}

constexpr CellMetric kDeviceMetrics[] = {
    {"acceptance", "accepted", 3, true, Acceptance},
    {"acceptance_by_slices", "acc. slices", 3, true, Device<&DeviceFigures::acceptance_by_slices>},
    {"handed_out_percent", "alloc %", 2, true, Device<&DeviceFigures::allocated_percent>},
    {"wanted_percent", "wanted %", 2, true, Device<&DeviceFigures::demanded_percent>},
    {"stranded_memory_slices_percent", "strand. mem %", 2, false,
     Device<&DeviceFigures::stranded_memory_percent>},
    {"stranded_compute_slices_percent", "strand. comp %", 2, false,
     Device<&DeviceFigures::stranded_compute_percent>},
    {"stranded_by_geometry_percent", "geometry %", 2, false,
     Device<&DeviceFigures::stranded_geometry_percent>},
    {"stranded_by_layout_percent", "layout %", 2, false,
     Device<&DeviceFigures::stranded_layout_percent>},
    {"stranded_by_other_percent", "other %", 2, false,
     Device<&DeviceFigures::stranded_other_percent>},
    {"internal_waste_percent", "waste %", 2, false, Device<&DeviceFigures::waste_compute_percent>},
    {"internal_waste_memory_percent", "waste mem %", 2, false,
     Device<&DeviceFigures::waste_memory_percent>},
    {"shortfall_percent", "short %", 2, false, Device<&DeviceFigures::shortfall_percent>},
    {"admission_failures", "adm. fail", 0, false, DeviceCount<&DeviceFigures::admission_failures>},
    {"repartitions", "repart.", 0, false, DeviceCount<&DeviceFigures::repartitions>},
    {"repartition_gpu_seconds", "repart. GPU s", 0, false,
     Device<&DeviceFigures::repartition_gpu_seconds>},
    {"slot_fragmentation_percent", "slot frag %", 2, false,
     Device<&DeviceFigures::slot_fragmentation_percent>},
};

template <double StartFigures::*kFigure>
double OfStarts(const CellResult& c) {
  return c.starts.present && c.starts.pods_started > 0 ? c.starts.*kFigure : std::nan("");
}

template <std::optional<double> StartFigures::*kFigure>
double OfControlPlane(const CellResult& c) {
  return (c.starts.*kFigure).value_or(std::nan(""));
}

constexpr CellMetric kStartMetrics[] = {
    {"pods_started", "starts", 0, true,
     [](const CellResult& c) {
       return c.starts.present ? static_cast<double>(c.starts.pods_started) : std::nan("");
     }},
    {"mean_start_seconds", "start s", 3, false, OfStarts<&StartFigures::mean_total_seconds>},
    {"p95_start_seconds", "start p95 s", 3, false, OfStarts<&StartFigures::p95_total_seconds>},
    {"mean_start_queue_seconds", "queue s", 3, false, OfStarts<&StartFigures::mean_queue_seconds>},
    {"p95_start_queue_seconds", "queue p95 s", 3, false,
     OfStarts<&StartFigures::p95_queue_seconds>},
    {"mean_negotiation_seconds", "negot. s", 3, false,
     OfStarts<&StartFigures::mean_negotiation_seconds>},
    {"p95_negotiation_seconds", "negot. p95 s", 3, false,
     OfStarts<&StartFigures::p95_negotiation_seconds>},
    {"mean_prepare_seconds", "prepare s", 3, false, OfStarts<&StartFigures::mean_prepare_seconds>},
    {"p95_prepare_seconds", "prepare p95 s", 3, false,
     OfStarts<&StartFigures::p95_prepare_seconds>},
    {"cycles_per_pod", "cycles", 2, false, OfStarts<&StartFigures::cycles_per_pod>},
    {"api_writes_per_pod", "writes", 2, false, OfControlPlane<&StartFigures::api_writes_per_pod>},
    {"api_reads_per_pod", "reads", 2, false, OfControlPlane<&StartFigures::api_reads_per_pod>},
    {"pods_pinned_mean", "pinned", 2, false, OfControlPlane<&StartFigures::pods_pinned_mean>},
    {"pods_pinned_most", "pinned max", 0, false, OfControlPlane<&StartFigures::pods_pinned_most>},
    {"pods_pinned_at_end", "pinned end", 0, false,
     OfControlPlane<&StartFigures::pods_pinned_at_end>},
};

// The rows of a comparison of worlds, from top to bottom.
struct WorldRow {
  const char* metric;
  const char* label;
};
constexpr WorldRow kWorldRows[] = {
    {"wanted_percent", "GPUs wanted by pods that run, %"},
    {"handed_out_percent", "GPUs handed out, %"},
    {"internal_waste_percent", "  of them not wanted, %"},
    {"shortfall_percent", "wanted but not handed out, %"},
    {"acceptance", "part of the pods that got a place"},
    {"stranded_memory_slices_percent", "stranded memory slices, %"},
    {"stranded_by_geometry_percent", "  by geometry, %"},
    {"stranded_by_layout_percent", "  by layout, %"},
    {"stranded_by_other_percent", "  otherwise, %"},
    {"stranded_compute_slices_percent", "stranded compute slices, %"},
    {"slot_fragmentation_percent", "slot fragmentation, %"},
    {"pods_unschedulable", "pods without a place at the end"},
    {"admission_failures", "admission failures"},
    {"preemptions", "preemptions"},
    {"mean_start_seconds", "arrival to work, mean s"},
    {"p95_start_seconds", "arrival to work, p95 s"},
    {"mean_start_queue_seconds", "  queue, mean s"},
    {"p95_start_queue_seconds", "  queue, p95 s"},
    {"mean_negotiation_seconds", "  negotiation, mean s"},
    {"p95_negotiation_seconds", "  negotiation, p95 s"},
    {"mean_prepare_seconds", "  prepare, mean s"},
    {"p95_prepare_seconds", "  prepare, p95 s"},
    {"pods_pinned_mean", "pods pinned by their claims, mean"},
    {"cycles_per_pod", "scheduling cycles per start"},
    {"api_writes_per_pod", "API writes per pod"},
    {"api_reads_per_pod", "API reads per pod"},
    {"mean_jct_seconds", "completion of jobs, mean s"},
    {"p95_jct_seconds", "completion of jobs, p95 s"},
};

}  // namespace

absl::Span<const CellMetric> FillMetrics() { return kFillMetrics; }
absl::Span<const CellMetric> ReplayMetrics() { return kReplayMetrics; }
absl::Span<const CellMetric> DeviceMetrics() { return kDeviceMetrics; }
absl::Span<const CellMetric> StartMetrics() { return kStartMetrics; }

std::vector<CellMetric> WorldMetrics() {
  std::vector<CellMetric> metrics;
  for (const WorldRow& row : kWorldRows) metrics.push_back(*FindMetric(row.metric));
  return metrics;
}

absl::string_view RowLabel(const CellMetric& metric) {
  for (const WorldRow& row : kWorldRows) {
    if (absl::string_view(row.metric) == metric.name) return row.label;
  }
  return metric.title;
}

std::vector<CellMetric> AllMetrics() {
  std::vector<CellMetric> all;
  for (const absl::Span<const CellMetric> some :
       {FillMetrics(), ReplayMetrics(), DeviceMetrics(), StartMetrics()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

absl::StatusOr<CellMetric> FindMetric(absl::string_view name) {
  std::vector<std::string> known;
  for (const CellMetric& metric : AllMetrics()) {
    if (name == metric.name) return metric;
    known.emplace_back(metric.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown metric '", name, "'", Suggest(name, known)));
}

}  // namespace drasim
