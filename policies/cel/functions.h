// The functions of CEL that device selectors may call, with their overloads.
//
// Source: the standard environment of cel-go 0.29, and the libraries that k8s.io/apiserver 1.37
// adds to it (quantity, semver, regex, lists, strings v2, optional types).
#ifndef DRASIM_POLICIES_CEL_FUNCTIONS_H_
#define DRASIM_POLICIES_CEL_FUNCTIONS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim::cel {

enum class Function : uint8_t {
  kNone,
  kConditional,
  kOr,
  kAnd,
  kNot,
  kNegate,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kIndex,
  kOptIndex,
  kOptSelect,
  kNotStrictlyFalse,
  // Standard functions.
  kSize,
  kContains,
  kStartsWith,
  kEndsWith,
  kMatches,
  kToInt,
  kToUint,
  kToDouble,
  kToString,
  kToBytes,
  kToBool,
  kToDyn,
  kTypeOf,
  // Quantities and versions.
  kQuantity,
  kIsQuantity,
  kSign,
  kIsInteger,
  kAsInteger,
  kAsApproximateFloat,
  kPlus,
  kMinus,
  kCompareTo,
  kIsGreaterThan,
  kIsLessThan,
  kSemver,
  kIsSemver,
  kMajor,
  kMinor,
  kPatch,
  // Regular expressions.
  kFind,
  kFindAll,
  // Lists.
  kIsSorted,
  kSum,
  kMin,
  kMax,
  kIndexOf,
  kLastIndexOf,
  kIncludes,
  // Strings.
  kCharAt,
  kJoin,
  kLowerAscii,
  kUpperAscii,
  kTrim,
  kReplace,
  kSplit,
  kSubstring,
  // Optional values.
  kOptionalOf,
  kOptionalOfNonZero,
  kOptionalNone,
  kOptionalValue,
  kOptionalHasValue,
  kOptionalOr,
  kOptionalOrValue,
};

// The rule by which the cost of a call grows; see cost.cc.
enum class CostRule : uint8_t {
  kOne,
  kArgument,  // length of the first argument
  kInList,    // items of the second argument
  kShorter,   // length of the shorter argument
  kConcat,    // length of both arguments
  kConcatLists,
  kProduct,  // length of text times length of the searched text
  kRegex,
  kLogic,
  kConditional,
  kIndexList,
  kIndexMap,
  kScan,  // items of the target, with their texts
  kIncludes,
  kTransform,  // length of the target, which is also the result's
  kReplace,
  kSplit,
  kJoin,
  kFind,
  kFixed,  // one, whatever the overload
  kToBytes,
  kToText,
};

struct Overload {
  bool member = false;
  CostRule cost = CostRule::kOne;
  // Parameters, a colon and the result, as letters: b bool, i int, u uint, d double, s string,
  // y bytes, q quantity, v version, D dyn, L list of, M map of, O optional of, T type of, A and B
  // type parameters. "LAA:i" is (list(A), A) -> int.
  const char* signature = "";
};

struct FunctionInfo {
  absl::string_view name;
  Function function = Function::kNone;
  absl::Span<const Overload> overloads;
};

// Null for names that no supported function has. O(1).
const FunctionInfo* FindFunction(absl::string_view name);

// Whether upstream has a function of this name that drasim does not support.
bool IsUnsupportedFunction(absl::string_view name);

// Whether some of the names above begin with `name` and a dot: "sets".
bool IsUnsupportedNamespace(absl::string_view name);

// The name of a function in CEL.
absl::string_view FunctionName(Function function);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_FUNCTIONS_H_
