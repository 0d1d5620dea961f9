// --emit: the scripts run under a stand-in for sbatch, the manifests' commands under sh.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_emit_test {

using Names = std::vector<std::string>;

class CliEmitTest : public CliTest {
 protected:
  CliEmitTest() {
    dir_.Write("s.yaml", TestText("Suite"));
    dir_.Write("small.yaml", TestText("Scenario"));
    std::filesystem::create_directory(dir_.PathOf("bin"));
    dir_.Write("bin/sbatch", TestText("FakeSbatch"));
    std::filesystem::permissions(dir_.PathOf("bin/sbatch"), std::filesystem::perms::owner_all);
    std::filesystem::create_symlink(DRASIM_BINARY, dir_.PathOf("bin/drasim"));
  }

  std::string Emit(const std::string& engine, const std::string& out, Names more = {}) const {
    Names args = {"bench", "run", "s.yaml", "--emit", engine, "--shards", "3", "--out", out};
    args.insert(args.end(), more.begin(), more.end());
    return Succeed(args);
  }
  // Under sh, with the folder bin/ first in PATH.
  ProcessResult Shell(const std::string& script) const {
    return Process("/bin/sh", {"-c", "PATH=$PWD/bin:$PATH; export PATH\n" + script}, dir_.path())
        .Wait();
  }
  std::string Whole() const {
    Succeed({"bench", "run", "s.yaml", "--out", "whole", "--quiet"});
    return dir_.Read("whole/cells.csv");
  }
};

TEST_F(CliEmitTest, SlurmScript) {
  const std::string script = Emit("slurm", "out/", {"--tier", "pr", "--jobs", "2", "--force"});
  EXPECT_EQ(absl::StrReplaceAll(
                script, {{std::filesystem::canonical(DRASIM_BINARY).string(), "/bin/drasim"}}),
            TestText("SlurmScript"));
}

TEST_F(CliEmitTest, SlurmScriptRuns) {
  // Words that a shell would take apart.
  const std::string script =
      Emit("slurm", "it's out", {"--filter", "^small/[^ ]*/(fgd|best-fit)/[0-9]+$"});
  const ProcessResult submitted = Shell(script);
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "job 1: shards; job 2: merge\n");
  const Names calls = absl::StrSplit(dir_.Read("sbatch.log"), '\n');
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_TRUE(absl::StrContains(calls[0], "--array=1-3")) << calls[0];
  EXPECT_TRUE(absl::StrContains(calls[0], "--requeue")) << calls[0];
  EXPECT_TRUE(absl::StrContains(calls[1], "--dependency=afterany:1 ")) << calls[1];
  EXPECT_EQ(dir_.Read("it's out/cells.csv"), Whole());
  EXPECT_EQ(dir_.Read("it's out.shards/merge.log"),
            "6 cells of 3 shards (0 missing) in it's out\n");
}

TEST_F(CliEmitTest, SlurmScriptOfASweep) {
  const Names sweep = {"sweep", "small.yaml", "--policies", "fgd,best-fit", "--seeds", "1..2"};
  Names args = sweep;
  args.insert(args.end(), {"--out", "out", "--emit", "slurm", "--shards", "4"});
  const ProcessResult submitted = Shell(Succeed(args));
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  args = sweep;
  args.insert(args.end(), {"--out", "whole", "--quiet"});
  Succeed(args);
  EXPECT_EQ(dir_.Read("out/sweep.csv"), dir_.Read("whole/sweep.csv"));
}

// The commands of the two Jobs' containers, as Kubernetes hands them to sh.
Names ContainerCommands(absl::string_view manifests) {
  Names commands;
  for (const absl::string_view line : absl::StrSplit(manifests, '\n')) {
    const absl::string_view head = "        command: [sh, -c, \"";
    if (!absl::StartsWith(line, head)) continue;
    EXPECT_TRUE(absl::EndsWith(line, "\"]")) << line;
    std::string text;
    EXPECT_TRUE(absl::CUnescape(line.substr(head.size(), line.size() - head.size() - 2), &text));
    commands.push_back(absl::StrReplaceAll(text, {{"$$", "$"}}));
  }
  return commands;
}

TEST_F(CliEmitTest, KubernetesManifests) {
  const std::string manifests = Emit("kubernetes", "out", {"--jobs", "2"});
  EXPECT_EQ(manifests, TestText("KubernetesManifests"));
  // drasim reads Jobs, and checks them as an API server does.
  dir_.Write("jobs.yaml", manifests);
  dir_.Write("node.yaml", TestText("Node"));
  dir_.Write("k.yaml", TestText("ManifestScenario"));
  EXPECT_EQ(JsonAt(Succeed({"run", "k.yaml", "--format", "json"}), "arrived"), "4");
}

TEST_F(CliEmitTest, KubernetesCommandsRun) {
  const std::string filter = "^small/\"?kubernetes\"?/(fgd|best-fit)/[0-9]+$";
  const Names commands =
      ContainerCommands(Emit("kubernetes", "the $(HOME) out", {"--filter", filter}));
  ASSERT_EQ(commands.size(), 2u);
  for (const char* index : {"2", "0", "1"}) {
    const ProcessResult shard =
        Shell(absl::StrCat("export JOB_COMPLETION_INDEX=", index, "\n", commands[0]));
    EXPECT_EQ(shard.exit_code, 0) << shard.err;
  }
  const ProcessResult merge = Shell(commands[1]);
  EXPECT_EQ(merge.exit_code, 0) << merge.err;
  EXPECT_EQ(merge.out, "6 cells of 3 shards (0 missing) in the $(HOME) out\n");
  EXPECT_EQ(dir_.Read("the $(HOME) out/cells.csv"), Whole());
}

}  // namespace cli_emit_test
}  // namespace drasim
