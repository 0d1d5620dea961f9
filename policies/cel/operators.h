// Names that the syntax tree has for operators and for the variables of macros.
#ifndef DRASIM_POLICIES_CEL_OPERATORS_H_
#define DRASIM_POLICIES_CEL_OPERATORS_H_

#include "absl/strings/string_view.h"

namespace drasim::cel {

// Names of operators.
namespace ops {
inline constexpr absl::string_view kConditional = "_?_:_";
inline constexpr absl::string_view kOr = "_||_";
inline constexpr absl::string_view kAnd = "_&&_";
inline constexpr absl::string_view kNot = "!_";
inline constexpr absl::string_view kNegate = "-_";
inline constexpr absl::string_view kEqual = "_==_";
inline constexpr absl::string_view kNotEqual = "_!=_";
inline constexpr absl::string_view kLess = "_<_";
inline constexpr absl::string_view kLessEqual = "_<=_";
inline constexpr absl::string_view kGreater = "_>_";
inline constexpr absl::string_view kGreaterEqual = "_>=_";
inline constexpr absl::string_view kIn = "@in";
inline constexpr absl::string_view kAdd = "_+_";
inline constexpr absl::string_view kSubtract = "_-_";
inline constexpr absl::string_view kMultiply = "_*_";
inline constexpr absl::string_view kDivide = "_/_";
inline constexpr absl::string_view kModulo = "_%_";
inline constexpr absl::string_view kIndex = "_[_]";
inline constexpr absl::string_view kOptIndex = "_[?_]";
inline constexpr absl::string_view kOptSelect = "_?._";
inline constexpr absl::string_view kNotStrictlyFalse = "@not_strictly_false";
}  // namespace ops

// The accumulator that macros use; no expression can name it.
inline constexpr absl::string_view kResultVariable = "@result";

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_OPERATORS_H_
