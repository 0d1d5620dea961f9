// Conversions between CEL's types, and Go's names of them.
#ifndef DRASIM_POLICIES_CEL_CONVERSIONS_H_
#define DRASIM_POLICIES_CEL_CONVERSIONS_H_

#include "absl/strings/string_view.h"
#include "model/quantity.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// Bounds of the doubles that are integers of 64 bits.
inline constexpr double kTwoTo63 = 9223372036854775808.0;
inline constexpr double kTwoTo64 = 18446744073709551616.0;

// int(x), uint(x), double(x), string(x), bytes(x), bool(x). An error of kNoSuchOverload without
// text for values of other types.
Value Convert(Function function, const Value& value, Heap* heap);

// A quantity as a double; infinite beyond 10^24.
double ApproximateDouble(const Quantity& quantity);

// The type of a value in the words of upstream's messages: "types.Bool", "cel.Semver".
absl::string_view GoTypeName(const Value& value);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CONVERSIONS_H_
