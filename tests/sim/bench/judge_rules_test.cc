// Judging by kube-scheduler's rules about other pods, volumes and gates: what each of them forbids
// is named in upstream's words, and what kube-scheduler itself does is never named.
//
// Reads scenarios of the source tree, which the compile definition DRASIM_SOURCE_DIR leads to.
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/bench/judge.h"
#include "sim/bench/judge_decisions.h"
#include "sim/compare/cell.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/run_spec.h"
#include "tests/sim/bench/judged_runs.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace {

// A scenario whose cluster and pods are the manifests of the data file. Its own policy knows none
// of the rules.
class JudgeRulesTest : public ::testing::Test {
 protected:
  JudgeRulesTest() {
    dir_.Write("cluster.yaml", TestText("Cluster"));
    dir_.Write("pods.yaml", TestText("Pods"));
  }

  RunSpec Spec(absl::string_view more = "") const {
    return SpecOf({absl::StrCat("mode: replay\norder: trace\ncluster: {manifests: [",
                                dir_.PathOf("cluster.yaml"), "]}\nworkload: {manifests: [",
                                dir_.PathOf("pods.yaml"), "]}\n"),
                   more});
  }

  static Judgement JudgeTable(const RunSpec& spec, const std::string& rows) {
    return JudgeList(
        spec, DecisionsOfCsv("d.csv", absl::StrCat("pod,node,time\n", rows), FileOptionsOf(spec)));
  }

  TempDir dir_;
};

TEST_F(JudgeRulesTest, EachRuleIsNamedWhereItIsBroken) {
  const RunSpec spec = Spec();
  ASSERT_EQ(CheckJudgeable(spec), absl::OkStatus());
  size_t rules = 0;
  for (const auto& [decisions, what] : TestRows<2>("Broken")) {
    SCOPED_TRACE(decisions);
    const Judgement judged = JudgeTable(spec, decisions);
    ASSERT_EQ(judged.problems.size(), 1u) << ProblemsOf(judged);
    EXPECT_EQ(judged.problems[0], what);
    EXPECT_EQ(judged.followed + 1, judged.placements);
    ++rules;
  }
  EXPECT_EQ(rules, 15u);
}

TEST_F(JudgeRulesTest, NothingIsNamedWhereTheRulesAreKept) {
  const RunSpec spec = Spec();
  for (const auto& [decisions, placements] : TestRows<2>("Kept")) {
    SCOPED_TRACE(decisions);
    const Judgement judged = JudgeTable(spec, decisions);
    EXPECT_EQ(ProblemsOf(judged), "");
    EXPECT_EQ(absl::StrCat(judged.followed), placements);
  }
}

TEST_F(JudgeRulesTest, AFillHasTheSameRules) {
  const RunSpec spec = Spec("mode: fill");
  EXPECT_EQ(ProblemsOf(JudgeTable(spec, "spread-0,a1,\nspread-1,a2,\nspread-2,b1,\n")),
            "d.csv:3: pod 'spread-1': node 'a2': node(s) didn't match pod topology spread "
            "constraints\n");
  EXPECT_EQ(ProblemsOf(JudgeTable(spec, "spread-0,a1,\nspread-1,b1,\nspread-2,a2,\n")), "");
}

// The pod waits on, and a later decision may start it.
TEST_F(JudgeRulesTest, APodOutlivesAnImpossibleDecision) {
  const Judgement judged =
      JudgeTable(Spec(), "spread-0,a1,1\nspread-1,a2,2\nspread-1,b1,50\nspread-2,a2,60\n");
  EXPECT_EQ(ProblemsOf(judged),
            "d.csv:3: pod 'spread-1': node 'a2': node(s) didn't match pod topology spread "
            "constraints\n");
  EXPECT_EQ(judged.followed, 3u);
}

// The scenario's own configuration says which plugins there are.
TEST_F(JudgeRulesTest, TheConfigurationOfTheScenarioDecides) {
  dir_.Write("config.yaml", TestText("WithoutSpread"));
  const RunSpec spec = Spec(absl::StrCat(
      "scheduler: {policy: kube-scheduler, kube_config: ", dir_.PathOf("config.yaml"), "}"));
  EXPECT_EQ(ProblemsOf(JudgeTable(spec, "spread-0,a1,1\nspread-1,a2,2\n")), "");
  EXPECT_EQ(ProblemsOf(JudgeTable(spec, "web,a1,1\nnear,a2,2\n")),
            "d.csv:3: pod 'near': node 'a2': node(s) didn't match pod affinity rules\n");
}

// All in one second: the order of the list is not binding.
TEST_F(JudgeRulesTest, PodsAsKubectlPrintsThem) {
  const RunSpec spec = Spec();
  const auto judge = [&spec](const std::string& json) {
    return JudgeList(spec, DecisionsOfPods("pods.json", json, FileOptionsOf(spec)));
  };
  const Judgement kept = judge(TestText("KubectlKept"));
  EXPECT_EQ(ProblemsOf(kept), "");
  EXPECT_EQ(kept.followed, 4u);
  const Judgement broken = judge(TestText("KubectlBroken"));
  EXPECT_EQ(ProblemsOf(broken), TestText("KubectlProblems"));
  EXPECT_EQ(broken.followed, 1u);
}

// --- kube-scheduler's own decisions ---

void ExpectOwnFigures(const RunSpec& spec) {
  ASSERT_EQ(CheckJudgeable(spec), absl::OkStatus());
  const TempDir out;
  const CellResult run = RunInto(spec, out.path());
  ExpectSameFigures(run, JudgeList(spec, DecisionsOfLedger(out.path(), FileOptionsOf(spec))));
}

class JudgeKubeSchedulerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(JudgeKubeSchedulerTest, OwnDecisionsGiveOwnFigures) {
  ASSERT_OK_AND_ASSIGN(const GivenScenario given,
                       ReadGiven(absl::StrCat(DRASIM_SOURCE_DIR, "/", GetParam(), ".yaml")));
  ExpectOwnFigures(RunSpecOf(*given.scenario));
}

INSTANTIATE_TEST_SUITE_P(All, JudgeKubeSchedulerTest,
                         ::testing::Values("bench/suite/data/services", "scenarios/kube/budgets",
                                           "scenarios/kube/nominated", "scenarios/kube_scheduler",
                                           "scenarios/two_schedulers"),
                         [](const auto& info) {
                           return info.param.substr(info.param.rfind('/') + 1);
                         });

TEST_F(JudgeRulesTest, OwnDecisionsUnderAllRulesGiveOwnFigures) {
  ExpectOwnFigures(Spec("scheduler: {policy: kube-scheduler}"));
  ExpectOwnFigures(Spec("{mode: fill, scheduler: {policy: kube-scheduler}}"));
}

// Another policy keeps pods with such rules waiting, and reads less of the manifests.
TEST(JudgePoliciesTest, OwnDecisionsAboutManifestsGiveOwnFigures) {
  ASSERT_OK_AND_ASSIGN(
      const GivenScenario given,
      ReadGiven(absl::StrCat(DRASIM_SOURCE_DIR, "/bench/suite/data/services.yaml")));
  proto::Scenario scenario = *given.scenario;
  scenario.mutable_scheduler()->set_policy("best-fit");
  ExpectOwnFigures(RunSpecOf(scenario));
}

}  // namespace
}  // namespace drasim::bench
