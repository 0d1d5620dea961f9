// Queueing hints of DynamicResources: whether a change of a claim or of a pod may help a pod that
// the plugin rejected.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_CLAIM_HINTS_H_
#define DRASIM_POLICIES_DRA_CLAIM_HINTS_H_

#include <string>

#include "model/proto/resource.pb.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claiming_pod.h"

namespace drasim {

// A change of a claim, as far as a hint depends on it.
struct ClaimTransition {
  std::string uid;  // of the claim
  bool added = false;
  bool deleted = false;
  bool was_allocated = false;
  bool is_allocated = false;
  bool differs = false;  // its status; of a claim that was neither added nor deleted

  // Whether there are pods that it helps.
  bool MayHelp() const {
    return (was_allocated && !is_allocated) || (!deleted && (added || differs));
  }
};

// The change from `before` (null: added) to `after` (null: deleted). One of the two is there.
ClaimTransition TransitionOf(const proto::kube::ResourceClaimV1* before,
                             const proto::kube::ResourceClaimV1* after);

// Only pods whose claims are all there can be helped: all of them when an allocation went away,
// otherwise those that use the claim, if it is new or its status differs.
bool ClaimChangeHelps(const ClaimingPod& pod, const ClaimTransition& change,
                      const ClaimCache& cache);

// For a change of `changed` in the names of its generated claims: helps that pod once all its
// claims are there.
bool PodChangeHelps(const ClaimingPod& pod, const ClaimingPod& changed, const ClaimCache& cache);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_HINTS_H_
