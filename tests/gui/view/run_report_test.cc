#include "gui/view/run_report.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "gui/view/claim_table.h"
#include "gui/view/map_model.h"
#include "gui/view/pyramid.h"
#include "gui/view/report_page.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "tests/gui/session/golden_ledger.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace run_report_test {

using view::MapGpu;
using view::ReadRunReport;
using view::ReportPage;
using view::RunReport;

absl::StatusOr<RunReport> ReportOfBytes(const std::string& bytes,
                                        const std::vector<SimTime>& at = {}) {
  return ReadRunReport([&bytes] { return LedgerReader::FromMemory(bytes); }, at);
}

int64_t HeldMilli(const view::ReportMap& map) {
  int64_t held = 0;
  for (const MapGpu& gpu : map.data.gpus) held += gpu.held_milli;
  return held;
}

TEST(RunReportTest, ReadsALedger) {
  const LedgerExample example = MakeLedgerExample();
  const absl::StatusOr<RunReport> report =
      ReportOfBytes(example.bytes, {SimTime(1'000'000'007), SimTime(9'000'000'000)});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->name, "example");
  EXPECT_FALSE(report->partial);
  EXPECT_EQ(report->records, example.records.size());
  EXPECT_EQ(report->fingerprint, kExampleFingerprint);
  EXPECT_EQ(report->pods.rows(), 3u);
  EXPECT_EQ(report->figures.attempts_failed, 3);
  EXPECT_EQ(report->figures.end, SimTime(2'500'000'000));
  EXPECT_FALSE(report->by_load);
  EXPECT_FALSE(report->allocated.empty());
  EXPECT_FALSE(report->fragmentation.empty());
  ASSERT_EQ(report->maps.size(), 2u);
  EXPECT_EQ(report->maps[0].title, "At 1.000000007s");
  // Both GPUs of node-a, and the share of the pod that is being bound.
  EXPECT_EQ(HeldMilli(report->maps[0]), 2250);
  EXPECT_EQ(report->maps[1].title, "At the end, 2.5s");
  EXPECT_EQ(HeldMilli(report->maps[1]), 250);
}

TEST(RunReportTest, ACutLedgerIsPartial) {
  const LedgerExample example = MakeLedgerExample();
  const std::string cut = example.bytes.substr(0, example.bytes.size() - 30);
  const absl::StatusOr<RunReport> report = ReportOfBytes(cut);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->partial);
  EXPECT_EQ(report->fingerprint, 0u);
  EXPECT_TRUE(absl::StrContains(ReportPage(*report, nullptr), " is partial: "));
}

TEST(RunReportTest, TenantsComeWithTheArrivals) {
  const GoldenLedger ledger("replay_conservative_quota");
  ASSERT_OK_AND_ASSIGN(const RunReport report,
                       ReadRunReport([&] { return LedgerReader::Open(ledger.path()); }, {}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> reader,
                       LedgerReader::Open(ledger.path()));
  Record record;
  size_t with_tenant = 0;
  while (reader->Next(&record).value()) {
    if (record.kind != RecordKind::kPodArrived) continue;
    const size_t pod = record.pod.value();
    ASSERT_LT(pod, report.pods.rows());
    EXPECT_EQ(report.pods.tenant(pod), reader->TenantOf(record.pod));
    with_tenant += reader->TenantOf(record.pod).empty() ? 0 : 1;
  }
  EXPECT_GT(with_tenant, 0u);
}

TEST(RunReportTest, ClaimsVerdictsAndCallsOfADraRun) {
  const GoldenLedger ledger("replay_dra_mig");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger.path()));
  const SimTime middle(seek->index().end.ns() / 2);
  ASSERT_OK_AND_ASSIGN(
      const RunReport report,
      ReadRunReport([&] { return LedgerReader::Open(ledger.path()); }, {middle}));
  ASSERT_EQ(seek->ToTime(middle), absl::OkStatus());
  const view::ClaimTable wanted(seek->claims(), seek->cluster(), middle);
  ASSERT_EQ(report.maps.size(), 1u);
  const view::ClaimTable& claims = report.maps[0].claims;
  EXPECT_GT(wanted.rows(), 0u);
  ASSERT_EQ(claims.rows(), wanted.rows());
  for (size_t c = 0; c < wanted.rows(); ++c) {
    EXPECT_EQ(claims.row(c).name, wanted.row(c).name);
    EXPECT_EQ(claims.row(c).state, wanted.row(c).state);
    EXPECT_EQ(claims.row(c).in_state, wanted.row(c).in_state);
  }
  // Verdicts add up to the waiting pods at every instant.
  ASSERT_EQ(report.verdicts.size(), 3u);
  for (int i = 0; i <= 50; ++i) {
    const SimTime at(report.series_end.ns() / 50 * i);
    double sum = 0;
    for (const view::ReportSeries& verdict : report.verdicts) {
      sum += verdict.data.ValueAt(at).value_or(0);
    }
    EXPECT_EQ(sum, report.waiting.ValueAt(at).value_or(0)) << i;
  }
  // The rates of each client add up to its calls.
  ASSERT_OK_AND_ASSIGN(const std::vector<CallsSample> samples, seek->ReadCalls());
  ASSERT_FALSE(samples.empty());
  double calls = 0;
  for (const ClientCalls& client : samples.back().clients) {
    calls += static_cast<double>(client.calls);
  }
  ASSERT_FALSE(report.calls.empty());
  const view::Pyramid& first = report.calls[0].data;
  ASSERT_GT(first.size(), 1u);
  const double length = static_cast<double>((first.time(1) - first.time(0)).ns()) / kSecondNs;
  double sum = 0;
  for (const view::ReportSeries& client : report.calls) {
    for (size_t i = 0; i < client.data.size(); ++i) sum += client.data.value(i) * length;
  }
  EXPECT_NEAR(sum, calls, 1e-6 * calls);

  const std::string page = ReportPage(report, nullptr);
  EXPECT_TRUE(absl::StrContains(page, "<h2>Claims</h2>"));
  EXPECT_TRUE(absl::StrContains(page, "by last verdict"));
  EXPECT_TRUE(absl::StrContains(page, "calls of the API server per second"));
  EXPECT_FALSE(absl::StrContains(ReportPage(report, &report), "calls of the API server"));
}

TEST(RunReportTest, MapsShowStaticLayouts) {
  const GoldenLedger ledger("mig_static_repartition");
  ASSERT_OK_AND_ASSIGN(const RunReport report,
                       ReadRunReport([&] { return LedgerReader::Open(ledger.path()); }, {}));
  ASSERT_EQ(report.maps.size(), 1u);
  const view::ClusterMapData& data = report.maps[0].data;
  int64_t idle = 0;
  int64_t stranded = 0;
  for (const MapGpu& gpu : data.gpus) {
    stranded += std::popcount(gpu.stranded);
    for (const view::MapSlot& slot : data.SlotsOf(gpu)) idle += slot.held ? 0 : 1;
  }
  EXPECT_GT(idle, 0);
  int64_t of_nodes = 0;
  for (size_t n = 0; n < report.maps[0].nodes.rows(); ++n) {
    of_nodes += report.maps[0].nodes.row(n).slices.stranded;
  }
  EXPECT_EQ(stranded, of_nodes);
  EXPECT_TRUE(report.calls.empty());
  EXPECT_EQ(report.maps[0].claims.rows(), 0u);
}

}  // namespace run_report_test
}  // namespace drasim
