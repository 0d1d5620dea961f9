// Upstream's configurations: all of them are read, the page has an outcome for each workload, and
// the baseline has the fingerprint of each that runs.
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_table.h"
#include "sim/perf/perf_suite.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/soak.h"

namespace drasim::perf {
namespace perf_shared_test {

constexpr char kData[] = "expected/scheduler_perf/files";
constexpr char kBaseline[] = DRASIM_SOURCE_DIR "/bench/baseline/scheduler_perf.csv";
constexpr char kPage[] = DRASIM_SOURCE_DIR "/docs/scheduler_perf.md";

absl::StatusOr<PerfSuite> SharedSuite(std::optional<bench::Tier> last) {
  PerfSelection selection;
  selection.root = SharedPath(kData);
  selection.last = last;
  return ReadPerfSuite(selection);
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Outcome and the column behind it, by entry, as the page has them.
std::map<std::string, std::vector<std::string>> PageRows() {
  std::map<std::string, std::vector<std::string>> rows;
  std::string of_case;
  for (const absl::string_view line : absl::StrSplit(FileText(kPage), '\n')) {
    if (absl::StartsWith(line, "## ")) of_case = std::string(line.substr(3));
    if (!absl::StartsWith(line, "| ") || absl::StartsWith(line, "| Workload")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    const std::string entry = absl::StrCat(of_case, "/", cells[0].substr(2));
    EXPECT_TRUE(rows.emplace(entry, std::vector<std::string>{cells[1], cells[2]}).second) << entry;
  }
  return rows;
}

TEST(PerfSharedTest, ListsEveryWorkloadOnThePage) {
  DRASIM_NEEDS_SHARED_DATA(kData, "expected/scheduler_perf/cases.csv");
  const absl::StatusOr<PerfSuite> suite = SharedSuite(std::nullopt);
  ASSERT_EQ(suite.status(), absl::OkStatus());
  const std::vector<std::string> cases = absl::StrSplit(
      FileText(SharedPath("expected/scheduler_perf/cases.csv")), '\n', absl::SkipEmpty());
  EXPECT_EQ(suite->entries.size(), cases.size() - 1);
  const std::map<std::string, std::vector<std::string>> rows = PageRows();
  EXPECT_EQ(rows.size(), suite->entries.size());
  const absl::StatusOr<bench::BenchTable> baseline = bench::ReadBenchTable(kBaseline);
  ASSERT_EQ(baseline.status(), absl::OkStatus());
  size_t runs = 0;
  for (const PerfEntry& entry : suite->entries) {
    const auto row = rows.find(entry.id.entry);
    ASSERT_NE(row, rows.end()) << entry.id.entry;
    const PerfReport checked = CheckPerfEntry(*suite, entry);
    ASSERT_NE(checked.verdict, PerfVerdict::kFailed) << entry.id.entry << ": " << checked.why;
    const std::string& outcome = row->second[0];
    // Some limits show only in the run.
    if (checked.verdict == PerfVerdict::kRefused) EXPECT_EQ(outcome, "refused") << entry.id.entry;
    if (outcome != "runs") continue;
    ++runs;
    const bench::BenchRow* const pinned = baseline->Find(entry.id);
    ASSERT_NE(pinned, nullptr) << entry.id.entry;
    EXPECT_EQ(pinned->fingerprint, row->second[1]) << entry.id.entry;
  }
  EXPECT_EQ(baseline->rows.size(), runs);
}

// Small workloads in `make test`, larger ones with DRASIM_SOAK, all from DRASIM_SOAK=10 on.
TEST(PerfSharedTest, RepeatsTheBaseline) {
  DRASIM_NEEDS_SHARED_DATA(kData);
  const bool more = SoakSeeds(1) > 1;
  const bool all = SoakSeeds(1) >= 10;
  const absl::StatusOr<PerfSuite> suite = SharedSuite(all    ? bench::Tier::kNightly
                                                      : more ? bench::Tier::kPr
                                                             : bench::Tier::kSmoke);
  ASSERT_EQ(suite.status(), absl::OkStatus());
  const absl::StatusOr<bench::BenchTable> baseline = bench::ReadBenchTable(kBaseline);
  ASSERT_EQ(baseline.status(), absl::OkStatus());
  const std::map<std::string, std::vector<std::string>> rows = PageRows();
  size_t runs = 0;
  for (const PerfEntry& entry : suite->entries) {
    const PerfReport report = RunPerfEntry(*suite, entry);
    const auto row = rows.find(entry.id.entry);
    ASSERT_NE(row, rows.end()) << entry.id.entry;
    EXPECT_EQ(PerfVerdictName(report.verdict), row->second[0]) << entry.id.entry << report.why;
    if (report.verdict != PerfVerdict::kRuns) continue;
    ++runs;
    const bench::BenchRow* const pinned = baseline->Find(entry.id);
    ASSERT_NE(pinned, nullptr) << entry.id.entry;
    const absl::StatusOr<bench::BenchTable> now =
        bench::ParseBenchTable("now", absl::StrCat(bench::BenchHeader(), "\n", report.line, "\n"));
    ASSERT_EQ(now.status(), absl::OkStatus());
    EXPECT_EQ(now->rows[0].fingerprint, pinned->fingerprint) << entry.id.entry;
    EXPECT_EQ(now->rows[0].metrics, pinned->metrics) << entry.id.entry;
    EXPECT_EQ(now->rows[0].inputs, pinned->inputs) << entry.id.entry;
  }
  EXPECT_GT(runs, 30u);
}

}  // namespace perf_shared_test
}  // namespace drasim::perf
