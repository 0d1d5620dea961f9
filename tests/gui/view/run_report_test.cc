#include "gui/view/run_report.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/report_page.h"
#include "model/device_set.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "tests/gui/view/view_rig.h"
#include "tests/sim/record/ledger_example.h"

namespace drasim {
namespace run_report_test {

using view::ClusterMapData;
using view::MapDataOf;
using view::MapGpu;
using view::MapSlot;
using view::ReadRunReport;
using view::ReportPage;
using view::RunReport;

absl::StatusOr<RunReport> ReportOfBytes(const std::string& bytes,
                                        const std::vector<SimTime>& at = {}) {
  return ReadRunReport([&bytes] { return LedgerReader::FromMemory(bytes); }, at);
}

size_t CountOf(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

int64_t HeldMilli(const view::ReportMap& map) {
  int64_t held = 0;
  for (const MapGpu& gpu : map.data.gpus) held += gpu.held_milli;
  return held;
}

TEST(MapDataTest, SlotsStandWherePodsHoldThem) {
  ViewRig rig;
  const PodId mig = rig.Arrive("mig", ViewRig::Mig("3g.40gb"));
  rig.Bind(mig, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  const PodId first = rig.Arrive("first", ViewRig::Gpus(1, 300));
  rig.Bind(first, 1, DeviceSet::Of(1));
  const PodId second = rig.Arrive("second", ViewRig::Gpus(1, 500));
  rig.Bind(second, 1, DeviceSet::Of(1));
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  ASSERT_EQ(data.nodes.size(), 2u);
  ASSERT_EQ(data.gpus.size(), 4u);
  EXPECT_EQ(data.gpus[0].units, 8);
  ASSERT_EQ(data.SlotsOf(data.gpus[0]).size(), 1u);
  const MapSlot& slot = data.SlotsOf(data.gpus[0])[0];
  EXPECT_EQ(slot.start, 4);
  EXPECT_EQ(slot.size, 4);
  EXPECT_EQ(slot.pod, mig.value());
  EXPECT_EQ(data.profiles[slot.profile], "3g.40gb");
  EXPECT_EQ(data.gpus[1].slot_count, 0u);
  EXPECT_EQ(data.gpus[3].units, view::kShareUnits);
  ASSERT_EQ(data.SlotsOf(data.gpus[3]).size(), 2u);
  EXPECT_EQ(data.SlotsOf(data.gpus[3])[1].start, 300);
  EXPECT_EQ(data.SlotsOf(data.gpus[3])[1].size, 500);
  EXPECT_EQ(data.gpus[3].held_milli, 800);
}

TEST(MapDataTest, SlicesThatNothingCoversAreStranded) {
  ViewRig rig;
  // Seven instances of one slice leave the eighth slice, which none of them can start at.
  for (uint32_t start = 0; start < 7; ++start) {
    const PodId pod = rig.Arrive(absl::StrCat("pod-", start), ViewRig::Mig("1g.10gb"));
    rig.Bind(pod, 0, DeviceSet::Of(0), rig.Instance("1g.10gb", 0, static_cast<int32_t>(start)));
  }
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  EXPECT_EQ(data.gpus[0].stranded, 0x80u);
  EXPECT_EQ(data.gpus[1].stranded, 0u);
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

TEST(ReportPageTest, NeedsNothingFromOutside) {
  const LedgerExample example = MakeLedgerExample();
  const RunReport report = ReportOfBytes(example.bytes).value();
  const std::string page = ReportPage(report, nullptr);
  EXPECT_TRUE(absl::StartsWith(page, "<!DOCTYPE html>\n"));
  EXPECT_TRUE(absl::EndsWith(page, "</html>\n"));
  EXPECT_EQ(CountOf(page, "http"), CountOf(page, "http://www.w3.org/2000/svg"));
  for (const char* outside : {"<script", "<link", "<img", "src=", "@import", "<iframe"}) {
    EXPECT_FALSE(absl::StrContains(page, outside)) << outside;
  }
  EXPECT_EQ(CountOf(page, "url("), CountOf(page, "url(#"));
  for (const char* tag : {"section", "table", "figure", "svg", "ul", "dl", "header"}) {
    EXPECT_EQ(
        CountOf(page, absl::StrCat("<", tag, ">")) + CountOf(page, absl::StrCat("<", tag, " ")),
        CountOf(page, absl::StrCat("</", tag, ">")))
        << tag;
  }
  EXPECT_EQ(page, ReportPage(report, nullptr));
}

TEST(ReportPageTest, EscapesTheNamesOfUsers) {
  const LedgerExample example = MakeLedgerExample();
  RunReport report = ReportOfBytes(example.bytes).value();
  report.name = "<b>\"bold\" & brave</b>";
  const std::string page = ReportPage(report, nullptr);
  EXPECT_FALSE(absl::StrContains(page, "<b>"));
  EXPECT_TRUE(absl::StrContains(page, "&lt;b&gt;&quot;bold&quot; &amp; brave"));
}

TEST(ReportPageTest, ComparesTwoRuns) {
  const LedgerExample example = MakeLedgerExample();
  const RunReport report = ReportOfBytes(example.bytes).value();
  const std::string page = ReportPage(report, &report);
  EXPECT_TRUE(absl::StrContains(page, "<h2>A against B</h2>"));
  EXPECT_TRUE(absl::StrContains(page, "The scenarios are the same."));
  EXPECT_TRUE(absl::StrContains(page, "No pod diverges."));
  EXPECT_TRUE(absl::StrContains(page, "<h2>Cluster in B</h2>"));
}

TEST(ReportPageTest, LargeClustersHaveACanvas) {
  const LedgerExample example = MakeLedgerExample();
  RunReport report = ReportOfBytes(example.bytes).value();
  ClusterMapData& data = report.maps[0].data;
  view::MapNode node;
  node.name = "</script><b>";
  data.AddNode(node);
  while (data.gpus.size() <= view::kReportSvgGpus) data.AddGpu(MapGpu(), {});
  const std::string page = ReportPage(report, nullptr);
  EXPECT_EQ(CountOf(page, "<canvas id=\"map-a-0\""), 1u);
  EXPECT_EQ(CountOf(page, "<script>"), 1u);
  EXPECT_EQ(CountOf(page, "</script>"), 1u);
  EXPECT_EQ(CountOf(page, "<noscript>"), 1u);
}

}  // namespace run_report_test
}  // namespace drasim
