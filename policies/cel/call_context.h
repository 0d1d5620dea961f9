// The state that an evaluation shares with the functions that it calls.
#ifndef DRASIM_POLICIES_CEL_CALL_CONTEXT_H_
#define DRASIM_POLICIES_CEL_CALL_CONTEXT_H_

#include <cstdint>

#include "policies/cel/row_view.h"
#include "policies/cel/value.h"

namespace drasim::cel {

// The state of one evaluation.
struct CallContext {
  Heap* heap = nullptr;
  const RowView* row = nullptr;  // null while constants are folded
  uint64_t cost = 0;             // in CEL's units
  // Values and characters copied, and patterns compiled, which CEL's units do not cover.
  uint64_t work = 0;
};

// The most work of one evaluation; more of it is an error like that of the cost limit.
inline constexpr uint64_t kWorkLimit = 20'000'000;

// The number of entries, items or characters that the cost of a value is counted by.
uint64_t SizeForCost(const Value& value, const CallContext& context);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CALL_CONTEXT_H_
