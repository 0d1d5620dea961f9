// Overviews from the frames of series, and steps that can be cancelled.
#include "gui/session/overview_builder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/session/block_columns.h"
#include "gui/session/run_overview.h"
#include "gui/view/pyramid.h"
#include "gui/view/rate_series.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_series.h"
#include "tests/gui/session/golden_ledger.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace overview_builder_test {

using gui::ReadBasis;
using gui::RunBasis;
using gui::RunOverview;

bool Always(double share) {
  EXPECT_GE(share, 0);
  EXPECT_LE(share, 1);
  return true;
}

class GuiOverviewTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GuiOverviewTest, SeriesByBlockKeepTheExtremes) {
  const GoldenLedger ledger(GetParam());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  RunOverview overview;
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const RunBasis> basis,
                       ReadBasis(seek.get(), Always, &overview, /*exact_records=*/0));
  ASSERT_OK_AND_ASSIGN(const LedgerSeries series, seek->ReadSeries());
  for (size_t m = 0; m < series.names.size(); ++m) {
    const view::Pyramid* const data = overview.Find(series.names[m]);
    ASSERT_NE(data, nullptr);
    for (size_t b = 0; b < series.blocks.size(); ++b) {
      const SeriesBlock& block = series.blocks[b];
      SimTime begin = block.begin;
      SimTime end = block.end;
      if (overview.by_record) {
        begin = SimTime(static_cast<int64_t>(block.first_record + 1));
        end = SimTime(static_cast<int64_t>(block.first_record + block.records));
      }
      const view::SampleSummary found = data->Query(begin, end + SimDuration(1));
      const SeriesPoint& point = series.points[m][b];
      EXPECT_LE(found.min, static_cast<double>(point.least)) << series.names[m];
      EXPECT_GE(found.max, static_cast<double>(point.largest)) << series.names[m];
      // If no other block has the same instants, the values are the block's.
      const bool alone = (b == 0 || series.blocks[b - 1].end < block.begin) &&
                         (b + 1 == series.blocks.size() || block.end < series.blocks[b + 1].begin);
      if (!alone && !overview.by_record) continue;
      EXPECT_EQ(found.min, static_cast<double>(point.least)) << series.names[m];
      EXPECT_EQ(found.max, static_cast<double>(point.largest)) << series.names[m];
      EXPECT_EQ(found.first, static_cast<double>(point.first)) << series.names[m];
      EXPECT_EQ(found.last, static_cast<double>(point.last)) << series.names[m];
    }
  }
  // The exact series end with the same values.
  RunOverview exact;
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const RunBasis> again,
                       ReadBasis(seek.get(), Always, &exact));
  EXPECT_EQ(exact.pods, overview.pods);
  EXPECT_EQ(exact.fingerprint, ledger.fingerprint());
  EXPECT_EQ(again->ended->size(), basis->ended->size());
  ASSERT_EQ(exact.series.size(), overview.series.size());
  for (size_t m = 0; m < exact.series.size(); ++m) {
    const view::Pyramid& a = exact.series[m].data;
    const view::Pyramid& b = overview.series[m].data;
    EXPECT_EQ(exact.series[m].name, overview.series[m].name);
    EXPECT_EQ(a.value(a.size() - 1), b.value(b.size() - 1)) << exact.series[m].name;
  }
  EXPECT_EQ(exact.load.value(exact.load.size() - 1), overview.load.value(overview.load.size() - 1));
  for (size_t i = 1; i < overview.load.size(); ++i) {
    EXPECT_GE(overview.load.value(i), overview.load.value(i - 1));
  }
}

TEST_P(GuiOverviewTest, BlocksWithEventsAreKnown) {
  const GoldenLedger ledger(GetParam());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  RunOverview overview;
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const RunBasis> basis,
                       ReadBasis(seek.get(), Always, &overview, /*exact_records=*/0));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<gui::BlockFile> file,
                       gui::BlockFile::Open(ledger.path()));
  std::vector<size_t> wanted;
  for (size_t b = 0; b < seek->index().blocks.size(); ++b) {
    std::vector<gui::NodeChange> changes;
    ASSERT_EQ(file->ReadNodeChanges(seek->index().blocks[b], 1000, &changes), absl::OkStatus());
    if (!changes.empty()) wanted.push_back(b);
  }
  EXPECT_EQ(basis->event_blocks, wanted);
  EXPECT_EQ(wanted.empty(), overview.by_record);
}

TEST_P(GuiOverviewTest, EveryStepCanBeCancelled) {
  const GoldenLedger ledger(GetParam());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  RunOverview whole;
  int questions = 0;
  const auto count = [&](double) {
    ++questions;
    return true;
  };
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const RunBasis> basis,
                       ReadBasis(seek.get(), count, &whole));
  ASSERT_GT(questions, 3);
  for (int i = 0; i < questions; i += 1 + questions / 20) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> fresh, LedgerSeek::Open(ledger.path()));
    RunOverview overview;
    int left = i;
    EXPECT_TRUE(absl::IsCancelled(ReadBasis(
                                      fresh.get(), [&](double) { return left-- > 0; }, &overview)
                                      .status()))
        << i;
  }
}

// The stack of the plot "Attempts".
TEST(GuiAttemptsTest, EveryAttemptHasOneOutcome) {
  const GoldenLedger ledger("replay_dra_mig");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  RunOverview overview;
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const RunBasis> basis,
                       ReadBasis(seek.get(), Always, &overview));
  const view::Pyramid* const bound = overview.Find("pods_bound");
  const view::Pyramid* const taken_back = overview.Find("places_taken_back");
  const view::Pyramid* const failed = overview.Find("attempts_failed");
  ASSERT_TRUE(bound != nullptr && taken_back != nullptr && failed != nullptr);
  const view::Pyramid no_node = view::CountBeyond(*failed, *taken_back);
  int64_t attempts = 0;
  int64_t places_taken_back = 0;
  ASSERT_EQ(seek->ToRecord(0), absl::OkStatus());
  Record record;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const bool more, seek->Next(&record));
    if (!more) break;
    // All jobs have one pod. A failed attempt is recorded behind the place that it gives back.
    if (record.kind == RecordKind::kPodBound || record.kind == RecordKind::kAttemptFailed) {
      ++attempts;
    }
    if (record.kind == RecordKind::kPodUnreserved) ++places_taken_back;
  }
  EXPECT_GT(places_taken_back, 100);
  const auto end = [](const view::Pyramid& counter) { return counter.value(counter.size() - 1); };
  EXPECT_EQ(end(*taken_back), static_cast<double>(places_taken_back));
  EXPECT_EQ(end(*bound) + end(*taken_back) + end(no_node), static_cast<double>(attempts));
  // The rates of the plot add up likewise, without a negative one.
  const view::RateBuckets buckets = view::BucketsFor(SimTime(), overview.end, 50);
  double sum = 0;
  for (const view::Pyramid* const counter : {bound, taken_back, &no_node}) {
    const view::Pyramid rates = view::RateSeries(*counter, buckets, buckets.length);
    for (size_t i = 0; i < rates.size(); ++i) {
      EXPECT_GE(rates.value(i), 0);
      sum += rates.value(i);
    }
  }
  EXPECT_NEAR(sum, static_cast<double>(attempts), 1e-6 * static_cast<double>(attempts));
}

TEST(GuiOverviewDamageTest, AnIndexThatCountsOtherRecordsIsRefused) {
  const GoldenLedger ledger("replay_easy_node_events");
  const std::string bytes = ledger.Bytes();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> whole, LedgerSeek::FromMemory(bytes));
  // The file ends with the place of the frame of the end, and a word.
  const size_t trailer = bytes.size() - kLedgerTrailer.size() - 8;
  const size_t offset = ReadLittleEndian(absl::string_view(bytes).substr(trailer, 8));
  proto::LedgerEnd end;
  ASSERT_TRUE(end.ParseFromString(
      bytes.substr(offset + kFrameHeaderBytes, trailer - offset - kFrameHeaderBytes)));
  ASSERT_EQ(end.records(), whole->index().records);
  for (const bool fewer : {true, false}) {
    proto::LedgerEnd lie = end;
    lie.set_records(fewer ? end.records() - 1 : end.records() + 5);
    // These stand behind the last record.
    lie.clear_series();
    lie.clear_pods();
    const std::string lying = absl::StrCat(absl::string_view(bytes).substr(0, offset),
                                           MakeFrame(FrameType::kEnd, lie.SerializeAsString()),
                                           absl::string_view(bytes).substr(trailer));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::FromMemory(lying));
    ASSERT_EQ(seek->index().records, lie.records());
    RunOverview overview;
    const absl::Status status = ReadBasis(seek.get(), Always, &overview).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_EQ(overview.fingerprint, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GuiOverviewTest,
                         ::testing::Values("artifact_fill_fgd", "replay_easy_node_events"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

}  // namespace overview_builder_test
}  // namespace drasim
