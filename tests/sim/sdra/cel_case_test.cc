// The stored answers to cases for CEL.

#include "sim/sdra/cel_case.h"

#include <deque>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/kube/reader_json.h"
#include "sim/sdra/case_table.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace {

absl::StatusOr<CelCase> CelCaseOf(absl::string_view json) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(json, 0, &nodes);
  return ReadCelCase(json, *tree.root);
}

TEST(CelCase, AnswersTheStoredCases) {
  const char* const path = "expected/sdra/cel_cases_v1.37.2.json";
  DRASIM_NEEDS_SHARED_DATA(path);
  std::ifstream file(SharedPath(path));
  std::stringstream text;
  text << file.rdbuf();
  const std::string json = text.str();
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(json, 0, &nodes);
  ASSERT_NE(tree.root, nullptr) << tree.problem;
  CaseTable table;
  for (const YamlNode* given : tree.root->children) {
    const absl::StatusOr<CelCase> read = ReadCelCase(json, *given);
    ASSERT_TRUE(read.ok()) << read.status();
    const absl::StatusOr<CelAnswer> answer = AnswerCelCase(*read);
    ASSERT_TRUE(answer.ok()) << read->name << ": " << answer.status();
    CompareCelAnswer(*read, *answer, &table);
  }
  EXPECT_EQ(table.cases(), 71U);
  EXPECT_EQ(table.unequal_cases(), 0U) << table.Text();
}

TEST(CelCase, WritesTheAnswerAsTheFilesHaveIt) {
  const absl::StatusOr<CelCase> given =
      CelCaseOf(R"({"Name": "a", "Expression": "device.attributes['d'].n == 1", "Driver": "d",
                    "Attributes": {"n": {"int": 1}}})");
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(CelAnswerJson(*given, *AnswerCelCase(*given)),
            "{\"name\": \"a\", \"want\": {\"ExpectMatch\": true, \"ExpectCost\": 5}}\n");
  const absl::StatusOr<CelCase> wrong = CelCaseOf(R"({"Name": "b", "Expression": "1"})");
  EXPECT_EQ(CelAnswerJson(*wrong, *AnswerCelCase(*wrong)),
            "{\"name\": \"b\", \"want\": {\"ExpectMatch\": false, \"ExpectCompileError\": \"must "
            "evaluate to bool or the unknown type, not int\", \"ExpectCost\": 0}}\n");
}

TEST(CelCase, NotesEveryDifference) {
  const absl::StatusOr<CelCase> given = CelCaseOf(
      R"({"Name": "a", "Expression": "device.attributes['d'].n", "ExpectMatch": true,
          "ExpectMatchError": "no such key: m", "ExpectCost": 9})");
  CaseTable table;
  CompareCelAnswer(*given, *AnswerCelCase(*given), &table);
  EXPECT_EQ(table.unequal_cases(), 1U);
  const std::string text = table.Text();
  for (const absl::string_view difference :
       {"ExpectMatch", "no such key: m", "no such key: n", "9"}) {
    EXPECT_NE(text.find(std::string(difference)), std::string::npos) << text;
  }
}

TEST(CelCase, RefusesMembersOfAWrongType) {
  EXPECT_EQ(CelCaseOf(R"([1])").status().message(), "not a case: expected an object");
  EXPECT_EQ(CelCaseOf(R"({"NewExpressions": "maybe"})").status().message(),
            "NewExpressions: expected true or false");
  EXPECT_EQ(CelCaseOf(R"({"Name": []})").status().message(), "Name: expected a text");
  EXPECT_EQ(CelCaseOf(R"({"ExpectCost": "x"})").status().message(),
            "ExpectCost: expected a number");
  EXPECT_EQ(CelCaseOf(R"({"Attributes": []})").status().message(),
            "Attributes: expected an object");
}

}  // namespace
}  // namespace drasim
