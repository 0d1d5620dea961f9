// Scenarios: defaults, every refusal of ResolveScenario with its message, and how flags and files
// come together.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/app/commands.h"
#include "sim/app/flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/run/simulation.h"
#include "sim/scenario/duration_text.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace scenario_test {

// The resolved scenario as YAML.
std::string Resolved(absl::string_view yaml) {
  return ToYaml(*RunSpecOf(ScenarioOf(yaml)).written);
}

absl::Status ErrorOf(absl::string_view yaml) {
  const absl::Status status = ResolveScenario(ScenarioOf(yaml)).status();
  return status.ok() ? status : WithoutCheckedKey(status);
}

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

TEST(ResolveScenarioTest, FillsInEveryDefault) {
  const std::string& expected = TestText("FillsInEveryDefault.expected");
  EXPECT_EQ(Resolved(""), expected);
  EXPECT_EQ(Resolved(expected), expected);  // once more changes nothing
}

TEST(ResolveScenarioTest, TracesAndNodeListsAreOpenbUnlessTheySayOtherwise) {
  EXPECT_EQ(Resolved("cluster: {path: n.csv}\nworkload: {trace: {path: p.csv}}\n"),
            TestText("TracesAndNodeListsAreOpenbUnlessTheySayOtherwise"));
}

TEST(ResolveScenarioTest, AReplayKeepsTheTracesOrder) {
  const RunSpec spec = RunSpecOf(ScenarioOf("mode: replay\n"));
  EXPECT_EQ(spec.written->order(), "trace");
  EXPECT_EQ(spec.order, JobOrder::kTrace);
}

TEST(ResolveScenarioTest, NoCheckpointsIsNotTheDefaultNumberOfThem) {
  const RunSpec spec = RunSpecOf(ScenarioOf("output: {checkpoint_every: 0}\ntiming: {bind: 0s}\n"));
  EXPECT_EQ(spec.written->output().checkpoint_every(), 0);
  EXPECT_EQ(spec.engine.checkpoint_every, 0u);
}

TEST(ResolveScenarioTest, KeepsWhatIsGiven) {
  const std::string& given = TestText("KeepsWhatIsGiven.given");
  EXPECT_EQ(Resolved(given), given);
}

TEST(ResolveScenarioTest, NamesTheKeyThatIsWrong) {
  for (const auto& [yaml, message] : TestRows<2>("NamesTheKeyThatIsWrong"))
    EXPECT_EQ(ErrorOf(yaml), Invalid(message)) << yaml;
}

TEST(ResolveScenarioTest, NamesTheKeyThatIsWrongInAReplay) {
  for (const auto& [yaml, message] : TestRows<2>("NamesTheKeyThatIsWrongInAReplay"))
    EXPECT_EQ(ErrorOf(yaml), Invalid(message)) << yaml;
}

// `drasim validate` promises that a scenario runs as far as that can be known without its input.
TEST(ResolveScenarioTest, ChecksTheGeneratorsChoicesToo) {
  for (const char* generated : {"sampling: quotas", "interarrival: exponentail(mean=3)",
                                "run_time: normal(mean=1)", "pods: -1", "pods: 4294967296"}) {
    EXPECT_FALSE(ErrorOf(absl::StrCat("workload: {generated: {", generated, "}}\n")).ok())
        << generated;
  }
  EXPECT_FALSE(ErrorOf("cluster: {nodes: 16777217}\n").ok());
  EXPECT_FALSE(ErrorOf("cluster: {nodes: 3, node: {cpu: twelve, memory: 1Gi}}\n").ok());
  EXPECT_FALSE(ErrorOf("cluster: {nodes: 3, node: {cpu: '1', memory: 1Gi, gpus: 65}}\n").ok());
  EXPECT_FALSE(ErrorOf("cluster: {node: {cpu: '1', memory: 1Gi}}\n").ok());  // how many?
}

TEST(ParseDurationTest, AsGoWritesThem) {
  EXPECT_EQ(*ParseDuration(""), SimDuration());
  EXPECT_EQ(*ParseDuration("0"), SimDuration());
  EXPECT_EQ(*ParseDuration("7ns"), SimDuration(7));
  EXPECT_EQ(*ParseDuration("10us"), SimDuration(10'000));
  EXPECT_EQ(*ParseDuration("5ms"), SimDuration::Millis(5));
  EXPECT_EQ(*ParseDuration("1.5s"), SimDuration::Millis(1500));
  EXPECT_EQ(*ParseDuration("1h2m3s"), SimDuration::Seconds(3723));
  EXPECT_EQ(*ParseDuration("1d"), SimDuration::Seconds(86'400));
  EXPECT_EQ(*ParseDuration("0d"), SimDuration());
  EXPECT_EQ(*ParseDuration("1.5d"), SimDuration::Seconds(129'600));
  EXPECT_EQ(*ParseDuration("2d12h1ms"), SimDuration::Millis(216'000'001));
  for (const char* text : {"5", "-1ns", "x", "1.5", "s", "inf", "1753200.5h", "-1d", "d", "1h1d",
                           "1d1d", "1d-1h", "1d2", "xd", "73051d"}) {
    EXPECT_EQ(
        ParseDuration(text).status(),
        Invalid(absl::StrCat("found '", text, "', expected a duration such as 5ms, 1.5s or 2h")));
  }
}

// --- ScenarioFromFlags -------------------------------------------------------------------------

absl::StatusOr<GivenScenario> FromArgs(const std::vector<std::string>& args) {
  for (const Command& command : Commands()) {
    if (command.name != "run") continue;
    absl::StatusOr<ParsedFlags> flags = ParseFlags(command.flags, args);
    if (!flags.ok()) return flags.status();
    return ScenarioFromFlags(*flags);
  }
  return absl::NotFoundError("there is no command run");
}

std::string YamlFromArgs(const std::vector<std::string>& args) {
  const absl::StatusOr<GivenScenario> given = FromArgs(args);
  return given.ok() ? ToYaml(*given->scenario) : given.status().ToString();
}

TEST(ScenarioFromFlagsTest, EveryFlagIsAScenarioKey) {
  EXPECT_EQ(YamlFromArgs({}), "");
  EXPECT_EQ(YamlFromArgs(absl::StrSplit(
                "--trace t.yaml --nodes n.csv --pods=p.csv --policy random --device-chooser worst "
                "--mode replay --order trace --seed 7 --tuning-ratio 1.3 --limit 9 --lenient "
                "--cache off --ledger=off --out ignored --quiet --force",
                ' ')),
            TestText("EveryFlagIsAScenarioKey"));
}

TEST(ScenarioFromFlagsTest, FileThenFlagsThenSet) {
  const TempDir dir;
  dir.Write("s.yaml", "name: file\nseed: 1\nscheduler: {policy: random, device_chooser: worst}\n");
  const std::string file = dir.PathOf("s.yaml");
  EXPECT_EQ(YamlFromArgs({file}),
            "name: file\nseed: 1\nscheduler:\n  policy: random\n  device_chooser: worst\n");
  EXPECT_EQ(YamlFromArgs({"--set", "seed=3", "--seed", "2", "--scenario", file, "--policy", "fgd",
                          "--policy", "best-fit"}),
            "name: file\nseed: 3\nscheduler:\n  policy: best-fit\n  device_chooser: worst\n");
  EXPECT_EQ(YamlFromArgs({file, "--set", "name=a=b", "--set", "seed=5", "--set", "seed=6", "--set",
                          "scheduler.score.0.name=FGD"}),
            "name: a=b\nseed: 6\nscheduler:\n  policy: random\n  score:\n    - name: FGD\n"
            "  device_chooser: worst\n");
}

TEST(ScenarioFromFlagsTest, Refusals) {
  for (const auto& [first, second, expected] : TestRows<3>("Refusals")) {
    EXPECT_EQ(FromArgs({first, second}).status(), Invalid(expected)) << first;
  }
  EXPECT_EQ(FromArgs({"a", "--scenario", "b"}).status(),
            Invalid("expected one scenario file, found b, a"));
  const TempDir dir;
  dir.Write("s.yaml", "seed: 1\npolcy: fgd\n");
  EXPECT_EQ(
      FromArgs({dir.PathOf("s.yaml")}).status(),
      Invalid(absl::StrCat(dir.PathOf("s.yaml"),
                           ":2:1: polcy: unknown key, expected one of name, description, "
                           "mode, seed, order, cluster, workload, scheduler, timing, "
                           "output, compat, preemption, metrics, quotas, front_end, comparison")));
}

TEST(ScenarioFromFlagsTest, ABlankFileIsNoScenario) {
  const TempDir dir;
  const std::string file = dir.PathOf("s.yaml");
  dir.Write("s.yaml", "");
  EXPECT_EQ(FromArgs({file}).status(),
            Invalid(absl::StrCat(file, ": found an empty file, expected some text")));
  for (const char* const text : {"\n\n", "# a: 1\n# nothing else\n", "---\n", "{}\n", "seed:\n"}) {
    dir.Write("s.yaml", text);
    EXPECT_EQ(FromArgs({file, "--seed", "1"}).status(),
              Invalid(absl::StrCat(file, ": found no key that is set, expected a scenario")))
        << text;
  }
  dir.Write("s.yaml", "seed: 0\n");
  EXPECT_EQ(FromArgs({file}).status(), absl::OkStatus());
}

TEST(ScenarioFromFlagsTest, PathsInTheFileAreRelativeToItAndThoseOfFlagsAreNot) {
  const TempDir dir;
  dir.Write("s.yaml", "cluster: {path: n.csv}\nworkload: {trace: {path: p.csv}}\n");
  EXPECT_EQ(YamlFromArgs({dir.PathOf("s.yaml")}),
            absl::StrCat("cluster:\n  path: ", dir.PathOf("n.csv"),
                         "\nworkload:\n  trace:\n    path: ", dir.PathOf("p.csv"), "\n"));
  EXPECT_EQ(YamlFromArgs({dir.PathOf("s.yaml"), "--pods", "p.csv", "--set", "cluster.path=n.csv"}),
            "cluster:\n  path: n.csv\nworkload:\n  trace:\n    path: p.csv\n");
}

// The scenarios that name other files run from any folder, as this test does.
TEST(ScenarioFromFlagsTest, ShippedScenariosFindTheirFiles) {
  int built = 0;
  for (const char* const folder : {"demos", "demos/structured", "pathologies"}) {
    const std::string path = absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/", folder);
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory()) continue;
      if (absl::StrContains(name, ".manifest.") || absl::StartsWith(name, "objects")) continue;
      absl::StatusOr<GivenScenario> given = FromArgs({entry.path().string()});
      ASSERT_TRUE(given.ok()) << given.status();
      const absl::StatusOr<RunSpec> spec = ResolveGiven(*given);
      ASSERT_EQ(spec.status(), absl::OkStatus()) << name;
      EXPECT_EQ(Simulation::Build(*spec).status(), absl::OkStatus()) << name;
      ++built;
    }
  }
  EXPECT_GE(built, 20);
}

// An error about a value that stands in the file says where; one about a value that a flag gave in
// its place does not.
TEST(ResolveGivenTest, NamesThePlaceInTheFile) {
  const TempDir dir;
  dir.Write("s.yaml", "seed: 1\nscheduler: {policy: fdg}\nworkload:\n  limit: -1\n");
  const std::string file = dir.PathOf("s.yaml");
  const auto error = [](const std::vector<std::string>& args) {
    absl::StatusOr<GivenScenario> given = FromArgs(args);
    EXPECT_TRUE(given.ok()) << given.status();
    return WithoutKey(ResolveGiven(*given).status());
  };
  EXPECT_EQ(error({file, "--policy", "fgd"}),
            Invalid(absl::StrCat(file, ":4:10: workload.limit: expected 0 or more")));
  EXPECT_EQ(error({file, "--limit", "1"}),
            Invalid(absl::StrCat(file,
                                 ":2:21: scheduler.policy: unknown policy 'fdg' (did you "
                                 "mean 'fgd'?)")));
  EXPECT_EQ(error({file, "--policy", "fgd", "--limit", "-2"}),
            Invalid("workload.limit: expected 0 or more"));
  EXPECT_EQ(error({file, "--policy", "fgd", "--set", "workload.limit=-2"}),
            Invalid("workload.limit: expected 0 or more"));
  EXPECT_EQ(error({file, "--policy", "fgd", "--limit", "1"}), absl::OkStatus());
  // Items of lists have numbers; what an item lacks is missing at the item.
  dir.Write("s.yaml",
            "mode: replay\ncluster:\n  events:\n    - {at: 1h, nodes: a, action: fail}\n"
            "    - {at: soon, nodes: a, action: fail}\n");
  EXPECT_EQ(error({file}),
            Invalid(absl::StrCat(file,
                                 ":5:12: cluster.events[1].at: found 'soon', expected a duration "
                                 "such as 5ms, 1.5s or 2h")));
  EXPECT_EQ(error({file, "--set", "cluster.events.1.at=never"}),
            Invalid("cluster.events[1].at: found 'never', expected a duration such as 5ms, 1.5s "
                    "or 2h"));
  dir.Write("s.yaml", "mode: replay\nworkload: {jobs: [{name: a}, {cpu: '1'}]}\n");
  EXPECT_EQ(error({file}), Invalid(absl::StrCat(file,
                                                ":2:30: workload.jobs.1.name: found none, expected "
                                                "the job's name")));
  EXPECT_EQ(error({"--mode", "full"}),
            Invalid("mode: found 'full', expected one of fill, replay (did you mean 'fill'?)"));
}

// The place is that of the error's key, whatever the text says.
TEST(ResolveGivenTest, TheTextOfAnErrorDoesNotMatter) {
  GivenScenario given;
  given.file = "s.yaml";
  given.text = "seed: 1\nworkload:\n  limit: -1\n";
  EXPECT_EQ(InFile(given, WithKey("workload.limit", absl::InvalidArgumentError("seed: too few"))),
            Invalid("s.yaml:3:10: seed: too few"));
  EXPECT_EQ(InFile(given, Invalid("seed: a text that begins with a key")),
            Invalid("seed: a text that begins with a key"));
}

}  // namespace scenario_test
}  // namespace drasim
