// The operators + - * / % of CEL.
#ifndef DRASIM_POLICIES_CEL_ARITHMETIC_H_
#define DRASIM_POLICIES_CEL_ARITHMETIC_H_

#include "policies/cel/call_context.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// left OPERATOR right, of two values of one type: integers with errors for overflow and division by
// zero, doubles, and for + texts, bytes and lists. Adds the actual cost.
Value Arithmetic(Function function, const Value& left, const Value& right, CallContext* context);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_ARITHMETIC_H_
