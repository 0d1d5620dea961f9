// The allocator's verdicts by CEL.

#include "policies/allocator/cel_verdicts.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_columns.h"

namespace drasim {
namespace {

DeviceRow AddNumbered(DeviceColumns* columns, int64_t number) {
  DeviceFacts facts;
  facts.driver = "d";
  facts.attributes = {{"n", AttributeFacts::Kind::kInt, number, "", {}, {}}};
  return columns->Add(facts);
}

TEST(CelVerdicts, NamesEqualTextsOnce) {
  DeviceColumns columns;
  const std::shared_ptr<SelectorVerdicts> verdicts = MakeCelVerdicts(&columns, DraFeatures());
  const int selector = verdicts->Selector("true");
  EXPECT_EQ(verdicts->Selector("false"), selector + 1);
  EXPECT_EQ(verdicts->Selector("true"), selector);
  EXPECT_EQ(verdicts->CompileError(selector), "");
  EXPECT_EQ(verdicts->CompileError(verdicts->Selector("nope")),
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container "
            "'')\n | nope\n | ^");
}

TEST(CelVerdicts, DecidesEveryRowInAnyOrder) {
  DeviceColumns columns;
  CelVerdicts verdicts(&columns);
  const int selector = verdicts.Selector("device.attributes['d'].n % 3 == 0");
  for (int64_t n = 0; n < 50; ++n) AddNumbered(&columns, n);
  for (const uint32_t row : {0U, 49U, 1U, 2U, 3U, 30U, 10U, 29U}) {
    EXPECT_EQ(verdicts.Evaluate(selector, DeviceRow(row)),
              row % 3 == 0 ? SelectorVerdict::kYes : SelectorVerdict::kNo);
  }
  // Rows that came later.
  for (int64_t n = 50; n < 2000; ++n) AddNumbered(&columns, n);
  for (uint32_t row = 0; row < 2000; ++row) {
    ASSERT_EQ(verdicts.Evaluate(selector, DeviceRow(row)),
              row % 3 == 0 ? SelectorVerdict::kYes : SelectorVerdict::kNo);
  }
}

TEST(CelVerdicts, TellsWhyAnEvaluationFails) {
  DeviceColumns columns;
  CelVerdicts verdicts(&columns);
  const DeviceRow row = AddNumbered(&columns, 1);
  const int selector = verdicts.Selector("device.attributes['d'].m == 1");
  EXPECT_EQ(verdicts.Evaluate(selector, row), SelectorVerdict::kError);
  EXPECT_EQ(verdicts.ErrorText(selector, row),
            "no such key: m. consider using CEL optional chaining (.? followed by orValue()) or "
            "guarding the check with has() for optional fields");
}

TEST(CelVerdicts, DerivesAttributes) {
  DeviceColumns columns;
  CelVerdicts verdicts(&columns);
  const DeviceRow row = AddNumbered(&columns, 7);
  const auto derive = [&](absl::string_view expression) -> std::string {
    const absl::StatusOr<DeviceValue> value = verdicts.Derive(expression, row);
    if (!value.ok()) return std::string(value.status().message());
    const int kind = static_cast<int>(value->kind);
    switch (value->kind) {
      case DeviceValue::Kind::kString:
        return columns.texts().Text(TextId(static_cast<uint32_t>(value->bits)));
      case DeviceValue::Kind::kVersion:
        return columns.version(value->bits).value.ToString();
      case DeviceValue::Kind::kInts:
        return absl::StrCat("list of ", columns.list(value->bits).size());
      default:
        return absl::StrCat(kind, ": ", value->bits);
    }
  };
  EXPECT_EQ(derive("device.attributes['d'].n + 1"),
            absl::StrCat(static_cast<int>(DeviceValue::Kind::kInt), ": 8"));
  EXPECT_EQ(derive("true"), absl::StrCat(static_cast<int>(DeviceValue::Kind::kBool), ": 1"));
  EXPECT_EQ(derive("device.driver + '-' + string(7)"), "d-7");
  EXPECT_EQ(derive("semver('1.2.3+b')"), "1.2.3+b");
  EXPECT_EQ(derive("[1, device.attributes['d'].n]"), "list of 2");
  EXPECT_EQ(derive("device.attributes['d'].m"), "no such key: m");
  EXPECT_EQ(derive("dyn(null)"),
            "CEL result of type null_type could not be converted to an attribute value");
  EXPECT_EQ(derive("1.5"), "must evaluate to bool or the unknown type, not double");
}

}  // namespace
}  // namespace drasim
