#include "gui/view/report_page.h"

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/map_model.h"
#include "gui/view/run_report.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/record/ledger_example.h"

namespace drasim {
namespace report_page_test {

using view::ClusterMapData;
using view::MapGpu;
using view::ReadRunReport;
using view::ReportPage;
using view::RunReport;

RunReport ExampleReport(const LedgerExample& example) {
  return ReadRunReport([&example] { return LedgerReader::FromMemory(example.bytes); }, {}).value();
}

size_t CountOf(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(ReportPageTest, NeedsNothingFromOutside) {
  const LedgerExample example = MakeLedgerExample();
  const RunReport report = ExampleReport(example);
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
  RunReport report = ExampleReport(example);
  report.name = "<b>\"bold\" & brave</b>";
  const std::string page = ReportPage(report, nullptr);
  EXPECT_FALSE(absl::StrContains(page, "<b>"));
  EXPECT_TRUE(absl::StrContains(page, "&lt;b&gt;&quot;bold&quot; &amp; brave"));
}

TEST(ReportPageTest, ComparesTwoRuns) {
  const LedgerExample example = MakeLedgerExample();
  const RunReport report = ExampleReport(example);
  const std::string page = ReportPage(report, &report);
  EXPECT_TRUE(absl::StrContains(page, "<h2>A against B</h2>"));
  EXPECT_TRUE(absl::StrContains(page, "The scenarios are the same."));
  EXPECT_TRUE(absl::StrContains(page, "No pod diverges."));
  EXPECT_TRUE(absl::StrContains(page, "<h2>Cluster in B</h2>"));
}

TEST(ReportPageTest, LargeClustersHaveACanvas) {
  const LedgerExample example = MakeLedgerExample();
  RunReport report = ExampleReport(example);
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

}  // namespace report_page_test
}  // namespace drasim
