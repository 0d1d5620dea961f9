// Sessions beside readers that begin at record 0: fills, replays, static MIG, repartitioning and
// DRA, at random instants in any order.
#include "gui/session/run_session.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "gui/session/fragmentation_pass.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/claim_table.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/ledger_cursor.h"
#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "gui/view/node_table.h"
#include "gui/view/pod_table.h"
#include "gui/view/pyramid.h"
#include "gui/view/run_report.h"
#include "gui/view/tenant_table.h"
#include "gui/view/wait_kind.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"
#include "model/record.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_claims.h"
#include "sim/record/live_state.h"
#include "tests/gui/session/golden_ledger.h"
#include "tests/gui/view/inspect_ledger.h"
#include "tests/gui/view/table_checks.h"
#include "tests/sim/record/claim_script.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/soak.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace run_session_test {

using gui::Inspection;
using gui::InspectRequest;
using gui::ObjectKind;
using gui::RunOverview;
using gui::RunSession;
using gui::RunSnapshot;
using gui::SnapshotRequest;
using view::MapSlot;
using view::PodRow;
using view::PodTable;

// Folds over a reader from record 0.
class PlainRun {
 public:
  explicit PlainRun(const std::string& path)
      : reader_(LedgerReader::Open(path).value()),
        live_(reader_->cluster(), &reader_->summaries()) {
    since_.resize(cluster().node_count());
  }

  bool Next() {
    Record record;
    if (!reader_->Next(&record).value()) return false;
    live_.OnRecord(record, cluster());
    pods_.Add(record, cluster());
    if (record.kind == RecordKind::kPodArrived) {
      pods_.SetTenant(record.pod, reader_->TenantOf(record.pod));
    }
    last_ = record;
    return true;
  }
  void ToRecord(uint64_t records) {
    while (reader_->records() < records && Next()) {
      const bool joins = last_.kind == RecordKind::kNodeChanged &&
                         last_.detail == static_cast<uint32_t>(NodeChangeKind::kAvailable);
      if (joins) since_[last_.node.value()] = last_.time;
    }
  }

  const ClusterState& cluster() const { return reader_->cluster(); }
  const LiveState& live() const { return live_; }
  const LedgerReader& reader() const { return *reader_; }
  const Record& last() const { return last_; }
  const view::PodFold& pods() const { return pods_; }
  const std::vector<SimTime>& since() const { return since_; }
  PodTable Table(SimTime now) const { return pods_.Table(now, cluster(), reader_->summaries()); }

 private:
  std::unique_ptr<LedgerReader> reader_;
  LiveState live_;
  view::PodFold pods_;
  Record last_;
  std::vector<SimTime> since_;
};

std::vector<LoggedClaimChange> AllClaimChanges(const std::string& path) {
  const std::unique_ptr<LedgerSeek> seek = LedgerSeek::Open(path).value();
  std::vector<LoggedClaimChange> changes;
  for (size_t i = 0; i < seek->index().claims.size(); ++i) {
    const std::vector<LoggedClaimChange> frame = seek->ReadClaimChanges(i).value();
    changes.insert(changes.end(), frame.begin(), frame.end());
  }
  return changes;
}

std::vector<Record> AllRecords(const std::string& path) {
  std::vector<Record> records;
  PlainRun run(path);
  while (run.Next()) records.push_back(run.last());
  return records;
}

// The contents that a snapshot must have.
struct Wanted {
  SnapshotRequest request;
  uint64_t record = 0;
  SimTime time;
  PodTable pods;
  view::ClusterMapData map;
  std::optional<view::NodeTable> nodes;
  LiveTotals totals;
  std::vector<int64_t> counters;
  int64_t waiting = 0;
  std::map<std::string, int64_t> verdicts;  // waiting pods by the kind of their last one
  std::map<std::string, int64_t> room;      // by profile
  std::map<std::string, int64_t> waits;     // of requests for MIG, by profile
  std::vector<SimTime> since;               // by node
  std::optional<view::ClaimTable> claims;
};

void Fill(const PlainRun& run, SimTime now, Wanted* wanted) {
  wanted->pods = run.Table(now);
  const auto layout_of = [&](NodeId node, size_t gpu) { return run.reader().LayoutOf(node, gpu); };
  wanted->map = view::MapDataOf(run.cluster(), run.pods(), layout_of);
  wanted->nodes.emplace(run.cluster(), layout_of);
  wanted->totals = run.live().totals();
  for (size_t c = 0; c < kRunCounters; ++c) {
    wanted->counters.push_back(run.live().counter(static_cast<RunCounter>(c)));
  }
  wanted->waiting = run.pods().waiting();
  for (const WaitKind kind : {WaitKind::kUntried, WaitKind::kNoRoom, WaitKind::kDriver}) {
    const int64_t pods = run.live().waiting(kind);
    if (pods > 0) wanted->verdicts[std::string(view::WaitKindName(kind))] = pods;
  }
  for (size_t n = 0; n < run.cluster().node_count(); ++n) {
    for (const view::ProfileRoom& room : view::RoomByProfile(run.cluster(), NodeId(n), layout_of)) {
      wanted->room[room.profile] += room.more;
    }
  }
  for (size_t p = 0; p < run.pods().rows().size(); ++p) {
    if (run.cluster().pod_phase(PodId(p)) != PodPhase::kPending) continue;
    const PodShape& shape = run.cluster().pod_shape(PodId(p));
    std::vector<std::string> profiles;
    for (const auto& [profile, count] : shape.request.mig) profiles.push_back(profile);
    for (const ClaimEntry& claim : shape.claims) profiles.push_back(claim.mig_profile);
    std::sort(profiles.begin(), profiles.end());
    profiles.erase(std::unique(profiles.begin(), profiles.end()), profiles.end());
    for (const std::string& profile : profiles) {
      if (!profile.empty()) ++wanted->waits[profile];
    }
  }
  wanted->since = run.since();
}

void ExpectSamePods(const PodTable& pods, const PodTable& wanted) {
  ASSERT_EQ(pods.rows(), wanted.rows());
  EXPECT_EQ(pods.now(), wanted.now());
  for (size_t number = 0; number < wanted.rows(); ++number) {
    const std::optional<size_t> found = pods.FindNumber(number);
    ASSERT_TRUE(found.has_value()) << number;
    PodRow row = pods.row(*found);
    PodRow other = wanted.row(number);
    ASSERT_EQ(pods.name(*found), wanted.name(number));
    ASSERT_EQ(pods.tenant(*found), wanted.tenant(number)) << wanted.name(number);
    ASSERT_EQ(pods.verdict(*found), wanted.verdict(number)) << wanted.name(number);
    ASSERT_EQ(pods.wants(*found), wanted.wants(number));
    ASSERT_EQ(pods.node(*found), wanted.node(number));
    ASSERT_EQ(pods.WaitOf(*found), wanted.WaitOf(number)) << wanted.name(number);
    // Numbers of texts depend on the table.
    row.tenant = other.tenant = 0;
    row.verdict = other.verdict = 0;
    ASSERT_TRUE(row == other) << wanted.name(number);
  }
  EXPECT_FALSE(pods.FindNumber(wanted.rows()).has_value());
}

void ExpectSameMap(const view::ClusterMapData& map, const view::ClusterMapData& wanted) {
  ASSERT_EQ(map.nodes.size(), wanted.nodes.size());
  ASSERT_EQ(map.gpus.size(), wanted.gpus.size());
  EXPECT_EQ(map.profiles, wanted.profiles);
  for (size_t n = 0; n < map.nodes.size(); ++n) {
    ASSERT_EQ(map.nodes[n].name, wanted.nodes[n].name);
    ASSERT_EQ(map.nodes[n].model, wanted.nodes[n].model);
    ASSERT_EQ(map.nodes[n].available, wanted.nodes[n].available);
    ASSERT_EQ(map.nodes[n].first_gpu, wanted.nodes[n].first_gpu);
    ASSERT_EQ(map.nodes[n].gpu_count, wanted.nodes[n].gpu_count);
  }
  for (size_t g = 0; g < map.gpus.size(); ++g) {
    const view::MapGpu& gpu = map.gpus[g];
    const view::MapGpu& other = wanted.gpus[g];
    ASSERT_EQ(gpu.units, other.units);
    ASSERT_EQ(gpu.stranded, other.stranded);
    ASSERT_EQ(gpu.held_milli, other.held_milli);
    const absl::Span<const MapSlot> slots = map.SlotsOf(gpu);
    const absl::Span<const MapSlot> others = wanted.SlotsOf(other);
    ASSERT_EQ(slots.size(), others.size());
    for (size_t s = 0; s < slots.size(); ++s) {
      ASSERT_EQ(slots[s].pod, others[s].pod);
      ASSERT_EQ(slots[s].start, others[s].start);
      ASSERT_EQ(slots[s].size, others[s].size);
      ASSERT_EQ(slots[s].profile, others[s].profile);
      ASSERT_EQ(slots[s].since, others[s].since);
      ASSERT_EQ(slots[s].held, others[s].held);
      ASSERT_EQ(map.tenants[slots[s].tenant], wanted.tenants[others[s].tenant]);
    }
  }
}

void ExpectSame(const RunSnapshot& snapshot, const Wanted& wanted) {
  EXPECT_TRUE(snapshot.request == wanted.request);
  ASSERT_EQ(snapshot.record, wanted.record);
  EXPECT_EQ(snapshot.time, wanted.time);
  EXPECT_TRUE(snapshot.totals == wanted.totals);
  EXPECT_EQ(std::vector<int64_t>(snapshot.counters.begin(), snapshot.counters.end()),
            wanted.counters);
  EXPECT_EQ(snapshot.waiting, wanted.waiting);
  ExpectSamePods(snapshot.pods, wanted.pods);
  std::map<std::string, int64_t> verdicts;
  for (size_t pod = 0; pod < snapshot.pods.rows(); ++pod) {
    if (snapshot.pods.row(pod).phase != PodPhase::kPending) continue;
    ++verdicts[std::string(snapshot.pods.short_verdict(pod))];
  }
  EXPECT_EQ(verdicts, wanted.verdicts);
  ExpectSameMap(snapshot.map, wanted.map);
  gui::ExpectSameTables(snapshot.nodes, *wanted.nodes);
  gui::ExpectSameTables(snapshot.claims, *wanted.claims);
  view::SliceCounts slices;
  for (size_t n = 0; n < wanted.nodes->rows(); ++n) {
    slices.Add(wanted.nodes->row(n).slices, +1);
    EXPECT_EQ(snapshot.map.nodes[n].since, wanted.since[n]);
  }
  EXPECT_TRUE(snapshot.slices == slices);
  size_t profiles = 0;
  for (const view::FitRow& row : snapshot.fits) {
    const auto room = wanted.room.find(row.profile);
    if (room == wanted.room.end()) continue;
    ++profiles;
    EXPECT_EQ(row.fits, room->second) << row.profile;
    const auto waits = wanted.waits.find(row.profile);
    EXPECT_EQ(row.waits, waits == wanted.waits.end() ? 0 : waits->second) << row.profile;
  }
  EXPECT_EQ(profiles, wanted.room.size());
  ASSERT_EQ(snapshot.tenants.has_value(), wanted.request.tenants);
  if (!wanted.request.tenants) return;
  const view::TenantTable tenants(wanted.pods);
  ASSERT_EQ(snapshot.tenants->rows(), tenants.rows());
  for (size_t t = 0; t < tenants.rows(); ++t) {
    size_t other = 0;
    while (other + 1 < tenants.rows() && tenants.row(other).name != snapshot.tenants->row(t).name) {
      ++other;
    }
    for (size_t c = 0; c < view::TenantTable::kColumns; ++c) {
      // Sums of hours depend on the order of pods in their last bits.
      if (c == view::TenantTable::kGpuHours) continue;
      EXPECT_EQ(snapshot.tenants->Exact(t, c), tenants.Exact(other, c));
    }
  }
}

class GuiSessionTest : public ::testing::TestWithParam<std::string> {
 protected:
  GuiSessionTest()
      : ledger_(GetParam()),
        records_(AllRecords(ledger_.path())),
        claim_changes_(AllClaimChanges(ledger_.path())) {
    by_record_ = records_.back().time == SimTime();
  }

  // A random place, by record or by time.
  Wanted RandomPlace(Random* random) const {
    Wanted wanted;
    const uint64_t record = random->Below(records_.size() + 1);
    wanted.request.tenants = random->Below(8) == 0;
    if (random->Below(2) == 0) {
      wanted.request.at.record = wanted.record = record;
      wanted.time = record == 0 ? SimTime() : records_[record - 1].time;
      if (by_record_) wanted.time = SimTime(static_cast<int64_t>(record));
    } else if (by_record_) {
      wanted.request.at.time = wanted.time = SimTime(static_cast<int64_t>(record));
      wanted.record = record;
    } else {
      const int64_t of_record = record == 0 ? 0 : records_[record - 1].time.ns();
      wanted.time = SimTime(std::clamp<int64_t>(
          of_record + static_cast<int64_t>(random->Below(3)) - 1, 0, records_.back().time.ns()));
      wanted.request.at.time = wanted.time;
      const auto later =
          std::upper_bound(records_.begin(), records_.end(), wanted.time,
                           [](SimTime time, const Record& r) { return time < r.time; });
      wanted.record = static_cast<uint64_t>(later - records_.begin());
    }
    return wanted;
  }
  // Places by record, with what must be seen there: one pass of a reader from record 0.
  std::vector<Wanted> Places(size_t count, Random* random) const {
    std::vector<Wanted> places;
    for (size_t i = 0; i < count; ++i) places.push_back(RandomPlace(random));
    // A time comes behind all claim changes up to it, a record before those that follow it.
    const auto key = [](const Wanted& place) {
      return std::tuple(place.record, !place.request.at.record.has_value(), place.time);
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](const Wanted& a, const Wanted& b) { return key(a) < key(b); });
    PlainRun run(ledger_.path());
    LiveClaims claims;
    size_t change = 0;
    for (Wanted& place : places) {
      run.ToRecord(place.record);
      Fill(run, by_record_ ? SimTime() : place.time, &place);
      for (; change < claim_changes_.size(); ++change) {
        const LoggedClaimChange& next = claim_changes_[change];
        const bool behind = next.records == place.record && !place.request.at.record.has_value() &&
                            next.change.time <= place.time;
        if (next.records >= place.record && !behind) break;
        claims.Apply(next.change);
      }
      place.claims.emplace(claims, run.cluster(), by_record_ ? SimTime() : place.time);
    }
    return places;
  }

  GoldenLedger ledger_;
  std::vector<Record> records_;
  std::vector<LoggedClaimChange> claim_changes_;
  bool by_record_ = false;
};

TEST_P(GuiSessionTest, SnapshotsAreThoseOfAReaderFromTheStart) {
  constexpr size_t kPlacesAtOnce = 100;  // they are kept in memory
  constexpr uint64_t kBatches = 10;
  size_t claims = 0;
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.folder());
  Random random(1, "places");
  for (uint64_t batch = 0; batch < SoakSeeds(kBatches); ++batch) {
    std::vector<Wanted> places = Places(kPlacesAtOnce, &random);
    random.Shuffle(absl::MakeSpan(places));
    for (const Wanted& place : places) {
      SCOPED_TRACE(absl::StrCat("record ", place.record));
      run->Seek(place.request);
      run->Settle();
      ASSERT_EQ(run->status(), absl::OkStatus());
      const std::shared_ptr<const RunSnapshot> snapshot = run->snapshot();
      ASSERT_NE(snapshot, nullptr);
      ExpectSame(*snapshot, place);
      claims += snapshot->claims.rows();
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(claims > 0, !claim_changes_.empty());
  EXPECT_EQ(claims > 0, GetParam() == "replay_dra_mig");
}

TEST_P(GuiSessionTest, TheOverviewTellsOfTheWholeRun) {
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.path());
  run->Settle();
  ASSERT_EQ(run->status(), absl::OkStatus());
  EXPECT_FALSE(run->busy());
  EXPECT_EQ(run->progress(), 1);
  const std::shared_ptr<const RunOverview> overview = run->overview();
  ASSERT_NE(overview, nullptr);
  EXPECT_EQ(overview->path, ledger_.path());
  EXPECT_EQ(overview->scenario_yaml, ledger_.yaml());
  EXPECT_EQ(overview->fingerprint, ledger_.fingerprint());
  EXPECT_FALSE(overview->partial);
  EXPECT_EQ(overview->by_record, by_record_);
  EXPECT_EQ(overview->records, records_.size());
  EXPECT_EQ(overview->end,
            by_record_ ? SimTime(static_cast<int64_t>(records_.size())) : records_.back().time);
  EXPECT_EQ(overview->file_bytes, ledger_.Bytes().size());
  PlainRun plain(ledger_.path());
  std::vector<size_t> ends;  // pods in the order of their ends
  size_t sample = 0;
  std::vector<gui::RunEvent> events;
  double load = 0;
  while (plain.Next()) {
    ++sample;
    if (plain.live().ended().has_value()) ends.push_back(plain.live().ended()->pod.value());
    const Record& record = plain.last();
    const SimTime time = by_record_ ? SimTime(static_cast<int64_t>(sample)) : record.time;
    if (record.kind == RecordKind::kNodeChanged || record.kind == RecordKind::kDevicesChanged) {
      const bool lasts = record.kind == RecordKind::kNodeChanged &&
                         (record.detail == static_cast<uint32_t>(NodeChangeKind::kUnavailable) ||
                          record.detail == static_cast<uint32_t>(NodeChangeKind::kCordoned));
      events.push_back({{time, sample},
                        plain.cluster().node_spec(record.node).name,
                        view::NodeEventText(record),
                        lasts});
    }
    SliceCounts slices;
    const auto layout_of = [&](NodeId node, size_t gpu) {
      return plain.reader().LayoutOf(node, gpu);
    };
    for (size_t n = 0; n < plain.cluster().node_count(); ++n) {
      slices.Add(view::SlicesOf(plain.cluster(), NodeId(n), layout_of), +1);
    }
    const SeriesValues values = SeriesValuesOf(plain.live(), slices);
    const LiveTotals& totals = plain.live().totals();
    if (totals.gpu_milli_capacity > 0) {
      load = std::max(
          load, 100 * static_cast<double>(plain.live().counter(RunCounter::kGpuArrivedMilli)) /
                    static_cast<double>(totals.gpu_milli_capacity));
    }
    // The last value of an instant.
    if (!by_record_ && sample < records_.size() && records_[sample].time == record.time) continue;
    for (size_t m = 0; m < kSeriesMetrics; ++m) {
      const view::Pyramid* const data = overview->Find(kSeriesNames[m]);
      ASSERT_NE(data, nullptr) << kSeriesNames[m];
      ASSERT_EQ(data->ValueAt(time), static_cast<double>(values[m])) << kSeriesNames[m];
    }
    ASSERT_NEAR(overview->load.ValueAt(time).value_or(-1), load, 1e-9);
  }
  EXPECT_EQ(overview->pods, static_cast<int64_t>(plain.pods().rows().size()));
  EXPECT_EQ(overview->nodes, static_cast<int64_t>(plain.cluster().node_count()));
  EXPECT_EQ(overview->slices, plain.cluster().any_mig());
  EXPECT_EQ(overview->Find("no such metric"), nullptr);
  EXPECT_EQ(overview->Find("wait_p50") == nullptr, by_record_);
  ASSERT_NE(overview->ended, nullptr);
  ASSERT_EQ(overview->ended->size(), ends.size());
  for (size_t e = 0; e < ends.size(); ++e) EXPECT_EQ(overview->ended->row(e).number, ends[e]);
  ASSERT_EQ(overview->events.size(), events.size());
  for (size_t e = 0; e < events.size(); ++e) {
    EXPECT_TRUE(overview->events[e].at == events[e].at);
    EXPECT_EQ(overview->events[e].node, events[e].node);
    EXPECT_EQ(overview->events[e].text, events[e].text);
    EXPECT_EQ(overview->events[e].lasts, events[e].lasts);
  }
  EXPECT_EQ(overview->TimeText(SimTime(1'234)), by_record_ ? "record 1,234" : "00h00m00.000s");
}

TEST_P(GuiSessionTest, TheClockKnowsEveryRecord) {
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.folder());
  EXPECT_EQ(run->clock() == nullptr, run->overview() == nullptr);
  run->Settle();
  const view::RecordClock* const clock = run->clock();
  ASSERT_NE(clock, nullptr);
  ASSERT_EQ(clock->records(), records_.size());
  EXPECT_EQ(clock->TimeOf(0), SimTime());
  Random random(2, "clock");
  for (int i = 0; i < 2000; ++i) {
    const uint64_t record = 1 + random.Below(records_.size());
    if (by_record_) {
      EXPECT_EQ(clock->TimeOf(record), SimTime(static_cast<int64_t>(record)));
      EXPECT_EQ(clock->LastRecordAt(SimTime(static_cast<int64_t>(record))), record);
      continue;
    }
    ASSERT_EQ(clock->TimeOf(record), records_[record - 1].time) << record;
    const SimTime time(records_[record - 1].time.ns() + static_cast<int64_t>(random.Below(3)) - 1);
    const auto later =
        std::upper_bound(records_.begin(), records_.end(), time,
                         [](SimTime wanted, const Record& r) { return wanted < r.time; });
    ASSERT_EQ(clock->LastRecordAt(time), static_cast<uint64_t>(later - records_.begin()));
  }
  EXPECT_EQ(clock->LastRecordAt(SimTime(std::numeric_limits<int64_t>::max())), records_.size());
}

// --- inspections ---

view::LedgerCursor CursorOf(const Wanted& place) {
  view::LedgerCursor cursor;
  cursor.records = place.record;
  cursor.now = place.time;
  return cursor;
}

void ExpectSamePod(const view::PodInspection& pod, const view::PodInspection& wanted, bool times) {
  EXPECT_EQ(pod.pod, wanted.pod);
  EXPECT_EQ(pod.wants, wanted.wants);
  EXPECT_EQ(pod.phase, wanted.phase);
  EXPECT_EQ(pod.attempts_failed, wanted.attempts_failed);
  EXPECT_EQ(pod.times_evicted, wanted.times_evicted);
  EXPECT_EQ(pod.times_taken_back, wanted.times_taken_back);
  EXPECT_EQ(pod.nodes_that_fit, wanted.nodes_that_fit);
  EXPECT_EQ(pod.gpus_with_room, wanted.gpus_with_room);
  ASSERT_EQ(pod.segments.size(), wanted.segments.size());
  for (size_t s = 0; s < wanted.segments.size(); ++s) {
    EXPECT_EQ(pod.segments[s].kind, wanted.segments[s].kind);
    EXPECT_EQ(pod.segments[s].node, wanted.segments[s].node);
    EXPECT_EQ(pod.segments[s].devices, wanted.segments[s].devices);
    if (!times) continue;
    EXPECT_EQ(pod.segments[s].from, wanted.segments[s].from);
    EXPECT_EQ(pod.segments[s].to, wanted.segments[s].to);
  }
  ASSERT_EQ(pod.marks.size(), wanted.marks.size());
  for (size_t m = 0; m < wanted.marks.size(); ++m) {
    EXPECT_EQ(pod.marks[m].kind, wanted.marks[m].kind);
    EXPECT_EQ(pod.marks[m].node, wanted.marks[m].node);
    EXPECT_EQ(pod.marks[m].verdict, wanted.marks[m].verdict);
    if (times) {
      EXPECT_EQ(pod.marks[m].time, wanted.marks[m].time);
    }
  }
  ASSERT_EQ(pod.verdicts.size(), wanted.verdicts.size());
  for (size_t v = 0; v < wanted.verdicts.size(); ++v) {
    EXPECT_EQ(pod.verdicts[v].text, wanted.verdicts[v].text);
    EXPECT_EQ(pod.verdicts[v].times, wanted.verdicts[v].times);
  }
  if (!times) return;
  EXPECT_EQ(pod.arrival, wanted.arrival);
  EXPECT_EQ(pod.waits, wanted.waits);
  EXPECT_EQ(pod.first_start, wanted.first_start);
}

TEST_P(GuiSessionTest, PodsAreInspectedFromTheirArrival) {
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.folder());
  PlainRun whole(ledger_.path());
  whole.ToRecord(records_.size());
  const PodTable pods = whole.Table(SimTime());
  Random random(3, "pods");
  for (uint64_t i = 0; i < SoakSeeds(10); ++i) {
    const Wanted place = RandomPlace(&random);
    const size_t number = random.Below(pods.rows());
    InspectRequest request;
    request.object = {ObjectKind::kPod, std::string(pods.name(number))};
    request.at = place.request.at;
    run->Inspect(request);
    run->Settle();
    ASSERT_EQ(run->status(), absl::OkStatus());
    const std::shared_ptr<const Inspection> result = run->inspection(ObjectKind::kPod);
    ASSERT_NE(result, nullptr);
    EXPECT_TRUE(result->request == request);
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> reader,
                         LedgerReader::Open(ledger_.path()));
    const absl::StatusOr<view::PodInspection> wanted =
        InspectPodFrom(reader.get(), request.object.name, CursorOf(place));
    ASSERT_EQ(result->status.code(), wanted.status().code()) << result->status;
    if (!wanted.ok()) {
      EXPECT_FALSE(result->pod.has_value());
      continue;
    }
    SCOPED_TRACE(absl::StrCat(request.object.name, " at record ", place.record));
    ASSERT_TRUE(result->pod.has_value());
    ExpectSamePod(*result->pod, *wanted, !by_record_);
    EXPECT_EQ(result->pod->tenant, pods.tenant(number));
  }
}

void ExpectSameResidents(const view::NodeInspection& node, const view::NodeInspection& wanted) {
  std::vector<uint32_t> pods;
  std::vector<uint32_t> others;
  for (const view::ResidentPod& pod : node.pods) pods.push_back(pod.pod.value());
  for (const view::ResidentPod& pod : wanted.pods) others.push_back(pod.pod.value());
  std::sort(pods.begin(), pods.end());
  std::sort(others.begin(), others.end());
  EXPECT_EQ(pods, others);
  EXPECT_EQ(node.gpus_idle, wanted.gpus_idle);
  EXPECT_EQ(node.largest_idle_milli, wanted.largest_idle_milli);
  EXPECT_EQ(node.figures.pods, wanted.figures.pods);
  EXPECT_TRUE(node.figures.slices == wanted.figures.slices);
  EXPECT_TRUE(node.room == wanted.room);
}

TEST_P(GuiSessionTest, NodesAreInspectedFromTheKeyframeBeforeTheirWindow) {
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.folder());
  PlainRun start(ledger_.path());
  Random random(4, "nodes");
  for (uint64_t i = 0; i < SoakSeeds(6); ++i) {
    const Wanted place = RandomPlace(&random);
    Wanted begin = RandomPlace(&random);
    Wanted end = RandomPlace(&random);
    if (end.time < begin.time) std::swap(begin, end);
    InspectRequest request;
    request.object.kind = ObjectKind::kNode;
    const NodeId id(random.Below(start.cluster().node_count()));
    request.object.name = start.cluster().node_spec(id).name;
    request.at = place.request.at;
    const bool windowed = i % 2 == 1 && begin.time < end.time;
    if (windowed) {
      request.begin = begin.time;
      request.end = end.time;
    }
    run->Inspect(request);
    run->Settle();
    ASSERT_EQ(run->status(), absl::OkStatus());
    const std::shared_ptr<const Inspection> result = run->inspection(ObjectKind::kNode);
    ASSERT_TRUE(result != nullptr && result->node.has_value());
    const view::NodeInspection& node = *result->node;
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> reader,
                         LedgerReader::Open(ledger_.path()));
    ASSERT_OK_AND_ASSIGN(const view::NodeInspection wanted,
                         InspectNodeFrom(reader.get(), request.object.name, CursorOf(place)));
    SCOPED_TRACE(absl::StrCat(request.object.name, " at record ", place.record));
    ExpectSameResidents(node, wanted);
    if (by_record_) continue;
    if (!windowed) {
      ASSERT_EQ(node.slots.size(), wanted.slots.size());
      for (size_t s = 0; s < node.slots.size(); ++s) {
        EXPECT_TRUE(node.slots[s].part == wanted.slots[s].part);
        EXPECT_EQ(node.slots[s].pod, wanted.slots[s].pod);
        EXPECT_EQ(node.slots[s].offset, wanted.slots[s].offset);
        EXPECT_EQ(node.slots[s].from, wanted.slots[s].from);
        EXPECT_EQ(node.slots[s].to, wanted.slots[s].to);
      }
      EXPECT_EQ(node.events.size(), wanted.events.size());
      continue;
    }
    // All slots of the window, whose ends are exact; begins are so behind the window's.
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> to_end,
                         LedgerReader::Open(ledger_.path()));
    const auto later =
        std::upper_bound(records_.begin(), records_.end(), request.end,
                         [](SimTime time, const Record& r) { return time < r.time; });
    view::LedgerCursor cursor;
    cursor.records = static_cast<uint64_t>(later - records_.begin());
    cursor.now = request.end;
    ASSERT_OK_AND_ASSIGN(const view::NodeInspection window,
                         InspectNodeFrom(to_end.get(), request.object.name, cursor));
    using Slot = std::tuple<uint32_t, uint8_t, int32_t, int64_t, bool, int64_t>;
    const auto slots_of = [&](const view::NodeInspection& inspection) {
      std::vector<Slot> slots;
      for (const view::NodeSlot& slot : inspection.slots) {
        if (!slot.open && slot.to < request.begin) continue;
        const int64_t from = std::max(slot.from, request.begin).ns();
        slots.emplace_back(slot.pod.value(), slot.part.device, slot.part.start, slot.to.ns(),
                           slot.open, from == request.begin.ns() ? -1 : from);
      }
      std::sort(slots.begin(), slots.end());
      return slots;
    };
    EXPECT_TRUE(slots_of(node) == slots_of(window));
    // The window is kept while the cursor moves.
    request.at = {records_.back().time, std::nullopt};
    run->Inspect(request);
    run->Settle();
    const std::shared_ptr<const Inspection> moved = run->inspection(ObjectKind::kNode);
    ASSERT_TRUE(moved->node.has_value());
    EXPECT_EQ(moved->node->now, records_.back().time);
    EXPECT_TRUE(slots_of(*moved->node) == slots_of(window));
  }
}

TEST_P(GuiSessionTest, TenantsAreInspectedOnTheirOwnTable) {
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger_.folder());
  Random random(5, "tenants");
  const std::vector<Wanted> places = Places(10, &random);
  for (const Wanted& place : places) {
    const view::TenantTable tenants(place.pods);
    if (tenants.rows() == 0) continue;
    InspectRequest request;
    request.object = {ObjectKind::kTenant, tenants.row(random.Below(tenants.rows())).name};
    request.at = place.request.at;
    run->Inspect(request);
    run->Settle();
    const std::shared_ptr<const Inspection> result = run->inspection(ObjectKind::kTenant);
    ASSERT_TRUE(result != nullptr && result->tenant.has_value());
    ASSERT_OK_AND_ASSIGN(const view::TenantInspection wanted,
                         view::InspectTenant(place.pods, request.object.name));
    EXPECT_EQ(result->tenant->figures.pods, wanted.figures.pods);
    EXPECT_EQ(result->tenant->figures.waits.p95, wanted.figures.waits.p95);
    ASSERT_EQ(result->tenant->longest_waits.size(), wanted.longest_waits.size());
    for (size_t w = 0; w < wanted.longest_waits.size(); ++w) {
      EXPECT_EQ(result->tenant->longest_waits[w].pod, wanted.longest_waits[w].pod);
      EXPECT_EQ(result->tenant->longest_waits[w].waits, wanted.longest_waits[w].waits);
    }
  }
}

// --- partial ledgers ---

TEST_P(GuiSessionTest, LedgersThatBreakOff) {
  const std::string bytes = ledger_.Bytes();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> whole, LedgerSeek::FromMemory(bytes));
  const size_t header = whole->index().blocks[0].offset;
  Random random(6, "cuts");
  for (uint64_t i = 0; i < SoakSeeds(4); ++i) {
    const TempDir dir;
    const size_t cut = header + random.Below(bytes.size() - header);
    dir.Write("ledger.partial", absl::string_view(bytes).substr(0, cut));
    PlainRun plain(dir.path());
    plain.ToRecord(records_.size());
    const std::unique_ptr<RunSession> run = RunSession::Open(dir.path());
    SnapshotRequest request;
    request.at.record = plain.reader().records();
    run->Seek(request);
    run->Settle();
    ASSERT_EQ(run->status(), absl::OkStatus()) << cut;
    EXPECT_TRUE(run->overview()->partial);
    EXPECT_EQ(run->overview()->fingerprint, 0u);
    ASSERT_EQ(run->overview()->records, plain.reader().records());
    const std::shared_ptr<const RunSnapshot> end = run->snapshot();
    ASSERT_NE(end, nullptr);
    ExpectSamePods(end->pods, plain.Table(plain.last().time));
    PlainRun half(dir.path());
    half.ToRecord(*request.at.record / 2);
    request.at.record = half.reader().records();
    run->Seek(request);
    run->Settle();
    ExpectSamePods(run->snapshot()->pods, half.Table(half.last().time));
    if (HasFailure()) return;
  }
}

TEST_P(GuiSessionTest, DamageIsAnErrorAndNoCrash) {
  const std::string bytes = ledger_.Bytes();
  Random random(7, "damage");
  for (uint64_t i = 0; i < SoakSeeds(12); ++i) {
    std::string damaged = bytes;
    for (uint64_t k = 0; k <= random.Below(3); ++k) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    }
    const TempDir dir;
    dir.Write("ledger", damaged);
    const std::unique_ptr<RunSession> run = RunSession::Open(dir.path());
    SnapshotRequest request;
    request.at.record = random.Below(records_.size());
    run->Seek(request);
    InspectRequest inspect;
    inspect.object = {ObjectKind::kNode, "node-000001"};
    inspect.at = request.at;
    run->Inspect(inspect);
    run->Settle();
    const absl::Status status = run->status();
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsInvalidArgument(status))
        << status;
    EXPECT_TRUE(!status.ok() || run->snapshot() != nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GuiSessionTest,
                         ::testing::Values("artifact_fill_fgd", "replay_easy_node_events",
                                           "mig_nos_backlog", "mig_static_repartition",
                                           "replay_dra_mig"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

// --- requests ---

TEST(GuiSessionRequestTest, ErrorsHaveTheirCodes) {
  const auto status_of = [](const std::string& path) {
    std::atomic<int> changes = 0;
    const std::unique_ptr<RunSession> run = RunSession::Open(path, [&] { ++changes; });
    run->Seek({});
    run->Settle();
    EXPECT_FALSE(run->busy());
    EXPECT_EQ(run->overview(), nullptr);
    EXPECT_EQ(run->snapshot(), nullptr);
    EXPECT_EQ(run->clock(), nullptr);
    return run->status();
  };
  const TempDir dir;
  EXPECT_EQ(status_of(dir.PathOf("nothing")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status_of(dir.path()).code(), absl::StatusCode::kNotFound);
  dir.Write("foreign", "a text of another kind, which is no ledger at all");
  EXPECT_EQ(status_of(dir.PathOf("foreign")).code(), absl::StatusCode::kInvalidArgument);
  dir.Write("empty", "");
  EXPECT_EQ(status_of(dir.PathOf("empty")).code(), absl::StatusCode::kInvalidArgument);
  const GoldenLedger ledger("artifact_fill_fgd");
  const std::string bytes = ledger.Bytes();
  dir.Write("torn", bytes.substr(0, 40));
  EXPECT_EQ(status_of(dir.PathOf("torn")).code(), absl::StatusCode::kDataLoss);
  proto::LedgerHeader header;
  header.set_version(kLedgerVersion + 1);
  const std::string frame = MakeFrame(FrameType::kHeader, header.SerializeAsString());
  dir.Write("newer", absl::StrCat(kLedgerMagic, frame));
  const absl::Status newer = status_of(dir.PathOf("newer"));
  EXPECT_EQ(newer.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(newer.message().find("this drasim reads format"), absl::string_view::npos);
}

TEST(GuiSessionRequestTest, EndsWhileItIsBusy) {
  const GoldenLedger ledger("replay_easy_node_events");
  for (int i = 0; i < 30; ++i) {
    std::atomic<int> changes = 0;
    std::unique_ptr<RunSession> run = RunSession::Open(ledger.folder(), [&] { ++changes; });
    for (int k = 0; k < i; ++k) {
      SnapshotRequest request;
      request.at.record = static_cast<uint64_t>(k * 37);
      run->Seek(request);
      InspectRequest inspect;
      inspect.object = {ObjectKind::kNode, "node-000002"};
      inspect.at = request.at;
      inspect.end = SimTime(k * kSecondNs);
      run->Inspect(inspect);
      if (i % 3 == 0 && k == i / 2) run->Settle();
    }
    if (i % 5 == 0) run->Settle();
    run.reset();
  }
}

TEST(GuiSessionRequestTest, TheNewestRequestWins) {
  const GoldenLedger ledger("replay_easy_node_events");
  std::atomic<int> changes = 0;
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger.folder(), [&] { ++changes; });
  for (uint64_t record = 0; record < 500; record += 7) {
    SnapshotRequest seek;
    seek.at.record = record;
    run->Seek(seek);
    InspectRequest inspect;
    inspect.object = {ObjectKind::kNode, absl::StrCat("node-00000", record % 7 + 1)};
    inspect.at = seek.at;
    run->Inspect(inspect);
    inspect.object.kind = ObjectKind::kPod;
    run->Inspect(inspect);
  }
  run->Settle();
  ASSERT_EQ(run->status(), absl::OkStatus());
  EXPECT_EQ(run->snapshot()->record, 497u);
  EXPECT_EQ(run->inspection(ObjectKind::kNode)->request.at.record, 497u);
  EXPECT_EQ(run->inspection(ObjectKind::kPod)->request.at.record, 497u);
  EXPECT_EQ(run->inspection(ObjectKind::kPod)->status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(run->inspection(ObjectKind::kTenant), nullptr);
  EXPECT_GE(changes, 4);
  // The same again is free, and an empty name ends an inspection.
  const std::shared_ptr<const RunSnapshot> before = run->snapshot();
  const int changes_before = changes;
  run->Seek(before->request);
  run->Settle();
  EXPECT_EQ(run->snapshot(), before);
  EXPECT_EQ(changes, changes_before);
  InspectRequest none;
  none.object.kind = ObjectKind::kNode;
  run->Inspect(none);
  run->Settle();
  EXPECT_EQ(run->inspection(ObjectKind::kNode), nullptr);
  EXPECT_NE(run->inspection(ObjectKind::kPod), nullptr);
}

TEST(GuiSessionClaimsTest, ClaimsAreThoseOfAFoldFromTheStart) {
  const GoldenLedger ledger("replay_dra_mig");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  const std::vector<LoggedClaimChange> changes = AllClaimChanges(ledger.path());
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger.folder());
  Random random(5, "claims");
  size_t rows = 0;
  for (uint64_t i = 0; i < SoakSeeds(15); ++i) {
    // At a change, by time, or at a record.
    const LoggedClaimChange& near = changes[random.Below(changes.size())];
    SnapshotRequest request;
    request.at.time = near.change.time;
    if (random.Below(2) == 0) request.at.record = near.records;
    run->Seek(request);
    run->Settle();
    ASSERT_EQ(run->status(), absl::OkStatus());
    const std::shared_ptr<const RunSnapshot> snapshot = run->snapshot();
    std::optional<SimTime> until = near.change.time;
    if (request.at.record.has_value()) until.reset();
    const LiveClaims live = ClaimsAfter(changes, snapshot->record, until);
    const view::ClaimTable wanted(live, seek->cluster(), snapshot->time);
    gui::ExpectSameTables(snapshot->claims, wanted);
    rows += wanted.rows();
    if (wanted.rows() == 0) continue;
    const view::ClaimTableRow& row = wanted.row(random.Below(wanted.rows()));
    InspectRequest inspect;
    inspect.object = {ObjectKind::kClaim, row.name};
    inspect.at = request.at;
    run->Inspect(inspect);
    run->Settle();
    const std::shared_ptr<const Inspection> claim = run->inspection(ObjectKind::kClaim);
    ASSERT_NE(claim, nullptr);
    ASSERT_EQ(claim->status, absl::OkStatus());
    ASSERT_TRUE(claim->claim.has_value());
    EXPECT_EQ(claim->claim->state, row.state);
    EXPECT_EQ(claim->claim->devices, row.devices);
    EXPECT_EQ(claim->claim->now - claim->claim->since, row.in_state);
  }
  EXPECT_GT(rows, 100u);
}

TEST(GuiSessionRequestTest, NamesThatDoNotExist) {
  const GoldenLedger ledger("artifact_fill_fgd");
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger.folder());
  for (const ObjectKind kind :
       {ObjectKind::kPod, ObjectKind::kNode, ObjectKind::kClaim, ObjectKind::kTenant}) {
    InspectRequest request;
    request.object = {kind, "nobody"};
    request.at.record = 100;
    run->Inspect(request);
    run->Settle();
    EXPECT_EQ(run->status(), absl::OkStatus());
    ASSERT_NE(run->inspection(kind), nullptr);
    EXPECT_EQ(run->inspection(kind)->status.code(), absl::StatusCode::kNotFound);
  }
}

TEST(GuiSessionFragmentationTest, IsThatOfTheReport) {
  const GoldenLedger ledger("replay_easy_node_events");
  const std::unique_ptr<RunSession> run = RunSession::Open(ledger.path());
  run->Settle();
  ASSERT_EQ(run->status(), absl::OkStatus());
  const view::Pyramid* const data = run->overview()->Find(gui::FragmentationPass::kName);
  ASSERT_NE(data, nullptr);
  ASSERT_OK_AND_ASSIGN(const view::RunReport report,
                       view::ReadRunReport([&] { return LedgerReader::Open(ledger.path()); }, {}));
  ASSERT_GT(report.fragmentation.size(), 20u);
  ASSERT_EQ(data->size(), report.fragmentation.size());
  for (size_t i = 0; i < data->size(); ++i) {
    EXPECT_EQ(data->time(i), report.fragmentation.time(i));
    EXPECT_EQ(data->value(i), report.fragmentation.value(i));
  }
  // The events, which come before, are not lost.
  EXPECT_FALSE(run->overview()->events.empty());
}

TEST(GuiSessionFragmentationTest, OfAFillByRecordAndNoneWithMig) {
  const GoldenLedger fill("artifact_fill_fgd");
  std::unique_ptr<RunSession> run = RunSession::Open(fill.path());
  run->Settle();
  ASSERT_EQ(run->status(), absl::OkStatus());
  const view::Pyramid* const data = run->overview()->Find(gui::FragmentationPass::kName);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->time(data->size() - 1), run->overview()->end);
  EXPECT_GT(data->QuerySamples(0, data->size()).max, 0);
  const GoldenLedger mig("mig_static_repartition");
  run = RunSession::Open(mig.path());
  run->Settle();
  ASSERT_EQ(run->status(), absl::OkStatus());
  EXPECT_EQ(run->overview()->Find(gui::FragmentationPass::kName), nullptr);
}

}  // namespace run_session_test
}  // namespace drasim
