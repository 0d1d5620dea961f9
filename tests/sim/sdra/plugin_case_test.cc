#include "sim/sdra/plugin_case.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/kube/sdra_case_reader.h"
#include "model/status_macros.h"
#include "policies/allocator/cel_verdicts.h"
#include "sim/kube/case_file.h"
#include "sim/sdra/case_table.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

using proto::kube::SdraCase;
using proto::kube::SdraStepAnswer;

SdraCase PluginCaseOf(const std::string& text) {
  const absl::StatusOr<SdraLine> line = SdraLine::Parse("{\"case\":" + text + "}", "case");
  EXPECT_TRUE(line.ok()) << line.status();
  const absl::StatusOr<SdraCase> given = line->Case();
  EXPECT_TRUE(given.ok()) << given.status();
  return *given;
}

// A case with node-0 of two devices, the class "any", and the given pods, claims and steps.
SdraCase SmallCase(const std::string& rest, const std::string& device_more = "") {
  return PluginCaseOf(absl::StrCat(
      R"({"name":"small","theme":"t","nodes":[{"metadata":{"name":"node-0"}}],
          "classes":[{"metadata":{"name":"any"},"spec":{"extendedResourceName":"r.io/x"}}],
          "slices":[{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"node-0",
            "generation":1,"resourceSliceCount":1},"nodeName":"node-0",
            "devices":[{"name":"x")",
      device_more, R"(},{"name":"y")", device_more, R"(}]}}],)", rest, "}"));
}

constexpr char kPodWithClaim[] =
    R"("claims":[{"metadata":{"name":"c","namespace":"ns","uid":"uc"},
         "spec":{"devices":{"requests":[{"name":"r","exactly":{
           "deviceClassName":"any","allocationMode":"ExactCount","count":1}}]}}}],
       "pods":[{"metadata":{"name":"p","namespace":"ns","uid":"up"},
                "spec":{"resourceClaims":[{"name":"r","resourceClaimName":"c"}]}}],)";

std::vector<SdraStepAnswer> AnswersTo(const SdraCase& given) {
  const absl::StatusOr<std::vector<SdraStepAnswer>> answers =
      AnswerPluginCase(given, MakeCelVerdicts);
  EXPECT_TRUE(answers.ok()) << answers.status();
  return answers.ok() ? *answers : std::vector<SdraStepAnswer>();
}

TEST(PluginCaseTest, AnswersTheSharedCases) {
  constexpr char kFile[] = "expected/sdra/plugin_cases_shared.jsonl.gz";
  const std::string missing = MissingSharedData({kFile});
  if (!missing.empty()) {
    ASSERT_FALSE(MustHaveSharedData()) << missing;
    GTEST_SKIP() << missing;
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ByteSource> source, OpenByteSource(SharedPath(kFile)));
  CaseTable table;
  const auto compare = [&table](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(const SdraLine line, SdraLine::Parse(text, "cases"));
    ASSIGN_OR_RETURN(const SdraCase given, line.Case());
    ASSIGN_OR_RETURN(const std::vector<SdraStepAnswer> want, line.PluginWant());
    ASSIGN_OR_RETURN(const std::vector<SdraStepAnswer> answers,
                     AnswerPluginCase(given, MakeCelVerdicts));
    ComparePluginAnswers(given, answers, want, &table);
    return absl::OkStatus();
  };
  const absl::Status read = ForEachCaseLine(*source, compare);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(table.cases(), 147U);
  EXPECT_EQ(table.unequal_cases(), 0U) << table.Text();
}

TEST(PluginCaseTest, WritesTheAnswerOnOneLine) {
  const SdraCase given = SmallCase(std::string(kPodWithClaim) + R"("steps":[{"schedule":"p"}])");
  EXPECT_EQ(
      PluginAnswerLine("small", AnswersTo(given)),
      R"({"name": "small", "want": [{"step": "schedule p", "preEnqueue": {"code": "Success"}, )"
      R"("preFilter": {"code": "Success"}, "filter": [{"node": "node-0", "code": "Success"}], )"
      R"("scores": {"node-0": 0}, "normalized": {"node-0": 0}, "chosen": "node-0", )"
      R"("reserve": {"code": "Success"}, "preBind": {"code": "Success"}, )"
      R"("writes": ["update resourceclaims c", "update resourceclaims/status c"], )"
      R"("claims": [{"name": "c", "finalizers": ["resource.kubernetes.io/delete-protection"], )"
      R"("allocation": {"devices": {"results": [{"request": "r", "driver": "d", )"
      R"("pool": "node-0", "device": "x"}]}, "nodeSelector": {"nodeSelectorTerms": [)"
      R"({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}]}}, )"
      R"("reservedFor": ["pods/p"]}]}]})"
      "\n");
}

TEST(PluginCaseTest, ReleaseFreesTheClaimAndWakesOthers) {
  const SdraCase given = SmallCase(std::string(kPodWithClaim) +
                                   R"("steps":[{"schedule":"p"},{"release":"p"},{"release":"p"}])");
  const std::vector<SdraStepAnswer> answers = AnswersTo(given);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(absl::StrJoin(answers[1].writes(), ", "),
            "update resourceclaims/status c, update resourceclaims c");
  EXPECT_EQ(answers[1].claims(0).finalizers_size(), 0);
  EXPECT_FALSE(answers[1].claims(0).has_allocation());
  EXPECT_EQ(answers[2].writes_size(), 0);
}

// A second pod that uses the claim of kPodWithClaim.
std::string WithSecondPod(const std::string& rest) {
  std::string text = kPodWithClaim;
  const std::string pods = R"("pods":[)";
  text.insert(text.find(pods) + pods.size(),
              R"({"metadata":{"name":"q","namespace":"ns","uid":"uq"},
                  "spec":{"resourceClaims":[{"name":"r","resourceClaimName":"c"}]}},)");
  return text + rest;
}

TEST(PluginCaseTest, AClaimThatIsDeallocatedBeforeItIsReservedIsAnError) {
  const SdraCase given = SmallCase(
      WithSecondPod(R"("steps":[{"schedule":"p"},{"cycle":"q"},{"release":"p"},{"bind":"q"}])"));
  const std::vector<SdraStepAnswer> answers = AnswersTo(given);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[1].reserve().code(), "Success");
  EXPECT_EQ(answers[3].pre_bind().code(), "Error");
  EXPECT_EQ(answers[3].pre_bind().reasons(0),
            "claim ns/c got deallocated elsewhere in the meantime");
  EXPECT_TRUE(answers[3].unreserved());
}

TEST(PluginCaseTest, TheReleaseChoosesGatesAndWords) {
  const SdraCase given = SmallCase(std::string(kPodWithClaim) + R"("steps":[{"schedule":"p"}])",
                                   R"(,"taints":[{"key":"k","effect":"NoSchedule"}])");
  AllocatorOptions upstream;
  for (const StructuredRelease release : {StructuredRelease::k1_34, StructuredRelease::k1_36}) {
    upstream.release = release;
    ASSERT_OK_AND_ASSIGN(const std::vector<SdraStepAnswer> answers,
                         AnswerPluginCase(given, MakeCelVerdicts, upstream));
    // Taints of devices were off.
    const bool is_old = release == StructuredRelease::k1_34;
    EXPECT_EQ(answers[0].filter(0).code(), is_old ? "Success" : "UnschedulableAndUnresolvable");
    EXPECT_EQ(answers[0].has_post_filter(), !is_old);
    if (!is_old) EXPECT_EQ(answers[0].post_filter().reasons(0), "still not schedulable");
  }
}

constexpr char kWired[] = R"(,"bindingConditions":["ok"],"bindingFailureConditions":["bad"])";

std::string ConditionText(const std::string& type) {
  return absl::StrCat(R"([{"type":")", type, R"(","status":"True"}])");
}

TEST(PluginCaseTest, TimePassesInWaitAndConditionsCountAtOnce) {
  const SdraCase given =
      SmallCase(absl::StrCat(kPodWithClaim, R"("args":{"bindingTimeout":"1m"},"steps":[)",
                             R"({"cycle":"p"},{"wait":"30s"},{"bind":"p","during":[{"after":"7s",)",
                             R"("claim":"c","conditions":)", ConditionText("bad"), R"(}]},)",
                             R"({"conditions":{"claim":"c","conditions":)", ConditionText("ok"),
                             R"(}},)", R"({"schedule":"p"}])"),
                kWired);
  const std::vector<SdraStepAnswer> answers = AnswersTo(given);
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[1].step(), "wait 30s");
  EXPECT_EQ(answers[2].pre_bind().reasons(0),
            "device binding failed: claim=c, reason=, message=\"\"");
  EXPECT_EQ(answers[2].pre_bind_took(), "10s");
  EXPECT_TRUE(answers[2].unreserved());
  EXPECT_EQ(answers[2].hints(0).hint(), "Queue");
  // The driver takes the failure back before the next attempt.
  EXPECT_EQ(answers[3].step(), "conditions c");
  EXPECT_EQ(answers[4].pre_bind().code(), "Success");
  EXPECT_EQ(answers[4].pre_bind_took(), "");
}

TEST(PluginCaseTest, NothingIsBoundOrGivenBackWithoutAReservation) {
  const SdraCase given =
      SmallCase(std::string(kPodWithClaim) + R"("steps":[{"bind":"p"},{"unreserve":"p"}])");
  for (const SdraStepAnswer& answer : AnswersTo(given)) {
    EXPECT_EQ(answer.note(), "not reserved");
    EXPECT_FALSE(answer.has_pre_bind());
  }
}

TEST(PluginCaseTest, MistakesAreNamed) {
  const auto error_of = [](const std::string& rest) {
    return std::string(
        AnswerPluginCase(SmallCase(std::string(kPodWithClaim) + rest), MakeCelVerdicts)
            .status()
            .message());
  };
  EXPECT_EQ(error_of(R"("steps":[{"schedule":"q"}])"),
            "steps[0]: schedule: found 'q', expected a pod");
  EXPECT_EQ(error_of(R"("steps":[{"wait":"1s"},{}])"),
            "steps[1]: found no verb, expected one such as schedule or release");
  EXPECT_EQ(error_of(R"("steps":[{"wait":"soon"}])"),
            "steps[0]: found 'soon', expected a duration such as 1m30s");
}

}  // namespace
}  // namespace drasim
