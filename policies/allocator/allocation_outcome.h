// AllocationOutcome: the allocator's verdict on one node.
#ifndef DRASIM_POLICIES_ALLOCATOR_ALLOCATION_OUTCOME_H_
#define DRASIM_POLICIES_ALLOCATOR_ALLOCATION_OUTCOME_H_

#include <cstdint>

namespace drasim {

enum class AllocationOutcome : uint8_t {
  kAllocated,
  kDoesNotFit,
  kNodeError,  // concerns this node alone; others may still fit
  kError,      // ends the scheduling attempt
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ALLOCATION_OUTCOME_H_
