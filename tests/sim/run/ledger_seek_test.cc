// Whole runs through LedgerSeek: at random records of fills, replays, static MIG, repartitioning
// and DRA the sought state is that of a reader that began at record 0.
#include "sim/record/ledger_seek.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/record.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_writer.h"
#include "sim/run/simulation.h"
#include "tests/sim/record/live_image.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_seek_runs_test {

// Small enough that these runs have many frames of each kind.
constexpr LedgerPace kPace = {/*records_per_block=*/32, /*records_per_keyframe=*/90,
                              /*records_per_live_object=*/0, /*blocks_per_series=*/4,
                              /*pods_per_frame=*/16};

std::string GoldenScenario(absl::string_view name) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name, ".yaml"),
                     std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class SeekRunTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string yaml = GoldenScenario(GetParam());
    ASSERT_NE(yaml, "");
    absl::StatusOr<std::unique_ptr<Simulation>> built =
        Simulation::Build(RunSpecOf(ScenarioOf(yaml)));
    ASSERT_TRUE(built.ok()) << built.status();
    sim_ = *std::move(built);
    const TempDir dir;
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
        LedgerWriter::Create(dir.PathOf("ledger"), "", sim_->cluster(), sim_->ranks(),
                             sim_->summaries(), kPace, sim_->Layouts());
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->set_jobs(&sim_->jobs());
    sim_->AddSink(writer->get());
    ASSERT_EQ(sim_->Start(), absl::OkStatus());
    ASSERT_EQ(sim_->Run(), absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(sim_->fingerprint()), absl::OkStatus());
    ledger_ = dir.Read("ledger");
    whole_ = ReadWhole(ledger_, sim_->engine().records(), 400);
    absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(ledger_);
    ASSERT_TRUE(seek.ok()) << seek.status();
    seek_ = *std::move(seek);
  }

  std::unique_ptr<Simulation> sim_;
  std::string ledger_;
  WholeReading whole_;
  std::unique_ptr<LedgerSeek> seek_;
};

TEST_P(SeekRunTest, RandomRecordsInAnyOrder) {
  EXPECT_GT(seek_->index().keyframes.size(), 3u);
  EXPECT_EQ(seek_->index().records, whole_.records.size());
  EXPECT_EQ(seek_->index().end, whole_.records.back().time);
  ASSERT_GE(whole_.images.size(), 100u);
  std::vector<size_t> order;
  for (size_t i = 0; i < whole_.images.size(); ++i) order.push_back(i);
  Random random(1, "order of seeks");
  random.Shuffle(absl::MakeSpan(order));
  // Then forwards and backwards in order.
  for (size_t i = 0; i < whole_.images.size(); i += 7) order.push_back(i);
  for (size_t i = whole_.images.size(); i-- > 0;) {
    if (i % 7 == 0) order.push_back(i);
  }
  for (const size_t i : order) {
    const auto& [records, image] = whole_.images[i];
    ASSERT_EQ(seek_->ToRecord(records), absl::OkStatus()) << records;
    ASSERT_EQ(seek_->record(), records);
    ASSERT_TRUE(LiveImage(*seek_) == image) << records;
    const SimTime time = records == 0 ? SimTime() : whole_.records[records - 1].time;
    ASSERT_EQ(seek_->time(), time) << records;
  }
}

TEST_P(SeekRunTest, TimesAndTheRecordsAfterThem) {
  Random random(2, "times");
  const auto total = whole_.records.size();
  for (int i = 0; i < 100; ++i) {
    const SimTime of_record = whole_.records[random.Below(total)].time;
    const SimTime time(of_record.ns() + static_cast<int64_t>(random.Below(3)) - 1);
    ASSERT_EQ(seek_->ToTime(time), absl::OkStatus());
    const auto later =
        std::upper_bound(whole_.records.begin(), whole_.records.end(), time,
                         [](SimTime wanted, const Record& r) { return wanted < r.time; });
    ASSERT_EQ(seek_->record(), static_cast<uint64_t>(later - whole_.records.begin()));
    for (size_t k = 0; k < 3 && seek_->record() < total; ++k) {
      const Record& wanted = whole_.records[seek_->record()];
      Record record;
      const absl::StatusOr<bool> more = seek_->Next(&record);
      ASSERT_TRUE(more.ok() && *more) << more.status();
      EXPECT_EQ(record.kind, wanted.kind);
      EXPECT_EQ(record.time, wanted.time);
      EXPECT_EQ(record.node, wanted.node);
      EXPECT_EQ(record.devices, wanted.devices);
      EXPECT_EQ(record.detail, wanted.detail);
      if (record.preemptor.valid()) {
        EXPECT_EQ(seek_->NumberOf(record.preemptor), wanted.preemptor.value());
      } else {
        EXPECT_TRUE(!wanted.preemptor.valid() ||
                    !seek_->FindPod(wanted.preemptor.value()).has_value());
      }
      if (record.pod.valid()) {
        EXPECT_EQ(seek_->NumberOf(record.pod), wanted.pod.value());
        EXPECT_EQ(seek_->FindPod(wanted.pod.value()), record.pod);
      } else {
        EXPECT_TRUE(!wanted.pod.valid() || record.kind == RecordKind::kAttemptFailed);
      }
    }
  }
}

// First, last, least and largest of every metric, by brute force.
TEST_P(SeekRunTest, TheSeriesAreThoseOfTheRecords) {
  const absl::StatusOr<LedgerSeries> series = seek_->ReadSeries();
  ASSERT_TRUE(series.ok()) << series.status();
  ASSERT_EQ(series->names.size(), kSeriesMetrics);
  ASSERT_EQ(series->blocks.size(), seek_->index().blocks.size());
  uint64_t first = 0;
  for (size_t b = 0; b < series->blocks.size(); ++b) {
    const SeriesBlock& block = series->blocks[b];
    ASSERT_EQ(block.first_record, first);
    ASSERT_EQ(block.first_record, seek_->index().blocks[b].records);
    ASSERT_GT(block.records, 0u);
    ASSERT_LE(first + block.records, whole_.records.size());
    EXPECT_EQ(block.begin, whole_.records[first].time);
    EXPECT_EQ(block.end, whole_.records[first + block.records - 1].time);
    for (size_t m = 0; m < kSeriesMetrics; ++m) {
      SeriesPoint wanted;
      wanted.first = wanted.least = wanted.largest = whole_.values[first][m];
      wanted.last = whole_.values[first + block.records - 1][m];
      if (absl::StartsWith(series->names[m], "slices_")) {
        // Known at the ends of blocks alone.
        wanted.first = first == 0 ? whole_.before[m] : whole_.values[first - 1][m];
        wanted.least = std::min(wanted.first, wanted.last);
        wanted.largest = std::max(wanted.first, wanted.last);
        EXPECT_TRUE(series->points[m][b] == wanted) << series->names[m] << " " << b;
        continue;
      }
      for (uint64_t r = first; r < first + block.records; ++r) {
        wanted.least = std::min(wanted.least, whole_.values[r][m]);
        wanted.largest = std::max(wanted.largest, whole_.values[r][m]);
      }
      EXPECT_TRUE(series->points[m][b] == wanted) << series->names[m] << " " << b;
    }
    first += block.records;
  }
  EXPECT_EQ(first, whole_.records.size());
}

TEST_P(SeekRunTest, TheEventsAreThoseOfTheRecords) {
  const absl::StatusOr<LedgerSeries> series = seek_->ReadSeries();
  ASSERT_TRUE(series.ok()) << series.status();
  std::vector<SeriesEvent> wanted;
  for (size_t r = 0; r < whole_.records.size(); ++r) {
    const Record& record = whole_.records[r];
    if (record.kind != RecordKind::kNodeChanged && record.kind != RecordKind::kDevicesChanged) {
      continue;
    }
    wanted.push_back({r, record.time, record.kind, record.detail, record.node});
  }
  EXPECT_TRUE(series->events == wanted);
  EXPECT_EQ(series->events_left_out, 0u);
  if (GetParam() == "replay_easy_node_events" || GetParam() == "mig_static_repartition") {
    EXPECT_FALSE(wanted.empty());
  }
}

// The scenarios together show every new kind of value, so that equality above means something.
TEST_P(SeekRunTest, TheSeriesTellWhatTheRunHas) {
  const absl::StatusOr<LedgerSeries> series = seek_->ReadSeries();
  ASSERT_TRUE(series.ok()) << series.status();
  const auto largest = [&](absl::string_view name) {
    const auto found = std::find(series->names.begin(), series->names.end(), name);
    int64_t value = 0;
    for (const SeriesPoint& p :
         series->points[static_cast<size_t>(found - series->names.begin())]) {
      value = std::max(value, p.largest);
    }
    return value;
  };
  const bool mig = GetParam() == "mig_static_repartition" || GetParam() == "replay_dra_mig";
  if (mig) {
    EXPECT_GT(largest("slices_total"), 0);
    EXPECT_GT(largest("slices_held"), 0);
    EXPECT_LE(largest("slices_held"), largest("slices_total"));
  }
  if (GetParam() == "replay_dra_mig") {
    EXPECT_GT(largest("waiting_driver"), 0);
  } else {
    EXPECT_EQ(largest("waiting_driver"), 0);
  }
  EXPECT_GT(largest("waiting_untried"), 0);
}

TEST_P(SeekRunTest, EveryEndedPodHasARow) {
  std::vector<EndedPodRow> rows;
  for (size_t i = 0; i < seek_->index().pods.size(); ++i) {
    const absl::StatusOr<std::vector<EndedPodRow>> page = seek_->ReadPods(i);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_TRUE(page->size() == kPace.pods_per_frame || i + 1 == seek_->index().pods.size());
    rows.insert(rows.end(), page->begin(), page->end());
  }
  ASSERT_EQ(rows.size(), whole_.ended.size());
  const ClusterState& cluster = sim_->cluster();
  for (size_t i = 0; i < rows.size(); ++i) {
    const EndedPod& ended = whole_.ended[i];
    const JobId job = sim_->jobs().job_of(ended.pod);
    EndedPodRow wanted;
    static_cast<PodHistory&>(wanted) = ended.history;
    wanted.number = ended.pod.value();
    wanted.name = std::string(cluster.pod_name(ended.pod));
    wanted.shape = cluster.pod_shape_id(ended.pod).value();
    wanted.priority = cluster.pod_priority(ended.pod);
    wanted.job = job;
    wanted.tenant = sim_->jobs().tenant_name(sim_->jobs().row(job).tenant);
    wanted.arrival = cluster.pod_arrival(ended.pod);
    wanted.end = ended.end;
    wanted.end_kind = ended.kind;
    EXPECT_TRUE(rows[i] == wanted) << i << " " << wanted.name;
  }
}

// At the end the layouts are those of the nodes; images compare them on the way there.
TEST_P(SeekRunTest, TheLayoutsAreThoseOfTheNodes) {
  const LayoutLookup layouts = sim_->Layouts();
  ASSERT_EQ(seek_->ToRecord(whole_.records.size()), absl::OkStatus());
  size_t instances = 0;
  size_t changed = 0;
  for (size_t n = 0; n < seek_->cluster().node_count(); ++n) {
    const proto::LedgerNode& node = seek_->reader().header().nodes(static_cast<int>(n));
    for (size_t g = 0; g < seek_->cluster().node(NodeId(n)).gpu_count; ++g) {
      const std::optional<uint64_t> found = seek_->LayoutOf(NodeId(n), g);
      ASSERT_EQ(found.has_value(), layouts != nullptr);
      if (!found.has_value()) continue;
      const StaticLayout layout = layouts(NodeId(n), g);
      const MigTable* const table = sim_->cluster().mig_table(NodeId(n), g);
      EXPECT_EQ(*found, layout.enabled ? table->set(layout.state) : 0) << n << " " << g;
      instances += static_cast<size_t>(std::popcount(*found));
      changed += *found != node.layouts(static_cast<int>(g)) ? 1u : 0u;
    }
  }
  if (GetParam() != "mig_static_repartition") return;
  EXPECT_GT(instances, 0u);
  EXPECT_GT(changed, 0u);
}

TEST_P(SeekRunTest, EveryPreemptionNamesAnotherJob) {
  for (const Record& record : whole_.records) {
    if (record.kind != RecordKind::kPodEvicted ||
        record.detail != static_cast<uint32_t>(EvictionCause::kPreempted)) {
      EXPECT_FALSE(record.preemptor.valid());
      continue;
    }
    ASSERT_TRUE(record.preemptor.valid());
    EXPECT_NE(sim_->jobs().job_of(record.preemptor), sim_->jobs().job_of(record.pod));
  }
}

TEST_P(SeekRunTest, EveryArrivedPodHasItsOwner) {
  ASSERT_EQ(seek_->ToRecord(whole_.records.size() / 2), absl::OkStatus());
  ASSERT_GT(seek_->cluster().pod_count(), 0u);
  for (size_t row = 0; row < seek_->cluster().pod_count(); ++row) {
    const PodId pod(seek_->NumberOf(PodId(row)));
    const JobId job = sim_->jobs().job_of(pod);
    EXPECT_EQ(seek_->JobOf(PodId(row)), job);
    EXPECT_EQ(seek_->TenantOf(PodId(row)), sim_->jobs().tenant_name(sim_->jobs().row(job).tenant));
  }
}

// Without an end, and cut inside any frame.
TEST_P(SeekRunTest, PartialLedgers) {
  Random random(3, "cuts");
  for (int i = 0; i < 10; ++i) {
    const size_t header = seek_->index().blocks[0].offset;
    const size_t cut = header + random.Below(ledger_.size() - header);
    const std::string bytes = ledger_.substr(0, cut);
    absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(bytes);
    ASSERT_TRUE(seek.ok()) << seek.status();
    const uint64_t records = (*seek)->index().records;
    ASSERT_LE(records, whole_.records.size());
    ASSERT_EQ((*seek)->ToRecord(~uint64_t{0}), absl::OkStatus());
    EXPECT_EQ((*seek)->record(), records);
    EXPECT_EQ((*seek)->time(), (*seek)->index().end);
    for (size_t k = 0; k < whole_.images.size(); k += 1 + random.Below(40)) {
      const auto& [wanted, image] = whole_.images[k];
      ASSERT_EQ((*seek)->ToRecord(wanted), absl::OkStatus());
      EXPECT_EQ((*seek)->record(), std::min(wanted, records));
      if (wanted <= records) {
        ASSERT_TRUE(LiveImage(**seek) == image) << cut << " " << wanted;
      }
    }
    EXPECT_EQ((*seek)->ReadSeries().status(), absl::OkStatus());
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SeekRunTest,
                         ::testing::Values("artifact_fill_fgd", "replay_easy_node_events",
                                           "replay_srtf_gangs", "replay_dotprod_bind_latency",
                                           "device_plugin_time_sliced", "mig_static_repartition",
                                           "replay_dra_mig"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

}  // namespace ledger_seek_runs_test
}  // namespace drasim
