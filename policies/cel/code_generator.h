// From a checked syntax tree to instructions.
#ifndef DRASIM_POLICIES_CEL_CODE_GENERATOR_H_
#define DRASIM_POLICIES_CEL_CODE_GENERATOR_H_

#include "absl/status/status.h"
#include "policies/cel/ast.h"
#include "policies/cel/checker.h"
#include "policies/cel/program.h"

namespace drasim::cel {

// Fills code, constants, paths, patterns and registers of `program`, whose heap is set. Constant
// calls are made now. InvalidArgument for constants that upstream refuses when it plans a program:
// patterns that are none, and conversions that fail.
absl::Status Generate(const Ast& ast, const CheckedAst& checked, Program* program);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CODE_GENERATOR_H_
