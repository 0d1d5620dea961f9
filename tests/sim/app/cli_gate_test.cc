// drasim compare as a gate: what it leaves, and --baseline with --fail-if.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_gate_test {

class CliGateTest : public CliTest {
 protected:
  CliGateTest() {
    dir_.Write("s.yaml",
               "mode: replay\n"
               "cluster: {nodes: 3}\n"
               "workload:\n"
               "  generated: {pods: 40, interarrival: exponential(mean=5), run_time: "
               "exponential(mean=300)}\n"
               "scheduler: {policy: fgd}\n");
  }
  ProcessResult Compare(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"compare", "s.yaml", "--policies", "fgd,best-fit",
                                     "--seeds", "1..3",   "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
};

TEST_F(CliGateTest, KeepsRowsScenarioAndVersion) {
  ASSERT_EQ(Compare({"--out", "old"}).exit_code, 0);
  const std::string json = dir_.Read("old/compare.json");
  EXPECT_EQ(JsonAt(json, "drasim_version"), "\"0.1.0\"");
  const std::vector<std::string> rows = absl::StrSplit(dir_.Read("old/compare_seeds.csv"), '\n');
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_TRUE(absl::StartsWith(rows[0], "queue,policy,seed,jobs_finished,")) << rows[0];
  EXPECT_TRUE(absl::StartsWith(rows[3], "kubernetes,fgd,3,40,")) << rows[3];
  EXPECT_TRUE(absl::StartsWith(rows[4], "kubernetes,best-fit,1,40,")) << rows[4];
  // The scenario repeats the comparison.
  EXPECT_EQ(Succeed({"compare", "old/compare.yaml", "--quiet", "--format", "json"}), json);
  // Files are known by their bytes.
  const std::string traced = Succeed({"compare", "--nodes", "nodes.csv", "--pods", "pods.csv",
                                      "--quiet", "--policies", "fgd", "--format", "json"});
  EXPECT_EQ(JsonAt(traced, "inputs.path"), "\"nodes.csv\"");
  EXPECT_EQ(JsonAt(traced, "inputs.sha256").size(), 66u) << traced;
}

TEST_F(CliGateTest, FailsWithExitCodeOne) {
  ASSERT_EQ(Compare({"--out", "old"}).exit_code, 0);
  const std::vector<std::string> gate = {"--baseline", "old/compare.json", "--fail-if",
                                         "mean_jct_seconds > 1%"};
  const ProcessResult same = Compare(gate);
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_TRUE(absl::StrContains(same.out,
                                "\nAgainst old/compare.json, 2 row(s): no figure differs.\n"
                                "passed mean_jct_seconds > 1%: kubernetes/fgd 0.0 [0.0, 0.0]\n"))
      << same.out;

  std::vector<std::string> slower = gate;
  slower.insert(slower.end(), {"--set", "timing.schedule=20s", "--fail-if", "jobs_finished < 0"});
  const ProcessResult worse = Compare(slower);
  EXPECT_EQ(worse.exit_code, 1) << worse.out;
  EXPECT_TRUE(absl::StrContains(worse.out, "\nFAILED mean_jct_seconds > 1%: kubernetes/fgd +"))
      << worse.out;
  EXPECT_TRUE(absl::StrContains(worse.out, "\npassed jobs_finished < 0: kubernetes/fgd 0 [0, 0]\n"))
      << worse.out;
  slower.insert(slower.end(), {"--format", "json"});
  const ProcessResult data = Compare(slower);
  EXPECT_EQ(data.exit_code, 1);
  EXPECT_EQ(JsonAt(data.out, "baseline.failed"), "true");
  EXPECT_EQ(JsonAt(data.out, "baseline.rules.failed"), "true");
}

TEST_F(CliGateTest, RefusesBadUsage) {
  ExpectRefused({"compare", "s.yaml", "--fail-if", "goodput < 0"},
                "--fail-if needs --baseline OLD.json");
  dir_.Write("old.json", "{\"schema\": \"drasim.sweep/v1\"}");
  ExpectRefused(
      {"compare", "s.yaml", "--baseline", "old.json"},
      "old.json:1:12: expected the schema drasim.compare/v1 of `drasim compare --out`, or "
      "drasim.bench-judge/v1 of `drasim bench judge --format json`");
}

}  // namespace cli_gate_test
}  // namespace drasim
