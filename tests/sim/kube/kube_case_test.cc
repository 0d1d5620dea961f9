#include "sim/kube/kube_case.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/kube/case_file.h"
#include "tests/testing/assert_ok.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwoNodes =
    R"({"case":{"id":"c1","family":"f","nodes":[)"
    R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"9"}}},)"
    R"({"metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"9"}}}],)"
    R"("queue":[{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",)"
    R"("resources":{"requests":{"cpu":"3"}}}]}},{"metadata":{"name":"q"},"spec":{"containers":)"
    R"([{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}]}})";

TEST(KubeCaseTest, AnswersInOrder) {
  ASSERT_OK_AND_ASSIGN(const KubeCaseLine line, ReadKubeCaseLine(kTwoNodes, /*with_answer=*/false));
  EXPECT_FALSE(line.stored.has_value());
  ASSERT_OK_AND_ASSIGN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
  ASSERT_EQ(answer.attempts_size(), 2);
  EXPECT_EQ(answer.attempts(0).pod(), "default/p");
  EXPECT_EQ(answer.attempts(0).chosen(), "n2");
  ASSERT_EQ(answer.attempts(0).infeasible_size(), 1);
  EXPECT_EQ(answer.attempts(0).infeasible(0).plugin(), "NodeResourcesFit");
  EXPECT_EQ(answer.attempts(0).infeasible(0).code(), "UnschedulableAndUnresolvable");
  // n2 has 1 CPU left.
  EXPECT_EQ(answer.attempts(1).chosen(), "n1");
  EXPECT_EQ(answer.attempts(1).infeasible(0).code(), "Unschedulable");
}

TEST(KubeCaseTest, ALineIsOneJsonObject) {
  ASSERT_OK_AND_ASSIGN(const KubeCaseLine line, ReadKubeCaseLine(kTwoNodes, /*with_answer=*/false));
  ASSERT_OK_AND_ASSIGN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
  const std::string text = KubeAnswerLine("c1", answer);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_THAT(text, HasSubstr(R"("nodeOrder": ["n1", "n2"])"));
  // The printed line reads back as the same answer.
  std::string again = text;
  again.pop_back();
  again.insert(again.size() - 1, R"(,"case":{"id":"c1"})");
  ASSERT_OK_AND_ASSIGN(const KubeCaseLine read, ReadKubeCaseLine(again, /*with_answer=*/true));
  ASSERT_TRUE(read.stored.has_value());
  EXPECT_EQ(KubeAnswerLine("c1", *read.stored), text);
}

TEST(KubeCaseTest, ARefusedConfigurationIsAnAnswer) {
  ASSERT_OK_AND_ASSIGN(
      const KubeCaseLine line,
      ReadKubeCaseLine(
          R"({"case":{"id":"c","config":{"apiVersion":"kubescheduler.config.k8s.io/v1",)"
          R"("kind":"KubeSchedulerConfiguration","percentageOfNodesToScore":101}}})",
          /*with_answer=*/false));
  ASSERT_OK_AND_ASSIGN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
  // Without a place in a file that nobody has.
  EXPECT_EQ(answer.config_error(),
            "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]");
  EXPECT_EQ(answer.attempts_size(), 0);
}

// The answer of a case in JSON.
proto::kube::KubeAnswer AnswerOfCase(const std::string& given) {
  const absl::StatusOr<KubeCaseLine> line =
      ReadKubeCaseLine(R"({"case":)" + given + "}", /*with_answer=*/false);
  EXPECT_TRUE(line.ok()) << line.status();
  if (!line.ok()) return {};
  absl::StatusOr<proto::kube::KubeAnswer> answer = AnswerKubeCase(line->given);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *std::move(answer) : proto::kube::KubeAnswer();
}

std::string OddNode(const std::string& name, const std::string& cpu,
                    const std::string& memory = "8Gi") {
  return R"({"metadata":{"name":")" + name + R"("},"status":{"allocatable":{"cpu":")" + cpu +
         R"(","memory":")" + memory + R"(","pods":"9"}}})";
}

std::string OddPod(const std::string& name, const std::string& cpu, const std::string& spec = "",
                   const std::string& nominated = "") {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec +
         R"("containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
         R"("}}}]},"status":{"nominatedNodeName":")" + nominated + R"("}})";
}

TEST(KubeCaseTest, ANominationForANodeThatIsNotThereStaysUntilItIsOverridden) {
  const std::string node = OddNode("n", "1");
  const std::string never = OddPod("p", "2", R"("preemptionPolicy":"Never",)", "gone");
  const proto::kube::KubeAnswer answer =
      AnswerOfCase(R"({"passes":2,"nodes":[)" + node + R"(],"queue":[)" + never + "," +
                   OddPod("q", "2", "", "gone") + "]}");
  ASSERT_EQ(answer.attempts_size(), 4);
  EXPECT_EQ(answer.attempts(0).post_filter().mode(), "noop");
  EXPECT_EQ(answer.attempts(0).nominated_after(), "gone");
  EXPECT_EQ(answer.attempts(1).post_filter().mode(), "override");
  EXPECT_EQ(answer.attempts(1).nominated_after(), "");
  EXPECT_EQ(answer.attempts(2).nominated_after(), "gone");
  EXPECT_EQ(answer.attempts(3).nominated_after(), "");
}

TEST(KubeCaseTest, ANodeMayAppearTwiceOrReturn) {
  const proto::kube::KubeAnswer twice =
      AnswerOfCase(R"({"nodes":[)" + OddNode("n", "1") + "," + OddNode("n", "3") +
                   R"(],"queue":[)" + OddPod("p", "2") + "]}");
  EXPECT_EQ(twice.node_order_size(), 1);
  ASSERT_EQ(twice.attempts_size(), 1);
  EXPECT_EQ(twice.attempts(0).chosen(), "n");

  const proto::kube::KubeAnswer back = AnswerOfCase(
      R"({"nodes":[)" + OddNode("n", "1") + R"(],"queue":[)" + OddPod("p", "2") +
      R"(],"events":[{"type":"nodeDelete","name":"n"},{"type":"nodeAdd","node":)" +
      OddNode("n", "1") + R"(},{"type":"nodeAdd","node":)" + OddNode("n", "4") + "}]}");
  ASSERT_EQ(back.events_size(), 3);
  EXPECT_EQ(back.events(1).requeued_size(), 0);
  ASSERT_EQ(back.events(2).requeued_size(), 1);
  EXPECT_EQ(back.events(2).requeued(0), "default/p");
}

// Upstream looks for node names under metadata.name alone.
TEST(KubeCaseTest, AnotherFieldNamesNoNodes) {
  const proto::kube::KubeAnswer answer = AnswerOfCase(
      R"({"id":"c","nodes":[)" + OddNode("n1", "2") + R"(],"queue":[{"metadata":{"name":"p"},)" +
      R"("spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{)" +
      R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[)" +
      R"({"key":"metadata.namespace","operator":"In","values":["x"]}]}]}}}}}]})");
  ASSERT_EQ(answer.attempts_size(), 1);
  ASSERT_EQ(answer.attempts(0).infeasible_size(), 1);
  EXPECT_EQ(answer.attempts(0).infeasible(0).reasons(0),
            "node(s) didn't match Pod's node affinity/selector");
  EXPECT_EQ(answer.attempts(0).pre_filter_message(), "");
}

// The profile's own selector is asked first, even where the pod's terms cannot be parsed.
TEST(KubeCaseTest, ANodeOutsideOfTheAddedAffinityWakesNobody) {
  const std::string node = R"({"metadata":{"name":"NAME","labels":{"zone":"ZONE"}},"status":)"
                           R"({"allocatable":{"cpu":"2","memory":"8Gi","pods":"9"}}})";
  const auto node_in = [&node](const std::string& name, const std::string& zone) {
    return absl::StrReplaceAll(node, {{"NAME", name}, {"ZONE", zone}});
  };
  const proto::kube::KubeAnswer answer = AnswerOfCase(
      R"({"id":"c","config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":)"
      R"("KubeSchedulerConfiguration","profiles":[{"schedulerName":"default-scheduler",)"
      R"("pluginConfig":[{"name":"NodeAffinity","args":{"addedAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{)"
      R"("matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]}}}}]}]},"nodes":[)" +
      node_in("n1", "b") + R"(],"queue":[{"metadata":{"name":"p"},"spec":{"containers":)" +
      R"([{"name":"c"}],"affinity":{"nodeAffinity":{)" +
      R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{)" +
      R"("matchExpressions":[{"key":"zone","operator":"Gt","values":["x"]}]}]}}}}}],"events":[)" +
      R"({"type":"nodeAdd","node":)" + node_in("n2", "b") + R"(},{"type":"nodeAdd","node":)" +
      node_in("n3", "a") + "}]}");
  ASSERT_EQ(answer.events_size(), 2);
  EXPECT_EQ(answer.events(0).requeued_size(), 0);
  EXPECT_EQ(answer.events(1).requeued_size(), 1);
}

TEST(KubeCaseTest, PodsOfAbsentNodesAreBoundAllTheSame) {
  const std::string elsewhere = OddPod("x", "1", R"("nodeName":"gone",)");
  const std::string deleted = OddPod("y", "1", R"("nodeName":"n",)");
  for (const char* const name : {"x", "y"}) {
    const proto::kube::KubeAnswer answer = AnswerOfCase(
        R"({"nodes":[)" + OddNode("n", "1") + R"(],"pods":[)" + elsewhere + "," + deleted +
        R"(],"queue":[)" + OddPod("p", "2") +
        R"(],"events":[{"type":"nodeDelete","name":"n"},{"type":"podDelete","name":"default/)" +
        name + R"("}]})");
    ASSERT_EQ(answer.events_size(), 2);
    EXPECT_EQ(answer.events(0).requeued_size(), 0) << name;
    EXPECT_FALSE(answer.events(1).skipped()) << name;
    EXPECT_EQ(answer.events(1).requeued_size(), 1) << name;
  }
}

TEST(KubeCaseTest, AmountsBeyondReasonAreAnswered) {
  const proto::kube::KubeAnswer answer =
      AnswerOfCase(R"({"nodes":[)" + OddNode("a", "8E", "8Ei") + "," + OddNode("b", "8E", "8Ei") +
                   R"(],"queue":[)" + OddPod("p", "2") + "]}");
  ASSERT_EQ(answer.attempts_size(), 1);
  EXPECT_EQ(answer.attempts(0).feasible_size(), 2);
}

TEST(KubeCaseTest, AfterAnErrorOnlyWhatAnyPluginAwaitsWakesOthers) {
  const std::string preferred =
      R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{)"
      R"("weight":1,"preference":{"matchExpressions":)"
      R"([{"key":"k","operator":"Gt","values":["-1"]}]}}]}},)";
  const std::string resident = OddPod("x", "0", R"("nodeName":"a",)");
  const proto::kube::KubeAnswer answer = AnswerOfCase(
      R"({"nodes":[)" + OddNode("a", "1") + "," + OddNode("b", "1") + R"(],"pods":[)" + resident +
      R"(],"queue":[)" + OddPod("p", "1", preferred) + R"(],"events":[{"type":"podUpdate","pod":)" +
      resident + R"(},{"type":"podDelete","name":"default/x"}]})");
  ASSERT_EQ(answer.attempts_size(), 1);
  EXPECT_EQ(answer.attempts(0).outcome(), "error");
  ASSERT_EQ(answer.events_size(), 2);
  EXPECT_EQ(answer.events(0).requeued_size(), 0);
  EXPECT_EQ(answer.events(1).requeued_size(), 1);
}

// A pod whose labels change wakes those whose required affinity means it now, and not those whose
// anti-affinity meant it.
TEST(KubeCaseTest, ChangedLabelsOfABoundPodAreToldToFew) {
  const auto affinity = [](const std::string& kind) {
    return R"("affinity":{")" + kind +
           R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",)"
           R"("labelSelector":{"matchLabels":{"app":")" +
           (kind == "podAffinity" ? "new" : "old") + R"("}}}]}},)";
  };
  const auto resident = [](const std::string& app) {
    return R"({"metadata":{"name":"x","labels":{"app":")" + app +
           R"("}},"spec":{"nodeName":"n","containers":[]}})";
  };
  const std::string node =
      R"({"metadata":{"name":"n","labels":{"zone":"z"}},"status":{"allocatable":{"cpu":"4",)"
      R"("memory":"1Gi","pods":"9"}}})";
  const proto::kube::KubeAnswer answer =
      AnswerOfCase(R"({"nodes":[)" + node + R"(],"pods":[)" + resident("old") + R"(],"queue":[)" +
                   OddPod("follows", "1", affinity("podAffinity")) + "," +
                   OddPod("avoids", "1", affinity("podAntiAffinity")) +
                   R"(],"events":[{"type":"podUpdate","pod":)" + resident("new") +
                   R"(},{"type":"podUpdate","pod":)" + resident("old") +
                   R"(},{"type":"podDelete","name":"default/x"}]})");
  ASSERT_EQ(answer.events_size(), 3);
  ASSERT_EQ(answer.events(0).requeued_size(), 1);
  EXPECT_EQ(answer.events(0).requeued(0), "default/follows");
  EXPECT_EQ(answer.events(1).requeued_size(), 0);
  ASSERT_EQ(answer.events(2).requeued_size(), 1);
  EXPECT_EQ(answer.events(2).requeued(0), "default/avoids");
}

TEST(KubeCaseTest, ArgumentsOfAPluginWithoutATypeForThemAreNotRead) {
  const auto config = [](const std::string& plugin) {
    return R"({"config":{"apiVersion":"kubescheduler.config.k8s.io/v1",)"
           R"("kind":"KubeSchedulerConfiguration","profiles":[{"pluginConfig":[{"name":")" +
           plugin + R"(","args":{"kind":"NodeAffinityArgs"}}]}]}})";
  };
  EXPECT_EQ(AnswerOfCase(config("ImageLocality")).config_error(), "");
  EXPECT_EQ(AnswerOfCase(config("OutOfTree")).config_error(), "");
  EXPECT_EQ(AnswerOfCase(config("NodeAffinity")).config_error(), "");
  EXPECT_NE(AnswerOfCase(config("NodeResourcesFit")).config_error(), "");
}

TEST(KubeCaseTest, BadLinesNameFileAndLine) {
  const std::string text =
      "{\"case\":{\"nodes\":7}}\n" + std::string(kTwoNodes) + "\n\n{\"case\":{\"nodes\":8}}\n";
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source, OpenMemory("cases.jsonl", text));
  int cases = 0;
  const absl::Status status = ForEachKubeCase(*source, /*with_answers=*/false,
                                              [&cases](const KubeCaseLine&) -> absl::Status {
                                                ++cases;
                                                return absl::OkStatus();
                                              });
  EXPECT_EQ(cases, 1);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cases.jsonl:1: "));
  EXPECT_FALSE(ReadKubeCaseLine("{}", /*with_answer=*/false).ok());
  EXPECT_FALSE(ReadKubeCaseLine("nodes: [", /*with_answer=*/false).ok());
}

// The last line may lack its line break; chunks of a byte must not matter.
TEST(KubeCaseTest, LinesDoNotDependOnReads) {
  for (const size_t chunk : {size_t{1}, size_t{7}, size_t{0}}) {
    ByteSourceOptions options;
    options.chunk_bytes = chunk;
    const std::string text = "\xEF\xBB\xBF{\"case\":{\"id\":\"a\"}}\r\n{\"case\":{\"id\":\"b\"}}";
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source, OpenMemory("m", text, options));
    std::string ids;
    const absl::Status status = ForEachKubeCase(*source, /*with_answers=*/true,
                                                [&ids](const KubeCaseLine& line) -> absl::Status {
                                                  ids += line.given.id();
                                                  return absl::OkStatus();
                                                });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(ids, "ab");
  }
}

}  // namespace
}  // namespace drasim
