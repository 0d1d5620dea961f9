// Extenders as programs of their own: what they answer, how they fail, and runs without them.
#include "sim/extender/http_extender.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/extender/extender_log.h"
#include "sim/extender/http_channel.h"
#include "sim/kube/kube_case.h"
#include "tests/sim/extender/extender_server.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace {

using proto::kube::KubeAnswer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kAllVerbs =
    R"("filterVerb":"filter","prioritizeVerb":"prioritize","preemptVerb":"preempt",)"
    R"("weight":2)";

class HttpExtenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ExtenderServer::HasPython()) GTEST_SKIP() << "there is no python3";
    server_ = std::make_unique<ExtenderServer>();
    url_ = server_->url();
  }

  // An extender of the configuration; `more` are further members.
  std::string ExtenderOf(const std::string& mode, const std::string& more) const {
    return absl::StrCat(R"({"urlPrefix":")", url_, "/", mode, R"(/",)", more, "}");
  }

  // Three nodes that hold a pod of low priority each, where `cpu` decides whether p fits beside it.
  static KubeCaseLine CaseOf(const std::string& extenders, const std::string& cpu) {
    std::string nodes;
    std::string pods;
    for (const char* n : {"1", "2", "3"}) {
      absl::StrAppend(&nodes, nodes.empty() ? "" : ",", R"({"metadata":{"name":"n)", n,
                      R"("},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}})");
      absl::StrAppend(&pods, pods.empty() ? "" : ",", R"({"metadata":{"name":"low)", n,
                      R"("},"spec":{"nodeName":"n)", n,
                      R"(","priority":1,"containers":[{"name":"c","image":"i",)"
                      R"("resources":{"requests":{"cpu":"2"}}}]}})");
    }
    const std::string line = absl::StrCat(
        R"({"case":{"id":"c","config":{"apiVersion":"kubescheduler.config.k8s.io/v1",)"
        R"("kind":"KubeSchedulerConfiguration","extenders":[)",
        extenders, R"(]},"nodes":[)", nodes, R"(],"pods":[)", pods,
        R"(],"queue":[{"metadata":{"name":"p"},"spec":{"priority":9,"containers":)"
        R"([{"name":"c","image":"i","resources":{"requests":{"cpu":")",
        cpu, R"("}}}]}}],"events":[{"type":"podAdd","pod":{"metadata":{"name":"x"},)",
        R"("spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}},)",
        R"({"type":"nodeUpdate","node":{"metadata":{"name":"n1","annotations":)",
        R"({"a":"b"}},"status":{"allocatable":{"cpu":"4","memory":"8Gi",)", R"("pods":"9"}}}}]}})");
    absl::StatusOr<KubeCaseLine> read = ReadKubeCaseLine(line, /*with_answer=*/false);
    EXPECT_TRUE(read.ok()) << read.status() << line;
    return read.ok() ? *std::move(read) : KubeCaseLine();
  }

  static KubeAnswer AnswerOf(const std::string& extenders, const std::string& cpu) {
    absl::StatusOr<KubeAnswer> answer = AnswerKubeCase(CaseOf(extenders, cpu).given);
    EXPECT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->config_error(), "");
    EXPECT_EQ(answer->attempts_size(), 1);
    return *std::move(answer);
  }

  TempDir dir_;
  std::unique_ptr<ExtenderServer> server_;
  std::string url_;
};

TEST_F(HttpExtenderTest, FiltersAndScores) {
  const KubeAnswer plain = AnswerOf("", "1");
  EXPECT_EQ(plain.attempts(0).chosen(), "n1");
  for (const char* form : {R"(,"nodeCacheCapable":true)", ""}) {
    const KubeAnswer answer = AnswerOf(ExtenderOf("good", absl::StrCat(kAllVerbs, form)), "1");
    const KubeAnswer::Attempt& attempt = answer.attempts(0);
    EXPECT_EQ(attempt.chosen(), "n3");
    EXPECT_THAT(attempt.feasible(), ElementsAre("n2", "n3"));
    ASSERT_EQ(attempt.infeasible_size(), 1);
    EXPECT_EQ(attempt.infeasible(0).plugin(), "");
    EXPECT_EQ(attempt.infeasible(0).code(), "Unschedulable");
    EXPECT_THAT(attempt.infeasible(0).reasons(), ElementsAre("n1 is not wanted"));
    ASSERT_EQ(attempt.total_size(), 2);
    // 7 x weight 2 x 10.
    EXPECT_EQ(attempt.total(1) - attempt.total(0), 140);
    EXPECT_EQ(attempt.total(0), plain.attempts(0).total(1));
  }
}

TEST_F(HttpExtenderTest, ManagedResourcesDecideWhetherItIsAsked) {
  const std::string managed =
      absl::StrCat(kAllVerbs, R"(,"managedResources":[{"name":"example.com/chip"}])");
  EXPECT_EQ(AnswerOf(ExtenderOf("none", managed), "1").attempts(0).chosen(), "n1");
}

TEST_F(HttpExtenderTest, AnyEventMayHelpAPodThatItRejected) {
  const KubeAnswer answer = AnswerOf(ExtenderOf("none", R"("filterVerb":"filter")"), "1");
  EXPECT_EQ(answer.attempts(0).outcome(), "unschedulable");
  EXPECT_THAT(answer.attempts(0).unschedulable_plugins(), ElementsAre("Extender"));
  EXPECT_THAT(answer.attempts(0).message(),
              HasSubstr("0/3 nodes are available: 3 n1 is not wanted."));
  // The queue tells of new bound pods only those that spread or affinity may let in.
  EXPECT_THAT(answer.events(0).requeued(), IsEmpty());
  // No plugin awaits changed annotations.
  EXPECT_THAT(answer.events(1).requeued(), ElementsAre("default/p"));
  const KubeAnswer plain = AnswerOf("", "5");
  EXPECT_EQ(plain.attempts(0).outcome(), "unschedulable");
  EXPECT_THAT(plain.events(1).requeued(), IsEmpty());
}

TEST_F(HttpExtenderTest, ErrorsCountUnlessTheyAreIgnorable) {
  const std::string verb = R"("filterVerb":"filter","httpTimeout":"500ms")";
  for (const char* mode : {"refuse", "error", "garbage", "late"}) {
    SCOPED_TRACE(mode);
    const KubeAnswer strict = AnswerOf(ExtenderOf(mode, verb), "1");
    EXPECT_EQ(strict.attempts(0).outcome(), "error");
    EXPECT_NE(strict.attempts(0).message(), "");
    EXPECT_EQ(strict.attempts(0).chosen(), "");
    const std::string ignorable = absl::StrCat(verb, R"(,"ignorable":true)");
    EXPECT_EQ(AnswerOf(ExtenderOf(mode, ignorable), "1").attempts(0).chosen(), "n1");
  }
}

TEST_F(HttpExtenderTest, ErrorsOfScoresArePassedOver) {
  for (const char* mode : {"refuse", "garbage"}) {
    const KubeAnswer answer =
        AnswerOf(ExtenderOf(mode, R"("prioritizeVerb":"prioritize","weight":1)"), "1");
    EXPECT_EQ(answer.attempts(0).chosen(), "n1");
  }
}

TEST_F(HttpExtenderTest, DiesInTheMiddleOfAnAnswer) {
  const std::string verb = R"("filterVerb":"filter")";
  const KubeAnswer answer = AnswerOf(ExtenderOf("die", verb), "1");
  EXPECT_EQ(answer.attempts(0).outcome(), "error");
  EXPECT_EQ(server_->process().Wait().exit_code, 1);
  // The server is gone now.
  EXPECT_EQ(AnswerOf(ExtenderOf("good", verb), "1").attempts(0).outcome(), "error");
  const std::string ignorable = absl::StrCat(verb, R"(,"ignorable":true)");
  EXPECT_EQ(AnswerOf(ExtenderOf("good", ignorable), "1").attempts(0).chosen(), "n1");
}

TEST_F(HttpExtenderTest, ASlowAnswerIsTheSameAnswer) {
  EXPECT_EQ(KubeAnswerLine("c", AnswerOf(ExtenderOf("good", kAllVerbs), "1")),
            KubeAnswerLine("c", AnswerOf(ExtenderOf("slow", kAllVerbs), "1")));
}

TEST_F(HttpExtenderTest, ChoosesAmongPreemptions) {
  const KubeAnswer plain = AnswerOf("", "3");
  EXPECT_EQ(plain.attempts(0).nominated_after(), "n1");
  for (const char* form : {R"(,"nodeCacheCapable":true)", ""}) {
    const KubeAnswer answer =
        AnswerOf(ExtenderOf("good", absl::StrCat(R"("preemptVerb":"preempt")", form)), "3");
    const KubeAnswer::Attempt& attempt = answer.attempts(0);
    EXPECT_EQ(attempt.nominated_after(), "n3");
    EXPECT_THAT(attempt.preemption().victims(), ElementsAre("default/low3"));
    EXPECT_EQ(attempt.preemption().candidates_size(), 3);
    EXPECT_THAT(attempt.preemption().best(), ElementsAre("n3"));
  }
  const KubeAnswer failed = AnswerOf(ExtenderOf("refuse", R"("preemptVerb":"preempt")"), "3");
  EXPECT_EQ(failed.attempts(0).nominated_after(), "");
  EXPECT_EQ(failed.attempts(0).post_filter().code(), "Error");
}

TEST_F(HttpExtenderTest, Binds) {
  EXPECT_EQ(AnswerOf(ExtenderOf("good", R"("bindVerb":"bind")"), "1").attempts(0).chosen(), "n1");
  const KubeAnswer failed = AnswerOf(ExtenderOf("error", R"("bindVerb":"bind")"), "1");
  EXPECT_EQ(failed.attempts(0).outcome(), "error");
  EXPECT_EQ(failed.attempts(0).message(), "not bound");
}

TEST_F(HttpExtenderTest, ARecordedRunRepeatsWithoutTheExtender) {
  const std::string verbs =
      absl::StrCat(ExtenderOf("good", kAllVerbs), ",",
                   ExtenderOf("garbage", R"("filterVerb":"filter","ignorable":true)"));
  const KubeCaseLine line = CaseOf(verbs, "1");
  const std::string path = dir_.PathOf("calls.jsonl");
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<RecordingChannel> recording,
                       RecordingChannel::Open(path, std::make_unique<HttpChannel>()));
  ASSERT_OK_AND_ASSIGN(const KubeAnswer live, AnswerKubeCase(line.given, recording.get()));
  ASSERT_TRUE(recording->Finish().ok());
  const std::string text = dir_.Read("calls.jsonl");
  ASSERT_OK_AND_ASSIGN(const std::vector<ExtenderCall> calls, ReadExtenderLog(text, "calls"));
  EXPECT_EQ(calls.size(), 3u);  // filter, filter, prioritize

  ReplayChannel check(calls, std::make_unique<HttpChannel>());
  ASSERT_OK_AND_ASSIGN(const KubeAnswer checked, AnswerKubeCase(line.given, &check));
  EXPECT_TRUE(check.Finish().ok());

  server_->Kill();
  ReplayChannel replay(calls, nullptr);
  ASSERT_OK_AND_ASSIGN(const KubeAnswer again, AnswerKubeCase(line.given, &replay));
  EXPECT_TRUE(replay.Finish().ok());
  EXPECT_EQ(KubeAnswerLine("c", again), KubeAnswerLine("c", live));

  ReplayChannel other(calls, nullptr);
  const absl::Status changed = AnswerKubeCase(CaseOf(verbs, "1500m").given, &other).status();
  EXPECT_THAT(std::string(changed.message()),
              HasSubstr(absl::StrCat("extender call 1, filter of ", url_,
                                     "/good/: the request differs from the recorded one")));

  // The extender is gone: what it would answer now is an error.
  ReplayChannel gone(calls, std::make_unique<HttpChannel>());
  const absl::Status differs = AnswerKubeCase(line.given, &gone).status();
  EXPECT_THAT(std::string(differs.message()), HasSubstr("the extender answers differently: error"));
}

}  // namespace
}  // namespace drasim
