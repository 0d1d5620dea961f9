#include "gui/session/decision_job.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/time.h"
#include "tests/gui/session/job_runs.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace decision_job_test {

using gui::DecisionJob;
using gui::PodDecision;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DecisionJobTest : public ::testing::Test {
 protected:
  void Run(const JobSettings& settings) {
    dir_.Write("tiny.yaml", kTinyScenario);
    RunFile(dir_.PathOf("tiny.yaml"), settings, dir_.PathOf("out"));
  }
  std::unique_ptr<DecisionJob> Start(const std::string& pod, std::optional<int64_t> at_s) const {
    std::optional<SimTime> at;
    if (at_s.has_value()) at = SimTime(*at_s * kSecondNs);
    return DecisionJob::Start(dir_.PathOf("out"), pod, at, nullptr);
  }
  PodDecision Explain(const std::string& pod, std::optional<int64_t> at_s) const {
    const std::unique_ptr<DecisionJob> job = Start(pod, at_s);
    job->Settle();
    EXPECT_EQ(job->status(), absl::OkStatus());
    EXPECT_EQ(job->progress(), 1);
    return job->result() == nullptr ? PodDecision() : *job->result();
  }
  static std::string NodesText(const DecisionExplanation& decision) {
    std::vector<std::string> lines;
    for (const DecisionNode& node : decision.nodes) {
      lines.push_back(absl::StrCat(
          node.node, " ", node.candidate ? absl::StrJoin(node.scores, "+") : node.verdict,
          node.candidate ? absl::StrCat("=", node.total) : "", node.chosen ? " chosen" : ""));
    }
    return absl::StrJoin(lines, "; ");
  }

  const TempDir dir_;
};

TEST_F(DecisionJobTest, CandidatesOfAPlacedPodHaveScoresByPlugin) {
  Run({});
  const DecisionExplanation decision = Explain("small-b", std::nullopt).decision;
  EXPECT_TRUE(decision.placed);
  EXPECT_EQ(decision.time, SimTime(kSecondNs));
  EXPECT_EQ(decision.record, 4u);
  EXPECT_EQ(decision.node, "node-000001");
  EXPECT_EQ(decision.candidates, 2u);
  EXPECT_THAT(decision.plugins, ElementsAre("LeastAllocated", "NodeResourcesBalancedAllocation"));
  ASSERT_EQ(decision.nodes.size(), 2u);
  EXPECT_EQ(decision.nodes[0].node, "node-000001");
  EXPECT_TRUE(decision.nodes[0].chosen);
  // An empty node scores more, as it was before the pod was charged: (100 - 2/16) / 2 for CPU and
  // memory without a request.
  EXPECT_GT(decision.nodes[0].total, decision.nodes[1].total);
  for (const DecisionNode& node : decision.nodes) {
    ASSERT_EQ(node.scores.size(), 2u);
    EXPECT_EQ(node.total, node.scores[0] + node.scores[1]);
    EXPECT_TRUE(node.candidate);
    EXPECT_EQ(node.verdict, "");
  }
  EXPECT_FALSE(decision.why.has_value());
}

// The first pod finds equal nodes: what the chosen one is worth must be that of the empty node.
TEST_F(DecisionJobTest, ScoresAreThoseBeforeTheChoice) {
  Run({});
  const DecisionExplanation decision = Explain("small-a", std::nullopt).decision;
  ASSERT_EQ(decision.nodes.size(), 2u);
  EXPECT_EQ(decision.nodes[0].node, "node-000000");
  EXPECT_EQ(decision.nodes[0].scores, decision.nodes[1].scores);
  EXPECT_TRUE(decision.nodes[0].chosen);
  EXPECT_FALSE(decision.nodes[1].chosen);
}

TEST_F(DecisionJobTest, RejectedNodesHaveVerdictsAndTheAttemptItsWords) {
  Run({});
  const PodDecision result = Explain("wide", 1000);
  const DecisionExplanation& decision = result.decision;
  EXPECT_FALSE(decision.placed);
  EXPECT_GT(decision.time, SimTime(300 * kSecondNs));
  EXPECT_LE(decision.time, SimTime(1000 * kSecondNs));
  EXPECT_EQ(NodesText(decision), "node-000000 Insufficient GPU; node-000001 Insufficient GPU");
  EXPECT_EQ(decision.candidates, 0u);
  ASSERT_TRUE(decision.why.has_value());
  EXPECT_EQ(decision.why->summary, "0/2 nodes are available: 2 Insufficient GPU.");
  EXPECT_EQ(result.lines[0], decision.why->summary);
  EXPECT_THAT(result.lines, Contains(HasSubstr("held by small-a (GPU 0, ends at 1h)")));
  // The first attempt, on the dot.
  EXPECT_EQ(Explain("wide", 2).decision.time, SimTime(2 * kSecondNs));
}

TEST_F(DecisionJobTest, TheOnlyCandidateIsChosen) {
  Run({});
  const DecisionExplanation decision = Explain("wide", std::nullopt).decision;
  EXPECT_TRUE(decision.placed);
  EXPECT_EQ(decision.time, SimTime(3600 * kSecondNs));
  EXPECT_EQ(decision.candidates, 1u);
  ASSERT_EQ(decision.nodes.size(), 2u);
  EXPECT_EQ(decision.nodes[0].node, "node-000000");
  EXPECT_TRUE(decision.nodes[0].chosen);
  EXPECT_EQ(decision.nodes[1].verdict, "Insufficient GPU");
}

// A random score may not be drawn twice, and normalised scores are those that were compared.
TEST_F(DecisionJobTest, PoliciesWithoutOneNumberPerNode) {
  Run({{"scheduler.score.0.name", "Random"},
       {"scheduler.score.1.name", "DotProduct"},
       {"scheduler.score.1.weight", "3"}});
  const DecisionExplanation decision = Explain("small-b", std::nullopt).decision;
  EXPECT_THAT(decision.plugins, ElementsAre("Random", "DotProduct x3"));
  ASSERT_EQ(decision.nodes.size(), 2u);
  for (const DecisionNode& node : decision.nodes) {
    ASSERT_EQ(node.scores.size(), 2u);
    EXPECT_EQ(node.total, node.scores[0] + node.scores[1]);
  }
  EXPECT_TRUE(decision.nodes[0].chosen);
  EXPECT_EQ(decision.nodes[0].node, decision.node);
}

TEST_F(DecisionJobTest, AFillIsAskedAboutByRecord) {
  Run({{"mode", "fill"}});
  const std::unique_ptr<DecisionJob> job =
      DecisionJob::Start(dir_.PathOf("out"), "wide", SimTime(6), nullptr);
  job->Settle();
  ASSERT_EQ(job->status(), absl::OkStatus());
  EXPECT_EQ(job->result()->decision.record, 6u);
  EXPECT_FALSE(job->result()->decision.placed);
}

TEST_F(DecisionJobTest, Errors) {
  Run({});
  const auto error = [this](const std::string& pod, std::optional<int64_t> at_s) {
    const std::unique_ptr<DecisionJob> job = Start(pod, at_s);
    job->Settle();
    EXPECT_EQ(job->result(), nullptr);
    return job->status();
  };
  EXPECT_EQ(error("nobody", std::nullopt).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(error("nobody", std::nullopt).message()),
              HasSubstr("no pod 'nobody' has arrived by then"));
  EXPECT_THAT(std::string(error("wide", 1).message()), HasSubstr("has arrived by then"));
  const std::unique_ptr<DecisionJob> missing =
      DecisionJob::Start(dir_.PathOf("nowhere"), "wide", std::nullopt, nullptr);
  missing->Settle();
  EXPECT_EQ(missing->status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DecisionJobTest, ItsEndCancelsIt) {
  Run({});
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<DecisionJob> job = Start("wide", std::nullopt);
    if (i % 2 == 0) job->Cancel();
  }
}

}  // namespace decision_job_test
}  // namespace drasim
