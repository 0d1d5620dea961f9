// Parts of a node's GPUs that an allocation of structured DRA stands for, as pods are charged with
// them.
#ifndef DRASIM_SIM_DRA_STRUCTURED_ALLOCATION_GRANTS_H_
#define DRASIM_SIM_DRA_STRUCTURED_ALLOCATION_GRANTS_H_

#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// An entry for each result whose device is published as a GPU of a node or an instance on one, in
// the order of the results. Of a shared device it is the part that the result consumes of the
// capacity `shares`, else of `memory`, rounded down; nothing if it consumes neither. Devices with
// admin access have no entry, since they belong to others. O(results).
DeviceGrants GrantsOfAllocation(const proto::kube::AllocationResultV1& result,
                                const ClusterState& cluster);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_ALLOCATION_GRANTS_H_
