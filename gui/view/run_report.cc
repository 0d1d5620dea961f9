#include "gui/view/run_report.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/compare_model.h"
#include "gui/view/inspect_node.h"
#include "gui/view/typical_load.h"
#include "gui/view/unit_text.h"
#include "model/fragmentation.h"
#include "model/status_macros.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_pods.h"

namespace drasim::view {
namespace {

// A series that grows by changes only.
class ChangeSeries {
 public:
  void Add(SimTime time, double value) {
    if (!series_.empty() && value == last_) return;
    series_.Append(time, value);
    last_ = value;
  }
  // The last value holds until `end`.
  Pyramid Take(SimTime end) {
    if (!series_.empty()) series_.Append(std::max(end, last_time()), last_);
    return std::move(series_);
  }

 private:
  SimTime last_time() const { return series_.time(series_.size() - 1); }

  Pyramid series_;
  double last_ = 0;
};

// The levels that the report plots.
class LevelSeries {
 public:
  void Add(SimTime time, double load_percent, double allocated_percent, double waiting,
           double stranded_percent) {
    load_.Add(time, load_percent);
    allocated_.Add(time, allocated_percent);
    waiting_.Add(time, waiting);
    stranded_.Add(time, stranded_percent);
  }
  void Take(RunReport* report) {
    const SimTime end = report->series_end;
    if (report->by_load) report->load = load_.Take(end);
    if (report->figures.has_gpus) report->allocated = allocated_.Take(end);
    report->waiting = waiting_.Take(end);
    if (report->slices) report->fragmentation = stranded_.Take(end);
  }

 private:
  ChangeSeries load_;
  ChangeSeries allocated_;
  ChangeSeries waiting_;
  ChangeSeries stranded_;
};

double PercentOf(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// The tasks of the second reading.
struct SecondPass {
  struct Moment {
    uint64_t records = 0;
    SimTime time;
    std::string title;
    size_t place = 0;  // among the maps
  };
  std::vector<Moment> moments;           // by records
  std::vector<TypicalPod> typical_pods;  // empty: no fragmentation
};

// Larger than any run asks for; a damaged ledger may.
constexpr double kMostLoadPercent = 1e6;
constexpr int64_t kFragmentationSamples = 2000;

ReportMap MakeMap(std::string title, SimTime time, const ClusterState& cluster,
                  const PodFold& pods) {
  return ReportMap{std::move(title), time, MapDataOf(cluster, pods), NodeTable(cluster)};
}

// FGD's fragmentation over time. Nodes that have changed are counted again only when a sample is
// due, so the cost per record is small.
class FragmentationSeries {
 public:
  FragmentationSeries(std::vector<TypicalPod> typical_pods, const ClusterState& cluster,
                      const RunReport& report)
      : model_(std::move(typical_pods)),
        tracker_(&model_),
        step_(std::max<int64_t>(1, report.series_end.ns() / kFragmentationSamples)),
        changed_(cluster.node_count(), true) {
    for (size_t n = 0; n < cluster.node_count(); ++n) stale_.push_back(n);
  }

  // After the record was applied; `now`: the sample's time.
  void Add(const Record& record, SimTime now, const ClusterState& cluster) {
    if (record.node.valid() && !changed_[record.node.value()]) {
      changed_[record.node.value()] = true;
      stale_.push_back(record.node.value());
    }
    if (now.ns() < next_) return;
    next_ = now.ns() > std::numeric_limits<int64_t>::max() - step_ ? now.ns() : now.ns() + step_;
    for (const size_t n : stale_) {
      tracker_.Update(cluster, NodeId(n));
      changed_[n] = false;
    }
    stale_.clear();
    series_.Add(now, tracker_.Report().ratio_percent());
  }
  Pyramid Take(SimTime end) { return series_.Take(end); }

 private:
  FragmentationModel model_;
  FragmentationTracker tracker_;
  int64_t step_;
  int64_t next_ = 0;
  std::vector<bool> changed_;
  std::vector<size_t> stale_;
  ChangeSeries series_;
};

absl::Status ReadAgain(const LedgerOpener& open, SecondPass pass, RunReport* report) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, open());
  const ClusterState& cluster = reader->cluster();
  PodFold pods;
  std::optional<FragmentationSeries> fragmentation;
  if (!pass.typical_pods.empty()) {
    fragmentation.emplace(std::move(pass.typical_pods), cluster, *report);
  }
  size_t next = 0;
  int64_t arrivals = 0;
  SimTime last;
  const auto make_maps = [&] {
    for (; next < pass.moments.size() && pass.moments[next].records == reader->records(); ++next) {
      SecondPass::Moment& moment = pass.moments[next];
      report->maps[moment.place] = MakeMap(std::move(moment.title), moment.time, cluster, pods);
    }
  };
  make_maps();
  LedgerCursor all;
  // A ledger that grows meanwhile is read as far as the first time.
  all.records = report->records;
  const absl::StatusOr<SimTime> end = ReadUpTo(reader.get(), all, [&](const Record& record) {
    pods.Add(record, cluster);
    last = std::max(last, record.time);
    if (record.kind == RecordKind::kPodArrived) ++arrivals;
    const SimTime now = report->by_load ? SimTime(arrivals) : last;
    if (fragmentation.has_value()) fragmentation->Add(record, now, cluster);
    make_maps();
  });
  RETURN_IF_ERROR(end.status());
  if (fragmentation.has_value()) report->fragmentation = fragmentation->Take(report->series_end);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTenants(LedgerReader* reader, PodFold* pods) {
  ASSIGN_OR_RETURN(const LedgerIndex index, reader->ReadIndex());
  for (const LedgerPlace& place : index.pods) {
    const absl::StatusOr<std::string> payload = reader->ReadPayload(FrameType::kPods, place.offset);
    if (!payload.ok()) {
      // The last frame of an interrupted run may be torn.
      return reader->complete() ? payload.status() : absl::OkStatus();
    }
    std::vector<EndedPodRow> rows;
    if (!UnpackPods(*payload, reader->cluster().node_count(), &rows)) {
      return absl::DataLossError(absl::StrCat(reader->path(), ": damaged at byte ", place.offset,
                                              ": rows of pods are unreadable"));
    }
    for (const EndedPodRow& row : rows) {
      // A ledger that still grows may have more pods by now.
      if (row.tenant.empty() || row.number >= pods->rows().size()) continue;
      pods->SetTenant(PodId(static_cast<size_t>(row.number)), row.tenant);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RunReport> ReadRunReport(const LedgerOpener& open, const std::vector<SimTime>& at) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, open());
  const ClusterState& cluster = reader->cluster();
  RunReport report;
  report.path = reader->path();
  report.scenario_yaml = reader->header().scenario_yaml();
  report.drasim_version = reader->header().drasim_version();
  report.name = ScenarioValue(report.scenario_yaml, "name");
  if (report.name.empty()) report.name = report.path;

  PodFold pods;
  FigureFold figures(&cluster);
  LevelSeries over_time;
  LevelSeries over_load;  // until time passes
  int64_t arrivals = 0;
  double load = 0;
  SimTime last;
  int64_t requested_milli = 0;
  std::vector<int64_t> pods_by_shape;
  SecondPass pass;
  struct Asked {
    SimTime time;
    uint64_t records = 0;
  };
  std::vector<Asked> asked;
  for (const SimTime moment : at) asked.push_back({moment, 0});
  double peak_percent = 0;
  Asked peak;
  while (true) {
    Record record;
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    last = std::max(last, record.time);
    for (Asked& moment : asked) {
      if (record.time <= moment.time) moment.records = reader->records();
    }
    pods.Add(record, cluster);
    figures.Add(record, pods);
    if (record.kind == RecordKind::kPodArrived) {
      ++arrivals;
      const int64_t milli = cluster.pod_shape(record.pod).wanted_gpu_milli();
      requested_milli += std::min(milli, std::numeric_limits<int64_t>::max() - requested_milli);
      if (pods_by_shape.size() <= record.detail) pods_by_shape.resize(record.detail + size_t{1});
      ++pods_by_shape[record.detail];
    }
    if (record.kind == RecordKind::kNodeChanged) {
      if (++report.node_changes <= static_cast<int64_t>(kReportedEvents)) {
        report.events.push_back(
            {last, absl::StrCat(cluster.node_spec(record.node).name, " ", NodeEventText(record))});
      }
    }
    const double allocated = figures.allocated_percent();
    if (allocated > peak_percent) {
      peak_percent = allocated;
      peak = {record.time, reader->records()};
    }
    // Never decreases, also where nodes join.
    load =
        std::max(load, std::min(kMostLoadPercent,
                                PercentOf(requested_milli, cluster.totals().gpu_milli_capacity)));
    const double stranded = PercentOf(figures.slices().stranded, figures.slices().slices);
    const auto waiting = static_cast<double>(pods.waiting());
    over_time.Add(last, load, allocated, waiting, stranded);
    if (last == SimTime()) over_load.Add(SimTime(arrivals), load, allocated, waiting, stranded);
  }
  report.partial = !reader->complete();
  report.records = reader->records();
  report.fingerprint = report.partial ? 0 : reader->fingerprint();
  RETURN_IF_ERROR(ReadTenants(reader.get(), &pods));
  report.pods = pods.Table(last, cluster, reader->summaries());
  report.figures = figures.Figures(report.pods);
  report.by_load = last == SimTime() && requested_milli > 0 && report.figures.has_gpus;
  report.series_end = report.by_load ? SimTime(arrivals) : last;
  report.slices = report.figures.has_slices;
  (report.by_load ? over_load : over_time).Take(&report);

  const std::string end_title = absl::StrCat(
      report.partial ? "Where the ledger breaks off, " : "At the end, ", TimeText(last));
  if (asked.empty() && figures.allocated_percent() == 0 && peak_percent > 0) {
    pass.moments.push_back({peak.records, peak.time,
                            absl::StrCat("At ", TimeText(peak.time), ", when most was allocated"),
                            0});
  } else if (asked.empty()) {
    report.maps.push_back(MakeMap(end_title, last, cluster, pods));
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool at_end = asked[i].time >= last;
    pass.moments.push_back({asked[i].records, at_end ? last : asked[i].time,
                            at_end ? end_title : absl::StrCat("At ", TimeText(asked[i].time)), i});
  }
  while (report.maps.size() < pass.moments.size()) {
    report.maps.push_back(ReportMap{"", SimTime(), {}, NodeTable(cluster)});
  }
  std::stable_sort(pass.moments.begin(), pass.moments.end(),
                   [](const auto& a, const auto& b) { return a.records < b.records; });
  if (!report.slices && report.figures.has_gpus) {
    pass.typical_pods =
        TypicalLoadOf(cluster.shapes(), std::move(pods_by_shape), report.scenario_yaml);
  }
  if (!pass.moments.empty() || !pass.typical_pods.empty()) {
    RETURN_IF_ERROR(ReadAgain(open, std::move(pass), &report));
  }
  return report;
}

}  // namespace drasim::view
