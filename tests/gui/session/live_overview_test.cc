// Overviews of runs in progress beside those of their ledgers.
#include "gui/session/live_overview.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "gui/session/overview_builder.h"
#include "gui/session/run_overview.h"
#include "gui/view/pod_table.h"
#include "gui/view/pyramid.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_series.h"
#include "sim/record/live_state.h"
#include "tests/gui/session/golden_ledger.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace live_overview_test {

using gui::LiveOverview;
using gui::RunOverview;

// A run that is followed record by record.
class FollowedRun {
 public:
  explicit FollowedRun(const GoldenLedger& ledger, bool by_record)
      : reader_(LedgerReader::Open(ledger.path()).value()),
        live_(reader_->cluster(), &reader_->summaries()) {
    RunOverview known;
    known.name = "followed";
    overview_ =
        std::make_unique<LiveOverview>(std::move(known), reader_->cluster(), by_record, Layouts());
  }

  bool Next() {
    Record record;
    if (!reader_->Next(&record).value()) return false;
    live_.OnRecord(record, reader_->cluster());
    pods_.Add(record, reader_->cluster());
    overview_->OnRecord(record, reader_->cluster(), live_, Layouts());
    time_ = record.time;
    return true;
  }
  std::shared_ptr<const RunOverview> Now() {
    const view::PodTable pods = pods_.Table(time_, reader_->cluster(), reader_->summaries());
    return overview_->Now(reader_->cluster(), live_, Layouts(), pods);
  }
  const LiveState& live() const { return live_; }
  uint64_t records() const { return reader_->records(); }

 private:
  LayoutOfGpu Layouts() { return layouts_; }

  struct LayoutsOf {
    FollowedRun* run;
    std::optional<uint64_t> operator()(NodeId node, size_t gpu) const {
      return run->reader_->LayoutOf(node, gpu);
    }
  };
  const LayoutsOf layouts_{this};
  std::unique_ptr<LedgerReader> reader_;
  LiveState live_;
  view::PodFold pods_;
  std::unique_ptr<LiveOverview> overview_;
  SimTime time_;
};

class GuiLiveOverviewTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GuiLiveOverviewTest, EndsAsThatOfTheLedger) {
  const GoldenLedger ledger(GetParam());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  RunOverview whole;
  ASSERT_OK_AND_ASSIGN(const auto basis, gui::ReadBasis(
                                             seek.get(), [](double) { return true; }, &whole));
  FollowedRun run(ledger, whole.by_record);
  while (run.Next()) {
  }
  const std::shared_ptr<const RunOverview> live = run.Now();
  EXPECT_EQ(live->name, "followed");
  EXPECT_TRUE(live->partial);
  EXPECT_EQ(live->by_record, whole.by_record);
  EXPECT_EQ(live->records, whole.records);
  EXPECT_EQ(live->end, whole.end);
  EXPECT_EQ(live->pods, whole.pods);
  EXPECT_EQ(live->nodes, whole.nodes);
  EXPECT_EQ(live->gpus, whole.gpus);
  EXPECT_EQ(live->slices, whole.slices);
  size_t compared = 0;
  for (const gui::MetricSeries& series : live->series) {
    const view::Pyramid* const exact = whole.Find(series.name);
    ASSERT_NE(exact, nullptr) << series.name;
    ASSERT_FALSE(series.data.empty());
    const view::SampleSummary found = series.data.QuerySamples(0, series.data.size());
    const view::SampleSummary wanted = exact->QuerySamples(0, exact->size());
    EXPECT_EQ(found.last, wanted.last) << series.name;
    // No spike is lost. Slices are known at the ends of blocks alone.
    if (series.name.rfind("slices", 0) != 0) {
      EXPECT_EQ(found.max, wanted.max) << series.name;
    }
    ++compared;
  }
  EXPECT_GE(compared, kSeriesMetrics);
  EXPECT_EQ(live->Find("wait_p50") != nullptr, whole.Find("wait_p50") != nullptr);
  ASSERT_EQ(live->load.empty(), whole.load.empty());
  if (!whole.load.empty()) {
    EXPECT_EQ(live->load.value(live->load.size() - 1), whole.load.value(whole.load.size() - 1));
  }
}

TEST_P(GuiLiveOverviewTest, GrowsWithItsRecords) {
  const GoldenLedger ledger(GetParam());
  const bool by_record = GetParam() == "artifact_fill_fgd";
  FollowedRun run(ledger, by_record);
  std::shared_ptr<const RunOverview> before;
  size_t events = 0;
  for (uint64_t pace = 1; run.Next(); ++pace) {
    if (pace % 97 != 0) continue;
    const std::shared_ptr<const RunOverview> now = run.Now();
    EXPECT_EQ(now->records, run.records());
    const view::Pyramid* const waiting = now->Find("pods_waiting");
    ASSERT_NE(waiting, nullptr);
    const SeriesValues values = SeriesValuesOf(run.live(), SliceCounts());
    EXPECT_EQ(waiting->value(waiting->size() - 1), static_cast<double>(values[0]));
    EXPECT_EQ(waiting->time(waiting->size() - 1), now->end);
    if (before != nullptr) {
      EXPECT_GE(now->end, before->end);
      // A published overview does not change.
      EXPECT_LT(before->records, now->records);
    }
    before = now;
    events = now->events.size();
  }
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(events > 0,
            GetParam() == "replay_easy_node_events" || GetParam() == "mig_static_repartition");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GuiLiveOverviewTest,
                         ::testing::Values("artifact_fill_fgd", "replay_easy_node_events",
                                           "mig_nos_backlog", "mig_static_repartition",
                                           "replay_dra_mig"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

}  // namespace live_overview_test
}  // namespace drasim
