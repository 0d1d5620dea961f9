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

}  // namespace cli_bench_card_test
}  // namespace drasim
