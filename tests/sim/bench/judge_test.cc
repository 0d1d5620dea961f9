// Judging: a run's own decisions give its own figures, and impossible decisions are named.
//
// Reads tests/golden of the source tree, which the compile definition DRASIM_SOURCE_DIR leads to.
#include "sim/bench/judge.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/bench/judge_decisions.h"
#include "sim/compare/cell.h"
#include "tests/sim/bench/judged_runs.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace {

std::string GoldenScenario(const std::string& name) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name, ".yaml"));
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class JudgeGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(JudgeGoldenTest, OwnDecisionsGiveOwnFigures) {
  const RunSpec spec = SpecOf({GoldenScenario(GetParam())});
  ASSERT_EQ(CheckJudgeable(spec), absl::OkStatus());
  const TempDir dir;
  const CellResult run = RunInto(spec, dir.path());
  const Judgement judged = JudgeList(spec, DecisionsOfLedger(dir.path(), FileOptionsOf(spec)));
  ExpectSameFigures(run, judged);
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeGoldenTest,
    ::testing::Values("artifact_fill_fgd", "device_plugin_time_sliced", "mig_mfi_departures",
                      "mig_nos_backlog", "replay_conservative_quota", "replay_dotprod_bind_latency",
                      "replay_easy_node_events", "replay_gpu_packing_backlog", "replay_random",
                      "replay_srtf_gangs", "seeded_fill_best_fit", "weighted_fill_gpu_clustering"),
    [](const auto& info) { return info.param; });

// In pods.csv the order of an instant is lost, and only the last run of each pod is there.
class JudgePodsCsvTest : public ::testing::TestWithParam<std::string> {};

TEST_P(JudgePodsCsvTest, ATableGivesTheSameFigures) {
  const RunSpec spec = SpecOf({GoldenScenario(GetParam())});
  const TempDir dir;
  const CellResult run = RunInto(spec, dir.path());
  const Judgement judged =
      JudgeList(spec, DecisionsOfCsv("pods.csv", dir.Read("pods.csv"), FileOptionsOf(spec)));
  ExpectSameFigures(run, judged);
}

INSTANTIATE_TEST_SUITE_P(All, JudgePodsCsvTest,
                         ::testing::Values("artifact_fill_fgd", "mig_mfi_departures",
                                           "mig_nos_backlog", "replay_gpu_packing_backlog",
                                           "replay_random", "seeded_fill_best_fit"),
                         [](const auto& info) { return info.param; });

TEST(JudgeTest, AWorsePlacementHasOtherFigures) {
  const RunSpec spec = SpecOf({TestText("Four")});
  const Judgement packed = JudgeList(
      spec, DecisionsOfCsv(
                "d.csv",
                "pod,node,devices,time\na,node-000000,0,0\nb,node-000000,1,1\nc,node-000001,,2\n",
                FileOptionsOf(spec)));
  EXPECT_EQ(packed.followed, 3u);
  EXPECT_EQ(packed.figures.replay.jobs_finished, 3);
  EXPECT_EQ(packed.figures.replay.mean_queueing_seconds, 0);
  const Judgement spread = JudgeList(
      spec,
      DecisionsOfCsv(
          "d.csv",
          "pod,node,devices,time\na,node-000000,0,0\nb,node-000001,1,1\nc,node-000001,,3601\n",
          FileOptionsOf(spec)));
  EXPECT_EQ(spread.followed, 3u);
  EXPECT_EQ(spread.problems.size(), 0u);
  EXPECT_NEAR(spread.figures.replay.mean_queueing_seconds.value_or(0), 3599.0 / 3, 1e-6);
}

TEST(JudgeTest, ImpossiblePlacementsAreNamed) {
  const RunSpec spec = SpecOf({TestText("Impossible.scenario")});
  const Judgement judged = JudgeList(
      spec, DecisionsOfCsv("d.csv", TestText("Impossible.decisions"), FileOptionsOf(spec)));
  EXPECT_EQ(ProblemsOf(judged), TestText("Impossible"));
}

TEST(JudgeTest, ImpossiblePlacementsOfAFillAreNamed) {
  const RunSpec spec = SpecOf({TestText("Four"), "mode: fill"});
  const Judgement judged = JudgeList(
      spec,
      DecisionsOfCsv(
          "d.csv",
          "pod,node,devices\na,node-000000,0\nb,node-000000,0\nc,node-000009,\na,node-000001,0\n",
          FileOptionsOf(spec)));
  EXPECT_EQ(ProblemsOf(judged), TestText("ImpossibleFill"));
  EXPECT_EQ(judged.figures.pods_scheduled, 1);
  EXPECT_EQ(judged.figures.pods_unschedulable, 2);
}

// kubectl's times have no fractions: what seems to come too early comes within the second.
TEST(JudgeTest, PodsAsKubectlPrintsThem) {
  const RunSpec spec = SpecOf({TestText("Four")});
  const Judgement judged =
      JudgeList(spec, DecisionsOfPods("pods.json", TestText("Kubectl"), FileOptionsOf(spec)));
  EXPECT_EQ(ProblemsOf(judged), "");
  EXPECT_EQ(judged.followed, 3u);
  // c is placed when b has left, a second later than it says.
  EXPECT_NEAR(judged.figures.replay.mean_queueing_seconds.value_or(0), 3599.0 / 3, 1e-6);
}

TEST(JudgeTest, WhatIsNegotiatedCannotBeJudged) {
  EXPECT_EQ(CheckJudgeable(SpecOf({GoldenScenario("replay_dra_mig")})).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckJudgeable(SpecOf({GoldenScenario("mig_static_repartition")})).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(JudgeDecisionsTest, MalformedTables) {
  DecisionFileOptions replay;
  replay.replay = true;
  for (const auto& [text, message] : TestRows<2>("Malformed")) {
    EXPECT_EQ(DecisionsOfCsv("d.csv", text, replay).status().message(), message) << text;
  }
}

TEST(JudgeDecisionsTest, PodsWithoutPlacesOrTimes) {
  DecisionFileOptions replay;
  replay.replay = true;
  EXPECT_EQ(DecisionsOfPods("p.json", R"({"apiVersion":"v1","kind":"List","items":[]})", replay)
                .status()
                .message(),
            "p.json: found no pod with spec.nodeName, expected pods as `kubectl get pods -o json` "
            "prints them");
  EXPECT_EQ(DecisionsOfPods("p.json",
                            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},)"
                            R"("spec":{"nodeName":"n","containers":[{"name":"c"}]}})",
                            replay)
                .status()
                .message(),
            "p.json:1: pod 'a': found no time of PodScheduled, which a replay needs");
}

}  // namespace
}  // namespace drasim::bench
