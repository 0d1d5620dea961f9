#include "model/label_selector.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace drasim {
namespace {

LabelSelector SelectorWith(std::vector<LabelRequirement> requirements) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements = std::move(requirements);
  return selector;
}

TEST(LabelOfTest, FindsTheKeyAlone) {
  const Labels labels = {{"a", "1"}, {"b", ""}, {"d", "4"}};
  ASSERT_NE(LabelOf(labels, "a"), nullptr);
  EXPECT_EQ(*LabelOf(labels, "a"), "1");
  ASSERT_NE(LabelOf(labels, "b"), nullptr);
  EXPECT_EQ(*LabelOf(labels, "b"), "");
  EXPECT_EQ(*LabelOf(labels, "d"), "4");
  for (const char* const key : {"", "A", "c", "e"}) EXPECT_EQ(LabelOf(labels, key), nullptr) << key;
  EXPECT_EQ(LabelOf({}, "a"), nullptr);
}

TEST(SelectsTest, EachOperator) {
  const Labels labels = {{"app", "web"}, {"tier", ""}};
  const auto selects = [&labels](const std::string& key, SelectorOperator op,
                                 const std::vector<std::string>& values) {
    return Selects(SelectorWith({{key, op, values}}), labels);
  };
  EXPECT_TRUE(selects("app", SelectorOperator::kIn, {"db", "web"}));
  EXPECT_FALSE(selects("app", SelectorOperator::kIn, {"db"}));
  EXPECT_FALSE(selects("zone", SelectorOperator::kIn, {""}));
  EXPECT_TRUE(selects("tier", SelectorOperator::kIn, {""}));
  EXPECT_FALSE(selects("app", SelectorOperator::kNotIn, {"db", "web"}));
  EXPECT_TRUE(selects("app", SelectorOperator::kNotIn, {"db"}));
  EXPECT_TRUE(selects("zone", SelectorOperator::kNotIn, {"a"}));
  EXPECT_TRUE(selects("tier", SelectorOperator::kExists, {}));
  EXPECT_FALSE(selects("zone", SelectorOperator::kExists, {}));
  EXPECT_FALSE(selects("tier", SelectorOperator::kDoesNotExist, {}));
  EXPECT_TRUE(selects("zone", SelectorOperator::kDoesNotExist, {}));
}

TEST(SelectsTest, EveryRequirementCounts) {
  const LabelSelector selector = SelectorWith(
      {{"app", SelectorOperator::kIn, {"web"}}, {"zone", SelectorOperator::kExists, {}}});
  EXPECT_FALSE(Selects(selector, Labels{{"app", "web"}}));
  EXPECT_FALSE(Selects(selector, Labels{{"zone", "a"}}));
  EXPECT_TRUE(Selects(selector, Labels{{"app", "web"}, {"zone", "a"}}));
}

TEST(SelectsTest, AbsentEmptyAndUnusableSelectors) {
  EXPECT_FALSE(Selects(LabelSelector(), {}));
  EXPECT_FALSE(LabelSelector().selects_all());
  LabelSelector selector = SelectorWith({});
  EXPECT_TRUE(Selects(selector, {}));
  EXPECT_TRUE(selector.selects_all());
  selector.error = "invalid";
  EXPECT_FALSE(Selects(selector, {}));
  EXPECT_FALSE(selector.selects_all());
}

}  // namespace
}  // namespace drasim
