// The history of a suite: its lines, mistakes in them, and the page.
#include "sim/bench/bench_history.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/bench/history_page.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace bench_history_test {

using ::testing::HasSubstr;
using ::testing::Not;

HistoryRun RunAt(const std::string& commit, double value, const std::string& fingerprint) {
  HistoryRun run;
  run.commit = commit;
  run.suite = "core";
  run.version = 3;
  run.groups["fill/-/fgd"] = {fingerprint, {{"goodput", value}, {"decisions", 100}}};
  run.groups["still/-/fgd"] = {"00", {{"goodput", 1}}};
  return run;
}

TEST(BenchHistoryTest, LinesReadBack) {
  const TempDir dir;
  const std::string path = dir.PathOf("h.jsonl");
  ASSERT_TRUE(AppendHistory(path, RunAt("aaa", 0.5, "01")).ok());
  ASSERT_TRUE(AppendHistory(path, RunAt("b\"b", 1e-9, "02")).ok());
  const auto runs = ParseHistory(dir.Read("h.jsonl"), "h.jsonl");
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[1].commit, "b\"b");
  EXPECT_EQ((*runs)[1].suite, "core");
  EXPECT_EQ((*runs)[1].version, 3);
  EXPECT_EQ((*runs)[1].groups.at("fill/-/fgd").fingerprint, "02");
  EXPECT_EQ((*runs)[1].groups.at("fill/-/fgd").figures.at("goodput"), 1e-9);
  EXPECT_EQ((*runs)[0].groups.at("fill/-/fgd").figures.at("decisions"), 100);
}

// Torn at any byte it is refused, or a whole line shorter.
TEST(BenchHistoryTest, RefusesTornLines) {
  const TempDir dir;
  ASSERT_TRUE(AppendHistory(dir.PathOf("h"), RunAt("aaa", 0.5, "01")).ok());
  ASSERT_TRUE(AppendHistory(dir.PathOf("h"), RunAt("bbb", 0.5, "01")).ok());
  const std::string text = dir.Read("h");
  const size_t first = text.find('\n') + 1;
  for (size_t cut = first + 1; cut + 1 < text.size(); ++cut) {
    const auto runs = ParseHistory(absl::string_view(text).substr(0, cut), "h");
    ASSERT_TRUE(absl::IsInvalidArgument(runs.status())) << cut;
    ASSERT_THAT(std::string(runs.status().message()), HasSubstr("h:2: ")) << cut;
  }
  EXPECT_EQ(ParseHistory(absl::string_view(text).substr(0, first), "h")->size(), 1u);
}

TEST(BenchHistoryTest, PageHasStepsWithTheirCommits) {
  const std::vector<HistoryRun> runs = {RunAt("c0", 2, "01"), RunAt("c1", 2, "01"),
                                        RunAt("c2<", 3, "02"), RunAt("c3", 3, "02")};
  const std::string page = HistoryPage(runs, "https://example.org/c/{commit}");
  EXPECT_THAT(page, HasSubstr("<h2>fill/-/fgd</h2>"));
  EXPECT_THAT(page, HasSubstr("<li><a href=\"https://example.org/c/c2&lt;\">c2&lt;</a>: 2 → 3 "
                              "(+50.00 %)</li>"));
  EXPECT_THAT(page, HasSubstr("Decisions changed at <a href=\"https://example.org/c/c2&lt;\">"));
  // Flat, up, flat, from edge to edge.
  EXPECT_THAT(page, HasSubstr("<polyline points=\"6,84 175.33,84 344.67,6 514,6\"/>"));
  EXPECT_THAT(page, Not(HasSubstr("<span>decisions</span>")));
  EXPECT_THAT(page, HasSubstr("<h2>Without any change (1)</h2>\n<ul><li>still/-/fgd</li></ul>"));
  // Nothing from elsewhere.
  for (const char* outside : {"<script", "<link", "<img", "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(HistoryPage(runs, ""), Not(HasSubstr("<a ")));
  EXPECT_THAT(HistoryPage({}, ""), HasSubstr("No runs yet."));
}

}  // namespace bench_history_test
}  // namespace drasim::bench
