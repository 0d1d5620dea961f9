#include "gui/session/overview_builder.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/session/series_builder.h"
#include "gui/view/call_series.h"
#include "gui/view/compare_model.h"
#include "gui/view/scenario_text.h"
#include "gui/view/typical_load.h"
#include "model/status_macros.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_series.h"
#include "sim/record/slice_sampler.h"

namespace drasim::gui {
namespace {

absl::Status Cancelled() { return absl::CancelledError("reading was cancelled"); }

// Shows the records from `first` on to the end.
absl::Status ReadFrom(LedgerSeek* seek, uint64_t first, GoOn go_on,
                      absl::FunctionRef<absl::Status(const Record&)> visit) {
  RETURN_IF_ERROR(AdvanceTo(seek, first, go_on));
  const uint64_t total = seek->index().records;
  while (seek->record() < total) {
    if (seek->record() % kRecordsBetweenQuestions == 0 &&
        !go_on(static_cast<double>(seek->record()) / static_cast<double>(total))) {
      return Cancelled();
    }
    Record record;
    ASSIGN_OR_RETURN(const bool more, seek->Next(&record));
    if (!more) break;
    RETURN_IF_ERROR(visit(record));
  }
  return absl::OkStatus();
}

// `event_blocks`: the blocks that may have changes of nodes.
absl::Status ReadSeries(LedgerSeek* seek, GoOn go_on, uint64_t exact_records, RunOverview* overview,
                        std::vector<size_t>* event_blocks) {
  SeriesBuilder builder(overview);
  uint64_t first = 0;
  uint64_t searched = 0;  // records
  const std::vector<LedgerPlace>& blocks = seek->index().blocks;
  if (overview->records > exact_records) {
    ASSIGN_OR_RETURN(const LedgerSeries series, seek->ReadSeries());
    if (!series.blocks.empty()) {
      builder.AddBlocks(series, 0);
      first = series.blocks.back().first_record + series.blocks.back().records;
    }
    if (series.events_left_out == 0) {
      searched = first;
      for (const SeriesEvent& event : series.events) {
        const auto later = std::upper_bound(
            blocks.begin(), blocks.end(), event.record,
            [](uint64_t record, const LedgerPlace& block) { return record < block.records; });
        const auto block = static_cast<size_t>(later - blocks.begin());
        const bool known = !event_blocks->empty() && event_blocks->back() + 1 >= block;
        if (block > 0 && !known) event_blocks->push_back(block - 1);
      }
    }
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].records < searched) continue;
    if (event_blocks->empty() || event_blocks->back() < b) event_blocks->push_back(b);
  }
  if (first < overview->records) {
    RETURN_IF_ERROR(AdvanceTo(seek, first, go_on));
    const auto layouts = [&](NodeId node, size_t gpu) { return seek->LayoutOf(node, gpu); };
    SliceSampler slices(seek->cluster(), layouts);
    slices.TouchAll();
    RETURN_IF_ERROR(ReadFrom(seek, first, go_on, [&](const Record& record) {
      slices.OnRecord(record);
      builder.AddRecord(
          overview->by_record ? SimTime(static_cast<int64_t>(seek->record())) : record.time,
          seek->live(), slices.Sample(seek->cluster(), seek->live(), layouts));
      return absl::OkStatus();
    }));
  }
  HoldSeries(std::max(overview->end, builder.latest()), overview);
  return absl::OkStatus();
}

class ArchiveBuilder {
  static constexpr uint64_t kNoPodNumber = std::numeric_limits<uint32_t>::max();

 public:
  explicit ArchiveBuilder(LedgerSeek* seek)
      : seek_(*seek),
        archive_(std::make_shared<view::PodArchive>(view::PodTexts::Of(seek->cluster()))),
        arrived_(static_cast<uint64_t>(seek->live().counter(RunCounter::kPodsArrived))) {}

  // The rows of the ledger's frames, then pods of which only records tell: in a partial ledger the
  // last ones. `seek` stands at the end.
  absl::Status Read(GoOn go_on) {
    const uint64_t ended = EndedPods(seek_.live());
    // The counts come from an untrusted file: a lie must not cost memory.
    constexpr uint64_t kMostReserved = uint64_t{1} << 21;
    archive_->Reserve(static_cast<size_t>(std::min({ended, seek_.index().records, kMostReserved})));
    const size_t frames = seek_.index().pods.size();
    for (size_t f = 0; f < frames; ++f) {
      if (!go_on(static_cast<double>(f) / static_cast<double>(frames))) return Cancelled();
      const absl::StatusOr<std::vector<EndedPodRow>> rows = seek_.ReadPods(f);
      if (!rows.ok()) {
        // The last frame of an interrupted run may be torn.
        if (!seek_.index().complete && f + 1 == frames) break;
        return rows.status();
      }
      for (const EndedPodRow& row : *rows) RETURN_IF_ERROR(Add(row));
    }
    if (archive_->size() >= ended) return absl::OkStatus();
    const std::vector<LedgerPlace>& keyframes = seek_.index().keyframes;
    size_t k = keyframes.size();
    for (; k > 0; --k) {
      RETURN_IF_ERROR(seek_.ToRecord(keyframes[k - 1].records));
      if (EndedPods(seek_.live()) <= archive_->size()) break;
    }
    uint64_t passed = 0;
    bool counted = false;
    return ReadFrom(&seek_, k == 0 ? 0 : keyframes[k - 1].records, go_on, [&](const Record&) {
      if (!counted) passed = EndedPods(seek_.live()) - (seek_.live().ended().has_value() ? 1 : 0);
      counted = true;
      if (!seek_.live().ended().has_value()) return absl::OkStatus();
      return ++passed > archive_->size() ? Add(*seek_.live().ended()) : absl::OkStatus();
    });
  }

  uint32_t InternTenant(absl::string_view name) { return archive_->InternTenant(name); }
  std::shared_ptr<view::PodArchive> archive() const { return archive_; }

 private:
  absl::Status Damaged() const {
    return absl::DataLossError(
        absl::StrCat(seek_.reader().path(), ": damaged: rows of pods contradict the records"));
  }

  absl::Status Add(const EndedPodRow& ended) {
    view::PodRow row;
    static_cast<PodCourse&>(row) = ended;
    row.arrival = ended.arrival;
    row.shape = ended.shape;
    row.tenant = InternTenant(ended.tenant);
    return Add(row, ended.number, ended.end, ended.end_kind, ended.name);
  }

  absl::Status Add(const EndedPod& ended) {
    const ClusterState& cluster = seek_.cluster();
    view::PodRow row;
    static_cast<PodCourse&>(row) = ended.history;
    row.arrival = cluster.pod_arrival(ended.pod);
    row.shape = cluster.pod_shape_id(ended.pod).value();
    row.tenant = InternTenant(seek_.TenantOf(ended.pod));
    return Add(row, seek_.NumberOf(ended.pod), ended.end, ended.kind, cluster.pod_name(ended.pod));
  }

  absl::Status Add(view::PodRow row, uint64_t number, SimTime end, RecordKind kind,
                   absl::string_view name) {
    switch (kind) {
      case RecordKind::kPodFinished:
        row.phase = PodPhase::kSucceeded;
        break;
      case RecordKind::kPodDropped:
        row.phase = PodPhase::kDropped;
        break;
      case RecordKind::kPodFailed:
      case RecordKind::kPodRejected:
        row.phase = PodPhase::kFailed;
        break;
      case RecordKind::kPodDeleted:
        row.phase = PodPhase::kDeleted;
        break;
      default:
        return Damaged();
    }
    const SummaryId failure = row.last_failure;
    // Every pod has a record of its arrival.
    if (number >= std::min(arrived_, seek_.index().records) || number >= kNoPodNumber ||
        archive_->Find(number).has_value() || row.shape >= archive_->texts().wants.size() ||
        (failure.valid() && failure.value() >= seek_.summaries().size())) {
      return Damaged();
    }
    row.number = static_cast<uint32_t>(number);
    row.ended = end;
    archive_->Append(row, name, seek_.summaries());
    return absl::OkStatus();
  }

  LedgerSeek& seek_;
  std::shared_ptr<view::PodArchive> archive_;
  uint64_t arrived_;
};

// Calls so far of each client of the API server: "calls:scheduler".
absl::Status AddCalls(LedgerSeek* seek, RunOverview* overview) {
  ASSIGN_OR_RETURN(const std::vector<CallsSample> samples, seek->ReadCalls());
  for (view::ClientSeries& client : view::CallsByClient(samples)) {
    overview->series.push_back({absl::StrCat("calls:", client.client), std::move(client.calls)});
  }
  return absl::OkStatus();
}

void ReadHeader(const LedgerSeek& seek, RunOverview* overview) {
  const LedgerReader& reader = seek.reader();
  const ClusterState& cluster = seek.cluster();
  overview->scenario_yaml = reader.header().scenario_yaml();
  overview->drasim_version = reader.header().drasim_version();
  overview->scenario_outline = view::ScenarioOutline(overview->scenario_yaml);
  overview->name = view::ScenarioValue(overview->scenario_outline, "name");
  overview->policy = view::PolicyText(overview->scenario_outline);
  overview->partial = !seek.index().complete;
  overview->records = seek.index().records;
  overview->by_record = seek.index().end == SimTime();
  overview->end =
      overview->by_record ? SimTime(static_cast<int64_t>(overview->records)) : seek.index().end;
  DescribeNodes(cluster, overview);
}

}  // namespace

uint32_t RunBasis::TenantOf(uint32_t number) const {
  // Asked for every pod of every snapshot.
  if (ended->texts().tenants.size() == 1) return 0;
  const std::optional<size_t> row = ended->Find(number);
  if (row.has_value()) return ended->row(*row).tenant;
  const auto found = tenants_of_others.find(number);
  return found == tenants_of_others.end() ? 0 : found->second;
}

absl::Status AdvanceTo(LedgerSeek* seek, uint64_t records, GoOn go_on) {
  // First to the keyframe, so that no later step jumps.
  const std::vector<LedgerPlace>& keyframes = seek->index().keyframes;
  const auto later =
      std::upper_bound(keyframes.begin(), keyframes.end(), records,
                       [](uint64_t wanted, const LedgerPlace& k) { return wanted < k.records; });
  const uint64_t keyframe = later == keyframes.begin() ? 0 : std::prev(later)->records;
  if (seek->record() > records || seek->record() < keyframe) {
    RETURN_IF_ERROR(seek->ToRecord(keyframe));
  }
  const uint64_t begin = seek->record();
  while (seek->record() < records) {
    const uint64_t before = seek->record();
    if (!go_on(static_cast<double>(before - begin) / static_cast<double>(records - begin))) {
      return Cancelled();
    }
    RETURN_IF_ERROR(seek->ToRecord(std::min(records, before + kRecordsBetweenQuestions)));
    if (seek->record() == before) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const RunBasis>> ReadBasis(LedgerSeek* seek, GoOn go_on,
                                                          RunOverview* overview,
                                                          uint64_t exact_records) {
  // The shares of the steps in the whole.
  const auto series_part = [&](double share) { return go_on(share / 2); };
  const auto pods_part = [&](double share) { return go_on((1 + share) / 2); };
  auto basis = std::make_shared<RunBasis>();
  ReadHeader(*seek, overview);
  basis->by_record = overview->by_record;
  basis->end = overview->end;
  RETURN_IF_ERROR(ReadSeries(seek, series_part, exact_records, overview, &basis->event_blocks));

  RETURN_IF_ERROR(AdvanceTo(seek, overview->records, series_part));
  // Reads the frame of the end.
  Record none;
  const absl::StatusOr<bool> more = seek->Next(&none);
  if (seek->index().complete) {
    RETURN_IF_ERROR(more.status());
    overview->fingerprint = seek->reader().fingerprint();
  }
  if (seek->record() != overview->records) {
    return absl::DataLossError(absl::StrCat(seek->reader().path(), ": damaged: its index counts ",
                                            overview->records, " records, others are there"));
  }
  if (!more.ok()) RETURN_IF_ERROR(seek->ToRecord(overview->records));
  overview->pods = seek->live().counter(RunCounter::kPodsArrived);
  ArchiveBuilder builder(seek);
  RETURN_IF_ERROR(builder.Read(pods_part));
  RETURN_IF_ERROR(AdvanceTo(seek, overview->records, pods_part));
  std::vector<int64_t> pods_by_shape(seek->cluster().shapes().size());
  for (const LivePod& live : seek->live().pods()) {
    const uint32_t tenant = builder.InternTenant(seek->TenantOf(live.pod));
    if (tenant != 0) {
      basis->tenants_of_others[static_cast<uint32_t>(seek->NumberOf(live.pod))] = tenant;
    }
    ++pods_by_shape[seek->cluster().pod_shape_id(live.pod).value()];
  }
  basis->ended = overview->ended = builder.archive();
  for (size_t p = 0; p < basis->ended->size(); ++p) ++pods_by_shape[basis->ended->row(p).shape];
  basis->pods_at_end = PodsAt(*seek, *basis, seek->time());
  if (!overview->by_record) {
    AddWaits(basis->pods_at_end, overview);
    RETURN_IF_ERROR(AddCalls(seek, overview));
  }
  if (overview->gpus > 0 && !overview->slices) {
    std::vector<TypicalPod> typical = view::TypicalLoadOf(
        seek->cluster().shapes(), std::move(pods_by_shape), overview->scenario_outline);
    if (!typical.empty()) {
      basis->fragmentation = std::make_unique<FragmentationModel>(std::move(typical));
    }
  }
  return std::shared_ptr<const RunBasis>(std::move(basis));
}

view::PodTable PodsAt(const LedgerSeek& seek, const RunBasis& basis, SimTime now) {
  const auto number_of = [&](PodId pod) { return static_cast<uint32_t>(seek.NumberOf(pod)); };
  const auto tenant_of = [&](PodId pod) { return basis.TenantOf(number_of(pod)); };
  return PodsOf(
      {seek.cluster(), seek.live(), seek.summaries(), basis.ended, number_of, tenant_of, now});
}

RunSnapshot SnapshotAt(const SnapshotRequest& request, const LedgerSeek& seek,
                       const RunBasis& basis, SnapshotExtras extras) {
  RunSnapshot snapshot;
  UpdateSnapshotAt(request, seek, basis, std::move(extras), TouchedNodes(), &snapshot);
  return snapshot;
}

void UpdateSnapshotAt(const SnapshotRequest& request, const LedgerSeek& seek, const RunBasis& basis,
                      SnapshotExtras extras, const TouchedNodes& touched, RunSnapshot* snapshot) {
  const auto number_of = [&](PodId pod) { return static_cast<uint32_t>(seek.NumberOf(pod)); };
  const auto tenant_of = [&](PodId pod) { return basis.TenantOf(number_of(pod)); };
  const bool by_record = basis.by_record;
  // Behind the last record of its instant, time has passed.
  const bool exact = request.at.record.has_value() || by_record;
  const SimTime now =
      exact ? seek.time()
            : std::clamp(request.at.time, seek.time(), std::max(seek.time(), basis.end));
  extras.record = seek.record();
  extras.claims = &seek.claims();
  const auto layout_of = [&](NodeId node, size_t gpu) { return seek.LayoutOf(node, gpu); };
  extras.layout_of.emplace(layout_of);
  extras.time = by_record ? SimTime(static_cast<int64_t>(seek.record())) : now;
  UpdateSnapshot(
      request,
      {seek.cluster(), seek.live(), seek.summaries(), basis.ended, number_of, tenant_of, now},
      extras, touched, snapshot);
}

}  // namespace drasim::gui
