// Shards of suites and sweeps: merged, they are the single run; what does not belong together is
// refused.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_shards_test {

using Names = std::vector<std::string>;

// The first four columns of each line of a costs.csv: what may differ is behind them.
Names CellsOfCosts(absl::string_view text) {
  Names cells;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const Names fields = absl::StrSplit(line, absl::MaxSplits(',', 4));
    cells.push_back(absl::StrCat(line.substr(0, line.size() - fields.back().size())));
  }
  return cells;
}

class CliShardsTest : public CliTest {
 protected:
  CliShardsTest() {
    dir_.Write("s.yaml", TestText("Suite"));
    dir_.Write("small.yaml", TestText("Scenario"));
  }

  // Exit code 4, since one cell's input is not there, unless the shard does not have it.
  ProcessResult Bench(const std::string& out, const Names& more = {}) const {
    Names args = {"bench", "run", "s.yaml", "--out", out, "--quiet", "--jobs", "2"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
  void BenchShards(size_t count) const {
    for (size_t k = 1; k <= count; ++k)
      Bench(absl::StrCat("s", k), {"--shard", absl::StrCat(k, "/", count)});
  }
  ProcessResult Sweep(const std::string& out, const Names& more = {}) const {
    Names args = {"sweep",   "small.yaml", "--policies", "fgd,best-fit", "--queues", "fifo,sjf",
                  "--seeds", "1..3",       "--quiet",    "--out",        out};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
  Names Merge(const Names& dirs, const std::string& out = "merged") const {
    Names args = {"merge", "--out", out};
    args.insert(args.end(), dirs.begin(), dirs.end());
    return args;
  }
  void ExpectEqualFiles(const std::string& name) const {
    EXPECT_NE(dir_.Read("whole/" + name), "");
    EXPECT_EQ(dir_.Read("merged/" + name), dir_.Read("whole/" + name)) << name;
  }
  void Edit(const std::string& path, absl::string_view from, absl::string_view to) const {
    const std::string before = dir_.Read(path);
    const std::string after = absl::StrReplaceAll(before, {{from, to}});
    ASSERT_NE(before, after) << path;
    dir_.Write(path, after);
  }

  void Remove(const std::string& path) const { std::filesystem::remove(dir_.PathOf(path)); }
};

TEST_F(CliShardsTest, OfASuiteAreTheSingleRun) {
  EXPECT_EQ(Bench("whole").exit_code, 4);
  BenchShards(3);
  EXPECT_EQ(dir_.List("s2"), (Names{"bench.partial.csv", "bench.yaml", "cells.csv", "costs.csv",
                                    "missing.csv", "plan.csv", "shard.yaml"}));
  const ProcessResult merged = Run(Merge({"s2", "s3", "s1"}));
  EXPECT_EQ(merged.exit_code, 4);
  EXPECT_EQ(merged.out, "8 cells of 3 shards (1 missing) in merged\n");
  EXPECT_TRUE(absl::StartsWith(merged.err, "drasim: missing: absent/kubernetes/fgd/42: "))
      << merged.err;
  for (const char* name : {"cells.csv", "missing.csv", "bench.yaml"}) ExpectEqualFiles(name);
  EXPECT_EQ(CellsOfCosts(dir_.Read("merged/costs.csv")),
            CellsOfCosts(dir_.Read("whole/costs.csv")));
  // The merged folder is one that a run without shards goes on with.
  EXPECT_EQ(Bench("merged").out,
            "8 cells of s (0 run now, 7 from before, 0 failed, 1 missing) in merged\n");
  ExpectEqualFiles("cells.csv");
  const ProcessResult json = Run({"merge", "--out", "m", "s1", "s2", "s3", "--format", "json"});
  EXPECT_EQ(JsonAt(json.out, "schema"), "\"drasim.merge/v1\"");
  EXPECT_EQ(JsonAt(json.out, "cells"), "8");
}

TEST_F(CliShardsTest, OfASweepAreTheSingleRun) {
  EXPECT_EQ(Sweep("whole").exit_code, 0);
  for (const char* k : {"1", "2", "3", "4", "5"})
    EXPECT_EQ(Sweep(absl::StrCat("s", k), {"--shard", absl::StrCat(k, "/5")}).exit_code, 0);
  EXPECT_EQ(Succeed(Merge({"s1", "s2", "s3", "s4", "s5"})),
            "12 cells of 5 shards (0 missing) in merged\n");
  ExpectEqualFiles("sweep.csv");
  EXPECT_EQ(Sweep("merged").out, "12 cells (0 run now, 12 from before) in merged/sweep.csv\n");
  ExpectEqualFiles("sweep.csv");
}

// Whatever the folder held before.
TEST_F(CliShardsTest, LeaveWholeResults) {
  for (const char* k : {"1", "2"}) Sweep(absl::StrCat("s", k), {"--shard", absl::StrCat(k, "/2")});
  Sweep("old", {"--shard", "1/3"});
  Succeed(Merge({"s1", "s2"}, "old"));
  EXPECT_EQ(dir_.List("old"), (Names{"sweep.csv", "sweep.partial.csv"}));
}

TEST_F(CliShardsTest, MayHaveProblemsBesideResults) {
  BenchShards(2);
  dir_.Write("s2/missing.csv",
             "entry,queue,policy,seed,what\nsmall,kubernetes,fgd,3,not counted\n");
  const ProcessResult merged = Run(Merge({"s1", "s2"}));
  EXPECT_EQ(merged.out, "8 cells of 2 shards (2 missing) in merged\n") << merged.err;
  EXPECT_TRUE(
      absl::EndsWith(dir_.Read("merged/missing.csv"), "\nsmall,kubernetes,fgd,3,not counted\n"));
}

TEST_F(CliShardsTest, MayOutnumberTheCells) {
  for (const char* out : {"whole", "s1", "s2", "s3"}) {
    Names more = {"--filter", "^small/kubernetes/fgd/[12]$"};
    if (out[0] == 's') more.insert(more.end(), {"--shard", absl::StrCat(out + 1, "/3")});
    EXPECT_EQ(Bench(out, more).exit_code, 0) << out;
  }
  EXPECT_EQ(Succeed(Merge({"s1", "s2", "s3"})), "2 cells of 3 shards (0 missing) in merged\n");
  ExpectEqualFiles("cells.csv");
}

// A killed shard goes on, and a folder that gets whole results is no shard any more.
TEST_F(CliShardsTest, GoOn) {
  Bench("s1", {"--shard", "1/2"});
  const std::string cells = dir_.Read("s1/cells.csv");
  const std::string partial = dir_.Read("s1/bench.partial.csv");
  dir_.Write("s1/bench.partial.csv", absl::string_view(partial).substr(0, partial.size() - 20));
  Remove("s1/cells.csv");
  ExpectRefused(Merge({"s1"}), "found 1 of 2 shards; missing: 2");
  Bench("s2", {"--shard", "2/2"});
  ExpectRefused(Merge({"s1", "s2"}),
                "s1: found no cells.csv; shard 1/2 has not ended, run it again");
  EXPECT_TRUE(absl::StrContains(Bench("s1", {"--shard", "1/2"}).out, "(1 run now, "));
  EXPECT_EQ(dir_.Read("s1/cells.csv"), cells);
  Bench("s1");
  ExpectRefused(Merge({"s1", "s2"}),
                "s1: found no shard.yaml, expected the folder of a run with --shard");
}

TEST_F(CliShardsTest, AreCompleteAndDoNotOverlap) {
  BenchShards(3);
  ExpectRefused({"merge", "s1", "s2", "s3"}, "merge needs --out DIR");
  ExpectRefused(Merge({}), "expected the folders of all shards");
  ExpectRefused(Merge({"s3", "s1"}), "found 2 of 3 shards; missing: 2");
  ExpectRefused(Merge({"s1", "s2", "s3", "s2"}),
                "s2: found shard 2/3 a second time; it is also in s2");
  ExpectRefused(Merge({"s1", "s2", "s3"}, "s2"),
                "--out: found s2, which holds a shard, expected another folder");
  ExpectRefused(Merge({"s1", "nowhere", "s3"}),
                "nowhere: found no shard.yaml, expected the folder of a run with --shard");
  // A row less, and one that is another shard's.
  const std::string cells = dir_.Read("s2/cells.csv");
  const Names lines = absl::StrSplit(cells, '\n');
  dir_.Write("s2/cells.csv", absl::StrReplaceAll(cells, {{lines[1] + "\n", ""}}));
  ExpectRefused(Merge({"s1", "s2", "s3"}),
                "s2: lacks cell late/kubernetes/fgd/42 of shard 2/3; run it again");
  const Names others = absl::StrSplit(dir_.Read("s3/cells.csv"), '\n');
  dir_.Write("s2/cells.csv", absl::StrCat(cells, others[2], "\n"));
  ExpectRefused(Merge({"s1", "s2", "s3"}),
                "s2/cells.csv:5:1: found cell small/kubernetes/fgd/1, which is not the next of "
                "shard 2/3");
  dir_.Write("s2/cells.csv", absl::string_view(cells).substr(0, cells.size() - 3));
  EXPECT_EQ(Run(Merge({"s1", "s2", "s3"})).exit_code, 2);
  dir_.Write("s2/cells.csv", cells);
  EXPECT_EQ(Run(Merge({"s1", "s2", "s3"})).exit_code, 4);
}

TEST_F(CliShardsTest, BelongTogether) {
  Bench("s1", {"--shard", "1/2"});
  Bench("s3", {"--shard", "2/3"});
  ExpectRefused(Merge({"s1", "s3"}), "s3: found shard 2/3, expected one of 2, as in s1");
  Sweep("sweep", {"--shard", "2/2"});
  ExpectRefused(Merge({"s1", "sweep"}),
                "sweep: found a shard of drasim sweep, expected one of drasim bench run, as in s1");
  // Another selection, another scenario, another margin, another version.
  Bench("tier", {"--shard", "2/2", "--tier", "smoke"});
  ExpectRefused(Merge({"s1", "tier"}),
                "tier/plan.csv:2:1: found cell small/kubernetes/best-fit/1, expected "
                "absent/kubernetes/fgd/42, as in s1; the shards ran other scenarios, files or "
                "settings");
  Bench("filter", {"--shard", "2/2", "--filter", "."});
  ExpectRefused(Merge({"s1", "filter"}),
                "filter/bench.yaml: found another suite, version, selection or setup than in "
                "s1/bench.yaml");
  Edit("small.yaml", "pods: 40", "pods: 41");
  Bench("scenario", {"--shard", "2/2"});
  const ProcessResult scenario = Run(Merge({"s1", "scenario"}));
  EXPECT_EQ(scenario.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(scenario.err, "with other inputs (")) << scenario.err;
  Edit("small.yaml", "pods: 41", "pods: 40");
  Edit("s.yaml", "margin: 1%", "margin: 2%");
  Bench("margin", {"--shard", "2/2"});
  EXPECT_TRUE(absl::StrContains(Run(Merge({"s1", "margin"})).err,
                                " smoke mean_queueing_seconds 2%), expected "));
  Edit("s.yaml", "margin: 2%", "margin: 1%");
  Edit("s.yaml", "version: 1", "version: 2");
  Bench("version", {"--shard", "2/2"});
  EXPECT_TRUE(absl::StrContains(Run(Merge({"s1", "version"})).err, "found another suite, version"));
  Edit("s.yaml", "version: 2", "version: 1");
  // Another program.
  Bench("s2", {"--shard", "2/2"});
  EXPECT_EQ(Run(Merge({"s1", "s2"})).exit_code, 4);
  Edit("s2/shard.yaml", "program: ", "program: x");
  EXPECT_TRUE(absl::StartsWith(Run(Merge({"s1", "s2"})).err,
                               "drasim: error: s2: found results of another program (x"));
}

TEST_F(CliShardsTest, DamagedNotesAreRefused) {
  BenchShards(2);
  const std::string note = dir_.Read("s2/shard.yaml");
  const std::string plan = dir_.Read("s2/plan.csv");
  for (const std::string& bad : {std::string("shard: 1\n"), note + "more: 1\n", std::string("[")}) {
    dir_.Write("s2/shard.yaml", bad);
    const ProcessResult refused = Run(Merge({"s1", "s2"}));
    EXPECT_EQ(refused.exit_code, 2) << bad;
    EXPECT_TRUE(absl::StrContains(refused.err, "s2/shard.yaml")) << refused.err;
  }
  dir_.Write("s2/shard.yaml", note);
  for (size_t size = 0; size < plan.size(); size += 5) {
    dir_.Write("s2/plan.csv", absl::string_view(plan).substr(0, size));
    const ProcessResult refused = Run(Merge({"s1", "s2"}));
    EXPECT_EQ(refused.exit_code, 2) << size;
    EXPECT_TRUE(absl::StrContains(refused.err, "s2/plan.csv")) << refused.err;
  }
}

TEST_F(CliShardsTest, BadFlagsAreRefused) {
  for (const char* bad : {"0/3", "4/3", "1", "1/2/3", "-1/3", "a/b", "1/10001", ""}) {
    const std::string message =
        absl::StrCat("--shard: found '", bad,
                     "', expected K/N with K from 1 to N and N up to 10000, such as 2/8");
    ExpectRefused({"bench", "run", "s.yaml", "--out", "o", "--shard", bad}, message);
    ExpectRefused({"sweep", "small.yaml", "--out", "o", "--shard", bad}, message);
  }
  ExpectRefused({"bench", "run", "s.yaml", "--out", "o", "--shards", "3"},
                "--shards needs --emit ENGINE");
  ExpectRefused({"bench", "run", "s.yaml", "--out", "o", "--emit", "pbs", "--shards", "3"},
                "--emit: found 'pbs', expected slurm or kubernetes");
  ExpectRefused({"sweep", "--out", "o", "--emit", "slurm", "--shards", "0"},
                "--shards: found '0', expected a number from 1 to 10000 with --emit");
  ExpectRefused({"sweep", "--out", "o", "--emit", "slurm", "--shard", "1/2"},
                "--emit takes --shards N, the number of shards, not --shard");
}

}  // namespace cli_shards_test
}  // namespace drasim
