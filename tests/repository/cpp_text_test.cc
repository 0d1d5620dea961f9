#include "tests/repository/cpp_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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

// Names and first lines of the functions in `text`, such as "A::B:3 C:7".
std::string Functions(absl::string_view text) {
  const tidy::FunctionList list = tidy::FindFunctions(tidy::Tokenize(tidy::CodeOnly(text)));
  std::string names = list.balanced ? "" : "unbalanced";
  for (const tidy::FunctionSpan& function : list.functions) {
    absl::StrAppend(&names, names.empty() ? "" : " ", function.name, ":", function.first_line);
  }
  return names;
}

TEST(CppTextTest, FunctionsOfNamespaces) {
  EXPECT_EQ(Functions("namespace a::b {\nnamespace {\nint F() { return 1; }\n}\n}\n"), "F:3");
  EXPECT_EQ(Functions("extern \"C\" {\nint F() { return 1; }\n}\nextern \"C\" int G() {}\n"),
            "F:2 G:4");
  EXPECT_EQ(Functions("template <typename T, class U = int>\nstd::map<T, U> F(T t = {}) {}\n"
                      "std::function<void(int)> G() {}\nauto H() -> std::vector<int> {}\n"),
            "F:2 G:3 H:4");
  EXPECT_EQ(Functions("TEST(SuiteTest, Name) {\n  if (x) { y(); }\n}\n#if A\nvoid F() {\n}\n"
                      "#endif\n"),
            "SuiteTest.Name:1 F:5");
}

TEST(CppTextTest, FunctionsOfClasses) {
  EXPECT_EQ(Functions("class A final : public B<C> {\n public:\n  A() : b_{1}, c_(2) {}\n"
                      "  ~A() override {}\n  int F() const { return 1; }\n"
                      "  struct D { int x{3}; int G() {} };\n private:\n  int b_ = {4};\n};\n"),
            "A:3 ~A:4 F:5 G:6");
  EXPECT_EQ(Functions("A::A(int b)\n    : b_{b} {\n}\nbool A::operator==(const A& o) const {}\n"
                      "int A::operator()(int x) {}\nA& A::operator=(A&& o) {}\n"),
            "A::A:2 A::operator==:4 A::operator:5 A::operator=:6");
}

TEST(CppTextTest, OtherBracesAreNoFunctions) {
  EXPECT_EQ(Functions("enum class E : int { kA, kB };\nint k[] = {1, 2};\nstd::atomic<int> x{3};\n"
                      "const auto f = [](int a) { return a; };\nstruct S { int a = 1; } s;\n"),
            "");
  EXPECT_EQ(Functions("}\n"), "unbalanced");
  EXPECT_EQ(Functions("namespace a {\n"), "unbalanced");
}

TEST(CppTextTest, LastLineIsThatOfTheClosingBrace) {
  const tidy::FunctionList list =
      tidy::FindFunctions(tidy::Tokenize("int\nF()\n{\n  if (a) {\n  }\n}\n\nint b;\n"));
  ASSERT_EQ(list.functions.size(), 1u);
  EXPECT_EQ(list.functions[0].first_line, 3u);
  EXPECT_EQ(list.functions[0].last_line, 6u);
}

}  // namespace cpp_text_test
}  // namespace drasim
