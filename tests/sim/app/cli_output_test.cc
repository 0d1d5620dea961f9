// Output that is lost, memory and disks that run out, two runs in one folder: none of it
// ends with exit code 0, and none of it costs an older result.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/record.h"
#include "sim/record/folder_lock.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_output_test {

using Names = std::vector<std::string>;

class CliOutputTest : public CliTest {
 protected:
  // A shell's command line, in which $DRASIM is the program.
  ProcessResult Shell(absl::string_view command) const {
    return Process("/bin/sh", {"-c", absl::StrCat("DRASIM='", DRASIM_BINARY, "'; exec ", command)},
                   dir_.path())
        .Wait();
  }
  void ExpectFails(absl::string_view command, absl::string_view message) const {
    const ProcessResult result = Shell(command);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_EQ(result.err, absl::StrCat("drasim: error: ", message, "\n")) << command;
    EXPECT_EQ(result.out, "") << command;
  }
};

TEST_F(CliOutputTest, LostOutputIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  dir_.Write("s.yaml", "mode: fill\n");
  ASSERT_EQ(RunTiny({"--out", "out"}).exit_code, 0);
  for (const char* args :
       {"--help", "--version", "run --help", "mig products", "mig count A100-40GB",
        "run --nodes nodes.csv --pods pods.csv",
        "compare --nodes nodes.csv --pods pods.csv --policies best-fit,fgd --format csv",
        "explain out --pod p-0", "trace stats pods.csv", "trace fetch", "validate s.yaml",
        "diff out out", "report out --out -", "report out --out out.html", "completion bash"}) {
    ExpectFails(absl::StrCat("\"$DRASIM\" ", args, " > /dev/full"),
                "standard output: cannot write: No space left on device");
  }
  const ProcessResult json =
      Shell("\"$DRASIM\" run --nodes nodes.csv --pods pods.csv --format json > /dev/full");
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(JsonAt(json.err, "message"),
            "\"standard output: cannot write: No space left on device\"")
      << json.err;
  const ProcessResult converted = Shell("\"$DRASIM\" trace convert pods.csv --out - > /dev/full");
  EXPECT_EQ(converted.exit_code, 1) << converted.err;
}

TEST_F(CliOutputTest, AClosedStandardOutputIsAFailureAndNoFileTakesItsPlace) {
  ExpectFails("\"$DRASIM\" mig products >&-", "standard output: cannot write: Bad file descriptor");
  ASSERT_EQ(RunTiny({"--out", "out"}).exit_code, 0);
  ExpectFails("\"$DRASIM\" run --nodes nodes.csv --pods pods.csv --out closed >&-",
              "standard output: cannot write: Bad file descriptor");
  for (const char* name : {"ledger", "summary.json", "timeseries.csv"}) {
    EXPECT_TRUE(dir_.Read(absl::StrCat("closed/", name)) == dir_.Read(absl::StrCat("out/", name)))
        << name;
  }
}

TEST_F(CliOutputTest, LackOfMemoryIsOneLine) {
  constexpr char kMessage[] =
      "out of memory: the run needs more than the machine, or a limit on the process, allows";
  const char* const node = " --set cluster.node.cpu=1 --set cluster.node.memory=1Gi";
  for (const char* command :
       {"run --set cluster.nodes=16777216",
        "compare --policies best-fit,fgd --jobs 2 --set cluster.nodes=3000000"}) {
    const ProcessResult result = Shell(
        absl::StrCat("sh -c 'ulimit -v 200000; exec \"$0\" ", command, node, "' \"$DRASIM\""));
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_EQ(result.err, absl::StrCat("drasim: error: ", kMessage, "\n")) << command;
  }
}

// A limit on the size of files is a disk that is full, without its having to be filled.
TEST_F(CliOutputTest, AFullDiskKeepsTheOlderResult) {
  const char* const run = "run --nodes nodes.csv --pods pods.csv --order trace --out out";
  ASSERT_EQ(Shell(absl::StrCat("\"$DRASIM\" ", run)).exit_code, 0);
  const Names files = dir_.List("out");
  const std::string summary = dir_.Read("out/summary.json");
  const std::string timeseries = dir_.Read("out/timeseries.csv");
  std::string rows = kPodHeader;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&rows, "p-", i, ",1,1,0,0,,LS,,5,6,5\n");
  dir_.Write("pods.csv", rows);
  const ProcessResult full =
      Shell(absl::StrCat("sh -c 'ulimit -f 8; exec \"$0\" ", run, "' \"$DRASIM\""));
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err,
            "drasim: error: out/timeseries.csv.tmp: cannot write: File too large; `drasim run "
            "--resume --out out` goes on with it\n");
  Names expected = files;
  for (const char* name : {"ledger.partial", "timeseries.csv.tmp"}) expected.push_back(name);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(dir_.List("out"), expected);
  EXPECT_EQ(dir_.Read("out/summary.json"), summary);
  EXPECT_EQ(dir_.Read("out/timeseries.csv"), timeseries);
  // With room again, the new run replaces it.
  const ProcessResult resumed = Run({"run", "--resume", "--out", "out", "--format", "json"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(dir_.List("out"), files);
  EXPECT_EQ(dir_.Read("out/summary.json"), resumed.out);
  EXPECT_EQ(JsonAt(resumed.out, "pods.arrived"), "300");
}

TEST_F(CliOutputTest, AFullDiskEndsAFetch) {
  std::filesystem::create_directory(dir_.PathOf("mirror"));
  dir_.Write("mirror/openb_node_list_all_node.csv", std::string(100000, 'x'));
  ExpectFails(
      "sh -c 'ulimit -f 8; exec \"$0\" trace fetch openb --quiet --mirror mirror --out got' "
      "\"$DRASIM\"",
      "cannot write got/openb_node_list_all_node.csv.part: File too large");
}

// A new run also removes the older files that it has none of its own for.
TEST_F(CliOutputTest, AReplaysFilesDoNotOutliveTheNextFill) {
  ASSERT_EQ(RunTiny({"--out", "out", "--mode", "replay"}).exit_code, 0);
  EXPECT_TRUE(dir_.Has("out/jobs.csv"));
  ASSERT_EQ(RunTiny({"--out", "out"}).exit_code, 0);
  EXPECT_EQ(dir_.List("out"), (Names{"by_load.csv", "ledger", "pods.csv", "run.json",
                                     "scenario.yaml", "summary.json", "timeseries.csv"}));
}

TEST_F(CliOutputTest, AFolderTakesOneProcessAtATime) {
  std::filesystem::create_directory(dir_.PathOf("out"));
  {
    const absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(dir_.PathOf("out"));
    ASSERT_TRUE(lock.ok()) << lock.status();
    for (const Names& command :
         {Names{"run"}, Names{"run", "--resume"}, Names{"compare", "--policies", "best-fit,fgd"},
          Names{"sweep", "--policies", "best-fit"}}) {
      Names args = command;
      args.insert(args.end(), {"--nodes", "nodes.csv", "--pods", "pods.csv", "--out", "out"});
      ExpectRefused(args,
                    "out: another drasim process is writing into this folder; wait for it to end, "
                    "or choose another folder");
    }
    EXPECT_EQ(dir_.List("out"), Names{"drasim.lock"});
  }
  EXPECT_EQ(RunTiny({"--out", "out"}).exit_code, 0);
  EXPECT_FALSE(dir_.Has("out/drasim.lock"));
}

TEST_F(CliOutputTest, BadPlacesForObjectsAreRefusedBeforeTheRun) {
  std::filesystem::create_directory(dir_.PathOf("mine"));
  dir_.Write("mine/notes.txt", "x");
  const auto refused = [this](const Names& flags, absl::string_view message) {
    Names args = {"run", "--nodes", "nodes.csv", "--pods", "pods.csv"};
    args.insert(args.end(), flags.begin(), flags.end());
    const ProcessResult result = Run(args);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_EQ(result.err, absl::StrCat("drasim: error: ", message, "\n"));
    EXPECT_EQ(result.out, "");
  };
  refused({"--objects-out", "nodes.csv"},
          "nodes.csv: cannot make the output folder: Not a directory");
  refused({"--objects-out", "mine"},
          "mine: holds 'notes.txt', which drasim did not write; choose another folder or give "
          "--force");
  refused({"--objects-out", ""}, "--objects-out: found an empty text, expected a folder");
  refused({"--openmetrics-out", "mine"},
          "--openmetrics-out: found 'mine', expected the name of a file");
  refused({"--openmetrics-out", "none/metrics.txt"},
          "none/metrics.txt.tmp: cannot create the file: No such file or directory");
  EXPECT_EQ(RunTiny({"--objects-out", "mine", "--force"}).exit_code, 0);
  for (const char* name : {"06-nodes.yaml", "32-pods.yaml", "notes.txt"}) {
    EXPECT_TRUE(dir_.Has(absl::StrCat("mine/", name))) << name;
  }
  EXPECT_EQ(RunTiny({"--openmetrics-out", "metrics.txt"}).exit_code, 0);
  EXPECT_TRUE(absl::EndsWith(dir_.Read("metrics.txt"), "\n# EOF\n"));
  EXPECT_FALSE(dir_.Has("metrics.txt.tmp"));
}

TEST_F(CliOutputTest, AFullDiskKeepsTheOlderObjects) {
  ASSERT_EQ(RunTiny({"--objects-out", "objects", "--openmetrics-out", "metrics.txt"}).exit_code, 0);
  const Names files = dir_.List("objects");
  const std::string pods = dir_.Read("objects/32-pods.yaml");
  const std::string metrics = dir_.Read("metrics.txt");
  std::string rows = kPodHeader;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&rows, "p-", i, ",1,1,0,0,,LS,,5,6,5\n");
  dir_.Write("pods.csv", rows);
  const ProcessResult full = Shell(
      "sh -c 'ulimit -f 1000; exec \"$0\" run --nodes nodes.csv --pods pods.csv --objects-out "
      "objects --openmetrics-out metrics.txt --out out' \"$DRASIM\"");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err, "drasim: error: objects/32-pods.yaml.tmp: cannot write: File too large\n");
  EXPECT_EQ(dir_.List("objects"), files);
  EXPECT_EQ(dir_.Read("objects/32-pods.yaml"), pods);
  EXPECT_EQ(dir_.Read("metrics.txt"), metrics);
  // The run's own results are there.
  EXPECT_TRUE(dir_.Has("out/summary.json"));
  EXPECT_NE(full.out, "");
}

TEST_F(CliOutputTest, AResumedRunEndsWithTheSameObjects) {
  const Names scenario = {"--set", "cluster.nodes=20",
                          "--set", "workload.generated.pods=4000",
                          "--set", "output.checkpoint_every=500"};
  Names whole = {"run", "--objects-out", "one", "--openmetrics-out", "one.txt"};
  whole.insert(whole.end(), scenario.begin(), scenario.end());
  ASSERT_EQ(Run(whole).exit_code, 0);
  Names cut = {"run", "--out", "out", "--set", "output.max_ledger=200Ki"};
  cut.insert(cut.end(), scenario.begin(), scenario.end());
  ASSERT_EQ(Run(cut).exit_code, 1);
  const ProcessResult resumed =
      Run({"run", "--resume", "--out", "out", "--set", "output.max_ledger=1Gi", "--objects-out",
           "two", "--openmetrics-out", "two.txt"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(dir_.Read("one/32-pods.yaml") == dir_.Read("two/32-pods.yaml"));
  EXPECT_TRUE(dir_.Read("one/06-nodes.yaml") == dir_.Read("two/06-nodes.yaml"));
  EXPECT_TRUE(dir_.Read("one.txt") == dir_.Read("two.txt"));
  EXPECT_NE(dir_.Read("two.txt"), "");
}

TEST_F(CliOutputTest, ALedgerHasABound) {
  const Names run = absl::StrSplit(
      "run --set cluster.nodes=20 --set workload.generated.pods=30000 --set "
      "output.checkpoint_every=500",
      ' ');
  Names bounded = run;
  bounded.insert(bounded.end(), {"--out", "out", "--set", "output.max_ledger=200Ki"});
  const ProcessResult full = Run(bounded);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_TRUE(absl::StartsWith(full.err,
                               "drasim: error: out/ledger.partial: the ledger would exceed "
                               "output.max_ledger (204800 bytes) at record "))
      << full.err;
  EXPECT_TRUE(absl::EndsWith(full.err,
                             " s into the run; `drasim run --resume --out out --set "
                             "output.max_ledger=SIZE` goes on with it\n"))
      << full.err;
  EXPECT_EQ(full.out, "");
  EXPECT_EQ(dir_.List("out"), (Names{"ledger.partial", "timeseries.csv.tmp"}));
  EXPECT_LE(std::filesystem::file_size(dir_.PathOf("out/ledger.partial")), 204800u);
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir_.PathOf("out"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  Record record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next(&record);
  EXPECT_TRUE(more.ok()) << more.status();
  EXPECT_GE((*reader)->records(), 500u);

  const ProcessResult resumed =
      Run({"run", "--resume", "--out", "out", "--set", "output.max_ledger=1Gi"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, Succeed(run));
  EXPECT_FALSE(absl::StrContains(dir_.Read("out/scenario.yaml"), "max_ledger"));
}

}  // namespace cli_output_test
}  // namespace drasim
