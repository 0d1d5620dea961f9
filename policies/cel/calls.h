// The functions of CEL at run time, with their actual costs.
//
// Source of the rules: cel-go 0.29 (common/types, interpreter/runtimecost, ext/strings) and the
// libraries of k8s.io/apiserver 1.37.
#ifndef DRASIM_POLICIES_CEL_CALLS_H_
#define DRASIM_POLICIES_CEL_CALLS_H_

#include "absl/types/span.h"
#include "policies/cel/call_context.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace re2 {
class RE2;
}

namespace drasim::cel {

// Calls a function with arguments, none of which is an error. `pattern` is the automaton of a
// constant regular expression, or null.
Value CallFunction(Function function, absl::Span<const Value> arguments, const re2::RE2* pattern,
                   CallContext* context);

// container[key]; `optional` gives an optional value instead of an error for missing keys.
Value IndexValue(const Value& container, const Value& key, bool optional, CallContext* context);
// has(container.key)
Value HasField(const Value& container, const Value& key, CallContext* context);
// key in container
Value InContainer(const Value& key, const Value& container, CallContext* context);

// The keys of a map, the items of a list; an error for other values.
Value RangeOf(const Value& value, CallContext* context);

// "no such overload: NAME(TYPES)".
Value NoOverloadFor(Function function, absl::Span<const Value> arguments, Heap* heap);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CALLS_H_
