// The type checker of device selectors.
//
// Source of the rules: cel-go 0.29's checker, and the declarations of
// k8s.io/dynamic-resource-allocation v0.37.2 (cel).
#ifndef DRASIM_POLICIES_CEL_CHECKER_H_
#define DRASIM_POLICIES_CEL_CHECKER_H_

#include <cstdint>
#include <vector>

#include "policies/cel/ast.h"
#include "policies/cel/functions.h"
#include "policies/cel/source_error.h"
#include "policies/cel/types.h"

namespace drasim::cel {

// The declared variable `device`.
struct DeviceDeclaration {
  bool multiple_allocations = true;  // has the field allowMultipleAllocations
  bool list_attributes = true;       // attributes are dyn, not any; the function includes exists
};

// A call's function, and those of its overloads that its arguments may mean: bit i is overload i.
struct CheckedCall {
  const FunctionInfo* function = nullptr;
  uint32_t overloads = 0;
  bool qualified = false;  // optional.of(x): the target is the first half of the name
};

struct CheckedAst {
  TypeTable types;
  std::vector<CheckedCall> calls;  // by node
};

// Sets the type of every node of `ast`. Returns the mistakes; none if the expression is well-typed.
std::vector<SourceError> Check(const DeviceDeclaration& device, Ast* ast, CheckedAst* checked);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CHECKER_H_
