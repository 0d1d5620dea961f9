// Fields of parameters: paths in all their spellings, values, and what is wrong with them.
#include "policies/devices/claim_parameters.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"

namespace drasim {
namespace claim_parameters_test {

using ::testing::ElementsAre;
using ::testing::Pair;

absl::Status Wrong(const std::string& text) {
  return absl::InvalidArgumentError("parameters \"mine\": " + text);
}

TEST(ClaimParametersTest, PathsAreWithoutSpecAndWithDots) {
  ParametersObject object;
  object.fields = {{"apiVersion", "x/v1"}, {"kind", "K"},       {"metadata.name", "n"},
                   {"spec.a[0].b", "1"},   {"spec.a.1.b", "2"}, {"c", "3"}};
  const ParameterFields fields(&object);
  EXPECT_TRUE(fields.given());
  EXPECT_THAT(fields.all(), ElementsAre(Pair("a.0.b", "1"), Pair("a.1.b", "2"), Pair("c", "3")));
  EXPECT_EQ(*fields.Find("a.0.b"), "1");
  EXPECT_EQ(fields.Find("spec.c"), nullptr);
  EXPECT_TRUE(fields.HasPrefix("a.1."));
  EXPECT_FALSE(fields.HasPrefix("a.2."));
  EXPECT_FALSE(ParameterFields(nullptr).given());
  EXPECT_EQ(ParameterFields(nullptr).Find("c"), nullptr);
  EXPECT_EQ(ParameterFields(nullptr).kind(), "");
}

TEST(ClaimParametersTest, Values) {
  NamePool names;
  ParametersObject object;
  object.meta.name = names.Intern("mine");
  object.fields = {{"spec.n", "7"}, {"spec.flag", "true"}, {"spec.word", "two"}};
  const ParameterFields fields(&object);
  int64_t number = 1;
  EXPECT_TRUE(fields.ReadInt("n", 7, 7, &number).ok());
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(fields.ReadInt("m", 8, 9, &number).ok());
  EXPECT_EQ(number, 7);
  EXPECT_EQ(fields.ReadInt("n", 8, 9, &number), Wrong("n: expected 8 to 9, not \"7\""));
  EXPECT_EQ(fields.ReadInt("word", 8, 9, &number), Wrong("word: expected 8 to 9, not \"two\""));
  EXPECT_EQ(number, 7);
  bool flag = false;
  EXPECT_TRUE(fields.ReadBool("flag", &flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(fields.ReadBool("n", &flag), Wrong("n: expected \"true\" or \"false\", not \"7\""));
  std::string word = "none";
  EXPECT_TRUE(fields.ReadWord("nothing", {"one", "two"}, &word).ok());
  EXPECT_EQ(word, "none");
  EXPECT_TRUE(fields.ReadWord("word", {"one", "two"}, &word).ok());
  EXPECT_EQ(word, "two");
  EXPECT_EQ(fields.ReadWord("word", {"one", "three"}, &word),
            Wrong("word: expected one, three, not \"two\""));
  EXPECT_EQ(fields.Wrong("nothing", "something"), Wrong("nothing: expected something"));
}

TEST(ClaimParametersTest, Groups) {
  NamePool names;
  ParametersObject object;
  object.meta.name = names.Intern("mine");
  EXPECT_TRUE(ParameterFields(nullptr).CheckGroup("a.b").ok());
  EXPECT_TRUE(ParameterFields(&object).CheckGroup("a.b").ok());
  object.api_group = names.Intern("a.b/v1alpha1");
  EXPECT_TRUE(ParameterFields(&object).CheckGroup("a.b").ok());
  EXPECT_EQ(ParameterFields(&object).CheckGroup("a"),
            Wrong("expected API group a, not a.b/v1alpha1"));
}

TEST(ClaimParametersTest, JsonQuoted) {
  EXPECT_EQ(JsonQuoted("plain"), "\"plain\"");
  EXPECT_EQ(JsonQuoted("a\"b\\c\n\x1f"), "\"a\\\"b\\\\c\\u000a\\u001f\"");
}

}  // namespace claim_parameters_test
}  // namespace drasim
