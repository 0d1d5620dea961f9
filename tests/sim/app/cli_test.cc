// Bad input and bad usage, each with its exact message and exit code, and nothing that looks
// complete left behind; odd but good input.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"
#include "tests/traces/gzip_text.h"

namespace drasim {
namespace cli_test {

class CliInputTest : public CliTest {
 protected:
  // A run into the folder "out" that is to be refused. The folder is empty or not there afterwards.
  void ExpectBadRun(const std::vector<std::string>& args, absl::string_view message) const {
    std::vector<std::string> all = {"run", "--out", "out"};
    all.insert(all.end(), args.begin(), args.end());
    ExpectRefused(all, message);
    EXPECT_TRUE(dir_.List("out").empty()) << message;
  }
  void ExpectBadPods(absl::string_view text, absl::string_view message) const {
    dir_.Write("bad.csv", text);
    ExpectBadRun({"--nodes", "nodes.csv", "--pods", "bad.csv"}, message);
  }
  // One row behind a good one: it stands in line 3.
  void ExpectBadPodRow(absl::string_view row, absl::string_view message) const {
    ExpectBadPods(absl::StrCat(kPodHeader, "good,1,1,0,0,,LS,,1,2,1\n", row, "\n"), message);
  }
  void ExpectBadNodes(absl::string_view text, absl::string_view message) const {
    dir_.Write("bad.csv", text);
    ExpectBadRun({"--nodes", "bad.csv", "--pods", "pods.csv"}, message);
  }
  void ExpectBadNodeRow(absl::string_view row, absl::string_view message) const {
    ExpectBadNodes(absl::StrCat(kNodeHeader, "good,1000,1024,1,T4\n", row, "\n"), message);
  }
};

TEST_F(CliInputTest, MissingFiles) {
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "none.csv"}, "none.csv: there is no such file");
  ExpectBadRun({"--nodes", "none.csv", "--pods", "pods.csv"}, "none.csv: there is no such file");
  ExpectBadRun({"none.yaml"}, "none.yaml: there is no such file");
  ExpectBadRun({"--scenario", "none.yaml"}, "none.yaml: there is no such file");
  ExpectRefused({"validate", "none.yaml"}, "none.yaml: there is no such file");
  ExpectRefused({"trace", "stats", "none.csv"}, "none.csv: there is no such file");
  ExpectRefused({"compare", "--nodes", "nodes.csv", "--pods", "none.csv"},
                "none.csv: there is no such file");
  ExpectBadRun(
      {"--trace", "none", "--nodes", "nodes.csv", "--pods", "pods.csv"},
      "mapping 'none': found neither a built-in mapping nor a file of this name; the "
      "built-in ones are acme-kalos, acme-seren, chronus, cloudsimpy, dlrm-2025, helios, openb, "
      "pai-2020-100k, philly-adaptdl, philly-elasticflow, philly-muri, spot-2026, swf, "
      "swf-wagap; formats with code of their own are google-2011, google-subtrace, "
      "pai-2020, philly");
}

TEST_F(CliInputTest, AFolderForAFile) {
  std::filesystem::create_directory(dir_.PathOf("folder"));
  const char* const message = "folder: found a directory, expected a file";
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "folder"}, message);
  ExpectBadRun({"--nodes", "folder", "--pods", "pods.csv"}, message);
  ExpectBadRun({"folder"}, message);
  ExpectRefused({"validate", "folder"}, message);
}

TEST_F(CliInputTest, EmptyFiles) {
  const char* const message = "bad.csv: found an empty file, expected some text";
  ExpectBadPods("", message);
  ExpectBadNodes("", message);
  ExpectBadRun({"bad.csv"}, message);
  ExpectBadPods("\n\n", "bad.csv:1:1: row: found the end of the input, expected a header line");
}

TEST_F(CliInputTest, HeadersWithoutANeededColumn) {
  ExpectBadPods("name,cpu_milli,num_gpu,gpu_milli\na,1,0,0\n",
                "bad.csv:1:1: memory_mib: found the columns 'name,cpu_milli,num_gpu,gpu_milli', "
                "expected one of this name");
  ExpectBadPods("a,1,1,0,0\n",
                "bad.csv:1:1: name: found the columns 'a,1,1,0,0', expected one of this name");
  ExpectBadPods("name,cpu_milli,memory_mib,num_gpu,gpu_milli,name\n",
                "bad.csv:1:45: name: found a second column of this name, expected one");
  ExpectBadNodes("sn,memory_mib,gpu,model\na,1,0,\n",
                 "bad.csv:1:1: cpu_milli: found the columns 'sn,memory_mib,gpu,model', expected "
                 "one of this name");
}

TEST_F(CliInputTest, RowsWithTooFewOrTooManyFields) {
  ExpectBadPodRow("a,1,1", "bad.csv:3:6: row: found 3 fields, expected 11");
  ExpectBadPodRow("a,1,1,0,0,,LS,,1,2,1,x", "bad.csv:3:22: row: found 12 fields, expected 11");
  ExpectBadNodeRow("a,1", "bad.csv:3:4: row: found 2 fields, expected 5");
}

TEST_F(CliInputTest, NegativeNumbers) {
  const absl::string_view negative = " that is not negative";
  ExpectBadPodRow("a,-1,1,0,0,,LS,,1,2,1",
                  absl::StrCat("bad.csv:3:3: cpu_milli: found '-1', expected a plain number of "
                               "milli-CPU",
                               negative));
  ExpectBadPodRow("a,1,-1,0,0,,LS,,1,2,1",
                  absl::StrCat("bad.csv:3:5: memory_mib: found '-1', expected a plain number of "
                               "MiB",
                               negative));
  ExpectBadPodRow(
      "a,1,1,-1,0,,LS,,1,2,1",
      absl::StrCat("bad.csv:3:7: num_gpu: found '-1', expected a whole number", negative));
  ExpectBadPodRow("a,1,1,1,-1,,LS,,1,2,1",
                  absl::StrCat("bad.csv:3:9: gpu_milli: found '-1', expected a plain number of "
                               "milli of a GPU",
                               negative));
  ExpectBadPodRow("a,1,1,0,0,,LS,,-1,2,1",
                  absl::StrCat("bad.csv:3:16: creation_time: found '-1', expected a plain number "
                               "of s",
                               negative));
  ExpectBadPodRow("a,1,1,0,0,,LS,,1,2,3",
                  "bad.csv:3:18: deletion_time: found '2', expected a time not before "
                  "scheduled_time");
  ExpectBadNodeRow(
      "n-0,64000,262144,-1,P100",
      absl::StrCat("bad.csv:3:18: gpu: found '-1', expected a whole number", negative));
}

TEST_F(CliInputTest, OverflowingNumbers) {
  ExpectBadPodRow("a,9223372036854775808,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:3: cpu_milli: found '9223372036854775808', expected at most "
                  "9223372036854775807 milli-CPU");
  ExpectBadPodRow("a,1,8796093022208,0,0,,LS,,1,2,1",
                  "bad.csv:3:5: memory_mib: found '8796093022208', expected at most 8796093022207 "
                  "MiB");
  ExpectBadPodRow("a,1,1,2147483648,0,,LS,,1,2,1",
                  "bad.csv:3:7: num_gpu: found '2147483648', expected at most 2147483647");
  ExpectBadPodRow("a,1,1,0,0,,LS,,9223372037,2,1",
                  "bad.csv:3:16: creation_time: found '9223372037', expected at most 9223372036 s");
  ExpectBadPodRow("a,1e400,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:3: cpu_milli: found '1e400', expected at most 9223372036854775807 "
                  "milli-CPU");
  ExpectBadNodeRow("n-0,64000,262144,65,P100",
                   "bad.csv:3:18: gpu: found '65', expected at most 64");
}

TEST_F(CliInputTest, WhatIsNoNumber) {
  for (const char* text : {"NaN", "nan", "inf", "1,5", "0x10", "12 cores", "1_000", "--1", "1e"}) {
    const std::string quoted = absl::StrCat("\"", text, "\"");
    ExpectBadPodRow(absl::StrCat("a,", quoted, ",1,0,0,,LS,,1,2,1"),
                    absl::StrCat("bad.csv:3:3: cpu_milli: found '", text,
                                 "', expected a plain number of milli-CPU"));
  }
  ExpectBadPodRow("a,,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:3: cpu_milli: found '', expected a plain number of milli-CPU");
  ExpectBadPodRow("a,1,1,1.5,0,,LS,,1,2,1",
                  "bad.csv:3:7: num_gpu: found '1.5', expected a whole number");
}

TEST_F(CliInputTest, NumbersWithUnits) {
  ExpectBadPodRow("a,1,12Gi,0,0,,LS,,1,2,1",
                  "bad.csv:3:5: memory_mib: found '12Gi', expected a plain number of MiB; the "
                  "mapping's unit quantity reads such amounts");
  ExpectBadPodRow("a,500m,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:3: cpu_milli: found '500m', expected a plain number of milli-CPU; "
                  "the mapping's unit quantity reads such amounts");
  ExpectBadPodRow("a,1,1,0,0,,LS,,1,5s,1",
                  "bad.csv:3:18: deletion_time: found '5s', expected a plain number of s");
  ExpectBadNodeRow("n-0,64000,256Gi,2,P100",
                   "bad.csv:3:11: memory_mib: found '256Gi', expected a plain number of MiB; the "
                   "mapping's unit quantity reads such amounts");
}

TEST_F(CliInputTest, DuplicateNames) {
  ExpectBadPodRow("good,1,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:1: name: found 'good', expected a name that no earlier row has");
  ExpectBadNodeRow("good,1000,1024,1,T4",
                   "bad.csv:3:1: sn: found 'good', expected a name that no earlier row has");
  ExpectBadPodRow(",1,1,0,0,,LS,,1,2,1",
                  "bad.csv:3:1: name: found '', expected a text that is not empty");
}

TEST_F(CliInputTest, TruncatedGzip) {
  std::string text = kPodHeader;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&text, "p-", i, ",", i * i, ",1,0,0,,LS,,1,2,1\n");
  const std::string packed = GzipText(text);
  for (const size_t size : {size_t{2}, size_t{5}, size_t{20}, packed.size() / 2, packed.size() - 9,
                            packed.size() - 8, packed.size() - 1}) {
    dir_.Write("cut.csv.gz", absl::string_view(packed).substr(0, size));
    ExpectBadRun({"--nodes", "nodes.csv", "--pods", "cut.csv.gz"},
                 "cut.csv.gz: the gzip data ends too early: the file is cut short");
  }
  std::string damaged = packed;
  damaged[packed.size() - 5] = static_cast<char>(damaged[packed.size() - 5] ^ 1);
  dir_.Write("cut.csv.gz", damaged);
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "cut.csv.gz"},
               "cut.csv.gz: the gzip data is damaged (incorrect data check)");
}

TEST_F(CliInputTest, UnknownPolicy) {
  const char* const message = "scheduler.policy: unknown policy 'fdg' (did you mean 'fgd'?)";
  ExpectBadRun({"--policy", "fdg"}, message);
  ExpectBadRun({"--set", "scheduler.policy=fdg"}, message);
  ExpectRefused({"compare", "--policies", "best-fit,fdg"},
                "--policies: unknown policy 'fdg' (did you mean 'fgd'?)");
  ExpectBadRun({"--policy", "first-come-first-served"},
               "scheduler.policy: unknown policy 'first-come-first-served'");
}

TEST_F(CliInputTest, UnknownFlagsAndCommands) {
  const ProcessResult result = Run({"run", "--nodse", "nodes.csv", "--out", "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "drasim: error: unknown flag --nodse (did you mean '--nodes'?)\n"
            "`drasim run --help` lists the flags.\n");
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(dir_.Has("out"));
  ExpectRefused({"rnu"}, "unknown command 'rnu' (did you mean 'run'?); `drasim --help` lists them");
  ExpectRefused({"trace", "stast"},
                "unknown command 'trace stast' (did you mean 'trace stats'?); `drasim --help` "
                "lists them");
  ExpectBadRun({"--set", "scheduler.polic=fgd"},
               "--set: scheduler.polic: unknown key (did you mean 'policy'?)");
  ExpectBadRun({"--set", "seed"}, "--set: found 'seed', expected KEY=VALUE");
  ExpectBadRun({"--seed", "x"},
               "--seed: seed: found 'x', expected a whole number from 0 to 18446744073709551615");
  ExpectBadRun({"--cache", "maybe"}, "--cache: found 'maybe', expected on or off");
  ExpectBadRun({"--format", "xml"}, "--format: found 'xml', expected table, json or csv");
  ExpectBadRun({"a.yaml", "b.yaml"}, "expected one scenario file, found a.yaml, b.yaml");
}

TEST_F(CliInputTest, OutputFolders) {
  dir_.Write("plain", "text");
  std::vector<std::string> run = {"run", "--nodes", "nodes.csv", "--pods", "pods.csv", "--out", ""};
  run.back() = "plain/sub";
  ExpectRefused(run, "plain/sub: cannot make the output folder: Not a directory");
  run.back() = "plain/sub/sub";
  ExpectRefused(run, "plain/sub/sub: cannot make the output folder: Not a directory");
  run.back() = "plain";
  ExpectRefused(run, "plain: cannot make the output folder: Not a directory");
  EXPECT_EQ(dir_.Read("plain"), "text");

  std::filesystem::create_directory(dir_.PathOf("foreign"));
  dir_.Write("foreign/thesis.tex", "text");
  run.back() = "foreign";
  const char* const refusal =
      "foreign: holds 'thesis.tex', which drasim did not write; choose another folder or give "
      "--force";
  ExpectRefused(run, refusal);
  run.push_back("--force=false");
  ExpectRefused(run, refusal);
  EXPECT_EQ(dir_.List("foreign"), std::vector<std::string>{"thesis.tex"});
  run.back() = "--force";
  EXPECT_EQ(Run(run).exit_code, 0);
  EXPECT_EQ(dir_.Read("foreign/thesis.tex"), "text");
  EXPECT_TRUE(dir_.Has("foreign/summary.json"));
}

TEST_F(CliInputTest, AnotherFileThanTheScenarioWasRunWith) {
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "pods.csv", "--set", "workload.trace.sha256=00"},
               "pods.csv: workload.trace.sha256 expects a file with SHA-256 00, found "
               "056c35ad5be1ea094ea25ef9ef0928c05eab09bbf16d725195da6edcea73b669");
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "pods.csv", "--set", "cluster.sha256=00"},
               "nodes.csv: cluster.sha256 expects a file with SHA-256 00, found "
               "1cfb01bdc8e173b7c33682342b4090b66b686824567fc9028cb2dcece719a233");
}

// --- odd but good ------------------------------------------------------------------------------

TEST_F(CliInputTest, WindowsLineEndsByteOrderMarksAndGzipChangeNothing) {
  const std::string pods = absl::StrCat(kPodHeader, kPodRows);
  const std::string expected =
      JsonAt(Succeed({"run", "--nodes", "nodes.csv", "--pods", "pods.csv", "--format", "json"}),
             "fingerprint");
  ASSERT_EQ(expected.size(), 18u);  // 16 digits in quotes
  const auto variants = [](absl::string_view text) {
    const std::string crlf = absl::StrReplaceAll(text, {{"\n", "\r\n"}});
    const std::string bom = "\xef\xbb\xbf";
    return std::vector<std::string>{crlf, bom + std::string(text), bom + crlf, GzipText(text),
                                    GzipText(bom + crlf)};
  };
  const std::vector<std::string> pod_variants = variants(pods);
  const std::vector<std::string> node_variants = variants(kNodesCsv);
  for (size_t i = 0; i < pod_variants.size(); ++i) {
    dir_.Write("pods2", pod_variants[i]);
    dir_.Write("nodes2", node_variants[i]);
    const ProcessResult result =
        Run({"run", "--nodes", "nodes2", "--pods", "pods2", "--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(JsonAt(result.out, "fingerprint"), expected) << i;
  }
}

TEST_F(CliInputTest, ModelsThatNoNodeHasAreAWarningWithACount) {
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows,
                                      "p-3,1,1,1,100,H100,LS,,1,2,1\n"
                                      "p-4,1,1,1,100,T4|B200,LS,,1,2,1\n"
                                      "p-5,1,1,1,100,H100|H100,LS,,1,2,1\n"
                                      "p-6,1,1,0,0,H100,LS,,1,2,1\n"));
  const ProcessResult result = RunTiny({"--format", "json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "drasim: warning: 3 pod(s) accept a GPU model that no node has: H100, B200\n");
  EXPECT_EQ(JsonAt(result.out, "pods.arrived"), "7");
  EXPECT_EQ(JsonAt(result.out, "pods.unschedulable"), "2");
}

TEST_F(CliInputTest, SharesOfZeroAreAWarningWithACount) {
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows,
                                      "p-3,1,1,1,0,,LS,,1,2,1\np-4,1,1,2,0,,LS,,1,2,1\n"));
  const ProcessResult result = RunTiny({});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "drasim: warning: 2 row(s) read with a change: GPUs with a share of 0; the first: "
            "pods.csv:5:11: gpu_milli: found 0 per GPU, so the pod is read as one without GPUs\n");
}

TEST_F(CliInputTest, LenientSkipsAndCounts) {
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows,
                                      "a,-1,1,0,0,,LS,,1,2,1\n"       // line 5
                                      "b,1,1,0,0,,LS,,1,2,1\n"        // good
                                      "c,1,-5,0,0,,LS,,1,2,1\n"       // negative as well
                                      "d,1\n"                         // too few
                                      "b,1,1,0,0,,LS,,1,2,1\n"        // there already
                                      "e,NaN,1,0,0,,LS,,1,2,1\n"      // no number
                                      "f,1,12Gi,0,0,,LS,,1,2,1\n"));  // with a unit
  const ProcessResult result = RunTiny({"--lenient", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, TestText("LenientSkipsAndCounts"));
  EXPECT_EQ(JsonAt(result.out, "pods.arrived"), "4");
  // The same without: one error tells of every kind of mistake in every column.
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "pods.csv"},
               TestLines("LenientSkipsAndCounts.2"));
  // --lenient does not cover errors of the whole file.
  dir_.Write("bad.csv", "name,cpu_milli\n");
  ExpectBadRun({"--nodes", "nodes.csv", "--pods", "bad.csv", "--lenient"},
               "bad.csv:1:1: memory_mib: found the columns 'name,cpu_milli', expected one of this "
               "name");
}

TEST_F(CliInputTest, ValidateLooksAtEveryFile) {
  dir_.Write("a.yaml", "mode: fil\n");
  dir_.Write("b.yaml", "name: b\npods:\n  cpu: {column: c, unit: milli}\n");
  dir_.Write("c.yaml", "name: c\npods:\n  memory: {column: m, unit: GB}\n");
  const ProcessResult result = Run({"validate", "a.yaml", "b.yaml", "c.yaml", "d.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "b.yaml: a valid mapping\n");
  EXPECT_TRUE(absl::StrContains(result.err, "mode: found 'fil', expected one of fill, replay"))
      << result.err;
  EXPECT_TRUE(absl::StrContains(result.err,
                                "\nc.yaml:3:29: pods.memory.unit: found 'GB', expected one of "
                                "bytes, KiB, MiB, GiB, quantity\n"))
      << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "\nd.yaml: ")) << result.err;
}

// Runs of many cells report skipped rows, too.
TEST_F(CliInputTest, CompareAndSweepTellWarningsToo) {
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows, "a,1\n"));
  const std::string warning =
      "drasim: warning: 1 row(s) skipped: too few fields; the first: pods.csv:5:4: row: found 2 "
      "fields, expected 11\n";
  const ProcessResult compared =
      Run({"compare", "--nodes", "nodes.csv", "--pods", "pods.csv", "--lenient"});
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_EQ(compared.err, warning);
  const ProcessResult swept =
      Run({"sweep", "--nodes", "nodes.csv", "--pods", "pods.csv", "--lenient", "--out", "swept"});
  EXPECT_EQ(swept.exit_code, 0);
  EXPECT_EQ(swept.err, warning);
}

}  // namespace cli_test
}  // namespace drasim
