// Reports on runs with claims, static layouts and tenants.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/claim_table.h"
#include "gui/view/map_model.h"
#include "gui/view/pyramid.h"
#include "gui/view/report_page.h"
#include "gui/view/run_report.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "tests/gui/session/job_runs.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace golden_report_test {

using view::MapGpu;
using view::ReadRunReport;
using view::ReportPage;
using view::RunReport;

std::string GoldenScenario(absl::string_view name) {
  return absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name, ".yaml");
}

TEST(GoldenReportTest, TenantsComeWithTheArrivals) {
  TempDir dir;
  dir.Write("tiny.yaml", kTinyScenario);
  RunFile(dir.PathOf("tiny.yaml"), {}, dir.PathOf("run"));
  const std::string path = dir.PathOf("run/ledger");
  ASSERT_OK_AND_ASSIGN(const RunReport report,
                       ReadRunReport([&] { return LedgerReader::Open(path); }, {}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> reader, LedgerReader::Open(path));
  Record record;
  size_t with_tenant = 0;
  while (reader->Next(&record).value()) {
    if (record.kind != RecordKind::kPodArrived) continue;
    const size_t pod = record.pod.value();
    ASSERT_LT(pod, report.pods.rows());
    EXPECT_EQ(report.pods.tenant(pod), reader->TenantOf(record.pod));
    if (!reader->TenantOf(record.pod).empty()) ++with_tenant;
  }
  EXPECT_EQ(with_tenant, 3u);
}

TEST(GoldenReportTest, ClaimsVerdictsAndCallsOfADraRun) {
  TempDir dir;
  RunFile(GoldenScenario("replay_dra_mig"), {}, dir.PathOf("run"));
  const std::string path = dir.PathOf("run/ledger");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(path));
  const SimTime middle(seek->index().end.ns() / 2);
  ASSERT_OK_AND_ASSIGN(const RunReport report,
                       ReadRunReport([&] { return LedgerReader::Open(path); }, {middle}));
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

TEST(GoldenReportTest, MapsShowStaticLayouts) {
  TempDir dir;
  RunFile(GoldenScenario("mig_static_repartition"), {}, dir.PathOf("run"));
  const std::string path = dir.PathOf("run/ledger");
  ASSERT_OK_AND_ASSIGN(const RunReport report,
                       ReadRunReport([&] { return LedgerReader::Open(path); }, {}));
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

}  // namespace golden_report_test
}  // namespace drasim
