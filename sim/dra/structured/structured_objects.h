// Structured DRA's claims between the two forms that they have: objects of the control
// plane (model/kube/objects.h), and resource.k8s.io/v1 as the scheduler's rules read it
// (policies/dra). Both forms of a claim share its specification and its allocation.
#ifndef DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_OBJECTS_H_
#define DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_OBJECTS_H_

#include <cstdint>

#include "model/cluster_state.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/node_spec.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_ref.h"
#include "policies/dra/claiming_pod.h"

namespace drasim {

// The nodes that the selector selects. REQUIRES: a valid selector. O(nodes), or O(names) for one
// that only names nodes.
NodeSet NodesOfSelector(const proto::kube::NodeSelector& selector, const ClusterState& cluster);

// The claim as v1 has it, made when it is read; uid and version are its numbers. An owner is a pod,
// without its name.
ClaimRef ClaimToV1(Ref<ResourceClaim> claim);
// The object that a reference was made of; null for others.
Ref<ResourceClaim> ObjectOf(const ClaimRef& claim);
// The reverse of ClaimToV1. REQUIRES: a claim of ClaimToV1, perhaps changed.
Ref<ResourceClaim> ClaimFromV1(const ClaimRef& claim, const ClusterState& cluster, NamePool& names);
// The devices of an allocation, for the rest of the control plane; those that are GPUs of a node as
// grants (allocation_grants.h), as far as they are published now.
Ref<Allocation> AllocationFromV1(const AllocationRef& result, const ClusterState& cluster,
                                 NamePool& names);

// O(claims).
ClaimingPod ClaimingPodOf(const Pod& pod);
// Name and labels alone.
proto::kube::Node NodeToV1(const NodeSpec& node);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_STRUCTURED_OBJECTS_H_
