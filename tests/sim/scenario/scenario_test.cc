// Scenarios: defaults, every refusal of ResolveScenario with its message, and how flags and files
// come together.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace scenario_test {

// The resolved scenario as YAML.
std::string Resolved(absl::string_view yaml) { return ToYaml(RunSpecOf(ScenarioOf(yaml)).written); }

absl::Status ErrorOf(absl::string_view yaml) { return ResolveScenario(ScenarioOf(yaml)).status(); }

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

TEST(ResolveScenarioTest, FillsInEveryDefault) {
  const char* const expected =
      "mode: fill\n"
      "seed: 42\n"
      "order: seeded\n"
      "workload:\n"
      "  generated:\n"
      "    table: openb-like\n"
      "    sampling: quota\n"
      "scheduler:\n"
      "  policy: fgd\n"
      "  cache: true\n"
      "  typical:\n"
      "    popularity_percent: 95\n"
      "output:\n"
      "  ledger: true\n"
      "  checkpoint_every: 100000\n";
  EXPECT_EQ(Resolved(""), expected);
  EXPECT_EQ(Resolved(expected), expected);  // once more changes nothing
}

TEST(ResolveScenarioTest, TracesAndNodeListsAreOpenbUnlessTheySayOtherwise) {
  EXPECT_EQ(Resolved("cluster: {path: n.csv}\nworkload: {trace: {path: p.csv}}\n"),
            "mode: fill\n"
            "seed: 42\n"
            "order: seeded\n"
            "cluster:\n"
            "  path: n.csv\n"
            "  format: openb\n"
            "workload:\n"
            "  trace:\n"
            "    path: p.csv\n"
            "    format: openb\n"
            "scheduler:\n"
            "  policy: fgd\n"
            "  cache: true\n"
            "  typical:\n"
            "    popularity_percent: 95\n"
            "output:\n"
            "  ledger: true\n"
            "  checkpoint_every: 100000\n");
}

TEST(ResolveScenarioTest, AReplayKeepsTheTracesOrder) {
  const RunSpec spec = RunSpecOf(ScenarioOf("mode: replay\n"));
  EXPECT_EQ(spec.written.order(), "trace");
  EXPECT_EQ(spec.order, JobOrder::kTrace);
}

TEST(ResolveScenarioTest, NoCheckpointsIsNotTheDefaultNumberOfThem) {
  const RunSpec spec = RunSpecOf(ScenarioOf("output: {checkpoint_every: 0}\ntiming: {bind: 0s}\n"));
  EXPECT_EQ(spec.written.output().checkpoint_every(), 0);
  EXPECT_EQ(spec.engine.checkpoint_every, 0u);
}

TEST(ResolveScenarioTest, KeepsWhatIsGiven) {
  const char* const given =
      "name: mine\n"
      "description: all of it\n"
      "mode: replay\n"
      "seed: 0\n"
      "order: trace\n"
      "cluster:\n"
      "  path: n.csv\n"
      "  format: f.yaml\n"
      "workload:\n"
      "  trace:\n"
      "    path: p.csv\n"
      "    format: g.yaml\n"
      "    lenient: true\n"
      "  tuning:\n"
      "    ratio: 0.5\n"
      "  limit: 7\n"
      "scheduler:\n"
      "  policy: best-fit\n"
      "  score:\n"
      "    - name: FGD\n"
      "      weight: 1000000\n"
      "    - name: Random\n"
      "  device_chooser: worst\n"
      "  cache: false\n"
      "  queue: priority\n"
      "  typical:\n"
      "    popularity_percent: 0.5\n"
      "  head_of_line: false\n"
      "  backfill: none\n"
      "  estimates:\n"
      "    source: exact\n"
      "timing:\n"
      "  bind: 5ms\n"
      "  schedule: 1h2m3.5s\n"
      "output:\n"
      "  dir: out\n"
      "  ledger: false\n"
      "  checkpoint_every: 1\n"
      "  check_invariants: true\n"
      "preemption:\n"
      "  mode: priority\n";
  EXPECT_EQ(Resolved(given), given);
}

TEST(ResolveScenarioTest, NamesTheKeyThatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"mode: full\n", "mode: found 'full', expected one of fill, replay (did you mean 'fill'?)"},
      {"order: by-name\n", "order: found 'by-name', expected one of artifact, seeded, trace"},
      {"order: sedeed\n",
       "order: found 'sedeed', expected one of artifact, seeded, trace (did you mean 'seeded'?)"},
      {"mode: replay\norder: seeded\n",
       "order: found 'seeded', expected 'trace': a replay keeps the arrival times"},
      {"mode: replay\norder: artifact\n",
       "order: found 'artifact', expected 'trace': a replay keeps the arrival times"},
      {"scheduler: {policy: fdg}\n",
       "scheduler.policy: unknown policy 'fdg' (did you mean 'fgd'?)"},
      {"scheduler: {policy: FGD}\n",
       "scheduler.policy: unknown policy 'FGD' (did you mean 'fgd'?)"},
      {"scheduler: {device_chooser: bset}\n",
       "scheduler.device_chooser: unknown device chooser 'bset' (did you mean 'best'?)"},
      {"scheduler: {score: [{name: BestFti}]}\n",
       "scheduler.score: unknown plugin 'BestFti' (did you mean 'BestFit'?)"},
      {"scheduler: {score: [{name: FGD}, {name: ''}]}\n", "scheduler.score: unknown plugin ''"},
      {"scheduler: {score: [{name: NodeAffinity}]}\n",
       "scheduler.score: plugin 'NodeAffinity' has no Score extension point"},
      {"scheduler: {score: [{name: FGD, weight: -1}]}\n",
       "scheduler.score: plugin 'FGD': weight -1 is not a whole number from 0 to 1000000"},
      {"scheduler: {score: [{name: FGD, weight: 1000001}]}\n",
       "scheduler.score: plugin 'FGD': weight 1000001 is not a whole number from 0 to 1000000"},
      {"scheduler: {typical: {popularity_percent: 100.5}}\n",
       "scheduler.typical.popularity_percent: expected a number above 0 up to 100"},
      {"scheduler: {typical: {popularity_percent: -1}}\n",
       "scheduler.typical.popularity_percent: expected a number above 0 up to 100"},
      {"timing: {bind: 5}\n",
       "timing.bind: found '5', expected a duration such as 5ms, 1.5s or 2h"},
      {"timing: {schedule: -5ms}\n",
       "timing.schedule: found '-5ms', expected a duration such as 5ms, 1.5s or 2h"},
      {"timing: {schedule: inf}\n",
       "timing.schedule: found 'inf', expected a duration such as 5ms, 1.5s or 2h"},
      {"timing: {bind: 5ms}\n", "timing.bind: found '5ms', expected none: a fill has no clock"},
      {"timing: {schedule: 1ns}\n",
       "timing.schedule: found '1ns', expected none: a fill has no clock"},
      {"workload: {tuning: {ratio: 0}}\n",
       "workload.tuning.ratio: found 0, expected a number above 0, at most 1000000"},
      {"workload: {tuning: {ratio: -1.3}}\n",
       "workload.tuning.ratio: found -1.3, expected a number above 0, at most 1000000"},
      {"workload: {tuning: {ratio: 1e9}}\n",
       "workload.tuning.ratio: found 1e+09, expected a number above 0, at most 1000000"},
      {"workload: {generated: {pods: 100000001}}\n",
       "workload.generated.pods: found 100000001, expected 0 to 100000000"},
      {"cluster: {scale: 0}\n",
       "cluster.scale: found 0, expected a number above 0, at most 1000000"},
      {"cluster: {scale: 2}\nworkload: {target_load_percent: 90}\n",
       "cluster.scale: found workload.target_load_percent, too, expected one of them"},
      {"workload: {limit: -1}\n", "workload.limit: expected 0 or more"},
      {"output: {max_ledger: 0Gi}\n",
       "output.max_ledger: found '0Gi', expected a quantity above 0 such as 100Gi; output.ledger: "
       "false keeps none"},
      {"cluster: {nodes: -1}\n", "cluster.nodes: found -1, expected 0 to 16777216"},
      {"cluster: {nodes: 1, node: {cpu: '1', memory: 1Gi, gpus: 1, gpu_models: [{model: A30, "
       "count: 1}]}}\n",
       "cluster.node.gpu_models: found gpus beside it, expected one of them"},
      {"cluster: {nodes: 1, node: {cpu: '1', memory: 1Gi, gpu_model: T4, gpu_models: [{model: A30, "
       "count: 1}]}}\n",
       "cluster.node.gpu_models: found gpu_model beside it, expected one of them"},
      {"cluster: {nodes: 1, node: {cpu: '1', memory: 1Gi, gpu_models: [{count: 1}]}}\n",
       "cluster.node.gpu_models[0].model: expected a GPU model"},
      {"cluster: {nodes: 1, node: {cpu: '1', memory: 1Gi, gpu_models: [{model: T4}]}}\n",
       "cluster.node.gpu_models[0].count: found 0, expected at least 1, and at most 64 in all "
       "entries"},
      {"cluster: {nodes: 1, node: {cpu: '1', memory: 1Gi, gpu_models: [{model: T4, count: 63}, "
       "{model: A30, count: 2}]}}\n",
       "cluster.node.gpu_models[1].count: found 2, expected at least 1, and at most 64 in all "
       "entries"},
      {"output: {checkpoint_every: -1}\n", "output.checkpoint_every: expected 0 or more"},
  };
  for (const auto& [yaml, message] : cases) EXPECT_EQ(ErrorOf(yaml), Invalid(message)) << yaml;
}

TEST(ResolveScenarioTest, NamesTheKeyThatIsWrongInAReplay) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"mode: replay\nscheduler: {queue: fifi}\n",
       "scheduler.queue: found 'fifi', expected one of kubernetes, loss, fifo, priority, sjf, "
       "sjf-estimate, qssf, srtf, drf, edf (did you mean 'fifo'?)"},
      {"mode: replay\nscheduler: {head_of_line: false}\n",
       "scheduler.head_of_line: expected none with scheduler.queue: kubernetes, where no pod holds "
       "up another"},
      {"mode: replay\nscheduler: {queue: fifo, backfill: eazy}\n",
       "scheduler.backfill: found 'eazy', expected one of none, easy, conservative"},
      {"mode: replay\nscheduler: {queue: fifo, backfill: easy, head_of_line: false}\n",
       "scheduler.backfill: found 'easy', expected none: with scheduler.head_of_line: false every "
       "job that fits goes ahead anyway"},
      {"mode: replay\nscheduler: {queue: fifo, estimates: {source: oracle}}\n",
       "scheduler.estimates.source: found 'oracle', expected one of trace, exact, "
       "trace-at-least-run-time (did you mean 'trace'?)"},
      {"mode: replay\nscheduler: {kubernetes: {max_backoff: 1}}\n",
       "scheduler.kubernetes.max_backoff: found '1', expected a duration such as 5ms, 1.5s or 2h"},
      {"mode: replay\ncompat: helios\n",
       "compat: found 'helios', expected a batch queue (fifo, sjf, srtf) in scheduler.queue"},
      {"mode: replay\npreemption: {mode: maybe}\n",
       "preemption.mode: found 'maybe', expected one of none, policy, priority"},
      {"preemption: {restart: [{delay: x}]}\n",
       "preemption.restart[0].delay: found 'x', expected a duration such as 5ms, 1.5s or 2h"},
      {"workload: {window: {start: yesterday}}\n",
       "workload.window.start: found 'yesterday', expected a date and time with its zone such as "
       "2017-10-03T05:48:00Z"},
      {"mode: replay\nscheduler: {queue: fifo}\npreemption: {mode: policy}\n",
       "preemption.mode: found 'policy', expected none or priority: the queue fifo says nothing "
       "about "
       "who may displace whom"},
      {"mode: replay\nscheduler: {queue: fifo, backfill: conservative}\n"
       "preemption: {mode: priority}\n",
       "preemption.mode: found 'priority', expected none with scheduler.backfill: conservative, "
       "which "
       "never displaces anybody"},
      {"mode: replay\nscheduler: {queue: drf, backfill: conservative}\n",
       "scheduler.backfill: found 'conservative', expected none or easy: the queue drf has a line "
       "for "
       "each tenant"},
      {"mode: replay\ncluster: {events: [{at: 1s, nodes: a, action: fial}]}\n",
       "cluster.events[0].action: found 'fial', expected one of add, remove, fail, recover, "
       "cordon, uncordon, drain, device-unhealthy, device-healthy, plugin-restart, mig-config "
       "(did you mean 'fail'?)"},
      {"quotas: [{tenant: a, gpus: \"1\"}]\n", "quotas: expected none: a fill has no clock"},
      {"cluster: {events: [{at: 1s, nodes: a, action: fail}]}\n",
       "cluster.events: expected none: a fill has no clock"},
      {"mode: replay\nscheduler: {kubernetes: {max_backoff: 9000h}}\n",
       "scheduler.kubernetes.max_backoff: found '9000h', expected up to a year"},
  };
  for (const auto& [yaml, message] : cases) EXPECT_EQ(ErrorOf(yaml), Invalid(message)) << yaml;
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
  return given.ok() ? ToYaml(given->scenario) : given.status().ToString();
}

TEST(ScenarioFromFlagsTest, EveryFlagIsAScenarioKey) {
  EXPECT_EQ(YamlFromArgs({}), "");
  EXPECT_EQ(YamlFromArgs({"--trace",
                          "t.yaml",
                          "--nodes",
                          "n.csv",
                          "--pods=p.csv",
                          "--policy",
                          "random",
                          "--device-chooser",
                          "worst",
                          "--mode",
                          "replay",
                          "--order",
                          "trace",
                          "--seed",
                          "7",
                          "--tuning-ratio",
                          "1.3",
                          "--limit",
                          "9",
                          "--lenient",
                          "--cache",
                          "off",
                          "--ledger=off",
                          "--out",
                          "ignored",
                          "--quiet",
                          "--force"}),
            "mode: replay\n"
            "seed: 7\n"
            "order: trace\n"
            "cluster:\n"
            "  path: n.csv\n"
            "workload:\n"
            "  trace:\n"
            "    path: p.csv\n"
            "    format: t.yaml\n"
            "    lenient: true\n"
            "  tuning:\n"
            "    ratio: 1.3\n"
            "  limit: 9\n"
            "scheduler:\n"
            "  policy: random\n"
            "  device_chooser: worst\n"
            "  cache: false\n"
            "output:\n"
            "  ledger: false\n");
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
  EXPECT_EQ(FromArgs({"--seed", "x"}).status(),
            Invalid("--seed: seed: found 'x', expected a whole number from 0 to "
                    "18446744073709551615"));
  EXPECT_EQ(FromArgs({"--tuning-ratio", "much"}).status(),
            Invalid("--tuning-ratio: workload.tuning.ratio: found 'much', expected a finite "
                    "number"));
  EXPECT_EQ(FromArgs({"--cache", "maybe"}).status(),
            Invalid("--cache: found 'maybe', expected on or off"));
  EXPECT_EQ(FromArgs({"--set", "seed"}).status(),
            Invalid("--set: found 'seed', expected KEY=VALUE"));
  EXPECT_EQ(FromArgs({"--set", "scheduler=fgd"}).status(),
            Invalid("--set: scheduler: expected one of its keys after it: policy, score, "
                    "device_chooser, cache, queue, typical, head_of_line, backfill, estimates, "
                    "kubernetes, resource_scores"));
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
  for (const char* const folder : {"demos", "pathologies"}) {
    const std::string path = absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/", folder);
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
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
    return ResolveGiven(*given).status();
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

}  // namespace scenario_test
}  // namespace drasim
