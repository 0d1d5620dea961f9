// Expressions that are meant to hurt.

#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "policies/cel/program.h"
#include "tests/policies/cel/cel_device.h"

namespace drasim::cel {
namespace {

std::string Repeated(absl::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&all, text);
  return all;
}

TEST(HostileCel, IsNoLongerThanTenKibibytes) {
  const std::string blanks(kMaxExpressionLength - 4, ' ');
  EXPECT_EQ(VerdictOf(absl::StrCat("true", blanks)), "true");
  EXPECT_EQ(VerdictOf(absl::StrCat("true ", blanks)),
            "refused: an expression of 10241 bytes; at most 10240 are allowed");
}

TEST(HostileCel, NestsNoDeeperThanTheLimit) {
  for (const absl::string_view open : {"(", "[", "{1:", "true?true:", "size("}) {
    const std::string verdict = VerdictOf(absl::StrCat(Repeated(open, 900), "true"));
    EXPECT_TRUE(absl::StrContains(verdict, "expression recursion limit exceeded: 250")) << verdict;
  }
  for (const absl::string_view chain : {"+1", "*1", "==1", ".a", "[0]"}) {
    const std::string verdict = VerdictOf(absl::StrCat("1", Repeated(chain, 900)));
    EXPECT_TRUE(absl::StrContains(verdict, "expression recursion limit exceeded: 250")) << verdict;
  }
  EXPECT_EQ(VerdictOf(absl::StrCat(Repeated("(", 249), "true", Repeated(")", 249))), "true");
}

TEST(HostileCel, LongChainsOfLogicAreFine) {
  EXPECT_EQ(VerdictOf(absl::StrCat("true", Repeated("&&true", 1700))), "true");
  EXPECT_EQ(VerdictOf(absl::StrCat(Repeated("!", 10000), "true")), "true");
}

TEST(HostileCel, BoundsTextsThatGrow) {
  const std::string grown =
      absl::StrCat("'", std::string(4000, 'a'), "'.replace('', '", std::string(4000, 'b'), "')");
  EXPECT_EQ(VerdictOf(absl::StrCat(grown, ".replace('', 'bbbb').size() > 0")),
            "error: operation cancelled: actual cost limit exceeded");
}

TEST(HostileCel, MatchesPathologicalPatternsInLinearTime) {
  EXPECT_EQ(VerdictOf(absl::StrCat("'", std::string(2000, 'a'), "'.matches('^(a+)+$b')")), "false");
  EXPECT_TRUE(absl::StrContains(VerdictOf("'a'.matches('((a{100}){100}){100}')"),
                                "invalid matches argument"));
}

}  // namespace
}  // namespace drasim::cel
