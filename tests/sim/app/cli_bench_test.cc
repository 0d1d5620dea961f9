// drasim bench: results, resumption, verdicts with their exit codes, and baselines.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_bench_test {

using Names = std::vector<std::string>;

constexpr char kSuite[] =
    "version: 1\n"
    "entries:\n"
    "- name: small\n"
    "  scenario: small.yaml\n"
    "  policies: [fgd, best-fit]\n"
    "  seeds: 1..3\n"
    "  tier: smoke\n"
    "  primary: {metric: mean_queueing_seconds, better: lower, margin: 1%}\n"
    "- name: late\n"
    "  scenario: small.yaml\n"
    "  set: [workload.generated.pods=60]\n"
    "  tier: nightly\n"
    "  primary: {metric: mean_queueing_seconds, better: lower}\n";

constexpr char kScenario[] =
    "mode: replay\n"
    "cluster: {nodes: 3}\n"
    "workload:\n"
    "  generated: {pods: 40, interarrival: exponential(mean=5), run_time: exponential(mean=300)}\n"
    "scheduler: {policy: fgd}\n";

// The table with nodes_filtered of the first row at 1.
std::string WithLessWork(const std::string& table) {
  Names lines = absl::StrSplit(table, '\n');
  const Names header = absl::StrSplit(lines[0], ',');
  Names fields = absl::StrSplit(lines[1], ',');
  const auto column = std::find(header.begin(), header.end(), "nodes_filtered") - header.begin();
  fields[static_cast<size_t>(column)] = "1";
  lines[1] = absl::StrJoin(fields, ",");
  return absl::StrJoin(lines, "\n");
}

class CliBenchTest : public CliTest {
 protected:
  CliBenchTest() {
    dir_.Write("s.yaml", kSuite);
    dir_.Write("small.yaml", kScenario);
  }

  ProcessResult Bench(const std::string& out, Names more = {}) const {
    Names args = {"bench", "run", "s.yaml", "--out", out, "--quiet", "--jobs", "2"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
};

TEST_F(CliBenchTest, WritesSortedRowsAndGoesOn) {
  const ProcessResult first = Bench("out");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "7 cells of s (7 run now, 0 from before, 0 failed, 0 missing) in out\n");
  EXPECT_EQ(dir_.List("out"),
            (Names{"bench.partial.csv", "bench.yaml", "cells.csv", "costs.csv", "missing.csv"}));
  const std::string cells = dir_.Read("out/cells.csv");
  const Names lines = absl::StrSplit(cells, '\n');
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_TRUE(absl::StartsWith(lines[1], "s,1,late,kubernetes,fgd,42,nightly,"));
  EXPECT_TRUE(absl::StartsWith(lines[2], "s,1,small,kubernetes,best-fit,1,smoke,"));
  EXPECT_TRUE(absl::StartsWith(lines[7], "s,1,small,kubernetes,fgd,3,smoke,"));
  EXPECT_EQ(dir_.Read("out/missing.csv"), "entry,queue,policy,seed,what\n");

  const ProcessResult again = Bench("out");
  EXPECT_EQ(again.out, "7 cells of s (0 run now, 7 from before, 0 failed, 0 missing) in out\n");
  EXPECT_EQ(dir_.Read("out/cells.csv"), cells);

  // Killed at any byte, it ends with the same bytes.
  const std::string partial = dir_.Read("out/bench.partial.csv");
  for (const size_t cut :
       {size_t{1}, partial.size() / 3, partial.size() - 10, partial.size() - 1}) {
    dir_.Write("out/bench.partial.csv", absl::string_view(partial).substr(0, cut));
    EXPECT_EQ(Bench("out").exit_code, 0);
    EXPECT_EQ(dir_.Read("out/cells.csv"), cells) << cut;
  }
  // Another scenario is another input.
  dir_.Write("small.yaml", absl::StrReplaceAll(kScenario, {{"pods: 40", "pods: 41"}}));
  EXPECT_EQ(Bench("out").out,
            "7 cells of s (6 run now, 1 from before, 0 failed, 0 missing) in out\n");
}

// Each has its own row, although the runs are the same.
TEST_F(CliBenchTest, EntriesMayShareARun) {
  dir_.Write("s.yaml", absl::StrCat(kSuite,
                                    "- name: twin\n"
                                    "  scenario: small.yaml\n"
                                    "  seeds: 1..2\n"
                                    "  tier: pr\n"
                                    "  primary: {metric: goodput, better: higher}\n"));
  ASSERT_EQ(Bench("out").exit_code, 0);
  const std::string cells = dir_.Read("out/cells.csv");
  EXPECT_TRUE(absl::StrContains(cells, "\ns,1,twin,kubernetes,fgd,2,pr,goodput,higher,0,"));
  EXPECT_EQ(Bench("out").out,
            "9 cells of s (0 run now, 9 from before, 0 failed, 0 missing) in out\n");
  EXPECT_EQ(dir_.Read("out/cells.csv"), cells);
  EXPECT_EQ(Run({"bench", "compare", "out", "out"}).out, "9 cells: 9 same\n");
}

TEST_F(CliBenchTest, SelectsCells) {
  EXPECT_EQ(Bench("a", {"--tier", "smoke"}).out,
            "6 cells of s (6 run now, 0 from before, 0 failed, 0 missing) in a\n");
  EXPECT_EQ(Bench("b", {"--filter", "/fgd/[12]$"}).out,
            "2 cells of s (2 run now, 0 from before, 0 failed, 0 missing) in b\n");
  // Nothing is not a pass.
  EXPECT_EQ(Bench("c", {"--filter", "nowhere"}).exit_code, 4);
  EXPECT_EQ(Bench("d", {"--filter", "("}).exit_code, 2);
  EXPECT_EQ(Bench("e", {"--tier", "hourly"}).exit_code, 2);
  EXPECT_EQ(Bench("f", {"--timeout", "0"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "run", "s.yaml"}).err, "drasim: error: bench run needs --out DIR\n");
}

TEST_F(CliBenchTest, AnAbsentInputIsMissingNeverAPass) {
  const std::string sha(64, '0');
  const std::string needs =
      absl::StrCat("  tier: nightly\n  inputs: [{path: t.csv, sha256: ", sha, "}]\n");
  dir_.Write("s.yaml", absl::StrReplaceAll(kSuite, {{"  tier: nightly\n", needs}}));
  const ProcessResult run = Bench("out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "7 cells of s (6 run now, 0 from before, 0 failed, 1 missing) in out\n");
  EXPECT_TRUE(absl::StrContains(run.err, "drasim: missing: late/kubernetes/fgd/42: ")) << run.err;
  const ProcessResult compared = Run({"bench", "compare", "out", "out"});
  EXPECT_EQ(compared.exit_code, 4);
  EXPECT_TRUE(absl::StrContains(compared.out, "7 cells: 6 same, 1 missing\n")) << compared.out;
  // With other bytes it is an error.
  dir_.Write("t.csv", "x");
  const ProcessResult other = Bench("out");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(other.err, "s.yaml:13:")) << other.err;
  EXPECT_TRUE(absl::StrContains(other.err, "entries.1.inputs.0.sha256: found ")) << other.err;
}

TEST_F(CliBenchTest, ACellThatHangsIsNamed) {
  dir_.Write("small.yaml", absl::StrReplaceAll(kScenario, {{"pods: 40", "pods: 4000000"}}));
  const ProcessResult run = Bench("out", {"--timeout", "0.2", "--filter", "/fgd/1$"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "drasim: failed: small/kubernetes/fgd/1: killed: it took more than 0.2 s\n");
  EXPECT_TRUE(absl::StrContains(dir_.Read("out/missing.csv"), "small,kubernetes,fgd,1,killed"));
}

TEST_F(CliBenchTest, VerdictsAndBaselines) {
  ASSERT_EQ(Bench("base", {"--tier", "smoke"}).exit_code, 0);
  const ProcessResult accepted =
      Run({"bench", "accept", "--reason", "the first, \"pinned\"", "b.csv", "base"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_EQ(accepted.out, "b.csv: 0 cells rewritten, 6 added, 0 removed; 0 did not run\n");
  const ProcessResult same = Run({"bench", "compare", "b.csv", "base"});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_EQ(same.out, "6 cells: 6 same\n");
  const std::string first = dir_.Read("b.csv");
  EXPECT_TRUE(absl::StrContains(first, "\"the first, \"\"pinned\"\"\""));

  // A fingerprint that differs with equal figures: decisions changed, nothing is worse.
  std::string changed = first;
  const size_t end = changed.rfind('\n', changed.size() - 2);
  changed.replace(changed.size() - 5, 4,
                  changed.substr(changed.size() - 5, 4) == "0000" ? "1111" : "0000");
  dir_.Write("changed.csv", changed);
  const ProcessResult other = Run({"bench", "compare", "changed.csv", "base"});
  EXPECT_EQ(other.exit_code, 3) << other.out;
  EXPECT_TRUE(absl::StrContains(other.out, "small/kubernetes/fgd/3: fingerprint ")) << other.out;
  EXPECT_EQ(Run({"bench", "accept", "--reason", "because", "changed.csv", "base"}).out,
            "changed.csv: 1 cells rewritten, 0 added, 0 removed; 0 did not run\n");
  // Only the last line was rewritten.
  EXPECT_EQ(dir_.Read("changed.csv").substr(0, end), first.substr(0, end));
  EXPECT_TRUE(absl::StrContains(dir_.Read("changed.csv"), ",because,"));

  // A baseline without a cell.
  dir_.Write("less.csv", absl::string_view(first).substr(0, end + 1));
  EXPECT_EQ(Run({"bench", "compare", "less.csv", "base"}).exit_code, 4);
  // Torn, and there twice.
  dir_.Write("torn.csv", absl::string_view(first).substr(0, first.size() - 9));
  EXPECT_EQ(Run({"bench", "compare", "torn.csv", "base"}).exit_code, 2);
  dir_.Write("twice.csv", absl::StrCat(first, first.substr(end + 1)));
  EXPECT_EQ(Run({"bench", "compare", "twice.csv", "base"}).exit_code, 2);
  // Less work in the base: the counters are worse.
  dir_.Write("work.csv", WithLessWork(first));
  EXPECT_EQ(Run({"bench", "compare", "work.csv", "base"}).exit_code, 1);

  EXPECT_EQ(Run({"bench", "accept", "b.csv", "base"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "compare", "b.csv"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "compare", "none.csv", "base"}).exit_code, 2);
}

TEST_F(CliBenchTest, OtherFormats) {
  ASSERT_EQ(Bench("base", {"--filter", "/fgd/1$"}).exit_code, 0);
  EXPECT_EQ(Run({"bench", "compare", "base", "base", "--format", "csv"}).out.substr(0, 60),
            "entry,queue,policy,seed,verdict,base_figure,head_figure,why\n");
  const ProcessResult json = Run({"bench", "compare", "base", "base", "--format", "json"});
  EXPECT_EQ(JsonAt(json.out, "schema"), "\"drasim.bench-compare/v1\"");
  EXPECT_EQ(JsonAt(json.out, "cells.verdict"), "\"same\"");
  EXPECT_EQ(JsonAt(Bench("base", {"--filter", "/fgd/1$", "--format", "json"}).out, "from_before"),
            "1");
}

}  // namespace cli_bench_test
}  // namespace drasim
