#include "policies/cel/clauses.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim::cel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(absl::string_view expression) {
  std::vector<std::string> texts;
  for (const Clause& clause : SplitClauses(expression)) texts.push_back(clause.text);
  return texts;
}

std::vector<std::string> LookupTexts(absl::string_view expression) {
  std::vector<std::string> texts;
  for (const DeviceLookup& lookup : LookupsOf(expression)) {
    texts.push_back(lookup.Text() + (lookup.guarded ? " guarded" : "") +
                    (lookup.compared.has_value() ? " compared" : ""));
  }
  return texts;
}

TEST(ClausesTest, SplitsTheOutermostChain) {
  EXPECT_THAT(Texts("a == 1"), ElementsAre("a == 1"));
  EXPECT_THAT(Texts("a == 1 && b\n  && c.all(x, x && y)"),
              ElementsAre("a == 1", "b", "c.all(x, x && y)"));
  EXPECT_THAT(Texts("((a && (b && c)) && (d))"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Texts("'&& (' == \"x\" && m[\"&&\"]"), ElementsAre("'&& (' == \"x\"", "m[\"&&\"]"));
  EXPECT_THAT(Texts("!(a && b)"), ElementsAre("!(a && b)"));
  EXPECT_THAT(Texts("(a) == (b) && (c)"), ElementsAre("(a) == (b)", "c"));
}

TEST(ClausesTest, OrAndConditionalsAreOneClause) {
  EXPECT_THAT(Texts("a && b || c"), ElementsAre("a && b || c"));
  EXPECT_THAT(Texts("(a || b) && c"), ElementsAre("a || b", "c"));
  EXPECT_THAT(Texts("a && b ? c : d"), ElementsAre("a && b ? c : d"));
  EXPECT_THAT(Texts("a.?b.orValue(1) == 1 && c[?'x'].hasValue()"),
              ElementsAre("a.?b.orValue(1) == 1", "c[?'x'].hasValue()"));
}

TEST(ClausesTest, BindIsAroundEachClause) {
  const std::vector<Clause> clauses =
      SplitClauses("x && cel.bind(v, device.attributes['d'], v.a == 1 && v.b)");
  ASSERT_EQ(clauses.size(), 3u);
  EXPECT_EQ(clauses[1].text, "v.a == 1");
  EXPECT_EQ(clauses[1].expression, "cel.bind(v, device.attributes['d'], v.a == 1)");
  EXPECT_EQ(clauses[2].expression, "cel.bind(v, device.attributes['d'], v.b)");
}

TEST(ClausesTest, NoExpressionIsOneClause) {
  EXPECT_THAT(Texts("a && && b"), ElementsAre("a && && b"));
  EXPECT_THAT(LookupTexts("a && && b"), IsEmpty());
}

TEST(ClausesTest, LookupsOfADevice) {
  EXPECT_THAT(
      LookupTexts("device.driver == 'a' && device.attributes['d'].x >= 3 && "
                  "device.attributes['d']['x'] < 9 && device.capacity['d'].m.isGreaterThan(q)"),
      ElementsAre("device.driver compared", "device.attributes[\"d\"].x compared",
                  "device.capacity[\"d\"].m"));
  EXPECT_THAT(
      LookupTexts("has(device.attributes['d'].x) && device.attributes[?'e'].?y.orValue(1)"),
      ElementsAre("device.attributes[\"d\"].x guarded", "device.attributes[\"e\"].y guarded"));
  EXPECT_THAT(LookupTexts("cel.bind(v, device.attributes['d'], v.a == 1 && w.a)"),
              ElementsAre("device.attributes[\"d\"].a compared"));
  EXPECT_THAT(LookupTexts("device.allowMultipleAllocations && 'd' in device.attributes"),
              ElementsAre("device.allowMultipleAllocations"));
  EXPECT_EQ(LookupsOf("3 < device.attributes['d'].x")[0].compared, LiteralKind::kInt);
}

}  // namespace
}  // namespace drasim::cel
