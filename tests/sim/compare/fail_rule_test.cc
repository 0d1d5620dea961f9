// Rules of the gate: their text, and when they hold.
#include "sim/compare/fail_rule.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim {
namespace fail_rule_test {

using ::testing::HasSubstr;

FailRule Rule(const std::string& text) {
  const absl::StatusOr<FailRule> rule = ParseFailRule(text);
  EXPECT_TRUE(rule.ok()) << rule.status();
  return rule.ok() ? *rule : FailRule();
}

std::string Refusal(const std::string& text) {
  const absl::StatusOr<FailRule> rule = ParseFailRule(text);
  EXPECT_TRUE(absl::IsInvalidArgument(rule.status())) << text;
  return std::string(rule.status().message());
}

TEST(FailRuleTest, ReadsMetricOperatorAndBound) {
  const FailRule rule = Rule("  gpu_allocation_percent_end < -0.5 ");
  EXPECT_EQ(rule.text, "gpu_allocation_percent_end < -0.5");
  EXPECT_STREQ(rule.metric.name, "gpu_allocation_percent_end");
  EXPECT_EQ(rule.op, FailRule::Operator::kLess);
  EXPECT_EQ(rule.bound, -0.5);
  EXPECT_FALSE(rule.percent);
  const FailRule tight = Rule("goodput>=1e-3 %");
  EXPECT_EQ(tight.op, FailRule::Operator::kAtLeast);
  EXPECT_EQ(tight.bound, 1e-3);
  EXPECT_TRUE(tight.percent);
}

TEST(FailRuleTest, OperatorsAtTheirBounds) {
  const auto at = [](const char* op, double difference) {
    return Rule(std::string("goodput ") + op + " 2").Holds(100, difference);
  };
  const struct {
    const char* op;
    bool below, equal, above;
  } kCases[] = {{"<", true, false, false}, {"<=", true, true, false},  {">", false, false, true},
                {">=", false, true, true}, {"==", false, true, false}, {"!=", true, false, true}};
  for (const auto& c : kCases) {
    EXPECT_EQ(at(c.op, 1.9), c.below) << c.op;
    EXPECT_EQ(at(c.op, 2), c.equal) << c.op;
    EXPECT_EQ(at(c.op, 2.1), c.above) << c.op;
  }
}

TEST(FailRuleTest, PercentIsOfTheBaselineWithoutItsSign) {
  EXPECT_TRUE(Rule("goodput > 1%").Holds(200, 2.1));
  EXPECT_FALSE(Rule("goodput > 1%").Holds(200, 1.9));
  EXPECT_TRUE(Rule("goodput < -1%").Holds(-200, -2.1));
  EXPECT_FALSE(Rule("goodput < -1%").Holds(-200, 2.1));
  // From a base of 0, every difference exceeds every bound on its side.
  EXPECT_TRUE(Rule("goodput > 1000%").Holds(0, 1e-9));
  EXPECT_FALSE(Rule("goodput < -1%").Holds(0, 1e-9));
  EXPECT_FALSE(Rule("goodput > 0%").Holds(0, 0));
}

TEST(FailRuleTest, RefusesOtherTexts) {
  EXPECT_THAT(Refusal(""), HasSubstr("found no metric, expected METRIC OPERATOR NUMBER"));
  EXPECT_THAT(Refusal("goodput"), HasSubstr("found no operator"));
  EXPECT_THAT(Refusal("goodput <"), HasSubstr("found no number"));
  EXPECT_THAT(Refusal("goodput < x"), HasSubstr("found 'x'"));
  EXPECT_THAT(Refusal("goodput < nan"), HasSubstr("found 'nan'"));
  EXPECT_THAT(Refusal("goodput < 1 or 2"), HasSubstr("found '1 or 2'"));
  EXPECT_THAT(Refusal("goodput ~ 1"), HasSubstr("found '~ 1'"));
  EXPECT_THAT(Refusal("goodputs < 1"), HasSubstr("unknown metric 'goodputs' (did you "));
}

}  // namespace fail_rule_test
}  // namespace drasim
