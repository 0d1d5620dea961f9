// Functions on lists: includes, isSorted, sum, min, max, indexOf, lastIndexOf.
#ifndef DRASIM_POLICIES_CEL_LIST_CALLS_H_
#define DRASIM_POLICIES_CEL_LIST_CALLS_H_

#include "absl/types/span.h"
#include "policies/cel/call_context.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// Calls a function of the list library; of includes, the target may be any value. An error of
// kNoSuchOverload without text for arguments of other types.
Value CallListFunction(Function function, absl::Span<const Value> arguments, CallContext* context);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_LIST_CALLS_H_
