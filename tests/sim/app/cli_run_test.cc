// Output of the commands, to the byte where that is the contract.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/app/commands.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_run_test {

using Names = std::vector<std::string>;

class CliRunTest : public CliTest {
 protected:
  ProcessResult RunBestFit(const std::vector<std::string>& args) const {
    std::vector<std::string> all = {"--order", "trace", "--policy", "best-fit"};
    all.insert(all.end(), args.begin(), args.end());
    return RunTiny(all);
  }
};

// By hand: best-fit puts p-0 and p-1 on the smaller node, p-2 on the only one with its model. The
// fingerprint is from an independent program. FOLDER in the scenario is the folder of the files.
TEST_F(CliRunTest, EveryFileToTheByte) {
  const ProcessResult result = RunBestFit({"--out", "out"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, TestText("table"));
  EXPECT_EQ(dir_.List("out"), (Names{"by_load.csv", "ledger", "pods.csv", "run.json",
                                     "scenario.yaml", "summary.json", "timeseries.csv"}));
  EXPECT_EQ(dir_.Read("out/summary.json"), TestText("summary.json"));
  EXPECT_EQ(dir_.Read("out/pods.csv"), TestText("pods.csv"));
  EXPECT_EQ(dir_.Read("out/timeseries.csv"), TestText("timeseries.csv"));
  EXPECT_EQ(dir_.Read("out/by_load.csv"), TestText("by_load.csv"));
  EXPECT_EQ(dir_.Read("out/scenario.yaml"),
            absl::StrReplaceAll(TestText("scenario"), {{"FOLDER", dir_.path()}}));
  const std::string run = dir_.Read("out/run.json");
  EXPECT_EQ(JsonAt(run, "records"), "7");
  EXPECT_EQ(JsonAt(run, "steps.decisions"), "3");
  EXPECT_EQ(JsonAt(run, "steps.nodes_filtered"), "6");
  EXPECT_EQ(JsonAt(run, "steps.cache_hits"), "0");
  EXPECT_NE(JsonAt(run, "wall_seconds"), "");
}

TEST_F(CliRunTest, Formats) {
  EXPECT_EQ(RunBestFit({"--format", "json"}).out, TestText("summary.json"));
  EXPECT_EQ(RunBestFit({"--format=table"}).out, TestText("table"));
  EXPECT_EQ(RunBestFit({"--format", "csv"}).out,
            "policy,seed,pods_arrived,pods_scheduled,pods_unschedulable,gpu_capacity_milli,"
            "gpu_arrived_milli,gpu_allocated_milli,cpu_allocated_milli,fragmentation_milli,"
            "fragmentation_ratio_percent,fingerprint\n"
            "best-fit,42,3,3,0,6000,2460,2460,13000,1693.33,47.83,65ccc57b93c1dba0\n");
  EXPECT_EQ(dir_.List("."), (Names{"nodes.csv", "pods.csv"}));  // without --out, no files
}

// A scenario's paths are relative to its file, and what a run leaves behind runs from anywhere.
// Both ledgers hold the same scenario.
TEST_F(CliRunTest, AScenarioRunsFromAnyFolder) {
  std::filesystem::create_directory(dir_.PathOf("s"));
  dir_.Write("s/nodes.csv", kNodesCsv);
  dir_.Write("s/s.yaml",
             "order: trace\ncluster: {path: nodes.csv}\nworkload: {trace: {path: ../pods.csv}}\n"
             "scheduler: {policy: best-fit}\n");
  Succeed({"run", "s/s.yaml", "--out", "one"});
  const auto run_in_s = [this](const Names& args) {
    const ProcessResult result = Process(DRASIM_BINARY, args, dir_.PathOf("s")).Wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  run_in_s({"run", "s.yaml", "--out", "../two"});
  run_in_s({"run", "../one/scenario.yaml", "--out", "../three"});
  for (const char* const name : {"ledger", "scenario.yaml", "summary.json", "pods.csv"}) {
    EXPECT_TRUE(dir_.Read(absl::StrCat("two/", name)) == dir_.Read(absl::StrCat("one/", name)))
        << name;
    EXPECT_TRUE(dir_.Read(absl::StrCat("three/", name)) == dir_.Read(absl::StrCat("one/", name)))
        << name;
  }
  EXPECT_EQ(dir_.Read("one/summary.json"), TestText("summary.json"));
  // Flags stay relative to the working folder.
  ExpectRefused({"run", "s/s.yaml", "--pods", "../pods.csv"}, "../pods.csv: there is no such file");
  Succeed({"run", "s/s.yaml", "--pods", "pods.csv", "--set", "cluster.path=nodes.csv"});
}

// Mistakes that only the cluster reveals have a place in the file, too.
TEST_F(CliRunTest, AnEventOfANodeThatIsNotThere) {
  dir_.Write("e.yaml",
             "mode: replay\ncluster:\n  nodes: 2\n  node: {cpu: '1', memory: 1Gi}\n  events:\n"
             "    - {at: 1d, nodes: node-7, action: fail}\n");
  for (const char* const command : {"run", "compare"}) {
    ExpectRefused({command, "e.yaml"},
                  "e.yaml:6:23: cluster.events[0].nodes: found 'node-7', which matches no node");
  }
}

TEST_F(CliRunTest, TwoRunsLeaveTheSameBytes) {
  const Names args = {
      "run",      "--set",  "cluster.nodes=20", "--set", "workload.generated.pods=200",
      "--policy", "random", "--tuning-ratio",   "1.2",   "--out",
      ""};
  for (const char* out : {"one", "two"}) {
    Names run = args;
    run.back() = out;
    Succeed(run);
  }
  EXPECT_EQ(Succeed({"run", "one/scenario.yaml", "--out", "three", "--format", "json"}),
            dir_.Read("one/summary.json"));
  for (const char* name :
       {"summary.json", "scenario.yaml", "timeseries.csv", "pods.csv", "by_load.csv", "ledger"}) {
    const std::string one = dir_.Read(absl::StrCat("one/", name));
    EXPECT_NE(one, "") << name;
    EXPECT_TRUE(one == dir_.Read(absl::StrCat("two/", name))) << name;
    EXPECT_TRUE(one == dir_.Read(absl::StrCat("three/", name))) << name;
  }
}

TEST_F(CliRunTest, LedgerOff) {
  EXPECT_EQ(RunBestFit({"--out", "out", "--ledger=off"}).exit_code, 0);
  EXPECT_EQ(dir_.List("out"), (Names{"by_load.csv", "pods.csv", "run.json", "scenario.yaml",
                                     "summary.json", "timeseries.csv"}));
  EXPECT_EQ(dir_.Read("out/summary.json"), TestText("summary.json"));
  // Into a folder with an older ledger: that one does not belong to this run.
  EXPECT_EQ(RunBestFit({"--out", "out"}).exit_code, 0);
  EXPECT_TRUE(dir_.Has("out/ledger"));
  EXPECT_EQ(RunBestFit({"--out", "out", "--ledger", "off"}).exit_code, 0);
  EXPECT_FALSE(dir_.Has("out/ledger"));
}

// Bad input loses nothing: the exit code tells, and the older result stays whole until a run
// begins.
TEST_F(CliRunTest, ARefusedRunKeepsTheOlderResult) {
  EXPECT_EQ(RunBestFit({"--out", "out"}).exit_code, 0);
  const Names files = dir_.List("out");
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, "a,-1,1,0,0,,LS,,1,2,1\n"));
  EXPECT_EQ(RunBestFit({"--out", "out"}).exit_code, 2);
  EXPECT_EQ(dir_.List("out"), files);
  EXPECT_EQ(dir_.Read("out/summary.json"), TestText("summary.json"));
}

TEST_F(CliRunTest, ContractForScripts) {
  const std::string json =
      Succeed({"run",      "--trace",  "openb", "--nodes", "nodes.csv", "--pods",
               "pods.csv", "--policy", "fgd",   "--mode",  "fill",      "--tuning-ratio",
               "1.3",      "--seed",   "7",     "--order", "artifact",  "--out",
               "out",      "--format", "json"});
  EXPECT_EQ(json, dir_.Read("out/summary.json"));
  EXPECT_EQ(JsonAt(json, "scenario.policy"), "\"fgd\"");
  EXPECT_EQ(JsonAt(json, "scenario.seed"), "7");
  for (const char* path :
       {"pods.arrived", "pods.scheduled", "pods.unschedulable", "gpu.capacity_milli",
        "gpu.arrived_milli", "gpu.allocated_milli", "cpu.allocated_milli",
        "fragmentation.amount_milli", "fragmentation.ratio_percent"}) {
    EXPECT_NE(JsonAt(json, path), "") << path;
  }
  for (const char* path : {"hashes.order", "hashes.rank", "hashes.placement", "fingerprint"}) {
    const std::string text = JsonAt(json, path);
    ASSERT_EQ(text.size(), 18u) << path;
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef", 1), 17u) << text;
  }
}

TEST_F(CliRunTest, ScenariosFromFilesAndStandardInput) {
  dir_.Write("s.yaml",
             "order: trace\ncluster: {path: nodes.csv}\nworkload: {trace: {path: pods.csv}}\n"
             "scheduler: {policy: fgd}\n");
  const Names end = {"--policy", "best-fit", "--format", "json"};
  for (Names args : {Names{"run", "s.yaml"}, Names{"run", "--scenario", "s.yaml"}}) {
    args.insert(args.end(), end.begin(), end.end());
    EXPECT_EQ(Succeed(args), TestText("summary.json"));
  }
  const ProcessResult piped =
      Run({"run", "-", "--policy=best-fit", "--format=json"}, dir_.Read("s.yaml"));
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(piped.out, TestText("summary.json"));
  // --set comes after every other flag, wherever it stands.
  EXPECT_EQ(Succeed({"run", "--set", "scheduler.policy=best-fit", "s.yaml", "--policy", "random",
                     "--format", "json"}),
            TestText("summary.json"));
}

TEST_F(CliRunTest, PodsFromStandardInput) {
  const ProcessResult piped = Run({"run", "--nodes", "nodes.csv", "--pods", "-", "--order", "trace",
                                   "--policy", "best-fit", "--format", "json"},
                                  dir_.Read("pods.csv"));
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(JsonAt(piped.out, "fingerprint"), "\"65ccc57b93c1dba0\"");
  EXPECT_EQ(JsonAt(piped.out, "scenario.pods_sha256"), "\"\"");
}

TEST_F(CliRunTest, VersionAndOverview) {
  for (const char* words : {"--version", "version", "run --version", "trace stats --version",
                            "trace --version", "mig --version", "diff a --version"}) {
    EXPECT_EQ(Succeed(absl::StrSplit(words, ' ')), "drasim 0.1.0\n") << words;
  }
  const std::string overview = Succeed({"--help"});
  EXPECT_EQ(Succeed({"help"}), overview);
  EXPECT_EQ(Succeed({"-h"}), overview);
  for (const Command& command : Commands()) {
    EXPECT_TRUE(absl::StrContains(overview, absl::StrCat("\n  ", command.name, " ")))
        << command.name;
    EXPECT_TRUE(absl::StrContains(overview, absl::StrCat(command.summary, "\n"))) << command.name;
  }
  const ProcessResult bare = Run({});
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_EQ(bare.out, overview);
  const ProcessResult trace = Run({"trace", "--help"});
  EXPECT_EQ(trace.exit_code, 0);
  for (const char* name : {"stats", "convert", "generate", "fetch"}) {
    EXPECT_TRUE(absl::StrContains(trace.out, absl::StrCat("  trace ", name, "  "))) << name;
  }
}

TEST_F(CliRunTest, HelpNamesEveryFlag) {
  ASSERT_GE(Commands().size(), 10u);
  for (const Command& command : Commands()) {
    Names args = absl::StrSplit(command.name, ' ');
    args.push_back("--help");
    const std::string help = Succeed(args);
    EXPECT_TRUE(absl::StartsWith(
        help, absl::StrCat("drasim ", command.name, ": ", command.summary, "\n\nUsage: drasim ",
                           command.name, " ", command.usage, "\n")))
        << help;
    EXPECT_TRUE(absl::StrContains(help, command.details)) << command.name;
    for (const FlagSpec& flag : command.flags) {
      EXPECT_TRUE(absl::StrContains(help, absl::StrCat("\n  --", flag.name, " ")))
          << command.name << " --" << flag.name;
      EXPECT_TRUE(absl::StrContains(help, flag.help)) << command.name << " --" << flag.name;
      if (flag.key.empty()) continue;
      EXPECT_TRUE(absl::StrContains(help, absl::StrCat("[", flag.key, "]")))
          << command.name << " --" << flag.name;
    }
  }
}

TEST_F(CliRunTest, CompletionKnowsEveryCommandAndFlag) {
  const std::string bash = Succeed({"completion", "bash"});
  EXPECT_EQ(Succeed({"completion"}), bash);
  EXPECT_EQ(Succeed({"completion", "zsh"}),
            absl::StrCat("autoload -U +X bashcompinit && bashcompinit\n", bash));
  ExpectRefused({"completion", "fish"}, "completion: found 'fish', expected bash or zsh");
  for (const Command& command : Commands()) {
    Names words = {"--help"};
    for (const FlagSpec& flag : command.flags) words.push_back(absl::StrCat("--", flag.name));
    std::string list;
    for (const std::string& word : words) absl::StrAppend(&list, list.empty() ? "" : " ", word);
    EXPECT_TRUE(absl::StrContains(bash, absl::StrCat("'", command.name, "') words='", list, "';;")))
        << command.name;
  }
}

// The script does what it is for, in a real shell.
TEST_F(CliRunTest, CompletionWorksInBash) {
  const std::string shell = "/bin/bash";
  if (!std::filesystem::exists(shell)) GTEST_SKIP() << "there is no /bin/bash";
  dir_.Write("completion", Succeed({"completion", "bash"}));
  const auto complete = [&](const std::string& words, int index) {
    const std::string script =
        absl::StrCat("source ./completion; COMP_WORDS=(", words, "); COMP_CWORD=", index,
                     "; _drasim; echo \"${COMPREPLY[@]}\"");
    const ProcessResult result = Process(shell, {"-c", script}, dir_.path()).Wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(complete("drasim swe", 1), "sweep\n");
  EXPECT_EQ(complete("drasim c", 1), "compare cdi cel completion cases\n");
  EXPECT_EQ(complete("drasim run --pol", 2), "--policy\n");
  EXPECT_EQ(complete("drasim sweep --pol", 2), "--policy --policies\n");
  EXPECT_EQ(complete("drasim trace g", 2), "generate\n");
  EXPECT_EQ(complete("drasim trace generate --run", 3), "--run-time\n");
  EXPECT_EQ(complete("drasim run nod", 2), "nodes.csv\n");
}

TEST_F(CliRunTest, Validate) {
  dir_.Write("s.yaml", "mode: replay\n");
  dir_.Write("m.yaml", "name: m\npods:\n  cpu: {column: c, unit: cores}\n");
  EXPECT_EQ(Succeed({"validate", "s.yaml", "m.yaml"}),
            "s.yaml: a valid scenario\nm.yaml: a valid mapping\n");
  const auto bad = [this](absl::string_view text, absl::string_view message) {
    dir_.Write("bad.yaml", text);
    ExpectRefused({"validate", "bad.yaml"}, message);
  };
  bad("schedler: {policy: fgd}\n",
      "bad.yaml:1:1: schedler: unknown key (did you mean 'scheduler'?)");
  bad("seed: 1\nscheduler: {policy: fdg}\n",
      "bad.yaml:2:21: scheduler.policy: unknown policy 'fdg' (did you mean 'fgd'?)");
  bad("seed: -1\n",
      "bad.yaml:1:7: seed: found '-1', expected a whole number from 0 to 18446744073709551615");
  bad("mode: replay\norder: seeded\n",
      "bad.yaml:2:8: order: found 'seeded', expected 'trace': a replay keeps the arrival times");
  bad("name: m\npods:\n  cpu: {column: c, unit: core}\n",
      "bad.yaml:3:26: pods.cpu.unit: found 'core', expected one of milli, cores, percent, "
      "quantity");
  bad("name: m\nnodes:\n  cup: {column: c}\n",
      "bad.yaml:3:3: nodes.cup: unknown key (did you mean 'cpu'?)");
  // A configuration of kube-scheduler, by itself and in a scenario.
  const absl::string_view head =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
  dir_.Write("k.yaml", head);
  EXPECT_EQ(Succeed({"validate", "k.yaml"}), "k.yaml: a valid configuration of kube-scheduler\n");
  bad("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
      "bad.yaml:1:13: apiVersion: found the text 'kubescheduler.config.k8s.io/v1beta3', expected "
      "kubescheduler.config.k8s.io/v1");
  dir_.Write("k.yaml", absl::StrCat(head, "profile: []\n"));
  bad("scheduler: {kube_config: k.yaml}\n",
      "k.yaml:3:1: profile: unknown field (did you mean 'profiles'?)");
  // Other objects of Kubernetes.
  const absl::string_view slice =
      "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, "
      "allNodes: true, pool: {name: p, resourceSliceCount: 2}";
  dir_.Write("m.yaml", absl::StrCat(slice, "}\n"));
  const ProcessResult manifest = Run({"validate", "m.yaml"});
  EXPECT_EQ(manifest.exit_code, 0);
  EXPECT_EQ(manifest.out, "m.yaml: a valid manifest of 1 object\n");
  EXPECT_EQ(
      manifest.err,
      "drasim: warning: m.yaml: pool d/p: found 1 slice of generation 0, expected 2: the pool "
      "is incomplete\n");
  bad(absl::StrCat(slice, ",\n  devices: [{name: a}, {name: a}]}\n"),
      "bad.yaml:5:24: spec.devices[1]: Duplicate value: \"a\"");
  ExpectRefused({"validate"}, "validate needs at least one file");
  // The files before the bad one have been found good.
  const ProcessResult result = Run({"validate", "s.yaml", "bad.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "s.yaml: a valid scenario\n");
}

TEST_F(CliRunTest, DiffOfEqualLedgers) {
  RunBestFit({"--out", "a"});
  RunBestFit({"--out", "b", "--set", "output.checkpoint_every=2"});
  EXPECT_EQ(Succeed({"diff", "a", "b"}),
            "same: 7 records, fingerprints 65ccc57b93c1dba0 and 65ccc57b93c1dba0\n");
  EXPECT_EQ(Succeed({"diff", "a/ledger", "a"}),
            "same: 7 records, fingerprints 65ccc57b93c1dba0 and 65ccc57b93c1dba0\n");
}

TEST_F(CliRunTest, DiffNamesTheFirstDivergence) {
  const auto ledger = [this](absl::string_view nodes, absl::string_view pods, const char* out) {
    dir_.Write("nodes.csv", absl::StrCat(kNodeHeader, nodes));
    dir_.Write("pods.csv", absl::StrCat(kPodHeader, pods));
    EXPECT_EQ(RunBestFit({"--out", out}).exit_code, 0);
  };
  const char* const nodes = "n-0,64000,262144,2,P100\nn-1,96000,393216,4,T4\n";
  ledger(nodes, kPodRows, "a");
  ledger("n-0,1000,262144,2,P100\nn-1,96000,393216,4,T4\n", kPodRows, "other_node");
  ledger("n-0,1000,262144,2,P100\nn-1,1000,393216,4,T4\n", kPodRows, "no_node");
  ledger(nodes, "p-0,12000,16384,1,460,,LS,,5,9,7\n", "shorter");
  ledger(nodes, "p-0,12000,16384,1,460,,LS,,5,9,7\nq-1,500,1024,2,1000,T4,,,5,9,7\n", "other_pod");
  const auto diff = [this](const char* left, const char* right) {
    const ProcessResult result = Run({"diff", left, right});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, "");
    return result.out;
  };
  EXPECT_EQ(diff("a", "other_node"),
            "first divergence at record 2\n"
            "< 0 s  PodBound  pod p-0  node n-0 gpu0\n"
            "> 0 s  PodBound  pod p-0  node n-1 gpu0\n");
  EXPECT_EQ(diff("no_node", "a"),
            "first divergence at record 2\n"
            "< 0 s  AttemptFailed  pod p-0  0/2 nodes are available: 2 Insufficient cpu.\n"
            "> 0 s  PodBound  pod p-0  node n-0 gpu0\n");
  EXPECT_EQ(diff("a", "shorter"),
            "first divergence at record 3\n"
            "< 0 s  PodArrived  pod p-1  (500m CPU, 1073741824 B, 0 x 0m GPU)\n"
            "> 0 s  RunEnded\n");
  EXPECT_EQ(diff("other_pod", "a"),
            "first divergence at record 3\n"
            "< 0 s  PodArrived  pod q-1  (500m CPU, 1073741824 B, 2 x 1000m GPU of T4)\n"
            "> 0 s  PodArrived  pod p-1  (500m CPU, 1073741824 B, 0 x 0m GPU)\n");
}

TEST_F(CliRunTest, DiffOfPartialAndBadLedgers) {
  RunBestFit({"--out", "a", "--set", "output.checkpoint_every=2"});
  const std::string whole = dir_.Read("a/ledger");
  std::filesystem::create_directory(dir_.PathOf("p"));
  dir_.Write("p/ledger.partial", absl::string_view(whole).substr(0, whole.size() - 20));
  EXPECT_EQ(Succeed({"diff", "p", "a"}), "same 7 records; p/ledger.partial is partial\n");
  std::string damaged = whole;
  damaged[30] = static_cast<char>(damaged[30] ^ 1);
  dir_.Write("damaged", damaged);
  ExpectRefused({"diff", "a", "damaged"},
                "damaged: damaged at byte 8: a frame's checksum does not match");
  ExpectRefused({"diff", "a", "nodes.csv"},
                "nodes.csv: not a drasim ledger; `drasim run --out DIR` writes one");
  ExpectRefused(
      {"diff", "a", "none"},
      "none: cannot open the ledger: No such file or directory; `drasim run --out DIR` writes one");
  RunBestFit({"--out", "off", "--ledger=off"});
  ExpectRefused({"diff", "a", "off"},
                "off/ledger: cannot open the ledger: No such file or directory; `drasim run --out "
                "DIR` writes one");
  ExpectRefused({"diff", "a"}, "diff needs two ledgers (files or run folders)");
}

TEST_F(CliRunTest, CompareTakesOneTableAndEveryFormat) {
  const Names args = absl::StrSplit(
      "compare --nodes nodes.csv --pods pods.csv --order trace --policies best-fit,fgd --set "
      "workload.tuning.ratio=0.41",
      ' ');
  const std::string table = Succeed(args);
  const std::vector<std::string> lines = absl::StrSplit(table, '\n');
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0],
            "policy    GPU % @100  GPU % @130  GPU % end  frag % end  failed pods  vs best-fit");
  EXPECT_TRUE(absl::StartsWith(lines[1], "best-fit           -           -      41.00")) << table;
  EXPECT_TRUE(absl::StartsWith(lines[2], "fgd                -           -      41.00")) << table;
  EXPECT_FALSE(absl::StrContains(table, "\033"));  // no terminal, no colours
  Names csv = args;
  csv.push_back("--format=csv");
  csv.push_back("--out");
  csv.push_back("out");
  const std::string text = Succeed(csv);
  EXPECT_EQ(dir_.List("out"),
            (Names{"compare.csv", "compare.json", "compare.yaml", "compare_seeds.csv"}));
  EXPECT_EQ(dir_.Read("out/compare.csv"), text);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  Names json = args;
  json.push_back("--format=json");
  EXPECT_EQ(Succeed(json), dir_.Read("out/compare.json"));
}

}  // namespace cli_run_test
}  // namespace drasim
