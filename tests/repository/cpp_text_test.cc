#include "tests/repository/cpp_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace drasim {
namespace cpp_text_test {

TEST(CppTextTest, CommentsAndLiteralsAreBlanked) {
  EXPECT_EQ(tidy::CodeOnly("a // b\nc"), "a     \nc");
  EXPECT_EQ(tidy::CodeOnly("a /* b\n c */ d"), "a     \n      d");
  EXPECT_EQ(tidy::CodeOnly("a /* b"), "a     ");
  EXPECT_EQ(tidy::CodeOnly("f(\"a\\\"//\", 'c', '\\'') // d"), "f(\"     \", ' ', '  ')     ");
  EXPECT_EQ(tidy::CodeOnly("x = 1'000'000; y = 'a';"), "x = 1'000'000; y = ' ';");
  EXPECT_EQ(tidy::CodeOnly("s = R\"z(a\")\n\"b)z\" + t;"), "s = R\"     \n    \" + t;");
  EXPECT_EQ(tidy::CodeOnly("s = R\"(a"), "s = R\"  ");
  EXPECT_EQ(tidy::CodeOnly("#error don't\nint a;"), "#error don  \nint a;");
}

TEST(CppTextTest, Tokens) {
  std::string text;
  for (const tidy::Token& token : tidy::Tokenize(
           tidy::CodeOnly("#define A \\\n  b\nstd::c->d >>= 1'0.5f; R\"(e\nf)\" 'g' /*\n*/ h"))) {
    absl::StrAppend(&text, token.line, token.directive ? "#" : ":", token.text, " ");
  }
  EXPECT_EQ(text,
            "1## 1#define 1#A 2#b 3:std 3::: 3:c 3:-> 3:d 3:> 3:>= 3:1'0.5f 3:; 3:R 3:\"\" 4:\"\" "
            "5:h ");
}

}  // namespace cpp_text_test
}  // namespace drasim
