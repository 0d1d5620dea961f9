// The policy `topology` of structured DRA's allocator: devices of a pod close to one another.
//
// Fewest NUMA nodes, then fewest PCIe roots: the smallest number of values of
// resource.kubernetes.io/numaNode (or pcieRoot) of which every device has one. A device may list
// several, as a CPU lists the roots of its socket: then it is close to the devices of any of them,
// be they another driver's. Devices that lack the attribute count nowhere. Of equal solutions,
// those on the NUMA nodes with the fewest free devices count, which keeps whole ones whole.
#ifndef DRASIM_POLICIES_CHOICE_TOPOLOGY_CHOICE_H_
#define DRASIM_POLICIES_CHOICE_TOPOLOGY_CHOICE_H_

#include <memory>

#include "policies/allocator/choice_policy.h"
#include "policies/choice/choice_policy_options.h"

namespace drasim {

std::unique_ptr<ChoicePolicy> MakeTopologyChoice(const ChoicePolicyOptions& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_TOPOLOGY_CHOICE_H_
