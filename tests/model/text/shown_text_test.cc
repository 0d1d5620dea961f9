#include "model/text/shown_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace drasim {
namespace shown_text_test {

TEST(ShownTextTest, EscapesWhatIsNoText) {
  EXPECT_EQ(ShownText("plain caf\xc3\xa9"), "plain caf\xc3\xa9");
  EXPECT_EQ(ShownText("it's \"so\"\\"), "it\\'s \\\"so\\\"\\\\");
  EXPECT_EQ(ShownText(absl::string_view("a\0b\n\x7f", 5)), "a\\x00b\\n\\x7f");
  // Bytes that are not UTF-8, also ahead of what looks like a digit of the escape.
  EXPECT_EQ(ShownText("\xff\xfe"
                      "1\x80"),
            "\\xff\\xfe1\\x80");
  EXPECT_EQ(ShownText("caf\xe9"), "caf\\xe9");
}

TEST(ShownTextTest, CutsLongText) {
  EXPECT_EQ(ShownText("abc", 3), "abc");
  EXPECT_EQ(ShownText("abcd", 3), "abc...");
  EXPECT_EQ(ShownText(std::string(1 << 20, 'x')), std::string(60, 'x') + "...");
  // A character that begins ahead of the limit is shown whole.
  EXPECT_EQ(ShownText("ab\xc3\xa9g", 3), "ab\xc3\xa9...");
}

TEST(ListTextTest, ShowsTheFirstAndCountsTheOthers) {
  EXPECT_EQ(ListText({}), "");
  EXPECT_EQ(ListText({"a"}), "a");
  EXPECT_EQ(ListText({"a", "b", "c"}, 3), "a, b, c");
  EXPECT_EQ(ListText({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(ListText({"a", "b"}, 0), "2 more");
  std::vector<std::string> many;
  for (int i = 0; i < 100'000; ++i) many.push_back(absl::StrCat("m", i));
  EXPECT_EQ(ListText(many, 3), "m0, m1, m2 and 99,997 more");
  EXPECT_EQ(ListText({std::string(100, 'x'), "\x01"}),
            absl::StrCat(std::string(60, 'x'), "..., \\x01"));
}

TEST(GroupedDigitsTest, ThreeByThree) {
  EXPECT_EQ(GroupedDigits(0), "0");
  EXPECT_EQ(GroupedDigits(999), "999");
  EXPECT_EQ(GroupedDigits(1000), "1,000");
  EXPECT_EQ(GroupedDigits(12'345'678), "12,345,678");
}

}  // namespace shown_text_test
}  // namespace drasim
