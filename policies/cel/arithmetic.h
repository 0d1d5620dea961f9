// The operators + - * / % of CEL.
#ifndef DRASIM_POLICIES_CEL_ARITHMETIC_H_
#define DRASIM_POLICIES_CEL_ARITHMETIC_H_

#include "policies/cel/call_context.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// left FUNCTION right, with its cost: numbers of one kind, and sums of texts or lists. An error for
// overflow, for a division by zero, and for other types.
Value Arithmetic(Function function, const Value& left, const Value& right, CallContext* context);

// -value
Value Negate(const Value& value);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_ARITHMETIC_H_
