// Input that is well-formed but extreme: drasim either copes with it or refuses it. It never
// crashes, and a ledger that it wrote can be read.
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_extreme_input_test {

class CliExtremeInputTest : public CliTest {
 protected:
  // Runs over these pods. The run succeeds or is refused; what it leaves can be read.
  ProcessResult RunPods(absl::string_view rows, const std::vector<std::string>& args = {}) {
    dir_.Write("pods.csv", absl::StrCat(kPodHeader, rows));
    std::vector<std::string> all = {"--out", "out"};
    all.insert(all.end(), args.begin(), args.end());
    const ProcessResult result = RunTiny(all);
    EXPECT_EQ(result.signal, 0) << result.err;
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 2)
        << result.exit_code << " " << result.err;
    if (result.exit_code != 0) return result;
    const ProcessResult diff = Run({"diff", "out", "out"});
    EXPECT_EQ(diff.exit_code, 0) << diff.err;
    EXPECT_TRUE(absl::StartsWith(diff.out, "same: ")) << diff.out;
    return result;
  }
};

// The fragmentation measure has a place for each distinct share that typical pods ask for.
TEST_F(CliExtremeInputTest, AThousandDifferentShares) {
  std::string rows;
  for (int i = 1; i <= 1000; ++i) absl::StrAppend(&rows, "p-", i, ",1,1,1,", i, ",,LS,,1,2,1\n");
  EXPECT_EQ(RunPods(rows).exit_code, 0);
  EXPECT_EQ(JsonAt(dir_.Read("out/summary.json"), "pods.arrived"), "1000");
}

TEST_F(CliExtremeInputTest, MoreGpusThanAnyNodeMayHave) {
  RunPods("a,1,1,33,1000,,LS,,1,2,1\nb,1,1,1,500,,LS,,1,2,1\n");
}

TEST_F(CliExtremeInputTest, ADemandFarBeyondTheCluster) {
  RunPods("a,1,1,2147483647,1000,,LS,,1,2,1\nb,1,1,1,500,,LS,,1,2,1\n");
}

TEST_F(CliExtremeInputTest, ARequestOfEverythingThatFitsInANumber) {
  const ProcessResult result = RunPods("a,9223372036854775807,8796093022207,0,0,,LS,,1,2,1\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(JsonAt(dir_.Read("out/summary.json"), "pods.unschedulable"), "1");
}

// Each amount fits 64 bits, their sum does not.
TEST_F(CliExtremeInputTest, NodesWhoseSumOverflows) {
  dir_.Write("nodes.csv", absl::StrCat(kNodeHeader,
                                       "a,9223372036854775807,8796093022207,1,T4\n"
                                       "b,9223372036854775807,8796093022207,1,T4\n"));
  const ProcessResult result = RunPods("a,1,1,1,100,,LS,,1,2,1\n");
  EXPECT_EQ(result.exit_code, 2) << result.out;
}

// Arrival and run time are in range, the end is not.
TEST_F(CliExtremeInputTest, APodThatEndsBeyondTheClock) {
  const ProcessResult result =
      RunPods("a,1,1,1,100,,LS,,9000000000,9000000000,0\nb,1,1,1,100,,LS,,9000000001,5,1\n",
              {"--mode", "replay", "--order", "trace"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
}

TEST_F(CliExtremeInputTest, NamesOfAnyBytes) {
  RunPods("caf\xe9,1,1,1,100,,LS,,1,2,1\n");      // Latin-1
  RunPods("caf\xc3\xa9,1,1,1,100,,LS,,1,2,1\n");  // UTF-8
  RunPods("\"a,b\",1,1,1,100,,LS,,1,2,1\n\"say \"\"hi\"\"\",1,1,0,0,,LS,,1,2,1\n");
  // Nothing is lost on the way into pods.csv and back.
  dir_.Write("again.csv", dir_.Read("out/pods.csv"));
  dir_.Write(
      "again.yaml",
      "name: again\npods:\n  name: {column: pod}\n  cpu: {column: cpu_milli, unit: milli}\n");
  const ProcessResult again =
      Run({"run", "--nodes", "nodes.csv", "--pods", "again.csv", "--trace", "again.yaml"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(CliExtremeInputTest, NoPodsAndNoNodes) {
  const ProcessResult no_pods = RunPods("", {"--tuning-ratio", "1.3"});
  EXPECT_EQ(no_pods.exit_code, 2);
  EXPECT_EQ(no_pods.err, "drasim: error: the workload has no pods\n");
  dir_.Write("nodes.csv", kNodeHeader);
  for (const char* order : {"artifact", "seeded", "trace"}) {
    const ProcessResult no_nodes = RunPods(kPodRows, {"--order", order});
    EXPECT_EQ(no_nodes.exit_code, 0) << order;
    EXPECT_EQ(JsonAt(dir_.Read("out/summary.json"), "pods.unschedulable"), "3");
  }
}

TEST_F(CliExtremeInputTest, FiguresOfNoPodsAreNoSuccess) {
  dir_.Write("none.csv", kPodHeader);
  dir_.Write("bad.csv", absl::StrCat(kPodHeader, "a,1m,1,0,0,,LS,,1,2,1\nb,2m,1,0,0,,LS,,1,2,1\n"));
  const std::string skipped =
      "the workload has no pods\n2 row(s) skipped: not a number; the first: bad.csv:2:3: "
      "cpu_milli: found '1m', expected a plain number of milli-CPU; the mapping's unit quantity "
      "reads such amounts";
  ExpectRefused({"trace", "stats", "none.csv"}, "the workload has no pods");
  ExpectRefused({"trace", "stats", "bad.csv", "--lenient"}, skipped);
  ExpectRefused({"trace", "convert", "none.csv", "--out", "c.csv"}, "the workload has no pods");
  ExpectRefused({"trace", "convert", "bad.csv", "--lenient", "--out", "c.csv"}, skipped);
  EXPECT_FALSE(dir_.Has("c.csv"));
  EXPECT_FALSE(dir_.Has("c.csv.part"));
}

TEST_F(CliExtremeInputTest, SixtyFiveGpuModels) {
  std::string nodes = kNodeHeader;
  for (int i = 0; i < 65; ++i) absl::StrAppend(&nodes, "n-", i, ",1000,1024,1,model-", i, "\n");
  dir_.Write("nodes.csv", nodes);
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows));
  const ProcessResult result = RunTiny({"--order", "trace"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "drasim: error: cluster: GPU model 'model-64' is number 65; at most 64 are "
            "supported\n");
}

// One row of a megabyte is too long; one of a tenth of that is a long name.
TEST_F(CliExtremeInputTest, LongRows) {
  const ProcessResult refused = RunPods(absl::StrCat(std::string(1'100'000, 'x'), ",1\n"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err,
            "drasim: error: pods.csv:2:1: row: found more than 1048576 bytes, expected the end of "
            "the row before that\n");
  const std::string name(100'000, 'x');
  EXPECT_EQ(RunPods(absl::StrCat(name, ",1,1,1,100,,LS,,1,2,1\n")).exit_code, 0);
  EXPECT_TRUE(absl::StrContains(dir_.Read("out/pods.csv"), name));
}

}  // namespace cli_extreme_input_test
}  // namespace drasim
