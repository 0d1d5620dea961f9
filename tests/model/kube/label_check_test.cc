// Texts are those of k8s.io/apimachinery v0.34.1.
#include "model/kube/label_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(QualifiedNameTest, ValidNames) {
  for (const char* const name :
       {"a", "A.b_c-9", "example.com/gpu", "a-b.c0/X", "0", "example.com/9"}) {
    EXPECT_THAT(QualifiedNameProblems(name), IsEmpty()) << name;
  }
  EXPECT_THAT(QualifiedNameProblems(std::string(63, 'a')), IsEmpty());
  EXPECT_THAT(QualifiedNameProblems(absl::StrCat(std::string(253, 'a'), "/b")), IsEmpty());
}

TEST(QualifiedNameTest, InvalidNames) {
  for (const char* const name : {"-a", "a-", "a b", "_a", "a/-b"}) {
    EXPECT_THAT(QualifiedNameProblems(name), ElementsAre(HasSubstr("name part must consist of")))
        << name;
  }
  for (const char* const name : {"A.com/b", "a..b/c", "-a/b", "a_b/c", "a-/b"}) {
    EXPECT_THAT(QualifiedNameProblems(name),
                ElementsAre(HasSubstr("prefix part a lowercase RFC 1123 subdomain must")))
        << name;
  }
  EXPECT_THAT(QualifiedNameProblems("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(QualifiedNameProblems("a/b/c"), ElementsAre(HasSubstr("a qualified name must")));
  EXPECT_THAT(QualifiedNameProblems(std::string(64, 'a')),
              ElementsAre("name part must be no more than 63 characters"));
  EXPECT_THAT(QualifiedNameProblems(absl::StrCat(std::string(254, 'a'), "/b")),
              ElementsAre("prefix part must be no more than 253 characters"));
  EXPECT_THAT(QualifiedNameProblems(""),
              ElementsAre("name part must be non-empty", HasSubstr("name part must consist of")));
}

TEST(LabelValueTest, ValuesMayBeEmpty) {
  for (const char* const value : {"", "a", "A_b-c.d", "0"}) {
    EXPECT_THAT(LabelValueProblems(value), IsEmpty()) << value;
  }
  for (const char* const value : {"-10", "a/b", "a ", "a-"}) {
    EXPECT_THAT(LabelValueProblems(value), ElementsAre(HasSubstr("a valid label must be an empty "
                                                                 "string or consist of")))
        << value;
  }
  EXPECT_THAT(LabelValueProblems(std::string(64, 'a')),
              ElementsAre("must be no more than 63 characters"));
}

// The problems of a requirement "KEY OPERATOR VALUE,VALUE", as one text.
std::string ProblemsOfRequirement(const std::string& key, const std::string& op,
                                  const std::vector<std::string>& values,
                                  absl::string_view path = "") {
  proto::kube::SelectorRequirement requirement;
  requirement.set_key(key);
  requirement.set_operator_(op);
  for (const std::string& value : values) requirement.add_values(value);
  return AggregateText(RequirementProblems(path, requirement));
}

TEST(RequirementTest, ValidOnes) {
  EXPECT_EQ(ProblemsOfRequirement("a", "In", {"x", ""}), "");
  EXPECT_EQ(ProblemsOfRequirement("a", "NotIn", {"x"}), "");
  EXPECT_EQ(ProblemsOfRequirement("a", "Exists", {}), "");
  EXPECT_EQ(ProblemsOfRequirement("a", "DoesNotExist", {}), "");
  EXPECT_EQ(ProblemsOfRequirement("a", "Gt", {"10"}), "");
  EXPECT_EQ(ProblemsOfRequirement("a", "Lt", {"10"}), "");
}

TEST(RequirementTest, NumbersOfValues) {
  EXPECT_EQ(ProblemsOfRequirement("a", "In", {}),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(ProblemsOfRequirement("a", "Exists", {"x", "y"}, "p[1]"),
            "p[1].values: Invalid value: [\"x\",\"y\"]: values set must be empty for exists and "
            "does not exist");
  EXPECT_EQ(ProblemsOfRequirement("a", "Gt", {}),
            "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required");
}

// The text that kube-scheduler gives for a negative bound.
TEST(RequirementTest, BoundsAreLabelValues) {
  EXPECT_EQ(ProblemsOfRequirement("a", "Gt", {"-10"}, "[0].matchExpressions[0]") + "\n",
            TestText("BoundsAreLabelValues"));
  EXPECT_EQ(ProblemsOfRequirement("a", "Lt", {"x"}),
            "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
            "integer");
}

TEST(RequirementTest, SeveralProblemsAreInBrackets) {
  EXPECT_EQ(AggregateText({"a", "b", "a"}), "[a, b]");
  EXPECT_EQ(AggregateText({"a", "a"}), "a");
  EXPECT_EQ(AggregateText({}), "");
  EXPECT_THAT(ProblemsOfRequirement("-", "In", {"-"}), HasSubstr("[key: Invalid value: \"-\": "));
}

TEST(RequirementTest, Unsupported) {
  EXPECT_EQ(UnsupportedValue("p.operator", "Near", {"In", "NotIn"}),
            "p.operator: Unsupported value: \"Near\": supported values: \"In\", \"NotIn\"");
}

}  // namespace
}  // namespace drasim
