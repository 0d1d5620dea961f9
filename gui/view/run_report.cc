#include "gui/view/run_report.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/view/call_series.h"
#include "gui/view/change_series.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/compare_model.h"
#include "gui/view/fragmentation_series.h"
#include "gui/view/inspect_node.h"
#include "gui/view/rate_series.h"
#include "gui/view/typical_load.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_kind.h"
#include "model/fragmentation.h"
#include "model/status_macros.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"

namespace drasim::view {
namespace {

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

ReportMap MakeMap(std::string title, SimTime time, const LedgerReader& reader,
                  const PodFold& pods) {
  const auto layout_of = [&](NodeId node, size_t gpu) { return reader.LayoutOf(node, gpu); };
  return ReportMap{std::move(title), time, MapDataOf(reader.cluster(), pods, layout_of),
                   NodeTable(reader.cluster(), layout_of), ClaimTable()};
}

absl::Status ReadAgain(const LedgerOpener& open, SecondPass pass, RunReport* report) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, open());
  const ClusterState& cluster = reader->cluster();
  PodFold pods;
  const bool any_typical = !pass.typical_pods.empty();
  const FragmentationModel model(std::move(pass.typical_pods));
  std::optional<FragmentationSeries> fragmentation;
  if (any_typical) {
    fragmentation.emplace(&model, cluster, report->series_end);
  }
  size_t next = 0;
  int64_t arrivals = 0;
  SimTime last;
  const auto make_maps = [&] {
    for (; next < pass.moments.size() && pass.moments[next].records == reader->records(); ++next) {
      SecondPass::Moment& moment = pass.moments[next];
      report->maps[moment.place] = MakeMap(std::move(moment.title), moment.time, *reader, pods);
    }
  };
  make_maps();
  LedgerCursor all;
  // A ledger that grows meanwhile is read as far as the first time.
  all.records = report->records;
  const absl::StatusOr<SimTime> end = ReadUpTo(reader.get(), all, [&](const Record& record) {
    pods.Add(record, cluster);
    last = std::max(last, record.time);
    if (record.kind == RecordKind::kPodArrived) {
      ++arrivals;
      pods.SetTenant(record.pod, reader->TenantOf(record.pod));
    }
    const SimTime now = report->by_load ? SimTime(arrivals) : last;
    if (fragmentation.has_value()) fragmentation->Add(record, now, cluster);
    make_maps();
  });
  RETURN_IF_ERROR(end.status());
  if (fragmentation.has_value()) report->fragmentation = fragmentation->Take();
  return absl::OkStatus();
}

// Longer ledgers get waiting pods by block.
constexpr uint64_t kExactRecords = 1 << 16;
constexpr size_t kMostShownClients = 8;
constexpr size_t kCallBuckets = 130;

constexpr struct {
  WaitKind kind;
  absl::string_view metric;
} kVerdicts[] = {{WaitKind::kUntried, "waiting_untried"},
                 {WaitKind::kNoRoom, "waiting_no_room"},
                 {WaitKind::kDriver, "waiting_driver"}};

// Waiting pods by kind of wait: at every record, or by the blocks of a long ledger. Empty if the
// ledger's series lack them.
absl::StatusOr<std::vector<ReportSeries>> ReadVerdicts(LedgerSeek* seek, SimTime end) {
  std::vector<ReportSeries> verdicts;
  if (seek->index().records <= kExactRecords) {
    std::vector<ChangeSeries> changes(std::size(kVerdicts));
    RETURN_IF_ERROR(seek->ToRecord(0));
    SimTime last;
    while (true) {
      Record record;
      ASSIGN_OR_RETURN(const bool more, seek->Next(&record));
      if (!more) break;
      last = std::max(last, record.time);
      for (size_t v = 0; v < changes.size(); ++v) {
        changes[v].Add(last, static_cast<double>(seek->live().waiting(kVerdicts[v].kind)));
      }
    }
    for (size_t v = 0; v < changes.size(); ++v) {
      verdicts.push_back({std::string(WaitKindName(kVerdicts[v].kind)), changes[v].Take(end)});
    }
    return verdicts;
  }
  ASSIGN_OR_RETURN(const LedgerSeries series, seek->ReadSeries());
  for (const auto& verdict : kVerdicts) {
    const auto name = std::find(series.names.begin(), series.names.end(), verdict.metric);
    if (name == series.names.end() || series.blocks.empty()) return std::vector<ReportSeries>();
    const auto& points = series.points[static_cast<size_t>(name - series.names.begin())];
    ReportSeries& added = verdicts.emplace_back();
    added.name = std::string(WaitKindName(verdict.kind));
    SimTime latest;  // a damaged ledger may go back
    for (size_t b = 0; b < series.blocks.size(); ++b) {
      const SimTime begin = std::max(series.blocks[b].begin, latest);
      latest = std::max(series.blocks[b].end, begin);
      SampleSummary summary;
      summary.first = static_cast<double>(points[b].first);
      summary.last = static_cast<double>(points[b].last);
      summary.min = std::min({static_cast<double>(points[b].least), summary.first, summary.last});
      summary.max = std::max({static_cast<double>(points[b].largest), summary.first, summary.last});
      added.data.AppendBlock(begin, latest, summary);
    }
    if (latest < end) added.data.Append(end, added.data.value(added.data.size() - 1));
  }
  return verdicts;
}

// The rates of the busiest clients, and the sum of all others.
absl::StatusOr<std::vector<ReportSeries>> ReadCalls(LedgerSeek* seek, SimTime end) {
  ASSIGN_OR_RETURN(const std::vector<CallsSample> samples, seek->ReadCalls());
  std::vector<ClientSeries> clients = CallsByClient(samples);
  const auto total = [](const ClientSeries& client) {
    return client.calls.value(client.calls.size() - 1);
  };
  clients.erase(std::remove_if(clients.begin(), clients.end(),
                               [&](const ClientSeries& client) { return total(client) <= 0; }),
                clients.end());
  std::stable_sort(
      clients.begin(), clients.end(),
      [&](const ClientSeries& a, const ClientSeries& b) { return total(a) > total(b); });
  std::vector<ReportSeries> calls;
  const RateBuckets buckets = BucketsFor(SimTime(), std::max(end, SimTime(1)), kCallBuckets);
  std::vector<Pyramid> others;
  for (size_t c = 0; c < clients.size(); ++c) {
    Pyramid rates = RateSeries(clients[c].calls, buckets, SimDuration::Seconds(1));
    if (c < kMostShownClients) {
      calls.push_back({std::move(clients[c].client), std::move(rates)});
    } else {
      others.push_back(std::move(rates));
    }
  }
  if (others.empty()) return calls;
  std::vector<SeriesTerm> terms;
  for (const Pyramid& rates : others) terms.push_back({&rates, 1});
  calls.push_back({absl::StrCat(others.size(), " others"), WeightedSum(0, terms)});
  return calls;
}

// Adds the verdicts, API calls and claims, for which a LedgerSeek is needed.
absl::Status ReadFrames(const LedgerOpener& open, RunReport* report) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Start(open()));
  if (!report->by_load) {
    ASSIGN_OR_RETURN(report->verdicts, ReadVerdicts(seek.get(), report->series_end));
  }
  if (seek->index().claims.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(report->calls, ReadCalls(seek.get(), report->series_end));
  for (ReportMap& map : report->maps) {
    RETURN_IF_ERROR(seek->ToTime(map.time));
    map.claims = ClaimTable(seek->claims(), seek->cluster(), map.time);
  }
  return absl::OkStatus();
}

}  // namespace

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
  const auto layout_of = [&](NodeId node, size_t gpu) { return reader->LayoutOf(node, gpu); };
  FigureFold figures(&cluster, layout_of);
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
      pods.SetTenant(record.pod, reader->TenantOf(record.pod));
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
    report.maps.push_back(MakeMap(end_title, last, *reader, pods));
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool at_end = asked[i].time >= last;
    pass.moments.push_back({asked[i].records, at_end ? last : asked[i].time,
                            at_end ? end_title : absl::StrCat("At ", TimeText(asked[i].time)), i});
  }
  while (report.maps.size() < pass.moments.size()) {
    report.maps.push_back(ReportMap{"", SimTime(), {}, NodeTable(cluster), ClaimTable()});
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
  const absl::Status frames = ReadFrames(open, &report);
  if (!frames.ok() && !report.partial) return frames;
  return report;
}

}  // namespace drasim::view
