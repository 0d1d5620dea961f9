// Sets of cases: files are read with their mistakes placed, and cases are written as they are read.
#include "sim/sdra/case_set.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/sdra/case_answers.h"
#include "sim/sdra/case_worlds.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace case_set_test {

constexpr char kAllocatorLine[] =
    R"({"case": {"Name": "a", "Node": {"metadata": {"name": "n"}}, "Features": ["AdminAccess"]}})";
constexpr char kPluginLine[] = R"({"case": {"name": "p", "steps": [{"wait": "1s"}]}, "want": []})";

TEST(CaseSetTest, LinesOfBothForms) {
  ASSERT_OK_AND_ASSIGN(const CaseSet set,
                       ReadCaseSet(CaseKind::kSdra, "f.jsonl",
                                   absl::StrCat("\n", kAllocatorLine, "\r\n", kPluginLine)));
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(NameOf(set[0].given), "a");
  EXPECT_TRUE(std::get<AllocatorCase>(set[0].given).features.admin_access);
  EXPECT_EQ(set[0].line, "");
  EXPECT_EQ(NameOf(set[1].given), "p");
  EXPECT_EQ(std::get<proto::kube::SdraCase>(set[1].given).steps_size(), 1);
  EXPECT_EQ(set[1].line, kPluginLine);
}

TEST(CaseSetTest, CelExpectsAnswersOnlyWhereTheyAre) {
  ASSERT_OK_AND_ASSIGN(
      const CaseSet set,
      ReadCaseSet(CaseKind::kCel, "f.json",
                  R"([{"Name": "a", "Expression": "true"}, {"Name": "b", "ExpectMatch": false}])"));
  ASSERT_EQ(set.size(), 2u);
  EXPECT_FALSE(std::get<CelCase>(set[0].given).has_want);
  EXPECT_TRUE(std::get<CelCase>(set[1].given).has_want);
}

TEST(CaseSetTest, MistakesHaveTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {absl::StrCat(kAllocatorLine, "\n\n{\"case\": }"), "f:3: not a case: at byte 9"},
      {"{\"want\": {}}", "f:1: not a case: no key `case`"},
      {R"({"case": {"Name": "a", "Features": ["Levitation"]}})",
       "f:1: Features[0]: unknown feature 'Levitation'"},
      {R"({"case": {"AllocatedDevices": ["one"]}})",
       "f:1: AllocatedDevices[0]: found 'one', expected driver/pool/device"},
  };
  for (const auto& [text, message] : mistakes) {
    const absl::Status status = ReadCaseSet(CaseKind::kSdra, "f", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(status.message().substr(0, message.size()), message);
  }
  EXPECT_EQ(ReadCaseSet(CaseKind::kCel, "f", "{}").status(),
            absl::InvalidArgumentError("f: expected an array of cases"));
  EXPECT_EQ(ReadCaseSet(CaseKind::kCel, "f", R"([{}, {"Name": []}])").status(),
            absl::InvalidArgumentError("f: case 2: Name: expected a text"));
}

// The text of every kind of case leads to the same answers.
TEST(CaseSetTest, TextsAreCases) {
  CaseWorldSize small;
  small.devices = 9;
  CaseWorldSize none;
  const std::vector<std::pair<std::string, CaseWorldSize>> worlds = {
      {"gpus", small}, {"mig-last-free", none}, {"life-cycle", none}, {"cel", none}};
  for (const auto& [world, size] : worlds) {
    ASSERT_OK_AND_ASSIGN(const CaseKind kind, CheckCaseWorld(world, size));
    ASSERT_OK_AND_ASSIGN(const CaseSet made, MakeCaseWorld(world, size));
    std::string text = kind == CaseKind::kCel ? "[" : "";
    for (const StoredCase& one : made) {
      absl::StrAppend(&text, text.size() > 1 && kind == CaseKind::kCel ? "," : "",
                      CaseText(one.given));
    }
    if (kind == CaseKind::kCel) text += "]";
    ASSERT_OK_AND_ASSIGN(const CaseSet read, ReadCaseSet(kind, "f", text));
    ASSERT_OK_AND_ASSIGN(const CaseAnswers answers, AnswerCaseSet(made, {}));
    ASSERT_OK_AND_ASSIGN(const CaseAnswers again, AnswerCaseSet(read, {}));
    EXPECT_GT(answers.allocations, 0) << world;
    EXPECT_EQ(answers.digests, again.digests) << world;
  }
}

// Devices in use are written, too.
TEST(CaseSetTest, TextHasTheUse) {
  const std::string line =
      R"({"case": {"Name": "a", "Node": {"metadata": {"name": "n"}}, "AllocatedDevices": )"
      R"(["d/p/x"], "AllocatedSharedDeviceIDs": [{"Device": "d/p/y"}], "AggregatedCapacity": [)"
      R"({"Device": "d/p/y", "Consumed": {"memory": "3Gi"}}]}})";
  ASSERT_OK_AND_ASSIGN(const CaseSet set, ReadCaseSet(CaseKind::kSdra, "f", line));
  const std::string text = CaseText(set[0].given);
  for (const char* const part :
       {R"("AllocatedDevices": ["d/p/x"])", R"("AllocatedSharedDeviceIDs": [{"Device": "d/p/y"}])",
        R"("Device": "d/p/y", "Consumed": {"memory": "3Gi"})"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace case_set_test
}  // namespace drasim
