#include "gui/session/comparison_job.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/time.h"
#include "tests/gui/session/job_runs.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace comparison_job_test {

using gui::ComparisonJob;
using gui::RunComparison;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Both worlds of the tiny scenario: spread (A) and packed (B).
class ComparisonJobTest : public ::testing::Test {
 protected:
  void Run(const JobSettings& more) {
    dir_.Write("tiny.yaml", kTinyScenario);
    const std::string file = dir_.PathOf("tiny.yaml");
    RunFile(file, more, dir_.PathOf("a"));
    JobSettings packed = more;
    packed.emplace_back("scheduler.policy", "most-allocated");
    RunFile(file, packed, dir_.PathOf("b"));
  }
  std::unique_ptr<ComparisonJob> Compare() const {
    return ComparisonJob::Start(dir_.PathOf("a"), dir_.PathOf("b"), {}, nullptr);
  }
  // "TIME text" of each line, in seconds or, without a clock, records.
  static std::vector<std::string> Lines(const std::vector<view::StoryLine>& story, int64_t unit) {
    std::vector<std::string> lines;
    for (const view::StoryLine& line : story) {
      lines.push_back(absl::StrCat(line.time.ns() / unit, " ", line.text));
    }
    return lines;
  }

  const TempDir dir_;
};

TEST_F(ComparisonJobTest, ComparesTwoReplays) {
  Run({});
  const std::unique_ptr<ComparisonJob> job = Compare();
  job->Settle();
  ASSERT_EQ(job->status(), absl::OkStatus());
  EXPECT_EQ(job->progress(), 1);
  const std::shared_ptr<const RunComparison> result = job->result();
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->a_pods.rows(), 3u);
  EXPECT_EQ(result->b_pods.tenant(2), "red");
  EXPECT_EQ(result->a_figures.end, SimTime(4200 * kSecondNs));
  EXPECT_EQ(result->b_figures.end, SimTime(3601 * kSecondNs));
  EXPECT_EQ(result->a_figures.attempts_failed, 11);
  ASSERT_NE(result->model, nullptr);
  // `small-b` goes to another node, `wide` waits.
  ASSERT_EQ(result->model->divergences().size(), 2u);
  EXPECT_EQ(result->model->divergences()[0].a, 1u);
  EXPECT_EQ(result->model->divergences()[0].kind, view::PodDivergence::Kind::kNode);
  EXPECT_EQ(result->model->divergences()[1].a, 2u);
  EXPECT_EQ(result->model->divergences()[1].kind, view::PodDivergence::Kind::kAnswer);
  EXPECT_THAT(result->divergences, ElementsAre(view::TimeTarget{SimTime(kSecondNs)},
                                               view::TimeTarget{SimTime(2 * kSecondNs)}));
  EXPECT_THAT(result->keys, ElementsAre(view::KeyDifference{"scheduler.policy", "least-allocated",
                                                            "most-allocated"}));
  ASSERT_EQ(result->waits.size(), 2u);
  EXPECT_EQ(result->waits[0].wants, "1 GPU");
  EXPECT_EQ(result->waits[0].a_seconds, 0);
  EXPECT_EQ(result->waits[1].wants, "2 GPUs");
  EXPECT_EQ(result->waits[1].a_seconds, 3598);
  EXPECT_EQ(result->waits[1].b_seconds, 0);
}

TEST_F(ComparisonJobTest, TellsBothStories) {
  Run({});
  const std::unique_ptr<ComparisonJob> job = Compare();
  job->TellStories("small-a");
  job->TellStories("wide");
  job->Settle();
  ASSERT_EQ(job->status(), absl::OkStatus());
  ASSERT_NE(job->stories(), nullptr);
  const ComparisonJob::Stories stories = *job->stories();
  EXPECT_EQ(stories.pod, "wide");
  EXPECT_THAT(Lines(stories.a, kSecondNs),
              ElementsAre("2 arrives, wants 2 GPUs", "2 no node: 2 Insufficient GPU",
                          "330 the same, 10 times", "3600 bound: node-000000, GPU 0, GPU 1",
                          "4200 finished"));
  EXPECT_THAT(
      Lines(stories.b, kSecondNs),
      ElementsAre("2 arrives, wants 2 GPUs", "2 bound: node-000001, GPU 0, GPU 1", "602 finished"));
  job->TellStories("nobody");
  job->Settle();
  EXPECT_EQ(job->stories()->pod, "nobody");
  EXPECT_THAT(job->stories()->a, IsEmpty());
  EXPECT_THAT(job->stories()->b, IsEmpty());
}

TEST_F(ComparisonJobTest, AFillCountsRecords) {
  Run({{"mode", "fill"}});
  const std::unique_ptr<ComparisonJob> job = Compare();
  job->TellStories("wide");
  job->Settle();
  ASSERT_EQ(job->status(), absl::OkStatus());
  const std::shared_ptr<const RunComparison> result = job->result();
  // Two records for each pod: its arrival and its placement.
  ASSERT_EQ(result->a_pods.rows(), 3u);
  EXPECT_THAT(result->waits, IsEmpty());
  ASSERT_EQ(result->model->divergences().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(result->divergences[i].time, result->model->divergences()[i].time);
  }
  EXPECT_LT(result->divergences[0].time, result->divergences[1].time);
  EXPECT_GT(result->divergences[0].time, SimTime());
  const std::vector<std::string> lines = Lines(job->stories()->a, 1);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], absl::StrCat(result->a_pods.row(*result->a_pods.Find("wide")).arrival.ns(),
                                   " arrives, wants 2 GPUs"));
  EXPECT_THAT(lines.back(), ::testing::EndsWith(" dropped"));
}

TEST_F(ComparisonJobTest, ALedgerThatCannotBeReadIsAnError) {
  Run({});
  dir_.Write("foreign", "not a ledger");
  const std::unique_ptr<ComparisonJob> job =
      ComparisonJob::Start(dir_.PathOf("a"), dir_.PathOf("foreign"), {}, nullptr);
  job->Settle();
  EXPECT_EQ(job->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(job->result(), nullptr);
  const std::unique_ptr<ComparisonJob> missing =
      ComparisonJob::Start(dir_.PathOf("nowhere"), dir_.PathOf("a"), {}, nullptr);
  missing->TellStories("wide");
  missing->Settle();
  EXPECT_EQ(missing->status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing->stories(), nullptr);
}

TEST_F(ComparisonJobTest, ItsEndCancelsIt) {
  Run({});
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<ComparisonJob> job = Compare();
    job->TellStories("wide");
  }
}

}  // namespace comparison_job_test
}  // namespace drasim
