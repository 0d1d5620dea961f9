// Feature gates of structured DRA by name, for the allocator and for the scheduler plugin.
#ifndef DRASIM_POLICIES_DRA_STRUCTURED_GATES_H_
#define DRASIM_POLICIES_DRA_STRUCTURED_GATES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "policies/allocator/allocator_options.h"
#include "policies/dra/structured_cycle.h"

namespace drasim {

// Sets what the gates say ("DRAConsumableCapacity"), on top of the defaults of the allocator's
// release, and picks the variant of the allocator that knows them. REQUIRES: the allocator's
// features are DefaultDraFeatures of its release. `*taint_rules`:
// whether DeviceTaintRules count. InvalidArgument for an unknown gate.
absl::Status SetDraGates(const std::map<std::string, bool>& gates, AllocatorOptions* allocator,
                         StructuredOptions* plugin, bool* taint_rules);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_STRUCTURED_GATES_H_
