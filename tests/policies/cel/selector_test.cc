// Verdicts and errors of expressions, on one device.

#include "policies/cel/selector.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/device_columns.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "tests/policies/cel/cel_device.h"
#include "tests/testing/data_text.h"

namespace drasim::cel {
namespace {

// Every row is an expression and the verdict, of which errors need only be contained.
void CheckVerdicts(absl::string_view section) {
  for (const auto& [expression, want] :
       TestRows<2>(section, "tests/policies/cel/selector_test.cc")) {
    const std::string verdict = VerdictOf(expression);
    if (want == "true" || want == "false") {
      EXPECT_EQ(verdict, want) << expression;
    } else {
      EXPECT_NE(verdict.find(want), std::string::npos) << expression << "\n  " << verdict;
    }
  }
}

TEST(CelSelector, ReadsTheDevice) { CheckVerdicts("Device"); }
TEST(CelSelector, FailsAsUpstream) { CheckVerdicts("Failures"); }
TEST(CelSelector, DecidesInSpiteOfErrors) { CheckVerdicts("Logic"); }
TEST(CelSelector, ComparesAndCalculates) { CheckVerdicts("Numbers"); }
TEST(CelSelector, ComparesQuantitiesAndVersions) { CheckVerdicts("Objects"); }
TEST(CelSelector, ChangesTexts) { CheckVerdicts("Texts"); }
TEST(CelSelector, LooksIntoLists) { CheckVerdicts("Lists"); }
TEST(CelSelector, ExpandsMacros) { CheckVerdicts("Macros"); }
TEST(CelSelector, HasOptionalValues) { CheckVerdicts("Optionals"); }
TEST(CelSelector, RefusesWhatIsIllTyped) { CheckVerdicts("Refused"); }

TEST(CelSelector, StopsAtTheCostLimit) {
  std::string nested = "true";
  for (const char* variable : {"a", "b", "c", "d", "e", "f", "g"}) {
    nested = absl::StrCat("[1,2,3,4,5,6,7,8,9,10].all(", variable, ", ", nested, ")");
  }
  EXPECT_EQ(VerdictOf(nested), "error: operation cancelled: actual cost limit exceeded");
}

TEST(CelSelector, StopsWhenListsDouble) {
  std::string doubled = "l0.size() > 0";
  for (int i = 60; i > 0; --i) {
    doubled = absl::StrCat("cel.bind(l", i, ", l", i - 1, " + l", i - 1, ", ", doubled, ")");
  }
  doubled = absl::StrCat("cel.bind(l0, [1, device.attributes['d'].one], ", doubled, ")");
  EXPECT_EQ(VerdictOf(doubled), "error: operation cancelled: actual cost limit exceeded");
}

TEST(CelSelector, CountsActualCost) {
  for (const auto& [expression, cost] : TestRows<2>("Costs")) {
    const absl::StatusOr<Program> program = Compile(expression, {});
    ASSERT_TRUE(program.ok()) << program.status();
    DeviceColumns columns;
    const DeviceRow row = columns.Add(TestDevice());
    DeviceSelector selector(&*program, &columns);
    EXPECT_EQ(absl::StrCat(selector.Explain(row).cost), cost) << expression;
  }
}

TEST(CelSelector, EvaluatesRowsOfAnyLayout) {
  const absl::StatusOr<Program> program =
      Compile("device.driver == 'd' && device.attributes['d'].n > 1", {});
  ASSERT_TRUE(program.ok());
  DeviceColumns columns;
  DeviceSelector selector(&*program, &columns);
  const auto add = [&](absl::string_view driver, absl::string_view name, int64_t number) {
    DeviceFacts facts;
    facts.driver = driver;
    facts.attributes = {{name, AttributeFacts::Kind::kInt, number, "", {}, {}}};
    return columns.Add(facts);
  };
  const std::vector<DeviceRow> rows = {add("d", "n", 1), add("d", "n", 2), add("e", "d/n", 2),
                                       add("d", "m", 2), add("d", "d/n", 3)};
  std::vector<Verdict> verdicts(rows.size());
  selector.Evaluate(rows, absl::MakeSpan(verdicts));
  const std::vector<Verdict> want = {Verdict::kFalse, Verdict::kTrue, Verdict::kFalse,
                                     Verdict::kError, Verdict::kTrue};
  EXPECT_EQ(verdicts, want);
  EXPECT_EQ(selector.Explain(rows[3]).error, "no such key: n");
}

TEST(CelSelector, FailsOnDevicesWithAnUnsupportedValue) {
  DeviceFacts facts = TestDevice();
  facts.attributes.push_back({"b", AttributeFacts::Kind::kNone, 0, "", {}, {}});
  facts.attributes.push_back({"a", AttributeFacts::Kind::kVersion, 0, "1.x", {}, {}});
  const absl::StatusOr<Program> program = Compile("true", {});
  DeviceColumns columns;
  const DeviceRow row = columns.Add(facts);
  DeviceSelector selector(&*program, &columns);
  EXPECT_EQ(selector.Explain(row).verdict, Verdict::kError);
  EXPECT_EQ(selector.Explain(row).error,
            "attribute a: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(CelSelector, AdvisesOnMissingKeysOnly) {
  EXPECT_EQ(WithAdvice("division by zero"), "division by zero");
  EXPECT_EQ(WithAdvice("no such key: a"),
            "no such key: a. consider using CEL optional chaining (.? followed by orValue()) or "
            "guarding the check with has() for optional fields");
}

}  // namespace
}  // namespace drasim::cel
