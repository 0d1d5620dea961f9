// The sweep: what it writes, and that what was interrupted goes on where it was.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_sweep_test {

using Names = std::vector<std::string>;

size_t Lines(absl::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

Names Split(absl::string_view text, char separator) { return absl::StrSplit(text, separator); }

class CliSweepTest : public CliTest {
 protected:
  // Two lists, two policies, two seeds: eight cells.
  Names Small() const {
    return {"sweep",      "--nodes",      "nodes.csv", "--pods", "pods.csv,more.csv.gz",
            "--policies", "fgd,best-fit", "--seeds",   "1..2",   "--order",
            "artifact",   "--jobs",       "2"};
  }
  Names SmallInto(const std::string& out) const {
    Names args = Small();
    args.push_back("--out");
    args.push_back(out);
    return args;
  }
  void SetUp() override {
    dir_.Write("more.csv.gz", absl::StrCat(kPodHeader, kPodRows, "p-3,1,1,1,1000,,LS,,1,2,1\n"));
  }
  // "8 cells (3 run now, 5 from before) in OUT/sweep.csv"
  static std::string Report(size_t cells, size_t now, absl::string_view out) {
    return absl::StrCat(cells, " cells (", now, " run now, ", cells - now, " from before) in ", out,
                        "/sweep.csv\n");
  }
};

TEST_F(CliSweepTest, MergesEveryCellInOrder) {
  EXPECT_EQ(Succeed(SmallInto("out")), Report(8, 8, "out"));
  EXPECT_EQ(dir_.List("out"), (Names{"sweep.csv", "sweep.partial.csv"}));
  const std::string csv = dir_.Read("out/sweep.csv");
  const Names lines = Split(csv, '\n');
  ASSERT_EQ(lines.size(), 10u);  // a header, eight cells, nothing behind the last line end
  EXPECT_EQ(lines[9], "");
  EXPECT_TRUE(absl::StartsWith(
      lines[0],
      "key,trace,policy,seed,pods_arrived,pods_unschedulable,gpu_arrived_milli,"
      "gpu_allocated_milli,cpu_allocated_milli,fragmentation_milli,fragmentation_ratio_percent,"
      "gpu_allocation_percent_at_25,"));
  EXPECT_TRUE(absl::EndsWith(lines[0], ",order_hash,rank_hash,placement_hash,fingerprint"));
  size_t line = 1;
  std::vector<std::string> keys;
  for (const char* trace : {"pods", "more"}) {
    for (const char* policy : {"fgd", "best-fit"}) {
      for (const char* seed : {"1", "2"}) {
        const Names fields = Split(lines[line], ',');
        ASSERT_EQ(fields.size(), Split(lines[0], ',').size());
        EXPECT_EQ(fields[1], trace);
        EXPECT_EQ(fields[2], policy);
        EXPECT_EQ(fields[3], seed);
        EXPECT_EQ(fields[4], absl::string_view(trace) == "pods" ? "3" : "4");
        keys.push_back(fields[0]);
        // The same as a run of its own.
        const std::string json =
            Succeed({"run", "--nodes", "nodes.csv", "--pods",
                     absl::string_view(trace) == "pods" ? "pods.csv" : "more.csv.gz", "--policy",
                     policy, "--seed", seed, "--order", "artifact", "--format", "json"});
        EXPECT_EQ(JsonAt(json, "fingerprint"), absl::StrCat("\"", fields.back(), "\""));
        EXPECT_EQ(JsonAt(json, "hashes.placement"),
                  absl::StrCat("\"", fields[fields.size() - 2], "\""));
        EXPECT_EQ(JsonAt(json, "gpu.allocated_milli"), fields[7]);
        ++line;
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_TRUE(std::unique(keys.begin(), keys.end()) == keys.end());
}

TEST_F(CliSweepTest, FinishedCellsAreNotRunAgain) {
  Succeed(SmallInto("out"));
  const std::string csv = dir_.Read("out/sweep.csv");
  EXPECT_EQ(Succeed(SmallInto("out")), Report(8, 0, "out"));
  EXPECT_EQ(dir_.Read("out/sweep.csv"), csv);
  // One more seed: only its cells.
  Names more = SmallInto("out");
  std::replace(more.begin(), more.end(), std::string("1..2"), std::string("1..3"));
  EXPECT_EQ(Succeed(more), Report(12, 4, "out"));
  // The number of threads and the order in which cells end leave no trace.
  Names one_thread = SmallInto("single");
  std::replace(one_thread.begin(), one_thread.end(), std::string("2"), std::string("1"));
  EXPECT_EQ(Succeed(one_thread), Report(8, 8, "single"));
  EXPECT_EQ(dir_.Read("single/sweep.csv"), csv);
}

TEST_F(CliSweepTest, ChangedInputIsRunAgain) {
  Succeed(SmallInto("out"));
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows, "p-9,1,1,0,0,,LS,,1,2,1\n"));
  EXPECT_EQ(Succeed(SmallInto("out")), Report(8, 4, "out"));
  const Names lines = Split(dir_.Read("out/sweep.csv"), '\n');
  EXPECT_EQ(Split(lines[1], ',')[4], "4");
}

// A mapping says what the bytes of a trace mean: another mapping is another input.
TEST_F(CliSweepTest, AChangedMappingIsRunAgain) {
  const auto mapping = [this](const char* unit) {
    dir_.Write("m.yaml", absl::StrCat("name: m\npods:\n  name: {column: name}\n  cpu: {column: "
                                      "cpu_milli, unit: ",
                                      unit, "}\n"));
  };
  const Names args = {"sweep",   "--nodes", "nodes.csv",  "--pods", "pods.csv",
                      "--trace", "m.yaml",  "--policies", "fgd",    "--seeds",
                      "1",       "--out",   "out"};
  mapping("milli");
  EXPECT_EQ(Succeed(args), Report(1, 1, "out"));
  mapping("percent");
  EXPECT_EQ(Succeed(args), Report(1, 1, "out"));
}

TEST_F(CliSweepTest, CutAndTornResultsAreRunAgain) {
  Succeed(SmallInto("whole"));
  const std::string csv = dir_.Read("whole/sweep.csv");
  const std::string partial = dir_.Read("whole/sweep.partial.csv");
  ASSERT_EQ(Lines(partial), 8u);
  size_t folder = 0;
  for (size_t cut = 0; cut < partial.size(); cut += 97) {
    const size_t finished = Lines(absl::string_view(partial).substr(0, cut));
    const std::string out = absl::StrCat("cut", folder++);
    std::filesystem::create_directory(dir_.PathOf(out));
    dir_.Write(absl::StrCat(out, "/sweep.partial.csv"), absl::string_view(partial).substr(0, cut));
    EXPECT_EQ(Succeed(SmallInto(out)), Report(8, 8 - finished, out)) << cut;
    EXPECT_EQ(dir_.Read(absl::StrCat(out, "/sweep.csv")), csv) << cut;
    // Now everything is there, whatever the torn line looked like.
    EXPECT_EQ(Succeed(SmallInto(out)), Report(8, 0, out)) << cut;
  }
}

// Killed, resumed and killed again before the torn cell was run: its line has a line end by now,
// but still no whole fingerprint.
TEST_F(CliSweepTest, ATornLineStaysTorn) {
  Succeed(SmallInto("out"));
  const std::string csv = dir_.Read("out/sweep.csv");
  const std::string partial = dir_.Read("out/sweep.partial.csv");
  const size_t second = partial.find('\n', partial.find('\n') + 1);
  dir_.Write("out/sweep.partial.csv",
             absl::StrCat(absl::string_view(partial).substr(0, second - 3), "\n"));
  EXPECT_EQ(Succeed(SmallInto("out")), Report(8, 7, "out"));
  EXPECT_EQ(dir_.Read("out/sweep.csv"), csv);
}

// A temporary file left by a kill between writing and renaming is drasim's own.
TEST_F(CliSweepTest, ALeftOverTemporaryIsNoForeignFile) {
  Succeed(SmallInto("out"));
  dir_.Write("out/sweep.csv.tmp", "half");
  EXPECT_EQ(Succeed(SmallInto("out")), Report(8, 0, "out"));
}

TEST_F(CliSweepTest, AKilledSweepGoesOn) {
  const Names cells = absl::StrSplit(
      "sweep --set cluster.nodes=300 --set workload.generated.pods=20000 --seeds 1..4 --jobs 1 "
      "--out",
      ' ');
  constexpr size_t kCells = 28;
  Names uninterrupted = cells;
  uninterrupted.push_back("whole");
  EXPECT_EQ(Succeed(uninterrupted), Report(kCells, kCells, "whole"));
  const std::string csv = dir_.Read("whole/sweep.csv");
  EXPECT_EQ(Lines(csv), kCells + 1);

  Names interrupted = cells;
  interrupted.push_back("out");
  for (const int number : {SIGKILL, SIGINT}) {
    const size_t before = Lines(dir_.Read("out/sweep.partial.csv"));
    Process process(DRASIM_BINARY, interrupted, dir_.path());
    while (Lines(dir_.Read("out/sweep.partial.csv")) < before + 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_TRUE(process.Running()) << "ended before it could be killed";
    }
    process.Signal(number);
    EXPECT_NE(process.Wait().exit_code, 0);
    EXPECT_FALSE(dir_.Has("out/sweep.csv"));
  }
  const std::string report = Succeed(interrupted);
  const Names words = Split(report, ' ');
  ASSERT_GE(words.size(), 6u) << report;
  size_t now = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripPrefix(words[2], "("), &now)) << report;
  EXPECT_EQ(report, Report(kCells, now, "out"));
  EXPECT_LE(now, kCells - 3);  // two cells and one more were finished before the signals
  EXPECT_GE(now, 1u);
  EXPECT_TRUE(dir_.Read("out/sweep.csv") == csv);
}

TEST_F(CliSweepTest, Refusals) {
  ExpectRefused({"sweep"}, "sweep needs --out DIR");
  ExpectRefused({"sweep", "--out", "out", "--jobs", "0"},
                "--jobs: found '0', expected a number from 1 to 256");
  ExpectRefused({"sweep", "--out", "out", "--seeds", "9..1"},
                "seeds: found '9..1', expected the smaller number first: 1..9");
  ExpectRefused({"sweep", "--out", "out", "--policies", "fgd,fdg"},
                "--policies: unknown policy 'fdg' (did you mean 'fgd'?)");
  EXPECT_FALSE(dir_.Has("out"));
  // A trace that is bad in the middle: nothing that looks complete.
  dir_.Write("bad.csv", absl::StrCat(kPodHeader, "a,-1,1,0,0,,LS,,1,2,1\n"));
  ExpectRefused({"sweep", "--nodes", "nodes.csv", "--pods", "pods.csv,bad.csv", "--out", "out"},
                "bad.csv:2:3: cpu_milli: found '-1', expected a plain number of milli-CPU that is "
                "not negative");
  EXPECT_FALSE(dir_.Has("out/sweep.csv"));
}

}  // namespace cli_sweep_test
}  // namespace drasim
