#include "sim/kube/case_compare.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

using proto::kube::KubeAnswer;
using ::testing::HasSubstr;

KubeAnswer PlacedAnswer() {
  KubeAnswer answer;
  answer.add_node_order("n1");
  KubeAnswer::Attempt* attempt = answer.add_attempts();
  attempt->set_pod("default/p");
  attempt->set_pass(1);
  attempt->set_outcome("scheduled");
  attempt->set_start(0);
  attempt->set_next_start(1);
  attempt->add_feasible("n1");
  attempt->add_feasible("n2");
  KubeAnswer::StatusGroup* group = attempt->add_infeasible();
  group->set_plugin("NodeName");
  group->set_code("Unschedulable");
  group->add_nodes("n3");
  *attempt->add_infeasible() = *group;
  attempt->mutable_infeasible(1)->set_plugin("NodePorts");
  KubeAnswer::PluginScores* scores = attempt->add_scores();
  scores->set_plugin("ImageLocality");
  scores->set_weight(1);
  scores->add_raw(5);
  scores->add_weighted(10);
  attempt->add_total(10);
  attempt->add_top("n1");
  attempt->set_chosen("n1");
  attempt->set_message("m");
  attempt->mutable_preemption()->add_potential("n3");
  answer.add_events()->add_requeued("default/q");
  return answer;
}

std::string Compare(const KubeAnswer& ours, const KubeAnswer& theirs) {
  CaseComparison comparison;
  comparison.Add("case-1", "family-1", ours, theirs);
  EXPECT_EQ(comparison.cases(), 1u);
  return comparison.unequal_cases() == 0 ? "" : comparison.Text();
}

TEST(CaseComparisonTest, EqualAnswersAreEqual) {
  EXPECT_EQ(Compare(PlacedAnswer(), PlacedAnswer()), "");
}

TEST(CaseComparisonTest, GroupsAreSets) {
  KubeAnswer other = PlacedAnswer();
  other.mutable_attempts(0)->mutable_infeasible()->SwapElements(0, 1);
  EXPECT_EQ(Compare(PlacedAnswer(), other), "");
}

struct Change {
  const char* field;
  void (*change)(KubeAnswer&);
};

TEST(CaseComparisonTest, EachFieldIsCompared) {
  const Change kChanges[] = {
      {"nodeOrder", [](KubeAnswer& a) { a.add_node_order("n2"); }},
      {"outcome", [](KubeAnswer& a) { a.mutable_attempts(0)->set_outcome("error"); }},
      {"outcome", [](KubeAnswer& a) { a.mutable_attempts(0)->set_chosen("n2"); }},
      {"outcome", [](KubeAnswer& a) { a.add_attempts(); }},
      {"feasible", [](KubeAnswer& a) { a.mutable_attempts(0)->add_feasible("n4"); }},
      {"infeasible",
       [](KubeAnswer& a) { a.mutable_attempts(0)->mutable_infeasible(0)->add_reasons("r"); }},
      {"infeasible", [](KubeAnswer& a) { a.mutable_attempts(0)->add_skipped_filter("NodePorts"); }},
      {"raw", [](KubeAnswer& a) { a.mutable_attempts(0)->mutable_scores(0)->set_raw(0, 6); }},
      {"weighted",
       [](KubeAnswer& a) { a.mutable_attempts(0)->mutable_scores(0)->set_weighted(0, 6); }},
      {"weighted", [](KubeAnswer& a) { a.mutable_attempts(0)->set_total(0, 6); }},
      {"top", [](KubeAnswer& a) { a.mutable_attempts(0)->add_top("n2"); }},
      {"preemption",
       [](KubeAnswer& a) { a.mutable_attempts(0)->mutable_preemption()->add_best("n3"); }},
      {"preemption", [](KubeAnswer& a) { a.mutable_attempts(0)->set_nominated_after("n3"); }},
      {"nextStart", [](KubeAnswer& a) { a.mutable_attempts(0)->set_next_start(2); }},
      {"message", [](KubeAnswer& a) { a.mutable_attempts(0)->set_message("other"); }},
      {"message",
       [](KubeAnswer& a) { a.mutable_attempts(0)->add_unschedulable_plugins("NodePorts"); }},
      {"events", [](KubeAnswer& a) { a.mutable_events(0)->clear_requeued(); }},
      {"events", [](KubeAnswer& a) { a.add_events()->add_requeued("default/r"); }},
      {"refused", [](KubeAnswer& a) { a.set_config_error("why"); }},
  };
  for (const Change& change : kChanges) {
    KubeAnswer other = PlacedAnswer();
    change.change(other);
    EXPECT_THAT(Compare(PlacedAnswer(), other),
                HasSubstr(std::string("first difference in ") + change.field))
        << change.field;
  }
}

TEST(CaseComparisonTest, TextsOfRefusalsDoNotCount) {
  KubeAnswer ours;
  ours.set_config_error("our words");
  KubeAnswer theirs;
  theirs.set_config_error("their words");
  EXPECT_EQ(Compare(ours, theirs), "");
}

TEST(CaseComparisonTest, NodesThatWereNotVisitedHaveNoReason) {
  KubeAnswer ours = PlacedAnswer();
  ours.mutable_attempts(0)->mutable_absent()->add_nodes("n9");
  KubeAnswer theirs = ours;
  theirs.mutable_attempts(0)->mutable_absent()->set_code("Unschedulable");
  EXPECT_EQ(Compare(ours, theirs), "");
  // They do where no node fits.
  ours.mutable_attempts(0)->clear_feasible();
  theirs.mutable_attempts(0)->clear_feasible();
  EXPECT_NE(Compare(ours, theirs), "");
}

}  // namespace
}  // namespace drasim
