// The device on which the tests of CEL evaluate expressions.
#ifndef DRASIM_TESTS_POLICIES_CEL_CEL_DEVICE_H_
#define DRASIM_TESTS_POLICIES_CEL_CEL_DEVICE_H_

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_columns.h"
#include "model/quantity.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "policies/cel/selector.h"

namespace drasim::cel {

// Driver d, with an attribute of every type in the driver's domain, and one of another domain.
inline DeviceFacts TestDevice() {
  using Kind = AttributeFacts::Kind;
  DeviceFacts facts;
  facts.driver = "d";
  facts.allow_multiple_allocations = true;
  facts.attributes = {
      {"yes", Kind::kBool, 1, "", {}, {}},
      {"no", Kind::kBool, 0, "", {}, {}},
      {"one", Kind::kInt, 1, "", {}, {}},
      {"text", Kind::kString, 0, "fish", {}, {}},
      {"version", Kind::kVersion, 0, "1.2.3-rc.1+b7", {}, {}},
      {"bools", Kind::kBools, 0, "", {1, 0}, {}},
      {"ints", Kind::kInts, 0, "", {3, 1, 2}, {}},
      {"texts", Kind::kStrings, 0, "", {}, {"fish", "bird"}},
      {"versions", Kind::kVersions, 0, "", {}, {"1.0.0", "2.0.0"}},
      {"other.com/text", Kind::kString, 0, "\xc3\xa4pfel", {}, {}},
  };
  facts.capacities = {{"memory", *Quantity::Parse("10Gi")}, {"kilo", *Quantity::Parse("1024")}};
  return facts;
}

// The answer of VerdictOf when Evaluate and Explain disagree, which they must not.
inline constexpr char kDiffer[] = "Evaluate and Explain differ";

// "true", "false", "error: WHY" or, of an expression that does not compile, "refused: WHY".
inline std::string VerdictOf(absl::string_view expression, const CompileOptions& options = {}) {
  const absl::StatusOr<Program> program = Compile(expression, options);
  if (!program.ok()) return absl::StrCat("refused: ", program.status().message());
  DeviceColumns columns;
  const DeviceRow row = columns.Add(TestDevice());
  DeviceSelector selector(&*program, &columns);
  const Evaluation evaluation = selector.Explain(row);
  // A column is evaluated by shorter ways than one device.
  std::array<Verdict, 1> verdicts;
  selector.Evaluate({row}, absl::MakeSpan(verdicts));
  if (verdicts[0] != evaluation.verdict) return kDiffer;
  if (evaluation.verdict == Verdict::kError) return absl::StrCat("error: ", evaluation.error);
  return evaluation.verdict == Verdict::kTrue ? "true" : "false";
}

}  // namespace drasim::cel

#endif  // DRASIM_TESTS_POLICIES_CEL_CEL_DEVICE_H_
