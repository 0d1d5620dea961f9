#include "sim/extender/extender_messages.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ExtenderMessagesTest, RequestsHaveGosNamesAndNulls) {
  const std::vector<std::string> names = {"a", "b\"c"};
  EXPECT_EQ(ExtenderArgsWithNames("{}", names),
            R"({"Pod": {}, "Nodes": null, "NodeNames": ["a", "b\"c"]})");
  const std::vector<std::string> nodes = {R"({"x":1})", R"({"y":2})"};
  EXPECT_EQ(ExtenderArgsWithNodes("{}", nodes),
            R"({"Pod": {}, "Nodes": {"metadata": {}, "items": [{"x":1}, {"y":2}]}, )"
            R"("NodeNames": null})");
  const std::map<std::string, ExtenderVictims> meta = {{"n", {{"u1", "u2"}, 3}}};
  EXPECT_EQ(ExtenderPreemptionArgs("{}", meta, /*meta=*/true),
            R"({"Pod": {}, "NodeNameToVictims": null, "NodeNameToMetaVictims": )"
            R"({"n": {"Pods": [{"UID": "u1"}, {"UID": "u2"}], "NumPDBViolations": 3}}})");
  const std::map<std::string, ExtenderVictims> pods = {{"n", {{R"({"p":1})"}, 0}}};
  EXPECT_EQ(ExtenderPreemptionArgs("{}", pods, /*meta=*/false),
            R"({"Pod": {}, "NodeNameToVictims": )"
            R"({"n": {"Pods": [{"p":1}], "NumPDBViolations": 0}}, "NodeNameToMetaVictims": null})");
  EXPECT_EQ(ExtenderBindingArgs("p", "ns", "u", "n"),
            R"({"PodName": "p", "PodNamespace": "ns", "PodUID": "u", "Node": "n"})");
}

TEST(ExtenderMessagesTest, ObjectsStandOnOneLine) {
  proto::kube::Pod pod;
  pod.mutable_metadata()->set_name("p");
  (*pod.mutable_metadata()->mutable_annotations())["k"] = "two  blanks, a \" and a \\";
  EXPECT_EQ(PodJson(pod), R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"k":)"
                          R"("two  blanks, a \" and a \\"},"name":"p"}})");
}

TEST(ExtenderMessagesTest, NamesOfMembersAreReadInAnyCase) {
  ASSERT_OK_AND_ASSIGN(const ExtenderFilterAnswer answer,
                       ReadExtenderFilterResult(R"({"nodeNames":["b","a"],"NODES":null,)"
                                                R"("failednodes":{"c":"no"},"other":7,)"
                                                R"("FailedAndUnresolvableNodes":{"d":"never"}})"));
  EXPECT_THAT(answer.node_names.value(), ElementsAre("b", "a"));
  EXPECT_FALSE(answer.nodes.has_value());
  EXPECT_THAT(answer.failed, ElementsAre(Pair("c", "no")));
  EXPECT_THAT(answer.unresolvable, ElementsAre(Pair("d", "never")));
  EXPECT_EQ(answer.error, "");
  // The exact name wins.
  ASSERT_OK_AND_ASSIGN(const std::string error,
                       ReadExtenderBindingResult(R"({"ERROR":"x","Error":"y","error":"z"})"));
  EXPECT_EQ(error, "y");
}

TEST(ExtenderMessagesTest, ListsAndObjectsMayBeEmpty) {
  ASSERT_OK_AND_ASSIGN(const ExtenderFilterAnswer nothing, ReadExtenderFilterResult("{}"));
  EXPECT_FALSE(nothing.node_names.has_value());
  ASSERT_OK_AND_ASSIGN(const ExtenderFilterAnswer empty,
                       ReadExtenderFilterResult(R"({"NodeNames":[],"Nodes":{}})"));
  EXPECT_TRUE(empty.node_names.has_value());
  EXPECT_TRUE(empty.nodes.has_value());
  ASSERT_OK_AND_ASSIGN(const auto scores, ReadHostPriorityList("null"));
  EXPECT_TRUE(scores.empty());
  ASSERT_OK_AND_ASSIGN(const auto victims,
                       ReadExtenderPreemptionResult(R"({"NodeNameToMetaVictims":{"n":null}})"));
  ASSERT_EQ(victims.size(), 1u);
  EXPECT_TRUE(victims.at("n").pods.empty());
}

TEST(ExtenderMessagesTest, ReadsNodesScoresAndVictims) {
  ASSERT_OK_AND_ASSIGN(const ExtenderFilterAnswer answer,
                       ReadExtenderFilterResult(
                           R"({"Nodes":{"items":[{"metadata":{"name":"b"}},{}]},"Error":"e"})"));
  EXPECT_THAT(answer.nodes.value(), ElementsAre("b", ""));
  EXPECT_EQ(answer.error, "e");
  ASSERT_OK_AND_ASSIGN(const auto scores,
                       ReadHostPriorityList(R"([{"host":"n","score":-3},{"Host":"m"}])"));
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].host, "n");
  EXPECT_EQ(scores[0].score, -3);
  EXPECT_EQ(scores[1].score, 0);
  ASSERT_OK_AND_ASSIGN(
      const auto victims,
      ReadExtenderPreemptionResult(
          R"({"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":"u"}],"NumPDBViolations":2}}})"));
  EXPECT_THAT(victims.at("n").pods, ElementsAre("u"));
  EXPECT_EQ(victims.at("n").budget_violations, 2);
}

TEST(ExtenderMessagesTest, WrongTypesAreErrors) {
  EXPECT_FALSE(ReadExtenderFilterResult("<html>").ok());
  EXPECT_FALSE(ReadExtenderFilterResult("[]").ok());
  EXPECT_FALSE(ReadExtenderFilterResult(R"({"Error":7})").ok());
  EXPECT_FALSE(ReadExtenderFilterResult(R"({"NodeNames":[7]})").ok());
  EXPECT_FALSE(ReadExtenderFilterResult(R"({"Nodes":["n"]})").ok());
  EXPECT_FALSE(ReadExtenderFilterResult(R"({"FailedNodes":{"n":7}})").ok());
  EXPECT_FALSE(ReadHostPriorityList("{}").ok());
  EXPECT_FALSE(ReadHostPriorityList(R"([{"Host":"n","Score":1.5}])").ok());
  EXPECT_FALSE(ReadHostPriorityList(R"([{"Host":"n","Score":"1"}])").ok());
  EXPECT_FALSE(ReadExtenderPreemptionResult(R"({"NodeNameToMetaVictims":[]})").ok());
}

}  // namespace
}  // namespace drasim
