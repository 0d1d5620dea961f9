#include "gui/view/run_report.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "gui/view/map_model.h"
#include "gui/view/report_page.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/record/ledger_example.h"

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

}  // namespace run_report_test
}  // namespace drasim
