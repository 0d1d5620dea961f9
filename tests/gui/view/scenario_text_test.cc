#include "gui/view/scenario_text.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/compare_model.h"
#include "gui/view/what_if.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "tests/testing/assert_ok.h"

namespace drasim::view {
namespace scenario_text_test {

proto::Scenario WithJobs(int jobs) {
  proto::Scenario scenario;
  scenario.set_name("many");
  scenario.set_seed(7);
  scenario.set_mode("replay");
  scenario.mutable_cluster()->set_nodes(4);
  for (int i = 0; i < jobs; ++i) {
    proto::InlineJob* const job = scenario.mutable_workload()->add_jobs();
    job->set_name(absl::StrCat("job-", i, ": \"quoted\"\nworkload:\n  jobs:"));
    job->set_cpu("1");
    job->set_run_time("1h");
  }
  scenario.mutable_workload()->mutable_tuning()->set_ratio(1.5);
  scenario.mutable_scheduler()->set_policy("first-fit");
  scenario.mutable_front_end()->set_kind("dra-classic");
  return scenario;
}

TEST(ScenarioTextTest, LongOnesLoseTheirJobsAlone) {
  proto::Scenario scenario = WithJobs(5'000);
  const std::string text = ToYaml(scenario);
  ASSERT_GT(text.size(), kLongScenario);
  const std::string outline = ScenarioOutline(text);
  EXPECT_LT(outline.size(), 300u);
  proto::Scenario read;
  ASSERT_EQ(MergeYaml(outline, "outline", &read), absl::OkStatus());
  scenario.mutable_workload()->clear_jobs();
  EXPECT_EQ(ToYaml(read), ToYaml(scenario));
  EXPECT_EQ(ScenarioValue(outline, "seed"), "7");
  EXPECT_EQ(CheckValue(outline, "scheduler.policy", "fgd"), absl::OkStatus());
  EXPECT_TRUE(IsOutsideOutline(outline, text, "workload.jobs.12.cpu"));
  EXPECT_FALSE(IsOutsideOutline(outline, text, "workload.tuning.ratio"));
}

TEST(ScenarioTextTest, ShortOnesStay) {
  const std::string text = ToYaml(WithJobs(3));
  EXPECT_EQ(ScenarioOutline(text), text);
  EXPECT_FALSE(IsOutsideOutline(text, text, "workload.jobs.2.cpu"));
  EXPECT_EQ(ScenarioOutline(""), "");
}

TEST(ScenarioTextTest, WhateverTheTextIs) {
  for (const char* line : {"\n", " \n", "workload:\n", "  jobs: [\n", "  - x\n", "\xff\xfe"}) {
    std::string text;
    while (text.size() <= kLongScenario) text += line;
    EXPECT_LE(ScenarioOutline(text).size(), text.size());
  }
}

TEST(ScenarioTextTest, ThePolicyStandsBehindItsFrontEnd) {
  EXPECT_EQ(PolicyText("scheduler: {policy: fgd}"), "fgd");
  EXPECT_EQ(PolicyText("scheduler: {policy: fgd}\nfront_end: {kind: direct}"), "fgd");
  EXPECT_EQ(PolicyText(ToYaml(WithJobs(1))), "dra-classic:first-fit");
  EXPECT_EQ(PolicyText("scheduler: ["), "");
}

}  // namespace scenario_text_test
}  // namespace drasim::view
