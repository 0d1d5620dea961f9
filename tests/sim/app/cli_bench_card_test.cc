// drasim bench judge, bench card and bench verify, as commands.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_bench_card_test {

using Words = std::vector<std::string>;

constexpr char kCardSuite[] =
    "version: 2\n"
    "entries:\n"
    "- name: fill\n"
    "  set: [workload.generated.pods=60, cluster.nodes=4]\n"
    "  policies: [best-fit, fgd, random]\n"
    "  seeds: 1..3\n"
    "  tier: pr\n"
    "  primary: {metric: gpu_allocation_percent_end, better: higher}\n"
    "- name: wait\n"
    "  scenario: small.yaml\n"
    "  policies: [best-fit, fgd, random]\n"
    "  tier: smoke\n"
    "  primary: {metric: mean_queueing_seconds, better: lower}\n";

constexpr char kSmallReplay[] =
    "mode: replay\n"
    "cluster: {nodes: 3}\n"
    "workload:\n"
    "  generated: {pods: 40, interarrival: exponential(mean=5), run_time: exponential(mean=300)}\n"
    "scheduler: {policy: fgd}\n";

class CliBenchCardTest : public CliTest {
 protected:
  CliBenchCardTest() {
    dir_.Write("s.yaml", kCardSuite);
    dir_.Write("small.yaml", kSmallReplay);
  }
};

TEST_F(CliBenchCardTest, ACardIsReproducedFromItsBundle) {
  const ProcessResult made =
      Run({"bench", "card", "s.yaml", "--out", "b", "--quiet", "--jobs", "2"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(absl::StartsWith(
      made.out, "division closed\nsuite s, version 2, differences from best-fit\n\nfill/-: "))
      << made.out;
  EXPECT_EQ(dir_.Read("b/card.txt"), made.out);
  const std::string bounds = dir_.Read("b/bounds.csv");
  EXPECT_TRUE(absl::StrContains(bounds, "\nfill,1,")) << bounds;
  EXPECT_TRUE(absl::StrContains(bounds, "\nfill,3,")) << bounds;
  EXPECT_FALSE(absl::StrContains(bounds, "wait")) << "pods leave in a replay";

  // From another folder, without the files that it was made from.
  dir_.Write("small.yaml", "mode: fill\n");
  const ProcessResult good = Run({"bench", "verify", "b", "--quiet", "--jobs", "2"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out, "b: reproduced, byte for byte\n");

  dir_.Write("b/card.csv", absl::StrReplaceAll(dir_.Read("b/card.csv"), {{"fgd", "fgx"}}));
  const ProcessResult bad = Run({"bench", "verify", "b", "--quiet", "--jobs", "2"});
  EXPECT_EQ(bad.exit_code, 1) << bad.err;
  EXPECT_TRUE(absl::StrContains(bad.out, "card.csv:3: found 'fill,,fgd,")) << bad.out;
  EXPECT_TRUE(absl::StrContains(bad.out, "b: not reproduced\n")) << bad.out;
}

TEST_F(CliBenchCardTest, WhateverIsNotTheSuiteAsItIsIsOpen) {
  const ProcessResult made = Run({"bench", "card", "s.yaml", "--out", "b", "--quiet", "--filter",
                                  "^fill/", "--reference", "fgd"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(absl::StartsWith(
      made.out, "division open: only cells that match ^fill/; reference fgd\nsuite s"))
      << made.out;
  EXPECT_EQ(Run({"bench", "verify", "b", "--quiet"}).exit_code, 0);
}

TEST_F(CliBenchCardTest, ResultsThatAreThereHaveACardWithoutBounds) {
  ASSERT_EQ(Run({"bench", "run", "s.yaml", "--out", "r", "--tier", "smoke", "--quiet"}).exit_code,
            0);
  const std::string card = Succeed({"bench", "card", "r"});
  EXPECT_TRUE(absl::StrContains(card, "wait/kubernetes: mean_queueing_seconds, lower is better\n"))
      << card;
  EXPECT_TRUE(absl::StartsWith(Succeed({"bench", "card", "r", "--format", "csv"}),
                               "entry,queue,policy,metric,"));
  EXPECT_EQ(JsonAt(Succeed({"bench", "card", "r", "--format", "json"}), "reference"),
            "\"best-fit\"");
  ExpectRefused({"bench", "card", "r", "--reference", "fgx"},
                "--reference: found no results of 'fgx' (did you mean 'fgd'?)");
  ExpectRefused({"bench", "card"}, "expected a suite or a folder of results, found 0 arguments");
  ExpectRefused({"bench", "verify", "r"}, "r: found no card.yaml, expected a folder of bench card");
}

TEST_F(CliBenchCardTest, JudgesARunByItsOwnDecisions) {
  ASSERT_EQ(Run({"run", "small.yaml", "--out", "own", "--quiet"}).exit_code, 0);
  const std::string judged =
      Succeed({"bench", "judge", "small.yaml", "--decisions", "own", "--out", "again"});
  EXPECT_TRUE(absl::StrContains(judged, "40 of 40 placements carried out, 0 impossible\n"))
      << judged;
  EXPECT_EQ(JsonAt(dir_.Read("again/summary.json"), "virtual_seconds"),
            JsonAt(dir_.Read("own/summary.json"), "virtual_seconds"));
  EXPECT_TRUE(dir_.Has("again/ledger"));
}

TEST_F(CliBenchCardTest, AnImpossiblePlacementIsNamed) {
  dir_.Write("d.csv", "pod,node,time\nnobody,nowhere,0\n");
  const ProcessResult judged = Run({"bench", "judge", "small.yaml", "--decisions", "d.csv"});
  EXPECT_EQ(judged.exit_code, 1);
  EXPECT_EQ(judged.err, "drasim: impossible: d.csv:2: pod 'nobody': unknown pod\n");
  dir_.Write("d.csv", "pod,node,time\na,b,soon\n");
  ExpectRefused({"bench", "judge", "small.yaml", "--decisions", "d.csv"},
                "d.csv:2:5: time: found 'soon', expected seconds of the run, from 0 on");
  ExpectRefused({"bench", "judge", "small.yaml"}, "bench judge needs --decisions FILE");
}

TEST_F(CliBenchCardTest, DecisionsThatGetWorseFail) {
  dir_.Write("two.yaml",
             "mode: replay\norder: trace\ncluster: {nodes: 2, node: {cpu: \"4\", memory: 8Gi}}\n"
             "workload: {jobs: [{name: a, cpu: \"1\", memory: 1Gi, run_time: 1h}]}\n");
  dir_.Write("old.csv", "pod,node,time\na,node-000000,10\n");
  dir_.Write("new.csv", "pod,node,time\na,node-000000,30\n");
  const auto judge = [this](const std::string& decisions, std::vector<std::string> more) {
    std::vector<std::string> args = {"bench", "judge", "two.yaml", "--decisions", decisions};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  };
  dir_.Write("old.json", judge("old.csv", {"--format", "json"}).out);
  const std::vector<std::string> gate = {"--baseline", "old.json", "--fail-if",
                                         "mean_queueing_seconds > 50%"};
  const ProcessResult same = judge("old.csv", gate);
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_TRUE(absl::EndsWith(same.out,
                             "\nAgainst old.json, 1 row(s): no figure differs.\n"
                             "passed mean_queueing_seconds > 50%: decisions 0.0\n"))
      << same.out;
  const ProcessResult later = judge("new.csv", gate);
  EXPECT_EQ(later.exit_code, 1);
  EXPECT_TRUE(absl::EndsWith(later.out, "\nFAILED mean_queueing_seconds > 50%: decisions +20.0\n"))
      << later.out;
  EXPECT_EQ(later.err, "");
  std::vector<std::string> in_json = gate;
  in_json.emplace_back("--format=json");
  EXPECT_EQ(JsonAt(judge("new.csv", in_json).out, "baseline.failed"), "true");
  ExpectRefused(
      {"bench", "judge", "two.yaml", "--decisions", "old.csv", "--fail-if", "goodput < 0"},
      "--fail-if needs --baseline OLD.json");
  dir_.Write("torn.json", "{\"schema\": \"drasim.bench-judge/v1\", \"inputs\": []}");
  ExpectRefused({"bench", "judge", "two.yaml", "--decisions", "old.csv", "--baseline", "torn.json"},
                "torn.json:1:1: expected an object 'metrics'");
}

}  // namespace cli_bench_card_test
}  // namespace drasim
