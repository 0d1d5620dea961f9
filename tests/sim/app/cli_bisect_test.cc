// drasim bench bisect over a history of 40 commits whose builds are scripts around this drasim:
// planted changes of decisions, of work and of figures, commits that do not build or run.
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_bisect_test {

constexpr int kCommits = 40;

// The settings from that commit on; nothing in between changes.
struct Planted {
  int commit;
  const char* settings;
};
constexpr Planted kPlanted[] = {
    {5, "scheduler.policy=best-fit"},
    {11, "scheduler.policy=best-fit timing.schedule=8ms"},
    {20, "scheduler.policy=best-fit timing.schedule=8ms cluster.nodes=4"},
    {33, "scheduler.policy=worst-fit-is-unknown"},
    {34, "scheduler.policy=dotprod timing.schedule=8ms cluster.nodes=4"},
    {38, "scheduler.policy=dotprod timing.schedule=8ms cluster.nodes=4 scheduler.cache=false"},
};

constexpr char kBuild[] =
    "#!/bin/sh\n"
    "test ! -e broken || exit 1\n"
    "mkdir -p out\n"
    "set=''\n"
    "for word in $(cat settings); do set=\"$set --set $word\"; done\n"
    "printf '#!/bin/sh\\nif [ \"$1\" = run ]; then exec %s \"$@\" %s; fi\\nexec %s \"$@\"\\n' "
    "\"$DRASIM\" \"$set\" \"$DRASIM\" >out/drasim\n"
    "chmod +x out/drasim\n";

class CliBisectTest : public CliTest {
 protected:
  static void SetUpTestSuite() {
    repository_ = new TempDir;
    repository_->Write("build.sh", kBuild);
    repository_->Write("s.yaml",
                       "mode: replay\n"
                       "cluster: {nodes: 3}\n"
                       "workload:\n"
                       "  generated: {pods: 40, interarrival: exponential(mean=5), run_time: "
                       "exponential(mean=300)}\n"
                       "scheduler: {policy: fgd}\n");
    repository_->Write("suite.yaml",
                       "version: 1\n"
                       "entries:\n"
                       "- name: small\n"
                       "  scenario: s.yaml\n"
                       "  seeds: 1..2\n"
                       "  tier: smoke\n"
                       "  primary: {metric: mean_jct_seconds, better: lower}\n");
    // Commits 12 to 14 do not build; 33 builds, but its program refuses to run.
    std::string script =
        "set -e\n"
        "git init -q .\n"
        "git config user.name t; git config user.email t@example.org\n"
        "c() { git add -A; git commit -q -m \"Step $1\"; git tag \"c$1\"; }\n"
        "printf '' >settings\n";
    for (int i = 0; i < kCommits; ++i) {
      for (const Planted& planted : kPlanted) {
        if (planted.commit == i) {
          absl::StrAppend(&script, "printf '", planted.settings, "' >settings\n");
        }
      }
      if (i == 9) absl::StrAppend(&script, "touch broken\n");
      if (i == 11) absl::StrAppend(&script, "rm broken\n");
      absl::StrAppend(&script, "echo ", i, " >count; c ", i, "\n");
    }
    const ProcessResult made = Process("/bin/sh", {"-c", script}, repository_->path()).Wait();
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static void TearDownTestSuite() { delete repository_; }

  ProcessResult Bisect(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {
        "bench",      "bisect",     "--suite",
        "suite.yaml", "--build",    absl::StrCat("DRASIM=", DRASIM_BINARY, " sh build.sh"),
        "--program",  "out/drasim", "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return Process(DRASIM_BINARY, args, repository_->path()).Wait();
  }

  static TempDir* repository_;
};
TempDir* CliBisectTest::repository_ = nullptr;

std::vector<std::string> LinesWith(absl::string_view text, absl::string_view word) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, word)) lines.emplace_back(line);
  }
  return lines;
}

TEST_F(CliBisectTest, FindsEveryPlantedChange) {
  const ProcessResult result = Bisect({"--good", "c0", "--bad", "c39", "--all", "small"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::vector<std::string> found = LinesWith(result.out, "first commit that differs");
  ASSERT_EQ(found.size(), 5u) << result.out;
  const char* const kSteps[] = {"Step 5", "Step 11", "Step 20", "Step 34", "Step 38"};
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(absl::EndsWith(found[i], kSteps[i])) << found[i];
  }
  // Commits that could not be tested stand between the last good one and steps 11 and 34.
  EXPECT_EQ(LinesWith(result.out, "could not be tested").size(), 2u) << result.out;
  // Four changes have a decision with candidates, one only costs work.
  EXPECT_EQ(LinesWith(result.out, "  before: pod ").size(), 4u) << result.out;
  EXPECT_EQ(LinesWith(result.out, "  after: pod ").size(), 4u) << result.out;
  EXPECT_EQ(LinesWith(result.out, "all decisions are the same").size(), 1u) << result.out;
  EXPECT_EQ(LinesWith(result.out, "; best: node-").size(), 8u) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "39 commits, ")) << result.out;
}

TEST_F(CliBisectTest, NamesTheDecisionAsData) {
  const ProcessResult result =
      Bisect({"--good", "c0", "--bad", "c8", "small/kubernetes/fgd/1", "--format", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(JsonAt(result.out, "schema"), "\"drasim.bench-bisect/v1\"");
  EXPECT_EQ(JsonAt(result.out, "changes.subject"), "\"Step 5\"");
  EXPECT_EQ(JsonAt(result.out, "changes.figures.figure"), "\"fingerprint\"");
  EXPECT_EQ(JsonAt(result.out, "changes.figures.cell"), "\"small/kubernetes/fgd/1\"");
  EXPECT_EQ(LinesWith(result.out, "\"FGD\"").size(), 1u) << result.out;
  EXPECT_EQ(LinesWith(result.out, "\"BestFit\"").size(), 1u) << result.out;
  EXPECT_EQ(LinesWith(result.out, "\"unknown\": null").size(), 2u) << result.out;
}

TEST_F(CliBisectTest, WatchesChosenFigures) {
  // The policy's change moves no counter of evictions.
  const ProcessResult same =
      Bisect({"--good", "c0", "--bad", "c8", "--figures", "pods.evicted", "small"});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_TRUE(absl::StartsWith(same.out, "both ends agree in every figure\n")) << same.out;
  const ProcessResult steps =
      Bisect({"--good", "c34", "--bad", "c39", "--figures", "steps.", "small"});
  EXPECT_EQ(LinesWith(steps.out, "first commit").size(), 1u) << steps.out;
  EXPECT_TRUE(absl::StrContains(steps.out, " steps.cache_hits: ")) << steps.out;
}

// Neither worktrees nor other traces stay behind.
TEST_F(CliBisectTest, LeavesTheRepositoryAsItWas) {
  Bisect({"--good", "c0", "--bad", "c8", "small"});
  const auto git = [](const std::vector<std::string>& args) {
    std::vector<std::string> words = {"git"};
    words.insert(words.end(), args.begin(), args.end());
    return Process("/usr/bin/env", words, repository_->path()).Wait().out;
  };
  EXPECT_EQ(git({"status", "--porcelain"}), "");
  EXPECT_EQ(LinesWith(git({"worktree", "list"}), "/").size(), 1u);
}

TEST_F(CliBisectTest, RefusesWhatItCannotDo) {
  const auto error = [this](const std::vector<std::string>& args) {
    const ProcessResult result = Bisect(args);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.err;
  };
  EXPECT_EQ(error({"small"}), "drasim: error: bench bisect needs --good REV\n");
  EXPECT_EQ(error({"--good", "c0"}), "drasim: error: bench bisect needs one ENTRY of the suite\n");
  EXPECT_TRUE(absl::StrContains(error({"--good", "nowhere", "small"}),
                                "--good: found 'nowhere', expected a commit of "));
  EXPECT_TRUE(absl::StrContains(error({"--good", "c9", "--bad", "c3", "small"}),
                                "--good: found 'c9', expected an ancestor of c3"));
  EXPECT_TRUE(absl::StrContains(error({"--good", "c0", "large"}),
                                "found 'large', expected an entry of suite.yaml"));
  EXPECT_TRUE(absl::StrContains(error({"--good", "c0", "--bad", "c9", "small"}),
                                "the build failed: exit code 1"));
}

}  // namespace cli_bisect_test
}  // namespace drasim
