// Functions on texts: search, change, split, regular expressions.
#ifndef DRASIM_POLICIES_CEL_TEXT_CALLS_H_
#define DRASIM_POLICIES_CEL_TEXT_CALLS_H_

#include "absl/types/span.h"
#include "policies/cel/call_context.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace re2 {
class RE2;
}

namespace drasim::cel {

// Calls a function whose first argument is a text or, of join, a list. An error of kNoSuchOverload
// without text for arguments of other types.
Value CallTextFunction(Function function, absl::Span<const Value> arguments,
                       const re2::RE2* pattern, CallContext* context);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_TEXT_CALLS_H_
