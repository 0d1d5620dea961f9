#include "policies/dra/claim_hints.h"

#include <google/protobuf/util/message_differencer.h>

#include "absl/status/status.h"
#include "policies/dra/claim_rules.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

ClaimTransition TransitionOf(const kube::ResourceClaimV1* before,
                             const kube::ResourceClaimV1* after) {
  ClaimTransition change;
  change.uid = (after != nullptr ? after : before)->metadata().uid();
  change.added = before == nullptr;
  change.deleted = after == nullptr;
  change.was_allocated = before != nullptr && IsAllocatedClaim(*before);
  change.is_allocated = after != nullptr && IsAllocatedClaim(*after);
  change.differs =
      before != nullptr && after != nullptr &&
      !google::protobuf::util::MessageDifferencer::Equals(before->status(), after->status());
  return change;
}

bool ClaimChangeHelps(const ClaimingPod& pod, const ClaimTransition& change,
                      const ClaimCache& cache) {
  if (!change.MayHelp()) return false;
  bool uses_claim = false;
  const absl::Status found = ForEachPodClaim(pod, cache, [&](const ClaimRef& claim) {
    if (claim.uid() == change.uid) uses_claim = true;
  });
  if (!found.ok()) return false;
  return uses_claim || (change.was_allocated && !change.is_allocated);
}

bool PodChangeHelps(const ClaimingPod& pod, const ClaimingPod& changed, const ClaimCache& cache) {
  return pod.uid == changed.uid && ForEachPodClaim(changed, cache, [](const ClaimRef&) {}).ok();
}

}  // namespace drasim
