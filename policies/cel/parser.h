// From the text of a CEL expression to its syntax tree.
//
// Macros become what cel-go 0.29 makes of them, since costs are counted on that: has, all, exists,
// exists_one, map and filter, and cel.bind. The operators are calls of the names in
// operators.h.
//
// Source of the rules: the grammar of cel-spec, and cel-go's parser for limits and errors.
#ifndef DRASIM_POLICIES_CEL_PARSER_H_
#define DRASIM_POLICIES_CEL_PARSER_H_

#include "policies/cel/ast.h"
#include "policies/cel/source_error.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// Expressions nest at most so deep, as in cel-go: brackets, and chains of one operator other than
// && and ||.
inline constexpr int kMaxDepth = 250;

// Fills `ast` from ast->source; literals with escapes go to `heap`. False, with the first mistake
// in `error`, if the text is no expression or uses a macro or form that is not supported.
// O(length).
bool Parse(Ast* ast, Heap* heap, SourceError* error);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_PARSER_H_
