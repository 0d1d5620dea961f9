// Brings the ResourceSlices of a pool to the state that a driver wants: the rules of the
// ResourceSlice controller in the library of DRA drivers
// (k8s.io/dynamic-resource-allocation/resourceslice, release 1.37).
//
//  * A slice stays the one with its name, which begins with its index in the pool.
//  * If no slice is new and at most one has changed, the pool keeps its generation: one PUT.
//  * Otherwise the generation rises, and every slice is written.
//  * Slices of older generations, and those that are not wanted any more, are deleted.
//  * Calls are made one after the other: DELETE, PUT, POST. Until the last one the pool is
//    incomplete for everybody who watches.
#ifndef DRASIM_SIM_DRA_STRUCTURED_POOL_SYNC_H_
#define DRASIM_SIM_DRA_STRUCTURED_POOL_SYNC_H_

#include <vector>

#include "absl/types/span.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/api_types.h"

namespace drasim {

// `wanted`: the slices of the pool in their order, of the generation with which a pool begins.
// `present`: those that there are, in any order. No calls when nothing differs. O(devices).
std::vector<ApiRequest> PoolCalls(std::vector<proto::kube::ResourceSlice> wanted,
                                  absl::Span<const Ref<ResourceSliceObject>> present,
                                  NamePool& names);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_POOL_SYNC_H_
