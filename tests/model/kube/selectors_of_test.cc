#include "model/kube/selectors_of.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::HasSubstr;
using ::testing::SizeIs;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

std::string ShownSelector(const LabelSelector& selector) {
  if (!selector.error.empty()) return absl::StrCat("error: ", selector.error);
  std::string text = selector.given ? "given" : "absent";
  for (const LabelRequirement& one : selector.requirements) {
    absl::StrAppend(&text, " ", one.key, "/", static_cast<int>(one.op), "[",
                    absl::StrJoin(one.values, ","), "]");
  }
  return text;
}

std::string Selector(const std::string& text) {
  return ShownSelector(SelectorOf(FromText<kube::LabelSelector>(text)));
}

TEST(SelectorOfTest, RequirementsAreSortedAndTheirValuesUnique) {
  EXPECT_EQ(Selector(""), "given");
  EXPECT_EQ(Selector("match_labels { key: 'b' value: '2' } match_labels { key: 'a' value: '' } "
                     "match_expressions { key: 'aa' operator: 'NotIn' values: ['y', 'x', 'y'] } "
                     "match_expressions { key: 'a' operator: 'Exists' } "
                     "match_expressions { key: 'c' operator: 'DoesNotExist' }"),
            "given a/0[] a/2[] aa/1[x,y] b/0[2] c/3[]");
}

TEST(SelectorOfTest, TheFirstErrorCounts) {
  EXPECT_EQ(Selector("match_expressions { key: 'a' operator: 'Gt' values: '1' }"),
            "error: \"Gt\" is not a valid label selector operator");
  EXPECT_EQ(Selector("match_expressions { key: 'a' operator: 'In' } "
                     "match_expressions { key: 'a' operator: 'Near' }"),
            "error: values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
            "empty");
  EXPECT_THAT(Selector("match_labels { key: 'a' value: 'b c' }"),
              HasSubstr("error: values[0][a]: Invalid value: \"b c\": a valid label must"));
  EXPECT_THAT(Selector("match_labels { key: 'a b' value: 'c' }"),
              HasSubstr("error: key: Invalid value: \"a b\": name part must"));
}

TEST(SelectorOfTest, AMapWithoutLabelsSelectsNothing) {
  KubeTexts labels;
  EXPECT_EQ(ShownSelector(SelectorOfLabels(labels)), "absent");
  labels["b"] = "2";
  labels["a"] = "1";
  EXPECT_EQ(ShownSelector(SelectorOfLabels(labels)), "given a/0[1] b/0[2]");
}

TEST(SelectorOfTest, AddsARequirementOnce) {
  LabelSelector selector =
      SelectorOf(FromText<kube::LabelSelector>("match_labels { key: 'b' value: '1' }"));
  AddRequirement("a", SelectorOperator::kNotIn, "x", &selector);
  AddRequirement("b", SelectorOperator::kIn, "1", &selector);
  AddRequirement("b", SelectorOperator::kIn, "2", &selector);
  EXPECT_EQ(ShownSelector(selector), "given a/1[x] b/0[1] b/0[2]");
}

NodeTerm Term(const std::string& text) {
  return NodeTermOf(FromText<kube::NodeSelectorTerm>(text), "[2]");
}

TEST(NodeTermOfTest, ExpressionsAndFields) {
  const NodeTerm term = Term(
      "match_expressions { key: 'a' operator: 'Gt' values: '3' } "
      "match_fields { key: 'metadata.name' operator: 'NotIn' values: 'n-1' }");
  EXPECT_EQ(term.error, "");
  ASSERT_THAT(term.requirements, SizeIs(2));
  EXPECT_EQ(term.requirements[0], (NodeRequirement{false, "a", NodeOperator::kGt, {"3"}}));
  EXPECT_EQ(term.requirements[1],
            (NodeRequirement{true, "metadata.name", NodeOperator::kNotIn, {"n-1"}}));
  EXPECT_THAT(Term("").requirements, SizeIs(0));
}

TEST(NodeTermOfTest, Errors) {
  EXPECT_EQ(Term("match_expressions { key: 'a' operator: 'Near' }").error,
            "[2].matchExpressions[0].operator: Unsupported value: \"Near\": supported values: "
            "\"DoesNotExist\", \"Exists\", \"Gt\", \"In\", \"Lt\", \"NotIn\"");
  EXPECT_EQ(Term("match_fields { key: 'metadata.name' operator: 'In' values: ['a', 'b'] }").error,
            "[2].matchFields[0].values: Invalid value: 2: must have one element");
  EXPECT_EQ(Term("match_fields { key: 'metadata.name' operator: 'Gt' values: '1' }").error,
            "[2].matchFields[0].operator: Unsupported value: \"Gt\": supported values: \"In\", "
            "\"NotIn\"");
}

// Only the name is a field of a node to the scheduler; others are empty.
TEST(NodeTermOfTest, OtherFieldsAreEmpty) {
  const auto holds = [](const std::string& field) {
    const NodeTerm term = Term(absl::StrCat("match_fields { key: 'spec.x' ", field, " }"));
    EXPECT_EQ(term.error, "");
    EXPECT_THAT(term.requirements, SizeIs(1));
    const std::string name = "n-1";
    return MeetsOperator(term.requirements[0].op, &name, term.requirements[0].values);
  };
  EXPECT_FALSE(holds("operator: 'In' values: 'n-1'"));
  EXPECT_TRUE(holds("operator: 'In' values: ''"));
  EXPECT_TRUE(holds("operator: 'NotIn' values: 'n-1'"));
  EXPECT_FALSE(holds("operator: 'NotIn' values: ''"));
}

TEST(PreferredNodeTermsTest, TheFirstErrorHasThemAll) {
  const auto terms = PreferredNodeTermsOf(FromText<kube::NodeAffinity>(R"(
    preferred_during_scheduling_ignored_during_execution {
      weight: 0 preference { match_expressions { key: 'a' operator: 'Near' } } }
    preferred_during_scheduling_ignored_during_execution { weight: 5 preference {} }
    preferred_during_scheduling_ignored_during_execution {
      weight: 3 preference { match_expressions { key: 'a' operator: 'Exists' } } }
    preferred_during_scheduling_ignored_during_execution {
      weight: 4 preference { match_expressions { key: 'b' operator: 'In' } } }
    preferred_during_scheduling_ignored_during_execution {
      weight: 6 preference { match_fields { key: 'metadata.name' operator: 'Exists' } } })"));
  ASSERT_THAT(terms, SizeIs(3));
  EXPECT_EQ(terms[0].weight, 3);
  EXPECT_EQ(terms[0].term.error, "");
  EXPECT_EQ(terms[1].term.error,
            "[[3].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty, [4].matchFields[0].operator: Unsupported value: "
            "\"Exists\": supported values: \"In\", \"NotIn\"]");
}

TEST(NodeTermsOfTest, RefusesWhatScenariosShouldNotHave) {
  const auto status = [](const std::string& term) {
    return NodeTermsOf(
               FromText<kube::NodeSelector>(absl::StrCat("node_selector_terms { ", term, " }")))
        .status();
  };
  EXPECT_TRUE(
      status("match_fields { key: 'metadata.name' operator: 'In' values: ['a', 'b'] }").ok());
  EXPECT_EQ(status("match_expressions { key: 'a' operator: 'Near' }").message(),
            "found the operator 'Near', expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt");
  EXPECT_EQ(status("match_fields { key: 'a' operator: 'In' values: 'b' }").message(),
            "found the field 'a', expected metadata.name");
}

TEST(TolerationsOfTest, UnknownOperatorsTolerateNothing) {
  const auto tolerations = TolerationsOf(FromText<kube::PodSpec>(R"(
    tolerations { key: 'a' operator: 'Exists' effect: 'NoSchedule' }
    tolerations { key: 'b' operator: 'Gt' value: '3' }
    tolerations { key: 'c' value: 'v' }
    tolerations { key: 'd' operator: 'Equal' value: 'w' })"));
  ASSERT_THAT(tolerations, SizeIs(3));
  EXPECT_EQ(tolerations[0], (Toleration{"a", "", "NoSchedule", true}));
  EXPECT_EQ(tolerations[1], (Toleration{"c", "v", "", false}));
  EXPECT_EQ(tolerations[2], (Toleration{"d", "w", "", false}));
}

}  // namespace
}  // namespace drasim
