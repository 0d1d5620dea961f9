#include "gui/view/compare_model.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "gui/view/pod_table.h"
#include "model/device_set.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace compare_model_test {

using view::CompareModel;
using view::CompareOptions;
using view::CompareScenarios;
using view::FigureDelta;
using view::KeyDifference;
using view::PodDivergence;
using view::PodTable;
using view::ScenarioValue;

std::string KindsOf(const CompareModel& compare, const PodTable& a) {
  std::string text;
  for (const PodDivergence& d : compare.divergences()) {
    text += std::string(a.name(d.a)) + ":" + std::string(DivergenceKindName(d.kind)) + " ";
  }
  return text;
}

TEST(CompareModelTest, FindsDivergencesWithATolerance) {
  ViewRig a;
  ViewRig b;
  for (ViewRig* rig : {&a, &b}) {
    const bool is_b = rig == &b;
    const PodId alike = rig->Arrive("alike", ViewRig::Gpus(1));
    if (is_b) rig->At(50);
    rig->Bind(alike, 0, DeviceSet::Of(0));
    rig->At(60);
    const PodId moved = rig->Arrive("moved", ViewRig::Gpus(1));
    rig->Bind(moved, is_b ? 1 : 0, DeviceSet::Of(1));
    rig->At(70);
    const PodId refused = rig->Arrive("refused", ViewRig::Gpus(1));
    if (is_b) rig->Fail(refused, 2, 0);
    rig->At(80);
    const PodId late = rig->Arrive("late", ViewRig::Mig("1g.10gb"));
    if (is_b) rig->At(200);
    rig->Bind(late, 1, DeviceSet::Of(0), rig->Instance("1g.10gb", 0, 0));
    if (!is_b) rig->At(210);
    if (!is_b) rig->Bind(refused, 1, DeviceSet::Of(1));
    if (is_b) rig->Arrive("only in b", ViewRig::Gpus(1));
  }
  const PodTable pods_a = a.Table();
  const PodTable pods_b = b.Table();
  const CompareModel compare(&pods_a, a.Figures(), &pods_b, b.Figures(), CompareOptions());
  EXPECT_EQ(KindsOf(compare, pods_a), "moved:node refused:first answer late:start ");
  EXPECT_EQ(compare.divergences()[0].text, "on node-a in A, on node-b in B");
  EXPECT_EQ(compare.divergences()[1].text, "bound at its first attempt in A, no node in B");
  EXPECT_EQ(compare.divergences()[2].text,
            "started 0s after its arrival in A, started 2m after its arrival in B");
  EXPECT_EQ(compare.only_in_a(), 0);
  EXPECT_EQ(compare.only_in_b(), 1);
  EXPECT_EQ(compare.starts().later, 2);
  EXPECT_EQ(compare.starts().alike, 2);
  EXPECT_EQ(compare.starts().earlier, 0);

  CompareOptions strict;
  strict.answers = strict.nodes = false;
  strict.tolerance = SimDuration::Seconds(49);
  const CompareModel starts(&pods_a, a.Figures(), &pods_b, b.Figures(), strict);
  EXPECT_EQ(KindsOf(starts, pods_a), "alike:start late:start refused:start ");
}

const FigureDelta* DeltaNamed(const std::vector<FigureDelta>& deltas, const std::string& metric) {
  for (const FigureDelta& delta : deltas) {
    if (delta.metric == metric) return &delta;
  }
  return nullptr;
}

TEST(CompareModelTest, FiguresSayWhetherBIsBetter) {
  view::RunFigures a;
  a.end = SimTime(4 * kSecondNs);
  a.has_gpus = true;
  a.allocated_percent_mean = 92.2;
  a.waits.pods = 1;
  a.waits.mean = SimDuration::Seconds(332);
  a.started = 1200;
  view::RunFigures b = a;
  b.allocated_percent_mean = 65.6;
  b.waits.mean = SimDuration::Seconds(4769);
  b.end = SimTime(5 * kSecondNs);
  const std::vector<FigureDelta> deltas = CompareFigures(a, b);
  const FigureDelta* const gpus = DeltaNamed(deltas, "GPUs allocated, mean");
  ASSERT_NE(gpus, nullptr);
  EXPECT_EQ(gpus->a, "92.20 %");
  EXPECT_EQ(gpus->difference, "-26.60 %");
  EXPECT_EQ(gpus->verdict, FigureDelta::Verdict::kWorse);
  const FigureDelta* const wait = DeltaNamed(deltas, "arrival to start, mean");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->a, "5m32s");
  EXPECT_EQ(wait->difference, "+1h13m");
  EXPECT_EQ(wait->verdict, FigureDelta::Verdict::kWorse);
  const FigureDelta* const started = DeltaNamed(deltas, "pods started");
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(started->a, "1,200");
  EXPECT_EQ(started->difference, "=");
  EXPECT_EQ(started->verdict, FigureDelta::Verdict::kNone);
  EXPECT_EQ(DeltaNamed(deltas, "end of the run")->verdict, FigureDelta::Verdict::kNone);
  EXPECT_EQ(DeltaNamed(deltas, "slices held, mean"), nullptr);
  // A fill takes no virtual time.
  a.end = b.end = SimTime();
  const std::vector<FigureDelta> fills = CompareFigures(a, b);
  EXPECT_EQ(DeltaNamed(fills, "GPUs allocated, mean"), nullptr);
  EXPECT_NE(DeltaNamed(fills, "GPUs allocated, peak"), nullptr);
}

TEST(CompareModelTest, FiguresHaveACsv) {
  FigureDelta wait;
  wait.metric = "arrival to start, p95";
  wait.a = "1h2m";
  wait.b = "33m";
  wait.difference = "-29m";
  wait.verdict = FigureDelta::Verdict::kBetter;
  FigureDelta pods;
  pods.metric = "pods started";
  pods.a = "7,560";
  pods.b = "-";
  EXPECT_EQ(view::FiguresCsv({wait, pods}),
            "metric,A,B,B - A,verdict\n\"arrival to start, p95\",1h2m,33m,-29m,better\n"
            "pods started,\"7,560\",-,,\n");
}

TEST(CompareScenariosTest, SaysWhatIsTheSameInOneLine) {
  const auto line = [](const std::vector<std::string>& keys) {
    std::vector<KeyDifference> differences;
    for (const std::string& key : keys) differences.push_back({key, "1", "2"});
    return view::ScenariosLine(differences);
  };
  EXPECT_EQ(line({}), "the same scenario");
  EXPECT_EQ(line({"front_end"}), "same cluster, jobs, order, seed; other: front_end");
  EXPECT_EQ(line({"name", "description", "seed", "workload.generated.mig.0.weight"}),
            "same cluster, order; other: seed, workload.generated.mig.0.weight");
  EXPECT_EQ(line({"cluster.nodes", "workload", "order", "seed", "seeds"}),
            "other: cluster.nodes, workload, order and 2 more");
  EXPECT_EQ(line({"name"}), "same cluster, jobs, order, seed; other: name");
}

TEST(CompareScenariosTest, NamesTheKeysThatDiffer) {
  const absl::StatusOr<std::vector<KeyDifference>> differences =
      CompareScenarios("seed: 7\nscheduler: {queue: kubernetes, policy: fgd}\nlist: [1, 2]\n",
                       "seed: 7\nscheduler: {queue: kubernetes}\nlist: [1, 3]\nname: b\n");
  ASSERT_TRUE(differences.ok()) << differences.status();
  EXPECT_EQ(*differences,
            (std::vector<KeyDifference>{
                {"scheduler.policy", "fgd", ""}, {"list.1", "2", "3"}, {"name", "", "b"}}));
  EXPECT_FALSE(CompareScenarios("a: [", "").ok());
  EXPECT_EQ(ScenarioValue("a: {b: c}\nseed: 7\n", "seed"), "7");
  EXPECT_EQ(ScenarioValue("a: {b: c}\n", "a.b"), "c");
  EXPECT_EQ(ScenarioValue("a: {b: c}\n", "seed"), "");
}

}  // namespace compare_model_test
}  // namespace drasim
