// From the text of a CEL expression to its syntax tree.
//
// Macros become what cel-go 0.29 makes of them, since costs are counted on that: has, all, exists,
// exists_one, map and filter, and cel.bind. The operators are calls of the names in `ops`.
//
// Source of the rules: the grammar of cel-spec, and cel-go's parser for limits and errors.
#ifndef DRASIM_POLICIES_CEL_PARSER_H_
#define DRASIM_POLICIES_CEL_PARSER_H_

#include "absl/strings/string_view.h"
#include "policies/cel/ast.h"
#include "policies/cel/source_error.h"
#include "policies/cel/value.h"

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

// Expressions nest at most so deep, as in cel-go: brackets, and chains of one operator other than
// && and ||.
inline constexpr int kMaxDepth = 250;

// Fills `ast` from ast->source; literals with escapes go to `heap`. False, with the first mistake
// in `error`, if the text is no expression or uses a macro or form that is not supported.
// O(length).
bool Parse(Ast* ast, Heap* heap, SourceError* error);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_PARSER_H_
