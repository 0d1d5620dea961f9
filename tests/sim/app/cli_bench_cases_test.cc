// drasim bench with cases: results, verdicts that name case and field, counted instructions, and
// mistakes with exit code 2.
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_bench_cases_test {

constexpr char kSuiteOfCases[] =
    "version: 1\n"
    "entries:\n"
    "- name: numa\n"
    "  cases: {world: same-numa, nodes: 3, wanted: 2, rounds: 2}\n"
    "  tier: smoke\n"
    "  cost: true\n"
    "  primary: {metric: case_allocations, better: higher}\n"
    "- name: cel\n"
    "  cases: {file: cel.json, kind: cel}\n"
    "  tier: pr\n"
    "  primary: {metric: case_errors, better: lower}\n";

class CliBenchCasesTest : public CliTest {
 protected:
  CliBenchCasesTest() {
    dir_.Write("s.yaml", kSuiteOfCases);
    dir_.Write("cel.json", R"([{"Name": "one", "Expression": "true", "Driver": "d"}])");
  }

  ProcessResult RunSuite(const std::string& out) const {
    return Run({"bench", "run", "s.yaml", "--out", out, "--quiet"});
  }
};

TEST_F(CliBenchCasesTest, RunsAndCompares) {
  const ProcessResult run = RunSuite("out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "2 cells of s (2 run now, 0 from before, 0 failed, 0 missing) in out\n");
  EXPECT_EQ(RunSuite("out").out,
            "2 cells of s (0 run now, 2 from before, 0 failed, 0 missing) in out\n");
  EXPECT_EQ(Run({"bench", "accept", "--reason", "first", "s.csv", "out"}).exit_code, 0);
  EXPECT_EQ(Run({"bench", "compare", "s.csv", "out"}).out, "2 cells: 2 same\n");
  // Another answer than in the baseline.
  std::string base = dir_.Read("s.csv");
  const size_t devices = base.find(",devices:") + 9;
  base.replace(devices, 8, "00000000");
  const size_t end = base.rfind("\n", base.size() - 2) + 1;
  EXPECT_EQ(base.substr(end, 9), "s,1,numa,");
  base.replace(base.size() - 17, 16, "0000000000000000");
  dir_.Write("s.csv", base);
  const ProcessResult compared = Run({"bench", "compare", "s.csv", "out"});
  EXPECT_EQ(compared.exit_code, 3);
  EXPECT_TRUE(absl::StrContains(compared.out, "case same-numa differs in devices\n"))
      << compared.out;
}

TEST_F(CliBenchCasesTest, OneEntry) {
  const ProcessResult figures = Run({"bench", "cases", "s.yaml", "numa"});
  ASSERT_EQ(figures.exit_code, 0) << figures.err;
  EXPECT_TRUE(absl::StartsWith(figures.out,
                               "cases_answered 1\ncase_allocations 3\ncase_errors 0\n"
                               "decisions 6\nfingerprint "))
      << figures.out;
  EXPECT_TRUE(absl::StrContains(Run({"bench", "cases", "s.yaml", "numa", "--rounds", "5"}).out,
                                "\ndecisions 15\n"));
  // The printed cases have the printed answers.
  const ProcessResult answers = Run({"bench", "cases", "s.yaml", "numa", "--answers"});
  dir_.Write("printed.jsonl", Run({"bench", "cases", "s.yaml", "numa", "--cases"}).out);
  EXPECT_EQ(Run({"cases", "sdra", "printed.jsonl"}).out, answers.out);
  EXPECT_TRUE(absl::StrContains(answers.out, R"("device": "gpu-1")")) << answers.out;
  dir_.Write("printed.json", Run({"bench", "cases", "s.yaml", "cel", "--cases"}).out);
  EXPECT_EQ(Run({"cases", "cel", "printed.json"}).out,
            Run({"bench", "cases", "s.yaml", "cel", "--answers"}).out);
  const ProcessResult json = Run({"bench", "cases", "s.yaml", "cel", "--format", "json"});
  EXPECT_TRUE(absl::StrContains(json.out, R"("case_allocations": 1,)")) << json.out;
  EXPECT_TRUE(absl::StrContains(json.out, R"("1 one": {)")) << json.out;
  EXPECT_TRUE(absl::StartsWith(Run({"bench", "cases", "s.yaml", "cel", "--format", "csv"}).out,
                               "case,field,digest\none,match,0000000000000001\none,matchError,"));
}

TEST_F(CliBenchCasesTest, CountsInstructions) {
  const ProcessResult run =
      Run({"bench", "run", "s.yaml", "--out", "out", "--quiet", "--instructions"});
  if (run.exit_code == 4) GTEST_SKIP() << run.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string costs = dir_.Read("out/costs.csv");
  // Only the entry marked `cost` has a count.
  EXPECT_TRUE(absl::StrContains(costs, "\ncel,,cel,0,")) << costs;
  EXPECT_TRUE(absl::StrContains(costs, ",\nnuma,,incubating,0,")) << costs;
  EXPECT_FALSE(absl::EndsWith(costs, ",\n")) << costs;
}

// The programs of the commits are scripts around this drasim; from step 2 on a claim wants more.
TEST_F(CliBenchCasesTest, BisectNamesCaseAndField) {
  dir_.Write(
      "build.sh",
      "mkdir -p out\n"
      "printf '#!/bin/sh\\nsed -e \"%s\" \"$3\" >x.yaml\\nexec %s bench cases x.yaml --format "
      "json\\n' \"$(cat edit)\" \"$DRASIM\" >out/drasim\n"
      "chmod +x out/drasim\n");
  const ProcessResult made =
      Process("/bin/sh",
              {"-c",
               "set -e\n"
               "git init -q .\n"
               "git config user.name t; git config user.email t@example.org\n"
               "c() { echo $1 >count; git add -A; git commit -q -m \"Step $1\"; git tag c$1; }\n"
               "printf 's/a/a/' >edit; c 0; c 1\n"
               "printf 's/wanted: 2/wanted: 3/' >edit; c 2; c 3\n"},
              dir_.path())
          .Wait();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProcessResult found =
      Run({"bench", "bisect", "--suite", "s.yaml", "--build",
           absl::StrCat("DRASIM=", DRASIM_BINARY, " sh build.sh"), "--program", "out/drasim",
           "--quiet", "--good", "c0", "--bad", "c3", "numa"});
  EXPECT_EQ(found.exit_code, 1) << found.err;
  EXPECT_TRUE(absl::StrContains(found.out, "Step 2\n")) << found.out;
  EXPECT_TRUE(absl::StrContains(found.out, "answers.1 same-numa.devices")) << found.out;
  EXPECT_FALSE(absl::StrContains(found.out, "answers.1 same-numa.error")) << found.out;
}

TEST_F(CliBenchCasesTest, MistakesHaveExitCode2) {
  dir_.Write("s.yaml", absl::StrReplaceAll(kSuiteOfCases, {{"same-numa", "same-name"}}));
  ProcessResult run = RunSuite("out");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err,
                                "s.yaml:4:18: entries.0.cases.world: found 'same-name', "
                                "expected one of gpus, same-numa, "))
      << run.err;
  dir_.Write("s.yaml", absl::StrReplaceAll(kSuiteOfCases, {{"cel.json", "none.json"}}));
  run = RunSuite("out");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "s.yaml:9:17: entries.1.cases.file: ")) << run.err;
  EXPECT_TRUE(absl::StrContains(run.err, "none.json")) << run.err;
  dir_.Write("s.yaml", kSuiteOfCases);
  dir_.Write("cel.json", "[{}, 3]");
  run = RunSuite("out");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(run.err, "cel.json: case 2: not a case: expected an object"))
      << run.err;
  EXPECT_EQ(Run({"bench", "cases", "s.yaml"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "cases", "s.yaml", "num"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "cases"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "cases", "s.yaml", "numa", "--rounds", "0"}).exit_code, 2);
  EXPECT_EQ(Run({"bench", "cases", "s.yaml", "numa", "--cases", "--answers"}).exit_code, 2);
}

}  // namespace cli_bench_cases_test
}  // namespace drasim
