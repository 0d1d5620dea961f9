#include "sim/app/format_flag.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/json_writer.h"
#include "sim/app/cli.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/flags.h"
#include "sim/record/data_table.h"
#include "sim/record/version.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace format_flag_test {

TEST(FormatFlagTest, TheFlagIsCheckedAgainstItsChoices) {
  const std::vector<FlagSpec> specs = {{"format", "", "FORMAT", "what to print", "text,json,csv"}};
  ASSERT_OK_AND_ASSIGN(const ParsedFlags json, ParseFlags(specs, {"--format=json"}));
  EXPECT_EQ(CheckFormat(specs, json), absl::OkStatus());
  EXPECT_EQ(FormatOf(json), OutputFormat::kJson);
  ASSERT_OK_AND_ASSIGN(const ParsedFlags none, ParseFlags(specs, {}));
  EXPECT_EQ(CheckFormat(specs, none), absl::OkStatus());
  EXPECT_EQ(FormatOf(none), OutputFormat::kText);
  ASSERT_OK_AND_ASSIGN(const ParsedFlags yaml, ParseFlags(specs, {"--format", "yaml"}));
  EXPECT_EQ(CheckFormat(specs, yaml),
            absl::InvalidArgumentError("--format: found 'yaml', expected text, json or csv"));
}

TEST(FormatFlagTest, TheFormIsKnownBeforeTheFlagsAre) {
  EXPECT_EQ(FormatAskedFor({"run", "--nodse", "x", "--format", "json"}), OutputFormat::kJson);
  EXPECT_EQ(FormatAskedFor({"rnu", "--format=csv"}), OutputFormat::kCsv);
  EXPECT_EQ(FormatAskedFor({"run", "-format=json", "--format=table"}), OutputFormat::kText);
  EXPECT_EQ(FormatAskedFor({"run", "--", "--format=json"}), OutputFormat::kText);
  EXPECT_EQ(FormatAskedFor({"run", "--format"}), OutputFormat::kText);
  EXPECT_EQ(FormatAskedFor({"run", "--formats=json"}), OutputFormat::kText);
}

TEST(FormatFlagTest, AnErrorIsOneLineOfJson) {
  EXPECT_EQ(ErrorJson(absl::InvalidArgumentError("a.csv:3:1: found '\xff'"), 2),
            "{\"schema\": \"drasim.error/v1\", \"code\": \"invalid_argument\", "
            "\"message\": \"a.csv:3:1: found '\\ufffd'\", \"exit_code\": 2}\n");
}

DataTable TwoRows() {
  DataTable table({"name", "gpus", "full", "seconds"});
  table.AddRow().Text("a,b").Int(-8).Bool(true).Number("1.5");
  table.AddRow().Text("").Int(0).Bool(false).Empty();
  return table;
}

TEST(DataTableTest, Csv) {
  EXPECT_EQ(TwoRows().Csv(), "name,gpus,full,seconds\n\"a,b\",-8,true,1.5\n,0,false,\n");
  EXPECT_EQ(DataTable({"a", "b"}).Csv(), "a,b\n");
}

TEST(DataTableTest, Json) {
  EXPECT_EQ(RowsIn("kind", "rows", TwoRows(), OutputFormat::kJson), TestText("Json"));
  EXPECT_EQ(RowsIn("kind", "rows", TwoRows(), OutputFormat::kCsv), TwoRows().Csv());
}

TEST(DataTableTest, ADocumentOfOneRow) {
  DataTable table({"pods", "file"});
  table.AddRow().Int(3).Text("out.csv");
  EXPECT_EQ(DocumentOf("trace-convert", table, OutputFormat::kJson),
            "{\n  \"schema\": \"drasim.trace-convert/v1\",\n  \"pods\": 3,\n"
            "  \"file\": \"out.csv\"\n}\n");
  EXPECT_EQ(DocumentOf("trace-convert", table, OutputFormat::kCsv), "pods,file\n3,out.csv\n");
}

TEST(DataTableDeathTest, ARowHasAValueForEachColumn) {
  DataTable table({"a", "b"});
  table.AddRow().Int(1);
  EXPECT_DEATH(table.Csv(), "CHECK failed");
}

// --- The command line, in this process ---

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Told {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Told Tell(const std::vector<std::string>& args) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Told told;
  told.exit_code = RunCli(args);
  told.out = ::testing::internal::GetCapturedStdout();
  told.err = ::testing::internal::GetCapturedStderr();
  return told;
}

TEST(FormatOfCommandsTest, EveryCommandThatPrintsDataHasJsonAndCsv) {
  for (const Command& command : Commands()) {
    // `cases` speaks the format of the cases, `slices` prints manifests, `cdi` specifications.
    if (command.name == "completion" || command.name == "cdi" || command.name == "slices" ||
        absl::StartsWith(command.name, "cases ")) {
      continue;
    }
    SCOPED_TRACE(std::string(command.name));
    bool found = false;
    for (const FlagSpec& flag : command.flags) {
      if (flag.name != "format") continue;
      found = true;
      EXPECT_TRUE(absl::EndsWith(flag.choices, ",json,csv")) << flag.choices;
    }
    EXPECT_TRUE(found);
  }
}

TEST(FormatOfCommandsTest, ErrorsAreJsonWhereJsonIsAskedFor) {
  const std::string unknown =
      "{\"schema\": \"drasim.error/v1\", \"code\": \"invalid_argument\", \"message\": "
      "\"unknown command 'rnu' (did you mean 'run'?); `drasim --help` lists them\", "
      "\"exit_code\": 2}\n";
  const std::string flag =
      "{\"schema\": \"drasim.error/v1\", \"code\": \"invalid_argument\", \"message\": "
      "\"unknown flag --nodse (did you mean '--nodes'?)\", \"exit_code\": 2}\n";
  const std::string value =
      "{\"schema\": \"drasim.error/v1\", \"code\": \"invalid_argument\", \"message\": "
      "\"expected a layout such as 3g.20gb:2 or 3g.20gb@4\", \"exit_code\": 2}\n";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"rnu", "--format", "json"}, unknown},
      {{"run", "--nodse", "x", "--format=json"}, flag},
      {{"mig", "draw", "--format=json"}, value}};
  for (const auto& [args, message] : cases) {
    const Told told = Tell(args);
    EXPECT_EQ(told.exit_code, kExitUsage);
    EXPECT_EQ(told.out, "");
    EXPECT_EQ(told.err, message);
  }
  EXPECT_EQ(Tell({"mig", "draw", "--format=csv"}).err,
            "drasim: error: expected a layout such as 3g.20gb:2 or 3g.20gb@4\n");
}

// The last line of standard error.
std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  return lines.back();
}

TEST(FormatOfCommandsTest, BadInputOfEveryCommandIsAJsonError) {
  const TempDir dir;
  dir.Write("bad.yaml", "mode: fil\n");
  dir.Write("torn.csv", "suite,version,entry\na,1,\n");
  const std::string bad = dir.PathOf("bad.yaml");
  const std::string torn = dir.PathOf("torn.csv");
  const std::string none = dir.PathOf("none");
  const std::string out = dir.PathOf("out");
  const std::vector<std::vector<std::string>> cases = {
      {"run", bad},
      {"compare", "--baseline", none},
      {"compare", "--worlds", "x"},
      {"sweep", "--policies", "x", "--out", out},
      {"explain", none},
      {"validate", bad},
      {"diff", none, none},
      {"report", none},
      {"merge", "--out", out, none},
      {"bench", "run", bad, "--out", out},
      {"bench", "run", "--scheduler-perf", none, "--out", out},
      {"bench", "compare", torn, none},
      {"bench", "compare", none, none},
      {"bench", "judge", bad, "--decisions", none},
      {"bench", "card", bad, "--out", out},
      {"bench", "verify", bad},
      {"bench", "report", "--history", none, "--html", out},
      {"bench", "accept", torn, none, "--reason", "r"},
      {"bench", "bisect", "--good", "x", "e", "--suite", bad}};
  for (const std::vector<std::string>& args : cases) {
    SCOPED_TRACE(absl::StrJoin(args, " "));
    std::vector<std::string> all = args;
    all.emplace_back("--format=json");
    const Told told = Tell(all);
    EXPECT_NE(told.exit_code, kExitOk);
    EXPECT_THAT(LastLine(told.err), StartsWith("{\"schema\": \"drasim.error/v1\", \"code\": \""));
    EXPECT_TRUE(absl::EndsWith(told.err, absl::StrCat("\"exit_code\": ", told.exit_code, "}\n")))
        << told.err;
  }
}

TEST(FormatOfCommandsTest, ProblemsBesideResultsAreJsonLines) {
  const TempDir dir;
  dir.Write("absent.yaml",
            absl::StrCat("version: 1\nentries:\n- name: a\n  tier: smoke\n  primary: {metric: "
                         "goodput, better: higher}\n  inputs: [{path: x.csv, sha256: ",
                         std::string(64, '0'), "}]\n"));
  dir.Write("decisions.csv", "pod,node\nghost,node-000000\n");
  const auto problem = [](absl::string_view what, absl::string_view message) {
    return absl::StrCat("{\"schema\": \"drasim.problem/v1\", \"problem\": \"", what,
                        "\", \"message\": \"", message);
  };
  const Told absent = Tell({"bench", "run", dir.PathOf("absent.yaml"), "--out", dir.PathOf("out"),
                            "--quiet", "--format", "json"});
  EXPECT_EQ(absent.exit_code, kExitMissing);
  EXPECT_THAT(absent.err, StartsWith(problem("missing", "a/-/fgd/42: ")));
  EXPECT_THAT(absent.out, StartsWith("{\n  \"schema\": \"drasim.bench-run/v1\""));
  const std::vector<std::string> judge = {
      "bench", "judge",           "--decisions", dir.PathOf("decisions.csv"),
      "--set", "cluster.nodes=2", "--set",       "workload.generated.pods=2"};
  std::vector<std::string> in_json = judge;
  in_json.emplace_back("--format=json");
  const Told ghost = Tell(in_json);
  EXPECT_EQ(ghost.exit_code, kExitFailed);
  EXPECT_THAT(ghost.err, HasSubstr(problem("impossible", dir.PathOf("decisions.csv"))));
  EXPECT_THAT(Tell(judge).err, HasSubstr(absl::StrCat("drasim: impossible: ", dir.PathOf("dec"))));
}

TEST(FormatOfCommandsTest, EveryDocumentBeginsWithItsSchema) {
  const TempDir dir;
  dir.Write("s.yaml", "mode: fill\n");
  dir.Write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np-0,500,1024,1,460\n");
  const std::string made = dir.PathOf("made");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--version"}, "version"},
      {{"help"}, "commands"},
      {{"mig", "products"}, "mig-products"},
      {{"mig", "profiles", "A30"}, "mig-profiles"},
      {{"mig", "layouts", "A30"}, "mig-layouts"},
      {{"mig", "fits", "A30", "4g.24gb"}, "mig-fits"},
      {{"mig", "draw", "A30", "4g.24gb"}, "mig-draw"},
      {{"mig", "count", "A30"}, "mig-count"},
      {{"validate", dir.PathOf("s.yaml")}, "validate"},
      {{"trace", "fetch"}, "trace-list"},
      {{"trace", "stats", dir.PathOf("pods.csv")}, "trace-stats"},
      {{"trace", "convert", dir.PathOf("pods.csv"), "--out", dir.PathOf("c.csv")}, "trace-convert"},
      {{"trace", "generate", "--pods", "3", "--nodes", "2", "--out", made}, "trace-generate"}};
  for (const auto& [args, kind] : cases) {
    SCOPED_TRACE(kind);
    std::vector<std::string> all = args;
    all.emplace_back("--format=json");
    const Told told = Tell(all);
    EXPECT_EQ(told.exit_code, kExitOk) << told.err;
    EXPECT_THAT(told.out, StartsWith(absl::StrCat("{\n  \"schema\": \"drasim.", kind, "/v1\",\n")));
  }
}

TEST(FormatOfCommandsTest, Csv) {
  const TempDir dir;
  dir.Write("s.yaml", "mode: fill\n");
  dir.Write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np-0,500,1024,1,460\n");
  EXPECT_EQ(Tell({"mig", "count", "A30", "--format", "csv"}).out,
            "product,sets,maximal_sets,multisets\nA30,76,17,19\n");
  EXPECT_EQ(Tell({"mig", "fits", "A30", "4g.24gb", "4g.24gb:2", "--format", "csv"}).out,
            "layout,fits,why,example,free_units,usable_units,mig_parted_layout,"
            "mig_parted_attempts\n"
            "4g.24gb,true,,4g.24gb@0,0,0,4g.24gb@0,1\n"
            "4g.24gb:2,false,no room for 4g.24gb beside 4g.24gb; nothing else would fit,,,,,\n");
  EXPECT_THAT(Tell({"mig", "products", "--format", "csv"}).out,
              HasSubstr("\nA30,ampere,8.0,4,4,24,24576,56,5,high\n"));
  EXPECT_THAT(Tell({"mig", "profiles", "A30", "--format", "csv"}).out,
              HasSubstr("\n2g.12gb,5,2,2,0;2,2,11968,28,2,2,0,0,0\n"));
  EXPECT_THAT(
      Tell({"mig", "layouts", "A30", "--profiles", "1g.6gb,2g.12gb", "--format", "csv"}).out,
      HasSubstr("\n1g.6gb x4,4,4,1,\"1g.6gb@0,1g.6gb@1,1g.6gb@2,1g.6gb@3\"\n"));
  EXPECT_EQ(Tell({"validate", dir.PathOf("s.yaml"), "--format", "csv"}).out,
            absl::StrCat("file,kind\n", dir.PathOf("s.yaml"), ",scenario\n"));
  EXPECT_EQ(Tell({"version", "--format", "csv"}).out,
            absl::StrCat("version\n", kDrasimVersion, "\n"));
  EXPECT_EQ(Tell({"trace", "stats", dir.PathOf("pods.csv"), "--format", "csv"}).out,
            TestText("Csv"));
}

TEST(FormatOfCommandsTest, ADiffOfLedgers) {
  const TempDir dir;
  const auto run = [&dir](const std::string& out, const std::string& limit) {
    const Told told =
        Tell({"run", "--set", "workload.generated.pods=20", "--set", "cluster.nodes=4", "--limit",
              limit, "--quiet", "--order", "trace", "--out", dir.PathOf(out)});
    ASSERT_EQ(told.exit_code, kExitOk) << told.err;
  };
  run("a", "2");
  run("b", "1");
  const Told same = Tell({"diff", dir.PathOf("a"), dir.PathOf("a"), "--format", "json"});
  EXPECT_EQ(same.exit_code, kExitOk) << same.err;
  EXPECT_THAT(same.out, StartsWith("{\n  \"schema\": \"drasim.diff/v1\",\n  \"same\": true,\n"
                                   "  \"records\": "));
  EXPECT_EQ(Tell({"diff", dir.PathOf("a"), dir.PathOf("a"), "--format", "csv"}).out,
            "ledger,seconds,event,pod,node,text\n");
  const Told other = Tell({"diff", dir.PathOf("a"), dir.PathOf("b"), "--format", "json"});
  EXPECT_EQ(other.exit_code, kExitFailed);
  EXPECT_THAT(other.out, HasSubstr("  \"same\": false,\n  \"record\": "));
  EXPECT_THAT(other.out, HasSubstr("\"event\": \"PodArrived\""));
  EXPECT_THAT(other.out, HasSubstr("\"event\": \"RunEnded\""));
}

}  // namespace format_flag_test
}  // namespace drasim
