// Answers to sets of cases: figures, digests by field, rounds, and stored answers.
#include "sim/sdra/case_answers.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "sim/sdra/case_worlds.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace case_answers_test {

// Two devices, of which a claim wants COUNT with the selector SELECTOR.
constexpr char kLine[] =
    R"({"case": {"Name": "a", "Node": {"metadata": {"name": "n"}}, )"
    R"("Classes": [{"metadata": {"name": "gpu"}, "spec": {}}], )"
    R"("Slices": [{"metadata": {"name": "s"}, "spec": {"driver": "d.example.com", )"
    R"("nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, )"
    R"("devices": [{"name": "x"}, {"name": "y"}]}}], )"
    R"("Claims": [{"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", )"
    R"("exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": COUNT, )"
    R"("selectors": [{"cel": {"expression": "SELECTOR"}}]}}]}}}]}WANT})";

absl::StatusOr<CaseAnswers> AnswersTo(const std::string& count, const std::string& selector,
                                      const CaseRunOptions& options = {},
                                      const std::string& want = "") {
  const std::string line =
      absl::StrReplaceAll(kLine, {{"COUNT", count}, {"SELECTOR", selector}, {"WANT", want}});
  absl::StatusOr<CaseSet> set = ReadCaseSet(CaseKind::kSdra, "f", line);
  if (!set.ok()) return set.status();
  return AnswerCaseSet(*set, options);
}

std::map<std::string, uint64_t> ByField(const CaseAnswers& answers) {
  std::map<std::string, uint64_t> by_field;
  for (const AnswerDigest& digest : answers.digests) by_field[digest.field] = digest.hash;
  return by_field;
}

TEST(CaseAnswersTest, DigestsTellTheFieldsThatDiffer) {
  ASSERT_OK_AND_ASSIGN(const CaseAnswers one, AnswersTo("1", "true"));
  EXPECT_EQ(one.allocations, 1);
  EXPECT_EQ(one.errors, 0);
  EXPECT_EQ(one.steps, std::nullopt);
  EXPECT_EQ(one.mismatches, std::nullopt);
  ASSERT_OK_AND_ASSIGN(const CaseAnswers two, AnswersTo("2", "true"));
  std::map<std::string, uint64_t> base = ByField(one);
  std::map<std::string, uint64_t> head = ByField(two);
  EXPECT_EQ(base.size(), 5u);
  EXPECT_NE(base["devices"], head["devices"]);
  for (const char* const field : {"outcome", "config", "nodeSelector", "error"}) {
    EXPECT_EQ(base[field], head[field]) << field;
  }
  EXPECT_NE(one.fingerprint, two.fingerprint);
  ASSERT_OK_AND_ASSIGN(const CaseAnswers error, AnswersTo("1", "device.driver"));
  EXPECT_EQ(error.allocations, 0);
  EXPECT_EQ(error.errors, 1);
  head = ByField(error);
  EXPECT_NE(base["outcome"], head["outcome"]);
  EXPECT_NE(base["error"], head["error"]);
}

TEST(CaseAnswersTest, StepsAreCountedOnRequest) {
  CaseRunOptions options;
  options.count_steps = true;
  ASSERT_OK_AND_ASSIGN(const CaseAnswers one, AnswersTo("1", "true", options));
  ASSERT_OK_AND_ASSIGN(const CaseAnswers two, AnswersTo("2", "true", options));
  EXPECT_GT(*one.steps, 0);
  EXPECT_GT(*two.steps, *one.steps);
  EXPECT_EQ(ByField(one).count("steps"), 1u);
}

// Rounds change neither figures nor digests.
TEST(CaseAnswersTest, Rounds) {
  for (const std::string world : {"gpus", "mig-none-fits", "life-cycle", "cel"}) {
    ASSERT_OK_AND_ASSIGN(const CaseSet set, MakeCaseWorld(world, {}));
    ASSERT_OK_AND_ASSIGN(const CaseAnswers once, AnswerCaseSet(set, {}));
    for (const bool cold : {false, true}) {
      CaseRunOptions options;
      options.rounds = 3;
      options.cold = cold;
      int64_t lines = 0;
      ASSERT_OK_AND_ASSIGN(const CaseAnswers thrice,
                           AnswerCaseSet(set, options, [&lines](const std::string&) { ++lines; }));
      EXPECT_EQ(thrice.decisions, 3 * once.decisions) << world;
      EXPECT_EQ(thrice.allocations, once.allocations) << world;
      EXPECT_EQ(thrice.errors, once.errors) << world;
      EXPECT_EQ(thrice.digests, once.digests) << world;
      EXPECT_EQ(thrice.fingerprint, once.fingerprint) << world;
      EXPECT_EQ(lines, once.cases) << world;
    }
  }
}

TEST(CaseAnswersTest, StoredAnswersAreCompared) {
  ASSERT_OK_AND_ASSIGN(const CaseAnswers right,
                       AnswersTo("3", "true", {}, R"(, "want": {"incubating": {}})"));
  EXPECT_EQ(right.mismatches, 0);
  ASSERT_OK_AND_ASSIGN(const CaseAnswers wrong,
                       AnswersTo("3", "true", {}, R"(, "want": {"Error": "no"})"));
  EXPECT_EQ(wrong.mismatches, 1);
  EXPECT_NE(wrong.table.Text().find("error"), std::string::npos);
  // The answer of another variant says nothing.
  ASSERT_OK_AND_ASSIGN(const CaseAnswers other,
                       AnswersTo("3", "true", {}, R"(, "want": {"stable": {"Error": "no"}})"));
  EXPECT_EQ(other.mismatches, std::nullopt);
}

TEST(CaseAnswersTest, ACaseThatCannotBeAnsweredIsNamed) {
  ASSERT_OK_AND_ASSIGN(
      const CaseSet set,
      ReadCaseSet(CaseKind::kSdra, "f",
                  R"({"case": {"name": "p", "steps": [{"schedule": "nobody"}]}})"));
  const absl::Status status = AnswerCaseSet(set, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, 8), "case p: ") << status;
}

}  // namespace case_answers_test
}  // namespace drasim
