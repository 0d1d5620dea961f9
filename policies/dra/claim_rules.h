// Rules about single claims of resource.k8s.io/v1 (k8s.io/dynamic-resource-allocation/resourceclaim
// and the plugin dynamicresources, release 1.37.2).
#ifndef DRASIM_POLICIES_DRA_CLAIM_RULES_H_
#define DRASIM_POLICIES_DRA_CLAIM_RULES_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claiming_pod.h"

namespace drasim {

// Consumers that a claim can have at a time.
inline constexpr int kMaxClaimConsumers = 256;

inline bool IsAllocatedClaim(const proto::kube::ResourceClaimV1& claim) {
  return claim.status().has_allocation();
}

bool CanBeReserved(const proto::kube::ResourceClaimV1& claim);

// "default/claim-0"; "claim-0" without a namespace.
std::string ClaimKey(const ClaimRef& claim);

// The claim as a holder of devices: its UID, or its key without one.
std::string HolderOf(const ClaimRef& claim);

// The claims of the pod's entries, in order; an entry for which no claim was needed is passed over.
// The error's message is upstream's: a claim that is missing, in deletion or another owner's.
// O(entries).
absl::Status ForEachPodClaim(const ClaimingPod& pod, const ClaimCache& cache,
                             absl::FunctionRef<void(const ClaimRef&)> visit);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_RULES_H_
