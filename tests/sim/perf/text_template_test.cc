// The template language: what is printed, and that mistakes are placed. Outputs are those of Go's
// text/template.
#include "sim/perf/text_template.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/soak.h"

namespace drasim::perf {
namespace text_template_test {

TemplateInput InputWith(std::vector<std::pair<std::string, TemplateValue>> params = {}) {
  TemplateInput input;
  input.index = 7;
  input.count = 10;
  input.params = std::move(params);
  return input;
}

// The text, or the message of the error.
std::string Filled(absl::string_view text,
                   std::vector<std::pair<std::string, TemplateValue>> params = {}) {
  const absl::StatusOr<TextTemplate> parsed = TextTemplate::Parse(text, "t.yaml");
  if (!parsed.ok()) return std::string(parsed.status().message());
  const absl::StatusOr<std::string> filled = parsed->Fill(InputWith(std::move(params)));
  return filled.ok() ? *filled : std::string(filled.status().message());
}

TemplateValue ListOf(std::vector<TemplateValue> items) {
  TemplateValue list;
  list.kind = TemplateValue::Kind::kList;
  list.items = std::move(items);
  return list;
}

TEST(TextTemplateTest, KeepsTextAsItIs) {
  EXPECT_EQ(Filled(""), "");
  EXPECT_EQ(Filled("a: {b: 1}\n# }} { {\n"), "a: {b: 1}\n# }} { {\n");
}

TEST(TextTemplateTest, PrintsValues) {
  EXPECT_EQ(Filled("p-{{.Index}}/{{ .Count }}"), "p-7/10");
  EXPECT_EQ(Filled("{{.a}} {{.b}} {{.c}}", {{"a", TemplateValue::Text("x")},
                                            {"b", TemplateValue::Bool(true)},
                                            {"c", TemplateValue::Int(-3)}}),
            "x true -3");
  EXPECT_EQ(Filled("{{\"a\\\"b\\n\"}}{{`\\n`}}{{12}}{{-4}}{{true}}{{1.5}}"),
            "a\"b\n\\n12-4true1.5");
}

TEST(TextTemplateTest, TrimsBlanks) {
  EXPECT_EQ(Filled("a \n {{- .Index -}} \n b"), "a7b");
  EXPECT_EQ(Filled("a {{/* no - */}} b"), "a  b");
  EXPECT_EQ(Filled("a {{- /* no */ -}} b"), "ab");
  EXPECT_EQ(Filled("a {{-3}}"), "a -3");
}

TEST(TextTemplateTest, Computes) {
  EXPECT_EQ(Filled("{{DivideInt .Index 5}} {{div 30000 .Count}} {{Mod .Index 5}}"), "1 3000 2");
  EXPECT_EQ(Filled("{{DivideInt -7 2}} {{Mod -7 2}} {{AddInt -1 .Index}}"), "-3 -1 6");
  EXPECT_EQ(Filled("{{AddInt 0 .p}}", {{"p", TemplateValue::Text("1000")}}), "1000");
  EXPECT_EQ(Filled("{{.p | Int}}", {{"p", TemplateValue::Text("12")}}), "12");
  EXPECT_EQ(Filled("{{AddInt 1 (Mod .Index 4) | DivideInt 20}}"), "5");
}

// With a blank where Go has none; YAML reads both alike.
TEST(TextTemplateTest, WritesJson) {
  EXPECT_EQ(Filled("{{(or .none nil) | JSON}}"), "null");
  EXPECT_EQ(
      Filled("{{JSON .l}}", {{"l", ListOf({TemplateValue::Int(1), TemplateValue::Text("a\"b")})}}),
      "[1, \"a\\\"b\"]");
}

TEST(TextTemplateTest, TakesTheFirstThatDecides) {
  EXPECT_EQ(Filled("{{or .none 1}}{{or 2 3}}{{and 1 0}}{{and 4 5}}{{or 0 \"\"}}"), "1205");
  EXPECT_EQ(Filled("{{not 0}} {{not .Index}}"), "true false");
}

TEST(TextTemplateTest, Compares) {
  EXPECT_EQ(Filled("{{eq .Index 7}} {{eq .Index 1 7}} {{ne 1 2}} {{eq .s \"x\"}}",
                   {{"s", TemplateValue::Text("x")}}),
            "true true true true");
  EXPECT_EQ(Filled("{{lt 1 2}}{{le 2 2}}{{gt 1 2}}{{ge 2 2}} {{lt \"a\" \"b\"}}"),
            "truetruefalsetrue true");
  EXPECT_EQ(Filled("{{lt 1 \"b\"}}"),
            "t.yaml:1: lt: found a whole number and a text, expected two of a kind");
}

TEST(TextTemplateTest, Chooses) {
  EXPECT_EQ(Filled("{{if .p}}a{{else}}b{{end}}"), "b");
  EXPECT_EQ(Filled("{{if eq .Index 7}}a{{end}}"), "a");
  EXPECT_EQ(Filled("{{if eq .Index 1}}a{{else if eq .Index 7}}b{{else}}c{{end}}d"), "bd");
  EXPECT_EQ(Filled("{{if false}}a{{else if false}}b{{else}}c{{end}}d"), "cd");
}

TEST(TextTemplateTest, RepeatsOverNumbersAndLists) {
  EXPECT_EQ(Filled("{{range 3}}[{{.}}]{{end}}"), "[0][1][2]");
  EXPECT_EQ(Filled("{{range $i := 2}}{{$i}}{{end}}{{range 0}}x{{else}}none{{end}}"), "01none");
  EXPECT_EQ(Filled("{{range $i, $v := .l}}{{$i}}={{$v}};{{end}}",
                   {{"l", ListOf({TemplateValue::Text("a"), TemplateValue::Text("b")})}}),
            "0=a;1=b;");
  EXPECT_EQ(Filled("{{range .none}}x{{end}}"), "");
}

TEST(TextTemplateTest, KeepsVariablesInTheirBlock) {
  EXPECT_EQ(Filled("{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}"), "21");
  EXPECT_EQ(Filled("{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}"), "2");
  EXPECT_EQ(Filled("{{if true}}{{$x := 2}}{{end}}{{$x}}"), "t.yaml:1: unknown variable '$x'");
  EXPECT_EQ(Filled("{{$n := 0}}{{range $v := 4}}{{$n = AddInt $n $v}}{{end}}{{$n}}"), "6");
  EXPECT_EQ(Filled("{{$x = 1}}"), "t.yaml:1: unknown variable '$x'");
}

TEST(TextTemplateTest, FillsTheTemplateOfClaims) {
  const std::string text =
      "{{$n := (or .numRequests 1) | Int}}{{$s := (or .selectors nil) | JSON}}"
      "r:{{range $n}}\n- n: q{{.}}\n  s: {{$s}}{{end}}\n";
  EXPECT_EQ(Filled(text), "r:\n- n: q0\n  s: null\n");
  EXPECT_EQ(Filled(text, {{"numRequests", TemplateValue::Int(2)},
                          {"selectors", ListOf({TemplateValue::Text("c")})}}),
            "r:\n- n: q0\n  s: [\"c\"]\n- n: q1\n  s: [\"c\"]\n");
}

TEST(TextTemplateTest, PlacesMistakesOfValues) {
  EXPECT_EQ(Filled("a\nb: {{.none}}"), "t.yaml:2: the step gives no parameter 'none'");
  EXPECT_EQ(Filled("{{DivideInt 1 0}}"), "t.yaml:1: DivideInt: division by zero");
  EXPECT_EQ(Filled("\n\n{{Mod 1 (AddInt 1 -1)}}"), "t.yaml:3: Mod: division by zero");
  EXPECT_EQ(Filled("{{DivideInt -9223372036854775808 -1}}"),
            "t.yaml:1: DivideInt: the quotient is beyond 64 bits");
  EXPECT_EQ(Filled("{{AddInt 9223372036854775807 1}}"),
            "t.yaml:1: AddInt: the sum is beyond 64 bits");
  EXPECT_EQ(Filled("{{Int .none}}"), "t.yaml:1: Int: found nothing, expected a whole number");
  EXPECT_EQ(Filled("{{Int \"1500m\"}}"), "t.yaml:1: Int: found '1500m', expected a whole number");
  EXPECT_EQ(Filled("{{range 1000000000}}x{{end}}"),
            "t.yaml:1: range over 1000000000, expected at most 1000000 rounds in all");
  EXPECT_EQ(Filled("{{range 10000}}{{range 10000}}{{end}}{{end}}"),
            "t.yaml:1: range over 10000, expected at most 1000000 rounds in all");
  EXPECT_EQ(Filled("{{range \"abc\"}}x{{end}}"),
            "t.yaml:1: range over a text, expected a list or a whole number");
  EXPECT_EQ(Filled("{{AddInt 1}}"), "t.yaml:1: AddInt: found 1 arguments, expected 2");
}

TEST(TextTemplateTest, PlacesMistakesOfSyntax) {
  EXPECT_EQ(Filled("a\n{{.Index"), "t.yaml:2: the action has no end: expected }}");
  EXPECT_EQ(Filled("{{}}"), "t.yaml:1: found nothing, expected a value or a function");
  EXPECT_EQ(Filled("{{if 1}}a"), "t.yaml:1: the block has no end");
  EXPECT_EQ(Filled("\n{{end}}"), "t.yaml:2: found end or else without if or range");
  EXPECT_EQ(Filled("{{if 1}}{{else}}{{else}}{{end}}"), "t.yaml:1: found a second else");
  EXPECT_EQ(Filled("{{DivideInr 1 2}}"),
            "t.yaml:1: unknown function 'DivideInr' (did you mean 'DivideInt'?)");
  EXPECT_EQ(Filled("{{with .x}}{{end}}"), "t.yaml:1: 'with' is not supported");
  EXPECT_EQ(Filled("{{\"a}}"), "t.yaml:1: the text has no closing quote");
  EXPECT_EQ(Filled("{{1 2}}"), "t.yaml:1: found arguments of a value, expected a function");
  EXPECT_EQ(Filled("{{(AddInt 1 2}}"), "t.yaml:1: found no closing parenthesis");
  EXPECT_EQ(Filled("{{12ab}}"), "t.yaml:1: found '12ab', expected a number");
  EXPECT_EQ(Filled("{{.a}{{"), "t.yaml:1: unexpected '}'");
  EXPECT_EQ(Filled("{{/* a"), "t.yaml:1: the comment has no end: expected */");
}

TEST(TextTemplateTest, EndsDeepNesting) {
  std::string blocks;
  std::string parentheses = "{{";
  for (int i = 0; i < 5000; ++i) {
    blocks += "{{if 1}}";
    parentheses += "(";
  }
  EXPECT_EQ(Filled(blocks), "t.yaml:1: found too many blocks inside each other");
  EXPECT_EQ(Filled(parentheses + "}}"), "t.yaml:1: found too many parentheses inside each other");
  std::string chain = "{{if 0}}";
  for (int i = 0; i < 5000; ++i) chain += "{{else if 0}}";
  EXPECT_EQ(Filled(chain), "t.yaml:1: found too many blocks inside each other");
}

TEST(TextTemplateTest, KnowsWhetherObjectsDiffer) {
  const auto uses = [](absl::string_view text) {
    return TextTemplate::Parse(text, "t")->uses_index();
  };
  EXPECT_FALSE(uses("a: {{.Count}} {{.p}}"));
  EXPECT_TRUE(uses("a: {{.Index}}"));
  EXPECT_TRUE(uses("{{if 1}}{{else}}{{range 2}}{{AddInt 1 (Mod .Index 2)}}{{end}}{{end}}"));
}

// Random words of the language, and random damage to a whole template: an answer or a placed error,
// never a crash.
TEST(TextTemplateTest, SurvivesAnyText) {
  const std::vector<std::string> kWords = {"{{",
                                           "}}",
                                           "{{-",
                                           "-}}",
                                           "if",
                                           "else",
                                           "end",
                                           "range",
                                           ".Index",
                                           ".p",
                                           "$x",
                                           ":=",
                                           "=",
                                           "|",
                                           "(",
                                           ")",
                                           "AddInt",
                                           "Mod",
                                           "or",
                                           "JSON",
                                           "1",
                                           "0",
                                           "-3",
                                           "\"a\"",
                                           "`b`",
                                           " ",
                                           " ",
                                           "\n",
                                           "nil",
                                           "/*",
                                           "*/",
                                           ",",
                                           ".",
                                           "$",
                                           "text",
                                           "1000000",
                                           "eq",
                                           "not",
                                           "true",
                                           "\"",
                                           "9223372036854775807"};
  const std::string whole =
      "{{$n := (or .p 1) | Int}}a: {{range $i, $v := $n}}{{if eq $i 1}}x{{else if .}}{{$v}}{{else}}"
      "y{{end}}{{end}} {{DivideInt .Index 5}} {{- /* c */ -}} {{JSON .p}}";
  for (uint64_t seed = 0; seed < SoakSeeds(3000); ++seed) {
    Random random(seed, "template");
    std::string text;
    if (random.Below(2) == 0) {
      const uint64_t words = random.Below(30);
      for (uint64_t i = 0; i < words; ++i) {
        text += kWords[static_cast<size_t>(random.Below(kWords.size()))];
        if (random.Below(2) == 0) text += " ";
      }
    } else {
      text = whole;
      const uint64_t changes = 1 + random.Below(4);
      for (uint64_t i = 0; i < changes && !text.empty(); ++i) {
        const auto at = static_cast<size_t>(random.Below(text.size()));
        const uint64_t what = random.Below(3);
        if (what == 0) {
          text.erase(at, 1 + static_cast<size_t>(random.Below(5)));
        } else if (what == 1) {
          text[at] = static_cast<char>(random.Below(256));
        } else {
          text.insert(at, kWords[static_cast<size_t>(random.Below(kWords.size()))]);
        }
      }
    }
    const absl::StatusOr<TextTemplate> parsed = TextTemplate::Parse(text, "t.yaml");
    absl::Status status = parsed.status();
    if (parsed.ok()) {
      const absl::StatusOr<std::string> first =
          parsed->Fill(InputWith({{"p", TemplateValue::Int(3)}}));
      const absl::StatusOr<std::string> again =
          parsed->Fill(InputWith({{"p", TemplateValue::Int(3)}}));
      ASSERT_EQ(first.ok(), again.ok()) << text;
      if (first.ok()) ASSERT_EQ(*first, *again) << text;
      status = first.status();
    }
    if (!status.ok()) {
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
      ASSERT_EQ(status.message().substr(0, 7), "t.yaml:") << text << "\n" << status.message();
    }
  }
}

}  // namespace text_template_test
}  // namespace drasim::perf
